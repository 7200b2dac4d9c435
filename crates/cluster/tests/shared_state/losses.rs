//! The leader is gone without a word, many times over: another goes on from exactly what was settled.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OptionalExtension};

use crate::changes::{OTHER_SESSION, Random, SESSION, change, make_table, put_row, write};
use crate::gateways::{Leader, Place, Settler, until};
use crate::picture::Picture;
use crate::server::Server;

/// At the same time, each on a state of its own.
const CLUSTERS: u64 = 5;
const ROUNDS: usize = 3;
const SETTLED_PER_ROUND: usize = 6;

/// What the protocol takes is 3 s and a part of one; the rest is for a busy machine.
const LEADS_WITHIN: Duration = Duration::from_secs(7);

const WRITERS: i64 = 3;

/// Rows of the writers and of what was never settled, apart from those that [`change`] has.
const WRITTEN: i64 = 1_000;
const UNSETTLED: i64 = 2_000;
const UNSETTLED_FILE: &str = "workspace/unsettled";

#[test]
fn another_gateway_goes_on_from_exactly_what_was_settled() {
    let Some(server) = Server::alone() else { return };
    std::thread::scope(|scope| {
        for seed in 0..CLUSTERS {
            let (server, random) = (&server, Random::new(seed));
            scope.spawn(move || lose_leaders(server, &format!("losses-{seed}"), random));
        }
    });
}

fn lose_leaders(server: &Server, cluster: &str, mut random: Random) {
    let place = |name| Place::new(server, cluster, name);
    let mut leader = place("one").start().expect("it begins").until_it_leads();
    let mut follower = place("other").start().expect("it joins");
    make_table(&leader.database());
    for round in 0..ROUNDS {
        let settled = settle_changes(&mut random, &leader);
        let lost = match round % 2 {
            0 => lose_what_is_unsettled(&mut random, leader, round),
            _ => lose_while_it_is_written(&mut random, leader),
        };
        leader = follower.until_it_leads();
        let took = lost.at.elapsed();
        assert!(took < LEADS_WITHIN, "{took:?}");
        check_written(&leader, &lost.acknowledged);
        check_unsettled(&leader, round);
        let is = Picture::of_leader(leader.data());
        settled_part(is).assert_is(&settled_part(settled));
        follower = lost.place.start().expect("it joins");
    }
    let picture = settle_changes(&mut random, &leader);
    follower.until_it_has(&picture);
}

/// A gateway that led.
struct Lost {
    place: Place,
    at: Instant,
    /// What each writer knows to be safe.
    acknowledged: Vec<i64>,
}

fn settle_changes(random: &mut Random, leader: &Leader) -> Picture {
    let database = leader.database();
    for _ in 1..SETTLED_PER_ROUND {
        change(random, leader.data(), &database, &*leader.state);
        // Some are taken along with the next ones.
        if random.below(3) > 0 {
            assert_eq!(leader.settle(), Some(Ok(())));
        }
    }
    change(random, leader.data(), &database, &*leader.state);
    leader.settled()
}

fn settled_part(picture: Picture) -> Picture {
    let mut picture = (0..WRITERS)
        .fold(picture.without(UNSETTLED_FILE), |picture, writer| picture.without(&file_of(writer)));
    picture.rows.retain(|id, _| *id < WRITTEN);
    picture
}

