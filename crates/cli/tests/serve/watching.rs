//! An agent that is stuck is found, told of and listed, by the gateway that runs its programs.

use std::net::TcpListener;

use gristmill_gateway::access::webhook_signature;
use gristmill_testkit::processes::eventually;
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, modern};
use crate::gateways::Place;
use crate::webhooks::{header, take_message};

cases![
    a_stuck_agent_is_told_of_and_listed,
    a_watch_that_is_off_says_nothing,
    an_alert_goes_to_a_command_and_signed_to_a_webhook,
    a_test_alert_says_where_it_arrived_and_where_not,
    a_killed_gateway_loses_no_finding_and_the_next_one_repeats_no_alert,
];

const SECRET: &str = "known to both of them";

fn anomalies(home: &gristmill_testkit::Home) -> Vec<Value> {
    let found: Value = serde_json::from_str(&home.ok(&["anomalies", "--json"])).expect("JSON");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/schemas/anomalies.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("a schema")).expect("JSON");
    jsonschema::validate(&schema, &found).unwrap_or_else(|error| panic!("{error}\n{found:#}"));
    found.as_array().cloned().unwrap_or_default()
}

/// As an agent that runs one program again and again.
fn be_stuck(client: &Client) {
    for _ in 0..8 {
        let failed = client.structured("execute_code", json!({"code": "1 / 0", "session": "report"}));
        assert_eq!(failed["status"], "failed", "{failed}");
    }
}

fn a_stuck_agent_is_told_of_and_listed() {
    let served = Place::new("watching").serve(modern(), &["--profile", "full"]);
    assert_eq!(served.home().ok(&["anomalies"]), "Nothing unusual was found.\n");
    be_stuck(&served);
    let said = served.until_said("alert: warning repeated-program");
    assert!(said.contains("session report of caller local"), "{said}");
    served.until_said("hint: gristmill history --session report --since 1h");
    let found = anomalies(served.home());
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((&found[0]["severity"], &found[0]["kind"]), (&json!("warning"), &json!("repeated-program")));
    assert_eq!(found[0]["executions"].as_array().map(Vec::len), Some(5), "{found:#?}");
    let id = found[0]["executions"][0].as_str().expect("an id");
    assert!(served.home().ok(&["show", id]).contains("1 / 0"));
    let table = served.home().ok(&["anomalies", "--since", "1h"]);
    assert!(table.starts_with("TIME") && table.contains("gristmill history --session report"), "{table}");
}

fn a_watch_that_is_off_says_nothing() {
    let place = Place::new("watching-off").setting("watch", json!({"enabled": false}));
    let served = place.serve(modern(), &["--profile", "full"]);
    be_stuck(&served);
    assert_eq!(anomalies(served.home()), Vec::<Value>::new());
    assert!(!served.said().contains("alert"), "{}", served.said());
}

/// `[alerts]` with a command that writes into this file, and a webhook.
fn alerts(file: &std::path::Path, hook: &TcpListener) -> Value {
    let url = format!("http://{}/hook", hook.local_addr().expect("an address"));
    let command = ["/bin/sh", "-c", "cat >> \"$0\"", file.to_str().expect("a path in UTF-8")];
    json!({"log": false, "command": command, "webhook": {"url": url, "secret": SECRET}})
}

fn take_alert(hook: &TcpListener) -> Value {
    let (head, body) = take_message(hook);
    let signature = webhook_signature(SECRET, header(&head, "x-gristmill-timestamp"), &body);
    assert_eq!(header(&head, "x-gristmill-signature"), signature);
    serde_json::from_str(&body).expect("JSON")
}

fn an_alert_goes_to_a_command_and_signed_to_a_webhook() {
    let hook = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = Place::new("watching-alerts");
    let file = place.home().path().join("alerts.jsonl");
    let served = place.setting("alerts", alerts(&file, &hook)).serve(modern(), &["--profile", "full"]);
    be_stuck(&served);
    let told = take_alert(&hook);
    assert_eq!((&told["alert"], &told["kind"]), (&json!("found"), &json!("repeated-program")), "{told:#}");
    assert_eq!(told["action"], "gristmill history --session report --since 1h");
    let written = || std::fs::read_to_string(&file).unwrap_or_default();
    let line = eventually("the command's line", || Some(written()).filter(|text| text.ends_with('\n')));
    assert_eq!(serde_json::from_str::<Value>(&line).expect("one line"), told);
    assert!(!served.said().contains("alert"), "the log is off: {}", served.said());
}

fn a_test_alert_says_where_it_arrived_and_where_not() {
    let hook = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = Place::new("watching-test");
    let file = place.home().path().join("alerts.jsonl");
    let config = place.home().path().join("alerts.json");
    let write = |alerts: Value| {
        std::fs::write(&config, json!({"servers": {}, "alerts": alerts}).to_string()).expect("a file");
    };
    let words = ["alerts", "test", "--config", config.to_str().expect("a path in UTF-8")];
    write(alerts(&file, &hook));
    let said = std::thread::scope(|scope| {
        let running = scope.spawn(|| place.home().ok(&words));
        assert_eq!(take_alert(&hook)["alert"], "test");
        running.join().expect("it ends")
    });
    assert_eq!(said, "command: ok\nwebhook: ok\n");
    drop(hook);
    let ran = place.home().run(&words);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
    assert!(ran.stdout.contains("webhook: failed: "), "{}", ran.stdout);
    write(json!({"log": false}));
    let ran = place.home().run(&words);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("alerts go nowhere"), "{}", ran.stderr);
}

fn a_killed_gateway_loses_no_finding_and_the_next_one_repeats_no_alert() {
    let place = Place::new("watching-killed");
    let start = || Client::start(place.command(&["--profile", "full"]), modern());
    let client = start();
    be_stuck(&client);
    client.until_said("alert: warning repeated-program");
    // Dropped clients are killed, as by `kill -9`.
    drop(client);
    assert_eq!(anomalies(place.home()).len(), 1);
    let client = start();
    be_stuck(&client);
    let repeated = |found: &Value| found["kind"] == "repeated-program";
    assert_eq!(anomalies(place.home()).iter().filter(|found| repeated(found)).count(), 1);
    assert!(!client.said().contains("repeated-program"), "{}", client.said());
}
