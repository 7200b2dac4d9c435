//! Zygotes that lie: about themselves, about their children, about descriptors.

use gristmill_gateway::domain::{Code, Level, Limits};
use gristmill_gateway::required_walls;
use gristmill_protocol::{
    ChildExit, ChildKind, FRAME_BYTES_MAX, FromZygote, PROTOCOL_VERSION, ProcessUse, Wall, WallState,
    WallStatus,
};
use gristmill_testkit::processes::eventually;
use gristmill_testkit::scripted_worker::{
    Exits, Fork, Life, Step, Text, ZygoteScript, ZygoteStep, all_walls, ready, script,
};
use serde_json::json;

use crate::frames::open_here;
use crate::stage::{SHORT, Stage, check_failure, trials};

trials![
    a_zygote_that_never_becomes_ready_is_waited_for_and_no_longer,
    a_zygote_that_cannot_start_says_why,
    foreign_words_of_a_zygote_are_cut,
    a_zygote_of_another_version_is_refused,
    a_zygote_without_a_wall_that_the_level_requires_is_refused,
    a_zygote_that_is_ready_twice_works,
    a_zygote_that_breaks_the_protocol_is_replaced,
    a_child_without_a_usable_socket_costs_the_zygote,
    descriptors_that_belong_to_no_message_are_closed,
    ends_of_children_that_were_never_forked_are_ignored,
    ends_that_are_told_twice_are_told_once,
    an_end_that_has_not_come_does_not_end_the_program,
    children_that_nobody_asked_for_are_ended,
    a_number_that_is_used_twice_confuses_nobody,
    a_zygote_that_does_not_end_is_killed,
];

const UNAVAILABLE: &str = "worker_unavailable";

fn unavailable(stage: &Stage, message: &str) -> String {
    let report = stage.run(&script().done(&json!(1)));
    check_failure(&report, Code::WorkerUnavailable, UNAVAILABLE, message);
    report.error.expect("a failure").message
}

/// Zygotes that do this instead of becoming ready, until one is sound.
fn fails_to_start(steps: Vec<ZygoteStep>, message: &str) -> String {
    let stage = Stage::new(ZygoteScript::times(&Life::opening(steps), 2), |world| world);
    let said = unavailable(&stage, message);
    eventually("workers", || stage.run(&script().done(&json!(1))).success.then_some(()));
    assert_eq!(stage.starts(), 3);
    stage.works_and_ends();
    said
}

fn a_zygote_that_never_becomes_ready_is_waited_for_and_no_longer() {
    let stage = Stage::new(Life::opening(Vec::new()), |world| world.checkout_timeout(SHORT));
    unavailable(&stage, "no worker was ready within 300ms");
    stage.ends();
}

fn a_zygote_that_cannot_start_says_why() {
    let failed = FromZygote::Failed { message: "this machine has no such wall".to_owned() };
    let failed = vec![ZygoteStep::Say(failed), ZygoteStep::Exit(1)];
    fails_to_start(failed, "can't start a worker: this machine has no such wall");
    let panics = vec![ZygoteStep::Print("thread panicked at engine.rs".into()), ZygoteStep::Exit(101)];
    fails_to_start(panics, "(thread panicked at engine.rs)");
    fails_to_start(vec![ZygoteStep::Signal(9)], "the zygote died");
}

fn foreign_words_of_a_zygote_are_cut() {
    let failed = FromZygote::Failed { message: "w".repeat(1_000_000) };
    let said = fails_to_start(vec![ZygoteStep::Say(failed), ZygoteStep::Exit(1)], "www");
    assert!(said.len() < 20_000, "{} bytes", said.len());
    let prints = ZygoteStep::Print(Text::repeated("", "w", 60_000, ""));
    let said = fails_to_start(vec![prints, ZygoteStep::Exit(1)], "www");
    assert!(said.len() < 20_000, "{} bytes", said.len());
}

fn a_zygote_of_another_version_is_refused() {
    let mut other = ready(all_walls());
    if let ZygoteStep::Say(FromZygote::Ready { version, .. }) = &mut other {
        *version = PROTOCOL_VERSION + 1;
    }
    fails_to_start(vec![other], &format!("speaks protocol {}", PROTOCOL_VERSION + 1));
}

fn a_zygote_without_a_wall_that_the_level_requires_is_refused() {
    let refused = |walls: Vec<WallStatus>, level: Level, missing: Wall| {
        let life = Life::opening([ready(walls)]);
        let stage = Stage::new(ZygoteScript::times(&life, 2), |world| world.limits(Limits::of(level)));
        unavailable(&stage, &format!("{missing:?}"));
        stage.ends();
    };
    for level in Level::ALL {
        for missing in required_walls(level) {
            let mut walls = all_walls();
            let status = walls.iter_mut().find(|status| status.wall == *missing).expect("every wall");
            status.state = WallState::Unavailable;
            refused(walls, level, *missing);
        }
    }
    let unmentioned = all_walls().into_iter().filter(|status| status.wall != Wall::Wasm).collect();
    refused(unmentioned, Level::Development, Wall::Wasm);
}

