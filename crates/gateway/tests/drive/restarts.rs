//! Zygotes that die again and again.

use std::time::Duration;

use gristmill_gateway::{Folders, Gateway, WorkerCommand};
use gristmill_testkit::TestFolder;
use gristmill_testkit::processes::eventually;
use gristmill_testkit::scripted_worker::{Fork, Life, ZygoteScript, ZygoteStep, script};
use serde_json::json;
use tokio::time::Instant;

use crate::stage::{Stage, trials};

trials![
    pauses_between_starts_grow_up_to_a_bound,
    a_zygote_that_does_not_come_up_is_started_again,
    a_zygote_that_dies_of_every_order_is_started_again,
];

fn pauses_between_starts_grow_up_to_a_bound() {
    let folder = TestFolder::new("restarts");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let pauses = runtime.expect("a runtime").block_on(async {
        let folders = Folders { cache: folder.path().join("cache"), scratch: folder.path().join("scratch") };
        let worker = WorkerCommand::new(folder.path().join("no-such-program"));
        let gateway = Gateway::builder(worker).folders(folders).build().await.expect("a gateway");
        let mut status = gateway.pool().status();
        let (mut pauses, mut before) = (Vec::new(), Instant::now());
        for _ in 0..9 {
            status.changed().await.expect("a pool");
            pauses.push(before.elapsed());
            before = Instant::now();
        }
        gateway.shutdown().await;
        pauses
    });
    let expected = [0, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000].map(Duration::from_millis);
    for (pause, expected) in pauses.iter().zip(expected) {
        // Up to a quarter less, so that several gateways do not start in step; timers round up.
        let range = expected * 3 / 4..=expected + Duration::from_millis(2);
        assert!(range.contains(pause), "{pauses:?}");
    }
}

fn a_zygote_that_does_not_come_up_is_started_again() {
    let dies = Life::opening([ZygoteStep::Exit(1)]);
    let stage = Stage::new(ZygoteScript::times(&dies, 2), |world| world);
    eventually("workers", || stage.run(&script().done(&json!(1))).success.then_some(()));
    assert_eq!(stage.starts(), 3);
    stage.works_and_ends();
}

fn a_zygote_that_dies_of_every_order_is_started_again() {
    let dies = Life::forks([Fork::Instead(vec![ZygoteStep::Exit(1)])]);
    let stage = Stage::new(ZygoteScript::times(&dies, 2), |world| world);
    // One program waits through all of it: the zygote came up each time.
    stage.works();
    assert_eq!(stage.starts(), 3);
    stage.ends();
}
