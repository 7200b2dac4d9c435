//! Workers that have nothing to say: those that wait for their first program, and those that a session
//! keeps for the next.

use gristmill_gateway::{Report, VariablesReport};
use gristmill_protocol::{FromWorker, Outcome, PROTOCOL_VERSION, Stream};
use gristmill_testkit::ScriptedTools;
use gristmill_testkit::processes::{eventually, kill_9};
use gristmill_testkit::scripted_worker::{self, Exits, Fork, Life, Script, Step, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    a_silent_interpreter_is_found_by_the_next_program,
    words_behind_the_outcome_end_the_interpreter,
    words_while_idle_end_the_interpreter,
    an_interpreter_that_dies_while_idle_is_missed,
    an_interpreter_of_a_program_that_failed_badly_is_not_kept,
    an_interpreter_that_does_not_take_the_rest_of_an_answer_is_not_kept,
    a_waiting_worker_that_speaks_gets_no_program,
    a_waiting_worker_that_died_gets_no_program,
];

fn done() -> FromWorker {
    scripted_worker::done(&json!(1))
}

fn run_in(stage: &Stage, session: &str, script: &Script) -> Report {
    stage.world().execute(stage.request_in(session, script))
}

fn variables(found: bool, kept: bool, lost: Option<&str>) -> Option<VariablesReport> {
    Some(VariablesReport { found, kept, lost: lost.map(str::to_owned) })
}

/// Waits until no interpreter is kept any more, and its process is gone.
fn is_let_go(stage: &Stage) {
    let kept = || stage.world().gateway().kept_interpreters().count;
    eventually("no interpreter is kept", || (kept() == 0).then_some(()));
    stage.has_no_child();
}

fn a_silent_interpreter_is_found_by_the_next_program() {
    let stage = Stage::sound();
    assert_eq!(run_in(&stage, "s", &script().say(done())).variables, variables(false, true, None));
    assert_eq!(stage.world().gateway().kept_interpreters().count, 1);
    assert_eq!(run_in(&stage, "s", &script().say(done())).variables, variables(true, true, None));
    stage.world().gateway().forget_variables("s", "the test is over");
    is_let_go(&stage);
    stage.works_and_ends();
}

fn words_behind_the_outcome_end_the_interpreter() {
    let stage = Stage::sound();
    let output = FromWorker::Output { stream: Stream::Stdout, bytes: b"more".to_vec() };
    for behind in [output, done(), FromWorker::CancelCall { id: 1 }] {
        let report = run_in(&stage, "s", &script().step(Step::Say(vec![done(), behind])));
        assert_eq!((report.result, report.stdout.as_str()), (Some(json!(1)), ""));
        assert_eq!(report.variables, variables(false, false, None));
        is_let_go(&stage);
    }
    let half = script().step(Step::Say(vec![done()])).step(Step::Bytes(vec![1]));
    run_in(&stage, "s", &half);
    is_let_go(&stage);
    stage.works_and_ends();
}

fn words_while_idle_end_the_interpreter() {
    let stage = Stage::sound();
    stage.fifo("go");
    let speaks = script().say(done()).step(Step::WaitFor("go".to_owned())).step(Step::Bytes(vec![1]));
    assert_eq!(run_in(&stage, "s", &speaks).variables, variables(false, true, None));
    stage.let_go_on("go");
    is_let_go(&stage);
    let report = run_in(&stage, "s", &script().say(done()));
    let why = "the interpreter broke the protocol while idle and was killed";
    assert_eq!(report.variables, variables(false, true, Some(why)));
    stage.world().gateway().forget_variables("s", "the test is over");
    stage.works_and_ends();
}

fn an_interpreter_that_dies_while_idle_is_missed() {
    let stage = Stage::sound();
    run_in(&stage, "s", &script().say(done()));
    let supervisor = stage.world().gateway().pool().supervisor_pid();
    stage.processes().into_iter().filter(|pid| Some(*pid) != supervisor).for_each(kill_9);
    is_let_go(&stage);
    let report = run_in(&stage, "s", &script().say(done()));
    assert_eq!(report.variables, variables(false, true, Some("the interpreter's process ended")));
    stage.world().gateway().forget_variables("s", "the test is over");
    stage.works_and_ends();
}

fn an_interpreter_of_a_program_that_failed_badly_is_not_kept() {
    let stage = Stage::sound();
    let check = |script: &Script, why: &str| {
        run_in(&stage, "s", &self::script().say(done()));
        let report = run_in(&stage, "s", script);
        assert_eq!(report.variables, variables(true, false, Some(why)), "{:?}", report.error);
        is_let_go(&stage);
    };
    check(&script().frame_of(0, &[]), "the interpreter broke the protocol");
    check(&script().step(Step::Exit(1)), "the interpreter's process was lost");
    check(&script().told("no JSON"), "the program damaged its interpreter");
    check(&script().outcome(Outcome::Refused("no".to_owned())), "the interpreter refused to go on");
    stage.works_and_ends();
}

fn an_interpreter_that_does_not_take_the_rest_of_an_answer_is_not_kept() {
    let tools = ScriptedTools::new(|_| async { Ok(json!("x".repeat(4 << 20)).into()) });
    let stage = Stage::new(Life::default(), |world| world.tools(tools));
    // The outcome comes while the answer is on its way.
    let early = script().call(1, "large", &json!({})).step(Step::AwaitAnswer).say(done());
    let report = run_in(&stage, "reads on", &early);
    assert_eq!((report.result, report.variables), (Some(json!(1)), variables(false, true, None)));
    assert!(run_in(&stage, "reads on", &script().say(done())).variables.is_some_and(|kept| kept.found));
    stage.world().gateway().forget_variables("reads on", "the test is over");
    let report = run_in(&stage, "stalls", &early.step(Step::Stall));
    assert_eq!((report.result, report.variables), (Some(json!(1)), variables(false, false, None)));
    is_let_go(&stage);
    stage.works_and_ends();
}

fn a_waiting_worker_that_speaks_gets_no_program() {
    let early = Step::Say(vec![FromWorker::Hello { version: PROTOCOL_VERSION, cpu_us: 0 }, done()]);
    let stage = Stage::new(Life::forks([Fork::Child(vec![early])]), |world| world.waiting(1));
    eventually("a worker waits", || (stage.world().gateway().pool().waiting() == 1).then_some(()));
    // What it said before it was asked is no outcome of this program.
    assert_eq!(stage.run(&script().done(&json!("mine"))).result, Some(json!("mine")));
    stage.ends();
}

fn a_waiting_worker_that_died_gets_no_program() {
    let stage = Stage::new(Life::exits(Exits::Untold), |world| world.waiting(1));
    eventually("a worker waits", || (stage.world().gateway().pool().waiting() == 1).then_some(()));
    let supervisor = stage.world().gateway().pool().supervisor_pid();
    stage.processes().into_iter().filter(|pid| Some(*pid) != supervisor).for_each(kill_9);
    eventually("it is dead", || (stage.processes().len() == 1).then_some(()));
    assert_eq!(stage.run(&script().done(&json!("mine"))).result, Some(json!("mine")));
    stage.ends();
}