fn a_zygote_that_is_ready_twice_works() {
    let stage = Stage::new(Life::opening([ready(all_walls()), ready(all_walls())]), |world| world);
    stage.works();
    assert_eq!(stage.starts(), 1);
    stage.ends();
}

fn a_zygote_that_breaks_the_protocol_is_replaced() {
    let over = u32::try_from(FRAME_BYTES_MAX + 1).expect("a frame's length");
    let bytes: [Vec<u8>; 4] =
        [vec![0; 4], over.to_le_bytes().to_vec(), vec![3, 0, 0, 0, 200, 1, 2], vec![9, 0, 0, 0, 1]];
    let life =
        |bytes: Vec<u8>| Life::opening([ready(all_walls()), ZygoteStep::Bytes(bytes), ZygoteStep::Exit(0)]);
    for bytes in bytes {
        let stage = Stage::new(life(bytes), |world| world);
        stage.works();
        assert_eq!(stage.starts(), 2);
        stage.ends();
    }
}

fn a_child_without_a_usable_socket_costs_the_zygote() {
    let child = FromZygote::Child { id: 77, pid: 1, kind: ChildKind::Programs };
    let none = ZygoteStep::Say(child.clone());
    // A plain file cannot be waited for.
    let no_socket = ZygoteStep::Smuggle { message: child, file: "no-socket".to_owned(), copies: 2 };
    for step in [none, no_socket] {
        let stage = Stage::new(Life::forks([Fork::Instead(vec![step])]), |world| world);
        stage.works();
        assert_eq!((stage.starts(), open_here("no-socket", &stage.cache().join("engines"))), (2, 0));
        stage.ends();
    }
}

fn descriptors_that_belong_to_no_message_are_closed() {
    let message = FromZygote::Exited { id: 77, exit: ChildExit::Code(0), used: ProcessUse::default() };
    let smuggle = ZygoteStep::Smuggle { message, file: "smuggled".to_owned(), copies: 8 };
    let mut opening = vec![smuggle; 50];
    opening.push(ready(all_walls()));
    let stage = Stage::new(Life::opening(opening), |world| world);
    stage.works();
    assert_eq!((stage.starts(), open_here("smuggled", &stage.cache().join("engines"))), (1, 0));
    stage.ends();
}

fn exited(id: u64) -> ZygoteStep {
    ZygoteStep::Say(FromZygote::Exited { id, exit: ChildExit::Code(0), used: ProcessUse::default() })
}

fn ends_of_children_that_were_never_forked_are_ignored() {
    let stage = Stage::sound();
    let script = script().zygote(exited(0)).zygote(exited(1_000)).zygote(exited(u64::MAX)).done(&json!(1));
    assert_eq!(stage.run(&script).result, Some(json!(1)));
    stage.works();
    assert_eq!(stage.starts(), 1);
    stage.ends();
}

fn ends_that_are_told_twice_are_told_once() {
    let stage = Stage::new(Life::exits(Exits::ToldTwice), |world| world);
    stage.fails(&script().step(Step::Exit(3)), Code::WorkerLost, "worker_lost", "code 3");
    stage.works();
    assert_eq!(stage.starts(), 1);
    stage.ends();
}

fn an_end_that_has_not_come_does_not_end_the_program() {
    let stage = Stage::sound();
    let script = script().zygote(exited(1)).print("alive").done(&json!(1));
    let report = stage.run(&script);
    assert_eq!((report.result, report.stdout.as_str()), (Some(json!(1)), "alive"));
    stage.works_and_ends();
}

fn children_that_nobody_asked_for_are_ended() {
    let unasked = ZygoteStep::Fork(Fork::Child(vec![Step::hello()]));
    let mut opening = vec![ready(all_walls())];
    opening.extend(vec![unasked; 10]);
    let stage = Stage::new(Life::opening(opening), |world| world);
    stage.world().block_on(stage.world().gateway().ready()).expect("workers");
    stage.works();
    assert_eq!((stage.world().gateway().pool().waiting(), stage.starts()), (0, 1));
    stage.ends();
}

fn a_number_that_is_used_twice_confuses_nobody() {
    let stage = Stage::sound();
    let report = stage.run(&script().zygote(ZygoteStep::ForkAs(1)).print("alive").done(&json!(1)));
    assert_eq!((report.result, report.stdout.as_str()), (Some(json!(1)), "alive"));
    stage.works();
    assert_eq!(stage.starts(), 1);
    stage.ends();
}

fn a_zygote_that_does_not_end_is_killed() {
    let stage = Stage::new(ZygoteScript::default(), |world| world);
    let report = stage.run(&script().zygote(ZygoteStep::Stall).done(&json!(1)));
    assert_eq!(report.result, Some(json!(1)));
    stage.ends();
}
