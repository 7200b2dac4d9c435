//! The gateway's log as whoever runs it sees it, and trace contexts from callers to servers.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gristmill_testkit::Home;
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, MODERN, legacy, modern};
use crate::gateways::Place;
use crate::http::Listening;

cases![
    a_log_of_programs_full_of_marks_has_what_was_done_and_none_of_the_marks,
    a_log_in_text_has_none_of_the_marks_either,
    an_execution_is_one_line_by_default_and_stderr_stays_quiet,
    each_stage_is_logged_with_its_time_and_sizes_for_debugging,
    a_log_is_found_by_execution_and_level_and_its_absence_is_explained,
    a_server_that_is_still_starting_when_the_gateway_stops_is_not_told_as_down,
    a_gateway_that_keeps_nothing_has_no_log_unless_somebody_asks,
    a_filter_that_means_nothing_is_refused,
    a_trace_context_goes_from_the_caller_to_the_server_in_a_new_span,
    a_trace_context_in_a_header_counts_and_a_broken_one_is_ignored,
    a_trace_context_goes_along_when_a_resource_is_read_and_a_prompt_is_filled_in,
    one_session_is_logged_stage_by_stage_while_others_stay_quiet,
];

/// In everything that programs say, send and get.
const MARK: &str = "m4rk-of-a-program";

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

