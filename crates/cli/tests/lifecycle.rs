//! Who dies when, and what is left: kill -9 of every process in the middle of work, many programs
//! at once, cancelling, and being busy.
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gristmill_gateway::domain::{Code, Level, LimitName, Limits};
use gristmill_gateway::{EngineId, Event, ExecuteRequest, Execution, Report};
use gristmill_testkit::processes::{children_of, eventually, is_alive, kill_9, with_argument, workers_of};
use gristmill_testkit::{ScriptedTools, TestFolder, World, WorldBuilder};
use serde_json::{Value, json};
use support::gristmill;
use tokio::sync::Notify;

/// A program that runs until its deadline, and says when it has begun.
const ENDLESS: &str = "print('begun', flush=True)\nwhile True: pass";

fn world() -> WorldBuilder {
    World::new(gristmill())
}

/// Programs may run for longer than these tests take.
fn patient() -> Limits {
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 120_000).unwrap();
    limits.set(LimitName::CpuTime, 120_000).unwrap();
    limits
}

/// The folders of gateways in a scratch folder.
fn gateways_in(scratch: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(scratch).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.is_dir()).collect()
}

fn begin(world: &World, code: &str) -> Execution {
    let mut execution = world.gateway().execute(ExecuteRequest::python(code));
    let event = world.block_on(execution.next_event());
    assert!(matches!(event, Some(Event::Output { .. })), "{event:?}");
    execution
}

fn code_of(report: &Report) -> Option<Code> {
    report.error.as_ref().map(|error| error.code)
}

fn assert_serves(world: &World) {
    let report = world.run("6 * 7");
    assert_eq!(report.result, Some(json!(42)), "{:?}", report.error);
}

/// What these programs do is no part of the history of whoever tests.
fn gristmill_command() -> Command {
    let mut command = Command::new(gristmill());
    command.env("GRISTMILL_DATA_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/lifecycle-data"));
    command
}

#[test]
fn a_killed_child_ends_its_own_execution_and_nothing_else() {
    let world = world().limits(patient()).waiting(0).start();
    let victim = begin(&world, ENDLESS);
    let pid = workers_of(&world)[0];
    let other =
        begin(&world, "print('begun', flush=True)\nimport time\ntime.sleep(0.5)\nresult = 'unharmed'");
    kill_9(pid);
    let report = world.block_on(victim.finish());
    assert_eq!(code_of(&report), Some(Code::WorkerLost), "{:?}", report.error);
    assert_eq!(report.stdout, "begun\n", "what it printed is kept");
    assert_eq!(world.block_on(other.finish()).result, Some(json!("unharmed")));
    assert_serves(&world);
}

#[test]
fn a_killed_zygote_is_started_again() {
    let world = world().limits(patient()).start();
    let execution = begin(&world, ENDLESS);
    let supervisor = world.gateway().pool().supervisor_pid().unwrap();
    let zygote = children_of(supervisor)[0];
    let workers = children_of(zygote);
    kill_9(zygote);
    let report = world.block_on(execution.finish());
    assert_eq!(code_of(&report), Some(Code::WorkerLost), "{:?}", report.error);
    assert_serves(&world);
    assert_eq!(world.gateway().pool().zygote_changes().lost, 1);
    for pid in workers.into_iter().chain([zygote, supervisor]) {
        eventually("the old processes to be gone", || (!is_alive(pid)).then_some(()));
    }
}

#[test]
fn a_killed_supervisor_takes_its_workers_with_it_and_is_started_again() {
    let world = world().limits(patient()).start();
    let execution = begin(&world, ENDLESS);
    let supervisor = world.gateway().pool().supervisor_pid().unwrap();
    let zygote = children_of(supervisor)[0];
    let workers = children_of(zygote);
    kill_9(supervisor);
    let report = world.block_on(execution.finish());
    assert_eq!(code_of(&report), Some(Code::WorkerLost), "{:?}", report.error);
    assert_serves(&world);
    for pid in workers.into_iter().chain([zygote]) {
        eventually("the old processes to be gone", || (!is_alive(pid)).then_some(()));
    }
}

