use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rusqlite::Connection;

use super::{DatabaseError, PageSource, World, dump, dump_file, insert, is_lost};

#[test]
fn nothing_is_taken_when_nothing_was_committed() {
    let mut world = World::new();
    assert!(!world.take());
    let connection = world.connect();
    assert!(!world.take());
    insert(&connection, 1, 10);
    assert!(world.take());
    assert!(!world.take());
    connection.execute_batch("BEGIN").unwrap();
    insert(&connection, 1, 10);
    assert!(!world.take());
    connection.execute_batch("ROLLBACK").unwrap();
    assert!(!world.take());
    assert!(!world.begin_anew());
    assert!(!world.take());
}

#[test]
fn several_transactions_are_one_version_of_each_page() {
    let mut world = World::new();
    let connection = world.connect();
    for _ in 0..20 {
        insert(&connection, 1, 10);
    }
    let pages = world.source.take().unwrap().unwrap();
    let mut numbers: Vec<u32> = pages.pages.iter().map(|page| page.number).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), pages.pages.len());
    world.apply(Some(pages));
    world.check_same();
}

#[test]
fn a_transaction_that_spilled_is_not_taken_before_it_is_committed() {
    let mut world = World::new();
    let connection = world.connect();
    connection.execute_batch("PRAGMA cache_size = 3; BEGIN").unwrap();
    insert(&connection, 100, 3000);
    connection.execute_batch("UPDATE rows SET body = randomblob(3000)").unwrap();
    assert!(fs::metadata(world.log()).unwrap().len() > 100_000, "it spilled");
    assert!(!world.take());
    connection.execute_batch("ROLLBACK").unwrap();
    insert(&connection, 1, 3000);
    assert!(world.take());
    world.check_same();
}

#[test]
fn a_torn_end_is_not_taken() {
    let mut world = World::new();
    let connection = world.connect();
    insert(&connection, 5, 3000);
    world.take();
    let frame = forge_commit(&world.log(), 4096);
    for bytes in [1, 23, 24, 500, 4119] {
        append(&world.log(), &frame[..bytes]);
        assert!(!world.take());
        cut_off(&world.log(), bytes);
    }
    insert(&connection, 5, 3000);
    assert!(world.take());
    world.check_same();
}

#[test]
fn a_commit_that_its_writer_did_not_live_to_finish_is_not_taken() {
    let mut world = World::new();
    let connection = world.connect();
    insert(&connection, 5, 3000);
    world.take();
    // All of its frames are in the log, and no reader has been told of them.
    append(&world.log(), &forge_commit(&world.log(), 4096));
    assert!(!world.take());
    assert!(!world.begin_anew());
    world.check_same();
    // Whoever writes next writes over them.
    insert(&connection, 5, 3000);
    assert!(world.take());
    world.check_same();
}

#[test]
fn a_removed_log_is_noticed_and_not_forgotten() {
    let mut world = World::new();
    insert(&world.connect(), 5, 3000);
    world.take();
    fs::remove_file(world.log()).unwrap();
    for _ in 0..2 {
        assert!(is_lost(world.source.take()));
        assert!(is_lost(world.source.begin_anew()));
    }
}

#[test]
fn a_log_that_was_overwritten_before_it_was_taken_is_noticed() {
    let mut world = World::new();
    let connection = world.connect();
    insert(&connection, 5, 3000);
    world.take();
    insert(&connection, 5, 3000);
    let mut header = fs::read(world.log()).unwrap()[..32].to_vec();
    header[16..24].fill(7);
    let checksum = checksum_over((0, 0), &header[..24], is_big_endian(&header));
    header[24..28].copy_from_slice(&checksum.0.to_be_bytes());
    header[28..].copy_from_slice(&checksum.1.to_be_bytes());
    OpenOptions::new().write(true).open(world.log()).unwrap().write_all_at(&header, 0).unwrap();
    assert!(is_lost(world.source.take()));
    assert!(is_lost(world.source.take()));
}

#[test]
fn a_committed_frame_that_is_damaged_is_noticed() {
    let mut world = World::new();
    insert(&world.connect(), 5, 3000);
    let log = OpenOptions::new().write(true).open(world.log()).unwrap();
    log.write_all_at(&[0xAA; 16], 32 + 24 + 100).unwrap();
    assert!(is_lost(world.source.take()));
}

#[test]
fn a_cut_off_log_is_noticed() {
    let mut world = World::new();
    insert(&world.connect(), 5, 3000);
    world.take();
    OpenOptions::new().write(true).open(world.log()).unwrap().set_len(0).unwrap();
    assert!(is_lost(world.source.take()));
}

