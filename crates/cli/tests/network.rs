//! Requests of programs to hosts that the user allows: through the gateway, by its rules, on its records.
//! Every host here is on this machine, and allowed by its address.
#![cfg(target_os = "linux")]

mod support;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use gristmill_testkit::{Home, Ran};
use serde_json::{Value, json};
use support::gristmill;

const SECRET: &str = "hunter2-hunter2-hunter2";

/// A site that answers by the path, and remembers what it heard.
struct Site {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let hears = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let hears = Arc::clone(&hears);
                std::thread::spawn(move || answer(stream, port, &hears));
            }
        });
        Self { port, heard }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().expect("the list"))
    }
}

fn answer(mut stream: TcpStream, port: u16, heard: &Mutex<Vec<String>>) {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read > 0) {
        request.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&request).into_owned();
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    let _ = stream.read_exact(&mut body);
    let said = format!("{head}{}", String::from_utf8_lossy(&body));
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    heard.lock().expect("the list").push(said.clone());
    let (status, headers, body) = match path.split('?').next().unwrap_or_default() {
        "/inside" => ("302 Found", "Location: http://169.254.169.254/latest\r\n".to_owned(), String::new()),
        "/moved" => ("302 Found", format!("Location: http://127.0.0.1:{port}/admin\r\n"), String::new()),
        "/echo" => ("200 OK", String::new(), said),
        "/gone" => ("404 Not Found", String::new(), "no such thing".to_owned()),
        _ => ("200 OK", "Content-Type: application/json\r\n".to_owned(), "{\"items\": [1, 2, 3]}".to_owned()),
    };
    let length = body.len();
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
    );
}

/// A home where programs may reach the site, with more in its configuration.
fn home(name: &str, site: &Site, network: &str, more: &str) -> Home {
    let home = Home::new(gristmill(), name);
    let hosts = format!("[network]\nallowed_hosts = ['http://127.0.0.1:{}']\n{network}\n{more}\n", site.port);
    std::fs::create_dir_all(home.config_file().parent().expect("a folder")).expect("made");
    std::fs::write(home.config_file(), hosts).expect("written");
    home
}

fn run(home: &Home, words: &[&str], code: &str) -> (Ran, Value) {
    let mut all = vec!["run", "--json", "--timeout", "60s"];
    all.extend(words);
    all.extend(["-c", code]);
    let ran = home.run(&all);
    let report =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}\n{}", ran.stdout, ran.stderr));
    (ran, report)
}

fn result(home: &Home, words: &[&str], code: &str) -> Value {
    let (_, mut report) = run(home, words, code);
    assert_eq!(report["success"], true, "{code}\n{report:#}");
    report["result"].take()
}

fn refused(home: &Home, words: &[&str], code: &str) -> (String, String) {
    let (_, report) = run(home, words, code);
    assert_eq!(report["success"], false, "{code}\n{report:#}");
    let text = |key: &str| report["error"][key].as_str().unwrap_or_default().to_owned();
    (text("code"), text("message"))
}

const TYPESCRIPT: &[&str] = &["--language", "typescript"];

#[test]
fn a_program_in_either_language_gets_what_an_allowed_host_answers() {
    let site = Site::start();
    let home = home("network-both", &site, "", "");
    let url = site.url("/items?page=2");
    let python = format!(
        "r = await http.get({:?}, params={{'page': 2}})\n[r.status, r.ok, r.json()]",
        site.url("/items")
    );
    assert_eq!(result(&home, &[], &python), json!([200, true, {"items": [1, 2, 3]}]));
    let typescript =
        format!("const r = await fetch({url:?});\nexport default [r.status, r.ok, await r.json()];");
    assert_eq!(result(&home, TYPESCRIPT, &typescript), json!([200, true, {"items": [1, 2, 3]}]));
    let heard = site.heard();
    assert!(heard.iter().all(|head| head.starts_with("GET /items?page=2 HTTP/1.1\r\n")), "{heard:?}");
    assert_eq!(heard.len(), 2);
    let gone = format!("r = await http.get({:?})\n[r.status, r.text]", site.url("/gone"));
    assert_eq!(result(&home, &[], &gone), json!([404, "no such thing"]));
    let tools = home.ok(&["tools", "search", "http request"]);
    assert!(tools.contains("http."), "{tools}");
}

#[test]
fn a_host_that_is_not_allowed_is_refused_with_the_key_to_set() {
    let (site, other) = (Site::start(), Site::start());
    let home = home("network-refused", &site, "", "");
    for (words, code) in [
        (&[][..], format!("await http.get({:?})", other.url("/"))),
        (TYPESCRIPT, format!("await fetch({:?})", other.url("/"))),
        (&[], format!("await callMCPTool('http.get', {{'URL': {:?}}})", other.url("/"))),
        // An address in another dress, and a redirect to where clouds keep their keys.
        (&[], format!("await http.get('http://2130706433:{}/')", other.port)),
        (&[], format!("await http.get({:?})", site.url("/inside"))),
        (TYPESCRIPT, format!("await fetch({:?})", site.url("/inside"))),
    ] {
        let (code, message) = refused(&home, words, &code);
        assert_eq!(code, "GM-3307", "{message}");
        assert!(message.contains("`allowed_hosts`") && message.contains("[network]"), "{message}");
    }
    assert!(other.heard().is_empty());
    let nowhere = Home::new(gristmill(), "network-none");
    for (words, code) in [
        (&[][..], "await http.get('https://a.example.com/')"),
        (TYPESCRIPT, "await fetch('https://a.example.com/')"),
    ] {
        let (_, message) = refused(&nowhere, words, code);
        assert!(message.contains("allowed_hosts") && message.contains("no network"), "{message}");
    }
}

