//! The first gateway brings what it has; others get that, and lose nothing of their own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gristmill_cluster::state::StateError;
use rusqlite::Connection;

use crate::changes::{SESSION, make_table, put_row, write};
use crate::gateways::Place;
use crate::picture::Picture;
use crate::server::Server;

/// A data folder as a gateway left it that was killed: rows stand in the database's log only.
fn fill(data: &Path) {
    let elsewhere = gristmill_testkit::TestFolder::new("shared-state-before");
    let connection = Connection::open(elsewhere.path().join("gristmill.db")).expect("a database");
    connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(())).expect("a log");
    make_table(&connection);
    put_row(&connection, 1, b"one");
    for name in ["gristmill.db", "gristmill.db-wal"] {
        fs::copy(elsewhere.path().join(name), data.join(name)).expect("copied");
    }
    write(data, &format!("sessions/{SESSION}/workspace/a/b"), &[1; 600_000]);
    write(data, &format!("sessions/{SESSION}/workspace/c"), b"c");
    write(data, "skills/one/skill.py", b"print(1)");
    write(data, "vault.key", b"secret");
}

/// Everything that isn't the lock of whoever looked at it.
fn all_in(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true if path.ends_with("replica") => {}
                true => folders.push(path),
                false => drop(all.insert(path.clone(), fs::read(&path).expect("read"))),
            }
        }
    }
    all
}

#[test]
fn the_first_gateway_brings_what_it_has_and_the_second_gets_all_of_it() {
    let Some(server) = Server::alone() else { return };
    let (first, second) = (Place::new(&server, "begin", "first"), Place::new(&server, "begin", "second"));
    fill(first.data());
    let leader = first.start().expect("it begins").until_it_leads();
    let follower = second.start().expect("it joins");
    let picture = leader.settled();
    assert_eq!(picture.rows.len(), 1);
    follower.until_it_has(&picture);
    assert_eq!(fs::read(second.data().join("vault.key")).expect("a file"), b"secret");
    let place = leader.leave();
    let next = follower.until_it_leads();
    Picture::of_leader(next.data()).assert_is(&picture);
    place.start().expect("it joins").until_it_has(&picture);
}

#[test]
fn a_file_that_cannot_be_shared_is_named_before_anything_is_touched() {
    let Some(server) = Server::alone() else { return };
    let place = Place::new(&server, "too-large", "first");
    fill(place.data());
    let huge = place.data().join(format!("sessions/{SESSION}/workspace/huge"));
    fs::File::create(&huge).expect("a file").set_len(65 << 30).expect("with nothing in it");
    let Err(error) = place.start() else { panic!("it began") };
    let told = error.to_string();
    assert!(told.contains("workspace/huge can't be shared: it is larger than 64 GB"), "{told}");
    assert!(huge.exists() && place.data().join("gristmill.db").exists());
    // Commands go on, too.
    assert!(!place.data().join("replica/cluster.json").exists());
    fs::remove_file(huge).expect("removed");
    assert_eq!(place.start().expect("it begins").until_it_leads().settled().rows.len(), 1);
}

#[test]
fn links_stay_where_the_state_began() {
    let Some(server) = Server::alone() else { return };
    let place = Place::new(&server, "links", "first");
    fill(place.data());
    let link = place.data().join(format!("sessions/{SESSION}/workspace/link"));
    symlink("a/b", &link).expect("a link");
    for _ in 0..2 {
        let leader = place.start().expect("it begins, and goes on").until_it_leads();
        leader.settled();
        leader.kill();
        assert_eq!(fs::read_link(&link).expect("a link"), Path::new("a/b"));
    }
}

#[test]
fn what_somebody_writes_who_still_has_the_database_open_is_not_lost() {
    let Some(server) = Server::alone() else { return };
    let place = Place::new(&server, "still-open", "first");
    // A gateway from before the key.
    let open = place.database();
    make_table(&open);
    put_row(&open, 1, b"one");
    let began = std::thread::scope(|scope| {
        let starting = scope.spawn(|| place.start().expect("it begins"));
        std::thread::sleep(Duration::from_secs(1));
        put_row(&open, 2, b"two");
        drop(open);
        starting.join().expect("it begins")
    });
    assert_eq!(began.until_it_leads().settled().rows.len(), 2);
}

#[test]
fn two_gateways_without_a_state_begin_in_the_same_moment() {
    let Some(server) = Server::alone() else { return };
    let places = ["first", "second"].map(|name| Place::new(&server, "at-once", name));
    let started = std::thread::scope(|scope| {
        places
            .each_ref()
            .map(|place| scope.spawn(|| place.start().expect("it joins")))
            .map(|start| start.join())
    });
    let [first, second] = started.map(|joined| joined.expect("it starts"));
    drop(second);
    let leader = first.until_it_leads();
    make_table(&leader.database());
    let picture = leader.settled();
    places[1].start().expect("it joins").until_it_has(&picture);
}

#[test]
fn a_folder_with_a_state_of_its_own_and_another_key_are_refused_and_nothing_is_touched() {
    let Some(server) = Server::alone() else { return };
    let first = Place::new(&server, "refused", "first");
    write(first.data(), "skills/one/skill.py", b"print(1)");
    let _first = first.start().expect("it begins");
    let refused = |place: &Place| {
        let before = all_in(place.data());
        let Err(error) = place.start() else { panic!("it joined") };
        assert_eq!(all_in(place.data()), before);
        error
    };
    let other = Place::new(&server, "refused", "other");
    fill(other.data());
    let error = refused(&other);
    assert!(matches!(&error, StateError::OwnState { cluster, .. } if cluster == "refused"), "{error}");
    let skilled = Place::new(&server, "refused", "skilled");
    write(skilled.data(), "skills/two/skill.py", b"print(2)");
    let error = refused(&skilled);
    assert!(matches!(error, StateError::OwnState { .. }), "{error}");
    let tokened = Place::new(&server, "refused", "tokened");
    write(tokened.data(), "access-tokens.json", b"{}");
    let error = refused(&tokened);
    assert!(matches!(error, StateError::OwnState { .. }), "{error}");

    let stranger = Place::new(&server, "refused", "stranger").with_key([8; 32]);
    let error = refused(&stranger);
    assert!(matches!(error, StateError::WrongKey { .. }), "{error}");
    fill(stranger.data());
    let error = refused(&stranger);
    assert!(matches!(error, StateError::WrongKey { .. }), "{error}");

    let twice = first.start().err();
    assert!(matches!(twice, Some(StateError::InUse { .. })));
}

#[test]
fn a_folder_of_another_cluster_is_refused() {
    let Some(server) = Server::alone() else { return };
    let member = Place::new(&server, "one", "member");
    member.start().expect("it begins").kill();
    let elsewhere = Place::new(&server, "other", "elsewhere");
    elsewhere.start().expect("it begins").kill();
    fs::remove_dir_all(elsewhere.data().join("replica")).expect("removed");
    fs::rename(member.data().join("replica"), elsewhere.data().join("replica")).expect("moved");
    let error = elsewhere.start().err();
    assert!(
        matches!(&error, Some(StateError::OtherCluster { cluster, .. }) if cluster == "one"),
        "{error:?}"
    );
}
