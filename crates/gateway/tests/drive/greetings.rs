//! Children that do not come to wait.

use gristmill_gateway::domain::Code;
use gristmill_protocol::{FRAME_BYTES_MAX, FromWorker, PROTOCOL_VERSION, Stream};
use gristmill_testkit::scripted_worker::{Fork, Life, Step, done, script};
use serde_json::json;

use crate::stage::{SHORT, Stage, trials};

trials![
    a_child_that_does_not_greet_is_ended_and_another_takes_its_place,
    a_fork_that_fails_is_tried_again,
    where_no_child_ever_greets_the_program_is_refused,
];

/// Everything that is no greeting.
fn bad_greetings() -> Vec<Step> {
    let over = u32::try_from(FRAME_BYTES_MAX + 1).expect("a frame's length");
    vec![
        Step::Say(vec![FromWorker::Hello { version: PROTOCOL_VERSION + 1, cpu_us: 0 }]),
        Step::Say(vec![FromWorker::Hello { version: 0, cpu_us: 0 }]),
        Step::Say(vec![FromWorker::Output { stream: Stream::Stdout, bytes: b"hello".to_vec() }]),
        Step::Say(vec![FromWorker::CancelCall { id: 1 }]),
        Step::Say(vec![done(&json!(1))]),
        Step::Bytes(vec![0; 4]),
        Step::Bytes(over.to_le_bytes().to_vec()),
        Step::Bytes(vec![3, 0, 0, 0, 200, 1, 2]),
        Step::HangUp,
        Step::Exit(0),
        Step::Exit(1),
        Step::Signal(9),
    ]
}

fn a_child_that_does_not_greet_is_ended_and_another_takes_its_place() {
    for greeting in bad_greetings() {
        let stage = Stage::new(Life::forks([Fork::Child(vec![greeting, Step::Stall])]), |world| world);
        stage.works();
        assert_eq!(stage.starts(), 1, "the zygote is not to blame");
        stage.ends();
    }
}

fn a_fork_that_fails_is_tried_again() {
    let fails = || Fork::Fails("no room".to_owned());
    let stage = Stage::new(Life::forks([fails(), fails()]), |world| world);
    stage.works_and_ends();
}

fn where_no_child_ever_greets_the_program_is_refused() {
    let wrong = Step::Say(vec![FromWorker::Hello { version: PROTOCOL_VERSION + 1, cpu_us: 0 }]);
    let forks = vec![Fork::Child(vec![wrong, Step::Stall]); 4];
    let stage = Stage::new(Life::forks(forks), |world| world.checkout_timeout(SHORT));
    let report = stage.run(&script().done(&json!(1)));
    crate::stage::check_failure(
        &report,
        Code::WorkerUnavailable,
        "worker_unavailable",
        "no worker was ready within 300ms",
    );
    assert_eq!((report.execution_time_ms, report.tools_called.len()), (0.0, 0));
    stage.has_no_child();
    stage.ends();
}
