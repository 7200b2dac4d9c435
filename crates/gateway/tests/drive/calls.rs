//! What a worker asks for, within what a program may ask.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gristmill_gateway::Report;
use gristmill_gateway::domain::Code;
use gristmill_protocol::{CALL_PAYLOAD_BYTES_MAX, CallKind};
use gristmill_testkit::ScriptedTools;
use gristmill_testkit::processes::eventually;
use gristmill_testkit::scripted_worker::{Script, Step, Text, ZygoteScript, script, tool_call};
use serde_json::{Value, json};

use crate::stage::{Stage, check_failure, limits_with, trials};

trials![
    calls_are_answered_by_their_numbers,
    calls_that_cannot_be_read_are_answered_with_a_reason,
    a_number_that_is_under_way_cannot_be_used_again,
    a_number_that_waits_cannot_be_used_again,
    a_number_that_was_answered_can_be_used_again,
    calls_that_were_never_made_can_be_cancelled,
    a_cancelled_call_is_dropped_and_one_that_waits_is_never_made,
    the_end_of_a_program_drops_its_calls,
    the_death_of_a_worker_drops_its_calls,
    a_worker_that_takes_no_answer_may_still_end_its_program,
    one_call_more_than_permitted_ends_the_program,
    calls_that_are_heavy_together_wait_for_each_other,
];

