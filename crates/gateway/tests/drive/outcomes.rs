//! What a worker says of a program's end.

use gristmill_gateway::domain::Code;
use gristmill_protocol::{FromWorker, Outcome, RunStats, Trap, TrapKind, WorkerLimit};
use gristmill_testkit::scripted_worker::{Step, Text, done, script};
use serde_json::json;

use crate::stage::{Stage, check_failure, trials};

trials![
    last_words_that_cannot_be_read_are_a_crash,
    a_result_over_its_limits_is_refused,
    a_reserved_key_in_a_result_is_an_error_of_the_program,
    words_without_end_are_cut,
    made_up_codes_and_kinds_are_not_passed_on,
    every_trap_is_a_crash,
    a_crash_for_want_of_memory_is_the_limit,
    a_refusal_is_no_execution,
    made_up_figures_do_no_harm,
    only_the_first_outcome_counts,
];

fn last_words_that_cannot_be_read_are_a_crash() {
    let stage = Stage::sound();
    let check = |words: Text, message: &str| {
        stage.fails(&script().told(words), Code::EngineCrash, "crash", message);
    };
    check("no JSON".into(), "can't read what the interpreter reported");
    check("".into(), "can't read what the interpreter reported");
    check("[1, 2]".into(), "can't read what the interpreter reported");
    check(Text::repeated("", "[", 10_000, ""), "nested deeper than 100 levels");
    let long = Text::repeated(r#"{"ok":true,"result":""#, "x", 18 * 1024 * 1024, r#""}"#);
    check(long, "at most 18874368");
    check(r#"{"ok":false}"#.into(), "failed without saying why");
    stage.works_and_ends();
}

fn a_result_over_its_limits_is_refused() {
    let stage = Stage::limited(&[("result_bytes", "1000"), ("result_depth", "5")]);
    let told = |unit: &str, times, after: &str| {
        Text::repeated(r#"{"ok":true,"has_result":true,"result":"#, unit, times, after)
    };
    let large = told("1", 1001, "}");
    stage.fails(&script().told(large), Code::ResultBytes, "limit", "result_bytes");
    let deep = told("[", 6, "]]]]]]}");
    stage.fails(&script().told(deep), Code::ResultDepth, "limit", "result_depth");
    stage.works_and_ends();
}

fn a_reserved_key_in_a_result_is_an_error_of_the_program() {
    let stage = Stage::sound();
    let told = r#"{"ok":true,"has_result":true,"result":{"$serde_json::private::Number":"1"}}"#;
    stage.fails(&script().told(told), Code::Exception, "exception", "$serde_json::private::");
    stage.works_and_ends();
}

fn words_without_end_are_cut() {
    let stage = Stage::sound();
    let (long, notes) = ("x".repeat(100_000), vec!["n".repeat(1_000); 100]);
    let error = json!({ "kind": "exception", "message": long, "traceback": long, "hint": long });
    let told = json!({ "ok": false, "error": error, "notes": notes }).to_string();
    let report = stage.fails(&script().told(told), Code::Exception, "exception", "xxx");
    let error = report.error.expect("a failure");
    let lengths = [error.message, error.traceback.expect("a traceback"), error.hint.expect("a hint")];
    assert_eq!(lengths.map(|text| text.chars().count()), [4 * 1024 + 4, 16 * 1024 + 4, 4 * 1024 + 4]);
    assert_eq!((report.notes.len(), report.notes[0].chars().count()), (20, 304));
    let flood = Text::repeated(r#"{"ok":true,"notes":["#, r#""n","#, 500_000, r#""n"]}"#);
    assert_eq!(stage.run(&script().told(flood)).notes, ["the notes were too long to read"]);
    stage.works_and_ends();
}

fn made_up_codes_and_kinds_are_not_passed_on() {
    let stage = Stage::sound();
    let told = |kind: &str, code: &str| {
        let error = json!({ "kind": kind, "message": "mine", "code": code });
        script().told(json!({ "ok": false, "error": error }).to_string())
    };
    // The code of a lost worker is ours to give.
    stage.fails(&told("tool", Code::WorkerLost.as_str()), Code::Tool, "tool", "mine");
    stage.fails(&told("worker_lost", Code::WorkerLost.as_str()), Code::Exception, "exception", "mine");
    stage.works_and_ends();
}

fn every_trap_is_a_crash() {
    let stage = Stage::sound();
    let check = |kind, message: &str| {
        let trap = Trap { kind, message: "y".repeat(100_000) };
        let script = script().outcome(Outcome::Trapped(trap));
        let report = stage.fails(&script, Code::EngineCrash, "crash", message);
        assert!(report.error.is_some_and(|error| error.message.len() < 5_000));
    };
    check(TrapKind::StackOverflow, "stack overflowed");
    check(TrapKind::Exit, "ended the interpreter");
    check(TrapKind::Crash, "the interpreter crashed: yyy");
    stage.works_and_ends();
}

fn a_crash_for_want_of_memory_is_the_limit() {
    let stage = Stage::sound();
    let outcome = Outcome::Trapped(Trap { kind: TrapKind::Crash, message: "abort".to_owned() });
    let stats = RunStats { limits_hit: vec![WorkerLimit::Memory], ..RunStats::default() };
    let report = stage.run(&script().say(FromWorker::Done { outcome, stats }));
    check_failure(&report, Code::Memory, "limit", "memory");
    stage.works_and_ends();
}

fn a_refusal_is_no_execution() {
    let stage = Stage::sound();
    let script = script().outcome(Outcome::Refused(format!("no wall: {}", "z".repeat(1_000_000))));
    let report = stage.fails(&script, Code::WorkerUnavailable, "worker_unavailable", "no wall: zzz");
    assert!(report.error.is_some_and(|error| error.message.len() < 5_000), "foreign words are cut");
    stage.works_and_ends();
}

fn made_up_figures_do_no_harm() {
    let stage = Stage::sound();
    let stats = RunStats {
        memory_peak_bytes: u64::MAX,
        cpu_us: u64::MAX,
        limits_hit: vec![WorkerLimit::OpenFiles; 10_000],
        workspace_bytes_used: u64::MAX,
        workspace_files_used: u64::MAX,
    };
    let outcome = Outcome::Returned(r#"{"ok":true}"#.to_owned());
    let report = stage.run(&script().say(FromWorker::Done { outcome, stats }));
    let hit: Vec<_> = report.limits_hit.iter().map(|hit| hit.name).collect();
    assert_eq!((report.error, hit), (None, vec!["open_files"]), "each limit once");
    stage.works_and_ends();
}

fn only_the_first_outcome_counts() {
    let stage = Stage::sound();
    let output = FromWorker::Output { stream: gristmill_protocol::Stream::Stdout, bytes: b"late".to_vec() };
    let report = stage.run(&script().step(Step::Say(vec![done(&json!(1)), output, done(&json!(2))])));
    assert_eq!((report.result, report.stdout.as_str()), (Some(json!(1)), ""));
    stage.works_and_ends();
}
