use std::fs;
use std::time::Duration;

use rusqlite::Connection;

use super::{World, insert};

const CHECKPOINTS: [&str; 4] = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"];

#[test]
fn no_checkpoint_of_others_overwrites_what_was_not_taken() {
    let mut world = World::new();
    let connection = world.connect();
    connection.busy_timeout(Duration::ZERO).unwrap();
    for round in 0..3 {
        for mode in CHECKPOINTS {
            for _ in 0..10 {
                insert(&connection, 3, 2000);
                checkpoint(&connection, mode);
            }
        }
        assert!(world.take());
        world.check_same();
        // The next round begins in a log that still goes on, and in one that begins anew.
        if round == 1 {
            world.begin_anew();
        }
    }
}

#[test]
fn a_log_that_was_copied_may_be_emptied_before_it_is_written_again() {
    for mode in CHECKPOINTS {
        let mut world = World::new();
        let connection = world.connect();
        connection.busy_timeout(Duration::ZERO).unwrap();
        insert(&connection, 20, 2000);
        world.begin_anew();
        for _ in 0..3 {
            checkpoint(&connection, mode);
            assert!(!world.take());
        }
        insert(&connection, 20, 2000);
        checkpoint(&connection, mode);
        insert(&connection, 20, 2000);
        assert!(world.take());
        world.check_same();
    }
}

#[test]
fn a_first_transaction_that_is_rolled_back_may_begin_the_log_several_times() {
    let mut world = World::new();
    for _ in 0..3 {
        // Each has a log of its own in mind, until one of them commits.
        for _ in 0..3 {
            let connection = world.connect();
            connection.execute_batch("PRAGMA cache_size = 3; BEGIN").unwrap();
            insert(&connection, 50, 3000);
            assert!(!world.take());
            connection.execute_batch("ROLLBACK").unwrap();
            assert!(!world.take());
        }
        insert(&world.connect(), 5, 3000);
        assert!(world.take());
        world.check_same();
        world.begin_anew();
        world.check_same_bytes();
    }
}

#[test]
fn a_log_that_begins_anew_does_not_grow() {
    let mut world = World::new();
    let connection = world.connect();
    for _ in 0..20 {
        insert(&connection, 30, 3000);
        connection.execute_batch("DELETE FROM rows WHERE id % 2 = 0").unwrap();
        world.take();
        assert!(world.source.is_long(100_000));
        world.begin_anew();
        assert!(!world.source.is_long(0));
        world.check_same_bytes();
    }
    assert!(fs::metadata(world.log()).unwrap().len() < 2_000_000);
}

#[test]
fn what_was_not_taken_yet_comes_with_the_new_beginning() {
    let mut world = World::new();
    let connection = world.connect();
    for _ in 0..5 {
        insert(&connection, 30, 3000);
        assert!(world.begin_anew());
        world.check_same();
        world.check_same_bytes();
    }
}

#[test]
fn a_reader_that_stays_harms_nothing() {
    let mut world = World::new();
    let (connection, reader) = (world.connect(), world.connect());
    insert(&connection, 10, 3000);
    world.take();
    reader.execute_batch("BEGIN").unwrap();
    let rows_then = count(&reader);
    for _ in 0..10 {
        insert(&connection, 10, 3000);
        assert!(world.begin_anew());
        // It is not tried again and again.
        assert!(!world.source.is_long(0));
        world.check_same();
        for mode in CHECKPOINTS {
            connection.busy_timeout(Duration::ZERO).unwrap();
            checkpoint(&connection, mode);
            insert(&connection, 1, 10);
        }
        assert!(world.take());
        world.check_same();
    }
    assert_eq!(count(&reader), rows_then);
    reader.execute_batch("COMMIT").unwrap();
    let grown = fs::metadata(world.log()).unwrap().len();
    for _ in 0..10 {
        world.begin_anew();
        world.check_same_bytes();
        insert(&connection, 10, 3000);
        assert!(world.take());
        world.check_same();
    }
    assert_eq!(fs::metadata(world.log()).unwrap().len(), grown);
}

#[test]
fn the_last_connection_of_others_leaves_the_log_there() {
    let mut world = World::new();
    for _ in 0..5 {
        let connection = world.connect();
        insert(&connection, 10, 3000);
        connection.close().unwrap();
        assert!(world.take());
        world.check_same();
    }
}

#[test]
fn a_writer_that_takes_too_long_is_told_apart_and_harms_nothing() {
    let mut world = World::new();
    let connection = world.connect();
    insert(&connection, 10, 3000);
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(world.source.begin_anew(), Err(super::DatabaseError::Busy)));
    assert!(world.take());
    connection.execute_batch("COMMIT").unwrap();
    insert(&connection, 10, 3000);
    assert!(world.begin_anew());
    world.check_same_bytes();
}

fn checkpoint(connection: &Connection, mode: &str) {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |_| Ok(())).unwrap();
}

fn count(connection: &Connection) -> i64 {
    connection.query_row("SELECT count(*) FROM rows", (), |row| row.get(0)).unwrap()
}