#[test]
fn a_killed_gateway_leaves_no_process_and_no_file() {
    let scratch = TestFolder::new("killed-gateway");
    let mut gateway = gristmill_command()
        .args(["run", "--timeout", "120", "-c"])
        .arg(format!("open('/workspace/left.txt', 'w').write('x' * 1000)\n{ENDLESS}"))
        .env("GRISTMILL_SCRATCH_DIR", scratch.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut begun = [0; 5];
    gateway.stdout.take().unwrap().read_exact(&mut begun).unwrap();
    let supervisor = children_of(gateway.id())[0];
    let zygote = children_of(supervisor)[0];
    let workers = children_of(zygote);
    assert!(!workers.is_empty());
    assert_eq!(gateways_in(scratch.path()).len(), 1);
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    for pid in workers.into_iter().chain([zygote, supervisor]) {
        eventually("the processes to be gone", || (!is_alive(pid)).then_some(()));
    }
    eventually("the scratch folder to be empty", || gateways_in(scratch.path()).is_empty().then_some(()));
}

#[test]
fn what_a_dead_gateway_and_its_supervisor_left_is_cleared_by_the_next_one() {
    let world = world().start();
    let abandoned = world.scratch().join("gateway-1-dead/7/workspace");
    std::fs::create_dir_all(&abandoned).unwrap();
    std::fs::write(world.scratch().join("gateway-1-dead/lock"), "").unwrap();
    std::fs::write(abandoned.join("left.txt"), "x").unwrap();
    let scratch = world.scratch().to_owned();
    let second =
        gristmill_command().args(["run", "-c", "1"]).env("GRISTMILL_SCRATCH_DIR", &scratch).output().unwrap();
    assert!(second.status.success());
    assert!(!scratch.join("gateway-1-dead").exists());
    // The folder of the gateway that still runs is not touched.
    assert_serves(&world);
}

#[test]
fn an_orderly_end_leaves_nothing_behind() {
    let world = world().start();
    assert_serves(&world);
    let supervisor = world.gateway().pool().supervisor_pid().unwrap();
    let scratch = world.scratch().to_owned();
    let gateway = world.gateway().clone();
    world.block_on(gateway.shutdown());
    assert!(!is_alive(supervisor));
    assert_eq!(gateways_in(&scratch), Vec::<PathBuf>::new());
}

/// How many languages of this world have processes: each has a supervisor.
fn languages_started(world: &World) -> usize {
    let ours = children_of(std::process::id());
    let started = with_argument(&world.scratch().to_string_lossy()).into_iter();
    started.filter(|pid| ours.contains(pid)).count()
}

#[test]
fn nothing_is_started_for_a_language_that_nobody_uses() {
    for (used, other) in [(EngineId::Python, EngineId::TypeScript), (EngineId::TypeScript, EngineId::Python)]
    {
        let world = world().warm_engines(&[used]).start();
        let answer = |engine| world.execute(ExecuteRequest::of(engine, "6 * 7")).result;
        assert_eq!(answer(used), Some(json!(42)));
        // Whoever looks starts nothing.
        world.block_on(world.gateway().ready()).expect("workers");
        world.gateway().workers_waiting();
        assert_eq!(languages_started(&world), 1, "only {used}");
        assert_eq!(answer(other), Some(json!(42)));
        assert_eq!(languages_started(&world), 2);
    }
}

#[test]
fn two_hundred_at_once_each_get_their_own_answer() {
    let world = world().room_for(16, 256).start();
    let executions: Vec<Execution> = (0..200)
        .map(|n| {
            let code =
                format!("open('mine', 'w').write('{n}')\nresult = [int(open('mine').read()), {n} ** 2]");
            world.gateway().execute(ExecuteRequest::python(code))
        })
        .collect();
    for (n, execution) in executions.into_iter().enumerate() {
        let report = world.block_on(execution.finish());
        assert_eq!(report.result, Some(json!([n, n * n])), "{n}: {:?}", report.error);
    }
    eventually("throw-away workspaces to be removed", || {
        let own = gateways_in(world.scratch()).pop()?;
        let left = std::fs::read_dir(own).unwrap().count();
        // The lock and the folders made ahead.
        (left <= 1 + 2).then_some(())
    });
}

/// Children are readied with the memory that it touches: one that failed halfway would leave them slow.
#[test]
fn the_program_that_children_are_readied_for_runs_to_its_end() {
    // There, where there is no gateway, each of its calls comes to the same.
    let tools = ScriptedTools::new(|_| async { Ok(json!({"total": 1}).into()) });
    let report = world().tools(tools).start().run(include_str!("../../worker/src/engine/python/sample.py"));
    assert_eq!((report.error, report.stdout.as_str()), (None, "2 'customer' 1\n"));
}

#[test]
fn every_execution_has_a_process_of_its_own() {
    let world = world().start();
    let code = "import os, random, uuid, tempfile\nresult = [os.urandom(8).hex(), random.random(), str(uuid.uuid4()), tempfile.mkdtemp()]";
    let seen: Vec<BTreeSet<String>> = (0..4)
        .map(|_| world.run(code).result.unwrap().as_array().unwrap().iter().map(Value::to_string).collect())
        .collect();
    for (index, one) in seen.iter().enumerate() {
        assert_eq!(one.len(), 4);
        for other in &seen[index + 1..] {
            assert!(one.is_disjoint(other), "drawn twice: {one:?} {other:?}");
        }
    }
}

#[test]
fn a_full_gateway_says_that_it_is_busy() {
    let world = world().limits(patient()).room_for(1, 0).start();
    let running = begin(&world, ENDLESS);
    let refused = world.run("1");
    assert_eq!(code_of(&refused), Some(Code::Busy));
    let message = refused.error.unwrap().message;
    assert!(message.contains("1 programs are running"), "{message}");
    running.cancel();
    assert_eq!(code_of(&world.block_on(running.finish())), Some(Code::Cancelled));
    assert_serves(&world);
}

#[test]
fn a_cancelled_program_is_gone_and_its_report_tells_what_was_done() {
    let world = world().limits(patient()).waiting(0).start();
    let execution = begin(&world, ENDLESS);
    let pid = workers_of(&world)[0];
    execution.cancel();
    let report = world.block_on(execution.finish());
    assert_eq!(code_of(&report), Some(Code::Cancelled));
    assert_eq!(report.stdout, "begun\n");
    eventually("the worker to be gone", || (!is_alive(pid)).then_some(()));
}

#[test]
fn dropping_an_execution_ends_its_worker() {
    let world = world().limits(patient()).waiting(0).start();
    let execution = begin(&world, ENDLESS);
    let pid = workers_of(&world)[0];
    drop(execution);
    eventually("the worker to be gone", || (!is_alive(pid)).then_some(()));
}

#[test]
fn a_program_that_ignores_everything_dies_on_time() {
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 1000).unwrap();
    limits.set(LimitName::CpuTime, 60_000).unwrap();
    let world = world().limits(limits).start();
    let started = Instant::now();
    let report = world.run(
        "import signal, sys\nfor n in range(1, 32):\n    try: signal.signal(n, signal.SIG_IGN)\n    except Exception: pass\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass",
    );
    assert_eq!(code_of(&report), Some(Code::WallTime));
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

#[test]
fn a_killed_program_reports_what_it_used() {
    let mut limits = patient();
    limits.set(LimitName::WallTime, 3000).unwrap();
    let world = world().limits(limits).start();
    let report = world.run(
        "kept = bytearray(200 << 20)\nfor at in range(0, len(kept), 4096): kept[at] = 1\nwhile True: pass",
    );
    assert_eq!(code_of(&report), Some(Code::WallTime));
    let (cpu_ms, memory_bytes) = (report.cpu_time_ms, report.memory_peak_bytes);
    assert!((20.0..4_000.0).contains(&cpu_ms), "{cpu_ms} ms of CPU");
    assert!((200 << 20..1 << 30).contains(&memory_bytes), "{memory_bytes} bytes");
    // One that sleeps uses none, though its process was warmed up before.
    let report = world.run("import time\ntime.sleep(60)");
    assert_eq!(code_of(&report), Some(Code::WallTime));
    assert!(report.cpu_time_ms < 100.0 && report.memory_peak_bytes > 0, "{report:?}");
}

#[test]
fn cpu_time_is_a_limit_of_its_own() {
    let mut limits = patient();
    limits.set(LimitName::CpuTime, 200).unwrap();
    let world = world().limits(limits).start();
    let report = world.run("import time\ntime.sleep(0.5)\nprint('slept', flush=True)\nwhile True: pass");
    assert_eq!(code_of(&report), Some(Code::CpuTime), "{:?}", report.error);
    assert_eq!(report.stdout, "slept\n", "sleeping is not computing");
}

#[test]
fn a_part_of_a_core_slows_a_program_down_or_ends_it_after_that_part_of_its_time() {
    let mut limits = patient();
    limits.set(LimitName::WallTime, 4_000).unwrap();
    limits.set(LimitName::CpuPercent, 10).unwrap();
    let world = world().limits(limits).start();
    let report = world.run("import time\ntime.sleep(0.5)\nprint('slept', flush=True)\nwhile True: pass");
    assert_eq!(report.stdout, "slept\n", "sleeping is not computing");
    let error = report.error.as_ref().expect("it never ends by itself");
    let slows = world.block_on(world.gateway().pool().slows());
    match slows {
        // The kernel gives it a tenth of a core, until its time is over.
        Ok(()) => assert_eq!(error.code, Code::WallTime, "{error:?}"),
        Err(_) => {
            assert_eq!(error.code, Code::CpuTime, "{error:?}");
            let words = "stopped after 400 ms of CPU time, 10% of its 4 s (`cpu_percent`)";
            assert_eq!(error.message, words);
            assert_eq!(report.limits_hit[0].name, "cpu_percent");
        }
    }
    let used = report.cpu_time_ms;
    assert!((300.0..800.0).contains(&used), "{used} ms of CPU");
    // A program that computes little never notices.
    assert_serves(&world);
}

/// Tools that wait for the test, and know when a call is given up.
#[derive(Default)]
struct Gate {
    open: Notify,
    waiting: AtomicUsize,
    most_waiting: AtomicUsize,
    given_up: AtomicBool,
}

struct GivenUp<'a>(&'a Gate, bool);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
        if !self.1 {
            self.0.given_up.store(true, Ordering::SeqCst);
        }
    }
}

