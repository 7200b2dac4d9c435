//! `/metrics` as Prometheus reads it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use crate::cases;
use crate::gateways::Place;
use crate::http::{Holder, Listening};

cases![
    a_scrape_counts_what_ran_between_two,
    only_a_token_for_metrics_or_the_owners_reads_them,
    without_the_flag_there_are_none,
];

/// Status and body of what is at `/metrics`.
fn get(listening: &Listening, authorization: Option<&str>) -> (u16, String) {
    let mut stream = TcpStream::connect(&listening.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
    let authorization = authorization.map(|token| format!("Authorization: {token}\r\n")).unwrap_or_default();
    let host = &listening.address;
    let head = format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n{authorization}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, body.to_owned())
}

/// Every series with its value; whatever is no OpenMetrics ends the test.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let text = text.strip_suffix("# EOF\n").unwrap_or_else(|| panic!("no end: {text}"));
    let mut types = BTreeMap::new();
    let mut series = BTreeMap::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let words: Vec<&str> = comment.splitn(3, ' ').collect();
            let [kind, name, rest] = words[..] else { panic!("no comment of ours: {line}") };
            if kind == "TYPE" {
                assert!(["counter", "gauge", "histogram"].contains(&rest), "{line}");
                assert_eq!(types.insert(name.to_owned(), rest.to_owned()), None, "twice: {line}");
            }
            continue;
        }
        let (name, value) = line.rsplit_once(' ').expect("a value");
        let plain = name.split('{').next().expect("a name");
        assert!(plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{line}");
        let family = ["_total", "_bucket", "_sum", "_count"].iter().find_map(|end| plain.strip_suffix(end));
        assert!(types.contains_key(plain) || family.is_some_and(|name| types.contains_key(name)), "{line}");
        check_labels(&name[plain.len()..], line);
        let value: f64 = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
        assert_eq!(series.insert(name.to_owned(), value), None, "twice: {line}");
    }
    series
}

fn check_labels(labels: &str, line: &str) {
    if labels.is_empty() {
        return;
    }
    let labels = labels.strip_prefix('{').and_then(|rest| rest.strip_suffix("\"}"));
    for label in labels.unwrap_or_else(|| panic!("no labels: {line}")).split("\",") {
        let (name, value) = label.split_once("=\"").unwrap_or_else(|| panic!("no label: {line}"));
        assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{line}");
        assert!(!value.contains('"') && !value.contains('\n'), "{line}");
    }
}

fn a_scrape_counts_what_ran_between_two() {
    let listening = Listening::begin(Place::new("metrics").example("calculator"), &["--metrics"]);
    let owner = listening.authorization.clone();
    let scrape = || {
        let (status, body) = get(&listening, Some(&owner));
        assert_eq!(status, 200, "{body}");
        parsed(&body)
    };
    let before = scrape();
    let caller = Holder { listening: &listening, authorization: owner.clone() };
    let code = "[await callMCPTool('evaluate', expression='6*7') for _ in range(3)][0]['value']";
    assert_eq!(caller.structured("execute_code", json!({"code": code}))["result"], 42);
    assert_eq!(caller.structured("execute_code", json!({"code": "1 / 0"}))["status"], "failed");
    let after = scrape();
    let moved = |series: &str| after.get(series).unwrap_or(&0.0) - before.get(series).unwrap_or(&0.0);
    let execution = |outcome: &str| {
        moved(&format!(
            "gristmill_executions_total{{outcome=\"{outcome}\",language=\"python\",caller=\"local\"}}"
        ))
    };
    assert_eq!((execution("ok"), execution("failed")), (1.0, 1.0), "{after:#?}");
    let tool = "{server=\"calculator\",tool=\"evaluate\"";
    assert_eq!(moved(&format!("gristmill_calls_total{tool},outcome=\"answered\"}}")), 3.0, "{after:#?}");
    assert_eq!(moved(&format!("gristmill_call_seconds_count{tool}}}")), 3.0);
    assert_eq!(moved("gristmill_execution_errors_total{code=\"GM-1102\"}"), 1.0);
    assert_eq!(moved("gristmill_execution_seconds_count"), 2.0);
    assert!(moved("gristmill_tokens_total{kind=\"returned\"}") > 0.0);
    assert!(
        moved("gristmill_policy_decisions_total{decision=\"allow\",answer=\"none\"}") >= 3.0,
        "{after:#?}"
    );
    assert_eq!(after["gristmill_zygote_ready"], 1.0);
    assert_eq!((after["gristmill_zygotes_lost_total"], after["gristmill_zygotes_renewed_total"]), (0.0, 0.0));
    assert!(after["process_resident_memory_bytes"] > 1e6);
}

fn only_a_token_for_metrics_or_the_owners_reads_them() {
    let place = Place::new("metrics-tokens");
    let token = |name: &str, scope: &str| {
        let said = place.home().ok(&["token", "new", name, "--scope", scope]);
        format!("Bearer {}", said.trim())
    };
    let (agent, scraper) = (token("agent", "execute"), token("scraper", "metrics"));
    let listening = Listening::begin(place, &["--metrics"]);
    let (status, body) = get(&listening, None);
    assert_eq!(status, 401);
    assert!(body.contains("`gristmill token new NAME --scope metrics`"), "{body}");
    let (status, body) = get(&listening, Some(&agent));
    assert_eq!(status, 403);
    assert!(body.contains("`metrics`") && !body.contains("gristmill_executions"), "{body}");
    assert_eq!(get(&listening, Some(&scraper)).0, 200);
    assert_eq!(get(&listening, Some(&listening.authorization)).0, 200);
    // And it opens nothing else.
    let caller = Holder { listening: &listening, authorization: scraper };
    let refused = caller.refused("execute_code", json!({"code": "1"}));
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.why().contains("scope `search`"), "{refused:?}");
}

fn without_the_flag_there_are_none() {
    let listening = Listening::begin(Place::new("metrics-off"), &[]);
    assert_eq!(get(&listening, Some(&listening.authorization)).0, 404);
    let ran = listening.home.run(&["serve", "--metrics"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: add `--http 127.0.0.1:8770`"), "{}", ran.stderr);
}
