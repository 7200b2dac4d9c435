//! The dashboard of `serve --http`, as a browser sees it: plain requests with a cookie.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use gristmill_testkit::processes::eventually;
use serde_json::{Value, json};

use crate::cases;
use crate::client::{MODERN, modern};
use crate::gateways::Place;
use crate::http::{Holder, Listening};
use crate::support::gristmill;

cases![
    a_link_logs_a_browser_in_once,
    without_a_login_every_page_is_the_login_page,
    a_link_is_for_the_owner_alone,
    forms_without_their_secret_or_from_elsewhere_change_nothing,
    foreign_hosts_and_origins_reach_no_page,
    wrong_codes_are_counted,
    every_page_answers_before_anything_has_run,
    every_page_answers_when_something_has_run_and_what_programs_say_stays_text,
    a_tools_page_has_what_its_answers_have_taught,
    an_execution_is_shown_with_its_stages_decisions_results_and_session,
    a_copied_test_passes_as_long_as_the_program_comes_to_the_same,
    a_waiting_call_is_approved_on_its_page_and_the_program_goes_on,
    a_client_that_cannot_ask_waits_for_whoever_has_the_page_of_approvals_open,
    gateways_on_one_data_folder_are_told_apart,
    a_live_part_follows_what_runs_and_ends_with_the_login,
    a_new_token_of_the_owner_ends_what_was_opened_with_the_old_one,
    nobody_there_is_told_which_command_starts_a_gateway,
];

const PAGES: [&str; 12] = [
    "/dashboard",
    "/dashboard/executions",
    "/dashboard/approvals",
    "/dashboard/servers",
    "/dashboard/sessions",
    "/dashboard/skills",
    "/dashboard/results",
    "/dashboard/policy",
    "/dashboard/privacy",
    "/dashboard/audit",
    "/dashboard/playground",
    "/dashboard/settings",
];

#[derive(Debug)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }
}

/// A browser, logged in or not.
struct Browser<'a> {
    listening: &'a Listening,
    cookie: String,
}

