//! A leader that was away for too long, and doesn't know it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_gateway::ports::NotShared;

use crate::changes::{OTHER_SESSION, SESSION, make_table, put_row, write};
use crate::gateways::{Place, until};
use crate::picture::Picture;
use crate::server::Server;

/// A leader acts for 2 s after its last word; it had just said one.
const ACTS_WITHIN: Duration = Duration::from_millis(2_200);

#[test]
fn a_leader_that_was_frozen_settles_nothing_any_more() {
    let Some(server) = Server::alone() else { return };
    let place = |name| Place::new(&server, "frozen", name);
    let frozen = place("frozen").start().expect("it begins").until_it_leads();
    let follower = place("other").start().expect("it joins");
    make_table(&frozen.database());
    put_row(&frozen.database(), 1, b"settled");
    let settled = frozen.settled();
    follower.until_it_has(&settled);
    assert!(frozen.state.leads());

    let ice = frozen.freeze();
    let frozen_at = Instant::now();
    until("it stops acting", || !frozen.state.leads());
    assert!(frozen_at.elapsed() < ACTS_WITHIN, "{:?}", frozen_at.elapsed());
    assert!(follower.stands_by(), "another leads while it still acts");

    let leader = follower.until_it_leads();
    assert!(!frozen.state.leads());
    put_row(&frozen.database(), 2, b"too late");
    write(frozen.data(), &format!("sessions/{SESSION}/workspace/late"), b"too late");
    frozen.state.changed(&format!("sessions/{SESSION}/workspace/late"));
    let waits = frozen.settler().begin();
    put_row(&leader.database(), 3, b"in time");
    write(leader.data(), &format!("sessions/{OTHER_SESSION}/workspace/new"), b"in time");
    leader.state.changed(&format!("sessions/{OTHER_SESSION}/workspace/new"));
    let picture = leader.settled();
    drop(ice);
    assert_eq!(waits.recv(), Ok(Err(NotShared::Overtaken)));
    assert_eq!(frozen.settle(), Some(Err(NotShared::Overtaken)));
    assert!(frozen.is_overtaken() && !frozen.state.leads());

    assert_eq!(leader.settled(), picture);
    assert_eq!(picture.rows.len(), 2);
    let state = Arc::clone(&frozen.state);
    let again = frozen.kill().start().expect("it joins");
    again.until_it_has(&picture);
    assert!(!state.leads());
    leader.leave();
    Picture::of_leader(again.until_it_leads().data()).assert_is(&picture);
}

#[test]
fn a_leader_goes_on_whatever_it_is_told_has_changed() {
    let Some(server) = Server::alone() else { return };
    let leader = Place::new(&server, "paths", "leader").start().expect("it begins").until_it_leads();
    write(leader.data(), &format!("sessions/{SESSION}/workspace/a"), b"a");
    for path in ["", "sessions", "sessions/lock", "sessions/.gone-x", "results/incoming", "../x", "logs/x"] {
        leader.state.changed(path);
        assert_eq!(leader.settle(), Some(Ok(())), "{path}");
    }
}
