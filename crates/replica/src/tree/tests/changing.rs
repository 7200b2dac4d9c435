//! Files that change while they are taken.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

#[test]
fn a_content_that_changed_after_the_scan_is_refused_and_found_by_the_next() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/a", &[1; 20_000]);
    let scanned = world.scan(&Scope::Everything);
    world.write("sessions/ID/workspace/a", &[2; 20_000]);
    let content = scanned.contents.first().expect("one content");
    let refused = world.store.put(content).expect_err("another content");
    assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
    world.ship(&Scope::Everything);
    world.check_equal();
}

#[test]
fn a_change_within_one_tick_of_the_clock_is_found() {
    let mut world = World::new();
    let file = place(world.from.path(), &path("sessions/ID/workspace/a"));
    world.write("sessions/ID/workspace/a", b"0");
    world.scanner.settled_after = Duration::from_millis(50);
    for round in 0..200_u8 {
        // In place and of the same length: nothing but the time tells.
        fs::write(&file, [round]).expect("written");
        world.ship(&Scope::Session(ID.to_owned()));
        let copy = fs::read(place(world.to.path(), &path("sessions/ID/workspace/a")));
        assert_eq!(copy.expect("there"), [round]);
    }
}

#[test]
fn what_a_program_writes_through_a_mapping_is_found() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/a", b"a");
    let database = place(world.from.path(), &path("sessions/ID/workspace/a.db"));
    // SQLite maps the index of its log to memory and writes to it in place.
    let connection = rusqlite::Connection::open(&database).expect("a database");
    connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(())).expect("a log");
    connection.execute_batch("CREATE TABLE t (x)").expect("a table");
    for round in 0..3 {
        std::thread::sleep(Duration::from_millis(120));
        connection.execute("INSERT INTO t VALUES (?)", [round]).expect("a row");
        world.ship(&Scope::Session(ID.to_owned()));
        world.check_equal();
    }
}

#[test]
fn a_file_that_is_written_all_the_time_is_taken_whole_or_later() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/busy", &[0; 50_000]);
    world.write("sessions/ID/workspace/calm", b"calm");
    let file = place(world.from.path(), &path("sessions/ID/workspace/busy"));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut byte = 0;
            while !is_done.load(Ordering::Relaxed) {
                byte += 1;
                fs::write(&file, vec![byte % 200; 40_000 + usize::from(byte)]).expect("written");
                byte %= 250;
            }
        });
        for _ in 0..60 {
            let mut scanned = world.scan(&Scope::Everything);
            for content in &scanned.contents {
                // What can't be stored is not among what is committed.
                if world.store.put(content).is_err() {
                    scanned.changes.nodes.retain(|(path, _)| *path != content.path);
                }
            }
            world.store.apply(world.to.path(), &scanned.changes).expect("applied");
            world.scanner.commit(&scanned.changes);
            assert!(scanned.skipped.iter().all(|skipped| skipped.why == SkippedWhy::Changing));
        }
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(
        fs::read(place(world.to.path(), &path("sessions/ID/workspace/calm"))).expect("there"),
        b"calm"
    );
    world.ship(&Scope::Everything);
    world.check_equal();
}

#[test]
fn folders_that_come_and_go_meanwhile_end_no_scan() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/a", b"a");
    let workspace = place(world.from.path(), &path("sessions/ID/workspace"));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let _ = fs::create_dir_all(workspace.join("x/y/z"));
                let _ = fs::write(workspace.join("x/y/f"), "f");
                let _ = fs::rename(workspace.join("x/y"), workspace.join("x2"));
                let _ = std::os::unix::fs::symlink("/etc", workspace.join("x/y"));
                let _ = fs::remove_dir_all(workspace.join("x"));
                let _ = fs::remove_dir_all(workspace.join("x2"));
            }
        });
        for _ in 0..100 {
            world.ship(&Scope::Everything);
        }
        is_done.store(true, Ordering::Relaxed);
    });
    world.ship(&Scope::Everything);
    assert_eq!(tree(world.to.path()), without_others(tree(world.from.path())));
}