fn request(address: &str, head: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    let mut text = format!("{head} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text.push_str(&format!("Host: {address}\r\n"));
    }
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    stream.write_all(format!("{text}\r\n{body}").as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer in UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {answer}"));
    let headers = head.lines().skip(1).filter_map(|line| line.split_once(": "));
    Answer {
        status: head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status"),
        headers: headers.map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect(),
        body: body.to_owned(),
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The code of the link that `gristmill dashboard` prints.
fn code(listening: &Listening) -> String {
    let config = listening.home.path().join("servers.json");
    let config = config.to_str().expect("a path in UTF-8");
    let words = ["dashboard", "--http", &listening.address, "--no-browser", "--config", config];
    let said = listening.home.ok(&words);
    let link = format!("http://{}/dashboard/login?code=", listening.address);
    said.trim().strip_prefix(&link).unwrap_or_else(|| panic!("no link: {said}")).to_owned()
}

impl<'a> Browser<'a> {
    fn new(listening: &'a Listening) -> Self {
        Self { listening, cookie: String::new() }
    }

    fn logged_in(listening: &'a Listening) -> Self {
        let mut browser = Self::new(listening);
        let answer = browser.log_in(&code(listening));
        assert_eq!((answer.status, answer.header("location")), (303, "/dashboard"), "{answer:?}");
        browser
    }

    fn log_in(&mut self, code: &str) -> Answer {
        let answer = self.post("/dashboard/login", &format!("code={code}"));
        if let Some((cookie, attributes)) = answer.header("set-cookie").split_once("; ") {
            assert_eq!(attributes, "Path=/dashboard; HttpOnly; SameSite=Strict; Max-Age=43200");
            cookie.clone_into(&mut self.cookie);
        }
        answer
    }

    fn get(&self, path: &str) -> Answer {
        request(&self.listening.address, &format!("GET {path}"), &[("Cookie", &self.cookie)], "")
    }

    /// As a form of a page of ours sends it.
    fn post(&self, path: &str, body: &str) -> Answer {
        let origin = format!("http://{}", self.listening.address);
        self.post_from(&origin, path, body)
    }

    fn post_from(&self, origin: &str, path: &str, body: &str) -> Answer {
        let headers = [("Cookie", self.cookie.as_str()), ("Origin", origin)];
        request(&self.listening.address, &format!("POST {path}"), &headers, body)
    }

    /// The secret that its forms carry.
    fn csrf(&self) -> String {
        let page = self.get("/dashboard").body;
        let value = page.split("name=\"csrf\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
        value.unwrap_or_else(|| panic!("no form: {page}")).to_owned()
    }

    fn send(&self, path: &str, fields: &str) -> Answer {
        self.post(path, &format!("csrf={}&{fields}", self.csrf()))
    }

    /// Runs a program; gives the id of its execution.
    fn run(&self, program: &str) -> String {
        let answer = self.send("/dashboard/playground/run", &format!("code={}", encoded(program)));
        let id = answer.header("location").strip_prefix("/dashboard/playground?run=");
        id.unwrap_or_else(|| panic!("{answer:?}")).to_owned()
    }

    /// The page of an execution, once it has ended.
    fn ended(&self, id: &str) -> String {
        eventually("the program ends", || {
            let page = self.get(&format!("/dashboard/executions/{id}")).body;
            (!page.contains("data-live=")).then_some(page)
        })
    }
}

fn check_guarded(answer: &Answer, path: &str) {
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
    assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
    assert_eq!(answer.header("cache-control"), "no-store", "{path}");
}

fn listening(name: &str) -> Listening {
    Listening::begin(Place::new(name).example("calculator"), &[])
}

fn a_link_logs_a_browser_in_once() {
    let listening = listening("dashboard-once");
    let code = code(&listening);
    assert_eq!(code.len(), 64, "256 bits");
    let mut browser = Browser::new(&listening);
    let shown = browser.get(&format!("/dashboard/login?code={code}"));
    assert!(shown.status == 200 && shown.body.contains(&code), "{shown:?}");
    assert_eq!(browser.get("/dashboard").status, 401, "looking at the link logs nobody in");
    assert_eq!(browser.log_in(&code).status, 303);
    assert_eq!(browser.get("/dashboard").status, 200);
    let mut second = Browser::new(&listening);
    let refused = second.log_in(&code);
    assert_eq!((refused.status, second.get("/dashboard").status), (401, 401), "{refused:?}");
    assert!(refused.body.contains("gristmill dashboard"), "{}", refused.body);
    let answer = browser.send("/dashboard/logout", "");
    assert_eq!((answer.status, answer.header("location")), (303, "/dashboard/login"));
    assert_eq!(browser.get("/dashboard").status, 401, "the cookie alone opens nothing any more");
    let audit = |kind: &str| -> Value {
        let events = listening.home.ok(&["audit", "query", "--kind", kind, "--json"]);
        serde_json::from_str(&events).expect("JSON")
    };
    let [login, logout] = ["login", "logout"].map(audit);
    assert_eq!((login.as_array().map(Vec::len), &login[0]["where"]), (Some(1), &json!("dashboard")));
    assert_eq!((&login[0]["by"], &logout[0]["where"]), (&json!("link"), &json!("dashboard")));
    assert_eq!(audit("token.issued")[0]["token"], "local", "it was made when the gateway began");
    assert!(!listening.home.ok(&["audit", "export"]).contains(&code));
}

fn without_a_login_every_page_is_the_login_page() {
    let listening = listening("dashboard-nobody");
    let mut stranger = Browser::new(&listening);
    for cookie in ["", "gristmill_1=x", "gristmill_dashboard=0000"] {
        cookie.clone_into(&mut stranger.cookie);
        let live = ["/dashboard/live/overview", "/dashboard/executions/abc", "/dashboard/servers/calculator"];
        for path in PAGES.iter().chain(&live) {
            let answer = stranger.get(path);
            assert_eq!(answer.status, 401, "{path}");
            assert!(answer.body.contains("<code>gristmill dashboard</code>"), "{path}: {}", answer.body);
            assert!(!answer.body.contains("calculator"), "{path}");
            check_guarded(&answer, path);
        }
    }
    let token = [("Authorization", listening.authorization.as_str())];
    let answer = request(&listening.address, "GET /dashboard", &token, "");
    assert_eq!(answer.status, 401, "pages go by the cookie alone");
}

fn a_link_is_for_the_owner_alone() {
    let place = Place::new("dashboard-owner").example("calculator");
    let scopes: &[&str] = &["--scope", "execute", "--scope", "admin"];
    let (listening, [admin]) = Listening::begin_with_tokens(place, [("admin", scopes)]);
    let ask =
        |headers: &[(&str, &str)]| request(&listening.address, "POST /dashboard/link", headers, "").status;
    assert_eq!(ask(&[("Authorization", &admin)]), 403);
    assert_eq!(ask(&[]), 401);
    assert_eq!(ask(&[("Authorization", &listening.authorization)]), 200);
    let open = Listening::begin(Place::new("dashboard-open").example("calculator"), &["--insecure-no-token"]);
    assert_eq!(
        request(&open.address, "POST /dashboard/link", &[], "").status,
        403,
        "whoever comes by is not the owner"
    );
}

fn forms_without_their_secret_or_from_elsewhere_change_nothing() {
    let listening = listening("dashboard-forms");
    let browser = Browser::logged_in(&listening);
    let (program, csrf) = (format!("code={}", encoded("print(1)")), browser.csrf());
    let run = "/dashboard/playground/run";
    let check = |answer: Answer| assert_eq!(answer.status, 403, "{answer:?}");
    check(browser.post(run, &program));
    check(browser.post(run, &format!("csrf={}&{program}", "0".repeat(64))));
    check(browser.post(run, &format!("csrf=&{program}")));
    let whole = format!("csrf={csrf}&{program}");
    check(browser.post_from("null", run, &whole));
    check(browser.post_from("http://evil.example", run, &whole));
    check(browser.post_from("http://127.0.0.1:1", run, &whole));
    let headers = [("Cookie", browser.cookie.as_str())];
    check(request(&listening.address, &format!("POST {run}"), &headers, &whole));
    let other = Browser::logged_in(&listening);
    check(browser.post(run, &format!("csrf={}&{program}", other.csrf())));
    assert!(browser.get("/dashboard/executions").body.contains("No program has run yet"));
    assert_eq!(browser.post(run, &whole).status, 303);
}

fn foreign_hosts_and_origins_reach_no_page() {
    let listening = listening("dashboard-hosts");
    let browser = Browser::logged_in(&listening);
    for headers in [[("Host", "evil.example"), ("X", "y")], [("Origin", "http://evil.example"), ("X", "y")]] {
        let cookie = [("Cookie", browser.cookie.as_str())];
        let answer = request(&listening.address, "GET /dashboard", &[&cookie[..], &headers[..]].concat(), "");
        assert_eq!(answer.status, 403, "{headers:?}");
    }
}

fn wrong_codes_are_counted() {
    let listening = listening("dashboard-wrong");
    let good = code(&listening);
    let mut browser = Browser::new(&listening);
    for _ in 0..10 {
        assert_eq!(browser.log_in("guess").status, 401);
    }
    let refused = browser.log_in(&good);
    assert_eq!(refused.status, 429);
    assert!(!refused.header("retry-after").is_empty(), "{refused:?}");
}

fn every_page_answers_before_anything_has_run() {
    let listening = Listening::begin(Place::new("dashboard-empty"), &[]);
    let browser = Browser::logged_in(&listening);
    for path in PAGES {
        let answer = browser.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        check_guarded(&answer, path);
    }
    for missing in [
        "executions/aaaaaaaaaaaaaaaaaaaa",
        "servers/x",
        "servers/x/tools/y",
        "sessions/x",
        "skills/x",
        "results/x",
    ] {
        let answer = browser.get(&format!("/dashboard/{missing}"));
        assert_eq!(answer.status, 404, "{missing}: {}", answer.body);
        check_guarded(&answer, missing);
    }
    let style = browser.get("/dashboard/assets/style.css");
    assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=utf-8"));
}

fn every_page_answers_when_something_has_run_and_what_programs_say_stays_text() {
    let listening = listening("dashboard-full");
    let browser = Browser::logged_in(&listening);
    let hostile = "<script>alert('1')</script>";
    let program = format!(
        "# {hostile}\nprint(\"{hostile}\")\nresult = (await callMCPTool('evaluate', expression='6*7'))"
    );
    let page = browser.ended(&browser.run(&program));
    assert!(!page.contains(hostile) && page.contains("&lt;script&gt;alert("), "{page}");
    assert!(page.contains("evaluate") && page.contains("42"), "{page}");
    let failed = browser.ended(&browser.run(&format!("x = 1\nraise ValueError(\"{hostile}\")")));
    assert!(failed.contains("line 2") && !failed.contains(hostile), "{failed}");
    let named = Holder { listening: &listening, authorization: listening.authorization.clone() };
    let arguments =
        json!({"code": "open('/workspace/a.txt', 'w').write('hello')\nstate['key'] = 1", "session": hostile});
    named.structured("execute_code", arguments);
    for path in PAGES {
        let answer = browser.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(!answer.body.contains(hostile), "{path}");
        check_guarded(&answer, path);
    }
    let found = |query: &str| browser.get(&format!("/dashboard/executions?{query}")).body;
    assert!(found("q=ValueError&outcome=failed").contains("failed"));
    assert!(found("q=nothing-like-this").contains("No execution matches"));
    assert!(found("tool=evaluate").contains("/dashboard/executions/"));
    let server = browser.get("/dashboard/servers/calculator").body;
    assert!(server.contains("evaluate"), "{server}");
    let tool = browser.get("/dashboard/servers/calculator/tools/evaluate").body;
    assert!(tool.contains("expression"), "{tool}");
    let tried = browser.send(
        "/dashboard/servers/calculator/tools/evaluate/try",
        "arguments=%7B%22expression%22%3A%222%2B3%22%7D&expression=2%2B3",
    );
    assert!(tried.status == 200 && tried.body.contains('5'), "{tried:?}");
    let asked = browser.get("/dashboard/policy?tool=calculator.evaluate").body;
    assert!(asked.contains("because"), "{asked}");
    assert_eq!(browser.send("/dashboard/audit/verify", "").status, 303);
    assert!(browser.get("/dashboard/audit").body.contains("intact"));
}

fn a_tools_page_has_what_its_answers_have_taught() {
    let place = Place::new("dashboard-learned").example("calculator");
    let server = place.home().path().join("shop.py");
    std::fs::write(&server, include_str!("../support/plain_server.py")).expect("a server");
    let changed = place.home().path().join("changed");
    let listening =
        Listening::begin(place.server("shop", json!({"command": "python3", "args": [server, changed]})), &[]);
    let browser = Browser::logged_in(&listening);
    let page = |tool: &str| browser.get(&format!("/dashboard/servers/{tool}")).body;
    assert!(!page("shop/tools/list_orders").contains("Learned from answers"));
    let calls = "from servers.shop import list_orders\nfrom servers.calculator import evaluate\n\
        for n in range(3): await list_orders()\nawait evaluate(expression='1+1')";
    browser.ended(&browser.run(calls));
    let learned = eventually("it is learned", || {
        let page = page("shop/tools/list_orders");
        // What stubs say of it is written behind what is counted.
        let told = ["3 calls", "orders: [{created", "seen in 3+ calls"];
        told.iter().all(|told| page.contains(told)).then_some(page)
    });
    assert!(learned.contains("Learned from answers") && learned.contains("total_cents: int"), "{learned}");
    assert!(!page("calculator/tools/evaluate").contains("Learned from answers"), "it declares its results");
}

fn an_execution_is_shown_with_its_stages_decisions_results_and_session() {
    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    let listening = listening("dashboard-execution");
    let browser = Browser::logged_in(&listening);
    let code = "from servers.calculator import evaluate\nfor n in range(3):\n    await evaluate(expression=f'{n}+1')\n'x' * 200_000";
    let mut params = modern().params(json!({
        "name": "execute_code",
        "arguments": {"code": code, "session": "weekly-report", "max_output_tokens": 500},
    }));
    params["_meta"]["traceparent"] = json!(format!("00-{TRACE}-b7ad6b7169203331-01"));
    let body = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
    let headers =
        [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "execute_code")];
    assert_eq!(listening.post(&headers, &body).status, 200);
    let list = browser.get("/dashboard/executions").body;
    assert!(list.contains(">weekly-report</a>"), "{list}");
    let id = list.split("/dashboard/executions/").nth(1).and_then(|rest| rest.split('"').next());
    let page = browser.ended(id.expect("an execution"));
    for stage in
        ["place", "admit", "prepare", "check", "checkout", "run", "count", "shape", "settle", "answer"]
    {
        assert!(page.contains(&format!("<span class=\"label\">{stage}</span>")), "{stage}: {page}");
    }
    assert!(page.contains("calculator.evaluate") && !page.contains("When it began isn't recorded"), "{page}");
    assert!(page.contains("Policy decisions") && page.contains("Stored in full: "), "{page}");
    let handle = page.split("/dashboard/results/").nth(1).and_then(|rest| rest.split('"').next());
    let result = browser.get(&format!("/dashboard/results/{}", handle.expect("a handle")));
    assert!(result.status == 200 && result.body.contains("xxxx"), "{result:?}");
    assert!(page.contains(TRACE) && page.contains("(this gateway)"), "{page}");
    assert!(page.contains("session <a href=") && page.contains(">weekly-report</a>"), "{page}");
}

fn a_copied_test_passes_as_long_as_the_program_comes_to_the_same() {
    let listening = listening("dashboard-test");
    let browser = Browser::logged_in(&listening);
    let program = "text = '''\nEND_1\nexit 7\n'''\nresult = {'lines': len(text.splitlines())}";
    let page = browser.ended(&browser.run(program));
    let field = page.split("id=\"as-test\"").nth(1).and_then(|rest| rest.split_once('>')).expect("a test").1;
    let script = field.split("</textarea>").next().unwrap_or_default().trim_start();
    let script =
        script.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let run = |script: &str| {
        let folder = gristmill().parent().expect("a folder").display();
        let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        let home = listening.home.path();
        shell.args(["-c", script]).env("PATH", path).env("HOME", home).current_dir(home);
        shell.env("GRISTMILL_DATA_DIR", home.join("other-data"));
        shell.output().expect("a shell")
    };
    let passed = run(&script);
    assert!(passed.status.success(), "{script}\n{}", String::from_utf8_lossy(&passed.stderr));
    let failed = run(&script.replace("'lines': len", "'lines': 1 + len"));
    let said = String::from_utf8_lossy(&failed.stderr).into_owned();
    assert_eq!(failed.status.code(), Some(1), "{said}");
    assert!(said.contains("result: expected {'lines': 3}, got {'lines': 4}"), "{said}");
    let hidden = browser.ended(&browser.run("result = '\u{202e}'"));
    assert!(!hidden.contains("id=\"as-test\""), "what a terminal hides is not offered");
}

fn a_client_that_cannot_ask_waits_for_whoever_has_the_page_of_approvals_open() {
    let listening = filesystem("dashboard-watched");
    let browser = Browser::logged_in(&listening);
    let client = Holder { listening: &listening, authorization: listening.authorization.clone() };
    let code = "from servers.filesystem import write_file\nawait write_file(path='a.txt', text='x')";
    let write = || client.structured("execute_code", json!({"code": code})).to_string();
    let refused = write();
    assert!(refused.contains("nobody can be asked here"), "{refused}");
    std::thread::scope(|scope| {
        let page = scope.spawn(|| browser.get("/dashboard/live/approvals"));
        std::thread::sleep(Duration::from_millis(500));
        let asked = scope.spawn(write);
        let id = eventually("the call waits", || {
            let page = browser.get("/dashboard/approvals").body;
            let question = page.split("<article").find(|part| part.contains("gives up"))?;
            Some(question.split("/dashboard/approvals/").nth(1)?.split('/').next()?.to_owned())
        });
        browser.send(&format!("/dashboard/approvals/{id}/answer"), "answer=deny&reason=ask+me+tomorrow");
        let told = asked.join().expect("no panic");
        assert!(told.contains("the user didn't allow filesystem.write_file"), "{told}");
        assert!(told.contains("ask me tomorrow"), "{told}");
        browser.send("/dashboard/logout", "");
        page.join().expect("no panic");
    });
    let refused = write();
    assert!(refused.contains("nobody can be asked here"), "the page is closed: {refused}");
}

fn gateways_on_one_data_folder_are_told_apart() {
    let listening = listening("dashboard-gateways");
    let browser = Browser::logged_in(&listening);
    let own = browser.ended(&browser.run("1"));
    assert!(own.contains(&format!("http://{}, process ", listening.address)), "{own}");
    let config = listening.home.path().join("servers.json");
    let config = config.to_str().expect("a path in UTF-8");
    listening.home.ok(&["run", "--config", config, "--no-servers", "-c", "'of a command'"]);
    let list = browser.get("/dashboard/executions?q=of+a+command").body;
    let id = list.split("/dashboard/executions/").nth(1).and_then(|rest| rest.split('"').next());
    let page = browser.get(&format!("/dashboard/executions/{}", id.expect("an execution"))).body;
    assert!(page.contains("a command, process ") && page.contains("(gone)"), "{page}");
    let settings = browser.get("/dashboard/settings").body;
    assert!(settings.contains("this one") && !settings.contains("a command"), "{settings}");
}

fn filesystem(name: &str) -> Listening {
    let place = Place::new(name);
    let root = place.home().path().join("root");
    std::fs::create_dir(&root).expect("a folder");
    let args = json!(["example-server", "filesystem", "--root", root]);
    Listening::begin(place.server("filesystem", json!({"command": gristmill(), "args": args})), &[])
}

fn a_waiting_call_is_approved_on_its_page_and_the_program_goes_on() {
    let listening = filesystem("dashboard-approve");
    let browser = Browser::logged_in(&listening);
    let write = |file: &str| {
        let code = format!(
            "from servers.filesystem import write_file\nawait write_file(path='{file}', text='<b>x</b>')"
        );
        browser.run(&code)
    };
    let waiting = || {
        eventually("the call waits", || {
            let page = browser.get("/dashboard/approvals").body;
            let id = page.split("/dashboard/approvals/").nth(1)?.split('/').next()?.to_owned();
            assert!(!page.contains("<b>x</b>") && page.contains("&lt;b&gt;x&lt;/b&gt;"), "{page}");
            Some(id)
        })
    };
    let written = |file: &str| listening.home.path().join("root").join(file).exists();
    let (execution, id) = (write("a.txt"), waiting());
    assert!(browser.get("/dashboard").body.contains("Waiting for you"));
    assert!(!written("a.txt"), "it waits");
    let answer = browser.send(&format!("/dashboard/approvals/{id}/answer"), "answer=once");
    assert_eq!(answer.header("location"), "/dashboard/approvals?done=allowed-once", "{answer:?}");
    let page = browser.ended(&execution);
    assert!(written("a.txt"), "{page}");
    let again = browser.send(&format!("/dashboard/approvals/{id}/answer"), "answer=once");
    assert_eq!(again.header("location"), "/dashboard/approvals?done=answered-already");
    let (execution, id) = (write("b.txt"), waiting());
    browser.send(&format!("/dashboard/approvals/{id}/answer"), "answer=deny&reason=not+on+a+Friday");
    let page = browser.ended(&execution);
    assert!(page.contains("GM-3302") && !written("b.txt"), "{page}");
    assert!(page.contains("denied in the dashboard: “not on a Friday”"), "{page}");
    assert!(browser.get("/dashboard/approvals").body.contains("“not on a Friday”"));
    let (execution, id) = (write("c.txt"), waiting());
    browser.send(&format!("/dashboard/approvals/{id}/answer"), "answer=always");
    browser.ended(&execution);
    browser.ended(&write("d.txt"));
    assert!(written("c.txt") && written("d.txt"));
    let rules = browser.get("/dashboard/policy").body;
    assert!(rules.contains("Always approved"), "{rules}");
    assert_eq!(browser.send("/dashboard/policy/always/filesystem.write_file/revoke", "").status, 303);
    let audit = listening.home.ok(&["audit", "query", "--kind", "approval", "--json"]);
    assert!(audit.contains("dashboard") && audit.contains("not on a Friday"), "{audit}");
}

fn a_live_part_follows_what_runs_and_ends_with_the_login() {
    let listening = listening("dashboard-live");
    let browser = Browser::logged_in(&listening);
    let id = browser.run("import time\nprint('first')\ntime.sleep(2)\nprint('second')");
    let stream = browser.get(&format!("/dashboard/live/executions/{id}"));
    assert_eq!(stream.header("content-type"), "text/event-stream");
    let body = &stream.body;
    assert!(body.contains("first") && body.contains("second") && body.contains("event: end"), "{body}");
    std::thread::scope(|scope| {
        let open = scope.spawn(|| browser.get("/dashboard/live/approvals"));
        std::thread::sleep(Duration::from_millis(300));
        browser.send("/dashboard/logout", "");
        let ended = open.join().expect("no panic");
        assert!(ended.body.contains("Nothing waits for you"), "{ended:?}");
    });
}

fn a_new_token_of_the_owner_ends_what_was_opened_with_the_old_one() {
    let listening = listening("dashboard-token");
    let browser = Browser::logged_in(&listening);
    std::fs::remove_file(listening.home.path().join("data/local-token")).expect("ours");
    assert_eq!(browser.get("/dashboard").status, 401);
}

fn nobody_there_is_told_which_command_starts_a_gateway() {
    let place = Place::new("dashboard-alone");
    let ran = place.home().run(&["dashboard", "--http", "127.0.0.1:1", "--no-browser"]);
    assert!(ran.stderr.contains("`gristmill serve --http 127.0.0.1:1` starts one"), "{}", ran.stderr);
    let ran = place.home().run(&["dashboard", "--url", "http://192.0.2.1", "--no-browser"]);
    assert!(ran.stderr.contains("isn't an address such as https://HOST"), "{}", ran.stderr);
    let ran = place.home().run(&["dashboard", "--url", "http://127.0.0.1:1", "--no-browser"]);
    assert!(ran.stderr.contains("set GRISTMILL_DASHBOARD_TOKEN"), "{}", ran.stderr);
    let ran = place.home().run(&["dashboard", "--http", "192.0.2.1:8770", "--no-browser"]);
    assert!(ran.stderr.contains("isn't an address of this machine"), "{}", ran.stderr);
}