/// Every call waits at the gate.
fn gated_tools(gate: &Arc<Gate>) -> ScriptedTools {
    let gate = Arc::clone(gate);
    ScriptedTools::new(move |_| {
        let gate = Arc::clone(&gate);
        async move {
            let waiting = gate.waiting.fetch_add(1, Ordering::SeqCst) + 1;
            gate.most_waiting.fetch_max(waiting, Ordering::SeqCst);
            let mut guard = GivenUp(&gate, false);
            gate.open.notified().await;
            guard.1 = true;
            Ok(json!("through").into())
        }
    })
}

#[test]
fn output_arrives_while_the_program_still_runs() {
    let gate = Arc::new(Gate::default());
    let world = world().limits(patient()).tools(gated_tools(&gate)).start();
    // The tool answers only after the output was seen: nothing but streaming can get past it.
    let execution = begin(&world, "print('before')\nresult = await callMCPTool('gate')");
    gate.open.notify_one();
    assert_eq!(world.block_on(execution.finish()).result, Some(json!("through")));
}

#[test]
fn calls_in_gather_are_under_way_together() {
    let gate = Arc::new(Gate::default());
    let world = world().limits(patient()).tools(gated_tools(&gate)).start();
    let execution = world.gateway().execute(ExecuteRequest::python(
        "result = len(await asyncio.gather(*(callMCPTool('gate') for _ in range(10))))",
    ));
    eventually("ten calls at once", || (gate.waiting.load(Ordering::SeqCst) == 10).then_some(()));
    gate.open.notify_waiters();
    assert_eq!(world.block_on(execution.finish()).result, Some(json!(10)));
}