/// A tool that answers never, and counts how often it was called and how many of its calls are alive.
#[derive(Clone, Default)]
struct Endless {
    begun: Arc<AtomicUsize>,
    alive: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Endless {
    /// The tool `endless`; all others answer with their arguments.
    fn tools(&self) -> ScriptedTools {
        let Self { begun, alive } = self.clone();
        ScriptedTools::new(move |call| {
            let endless = (call.name == "endless").then(|| {
                begun.fetch_add(1, Ordering::SeqCst);
                alive.fetch_add(1, Ordering::SeqCst);
                Alive(Arc::clone(&alive))
            });
            async move {
                match endless {
                    Some(_alive) => std::future::pending().await,
                    None => Ok(Value::Object(call.arguments).into()),
                }
            }
        })
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    fn is_dropped(&self) {
        eventually("every call is dropped", || (self.alive.load(Ordering::SeqCst) == 0).then_some(()));
    }
}

fn echo() -> ScriptedTools {
    Endless::default().tools()
}

fn stage(tools: ScriptedTools, limits: &[(&str, &str)]) -> Stage {
    let limits = limits_with(limits);
    Stage::new(ZygoteScript::default(), |world| world.tools(tools).limits(limits))
}

/// What the program got for its calls, by their numbers.
fn answers(report: Report) -> Vec<(u64, bool, String)> {
    assert_eq!(report.error, None);
    let answers = report.result.expect("a list of answers");
    let mut answers: Vec<_> = answers
        .as_array()
        .expect("a list of answers")
        .iter()
        .map(|answer| {
            let text = answer["payload"].as_str().expect("a text").to_owned();
            (answer["id"].as_u64().expect("a number"), answer["ok"] == json!(true), text)
        })
        .collect();
    answers.sort_unstable();
    answers
}

fn calls_are_answered_by_their_numbers() {
    let stage = stage(echo(), &[]);
    let script = script()
        .call(7, "echo", &json!({ "n": 1 }))
        .call(u64::MAX, "echo", &json!({ "n": 2 }))
        .step(Step::TakeAnswers(2))
        .step(Step::TellAnswers);
    let report = stage.run(&script);
    assert!(report.tools_called.iter().all(|called| called.ok && called.name == "echo"));
    let expected = [(7, true, r#"{"n":1}"#.to_owned()), (u64::MAX, true, r#"{"n":2}"#.to_owned())];
    assert_eq!(answers(report), expected);
    stage.works_and_ends();
}

fn calls_that_cannot_be_read_are_answered_with_a_reason() {
    let stage = stage(echo(), &[]);
    let check = |kind: CallKind, payload: Text, reason: &str| {
        let script = script().calls(kind, 1, 1, payload).step(Step::TakeAnswers(1)).step(Step::TellAnswers);
        let report = stage.run(&script);
        assert!(report.tools_called.is_empty(), "nothing was called: {:?}", report.tools_called);
        let answers = answers(report);
        let [(1, false, answer)] = answers.as_slice() else { panic!("{answers:?}") };
        assert!(answer.contains(reason) && answer.contains("GM-") && answer.len() < 1_000, "{answer}");
    };
    check(CallKind::Tool, "no JSON".into(), "can't read the call");
    check(CallKind::Tool, "".into(), "can't read the call");
    check(CallKind::Tool, r#"{"name":"echo","as":"root"}"#.into(), "unknown field `as`");
    check(CallKind::Tool, Text::repeated("", "[", 1_000, ""), "nested deeper than 100 levels");
    check(CallKind::Tool, Text::repeated(r#"{"name":""#, "x", 257, r#""}"#), "too long");
    check(CallKind::Tool, Text::repeated("[", "1,", 1_000_000, "1]"), "more than 1000000 values");
    check(
        CallKind::Tool,
        Text::repeated("", " ", CALL_PAYLOAD_BYTES_MAX + 1, ""),
        "at most 16777216 are allowed",
    );
    check(CallKind::Resource, "{}".into(), "missing field `uri`");
    check(CallKind::Search, "[".into(), "can't read the search");
    check(CallKind::Skill, "{}".into(), "can't read the call");
    check(CallKind::Analyze, r#"{"path":"/etc/passwd"}"#.into(), "can't read the call");
    check(CallKind::State, r#"{"do":"drop"}"#.into(), "unknown variant `drop`");
    check(CallKind::State, Text::repeated("", "[", 1_000, ""), "nested deeper");
    stage.works_and_ends();
}

fn two_of_one_number(limits: &[(&str, &str)], script: Script) {
    let endless = Endless::default();
    let stage = stage(endless.tools(), limits);
    let report = stage.run(&script.step(Step::Stall));
    check_failure(&report, Code::WorkerMisbehaved, "worker_misbehaved", "two calls of one number");
    endless.is_dropped();
    stage.works_and_ends();
}

fn a_number_that_is_under_way_cannot_be_used_again() {
    // The answer to the second call shows that the first is under way.
    let begun =
        script().call(1, "endless", &json!({})).call(2, "echo", &json!({})).step(Step::TakeAnswers(1));
    two_of_one_number(&[], begun.call(1, "echo", &json!({})));
}

fn a_number_that_waits_cannot_be_used_again() {
    let together = Step::Say([1, 2, 2].map(|id| tool_call(id, "endless", &json!({}))).to_vec());
    two_of_one_number(&[("parallel_calls", "1")], script().step(together));
}

fn a_number_that_was_answered_can_be_used_again() {
    let stage = stage(echo(), &[]);
    let once = |script: Script| script.call(1, "echo", &json!({})).step(Step::TakeAnswers(1));
    let report = stage.run(&once(once(script())).step(Step::TellAnswers));
    assert_eq!(answers(report), [(1, true, "{}".to_owned()), (1, true, "{}".to_owned())]);
    stage.works_and_ends();
}

fn calls_that_were_never_made_can_be_cancelled() {
    let stage = stage(echo(), &[]);
    let report = stage.run(&script().cancel(1).cancel(u64::MAX).cancel(1).done(&json!(1)));
    assert_eq!((report.error, report.tools_called.len()), (None, 0));
    stage.works_and_ends();
}

fn a_cancelled_call_is_dropped_and_one_that_waits_is_never_made() {
    let endless = Endless::default();
    let stage = stage(endless.tools(), &[("parallel_calls", "1")]);
    let script = script()
        .call(1, "endless", &json!({}))
        .call(2, "endless", &json!({}))
        .cancel(2)
        .cancel(1)
        .call(3, "echo", &json!({ "n": 3 }))
        .step(Step::TakeAnswers(1))
        .step(Step::TellAnswers);
    let report = stage.run(&script);
    let called: Vec<_> = report.tools_called.iter().map(|called| (called.name.clone(), called.ok)).collect();
    assert_eq!(answers(report), [(3, true, r#"{"n":3}"#.to_owned())]);
    assert!(called.ends_with(&[("echo".to_owned(), true)]) && called.len() <= 2, "{called:?}");
    assert!(endless.begun() <= 1, "the second never began");
    endless.is_dropped();
    stage.works_and_ends();
}

/// Calls that are under way when a program ends.
fn unanswered(end: impl FnOnce(Script) -> Script, check: impl FnOnce(&Report)) {
    let endless = Endless::default();
    let stage = stage(endless.tools(), &[]);
    let begun =
        script().call(1, "endless", &json!({})).call(2, "echo", &json!({})).step(Step::TakeAnswers(1));
    let report = stage.run(&end(begun));
    check(&report);
    let unanswered: Vec<_> = report.tools_called.iter().filter(|called| !called.ok).collect();
    let [called] = unanswered.as_slice() else { panic!("{unanswered:?}") };
    assert_eq!((called.name.as_str(), called.sent), ("endless", true));
    assert!(called.error.as_ref().is_some_and(|error| error.contains("may have been carried out")));
    endless.is_dropped();
    stage.works_and_ends();
}

fn the_end_of_a_program_drops_its_calls() {
    unanswered(|script| script.done(&json!(1)), |report| assert_eq!(report.result, Some(json!(1))));
}

fn the_death_of_a_worker_drops_its_calls() {
    unanswered(
        |script| script.step(Step::Signal(9)),
        |report| check_failure(report, Code::WorkerLost, "worker_lost", "signal 9"),
    );
}

fn a_worker_that_takes_no_answer_may_still_end_its_program() {
    let stage = stage(echo(), &[]);
    let script = script()
        .step(Step::StopReading)
        .calls(CallKind::Tool, 1, 100, r#"{"name":"echo"}"#)
        .print("last words")
        .done(&json!(1));
    let report = stage.run(&script);
    assert_eq!((report.error, report.stdout.as_str(), report.result), (None, "last words", Some(json!(1))));
    stage.works_and_ends();
}

fn one_call_more_than_permitted_ends_the_program() {
    let stage = stage(echo(), &[("tool_calls", "5")]);
    let calls = |count| script().calls(CallKind::Tool, 1, count, r#"{"name":"echo"}"#);
    let report = stage.run(&calls(5).step(Step::TakeAnswers(5)).done(&json!(1)));
    assert_eq!((report.error, report.tools_called.len()), (None, 5));
    let report = stage.fails(&calls(6), Code::ToolCalls, "limit", "tool_calls");
    assert!(report.tools_called.len() <= 5, "{:?}", report.tools_called);
    // What cannot be understood counts as well.
    stage.fails(&script().calls(CallKind::Tool, 1, 6, "no JSON"), Code::ToolCalls, "limit", "tool_calls");
    stage.works_and_ends();
}

fn calls_that_are_heavy_together_wait_for_each_other() {
    let endless = Endless::default();
    let stage = stage(endless.tools(), &[]);
    // Parsed, each may take half of what all may take, and a little more.
    let heavy = Text::repeated(r#"{"name":"endless","arguments":{"x":["#, "1,", 550_000, "1]}}");
    // State is asked for when both have been heard.
    let script = script()
        .calls(CallKind::Tool, 1, 2, heavy)
        .calls(CallKind::State, 3, 1, r#"{"do":"keys"}"#)
        .step(Step::TakeAnswers(1))
        .done(&json!(1));
    assert_eq!(stage.run(&script).result, Some(json!(1)));
    assert_eq!(endless.begun(), 1);
    endless.is_dropped();
    stage.works_and_ends();
}
