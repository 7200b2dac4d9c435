//! Workers that send without end, or never read: what the gateway holds of it has a bound.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gristmill_gateway::domain::Code;
use gristmill_protocol::{CallKind, FromWorker, Stream};
use gristmill_testkit::ScriptedTools;
use gristmill_testkit::processes::eventually;
use gristmill_testkit::scripted_worker::{Step, TAKEN_FILE, Text, ZygoteScript, script};
use serde_json::json;

use crate::stage::{Stage, check_failure, limits_with, trials};

trials![
    a_flood_of_messages_does_not_hold_up_the_deadline,
    calls_that_wait_are_taken_up_to_a_bound,
    calls_are_begun_until_too_many_answers_are_unread,
    searches_are_answered_until_too_many_answers_are_unread,
    a_worker_that_dies_with_its_answers_unread_is_lost_at_once,
    a_flood_of_requests_for_state_ends_the_worker,
];

const MB: usize = 1 << 20;

/// What the gateway holds of calls that wait, and of answers that were not read.
const HELD_BYTES_MAX: usize = 32 * MB;

/// What the two ends of a socket hold.
const SOCKET_BYTES_MAX: usize = MB;

fn stage(tools: ScriptedTools, limits: &[(&str, &str)]) -> Stage {
    let limits = limits_with(limits);
    Stage::new(ZygoteScript::default(), |world| world.tools(tools).limits(limits))
}

fn a_flood_of_messages_does_not_hold_up_the_deadline() {
    let stage = Stage::limited(&[("wall_time", "200ms")]);
    let nothing = FromWorker::Output { stream: Stream::Stdout, bytes: Vec::new() };
    for message in [nothing, FromWorker::CancelCall { id: 1 }] {
        let flood = script().step(Step::Flood { message, times: u64::MAX });
        stage.fails(&flood, Code::WallTime, "limit", "200 ms");
    }
    stage.has_no_child();
    stage.ends();
}

fn calls_that_wait_are_taken_up_to_a_bound() {
    let tools = ScriptedTools::new(|_| std::future::pending());
    let stage = stage(tools, &[("wall_time", "3s"), ("parallel_calls", "1")]);
    let payload = Text::repeated(r#"{"name":"endless","arguments":{"x":""#, "x", 4 * MB, r#""}}"#);
    let calls = script().calls(CallKind::Tool, 1, 1_000, payload);
    stage.fails(&calls, Code::WallTime, "limit", "timed out after");
    let taken = std::fs::read_to_string(stage.workspace().join(TAKEN_FILE)).expect("what was taken");
    let taken: usize = taken.parse().expect("a number");
    // The one that is under way, those that wait, the one that goes over the bound, and what was read of
    // the next.
    assert!((4 * MB..HELD_BYTES_MAX + 16 * MB).contains(&taken), "{taken}");
    stage.ends();
}

/// Tools and searches whose answers are 4 MB long, and how many there were.
fn large_answers() -> (ScriptedTools, Arc<AtomicUsize>) {
    let answered = Arc::new(AtomicUsize::new(0));
    let answer = |answered: &AtomicUsize| {
        answered.fetch_add(1, Ordering::SeqCst);
        json!("x".repeat(4 * MB))
    };
    let (called, searched) = (Arc::clone(&answered), Arc::clone(&answered));
    let tools = ScriptedTools::new(move |_| {
        let answer = answer(&called);
        async { Ok(answer.into()) }
    });
    (tools.searches(move |_| Ok(answer(&searched))), answered)
}

/// Makes calls whose answers nobody reads, and gives how many were answered.
fn answered_unread(kind: CallKind, payload: &str) -> usize {
    let (tools, answered) = large_answers();
    let stage = stage(tools, &[("wall_time", "2s"), ("parallel_calls", "4")]);
    let script = script().calls(kind, 1, 30, payload).step(Step::Stall);
    stage.fails(&script, Code::WallTime, "limit", "timed out after");
    stage.ends();
    answered.load(Ordering::SeqCst)
}

fn calls_are_begun_until_too_many_answers_are_unread() {
    let answered = answered_unread(CallKind::Tool, r#"{"name":"large"}"#);
    let most = (HELD_BYTES_MAX + SOCKET_BYTES_MAX) / (4 * MB) + 5;
    assert!((1..=most).contains(&answered), "{answered}");
}

fn searches_are_answered_until_too_many_answers_are_unread() {
    let answered = answered_unread(CallKind::Search, r#"{"query":"x"}"#);
    let most = (HELD_BYTES_MAX + SOCKET_BYTES_MAX) / (4 * MB) + 2;
    assert!((1..=most).contains(&answered), "{answered}");
}

fn a_worker_that_dies_with_its_answers_unread_is_lost_at_once() {
    let (tools, answered) = large_answers();
    let stage = stage(tools, &[("wall_time", "60s")]);
    stage.fifo("go");
    let dies = script()
        .calls(CallKind::Search, 1, 30, r#"{"query":"x"}"#)
        .step(Step::WaitFor("go".to_owned()))
        .step(Step::Exit(3));
    let execution = stage.world().gateway().execute(stage.request(&dies));
    let full = HELD_BYTES_MAX / (4 * MB);
    eventually("as many answers as may wait", || (answered.load(Ordering::SeqCst) >= full).then_some(()));
    stage.let_go_on("go");
    let report = stage.world().block_on(execution.finish());
    check_failure(&report, Code::WorkerLost, "worker_lost", "exited with code 3");
    assert!(report.execution_time_ms < 50_000.0, "{}", report.execution_time_ms);
    stage.works_and_ends();
}

fn a_flood_of_requests_for_state_ends_the_worker() {
    let stage = Stage::sound();
    let flood = script().calls(CallKind::State, 1, 1_000_000, r#"{"do":"keys"}"#);
    stage.fails(&flood, Code::WorkerMisbehaved, "worker_misbehaved", "a flood of requests for state");
    stage.works_and_ends();
}