#[test]
fn more_calls_than_may_run_at_once_wait_their_turn() {
    let gate = Arc::new(Gate::default());
    let mut limits = patient();
    limits.set(LimitName::ParallelCalls, 3).unwrap();
    let world = world().limits(limits).tools(gated_tools(&gate)).start();
    let execution = world.gateway().execute(ExecuteRequest::python(
        "result = len(await asyncio.gather(*(callMCPTool('gate') for _ in range(7))))",
    ));
    let done = AtomicBool::new(false);
    let report = std::thread::scope(|scope| {
        let (gate, done) = (&gate, &done);
        scope.spawn(move || {
            while !done.load(Ordering::SeqCst) {
                // Not before three wait, however slow the machine is.
                if gate.most_waiting.load(Ordering::SeqCst) >= 3 {
                    gate.open.notify_waiters();
                }
                std::thread::park_timeout(Duration::from_millis(1));
            }
        });
        let report = world.block_on(execution.finish());
        done.store(true, Ordering::SeqCst);
        report
    });
    assert_eq!(report.result, Some(json!(7)), "{:?}", report.error);
    assert_eq!(gate.most_waiting.load(Ordering::SeqCst), 3);
}

#[test]
fn the_end_of_a_program_cancels_its_calls_and_lists_them() {
    let gate = Arc::new(Gate::default());
    let mut limits = patient();
    limits.set(LimitName::WallTime, 1000).unwrap();
    let world = world().limits(limits).tools(gated_tools(&gate)).start();
    let report = world.run("await callMCPTool('gate')");
    assert_eq!(code_of(&report), Some(Code::WallTime));
    let error = report.error.as_ref().unwrap();
    assert!(error.message.starts_with("timed out after 1 s; it had been waiting "), "{}", error.message);
    assert!(error.message.ends_with(" for `gate` (line 1)") && error.line == Some(1), "{}", error.message);
    assert!(gate.given_up.load(Ordering::SeqCst));
    let called = &report.tools_called[0];
    assert_eq!((called.name.as_str(), called.line, called.ok), ("gate", Some(1), false));
    assert!(called.error.as_deref().unwrap().contains("may have been carried out"));
}

