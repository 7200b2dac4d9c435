//! Who gets in over HTTP: at a port with a token, at a socket the same user, and nobody else.

use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use gristmill_testkit::Home;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, legacy};
use crate::gateways::Place;
use crate::http_exchange::{Response, execute};

cases![
    door_1_a_port_without_a_token_is_not_the_local_owner,
    the_first_start_makes_a_private_token_and_says_where_it_is_but_not_what,
    the_token_of_the_first_start_opens_every_later_one_until_it_is_removed,
    two_that_start_at_once_have_one_token,
    a_wrong_token_is_challenged_and_tells_nothing,
    insecure_no_token_says_what_it_does_each_time_and_refuses_proxies,
    flags_that_would_let_others_in_without_a_token_are_refused_with_what_to_do,
    a_port_that_is_taken_is_refused_before_anything_is_started,
    what_connect_writes_opens_the_port,
    a_socket_needs_no_token_and_is_the_owners_alone,
    a_socket_that_is_served_is_refused_and_a_leftover_is_replaced,
    another_user_is_refused_at_the_socket_even_if_its_mode_lets_them,
];

const RAN: &str = "6 * 7";

/// A gateway at a port.
struct Port {
    process: Client,
    address: String,
}

impl Port {
    fn start(place: &Place, arguments: &[&str]) -> Self {
        let words: Vec<&str> = ["--http", "127.0.0.1:0"].iter().chain(arguments).copied().collect();
        let process = Client::mute(place.command(&words), legacy());
        let said = process.until_said("http://");
        let address = said.trim_start_matches("http://").split('/').next().expect("an address").to_owned();
        Self { process, address }
    }

    fn execute(&self, headers: &[(&str, &str)]) -> Response {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
        execute(stream, &self.address, headers, RAN)
    }

    fn end(self) {
        end(&self.process);
    }
}

fn signal(process: &Client, signal: Signal) {
    let pid = Pid::from_raw(process.pid() as i32).expect("a process number");
    kill_process(pid, signal).expect("it can be signalled");
}

fn end(process: &Client) {
    signal(process, Signal::TERM);
    assert_eq!(process.ended().code(), Some(0));
}

fn ran(response: &Response) -> bool {
    let answer = response.messages.iter().find(|message| message["id"] == 5);
    let structured = answer.map(|answer| &answer["result"]["structuredContent"]);
    response.status == 200 && structured == Some(&json!({"status": "ok", "result": 42}))
}

fn token_file(home: &Home) -> PathBuf {
    home.path().join("data/local-token")
}

fn bearer(home: &Home) -> String {
    let token = std::fs::read_to_string(token_file(home)).expect("a token");
    format!("Bearer {}", token.trim_end())
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("there").permissions().mode() & 0o777
}

fn executions(home: &Home) -> Value {
    serde_json::from_str(&home.ok(&["history", "--json"])).expect("JSON")
}

/// As found: any user of the machine, and anyone behind a proxy that sends `Host: 127.0.0.1`, ran code with
/// every right of the owner.
fn door_1_a_port_without_a_token_is_not_the_local_owner() {
    let place = Place::new("door-1");
    let port = Port::start(&place, &[]);
    let forwarded: [&[(&str, &str)]; 3] =
        [&[], &[("X-Forwarded-For", "203.0.113.7")], &[("Forwarded", "for=203.0.113.7")]];
    for headers in forwarded {
        let refused = port.execute(headers);
        assert_eq!(refused.status, 401, "{refused:?}");
        assert_eq!(refused.challenge.as_deref(), Some("Bearer realm=\"gristmill\""));
        assert!(refused.why().contains("access token required"), "{refused:?}");
    }
    assert!(ran(&port.execute(&[("Authorization", &bearer(place.home()))])));
    port.end();
    assert_eq!(executions(place.home()).as_array().map(Vec::len), Some(1), "nothing else ran");
}

fn the_first_start_makes_a_private_token_and_says_where_it_is_but_not_what() {
    let place = Place::new("first-start");
    let port = Port::start(&place, &[]);
    let path = token_file(place.home());
    port.process.until_said(&format!("your own was just created in {}", path.display()));
    let line = port.process.until_said("Authorization: Bearer");
    assert_eq!(line, format!("Authorization: Bearer $(cat '{}')\"", path.display()));
    assert_eq!(mode(&path), 0o600);
    let token = bearer(place.home());
    let token = token.trim_start_matches("Bearer ");
    assert_eq!((token.len(), &token[..4]), (53, "gmt_"));
    assert!(!port.process.said().contains(token), "what is on stderr may be in a log");
    port.end();
}

