//! The bus is gone for a while: nobody takes the lead, nothing is lost, and everybody goes on.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::changes::{Random, SESSION, make_table, put_row, write};
use crate::gateways::{Place, until};
use crate::picture::Picture;
use crate::server::Server;

/// Longer than any question waits for its answer.
const AWAY_FOR: Duration = Duration::from_secs(6);

#[test]
fn a_leader_goes_on_when_the_bus_was_away() {
    let Some(mut server) = Server::alone() else { return };
    let leader = Place::new(&server, "away", "leader").start().expect("it begins").until_it_leads();
    let follower = Place::new(&server, "away", "other").start().expect("it joins");
    make_table(&leader.database());
    follower.until_it_has(&leader.settled());
    server.kill();
    until("it stops acting", || !leader.state.leads());
    put_row(&leader.database(), 1, b"while it was away");
    let waits = leader.settler().begin();
    server.start();
    assert_eq!(waits.recv(), Ok(Ok(())));
    assert!(leader.state.leads() && !leader.is_overtaken());
    follower.until_it_has(&leader.settled());
}

#[test]
fn after_servers_have_lost_the_end_of_the_log_all_agree_on_what_is_left() {
    let Some(mut server) = Server::alone() else { return };
    let leader = Place::new(&server, "lost-end", "leader").start().expect("it begins").until_it_leads();
    let follower = Place::new(&server, "lost-end", "other").start().expect("it joins");
    make_table(&leader.database());
    put_row(&leader.database(), 1, b"on disk");
    let left = leader.settled();
    follower.until_it_has(&left);
    server.kill();
    let stored = server.stored();
    server.start();
    for number in 2..8 {
        put_row(&leader.database(), number, b"not on disk yet");
        assert_eq!(leader.settle(), Some(Ok(())));
    }
    follower.until_it_has(&leader.settled());
    server.kill();
    server.go_back_to(&stored);
    server.start();
    // Its place isn't in the log any more.
    until("it gives the lead up", || leader.is_overtaken());
    let again = leader.kill().start().expect("it joins");
    until("somebody leads", || !again.stands_by() || !follower.stands_by());
    let (one, other) = (again.data().to_owned(), follower.data().to_owned());
    let pictures = || (Picture::of_copy(&one), Picture::of_copy(&other));
    until("both have what is left", || pictures() == (Some(left.clone()), Some(left.clone())));
}

#[test]
fn a_follower_goes_on_when_the_bus_went_away_while_it_fetched_files() {
    let Some(mut server) = Server::alone() else { return };
    let leader = Place::new(&server, "fetch", "leader").start().expect("it begins").until_it_leads();
    let follower = Place::new(&server, "fetch", "other").start().expect("it joins");
    make_table(&leader.database());
    let mut random = Random::new(4);
    follower.until_it_has(&leader.settled());
    let ice = follower.freeze();
    for number in 0..16 {
        let path = format!("sessions/{SESSION}/workspace/{number}");
        write(leader.data(), &path, &random.bytes(1 << 20));
        leader.state.changed(&path);
    }
    put_row(&leader.database(), 1, &random.bytes(3 << 20));
    let picture = leader.settled();
    drop(ice);
    until("it has the first file", || first_of(follower.data()) == first_of(leader.data()));
    // While it fetches the next ones.
    server.kill();
    std::thread::sleep(AWAY_FOR);
    server.start();
    follower.until_it_has(&picture);
    assert!(!leader.is_overtaken());
}

fn first_of(data: &Path) -> Option<Vec<u8>> {
    fs::read(data.join(format!("sessions/{SESSION}/workspace/0"))).ok()
}
