//! `gristmill audit`, as an auditor uses it.
#![cfg(target_os = "linux")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

const SECRET: &str = "canary-4111";

fn home(name: &str) -> Home {
    Home::new(gristmill(), name)
}

/// Every event, the oldest first.
fn events(home: &Home) -> Vec<Value> {
    let lines = home.ok(&["audit", "export"]);
    lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")["event"].clone()).collect()
}

fn kinds(home: &Home) -> Vec<String> {
    events(home).iter().map(|event| event["kind"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_ran_and_what_was_changed_is_written_down_without_what_was_said() {
    let home = home("audit");
    home.add_example("weather");
    home.ok(&["tools", "list"]);
    let program = format!("from servers.weather import current\nawait current(city='{SECRET}')");
    home.run(&["run", "-c", &program]);
    home.run(&["run", "--no-servers", "--timeout", "1s", "-c", "x = 1\nwhile True: pass"]);
    home.run(&["tools", "call", "weather.current", &format!("{{\"city\": \"{SECRET}\"}}")]);
    home.ok(&["token", "new", "laptop"]);
    home.ok(&["token", "remove", "laptop"]);
    home.ok(&["run", "--no-servers", "--session", "notes", "-c", "1"]);
    home.ok(&["sessions", "remove", "notes", "--yes"]);
    let expected = [
        "config.changed",
        "tools.approved",
        "execution.begun",
        "call",
        "execution.ended",
        "execution.begun",
        "violation",
        "execution.ended",
        "call",
        "token.issued",
        "token.revoked",
        "execution.begun",
        "execution.ended",
        "session.deleted",
    ];
    let events = events(&home);
    assert_eq!(kinds(&home), expected, "{events:#?}");
    assert_eq!((&events[1]["how"], &events[1]["server"]), (&json!("first"), &json!("weather")));
    assert!(events[1]["tools"].as_array().expect("names").contains(&json!("current")), "{:#}", events[1]);
    let call = &events[3];
    let told = (&call["server"], &call["tool"], &call["caller"], &call["execution"]);
    assert_eq!(told, (&json!("weather"), &json!("current"), &json!("local"), &events[2]["execution"]));
    assert_eq!(call["arguments_digest"], events[8]["arguments_digest"], "the same arguments");
    assert_eq!((&events[6]["what"], &events[6]["detail"]), (&json!("limit"), &json!("wall_time")));
    let exported = home.ok(&["audit", "export"]);
    assert!(!exported.contains(SECRET) && !exported.contains("gmt_"), "{exported}");

    let whole = home.run(&["audit", "verify"]);
    assert_eq!(whole.code, Some(0), "{}{}", whole.stdout, whole.stderr);
    assert!(whole.stdout.starts_with("the audit is whole: 14 events (1 to 14), signed "), "{}", whole.stdout);
    let found: Value =
        serde_json::from_str(&home.ok(&["audit", "query", "--kind", "token", "--json"])).expect("JSON");
    assert_eq!((found[0]["kind"].as_str(), found[1]["number"].as_u64()), (Some("token.revoked"), Some(10)));
    assert_eq!(home.ok(&["audit", "query", "--server", "weather"]).lines().count(), 4);
    assert_eq!(home.ok(&["audit", "tail", "-n", "3"]).lines().count(), 3);
    let cef = home.ok(&["audit", "export", "--format", "cef"]);
    assert!(
        cef.lines().count() == 14 && cef.lines().all(|line| line.starts_with("CEF:0|Gristmill|")),
        "{cef}"
    );
    let report = home.ok(&["audit", "report"]);
    assert!(report.starts_with("1 violation in 3 executions and 2 calls\n"), "{report}");
    let unknown = home.run(&["audit", "query", "--kind", "calls"]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("there's no kind of event `calls`"));
}

#[test]
fn a_killed_gateway_leaves_a_whole_chain_and_one_final_event_for_each_execution() {
    let home = home("audit-kill");
    let mut serve = home.command(&["serve", "--no-servers"]);
    let mut serve = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a gateway");
    let client = json!({"name": "audit", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let program = |code: &str| json!({"name": "execute_code", "arguments": {"code": code}});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": program("1 + 1")}),
    ];
    let mut input = serve.stdin.take().expect("a pipe");
    messages.iter().for_each(|message| writeln!(input, "{message}").expect("it reads"));
    let mut output = BufReader::new(serve.stdout.take().expect("a pipe")).lines();
    let answered = |line: std::io::Result<String>| line.expect("a line").contains("\"id\":2");
    assert!(output.any(answered), "the program is answered");
    // What was answered is in the journal by now, and soon in the database.
    while kinds(&home).len() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert_eq!(kinds(&home), ["execution.begun", "execution.ended"]);
    let slow = program("while True: pass");
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": slow}))
        .expect("it reads");
    while kinds(&home).len() < 3 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    serve.kill().expect("killed");
    serve.wait().expect("gone");
    home.ok(&["run", "--no-servers", "-c", "1"]);
    let all = events(&home);
    let outcomes: Vec<&str> = all.iter().filter_map(|event| event["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["ok", "lost", "ok"], "{all:#?}");
    for begun in all.iter().filter(|event| event["kind"] == "execution.begun") {
        let is_final =
            |event: &&Value| event["kind"] == "execution.ended" && event["execution"] == begun["execution"];
        assert_eq!(all.iter().filter(is_final).count(), 1, "{all:#?}");
    }
    assert_eq!(all[0]["client"], "audit");
    let whole = home.run(&["audit", "verify"]);
    assert_eq!(whole.code, Some(0), "{}{}", whole.stdout, whole.stderr);
}

/// What an event says beside its time and kind, without the folder of this test.
fn said(home: &Home, event: &Value) -> Value {
    let mut event = event.clone();
    let file = event["file"].as_str().expect("a file");
    event["file"] = json!(file.strip_prefix(&format!("{}/", home.path().display())).expect("ours"));
    let members = event.as_object_mut().expect("an object");
    members.remove("at");
    assert_eq!(members.remove("kind"), Some(json!("config.changed")));
    event
}

#[test]
fn whatever_changes_the_configuration_is_written_down_by_name_only() {
    let home = home("audit-config");
    let secret = format!("TOKEN={SECRET}");
    home.ok(&["add", "crm", "--env", &secret, "--", "/opt/canary-command", SECRET]);
    home.ok(&["add-json", "crm", "--replace", "{\"url\": \"https://canary-command.example/mcp\"}"]);
    home.ok(&["policy", "allow", "crm.get_*"]);
    home.ok(&["policy", "deny", "crm.drop", "--dry-run"]);
    home.ok(&["policy", "deny", "crm.drop"]);
    home.ok(&["policy", "deny", "crm.drop"]);
    let clients = home.path().join(".cursor");
    std::fs::create_dir_all(&clients).expect("made");
    let theirs = json!({"mcpServers": {"notes": {"command": "/opt/canary-command", "args": [SECRET]}}});
    std::fs::write(clients.join("mcp.json"), theirs.to_string()).expect("written");
    home.ok(&["import", "notes"]);
    home.ok(&["remove", "crm"]);
    let edit = |line: &str| {
        let mut command = home.command(&["config", "edit"]);
        let script = format!("f() {{ printf '%s\\n' '{line}' >> \"$1\"; }}; f");
        let ran = command.env_remove("VISUAL").env("EDITOR", script).output().expect("it runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    };
    edit("# a comment");
    // Whoever turns it off is the last that is written down.
    edit("[audit]\nenabled = false");
    home.ok(&["remove", "notes"]);
    edit("# unseen");
    let config = home.config_file();
    let text = std::fs::read_to_string(&config).expect("a file").replace("enabled = false", "enabled = true");
    std::fs::write(&config, text).expect("written");
    let told: Vec<Value> = events(&home).iter().map(|event| said(&home, event)).collect();
    let file = "config/gristmill/gristmill.toml";
    let expected = [
        json!({"what": "server added", "file": file, "server": "crm"}),
        json!({"what": "server replaced", "file": file, "server": "crm"}),
        json!({"what": "rule added", "file": file, "server": "crm", "tool": "get_*", "decision": "allow"}),
        json!({"what": "rule added", "file": file, "server": "crm", "tool": "drop", "decision": "deny"}),
        json!({"what": "server imported", "file": file, "server": "notes"}),
        json!({"what": "server removed", "file": file, "server": "crm"}),
        json!({"what": "edited", "file": file}),
        json!({"what": "edited", "file": file}),
    ];
    assert_eq!(told, expected);
    assert!(!home.ok(&["audit", "export"]).contains("canary"));
    let cef = home.ok(&["audit", "export", "--format", "cef"]);
    assert!(cef.starts_with("CEF:0|Gristmill|gristmill|"), "{cef}");
    assert!(cef.contains("|config.changed|server added|5|"), "{cef}");
}

#[test]
fn a_token_is_written_down_with_its_limits_and_a_change_without_an_audit_is_said() {
    let home = home("audit-limits");
    home.ok(&["token", "new", "ci", "--servers", "crm", "--read-only", "--calls-per-minute", "9"]);
    let issued = &events(&home)[0];
    assert_eq!(issued["limits"], json!({"servers": ["crm"], "calls_per_minute": 9, "read_only": true}));
    std::fs::write(home.path().join("data/gristmill.db"), "no database").expect("written");
    let ran = home.run(&["add", "crm", "--", "/bin/true"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("warning: this isn't in the audit: "), "{}", ran.stderr);
}

#[test]
fn a_refused_call_is_reported_with_the_line_of_the_program() {
    let home = home("audit-lines");
    home.add_example("weather");
    home.ok(&["tools", "list"]);
    home.ok(&["policy", "deny", "weather.current"]);
    let program = "city = 'Oslo'\nfrom servers.weather import current\nawait current(city=city)";
    let refused = home.run(&["run", "-c", program]);
    assert!(refused.stderr.contains("GM-3301"), "{}", refused.stderr);
    home.run(&["tools", "call", "weather.current", "city=Oslo"]);
    let calls: Vec<Value> = events(&home).into_iter().filter(|event| event["kind"] == "call").collect();
    let lines: Vec<&Value> = calls.iter().map(|call| &call["line"]).collect();
    assert_eq!(lines, [&json!(3), &Value::Null], "{calls:#?}");
    let report: Value = serde_json::from_str(&home.ok(&["audit", "report", "--json"])).expect("JSON");
    let places: Vec<(&Value, &Value)> = report["places"]
        .as_array()
        .expect("places")
        .iter()
        .map(|place| (&place["kind"], &place["line"]))
        .collect();
    let denied = json!("call denied");
    assert_eq!(places, [(&denied, &Value::Null), (&denied, &json!(3))]);
}

#[test]
fn the_audit_can_be_turned_off() {
    let home = home("audit-off");
    let file = home.config_file();
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    std::fs::write(&file, "[audit]\nenabled = false\n").expect("written");
    home.ok(&["run", "--no-servers", "-c", "1"]);
    home.ok(&["token", "new", "laptop"]);
    let shown = home.run(&["audit", "tail"]);
    assert_eq!((shown.code, shown.stdout.as_str()), (Some(0), ""), "{}", shown.stderr);
    assert!(shown.stderr.contains("the audit is turned off"), "{}", shown.stderr);
}