fn log_of(home: &Home) -> PathBuf {
    home.path().join("data/logs/gateway.log")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

/// Everything is written once the gateway has ended.
fn end(client: &Client) {
    client.close_input();
    assert!(client.ended().success());
}

/// A call that gives its arguments back, one that fails in the server's words, and everything else that can
/// carry a mark.
fn programs() -> Vec<String> {
    let refused =
        format!(r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":-32603,"message":"{MARK} is wrong"}}}}"#);
    vec![
        format!(
            "import sys\nfrom servers import robot\n# {MARK}\nsecret = '{MARK}'\nprint(secret)\nprint(secret, file=sys.stderr)\n\
             state['{MARK}'] = secret\nopen('/workspace/{MARK}.txt', 'w').write(secret)\n\
             answer = await robot.echo(text='{MARK}')\n\
             found = search_tools('{MARK}')\n\
             try:\n    await robot.print(lines=[{refused:?}])\nexcept Exception as error:\n    print(error)\n\
             try:\n    await callMCPTool('{MARK}.tool', {{'{MARK}': 1}})\nexcept Exception as error:\n    print(error)\n\
             result = {{'{MARK}': answer}}"
        ),
        format!("raise ValueError('{MARK}')"),
        format!("this is not python: '{MARK}'"),
        format!("from servers.{} import x", MARK.replace('-', "_")),
    ]
}

/// What the gateway logged of them, and their ids.
fn logged(name: &str, format: &str) -> (String, Vec<String>) {
    let place = Place::new(name).scripted("robot", &[]);
    let mut command = place.command(&["--log-format", format, "--profile", "full"]);
    command.env("GRISTMILL_LOG", "trace");
    let client = Client::start(command, legacy());
    let mut ids = Vec::new();
    for code in programs() {
        let answer = client.call("execute_code", json!({"code": code, "session": "marked"}));
        assert!(answer.to_string().contains("m4rk"), "the mark is in what the caller gets: {answer:#}");
        ids.push(answer["_meta"]["gristmill/execution"].as_str().expect("an id").to_owned());
    }
    end(&client);
    let home = place.into_home();
    let mode = std::fs::metadata(log_of(&home)).expect("a log").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    (std::fs::read_to_string(log_of(&home)).expect("a log"), ids)
}

fn a_log_of_programs_full_of_marks_has_what_was_done_and_none_of_the_marks() {
    let (log, ids) = logged("log-marks", "json");
    assert!(!log.contains("m4rk"), "{log}");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let said = |message: &str| lines.iter().filter(|line| line["message"] == message).collect::<Vec<_>>();
    let executions = said("execution");
    assert_eq!(executions.iter().map(|line| line["execution"].clone()).collect::<Vec<_>>(), ids);
    let outcomes: Vec<(&Value, &Value)> =
        executions.iter().map(|line| (&line["outcome"], &line["code"])).collect();
    assert_eq!(
        (outcomes[0].0, outcomes[1].1, outcomes[2].1),
        (&json!("ok"), &json!("GM-1102"), &json!("GM-1101"))
    );
    let first = executions[0];
    assert!(first["took_ms"].as_f64() > Some(0.0) && first["stdout_bytes"].as_u64() > Some(0), "{first}");
    assert_eq!((&first["owner"], &first["client"]), (&json!("local"), &json!("test")));
    assert!(first["session"].as_str().is_some_and(|session| session.len() == 20), "{first}");
    let calls = said("call");
    let call =
        |tool: &str| *calls.iter().find(|line| line["tool"] == tool).unwrap_or_else(|| panic!("{log}"));
    let echo = call("echo");
    assert_eq!((&echo["server"], &echo["method"]), (&json!("robot"), &json!("tools/call")));
    assert_eq!((&echo["outcome"], &echo["execution"]), (&json!("ok"), &json!(ids[0])));
    assert!(echo["request_bytes"].as_u64() > Some(20) && echo["answer_bytes"].as_u64() > Some(20), "{echo}");
    assert!(echo["took_ms"].as_f64() > Some(0.0), "{echo}");
    assert_eq!(call("print")["outcome"], "failed");
}

fn a_log_in_text_has_none_of_the_marks_either() {
    let (log, ids) = logged("log-marks-text", "text");
    assert!(!log.contains("m4rk"), "{log}");
    for id in &ids {
        assert!(log.contains(&format!("execution={id} ")), "{log}");
    }
    assert!(log.contains(" door: call took_ms=") && log.contains(" server=robot tool=echo "), "{log}");
}

fn an_execution_is_one_line_by_default_and_stderr_stays_quiet() {
    let served = Place::new("log-default").example("calculator").serve(legacy(), &["--log-format", "json"]);
    let code = "from servers.calculator import evaluate\nresult = await evaluate(expression='1')";
    for _ in 0..3 {
        served.call("execute_code", json!({"code": code}));
    }
    end(&served);
    let lines = lines(&log_of(served.home()));
    let about: Vec<&Value> = lines.iter().filter(|line| line["execution"].is_string()).collect();
    assert_eq!(about.len(), 3, "{lines:#?}");
    assert!(about.iter().all(|line| line["level"] == "info" && line["calls"] == 1), "{about:#?}");
    let areas = ["execution", "servers", "pool", "mcp"];
    assert!(lines.iter().all(|line| areas.iter().any(|area| line["area"] == *area)), "{lines:#?}");
    assert!(lines.iter().any(|line| line["message"] == "connected" && line["server"] == "calculator"));
    assert_eq!(served.said(), "");
}

fn each_stage_is_logged_with_its_time_and_sizes_for_debugging() {
    let place = Place::new("log-debug").example("calculator");
    let client =
        Client::start(place.command(&["--debug", "--log-file", "-", "--log-format", "json"]), legacy());
    let code = "from servers.calculator import evaluate\nsearch_tools('add')\nresult = await evaluate(expression='1')";
    let answer = client.call("execute_code", json!({"code": code}));
    let id = answer["_meta"]["gristmill/execution"].clone();
    end(&client);
    let said = client.said();
    let lines: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_it: Vec<&Value> = lines.iter().filter(|line| line["execution"] == id).collect();
    for stage in ["place", "admit", "prepare", "check", "checkout", "call", "run", "record", "execution"] {
        let line = of_it.iter().find(|line| line["message"] == stage);
        let line = line.unwrap_or_else(|| panic!("no {stage} in {said}"));
        assert!(line["took_ms"].is_number(), "{line}");
    }
    let one = |message: &str| *of_it.iter().find(|line| line["message"] == message).expect("a line");
    assert_eq!((&one("search")["query_bytes"], &one("place")["in_session"]), (&json!(3), &json!(false)));
    let admitted = one("admit");
    assert_eq!((&admitted["isolation"], &admitted["ahead"]), (&json!("production"), &json!(0)));
    assert!(one("prepare")["tools"].as_u64() > Some(0) && one("prepare")["frame_bytes"].as_u64() > Some(100));
    let checked = one("check");
    assert_eq!((&checked["checked_bytes"], &checked["findings"]), (&json!(code.len()), &json!(0)));
    assert_eq!(one("checkout")["kept_interpreter"], false);
    assert_eq!((&one("run")["calls"], &one("run")["ending"]), (&json!(1), &json!("done")));
    let called = one("call");
    assert_eq!((&called["decision"], &called["was_sent"]), (&json!("allow"), &json!(true)));
    assert!(called["rule"].is_string() && called["answer_bytes"].as_u64() > Some(0), "{called}");
    assert!(one("record")["tokens"].as_u64() > Some(0), "{said}");
    assert!(lines.iter().any(|line| line["message"] == "request" && line["tool"] == "execute_code"));
    assert!(!log_of(place.home()).exists(), "it is on stderr alone");
}

fn a_log_is_found_by_execution_and_level_and_its_absence_is_explained() {
    let place = Place::new("log-found").server("gone", json!({"command": "/nowhere/at-all"}));
    let nothing = place.home().run(&["logs"]);
    assert_eq!(nothing.code, Some(2));
    assert!(
        nothing.stderr.contains("there's no log at") && nothing.stderr.contains("gristmill serve"),
        "{}",
        nothing.stderr
    );
    let served = place.serve(legacy(), &[]);
    let ids: Vec<String> = (0..3)
        .map(|number| {
            let answer = served.call("execute_code", json!({"code": format!("result = {number}")}));
            answer["_meta"]["gristmill/execution"].as_str().expect("an id").to_owned()
        })
        .collect();
    end(&served);
    let logs = |words: &[&str]| served.home().ok(&[&["logs"], words].concat());
    let one = logs(&["--execution", &ids[1][..8]]);
    assert!(one.lines().count() == 1 && one.contains(&ids[1]), "{one}");
    let warnings = logs(&["--level", "warn"]);
    assert!(
        warnings.contains(" servers: can't connect ") && warnings.contains(" server=gone "),
        "{warnings}"
    );
    assert!(warnings.lines().all(|line| line.contains(" WARN ")), "{warnings}");
    assert_eq!(logs(&["-n", "2"]).lines().count(), 2);
    let none = served.home().run(&["logs", "--execution", "nosuch"]);
    assert!(none.code == Some(0) && none.stderr.contains("no matching lines"), "{}", none.stderr);
}

fn a_server_that_is_still_starting_when_the_gateway_stops_is_not_told_as_down() {
    let slow = json!({"command": "sleep", "args": ["60"]});
    let served = Place::new("log-stopping").server("slow", slow).serve(legacy(), &[]);
    served.call("execute_code", json!({"code": "result = 1"}));
    end(&served);
    let log = std::fs::read_to_string(log_of(served.home())).expect("a log");
    assert!(log.contains(" mcp: stopped ") && !log.contains("can't connect"), "{log}");
}

fn a_gateway_that_keeps_nothing_has_no_log_unless_somebody_asks() {
    let quiet = Place::new("log-none").serve(legacy(), &["--no-state"]);
    quiet.call("execute_code", json!({"code": "result = 1"}));
    end(&quiet);
    assert!(!log_of(quiet.home()).exists());
    assert!(!quiet.said().contains("execution="), "{}", quiet.said());
    let place = Place::new("log-asked");
    let mut command = place.command(&["--no-state"]);
    command.env("GRISTMILL_LOG", "warn,execution=info");
    let asked = Client::start(command, legacy());
    asked.call("execute_code", json!({"code": "result = 1"}));
    end(&asked);
    assert!(asked.said().contains(" INFO  execution: execution took_ms="), "{}", asked.said());
    assert!(!asked.said().contains("workers are ready"), "{}", asked.said());
}

fn a_filter_that_means_nothing_is_refused() {
    let place = Place::new("log-filter");
    for words in [["serve"].as_slice(), &["list"]] {
        let ran = place.home().command(words).env("GRISTMILL_LOG", "loud").output().expect("it runs");
        assert_eq!(ran.status.code(), Some(2));
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(said.contains("GRISTMILL_LOG: unknown log level `loud`"), "{said}");
    }
}

/// A place with a server that writes down what it hears, and where.
fn recorded(name: &str) -> (Place, PathBuf) {
    recorded_with(name, "")
}

fn recorded_with(name: &str, behaviours: &str) -> (Place, PathBuf) {
    let place = Place::new(name);
    let heard = place.home().path().join("heard");
    let ourselves = std::env::current_exe().expect("our own path");
    let script =
        format!("tee '{}' | '{}' scripted-server {behaviours}", heard.display(), ourselves.display());
    (place.server("robot", json!({"command": "sh", "args": ["-c", script]})), heard)
}

/// The `_meta` of each call that a server has heard.
fn calls_heard(heard: &Path) -> Vec<Value> {
    let calls = lines(heard).into_iter().filter(|message| message["method"] == "tools/call");
    calls.map(|mut message| message["params"]["_meta"].take()).collect()
}

const TWO_CALLS: &str =
    "from servers import robot\nawait robot.echo(text='1')\nawait robot.echo(text='2')\nresult = 1";

fn a_trace_context_goes_from_the_caller_to_the_server_in_a_new_span() {
    for manners in [legacy(), modern()] {
        let (place, heard) = recorded("log-trace");
        let served = place.serve(manners, &["--log-format", "json"]);
        let meta = json!({"traceparent": format!("00-{TRACE}-{PARENT}-01"), "tracestate": "vendor=7"});
        let params = json!({"name": "execute_code", "arguments": {"code": TWO_CALLS}, "_meta": meta});
        let result = served.result("tools/call", params);
        assert_ne!(result["isError"], true, "{result:#}");
        served.result("tools/call", json!({"name": "execute_code", "arguments": {"code": TWO_CALLS}}));
        end(&served);
        let calls = calls_heard(&heard);
        let parents: Vec<&str> = calls.iter().filter_map(|meta| meta["traceparent"].as_str()).collect();
        assert_eq!((calls.len(), parents.len()), (4, 2), "only where the caller has one: {calls:?}");
        for parent in &parents {
            let parts: Vec<&str> = parent.split('-').collect();
            assert_eq!((parts[0], parts[1], parts[3], parts[2].len()), ("00", TRACE, "01", 16));
            assert_ne!(parts[2], PARENT);
        }
        assert_ne!(parents[0], parents[1], "each call is a span of its own");
        assert_eq!(calls[0]["tracestate"], "vendor=7");
        let log = lines(&log_of(served.home()));
        let traced = log.iter().filter(|line| line["message"] == "execution" && line["trace_id"] == TRACE);
        assert_eq!(traced.count(), 1, "{log:#?}");
    }
}

fn a_trace_context_in_a_header_counts_and_a_broken_one_is_ignored() {
    let (place, heard) = recorded("log-trace-http");
    let listening = Listening::begin(place, &[]);
    let whole = format!("00-{TRACE}-{PARENT}-00");
    let broken = format!("00-{TRACE}-0000000000000000-00");
    for header in [whole.as_str(), &broken, "nonsense"] {
        let params = modern().params(json!({"name": "execute_code", "arguments": {"code": TWO_CALLS}}));
        let body = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
        let headers = [
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "execute_code"),
            ("traceparent", header),
        ];
        let response = listening.post(&headers, &body);
        assert_eq!(response.status, 200, "{response:?}");
    }
    let calls = calls_heard(&heard);
    let traced = calls.iter().filter_map(|meta| meta["traceparent"].as_str());
    let traced: Vec<&str> = traced.collect();
    assert_eq!((calls.len(), traced.len()), (6, 2), "{calls:?}");
    assert!(
        traced.iter().all(|parent| parent.starts_with(&format!("00-{TRACE}-")) && parent.ends_with("-00"))
    );
}

fn a_trace_context_goes_along_when_a_resource_is_read_and_a_prompt_is_filled_in() {
    let (place, heard) = recorded_with("log-trace-reads", "readables");
    let served = place.serve(legacy(), &[]);
    let meta = json!({"traceparent": format!("00-{TRACE}-{PARENT}-01")});
    let uri = "gristmill://robot/file%3A%2F%2F%2Fnotes.txt";
    served.result("resources/read", json!({"uri": uri, "_meta": meta}));
    let read = json!({"name": "robot.review", "arguments": {"code": "x"}, "_meta": meta});
    served.result("prompts/get", read);
    served.result("resources/read", json!({"uri": uri}));
    end(&served);
    let parents: Vec<(Value, Value)> = lines(&heard)
        .into_iter()
        .filter(|message| message["method"] == "resources/read" || message["method"] == "prompts/get")
        .map(|mut message| (message["method"].take(), message["params"]["_meta"]["traceparent"].take()))
        .collect();
    assert_eq!(parents.len(), 3, "{parents:?}");
    for (method, parent) in &parents[..2] {
        let parent = parent.as_str().unwrap_or_else(|| panic!("{method}: {parents:?}"));
        assert!(parent.starts_with(&format!("00-{TRACE}-")) && !parent.contains(PARENT), "{parent}");
    }
    assert_eq!(parents[2].1, Value::Null, "only where the caller has one");
}

fn one_session_is_logged_stage_by_stage_while_others_stay_quiet() {
    let place = Place::new("log-session").example("calculator");
    let served = place.serve(legacy(), &["--log-format", "json"]);
    let home = served.home();
    let code = "from servers.calculator import evaluate\nsearch_tools('add')\nresult = await evaluate(expression='1')";
    let run = |session: &str| {
        let answer = served.call("execute_code", json!({"code": code, "session": session}));
        answer["_meta"]["gristmill/execution"].clone()
    };
    let before = run("looked-into");
    let said = home.ok(&["sessions", "debug", "looked-into"]);
    assert!(said.starts_with("logging each stage of looked-into ("), "{said}");
    assert!(home.ok(&["sessions", "show", "looked-into"]).contains("debug    each stage"));
    let (during, other) = (run("looked-into"), run("left-alone"));
    home.ok(&["sessions", "debug", "looked-into", "--off"]);
    let after = run("looked-into");
    home.ok(&["sessions", "create", "--name", "from-the-start", "--debug"]);
    let from_the_start = run("from-the-start");
    end(&served);
    let lines = lines(&log_of(home));
    let of = |id: &Value| lines.iter().filter(|line| line["execution"] == *id).collect::<Vec<&Value>>();
    for quiet in [&before, &other, &after] {
        assert_eq!(of(quiet).len(), 1, "{:#?}", of(quiet));
    }
    for debugged in [&during, &from_the_start] {
        let about = of(debugged);
        for (area, message) in [
            ("execution", "admit"),
            ("execution", "prepare"),
            ("execution", "check"),
            ("execution", "checkout"),
            ("execution", "search"),
            ("execution", "run"),
            ("execution", "record"),
            ("door", "call"),
        ] {
            let line = about.iter().find(|line| line["message"] == message);
            let line = line.unwrap_or_else(|| panic!("no {message} in {about:#?}"));
            assert_eq!((&line["area"], &line["level"]), (&json!(area), &json!("debug")), "{line}");
        }
    }
}