fn the_token_of_the_first_start_opens_every_later_one_until_it_is_removed() {
    let place = Place::new("later-start");
    let first = Port::start(&place, &[]);
    let token = bearer(place.home());
    first.end();
    // The flag that was needed once is still taken.
    let second = Port::start(&place, &["--require-token"]);
    second.process.until_said("clients need a token; yours is in ");
    assert!(ran(&second.execute(&[("Authorization", &token)])));
    assert_eq!(
        place.home().ok(&["token", "list"]).lines().filter(|line| line.starts_with("local ")).count(),
        1
    );
    assert_eq!(place.home().ok(&["token", "remove", "local"]), "revoked local\n");
    assert_eq!(second.execute(&[("Authorization", &token)]).status, 401, "at once");
    second.end();
    let third = Port::start(&place, &[]);
    assert_ne!(bearer(place.home()), token);
    third.end();
}

fn two_that_start_at_once_have_one_token() {
    let place = Place::new("two-starts");
    let words = ["--http", "127.0.0.1:0"];
    let starting: Vec<Client> = (0..2).map(|_| Client::mute(place.command(&words), legacy())).collect();
    let said: Vec<String> = starting.iter().map(|one| one.until_said("http://")).collect();
    let token = bearer(place.home());
    for said in said {
        let address = said.trim_start_matches("http://").split('/').next().expect("an address").to_owned();
        let stream = TcpStream::connect(&address).expect("it listens");
        assert!(ran(&execute(stream, &address, &[("Authorization", &token)], RAN)));
    }
    let made = starting
        .iter()
        .filter(|one| one.until_said("clients need a token;").contains("just created"))
        .count();
    assert_eq!(made, 1);
    starting.iter().for_each(end);
}

fn a_wrong_token_is_challenged_and_tells_nothing() {
    let place = Place::new("wrong-token");
    let port = Port::start(&place, &[]);
    let good = bearer(place.home());
    for wrong in ["Bearer gmt_wrong", "Basic dXNlcjp4", &good.to_lowercase()] {
        let refused = port.execute(&[("Authorization", wrong)]);
        assert_eq!(refused.status, 401, "{refused:?}");
        let challenge = "Bearer realm=\"gristmill\", error=\"invalid_token\"";
        assert_eq!(refused.challenge.as_deref(), Some(challenge));
        let words = format!("{refused:?}");
        assert!(!words.contains(good.trim_start_matches("Bearer ")), "{words}");
        assert!(!words.contains("local-token"), "a stranger is not told where files are: {words}");
    }
    port.end();
}

fn insecure_no_token_says_what_it_does_each_time_and_refuses_proxies() {
    let place = Place::new("insecure");
    for _ in 0..2 {
        let port = Port::start(&place, &["--insecure-no-token"]);
        port.process.until_said("every user and every program on this machine can run code here");
        assert!(ran(&port.execute(&[])));
        let refused = port.execute(&[("X-Forwarded-For", "203.0.113.7")]);
        assert_eq!(refused.status, 403, "{refused:?}");
        assert!(refused.why().contains("came through a proxy"), "{refused:?}");
        port.end();
    }
    assert!(!token_file(place.home()).exists(), "nobody needs one");
}

