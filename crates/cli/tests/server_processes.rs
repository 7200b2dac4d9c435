//! No process of a server outlives us: not when we stop, not when it is killed, not when we are.
#![cfg(target_os = "linux")]

mod support;

use std::collections::HashMap;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;

use gristmill_gateway::domain::{ServerLimits, ServerSettings};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{Asker, CallWatcher, ProgressSink, ToolCall, ToolSource, Writes};
use gristmill_gateway::upstream::{DoorRequest, Refresh, ServerState, UpstreamFolders, Upstreams};
use gristmill_mcp::{McpConnector, SupervisorCommand};
use gristmill_testkit::processes::{eventually, kill_9};
use gristmill_testkit::{Home, TestFolder};
use serde_json::{Map, Value, json};
use support::gristmill;

/// Starts, stops and kills of each kind; 300 together.
const STOPPED: usize = 160;
const SERVERS_KILLED: usize = 60;
const SUPERVISORS_KILLED: usize = 40;
const DROPPED: usize = 20;
const GATEWAYS_KILLED: usize = 20;

/// Processes with a text in their command line, dead ones left out.
fn with_mark(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(mark) && gristmill_testkit::processes::is_alive(pid) {
            found.push(pid);
        }
    }
    found
}

fn none_left(mark: &str) {
    eventually("no process is left", || with_mark(mark).is_empty().then_some(()));
}

/// The same, while the runtime goes on.
async fn wait_for_none(mark: &str) {
    let mark = mark.to_owned();
    tokio::task::spawn_blocking(move || none_left(&mark)).await.unwrap();
}

/// The server itself, not its supervisor.
fn server_of(mark: &str) -> u32 {
    let is_supervisor = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("upstream-supervisor")
    };
    eventually("a server", || with_mark(mark).into_iter().find(|pid| !is_supervisor(pid)))
}

fn supervisor_of(mark: &str) -> u32 {
    let server = server_of(mark);
    eventually("a supervisor", || with_mark(mark).into_iter().find(|pid| *pid != server))
}

fn settings(command: &str, args: &[&str]) -> ServerSettings {
    ServerSettings {
        limits: ServerLimits { startup_ms: 20_000, ..ServerLimits::default() },
        ..ServerSettings::program("calculator", command, args)
    }
}

/// A mark goes in as an argument that the server does not use.
fn marked(mark: &str) -> ServerSettings {
    settings(&gristmill().to_string_lossy(), &["example-server", "calculator", "--data", mark])
}

fn upstreams(settings: ServerSettings, folder: &Path) -> Upstreams {
    let supervisor = SupervisorCommand {
        program: gristmill().to_owned(),
        argument: "upstream-supervisor".into(),
        sandbox: "server-sandbox".into(),
    };
    let connector = McpConnector::new(supervisor, HashMap::new(), folder.to_owned());
    let folders = UpstreamFolders { data: folder.to_owned(), cache: folder.to_owned() };
    Upstreams::start(vec![settings], Arc::new(connector), &folders, Refresh::InBackground)
}

async fn add_one(upstreams: &Upstreams) -> Result<String, String> {
    let call = ToolCall {
        name: "calculator.evaluate".to_owned(),
        arguments: Map::from_iter([("expression".to_owned(), Value::from("1+1"))]),
        progress: ProgressSink::default(),
        asker: Asker::none(),
        watcher: CallWatcher::none(),
        writes: Writes::Sent,
    };
    let outcome = upstreams.pass(&Caller::local(), DoorRequest::CallTool(call)).await;
    outcome.map(|answer| answer.json).map_err(|failure| failure.to_string())
}

