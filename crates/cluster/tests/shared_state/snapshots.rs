//! The log is trimmed once a snapshot has what was in it.

use gristmill_replica::manifest::PART_BYTES;

use crate::changes::{Random, SESSION, make_table, put_row, write};
use crate::gateways::{Leader, Place, until};
use crate::picture::Picture;
use crate::server::Server;

/// In one entry, in one message: it can't be made smaller.
const VALUE_BYTES: usize = 700_000;

/// After 64 MB of entries a snapshot is kept, with room for one that was kept shortly before.
const ENTRIES_MAX: usize = 250;

/// The first message that a cluster's stream still has, and the last.
fn kept(server: &Server, cluster: &str) -> (u64, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let name = format!("GM_{}_STATE", cluster.to_uppercase());
    runtime.block_on(async {
        let stream = server.jetstream().await.get_stream(name).await.expect("the stream");
        let state = &stream.cached_info().state;
        (state.first_sequence, state.last_sequence)
    })
}

/// Writes until what was in the log before is trimmed away.
fn write_until_trimmed(server: &Server, cluster: &str, random: &mut Random, leader: &Leader) {
    let database = leader.database();
    let (_, before) = kept(server, cluster);
    let is_trimmed = || kept(server, cluster).0 > before;
    for number in 1..=ENTRIES_MAX {
        put_row(&database, 1, &random.bytes(VALUE_BYTES));
        assert_eq!(leader.settle(), Some(Ok(())));
        if number % 10 == 0 && is_trimmed() {
            return;
        }
    }
    until("the log is trimmed", || {
        assert!(!leader.is_overtaken(), "nobody overtook it");
        is_trimmed()
    });
}

fn begin(leader: &Leader, random: &mut Random) {
    make_table(&leader.database());
    let path = format!("sessions/{SESSION}/workspace/large");
    write(leader.data(), &path, &random.bytes(2 * PART_BYTES + 1));
    write(leader.data(), "skills/one/skill.py", b"print(1)");
    leader.state.changed(&path);
    leader.state.changed("skills/one");
}

#[test]
fn who_lacks_what_was_trimmed_begins_from_the_snapshot() {
    let Some(server) = Server::alone() else { return };
    let (cluster, mut random) = ("trimmed", Random::new(1));
    let place = |name| Place::new(&server, cluster, name);
    let leader = place("leader").start().expect("it begins").until_it_leads();
    begin(&leader, &mut random);
    let frozen = place("frozen").start().expect("it joins");
    let late = place("late").join().expect("it joins");
    frozen.until_it_has(&leader.settled());

    let ice = frozen.freeze();
    write_until_trimmed(&server, cluster, &mut random, &leader);
    drop(ice);
    let picture = leader.settled();
    frozen.until_it_has(&picture);
    place("newcomer").start().expect("it joins").until_it_has(&picture);
    late.wait().until_it_has(&picture);
}

#[test]
fn whoever_leads_next_keeps_snapshots_too() {
    let Some(server) = Server::alone() else { return };
    let (cluster, mut random) = ("next", Random::new(2));
    let place = |name| Place::new(&server, cluster, name);
    let leader = place("leader").start().expect("it begins").until_it_leads();
    begin(&leader, &mut random);
    let follower = place("follower").start().expect("it joins");
    write_until_trimmed(&server, cluster, &mut random, &leader);
    let picture = leader.settled();
    leader.leave();
    let next = follower.until_it_leads();
    Picture::of_leader(next.data()).assert_is(&picture);
    write_until_trimmed(&server, cluster, &mut random, &next);
    let picture = next.settled();
    place("newcomer").start().expect("it joins").until_it_has(&picture);
}
