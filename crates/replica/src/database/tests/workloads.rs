use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use rusqlite::Connection;

use super::{World, dump_file, insert};

/// What one of two connections does next, or what is done with its pages.
#[derive(Clone, Copy, Debug)]
enum Step {
    Insert {
        rows: u32,
        bytes: u32,
    },
    Change {
        remainder: u32,
        bytes: u32,
    },
    Delete {
        remainder: u32,
    },
    /// More than fits in the cache, twice: pages are written to the log before the end, and then again.
    Spill {
        rows: u32,
        bytes: u32,
        commits: bool,
    },
    RollBack {
        rows: u32,
    },
    Tables {
        drops: bool,
    },
    Vacuum,
    Shorten,
    Checkpoint(&'static str),
    Read,
    StopReading,
    Reconnect,
    Take,
    BeginAnew,
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![0u32..200, 200u32..5_000, Just(200_000u32)];
    let modes =
        prop_oneof![Just("PASSIVE"), Just("PASSIVE"), Just("FULL"), Just("RESTART"), Just("TRUNCATE")];
    prop_oneof![
        6 => (1u32..20, bytes.clone()).prop_map(|(rows, bytes)| Step::Insert { rows, bytes }),
        3 => (0u32..3, bytes).prop_map(|(remainder, bytes)| Step::Change { remainder, bytes }),
        3 => (0u32..3).prop_map(|remainder| Step::Delete { remainder }),
        2 => (20u32..60, 500u32..5_000, any::<bool>())
            .prop_map(|(rows, bytes, commits)| Step::Spill { rows, bytes, commits }),
        2 => (1u32..20).prop_map(|rows| Step::RollBack { rows }),
        1 => any::<bool>().prop_map(|drops| Step::Tables { drops }),
        1 => Just(Step::Vacuum),
        1 => Just(Step::Shorten),
        3 => modes.prop_map(Step::Checkpoint),
        1 => Just(Step::Read),
        2 => Just(Step::StopReading),
        1 => Just(Step::Reconnect),
        5 => Just(Step::Take),
        3 => Just(Step::BeginAnew),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_says_what_the_database_says_whatever_was_done(
        page_bytes in prop_oneof![Just(512u32), Just(4096), Just(65_536)],
        steps in prop::collection::vec((any::<bool>(), step()), 1..60),
    ) {
        let mut run = Run::new(page_bytes);
        for (by_second, step) in steps {
            run.step(usize::from(by_second), step);
        }
        run.step(0, Step::Take);
        run.step(0, Step::StopReading);
        run.step(0, Step::BeginAnew);
    }
}

struct Run {
    world: World,
    connections: [Connection; 2],
    reader: Connection,
    reads: bool,
}

impl Run {
    fn new(page_bytes: u32) -> Self {
        let world = World::with_page_bytes(page_bytes);
        let connections = [connect(&world), connect(&world)];
        let reader = connect(&world);
        Self { world, connections, reader, reads: false }
    }

    fn step(&mut self, by: usize, step: Step) {
        let connection = &self.connections[by];
        match step {
            Step::Insert { rows, bytes } => insert(connection, rows.min(1 + 400_000 / (bytes + 1)), bytes),
            Step::Change { remainder, bytes } => {
                let sql = "UPDATE rows SET body = randomblob(?2 % 5000), note = id WHERE id % 3 = ?1";
                connection.execute(sql, [remainder, bytes]).unwrap();
            }
            Step::Delete { remainder } => {
                connection.execute("DELETE FROM rows WHERE id % 3 = ?1", [remainder]).unwrap();
            }
            Step::Spill { rows, bytes, commits } => {
                connection.execute_batch("BEGIN").unwrap();
                insert(connection, rows, bytes);
                connection.execute_batch("UPDATE rows SET note = hex(randomblob(20))").unwrap();
                connection.execute_batch(if commits { "COMMIT" } else { "ROLLBACK" }).unwrap();
            }
            Step::RollBack { rows } => {
                connection.execute_batch("BEGIN").unwrap();
                insert(connection, rows, 100);
                connection.execute_batch("ROLLBACK").unwrap();
            }
            Step::Tables { drops: true } => connection.execute_batch("DROP TABLE IF EXISTS others").unwrap(),
            Step::Tables { drops: false } => {
                let sql = "CREATE TABLE IF NOT EXISTS others (body BLOB);
                           INSERT INTO others SELECT body FROM rows;
                           PRAGMA user_version = 3;";
                connection.execute_batch(sql).unwrap();
            }
            Step::Vacuum => connection.execute_batch("VACUUM").unwrap(),
            Step::Shorten => connection.execute_batch("PRAGMA incremental_vacuum").unwrap(),
            Step::Checkpoint(mode) => {
                let sql = format!("PRAGMA wal_checkpoint({mode})");
                connection.query_row(&sql, (), |_| Ok(())).unwrap();
            }
            Step::Read => self.set_reading(true),
            Step::StopReading => self.set_reading(false),
            Step::Reconnect => self.connections[by] = connect(&self.world),
            Step::Take => {
                self.world.take();
                self.world.check_same();
                assert!(!self.world.take());
            }
            Step::BeginAnew => {
                self.world.begin_anew();
                self.world.check_same();
                if !self.reads {
                    self.world.check_same_bytes();
                }
            }
        }
    }

    fn set_reading(&mut self, reads: bool) {
        match (self.reads, reads) {
            (false, true) => {
                let sql = "BEGIN; SELECT count(*) FROM rows";
                self.reader.execute_batch(sql).unwrap();
            }
            (true, false) => self.reader.execute_batch("COMMIT").unwrap(),
            (false, false) | (true, true) => {}
        }
        self.reads = reads;
    }
}

/// One that keeps few pages in memory and waits for nobody.
fn connect(world: &World) -> Connection {
    let connection = world.connect();
    connection.execute_batch("PRAGMA cache_size = 5").unwrap();
    connection.busy_timeout(Duration::ZERO).unwrap();
    connection
}

const WRITERS: usize = 3;
const TRANSACTIONS: i64 = 250;

#[test]
fn what_was_acknowledged_is_in_the_next_take_while_others_write() {
    let mut world = World::new();
    let setup = "CREATE TABLE left (writer INTEGER, number INTEGER, body BLOB);
                 CREATE TABLE right (writer INTEGER, number INTEGER, body BLOB);";
    world.connect().execute_batch(setup).unwrap();
    let acknowledged: [AtomicI64; WRITERS] = Default::default();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (connection, acknowledged) = (world.connect(), &acknowledged[writer]);
                scope.spawn(move || write(&connection, writer as i64, acknowledged))
            })
            .collect();
        let (database, done) = (world.database(), &done);
        scope.spawn(move || {
            while !done.load(Ordering::Acquire) {
                // Connections come and go, and copy the log as far as they can.
                let connection = Connection::open(&database).unwrap();
                connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(())).unwrap();
                thread::sleep(Duration::from_millis(3));
            }
        });
        let mut rounds = 0;
        while !writers.iter().all(|writer| writer.is_finished()) {
            let before: Vec<i64> = acknowledged.iter().map(|number| number.load(Ordering::Acquire)).collect();
            if world.source.is_long(500_000) {
                world.begin_anew();
            } else {
                world.take();
            }
            rounds += 1;
            if rounds % 10 == 0 {
                check_together(&world, &before);
            }
        }
        done.store(true, Ordering::Release);
    });
    world.take();
    check_together(&world, &[TRANSACTIONS; WRITERS]);
    world.check_same();
    world.begin_anew();
    world.check_same_bytes();
}