#[test]
fn too_much_for_one_take_is_refused_and_too_many_versions_are_not() {
    let mut world = World::new();
    let connection = world.connect();
    world.source.bytes_max = 40 * 4096;
    for _ in 0..100 {
        insert(&connection, 1, 10);
    }
    assert!(world.take());
    insert(&connection, 50, 4000);
    for _ in 0..2 {
        assert!(matches!(world.source.take(), Err(DatabaseError::TooLarge { bytes_max: 163_840 })));
        assert!(matches!(world.source.begin_anew(), Err(DatabaseError::TooLarge { .. })));
    }
    insert(&connection, 1, 10);
    world.source.bytes_max = 1 << 20;
    assert!(world.take());
    world.check_same();
}

#[test]
fn a_log_that_is_there_already_is_taken_first() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let (database, copy) = (folder.path().join("killed.db"), folder.path().join("copy.db"));
    let connection = world.connect();
    insert(&connection, 20, 3000);
    // As a killed process leaves them.
    fs::copy(world.database(), &database).unwrap();
    fs::copy(world.log(), folder.path().join("killed.db-wal")).unwrap();
    fs::copy(&database, &copy).unwrap();
    let mut source = PageSource::open(&database).unwrap();
    super::apply(&copy, &source.take().unwrap().unwrap()).unwrap();
    assert_eq!(dump_file(&copy), dump(&connection));
}

#[test]
fn a_database_without_a_log_gets_one() {
    let folder = tempfile::tempdir().unwrap();
    let (database, copy) = (folder.path().join("old.db"), folder.path().join("copy.db"));
    let connection = Connection::open(&database).unwrap();
    let sql = "CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB, note TEXT); PRAGMA user_version = 41";
    connection.execute_batch(sql).unwrap();
    insert(&connection, 20, 3000);
    connection.close().unwrap();
    fs::copy(&database, &copy).unwrap();
    let mut source = PageSource::open(&database).unwrap();
    let connection = Connection::open(&database).unwrap();
    insert(&connection, 1, 10);
    super::apply(&copy, &source.take().unwrap().unwrap()).unwrap();
    assert_eq!(dump_file(&copy), dump(&connection));
    source.begin_anew().unwrap();
    assert!(fs::read(&database).unwrap() == fs::read(&copy).unwrap(), "the files differ");
}

#[test]
fn a_link_in_place_of_the_file_is_refused_and_one_to_its_folder_is_not() {
    let world = World::new();
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link.db");
    std::os::unix::fs::symlink(world.database(), &link).unwrap();
    assert!(PageSource::open(&link).is_err());
    let link = folder.path().join("folder");
    std::os::unix::fs::symlink(world.folder.path(), &link).unwrap();
    assert!(PageSource::open(&link.join("source.db")).is_ok());
}

#[test]
fn a_source_can_be_given_to_another_thread() {
    fn is_send<T: Send + 'static>() {}
    is_send::<PageSource>();
}

/// A frame that ends a transaction and continues the log as its writer would: page 2, full of nonsense.
fn forge_commit(log: &Path, page_bytes: usize) -> Vec<u8> {
    let bytes = fs::read(log).unwrap();
    assert_eq!((bytes.len() - 32) % (24 + page_bytes), 0, "it ends with a whole frame");
    let last = &bytes[bytes.len() - 24 - page_bytes..];
    let number = |at: usize| u32::from_be_bytes(last[at..at + 4].try_into().unwrap());
    let mut frame = vec![0xEE; 24 + page_bytes];
    frame[..4].copy_from_slice(&2u32.to_be_bytes());
    frame[4..8].copy_from_slice(&number(4).to_be_bytes());
    frame[8..16].copy_from_slice(&last[8..16]);
    let is_big = is_big_endian(&bytes);
    let checksum = checksum_over((number(16), number(20)), &frame[..8], is_big);
    let checksum = checksum_over(checksum, &frame[24..], is_big);
    frame[16..20].copy_from_slice(&checksum.0.to_be_bytes());
    frame[20..24].copy_from_slice(&checksum.1.to_be_bytes());
    frame
}

/// Written from the description of the format, not from what is tested.
fn checksum_over((mut s1, mut s2): (u32, u32), bytes: &[u8], is_big: bool) -> (u32, u32) {
    for pair in bytes.chunks(8) {
        let word = |at: usize| {
            let word = pair[at..at + 4].try_into().unwrap();
            if is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        s1 = s1.wrapping_add(word(0)).wrapping_add(s2);
        s2 = s2.wrapping_add(word(4)).wrapping_add(s1);
    }
    (s1, s2)
}

fn is_big_endian(log: &[u8]) -> bool {
    log[3] & 1 == 1
}

fn append(log: &Path, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(log).unwrap();
    file.write_all_at(bytes, file.metadata().unwrap().len()).unwrap();
}

fn cut_off(log: &Path, bytes: usize) {
    let file = OpenOptions::new().write(true).open(log).unwrap();
    file.set_len(file.metadata().unwrap().len() - bytes as u64).unwrap();
}
