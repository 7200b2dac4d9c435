//! Workers that analyze, and lie, stall or die.

use std::io::Read;

use gristmill_gateway::domain::Code;
use gristmill_gateway::{AnalysisData, AnalysisFailure, AnalysisInput, AnalysisOutcome, AnalysisRequest};
use gristmill_protocol::{CallKind, FromWorker, Outcome, PROTOCOL_VERSION, Stream, Trap, TrapKind};
use gristmill_testkit::scripted_worker::{
    Fork, Life, Script, Step, Text, ZygoteStep, done, script, tool_call,
};
use rustix::process::Signal;
use serde_json::json;

use crate::stage::{SHORT, Stage, limits_with, trials};

trials![
    an_analysis_gives_its_output,
    anything_but_an_outcome_ends_the_worker,
    an_outcome_that_cannot_be_used_is_refused,
    silence_until_the_deadline_ends_the_worker,
    every_end_of_a_process_has_its_code,
    the_death_of_the_zygote_ends_the_analysis,
    a_fork_that_fails_is_told_to_whoever_asked,
    a_child_that_does_not_greet_is_told_to_whoever_asked,
    a_child_that_never_comes_is_waited_for_and_no_longer,
    an_analysis_for_a_program_is_answered_whatever_its_worker_does,
];

fn analyze(stage: &Stage, script: &Script) -> Result<AnalysisOutcome, AnalysisFailure> {
    let gateway = stage.world().gateway();
    let data =
        AnalysisInput { name: "data".to_owned(), format: None, data: AnalysisData::Inline("[1]".to_owned()) };
    let request = AnalysisRequest {
        request: script.request(),
        inputs: vec![data],
        limits: None,
        output: gateway.throw_away_file().expect("a file for the output"),
    };
    stage.world().block_on(gateway.analyze(request))
}

