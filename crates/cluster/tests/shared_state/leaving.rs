//! A leader that ends, and says so.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::changes::{SESSION, make_table, put_row, write};
use crate::gateways::{Place, until};
use crate::picture::Picture;
use crate::server::Server;

const LEADS_WITHIN: Duration = Duration::from_millis(1_500);

#[test]
fn a_leader_that_leaves_is_followed_at_once() {
    let Some(server) = Server::alone() else { return };
    let mut leader = Place::new(&server, "leave", "one").start().expect("it begins").until_it_leads();
    let mut follower = Place::new(&server, "leave", "other").start().expect("it joins");
    make_table(&leader.database());
    let mut names = ["one", "other"].into_iter().cycle();
    for round in 0..4_i64 {
        let name = names.next();
        until("it knows who leads", || {
            follower.leader.borrow().as_ref().map(|leader| leader.as_str()) == name
        });
        // Nobody waits for this: it's taken along.
        put_row(&leader.database(), round, b"value");
        write(leader.data(), &format!("sessions/{SESSION}/workspace/{round}"), b"content");
        leader.state.changed(&format!("sessions/{SESSION}/workspace/{round}"));
        let (picture, state) = (Picture::of_leader(leader.data()), Arc::clone(&leader.state));
        let leaves_at = Instant::now();
        let left = leader.leave();
        assert!(!state.leads(), "it left");
        leader = follower.until_it_leads();
        let took = leaves_at.elapsed();
        assert!(took < LEADS_WITHIN, "{took:?}");
        Picture::of_leader(leader.data()).assert_is(&picture);
        follower = left.start().expect("it joins");
        follower.until_it_has(&picture);
    }
}

#[test]
fn a_state_that_was_left_is_taken_up_at_once() {
    let Some(server) = Server::alone() else { return };
    let leader = Place::new(&server, "left", "one").start().expect("it begins").until_it_leads();
    make_table(&leader.database());
    let picture = leader.settled();
    let place = leader.leave();
    let starts_at = Instant::now();
    let leader = place.start().expect("it joins").until_it_leads();
    assert!(starts_at.elapsed() < LEADS_WITHIN, "{:?}", starts_at.elapsed());
    Picture::of_leader(leader.data()).assert_is(&picture);
}