fn answered() -> Result<String, String> {
    Ok(r#"{"expression":"1+1","value":2}"#.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_starts_stops_and_kills_leave_no_process() {
    let folder = TestFolder::new("leak");
    let mark = folder.path().to_str().unwrap().to_owned();
    for round in 0..STOPPED + SERVERS_KILLED + SUPERVISORS_KILLED + DROPPED {
        let upstreams = upstreams(marked(&mark), folder.path());
        assert_eq!(add_one(&upstreams).await, answered(), "round {round}");
        match round {
            _ if round < STOPPED => {}
            _ if round < STOPPED + SERVERS_KILLED => kill_9(server_of(&mark)),
            _ if round < STOPPED + SERVERS_KILLED + SUPERVISORS_KILLED => kill_9(supervisor_of(&mark)),
            _ => {
                // Nobody closes it.
                drop(upstreams);
                wait_for_none(&mark).await;
                continue;
            }
        }
        upstreams.close().await;
        wait_for_none(&mark).await;
    }
    let home = Home::new(gristmill(), "leak-gateway");
    home.ok(&[
        "add",
        "calculator",
        "--",
        gristmill().to_str().unwrap(),
        "example-server",
        "calculator",
        "--data",
        &mark,
    ]);
    for _ in 0..GATEWAYS_KILLED {
        let gateway = running_program(&home);
        server_of(&mark);
        kill_9(gateway.id());
        end(gateway);
        none_left(&mark);
    }
}

/// A program that has called a tool and goes on.
fn running_program(home: &Home) -> Child {
    let program = "await callMCPTool('evaluate', {'expression': '1'}); await asyncio.sleep(60)";
    let arguments = ["run", "--level", "development", "--timeout", "60s", "-c", program];
    home.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_is_started_again() {
    let folder = TestFolder::new("restart");
    let mark = folder.path().to_str().unwrap().to_owned();
    let upstreams = upstreams(marked(&mark), folder.path());
    assert_eq!(add_one(&upstreams).await, answered());
    let first = server_of(&mark);
    kill_9(first);
    eventually("it is seen to be gone", || {
        (!matches!(upstreams.statuses()[0].state, ServerState::Up) || server_of(&mark) != first).then_some(())
    });
    assert_eq!(add_one(&upstreams).await, answered());
    assert_ne!(server_of(&mark), first);
    upstreams.close().await;
    none_left(&mark);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_started_ends_with_it() {
    let folder = TestFolder::new("offspring");
    let mark = folder.path().to_str().unwrap().to_owned();
    // One child in the group, one in a session of its own, one orphan of an orphan.
    let script = format!(
        "sleep 1001 & setsid sh -c 'sleep 1002; : {mark}' & (setsid sh -c 'sleep 1003; : {mark}' &) ; exec '{}' example-server calculator --data {mark}",
        gristmill().display()
    );
    for end in ["close", "kill the server"] {
        let upstreams = upstreams(settings("sh", &["-c", &script]), folder.path());
        assert_eq!(add_one(&upstreams).await, answered());
        eventually("all of them run", || (with_mark(&mark).len() >= 4).then_some(()));
        if end == "kill the server" {
            kill_9(server_with(&mark, "example-server"));
            eventually("it is gone", || {
                (!matches!(upstreams.statuses()[0].state, ServerState::Up)).then_some(())
            });
        }
        upstreams.close().await;
        none_left(&mark);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_supervisor_takes_the_servers_group_along() {
    let folder = TestFolder::new("supervisor");
    let mark = folder.path().to_str().unwrap().to_owned();
    // What it started holds its output open, too.
    let script = format!(
        "sh -c 'sleep 1005; : {mark}' & exec '{}' example-server calculator --data {mark}",
        gristmill().display()
    );
    let upstreams = upstreams(settings("sh", &["-c", &script]), folder.path());
    assert_eq!(add_one(&upstreams).await, answered());
    let supervisor = with_mark(&mark).into_iter().find(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains("upstream-supervisor")
    });
    let first = server_with(&mark, "example-server");
    kill_9(supervisor.unwrap());
    // What is sent before the loss is seen would be lost with it.
    eventually("it is seen to be gone", || {
        let is_gone = !gristmill_testkit::processes::is_alive(first);
        let is_seen = !matches!(upstreams.statuses()[0].state, ServerState::Up);
        (is_gone && (is_seen || server_with(&mark, "example-server") != first)).then_some(())
    });
    assert_eq!(add_one(&upstreams).await, answered(), "another one is there");
    upstreams.close().await;
    none_left(&mark);
}

fn server_with(mark: &str, word: &str) -> u32 {
    let has = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(word) && !line.contains("upstream-supervisor") && !line.starts_with("sh\0")
    };
    eventually("a server", || with_mark(mark).into_iter().find(|pid| has(pid)))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_does_not_want_to_end_is_ended() {
    let folder = TestFolder::new("stubborn");
    let mark = folder.path().to_str().unwrap().to_owned();
    // It ignores the end of its input and every polite signal, once it has served.
    let script = format!(
        "trap '' TERM INT HUP; '{}' example-server calculator --data {mark}; while :; do sleep 1; done",
        gristmill().display()
    );
    let upstreams = upstreams(settings("sh", &["-c", &script]), folder.path());
    assert_eq!(add_one(&upstreams).await, answered());
    upstreams.close().await;
    none_left(&mark);
}

#[tokio::test(flavor = "multi_thread")]
async fn gateway_and_supervisor_killed_together_take_the_server_along() {
    let folder = TestFolder::new("both");
    let mark = folder.path().to_str().unwrap().to_owned();
    let home = Home::new(gristmill(), "both");
    home.ok(&[
        "add",
        "calculator",
        "--",
        gristmill().to_str().unwrap(),
        "example-server",
        "calculator",
        "--data",
        &mark,
    ]);
    let gateway = running_program(&home);
    let (server, supervisor) = (server_of(&mark), supervisor_of(&mark));
    kill_9(gateway.id());
    kill_9(supervisor);
    end(gateway);
    eventually("the server is gone", || (!gristmill_testkit::processes::is_alive(server)).then_some(()));
    none_left(&mark);
}

#[test]
fn a_server_that_hangs_keeps_nobody_waiting_who_has_nothing_to_do_with_it() {
    let home = Home::new(gristmill(), "hangs");
    let mark = home.path().to_str().unwrap().to_owned();
    home.add_example("calculator");
    home.ok(&["add", "hanging", "--", "sh", "-c", &format!("sleep 1006; : {mark}")]);
    let program = "from servers.calculator import evaluate
result = (await evaluate(expression='6*7'))['value']
try:
    import servers.hanging
except ImportError as error:
    print(error)";
    let ran = home.run(&["run", "-c", program]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains("hasn't answered yet") && ran.stdout.ends_with("42\n"), "{}", ran.stdout);
    none_left(&mark);
}

#[test]
fn a_server_that_never_answers_is_given_up_and_ended() {
    let home = Home::new(gristmill(), "silent");
    let mark = home.path().to_str().unwrap().to_owned();
    let config = home.path().join("silent.json");
    let script = format!("sleep 1004; : {mark}");
    let servers = json!({ "servers": { "silent": {
        "command": "sh", "args": ["-c", script], "limits": { "startup": "1s" },
    } } });
    std::fs::write(&config, servers.to_string()).unwrap();
    let ran = home.run(&["list", "--config", config.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("didn't start within 1 s"), "{}", ran.stdout);
    none_left(&script);
}
