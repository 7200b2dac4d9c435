//! A call that waits is told to a webhook, and answered by a link: for people who are not at the client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use gristmill_gateway::access::webhook_signature;
use serde_json::{Value, json};

use crate::cases;
use crate::gateways::Place;
use crate::http::{Holder, Listening};
use crate::support::gristmill;

cases![
    a_client_that_cannot_ask_waits_for_the_link_and_a_preview_answers_nothing,
    a_webhook_that_is_not_there_leaves_the_other_ways,
];

const SECRET: &str = "known to both of them";

const WRITE: &str = "from servers.filesystem import write_file\n\
                     result = (await write_file(path='a.txt', text='<b>x</b>')) is not None";

fn place(name: &str, webhook: &str) -> Place {
    let place = Place::new(name);
    let root = place.home().path().join("root");
    std::fs::create_dir(&root).expect("a folder");
    let args = json!(["example-server", "filesystem", "--root", root]);
    let webhook = json!({"url": webhook, "secret": SECRET, "public_url": "http://127.0.0.1:1"});
    place
        .server("filesystem", json!({"command": gristmill(), "args": args}))
        .setting("approvals", json!({ "webhook": webhook }))
}

/// Takes one message: its headers in small letters, and its body.
pub fn take_message(listener: &TcpListener) -> (String, String) {
    let (stream, _) = listener.accept().expect("a message");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).expect("a line") > 0, "{head}");
    }
    let head = head.to_lowercase();
    let length = header(&head, "content-length").parse().expect("a length");
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("a body");
    let answer = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    reader.get_mut().write_all(answer).expect("it reads");
    (head, String::from_utf8(body).expect("text"))
}

pub fn header<'a>(head: &'a str, name: &str) -> &'a str {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(key, _)| *key == name).map(|(_, value)| value).next().unwrap_or_else(|| panic!("{head}"))
}

/// The answer to a request without a body, as it came.
fn open(listening: &Listening, method: &str, link: &str) -> String {
    let target = link.strip_prefix("http://127.0.0.1:1").expect("the public address");
    let mut stream = TcpStream::connect(&listening.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a time limit");
    let host = &listening.address;
    let head = format!(
        "{method} {target} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer
}

fn a_client_that_cannot_ask_waits_for_the_link_and_a_preview_answers_nothing() {
    let webhook = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/hook", webhook.local_addr().expect("an address"));
    let listening = Listening::begin(place("webhook", &url), &[]);
    let file = listening.home.path().join("root/a.txt");
    std::thread::scope(|scope| {
        let caller = Holder { listening: &listening, authorization: listening.authorization.clone() };
        let running = scope.spawn(move || caller.structured("execute_code", json!({"code": WRITE})));
        let (head, body) = take_message(&webhook);
        let signature = webhook_signature(SECRET, header(&head, "x-gristmill-timestamp"), &body);
        assert_eq!(header(&head, "x-gristmill-signature"), signature);
        let message: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(message["what"], "filesystem.write_file", "{message:#}");
        let link = |answer: &str| message["links"][answer].as_str().expect("a link").to_owned();
        let shown = open(&listening, "GET", &link("allow_once"));
        assert!(shown.starts_with("HTTP/1.1 200"), "{shown}");
        assert!(shown.contains("default-src 'none'") && shown.contains("<form method=\"post\">"), "{shown}");
        assert!(shown.contains("&lt;b&gt;x&lt;/b&gt;") && !shown.contains("<b>"), "{shown}");
        assert!(!file.exists() && !running.is_finished(), "looking answers nothing");
        let forged = link("deny").replace("answer=deny", "answer=allow_once");
        assert!(open(&listening, "POST", &forged).starts_with("HTTP/1.1 403"));
        let allowed = open(&listening, "POST", &link("allow_once"));
        assert!(allowed.starts_with("HTTP/1.1 200") && allowed.contains("Allowed once"), "{allowed}");
        let ran = running.join().expect("an answer");
        assert_eq!(ran["result"], true, "{ran:#}");
        assert!(open(&listening, "POST", &link("allow_session")).starts_with("HTTP/1.1 410"));
    });
    assert!(file.exists());
    let told = listening.home.ok(&["audit", "query", "--kind", "approval", "--json"]);
    let told: Vec<Value> = serde_json::from_str(&told).expect("events");
    let said: Vec<(&str, &str)> =
        told.iter().filter_map(|event| Some((event["decision"].as_str()?, event["by"].as_str()?))).collect();
    assert_eq!(said, [("allow", "link")]);
}

fn a_webhook_that_is_not_there_leaves_the_other_ways() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/hook", taken.local_addr().expect("an address"));
    drop(taken);
    let listening = Listening::begin(place("webhook-down", &url), &[]);
    let caller = Holder { listening: &listening, authorization: listening.authorization.clone() };
    let refused = caller.structured("execute_code", json!({"code": WRITE}));
    assert_eq!(refused["error"]["code"], "GM-3302", "{refused:#}");
    let message = refused["error"]["message"].as_str().expect("words");
    assert!(message.contains("gristmill approvals allow "), "{message}");
}
