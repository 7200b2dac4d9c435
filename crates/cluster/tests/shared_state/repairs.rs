//! A gateway that stands by is killed at any moment, and its copy damaged: it's whole again once it stands by again.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use gristmill_testkit::TestFolder;

use crate::changes::{OTHER_SESSION, Random, SESSION, change, make_table, write};
use crate::gateways::Place;
use crate::picture::Picture;
use crate::server::Server;

const ROUNDS: usize = 6;

#[test]
fn a_copy_that_was_damaged_is_whole_again() {
    let Some(server) = Server::alone() else { return };
    let leader = Place::new(&server, "repairs", "leader").start().expect("it begins").until_it_leads();
    let other = Place::new(&server, "repairs", "other");
    let mut random = Random::new(2);
    let database = leader.database();
    make_table(&database);
    let elsewhere = TestFolder::new("shared-state-elsewhere");
    write(elsewhere.path(), "precious", b"precious");
    for round in 0..ROUNDS {
        let follower = other.start().expect("it joins");
        for _ in 0..1 + random.below(6) {
            change(&mut random, leader.data(), &database, &*leader.state);
            assert_eq!(leader.settle(), Some(Ok(())));
        }
        // While it applies what has just come, sometimes.
        if round % 3 == 0 {
            follower.until_it_has(&leader.settled());
        }
        follower.kill();
        for _ in 0..1 + random.below(4) {
            damage(&mut random, other.data(), elsewhere.path());
        }
        let again = other.start().unwrap_or_else(|error| panic!("round {round}: {error}"));
        again.until_it_has(&leader.settled());
        again.kill();
        assert_eq!(fs::read(elsewhere.path().join("precious")).expect("a file"), b"precious");
    }
    let follower = other.start().expect("it joins");
    let picture = leader.settled();
    drop(database);
    leader.kill();
    assert!(!other.data().join("logs").exists(), "a machine's own is not for others");
    Picture::of_leader(follower.until_it_leads().data()).assert_is(&picture);
}

/// What isn't there can't be damaged.
fn damage(random: &mut Random, data: &Path, elsewhere: &Path) {
    let copy = data.join("replica/gristmill.db");
    let workspace = data.join(format!("sessions/{SESSION}/workspace"));
    let file = workspace.join(random.of(&["a", "b", "e", "a/a", "a/b"]));
    let _ = match random.below(13) {
        0 => cut(random, &copy),
        1 => overwrite(random, &copy),
        2 => fs::remove_file(&copy),
        3 => fs::write(copy.with_extension("unfinished"), random.bytes(5_000)),
        4 => cut(random, &file),
        5 => overwrite(random, &file),
        6 => fs::remove_file(&file).or_else(|_| fs::remove_dir_all(&file)),
        7 => fs::create_dir_all(&workspace).and_then(|()| fs::write(workspace.join("extra"), b"extra")),
        8 => {
            write(data, "sessions/aaaaaaaaaaaaaaaaaaaa/workspace/extra", b"extra");
            write(data, "skills/extra/skill.py", b"extra");
            write(data, &format!("sessions/{OTHER_SESSION}/debug"), b"");
            fs::write(data.join("audit.mark"), b"extra")
        }
        9 => fs::write(data.join("gristmill.db"), random.bytes(9_000))
            .and_then(|()| fs::write(data.join("gristmill.db-wal"), random.bytes(9_000))),
        10 => fs::remove_dir_all(data.join("sessions").join(OTHER_SESSION)),
        11 => fs::remove_file(&file).and_then(|()| symlink(elsewhere.join("precious"), &file)),
        _ => fs::remove_dir_all(workspace.join("a")).and_then(|()| symlink(elsewhere, workspace.join("a"))),
    };
}

fn cut(random: &mut Random, path: &Path) -> std::io::Result<()> {
    let length = usize::try_from(fs::metadata(path)?.len()).unwrap_or_default();
    fs::OpenOptions::new().write(true).open(path)?.set_len(random.below(length + 1) as u64)
}

/// With the time that it had.
fn overwrite(random: &mut Random, path: &Path) -> std::io::Result<()> {
    let modified = fs::metadata(path)?.modified()?;
    let mut content = fs::read(path)?;
    let at = random.below(content.len().max(1));
    let noise = random.bytes(100);
    content.iter_mut().skip(at).zip(noise).for_each(|(byte, noise)| *byte = noise);
    fs::write(path, content)?;
    fs::OpenOptions::new().write(true).open(path)?.set_modified(modified)
}