fn flags_that_would_let_others_in_without_a_token_are_refused_with_what_to_do() {
    let place = Place::new("insecure-flags");
    let check = |arguments: &[&str], says: &str| {
        let ran = place.home().run(&[&["serve", "--no-servers"], arguments].concat());
        assert_eq!(ran.code, Some(2), "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
    };
    let at = ["--http", "127.0.0.1:0", "--insecure-no-token"];
    check(&[&at[..], &["--allow-host", "tools.example.com"]].concat(), "gristmill token new NAME");
    check(&["--http", "0.0.0.0:0", "--insecure-no-token"], "gristmill token new NAME");
    check(&[&at[..], &["--require-token"]].concat(), "cannot be used with");
    check(&["--insecure-no-token"], "--http");
    check(&["--unix", "g.sock", "--http", "127.0.0.1:0"], "cannot be used with");
    check(&["--unix", "g.sock", "--allow-host", "tools.example.com"], "--http");
}

fn a_port_that_is_taken_is_refused_before_anything_is_started() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let place = Place::new("taken-port").example("calculator");
    let ran = place.command(&["--http", &address]).output().expect("it runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("can't listen on {address}: ")), "{said}");
    let log = std::fs::read_to_string(place.home().path().join("data/logs/gateway.log")).unwrap_or_default();
    assert_eq!(log, "", "nothing was started that would be in it");
}

fn what_connect_writes_opens_the_port() {
    let place = Place::new("connect-opens");
    let url = "http://127.0.0.1:8770/mcp";
    place.home().ok(&["connect", "cursor", "--yes", "--http", url]);
    let text = std::fs::read_to_string(place.home().path().join(".cursor/mcp.json")).expect("written");
    let file: Value = serde_json::from_str(&text).expect("JSON");
    let header = file["mcpServers"]["gristmill"]["headers"]["Authorization"].as_str().expect("a header");
    let port = Port::start(&place, &[]);
    assert!(ran(&port.execute(&[("Authorization", header)])), "whichever of the two comes first");
    port.end();
}

/// A gateway at a socket.
fn at_socket(place: &Place, path: &Path) -> Client {
    let path = path.to_str().expect("a path in UTF-8");
    let process = Client::mute(place.command(&["--unix", path]), legacy());
    process.until_said("for your own user only");
    process
}

fn execute_at(path: &Path, headers: &[(&str, &str)]) -> Response {
    let stream = UnixStream::connect(path).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    execute(stream, "localhost", headers, RAN)
}

fn a_socket_needs_no_token_and_is_the_owners_alone() {
    let place = Place::new("socket");
    let path = place.home().path().join("g.sock");
    let process = at_socket(&place, &path);
    assert_eq!(mode(&path), 0o600);
    assert!(ran(&execute_at(&path, &[])));
    // A proxy in front of it runs as the same user, or as root: everyone behind it would be the owner.
    for header in ["Forwarded", "X-Forwarded-For", "Via"] {
        let refused = execute_at(&path, &[(header, "203.0.113.7")]);
        assert_eq!(refused.status, 403, "{refused:?}");
    }
    assert_eq!(execute_at(&path, &[("Authorization", "Bearer wrong")]).status, 401);
    end(&process);
    assert!(!path.exists(), "it goes with the gateway");
    assert!(!token_file(place.home()).exists(), "nobody needs one");
}

fn a_socket_that_is_served_is_refused_and_a_leftover_is_replaced() {
    let place = Place::new("socket-twice");
    let path = place.home().path().join("g.sock");
    let process = at_socket(&place, &path);
    let text = path.to_str().expect("a path in UTF-8");
    let refused = place.home().run(&["serve", "--no-servers", "--unix", text]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains(&format!("another process is serving at {text}")), "{}", refused.stderr);
    assert!(ran(&execute_at(&path, &[])), "the first one goes on");
    signal(&process, Signal::KILL);
    process.ended();
    assert!(path.exists(), "killed, it could not remove it");
    let next = at_socket(&place, &path);
    assert!(ran(&execute_at(&path, &[])));
    end(&next);
}

/// Only root can be another user for a test; for anyone else the judgment alone is tested, in its own file.
fn another_user_is_refused_at_the_socket_even_if_its_mode_lets_them() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let place = Place::new("socket-stranger");
    // A folder that the other user can enter.
    let folder = std::env::temp_dir().join(format!("gristmill-stranger-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).expect("ours");
    let path = folder.join("g.sock");
    let process = at_socket(&place, &path);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).expect("ours");
    let program = "import socket, sys\n\
        peer = socket.socket(socket.AF_UNIX)\n\
        peer.connect(sys.argv[1])\n\
        peer.sendall(b'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n')\n\
        print(peer.makefile().read())\n";
    let asked = |user: &str| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", user, "--regid", user, "--clear-groups", "python3", "-c", program]);
        let output = command
            .arg(&path)
            .current_dir("/")
            .env("PATH", "/usr/bin:/bin")
            .output()
            .expect("setpriv and python3");
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let stranger = asked("65534");
    assert!(stranger.starts_with("HTTP/1.1 403 "), "{stranger}");
    assert!(stranger.contains("for the user who runs gristmill only"), "{stranger}");
    let owner = asked("0");
    assert!(owner.starts_with("HTTP/1.1 200 "), "{owner}");
    end(&process);
    std::fs::remove_dir_all(&folder).expect("ours");
}