/// Several write and wait for each write, and the gateway is killed meanwhile.
fn lose_while_it_is_written(random: &mut Random, leader: Leader) -> Lost {
    let acknowledged: Vec<AtomicI64> = (0..WRITERS).map(|_| AtomicI64::new(0)).collect();
    let enough = i64::try_from(5 + random.below(40)).expect("small");
    let (data, settler) = (leader.data().to_owned(), leader.settler());
    let (place, at) = std::thread::scope(|scope| {
        for (writer, acknowledged) in (0..).zip(&acknowledged) {
            let (settler, data, database) = (settler.clone(), &data, leader.database());
            scope.spawn(move || {
                for number in 1.. {
                    put_numbers(writer, number, data, &database, &settler);
                    // A gateway that ends may say that it doesn't lead any more.
                    let Some(Ok(())) = settler.settle() else { return };
                    acknowledged.store(number, Ordering::Release);
                }
            });
        }
        let sum = || acknowledged.iter().map(|number| number.load(Ordering::Acquire)).sum::<i64>();
        until("they write", || sum() >= enough);
        let at = Instant::now();
        (leader.kill(), at)
    });
    Lost { place, at, acknowledged: acknowledged.into_iter().map(AtomicI64::into_inner).collect() }
}

fn put_numbers(writer: i64, number: i64, data: &Path, database: &Connection, settler: &Settler) {
    let path = format!("sessions/{SESSION}/{}", file_of(writer));
    write_whole(data, &path, &number.to_le_bytes());
    settler.state.changed(&path);
    put_row(database, WRITTEN + writer, &number.to_le_bytes());
}

/// Whole, or as it was.
fn write_whole(data: &Path, path: &str, content: &[u8]) {
    let new = format!("sessions/{OTHER_SESSION}/incoming/{}", path.replace('/', "-"));
    write(data, &new, content);
    let path = data.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::rename(data.join(new), path).expect("renamed");
}

fn file_of(writer: i64) -> String {
    format!("workspace/written-{writer}")
}

fn check_written(leader: &Leader, acknowledged: &[i64]) {
    let database = leader.database();
    for (writer, acknowledged) in (0..).zip(acknowledged) {
        let select = "SELECT value FROM rows WHERE id = ?";
        let row: Option<Vec<u8>> =
            database.query_row(select, (WRITTEN + writer,), |row| row.get(0)).optional().expect("a query");
        let file = fs::read(leader.data().join(format!("sessions/{SESSION}/{}", file_of(writer)))).ok();
        for found in [row, file] {
            let number = found.map_or(0, |bytes| i64::from_le_bytes(bytes.try_into().expect("a number")));
            assert!((*acknowledged..=acknowledged + 1).contains(&number), "{number} of {acknowledged}");
        }
    }
}

/// Two rows in one transaction, and a file, which come too late or nearly so.
fn lose_what_is_unsettled(random: &mut Random, leader: Leader, round: usize) -> Lost {
    let database = leader.database();
    let value = round.to_le_bytes();
    let both = "INSERT OR REPLACE INTO rows VALUES (?1, ?3), (?2, ?3)";
    database.execute(both, (UNSETTLED, UNSETTLED + 1, &value[..])).expect("two rows");
    let path = format!("sessions/{SESSION}/{UNSETTLED_FILE}");
    write_whole(leader.data(), &path, &value);
    leader.state.changed(&path);
    drop(leader.settler().begin());
    // It's killed before this is taken, while it is, or after it.
    std::thread::sleep(Duration::from_micros(random.below(8_000) as u64));
    drop(database);
    let at = Instant::now();
    Lost { place: leader.kill(), at, acknowledged: Vec::new() }
}

/// Both rows or none of this round.
fn check_unsettled(leader: &Leader, round: usize) {
    let database = leader.database();
    let mut select = database.prepare("SELECT value FROM rows WHERE id >= ?").expect("a query");
    let values = select.query_map((UNSETTLED,), |row| row.get::<_, Vec<u8>>(0)).expect("rows");
    let values: Vec<Vec<u8>> = values.map(|value| value.expect("a value")).collect();
    match values.as_slice() {
        [] => {}
        [one, other] => assert_eq!(one, other, "round {round}"),
        others => panic!("{} rows of one transaction", others.len()),
    }
    let file = fs::read(leader.data().join(format!("sessions/{SESSION}/{UNSETTLED_FILE}")));
    assert!(file.is_err() || file.is_ok_and(|file| file.len() == round.to_le_bytes().len()));
}
