//! Workers that die, and workers that do not.

use std::time::Duration;

use gristmill_gateway::ExecuteRequest;
use gristmill_gateway::domain::Code;
use gristmill_testkit::processes::eventually;
use gristmill_testkit::scripted_worker::{Exits, Fork, Life, Script, Step, ZygoteScript, ZygoteStep, script};
use rustix::process::Signal;
use serde_json::json;

use crate::stage::{Stage, check_failure, limits_with, trials};

trials![
    a_worker_that_ends_by_itself_is_lost,
    every_signal_has_its_code,
    a_worker_that_hangs_up_and_lives_on_is_ended,
    a_worker_that_goes_on_after_its_outcome_is_ended,
    a_worker_that_takes_no_program_is_lost,
    a_worker_that_never_reads_its_program_is_ended_at_the_deadline,
    silence_until_the_deadline_ends_the_worker,
    without_pidfds_the_zygote_ends_the_worker,
    a_caller_who_cancels_ends_the_worker,
    a_caller_who_leaves_ends_the_worker,
    the_death_of_the_zygote_ends_the_program,
    an_end_that_nobody_tells_of_is_waited_for_a_moment,
];

fn lost(stage: &Stage, script: &Script, message: &str) {
    stage.fails(script, Code::WorkerLost, "worker_lost", message);
    stage.works();
}

fn a_worker_that_ends_by_itself_is_lost() {
    let stage = Stage::sound();
    lost(&stage, &script().step(Step::Exit(0)), "exited with code 0");
    lost(&stage, &script().print("x").step(Step::Exit(3)), "exited with code 3");
    stage.ends();
}

fn every_signal_has_its_code() {
    let stage = Stage::sound();
    let dies = |signal: Signal| script().step(Step::Signal(signal.as_raw()));
    lost(&stage, &dies(Signal::KILL), "killed from outside (signal 9)");
    lost(&stage, &dies(Signal::TERM), "killed from outside (signal 15)");
    for signal in [Signal::PROF, Signal::XCPU] {
        stage.fails(&dies(signal), Code::CpuTime, "limit", "of CPU time");
    }
    let not_on_its_list = "a system call that isn't on its list";
    stage.fails(&dies(Signal::SYS), Code::WorkerMisbehaved, "worker_misbehaved", not_on_its_list);
    stage.works_and_ends();
}

fn a_worker_that_hangs_up_and_lives_on_is_ended() {
    let stage = Stage::sound();
    lost(&stage, &script().step(Step::HangUp).step(Step::Stall), "signal 9");
    stage.ends();
}

/// Its answer is given first, and its end comes behind it, where workers wait and where none do.
fn a_worker_that_goes_on_after_its_outcome_is_ended() {
    for waiting in [0, 2] {
        let stage = Stage::new(ZygoteScript::default(), |world| world.waiting(waiting));
        let report = stage.run(&script().done(&json!(1)).step(Step::KeepWriting("dots".to_owned())));
        assert_eq!((report.error, report.result), (None, Some(json!(1))));
        let written = || std::fs::metadata(stage.workspace().join("dots")).map_or(0, |about| about.len());
        let mut before = u64::MAX;
        eventually("it writes nothing more", || {
            std::thread::sleep(Duration::from_millis(50));
            let now = written();
            (std::mem::replace(&mut before, now) == now).then_some(())
        });
        stage.ends();
    }
}

fn a_worker_that_takes_no_program_is_lost() {
    let fork = Fork::Child(vec![Step::StopReading, Step::hello(), Step::Stall]);
    let stage = Stage::new(Life::forks([fork]), |world| world);
    lost(&stage, &script().print("x"), "signal 9");
    stage.ends();
}

fn a_worker_that_never_reads_its_program_is_ended_at_the_deadline() {
    let limits = limits_with(&[("wall_time", "200ms")]);
    let fork = Fork::Child(vec![Step::hello(), Step::Stall]);
    let stage = Stage::new(Life::forks([fork]), |world| world.limits(limits));
    let request = ExecuteRequest::python("#".repeat(1_000_000));
    check_failure(&stage.world().execute(request), Code::WallTime, "limit", "200 ms");
    stage.has_no_child();
    stage.ends();
}

fn silence_until_the_deadline_ends_the_worker() {
    let stage = Stage::limited(&[("wall_time", "200ms")]);
    let report = stage.fails(&script().print("x").step(Step::Stall), Code::WallTime, "limit", "200 ms");
    assert_eq!(report.stdout, "x");
    assert!(report.total_time_ms >= 200.0, "{}", report.total_time_ms);
    stage.has_no_child();
    stage.ends();
}

fn without_pidfds_the_zygote_ends_the_worker() {
    let limits = limits_with(&[("wall_time", "200ms")]);
    let stage = Stage::new(Life::forks([Fork::WithoutPidfd]), |world| world.limits(limits));
    stage.fails(&script().step(Step::Stall), Code::WallTime, "limit", "200 ms");
    stage.has_no_child();
    stage.ends();
}

fn a_caller_who_cancels_ends_the_worker() {
    let stage = Stage::sound();
    let request = stage.request(&script().print("x").step(Step::Stall));
    let report = stage.world().block_on(async {
        let mut execution = stage.world().gateway().execute(request);
        execution.next_event().await.expect("the output");
        execution.cancel();
        execution.finish().await
    });
    check_failure(&report, Code::Cancelled, "cancelled", "canceled before it finished");
    assert_eq!(report.stdout, "x");
    stage.works_and_ends();
}

fn a_caller_who_leaves_ends_the_worker() {
    let stage = Stage::sound();
    let request = stage.request(&script().print("x").step(Step::Stall));
    stage.world().block_on(async {
        let mut execution = stage.world().gateway().execute(request);
        execution.next_event().await.expect("the output");
    });
    stage.has_no_child();
    stage.works_and_ends();
}

fn the_death_of_the_zygote_ends_the_program() {
    let stage = Stage::sound();
    let script = script().print("x").zygote(ZygoteStep::Signal(9)).step(Step::Stall);
    let report = stage.fails(&script, Code::WorkerLost, "worker_lost", "lost along with its zygote");
    assert_eq!(report.stdout, "x");
    stage.works();
    assert_eq!(stage.starts(), 2);
    stage.ends();
}

fn an_end_that_nobody_tells_of_is_waited_for_a_moment() {
    let stage = Stage::new(Life::exits(Exits::Untold), |world| world);
    lost(&stage, &script().step(Step::Exit(0)), "lost along with its zygote");
    stage.ends();
}
