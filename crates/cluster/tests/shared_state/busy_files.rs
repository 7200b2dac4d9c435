//! One program writes a file without a pause. Nobody else loses anything by that.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::changes::{OTHER_SESSION, Random, SESSION, make_table, put_row, write};
use crate::gateways::{PATIENCE, Place, until};
use crate::server::Server;

/// Stored beside the log.
const BYTES: usize = 100_000;

#[test]
fn what_others_wrote_is_safe_while_one_file_changes_all_the_time() {
    let Some(server) = Server::alone() else { return };
    let place = |name| Place::new(&server, "busy", name);
    let leader = place("leader").start().expect("it begins").until_it_leads();
    let follower = place("other").start().expect("it joins");
    make_table(&leader.database());
    let busy = format!("sessions/{SESSION}/workspace/busy");
    let quiet = format!("sessions/{OTHER_SESSION}/workspace/quiet");
    write(leader.data(), &busy, b"at first");
    leader.settled();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut random = Random::new(1);
            let file = leader.data().join(&busy);
            let began = Instant::now();
            while !is_over.load(Ordering::Relaxed) && began.elapsed() < 2 * PATIENCE {
                fs::write(&file, random.bytes(BYTES)).expect("written");
            }
        });
        write(leader.data(), &quiet, &Random::new(2).bytes(BYTES));
        write(leader.data(), "pins.json", b"{}");
        put_row(&leader.database(), 1, b"with both");
        // Everything is looked at, as it is every 20 s.
        leader.state.changed("everything");
        assert_eq!(leader.settle(), Some(Ok(())));
        until("the other has it", || {
            fs::read(follower.data().join(&quiet)).ok() == fs::read(leader.data().join(&quiet)).ok()
                && fs::read(follower.data().join("pins.json")).is_ok()
        });
        is_over.store(true, Ordering::Relaxed);
    });
    // When it rests, it's taken, too.
    follower.until_it_has(&leader.settled());
    assert!(!leader.is_overtaken());
}