fn analyzed() -> Script {
    script().step(Step::WriteOutput("[1]".into())).told(r#"{"Ok":{"rows":1,"columns":["a"]}}"#)
}

fn works(stage: &Stage) {
    let mut outcome = analyze(stage, &analyzed()).expect("an outcome");
    let mut output = String::new();
    outcome.output.read_to_string(&mut output).expect("the output");
    assert_eq!((outcome.rows, output.as_str()), (Some(1), "[1]"));
    stage.has_no_child();
}

fn fails(stage: &Stage, script: &Script, code: Code, message: &str) {
    let failure = analyze(stage, script).expect_err("a failure");
    assert_eq!(failure.code, code, "{failure}");
    assert!(failure.message.contains(message) && failure.message.len() < 5_000, "{failure}");
    stage.has_no_child();
}

fn an_analysis_gives_its_output() {
    let stage = Stage::sound();
    works(&stage);
    works(&stage);
    stage.works_and_ends();
}

fn anything_but_an_outcome_ends_the_worker() {
    let stage = Stage::sound();
    let output = FromWorker::Output { stream: Stream::Stdout, bytes: b"x".to_vec() };
    let cases = [
        (
            script().say(FromWorker::Hello { version: PROTOCOL_VERSION, cpu_us: 0 }),
            "a second hello in an analysis",
        ),
        (script().say(output), "printed output in an analysis"),
        (script().say(tool_call(1, "echo", &json!({}))), "a call in an analysis"),
        (script().cancel(1), "a call in an analysis"),
        (script().frame_of(0, &[]), "a frame of no bytes"),
        (script().frame_of(u32::MAX, &[]), "over the cap"),
        (script().body(&[200, 1, 2]), "not a message of this protocol"),
    ];
    for (script, message) in cases {
        fails(&stage, &script.step(Step::Stall), Code::WorkerMisbehaved, message);
    }
    works(&stage);
    stage.ends();
}

fn an_outcome_that_cannot_be_used_is_refused() {
    let stage = Stage::sound();
    let written = || script().step(Step::WriteOutput("[1]".into()));
    fails(&stage, &script().told(r#"{"Ok":{}}"#), Code::WorkerMisbehaved, "no output");
    fails(&stage, &written().say(done(&json!(1))), Code::WorkerMisbehaved, "words that cannot be read");
    let deep = Text::repeated("", "[", 1_000, "");
    fails(&stage, &written().told(deep), Code::WorkerMisbehaved, "nested deeper");
    let long = Text::repeated(r#"{"Ok":{"notes":[""#, "n", 5 << 20, r#""]}}"#);
    fails(&stage, &written().told(long), Code::WorkerMisbehaved, "bytes of JSON");
    let problem = Text::repeated(r#"{"Err":{"message":""#, "m", 1 << 20, r#""}}"#);
    fails(&stage, &written().told(problem), Code::Analysis, "mmm");
    let trap = Trap { kind: TrapKind::Crash, message: "t".repeat(100_000) };
    fails(&stage, &script().outcome(Outcome::Trapped(trap)), Code::EngineCrash, "ttt");
    let refused = Outcome::Refused("r".repeat(100_000));
    fails(&stage, &script().outcome(refused), Code::WorkerUnavailable, "rrr");
    works(&stage);
    stage.ends();
}

fn silence_until_the_deadline_ends_the_worker() {
    let limits = limits_with(&[("wall_time", "200ms")]);
    let stage = Stage::new(Life::default(), |world| world.limits(limits));
    fails(&stage, &script().step(Step::Stall), Code::WallTime, "200 ms");
    fails(&stage, &script().frame_of(100, &[1]).step(Step::Stall), Code::WallTime, "200 ms");
    stage.ends();
}

fn every_end_of_a_process_has_its_code() {
    let stage = Stage::sound();
    let dies = |signal: Signal| script().step(Step::Signal(signal.as_raw()));
    fails(&stage, &script().step(Step::Exit(4)), Code::WorkerLost, "code 4");
    fails(&stage, &dies(Signal::KILL), Code::WorkerLost, "signal 9");
    fails(&stage, &dies(Signal::ABORT), Code::Memory, "out of memory");
    fails(&stage, &dies(Signal::XCPU), Code::CpuTime, "cpu_time");
    fails(&stage, &dies(Signal::SYS), Code::WorkerMisbehaved, "system call");
    fails(&stage, &script().step(Step::HangUp).step(Step::Stall), Code::WorkerLost, "signal 9");
    works(&stage);
    stage.ends();
}

fn the_death_of_the_zygote_ends_the_analysis() {
    let stage = Stage::sound();
    let script = script().zygote(ZygoteStep::Signal(9)).step(Step::Stall);
    fails(&stage, &script, Code::WorkerLost, "lost along with its zygote");
    works(&stage);
    assert_eq!(stage.starts(), 2);
    stage.ends();
}

fn a_fork_that_fails_is_told_to_whoever_asked() {
    let stage = Stage::new(Life::forks([Fork::Fails("f".repeat(1 << 20))]), |world| world);
    fails(&stage, &analyzed(), Code::WorkerUnavailable, "can't start a process for the analysis: fff");
    works(&stage);
    stage.ends();
}

fn a_child_that_does_not_greet_is_told_to_whoever_asked() {
    let greetings = [
        (Step::Say(vec![FromWorker::Hello { version: 0, cpu_us: 0 }]), "another protocol version"),
        (Step::Say(vec![done(&json!(1))]), "no hello"),
        (Step::Exit(0), "the worker ended"),
        (Step::Bytes(vec![0; 4]), "a frame of no bytes"),
    ];
    for (greeting, message) in greetings {
        let stage = Stage::new(Life::forks([Fork::Child(vec![greeting, Step::Stall])]), |world| world);
        fails(&stage, &analyzed(), Code::WorkerUnavailable, message);
        works(&stage);
        stage.ends();
    }
}

fn a_child_that_never_comes_is_waited_for_and_no_longer() {
    let stage = Stage::new(Life::forks([Fork::Instead(Vec::new())]), |world| world.checkout_timeout(SHORT));
    fails(&stage, &analyzed(), Code::WorkerUnavailable, "no worker was ready within 300ms");
    stage.ends();
}

fn an_analysis_for_a_program_is_answered_whatever_its_worker_does() {
    let stage = Stage::sound();
    let ask = |inner: &Script| {
        let payload = format!(r#"{{"data":[1],"request":{}}}"#, inner.request());
        script().calls(CallKind::Analyze, 1, 1, payload).step(Step::TakeAnswers(1)).step(Step::TellAnswers)
    };
    let check = |inner: &Script, ok: bool, words: &str| {
        let report = stage.run(&ask(inner));
        let answer = &report.result.as_ref().expect("answers")[0];
        assert_eq!((&answer["id"], &answer["ok"]), (&json!(1), &json!(ok)), "{answer}");
        assert!(answer["payload"].as_str().is_some_and(|payload| payload.contains(words)), "{answer}");
        stage.has_no_child();
    };
    check(&analyzed(), true, "[1]");
    check(&script().frame_of(0, &[]), false, Code::WorkerMisbehaved.as_str());
    check(&script().step(Step::Exit(0)), false, Code::WorkerLost.as_str());
    let no_json = script().step(Step::WriteOutput("no JSON".into())).told(r#"{"Ok":{}}"#);
    check(&no_json, false, "can't read the output");
    stage.works_and_ends();
}