/// Each transaction writes to both tables; some are rolled back.
fn write(connection: &Connection, writer: i64, acknowledged: &AtomicI64) {
    connection.execute_batch("PRAGMA cache_size = 5").unwrap();
    for number in 1..=TRANSACTIONS {
        for end in ["ROLLBACK", "COMMIT"].into_iter().skip(usize::from(number % 4 != 0)) {
            connection.execute_batch("BEGIN IMMEDIATE").unwrap();
            let bytes = if number % 20 == 0 { 100_000 } else { 300 };
            for table in ["left", "right"] {
                let sql = format!("INSERT INTO {table} VALUES (?1, ?2, randomblob(?3))");
                connection.execute(&sql, [writer, number, bytes]).unwrap();
            }
            if number % 25 == 0 {
                connection
                    .execute("UPDATE right SET body = randomblob(400) WHERE writer = ?1", [writer])
                    .unwrap();
            }
            connection.execute_batch(end).unwrap();
        }
        acknowledged.store(number, Ordering::Release);
    }
}

/// The copy has everything that was acknowledged, and of nothing only a half.
fn check_together(world: &World, acknowledged: &[i64]) {
    let copy = dump_file(&world.copy());
    let table = |name: &str| {
        let found = copy.tables.iter().find(|(table, _)| table == name);
        let rows = &found.expect("both tables are in the copy").1;
        rows.iter().map(|row| (row[1].clone(), row[2].clone())).collect::<Vec<_>>()
    };
    let (left, right) = (table("left"), table("right"));
    assert_eq!(left, right);
    for (writer, number) in acknowledged.iter().enumerate() {
        let writer = rusqlite::types::Value::Integer(writer as i64);
        let found = left.iter().filter(|(by, _)| *by == writer).count();
        assert!(found as i64 >= *number, "{found} of {number}");
    }
}
