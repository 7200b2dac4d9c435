//! What programs of one session find of each other: variables in an interpreter that stays, and
//! `state`; and that nobody else finds them.
#![cfg(target_os = "linux")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::{Code, Level, LimitName, Limits};
use gristmill_gateway::ports::StateValues;
use gristmill_gateway::state_values::StateInMemory;
use gristmill_gateway::{
    ExecuteRequest, KeepSettings, LatestVariables, Report, Variables, VariablesReport, WorkspaceChoice,
};
use gristmill_testkit::processes::{eventually, is_alive, kill_9, workers_of};
use gristmill_testkit::{ScriptedTools, TestFolder, World, WorldBuilder};
use serde_json::{Value, json};
use support::gristmill;

/// Answers after a moment, so that a call can be left behind.
fn echo() -> ScriptedTools {
    ScriptedTools::new(|call| async move {
        if call.name == "slow" {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(Value::Object(call.arguments).into())
    })
}

fn builder() -> WorldBuilder {
    let mut patient = Limits::of(Level::Production);
    patient.set(LimitName::WallTime, 120_000).unwrap();
    patient.set(LimitName::CpuTime, 120_000).unwrap();
    World::new(gristmill()).limits(patient).tools(echo())
}

fn world() -> World {
    builder().start()
}

fn keep(session: &str, code: &str) -> ExecuteRequest {
    ExecuteRequest {
        variables: Variables::Keep { session: session.to_owned(), latest: LatestVariables::Here },
        ..ExecuteRequest::python(code)
    }
}

fn run(world: &World, session: &str, code: &str) -> Report {
    world.execute(keep(session, code))
}

fn run_with(world: &World, session: &str, limit: LimitName, value: u64, code: &str) -> Report {
    let mut limits = world.gateway().limits().clone();
    limits.set(limit, value).unwrap();
    world.execute(ExecuteRequest { limits: Some(limits), ..keep(session, code) })
}

fn result(report: &Report) -> Value {
    assert!(report.success, "{:?} {}", report.error, report.stderr);
    report.result.clone().unwrap_or_default()
}

fn code_of(report: &Report) -> Option<Code> {
    report.error.as_ref().map(|error| error.code)
}

fn lost(report: &Report) -> Option<&str> {
    report.variables.as_ref().and_then(|variables| variables.lost.as_deref())
}

fn none_kept(world: &World) -> Option<()> {
    (world.gateway().kept_interpreters().count == 0).then_some(())
}

const GONE: &str = "'n' in globals()";

#[test]
fn variables_functions_imports_and_open_files_are_there_on_the_next_call() {
    let world = world();
    let first = run(
        &world,
        "a",
        "import collections\ndef twice(x): return 2 * x\nrows = collections.Counter('aab')\nfile = open('notes.txt', 'w+')\nopen('/tmp/t', 'w').write('tmp')",
    );
    assert_eq!(first.variables, Some(VariablesReport { found: false, kept: true, lost: None }));
    let second = run(
        &world,
        "a",
        "file.write('hello')\nfile.seek(0)\n[twice(rows['a']), file.read(), open('/tmp/t').read()]",
    );
    assert_eq!(result(&second), json!([4, "hello", "tmp"]));
    assert_eq!(second.variables, Some(VariablesReport { found: true, kept: true, lost: None }));
    let third = run(&world, "a", "await callMCPTool('echo', n=twice(4))");
    assert_eq!(result(&third), json!({"n": 8}));
    assert_eq!((third.tools_called.len(), second.tools_called.len()), (1, 0));
    assert_eq!(world.gateway().kept_interpreters().count, 1);
    assert!(world.gateway().kept_interpreters().resident_bytes.is_none_or(|bytes| bytes > 1_000_000));
}

#[test]
fn no_other_session_and_no_program_without_one_finds_them() {
    let world = world();
    run(&world, "a", "n = 'secret'\nopen('/tmp/t', 'w').write(n)");
    let look = "import os\n[n for n in globals() if n == 'n'] + os.listdir('/tmp') + os.listdir('.')";
    assert_eq!(result(&run(&world, "b", look)), json!([]));
    assert_eq!(result(&run(&world, "", look)), json!([]));
    assert_eq!(result(&world.run(look)), json!([]));
    assert_eq!(result(&run(&world, "a", "n")), json!("secret"));
}

#[test]
fn an_error_keeps_them_and_names_the_line_of_the_present_program() {
    let world = world();
    run(&world, "a", "n = 1\n\n\ndef fail():\n    raise ValueError('no')  # first");
    let report = run(&world, "a", "n = 2\nfail()");
    let error = report.error.as_ref().unwrap();
    assert_eq!((error.code, error.line), (Code::Exception, Some(2)));
    let traceback = error.traceback.as_deref().unwrap();
    assert!(
        traceback.contains("program-2.py\", line 2") && traceback.contains("raise ValueError('no')  # first"),
        "{traceback}"
    );
    assert_eq!(code_of(&run(&world, "a", "n = = 3")), Some(Code::Syntax));
    assert_eq!(code_of(&run(&world, "a", "import sys\nn = 4\nsys.exit(3)")), Some(Code::Exit));
    assert_eq!(result(&run(&world, "a", "n")), json!(4));
}

#[test]
fn an_interpreter_that_cannot_report_any_more_is_given_up() {
    let world = world();
    run(&world, "a", "n = 1");
    run(&world, "a", "import gristmill_guest.program as guest\nguest._execute = None");
    let report = run(&world, "a", "n");
    let told = "the program damaged its interpreter".to_owned();
    assert_eq!(report.variables, Some(VariablesReport { found: true, kept: false, lost: Some(told) }));
    assert!(report.error.is_some_and(|error| error.message.contains("the sandbox couldn't report")));
    let next = run(&world, "a", GONE);
    assert_eq!((result(&next), lost(&next)), (json!(false), None));
}

#[test]
fn what_ends_the_interpreter_takes_them_along_and_is_told() {
    let world = world();
    for (session, end, reason) in [
        ("time", "import time\ntime.sleep(100)", "the program timed out"),
        ("exit", "import os\nos._exit(0)", "the program ended the interpreter"),
        ("output", "print('x' * 20_000_000)", "the program hit its limit `output_bytes`"),
    ] {
        run(&world, session, "n = 1");
        let report = run_with(&world, session, LimitName::WallTime, 2000, end);
        assert!(!report.success, "{end}");
        assert_eq!(
            report.variables,
            Some(VariablesReport { found: true, kept: false, lost: Some(reason.to_owned()) })
        );
        let next = run(&world, session, GONE);
        assert_eq!((result(&next), lost(&next)), (json!(false), None), "it was told already");
    }
    let report = run_with(&world, "cpu", LimitName::CpuTime, 200, "n = 1\nwhile True: pass");
    assert_eq!(report.variables, Some(VariablesReport::default()), "nothing was lost that had been there");
}

#[test]
fn each_program_has_its_own_limits_in_the_kept_interpreter() {
    let world = world();
    let burn = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n1";
    for _ in 0..4 {
        assert_eq!(
            result(&run_with(&world, "cpu", LimitName::CpuTime, 1000, burn)),
            json!(1),
            "counted anew"
        );
    }
    let hold = "held = bytearray(150_000_000)\nlen(held)";
    assert_eq!(result(&run(&world, "memory", hold)), json!(150_000_000));
    let more = "more = bytearray(100_000_000)";
    let report = run_with(&world, "memory", LimitName::Memory, 200 << 20, more);
    assert_eq!(code_of(&report), Some(Code::Memory), "what is held counts");
    let report = run_with(
        &world,
        "memory",
        LimitName::Memory,
        200 << 20,
        "del held\nmore = bytearray(100_000_000)\nlen(more)",
    );
    assert_eq!((result(&report), report.limits_hit.len()), (json!(100_000_000), 0));
    let write = "open(name, 'w').write('x' * 60)";
    let report = run_with(&world, "disk", LimitName::WorkspaceBytes, 100, &format!("name = 'one'\n{write}"));
    assert_eq!(result(&report), json!(60));
    let report =
        run_with(&world, "disk", LimitName::WorkspaceBytes, 100, &format!("name = '/tmp/two'\n{write}"));
    assert_eq!(report.limits_hit[0].name, "workspace_bytes", "what lies in both folders counts");
    assert_eq!(result(&run(&world, "disk", write)), json!(60));
}

#[test]
fn a_file_that_was_removed_while_open_counts_for_the_next_program_too() {
    let world = world();
    let leave = "import os\nf = open('f', 'w')\nf.write('x' * 60)\nf.flush()\nos.remove('f')";
    assert!(run_with(&world, "a", LimitName::WorkspaceBytes, 100, leave).success);
    let write = "with open('g', 'w') as g: g.write('x' * 60)";
    let report = run_with(&world, "a", LimitName::WorkspaceBytes, 100, write);
    assert_eq!(report.limits_hit.first().map(|hit| hit.name), Some("workspace_bytes"), "{:?}", report.error);
    let report = run_with(&world, "a", LimitName::WorkspaceBytes, 100, &format!("f.close()\n{write}"));
    assert!(report.success && report.limits_hit.is_empty(), "{report:?}");
}

#[test]
fn calls_that_a_program_left_behind_are_nobody_s() {
    let world = world();
    let leave = "task = asyncio.create_task(callMCPTool('slow', n=1))\nawait asyncio.sleep(0.01)\nn = 1";
    for round in 0..5 {
        let report = run(&world, "a", leave);
        assert_eq!(report.tools_called.len(), 1, "round {round}: {report:?}");
        let next = run(&world, "a", "await callMCPTool('slow', n=2)");
        assert_eq!((result(&next), next.tools_called.len()), (json!({"n": 2}), 1), "round {round}");
    }
    let error = run(&world, "a", "await task").error.unwrap();
    assert!(error.message.contains("Cancelled") || error.message.contains("earlier program"), "{error:?}");
}

#[test]
fn a_program_harms_only_its_own_session() {
    let world = world();
    let hostile = "
import json, sys, builtins, asyncio, random, warnings, linecache
json.dumps = json.loads = random.random = linecache.getline = None
asyncio.sleep = asyncio.gather = None
sys.stdout = sys.stderr = None
builtins.print = None
sys.modules.clear()
import atexit
class Late:
    def __del__(self): raise SystemExit(3)
late = Late()
";
    run(&world, "a", hostile);
    for code in ["late = None\n1", "1"] {
        let report = run(&world, "a", code);
        assert!(
            report.success || report.variables.is_some_and(|told| !told.kept),
            "either it works, or it is given up"
        );
    }
    let sound = "print('heard')\nimport json, random\n[json.dumps([1]), random.random() < 1]";
    let report = run(&world, "b", sound);
    assert_eq!((result(&report), report.stdout.as_str()), (json!(["[1]", true]), "heard\n"));
    assert_eq!(result(&world.run(sound)), json!(["[1]", true]));
}

#[test]
fn a_forged_program_message_or_outcome_on_any_descriptor_reaches_nobody() {
    let world = world();
    let forge = "
import os
for fd in range(3, 64):
    try: os.write(fd, b'\\x02\\x00\\x00\\x00\\x00\\x00' * 100)
    except OSError: pass
n = 1";
    run(&world, "a", forge);
    assert_eq!(result(&run(&world, "a", "n")), json!(1));
}

#[test]
fn only_so_many_stay_and_the_oldest_is_told_why_it_went() {
    let world = builder().kept(KeepSettings { count: 2, ..KeepSettings::default() }).start();
    for session in ["a", "b", "c"] {
        run(&world, session, "n = 1");
    }
    assert_eq!(world.gateway().kept_interpreters().count, 2);
    let report = run(&world, "a", GONE);
    assert_eq!(
        (result(&report), lost(&report)),
        (json!(false), Some("the interpreter was stopped to make room for others"))
    );
    let none = builder().kept(KeepSettings { count: 0, ..KeepSettings::default() }).start();
    let report = run(&none, "a", "n = 1");
    assert_eq!(report.notes, ["variables aren't kept: this gateway keeps no interpreters"]);
    assert_eq!(result(&run(&none, "a", GONE)), json!(false));
}

#[test]
fn an_idle_interpreter_goes_after_its_time_and_a_forgotten_one_at_once() {
    let world =
        builder().kept(KeepSettings { idle: Duration::from_millis(200), ..KeepSettings::default() }).start();
    run(&world, "a", "n = 1");
    eventually("the interpreter goes", || none_kept(&world));
    assert_eq!(lost(&run(&world, "a", GONE)), Some("the interpreter was idle for 0 s"));
    run(&world, "b", "n = 1");
    world.gateway().forget_variables("b", "the session was reset");
    let report = run(&world, "b", GONE);
    assert_eq!((result(&report), lost(&report)), (json!(false), Some("the session was reset")));
}

#[test]
fn a_killed_interpreter_is_noticed_and_told() {
    // No other worker is there.
    let world = builder().waiting(0).start();
    run(&world, "a", "n = 1");
    for worker in workers_of(&world) {
        kill_9(worker);
    }
    eventually("the loss is noticed", || none_kept(&world));
    let report = run(&world, "a", GONE);
    assert_eq!((result(&report), lost(&report)), (json!(false), Some("the interpreter's process ended")));
}

#[test]
fn nothing_of_a_kept_interpreter_outlives_the_gateway() {
    let world = world();
    run(&world, "a", "n = 1\nopen('left', 'w').write('x')");
    let workers = workers_of(&world);
    assert!(!workers.is_empty());
    let gateway = world.gateway().clone();
    world.block_on(gateway.shutdown());
    let left = std::fs::read_dir(world.scratch()).unwrap().flatten().filter(|entry| entry.path().is_dir());
    assert_eq!(left.count(), 0, "no folder is left");
    eventually("every worker is gone", || workers.iter().all(|worker| !is_alive(*worker)).then_some(()));
}

#[test]
fn a_refused_request_costs_no_variables() {
    let world = world();
    let folder = TestFolder::new("workspace");
    let workspace = WorkspaceChoice::Kept(folder.path().to_owned());
    let with = |workspace: &WorkspaceChoice, code: &str| {
        world.execute(ExecuteRequest { workspace: workspace.clone(), ..keep("a", code) })
    };
    with(&workspace, "n = 1");
    let refused = with(&WorkspaceChoice::Kept(folder.path().join("nowhere")), "1");
    assert_eq!(code_of(&refused), Some(Code::Workspace));
    assert_eq!(result(&with(&workspace, "n")), json!(1));
    let report = with(&WorkspaceChoice::ThrowAway, GONE);
    assert_eq!(
        (result(&report), lost(&report)),
        (json!(false), Some("the session's workspace was replaced"))
    );
}

#[test]
fn state_goes_from_program_to_program_whether_variables_do_or_not() {
    let world = world();
    let state: Arc<dyn StateValues> = Arc::new(StateInMemory::default());
    let with = |code: &str| {
        let mut request = ExecuteRequest::python(code);
        request.capabilities.state = Arc::clone(&state);
        world.execute(request)
    };
    let report = with("state['rows'] = [{'id': 1, 'big': 2**80}]\nstate['none'] = None\nlen(state)");
    assert_eq!((result(&report), report.tools_called.len()), (json!(2), 0));
    let report = with("[state['rows'][0]['big'] == 2**80, list(state), state.pop('none')]");
    assert_eq!(result(&report), json!([true, ["none", "rows"], null]));
    assert_eq!(result(&world.run("len(state)")), json!(0), "nobody else's");
    let error = with("state['x'] = {1, 2}").error.unwrap();
    assert_eq!(error.message, "state['x'] is a set, which JSON can't represent; pass list(...) of it");
    let error = with("state['x'] = 'y' * 1_100_000").error.unwrap();
    assert!(error.message.contains("at most 1048576 are kept under a key"), "{error:?}");
    let report = with(
        "import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').close()\nreset()\n[os.listdir('/workspace'), list(state)]",
    );
    assert_eq!(result(&report), json!([[], []]));
    let flood =
        with("try:\n    while True: state.get('x')\nexcept Exception as error:\n    result = str(error)");
    assert_eq!(result(&flood), json!("a program can use `state` at most 10000 times"));
}