#[test]
fn a_credential_reaches_its_host_and_never_the_program() {
    let site = Site::start();
    let credential = format!(
        "[network.credentials.'http://127.0.0.1:{}']\nheader = 'X-Api-Key'\nvalue = 'Key ${{env:SITE_PASS}}'\n",
        site.port
    );
    let home = home("network-credential", &site, "", &credential);
    let code = format!("r = await http.get({:?})\nr.text", site.url("/echo"));
    let mut command = home.command(&["run", "--json", "-c", &code]);
    let output = command.env("SITE_PASS", SECRET).output().expect("it runs");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let heard = site.heard().remove(0);
    assert!(heard.contains(&format!("x-api-key: Key {SECRET}")), "{heard}");
    assert!(stdout.contains("[secret env:SITE_PASS]"), "{stdout}");
    assert!(!stdout.contains("hunter2") && !stderr.contains("hunter2"), "{stdout}\n{stderr}");
    let mine = format!("await http.get({:?}, headers={{'x-api-key': 'mine'}})", site.url("/echo"));
    let (_, message) = refused(&home, &[], &mine);
    assert!(message.contains("added by the gateway"), "{message}");
    let (_, message) = refused(&home, &[], &code);
    assert!(message.contains("SITE_PASS"), "a variable that isn't set is named: {message}");
    let history = home.ok(&["config", "show"]);
    assert!(!history.contains("hunter2") && history.contains("[network]"), "{history}");
}

#[test]
fn rules_see_every_request_and_every_redirect() {
    let site = Site::start();
    let rule = format!(
        "[[policy.rules]]\nserver = 'http'\ndecision = 'deny'\nwhere = {{ url = '{}' }}\n",
        site.url("/admin*")
    );
    let home = home("network-policy", &site, "", &rule);
    for path in ["/admin/users", "/public/../admin", "/moved"] {
        let (code, message) = refused(&home, &[], &format!("await http.get({:?})", site.url(path)));
        assert_eq!(code, "GM-3301", "{path}: {message}");
    }
    assert!(site.heard().iter().all(|head| !head.contains("/admin")));
    // What writes is asked about, and nobody is here to answer.
    let post = format!("await http.post({:?}, json={{'a': 1}})", site.url("/items"));
    assert_eq!(refused(&home, &[], &post).0, "GM-3302");
    assert!(site.heard().is_empty());
}

#[test]
fn a_dry_run_sends_what_reads_and_holds_the_rest() {
    let site = Site::start();
    let home = home("network-dry", &site, "", "[policy]\npreset = 'trusting'");
    let code = format!(
        "a = await http.get({:?})\nb = await http.post({:?}, json={{'n': 1}})\n[a.status, b.status]",
        site.url("/items"),
        site.url("/items")
    );
    let (_, report) = run(&home, &["--dry-run"], &code);
    assert_eq!(report["result"], json!([200, 0]), "{report:#}");
    let writes = report["dry_run"]["writes"].as_array().expect("writes");
    assert_eq!((writes.len(), &writes[0]["tool"]), (1, &json!("post")), "{report:#}");
    assert_eq!(site.heard().len(), 1);
    assert_eq!(result(&home, &[], &code), json!([200, 200]));
    assert!(site.heard()[1].ends_with("{\"n\":1}"));
}

#[test]
fn the_requests_of_one_program_are_counted_and_its_answers_measured() {
    let site = Site::start();
    let home = home(
        "network-limits",
        &site,
        "requests_per_execution = 2\nresponse_size = '1K'\nrequest_size = '1K'",
        "",
    );
    let url = site.url("/items");
    let (code, message) = refused(&home, &[], &format!("for _ in range(3):\n    await http.get({url:?})"));
    assert_eq!(code, "GM-3303", "{message}");
    assert_eq!(site.heard().len(), 2);
    let large = format!("await http.get({:?}, headers={{'X-Pad': 'x' * 2000}})", site.url("/echo"));
    let (_, message) = refused(&home, &[], &large);
    assert!(message.contains("`response_size`"), "{message}");
    let split = format!("await http.get({url:?}, headers={{'X': 'a\\r\\nHost: evil.net'}})");
    let (_, message) = refused(&home, &[], &split);
    assert!(message.contains("isn't a valid header"), "{message}");
}

#[test]
fn the_audit_has_host_and_status_and_not_what_was_asked() {
    let site = Site::start();
    let home = home("network-audit", &site, "", "");
    result(&home, &[], &format!("(await http.get({:?})).status", site.url("/items?secret=hunter2")));
    let audit = home.ok(&["audit", "query", "--json"]);
    let expected = format!("127.0.0.1:{}", site.port);
    assert!(audit.contains(&expected) && audit.contains("path_digest"), "{audit}");
    assert!(audit.contains("\"status\":200") || audit.contains("\"status\": 200"), "{audit}");
    assert!(!audit.contains("hunter2") && !audit.contains("/items"), "{audit}");
}

#[test]
fn programs_at_level_hardened_have_no_network() {
    let site = Site::start();
    let home = home("network-hardened", &site, "", "");
    let ran =
        home.run(&["run", "--level", "hardened", "-c", &format!("await http.get({:?})", site.url("/items"))]);
    assert_ne!(ran.code, Some(0), "{}", ran.stdout);
    assert!(ran.stderr.contains("programs have no network there"), "{}", ran.stderr);
    assert!(site.heard().is_empty());
}