#[test]
fn a_cancelled_task_cancels_its_call() {
    let gate = Arc::new(Gate::default());
    let world = world().limits(patient()).tools(gated_tools(&gate)).start();
    let report = world.run(
        "try:\n    await asyncio.wait_for(callMCPTool('gate'), 0.05)\nexcept TimeoutError:\n    result = 'gave up'",
    );
    assert_eq!(report.result, Some(json!("gave up")), "{:?}", report.error);
    assert!(gate.given_up.load(Ordering::SeqCst));
}

#[test]
fn a_program_that_ends_while_answers_are_on_their_way_keeps_its_result() {
    let world = World::new(gristmill()).limits(patient()).tools(example_tools()).start();
    let code = "
for n in range(20):
    try:
        await asyncio.wait_for(callMCPTool('list_orders', {'page_size': 200}), 0.001)
    except TimeoutError:
        pass
tasks = [asyncio.create_task(callMCPTool('list_orders', {'page_size': 200})) for n in range(20)]
await asyncio.sleep(0)
for task in tasks: task.cancel()
result = 'whole'";
    for _ in 0..10 {
        let report = world.run(code);
        assert_eq!(report.result, Some(json!("whole")), "{:?}", report.error);
    }
}

#[test]
fn large_answers_and_large_arguments_pass_each_other() {
    let world = World::new(gristmill()).limits(patient()).tools(example_tools()).start();
    let report = world.run(
        "answers = await asyncio.gather(*(callMCPTool('echo', {'value': 'x' * 1_000_000}) for n in range(100)))\nresult = sum(len(answer['value']) for answer in answers)",
    );
    assert_eq!(report.result, Some(json!(100_000_000)), "{:?}", report.error);
}

#[test]
fn a_flood_of_messages_cannot_hold_off_the_deadline() {
    let mut limits = patient();
    limits.set(LimitName::WallTime, 2000).unwrap();
    limits.set(LimitName::ToolCalls, 100_000).unwrap();
    let world = World::new(gristmill()).limits(limits).tools(example_tools()).start();
    let started = Instant::now();
    let report = world.run(
        "from wit_world.imports import host\nfor n in range(20000): host.start_call('tool', '{\"name\":\"sleep\",\"arguments\":{\"ms\":60000}}')\nwhile True: host.cancel_call(9999999)",
    );
    assert_eq!(code_of(&report), Some(Code::WallTime), "{:?}", report.error);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn an_outcome_that_the_program_forged_is_held_against_the_limits() {
    let world = World::new(gristmill()).limits(patient()).start();
    let forged = |json: &str| {
        format!("import sys\nsys.modules['gristmill_guest.program'].Outcome.to_json = lambda self: {json}")
    };
    let report = world.run(&forged(
        "'{\"ok\":true,\"has_result\":true,\"result\":[' + ','.join(['0'] * 4_000_000) + '],\"notes\":[]}'",
    ));
    assert_eq!(code_of(&report), Some(Code::ResultBytes), "{:?}", report.error);
    let report = world.run(&forged(
        "'{\"ok\":true,\"has_result\":true,\"result\":1,\"notes\":[' + ','.join(['\"' + 'n' * 1000 + '\"'] * 500) + ']}'",
    ));
    assert_eq!(report.notes.len(), 20);
    assert!(report.notes.iter().all(|note| note.chars().count() < 320));
}

fn example_tools() -> gristmill_example_servers::example_tools::ExampleTools {
    let cache = gristmill_gateway::Folders::from_environment().unwrap().cache;
    gristmill_example_servers::example_tools::ExampleTools::new(&cache).unwrap()
}
