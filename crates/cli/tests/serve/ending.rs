//! How a gateway begins and how it ends: at once, without losing what runs, and with nothing left behind.

use std::path::Path;

use gristmill_testkit::processes::eventually;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, legacy, modern};
use crate::gateways::{Place, Served, none_left};
use crate::support::gristmill;

cases![
    the_end_of_the_input_lets_running_requests_finish,
    a_client_that_is_gone_leaves_nothing_behind,
    a_program_may_end_within_the_grace_period_after_a_signal,
    a_program_that_takes_longer_is_stopped,
    a_second_signal_does_not_wait,
    a_program_in_the_background_gets_the_grace_period_too,
    a_program_in_the_background_ends_with_its_client,
    a_server_that_never_answers_keeps_nobody_waiting,
    the_first_answer_does_not_wait_for_the_engine,
];

/// A gateway whose programs can leave a file in a folder that outlives them.
fn with_folder(name: &str, arguments: &[&str]) -> Served {
    let place = Place::new(name);
    let root = place.home().path().join("root");
    std::fs::create_dir(&root).expect("a folder");
    let args = json!(["example-server", "filesystem", "--root", root]);
    let place = place
        .server("filesystem", json!({"command": gristmill(), "args": args}))
        .setting("policy", json!("trusting"));
    place.serve(legacy(), arguments)
}

/// Leaves a file when it begins and another when it ends.
fn writing(seconds: u32) -> Value {
    let code = format!(
        "from servers.filesystem import write_file\n\
         await write_file(path='begun.txt', text='x')\n\
         await asyncio.sleep({seconds})\n\
         await write_file(path='ended.txt', text='x')"
    );
    json!({"code": code, "timeout_s": 100})
}

fn is_there(served: &Served, file: &str) -> bool {
    Path::new(&served.home().path().join("root")).join(file).exists()
}

fn until_begun(served: &Served) {
    eventually("the program has begun", || is_there(served, "begun.txt").then_some(()));
}

fn signal(served: &Served, signal: Signal) {
    let pid = Pid::from_raw(served.pid() as i32).expect("a process number");
    kill_process(pid, signal).expect("it can be signalled");
}

fn the_end_of_the_input_lets_running_requests_finish() {
    let served = with_folder("end-of-input", &[]);
    let id = served.begin_call("execute_code", writing(1));
    until_begun(&served);
    served.close_input();
    let answer = served.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["status"], "ok", "{answer:#}");
    assert_eq!(served.ended().code(), Some(0));
    assert!(is_there(&served, "ended.txt"));
    none_left(served.home());
}

fn a_client_that_is_gone_leaves_nothing_behind() {
    for manners in [legacy(), modern()] {
        let served = Place::new("gone").example("calculator").serve(manners, &[]);
        let ran = served
            .structured("execute_code", json!({"code": "await callMCPTool('evaluate', expression='1')"}));
        assert_eq!(ran["status"], "ok", "{ran:#}");
        served.close_input();
        assert_eq!(served.ended().code(), Some(0));
        none_left(served.home());
    }
}

fn a_program_may_end_within_the_grace_period_after_a_signal() {
    for which in [Signal::TERM, Signal::INT] {
        let served = with_folder("grace", &["--grace", "50"]);
        served.begin_call("execute_code", writing(1));
        until_begun(&served);
        signal(&served, which);
        assert_eq!(served.ended().code(), Some(0));
        assert!(is_there(&served, "ended.txt"), "it ended by itself");
        none_left(served.home());
    }
}

fn a_program_that_takes_longer_is_stopped() {
    let served = with_folder("no-grace", &["--grace", "1"]);
    served.begin_call("execute_code", writing(90));
    until_begun(&served);
    signal(&served, Signal::TERM);
    assert_eq!(served.ended().code(), Some(0));
    assert!(!is_there(&served, "ended.txt"), "it was stopped");
    none_left(served.home());
}

fn a_second_signal_does_not_wait() {
    let served = with_folder("twice", &["--grace", "90"]);
    served.begin_call("execute_code", writing(90));
    until_begun(&served);
    signal(&served, Signal::TERM);
    // Two signals of one kind that arrive together are one.
    signal(&served, Signal::INT);
    assert_eq!(served.ended().code(), Some(130));
    assert!(!is_there(&served, "ended.txt"));
    none_left(served.home());
}

/// Starts a program that nobody waits for.
fn begin_in_background(served: &Served, seconds: u32) {
    let mut arguments = writing(seconds);
    arguments["background"] = json!(true);
    assert_eq!(served.structured("execute_code", arguments)["status"], "running");
    until_begun(served);
}

fn a_program_in_the_background_gets_the_grace_period_too() {
    let served = with_folder("background-grace", &["--grace", "50"]);
    begin_in_background(&served, 1);
    signal(&served, Signal::TERM);
    assert_eq!(served.ended().code(), Some(0));
    assert!(is_there(&served, "ended.txt"), "nobody waits for it, but it was asked for");
    none_left(served.home());
}

fn a_program_in_the_background_ends_with_its_client() {
    let served = with_folder("background-alone", &["--grace", "90"]);
    begin_in_background(&served, 90);
    served.close_input();
    assert_eq!(served.ended().code(), Some(0));
    assert!(!is_there(&served, "ended.txt"), "nobody could ask for it any more");
    none_left(served.home());
}

fn a_server_that_never_answers_keeps_nobody_waiting() {
    // It would be waited for longer than any answer here.
    let silent = std::env::current_exe().expect("our own path");
    let entry =
        json!({"command": silent, "args": ["scripted-server", "silent"], "limits": {"startup": "5m"}});
    let place = Place::new("silent").server("silent", entry).example("calculator");
    let served = place.serve(legacy(), &[]);
    let run = |code: &str| served.structured("execute_code", json!({"code": code}));
    assert_eq!(run("6 * 7"), json!({"status": "ok", "result": 42}));
    assert_eq!(run("(await callMCPTool('calculator.evaluate', expression='6*7'))['value']")["result"], 42);
    let found = served.structured("search_tools", json!({"query": "convert"}));
    let first = found["found"][0].as_str().unwrap_or_default();
    assert!(first.starts_with("calculator.convert_units("), "{found:#}");
    assert_eq!(found["more"], "Unavailable servers: silent.", "{found:#}");
    served.close_input();
    assert_eq!(served.ended().code(), Some(0));
    none_left(served.home());
}

fn the_first_answer_does_not_wait_for_the_engine() {
    let place = Place::new("no-engine");
    let engines = place.home().path().join("cache/engines");
    std::fs::remove_file(&engines).expect("the link to the engines of all tests");
    let client = Client::mute(place.command(&[]), legacy());
    let answer = client.request("initialize", legacy().greeting());
    assert_eq!(answer["result"]["serverInfo"]["name"], "gristmill", "{answer}");
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert!(client.request("tools/list", json!({}))["result"]["tools"].is_array());
    let compiled = std::fs::read_dir(&engines).into_iter().flatten().flatten();
    let compiled: Vec<_> = compiled
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "cwasm"))
        .collect();
    assert!(compiled.is_empty(), "it takes seconds to compile: {compiled:?}");
}
