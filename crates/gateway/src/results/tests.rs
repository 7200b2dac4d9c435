//! Results on a disk: who finds them, what goes first, what a death leaves.

use std::fs::{self, FileTimes};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

use gristmill_domain::result_path::Slice;
use gristmill_domain::shape::Strategy;
use gristmill_testkit::TestFolder;

use super::*;
use crate::clock::unix_ms;
use crate::ids::ExecutionId;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn open_with(data: &Path, settings: ResultSettings) -> Results {
    Results::open(Store::open(data).unwrap(), data.join("results"), settings).await.unwrap()
}

async fn open(data: &Path) -> Results {
    open_with(data, ResultSettings::default()).await
}

/// With room for so many bytes.
async fn small(data: &Path, bytes_max: u64) -> Results {
    open_with(data, ResultSettings { bytes_max, ..ResultSettings::default() }).await
}

fn of(name: &str) -> Owner {
    Owner(name.to_owned())
}

async fn put(results: &Results, owner: &str, content: &str) -> StoredResult {
    let bytes = content.as_bytes().to_vec();
    results.put(&of(owner), Origin::default(), ResultKind::Json, None, bytes).await.unwrap()
}

/// A JSON text of so many bytes, different for each letter.
fn sized(letter: char, bytes: usize) -> String {
    format!("\"{}\"", letter.to_string().repeat(bytes - 2))
}

async fn content(results: &Results, owner: &str, handle: &str) -> Option<Vec<u8>> {
    let (_, mut file) = results.open_file(&of(owner), handle).await.unwrap()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

async fn is_there(results: &Results, owner: &str, stored: &StoredResult) -> bool {
    results.find(&of(owner), &stored.handle).await.unwrap().is_some()
}

fn path_of(results: &Results, stored: &StoredResult) -> PathBuf {
    results.folder_of(&stored.owner).unwrap().join(&stored.file_name)
}

/// Makes it look as if nobody had asked us for a result, nor read its file, for so long.
fn age(data: &Path, results: &Results, stored: &StoredResult, unasked: Duration, unread: Duration) {
    let used = unix_ms(SystemTime::now() - unasked);
    let database = rusqlite::Connection::open(data.join(crate::store::FILE_NAME)).unwrap();
    let query = "UPDATE results SET used_ms = ?1 WHERE handle = ?2";
    assert_eq!(database.execute(query, rusqlite::params![used, stored.handle]).unwrap(), 1);
    let times =
        FileTimes::new().set_accessed(SystemTime::now() - unread).set_modified(SystemTime::now() - unread);
    fs::OpenOptions::new().write(true).open(path_of(results, stored)).unwrap().set_times(times).unwrap();
}

#[tokio::test]
async fn a_value_comes_back_byte_for_byte_and_is_kept_once() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let text = "{\"a\": [1, 2.50, 1e400, \"\u{1f33e}\"] }\n";
    let stored = put(&results, "a", text).await;
    assert_eq!(stored.path_in_program(), format!("/results/{}.json", stored.handle));
    assert_eq!((stored.handle.len(), stored.bytes), (20, text.len() as u64));
    assert_eq!(content(&results, "a", &stored.handle).await.unwrap(), text.as_bytes());
    // However it is written down.
    assert_eq!(content(&results, "a", &stored.path_in_program()).await.unwrap(), text.as_bytes());
    let origin =
        Origin { session: Some("s".to_owned()), execution: Some("e".to_owned()), ..Origin::default() };
    let bytes = text.as_bytes().to_vec();
    let again = results.put(&of("a"), origin, ResultKind::Json, None, bytes.clone()).await.unwrap();
    assert_eq!((&again.handle, again.created_ms), (&stored.handle, stored.created_ms));
    assert_eq!((again.session.as_deref(), again.execution.as_deref()), (Some("s"), Some("e")));
    // A file that somebody else has filled is the same result.
    let new = results.new_file(&of("a")).unwrap();
    new.file().write_all(&bytes).unwrap();
    let kept = results.keep(new, Origin::default(), ResultKind::Json, None).await.unwrap();
    assert_eq!(kept.handle, stored.handle);
    let as_text = results.put(&of("a"), Origin::default(), ResultKind::Text, None, bytes).await.unwrap();
    assert_ne!(as_text.handle, stored.handle);
    let image = Some("image/png".to_owned());
    let image =
        results.put(&of("a"), Origin::default(), ResultKind::Binary, image, vec![0xff; 9]).await.unwrap();
    assert!(image.file_name.ends_with(".png"), "{}", image.file_name);
    assert_eq!(results.list(Some(&of("a")), 10).await.unwrap().len(), 3);
    assert_eq!(results.held().await.unwrap().count, 3);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = path_of(&results, &stored);
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    assert_eq!(fs::read_dir(folder.path().join("results/incoming")).unwrap().count(), 0);
}

#[tokio::test]
async fn of_a_file_without_a_name_nothing_is_on_the_disk_until_it_is_kept() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let mut filled = results.nameless_file().unwrap();
    filled.write_all(b"[1]").unwrap();
    assert_eq!(fs::read_dir(folder.path().join("results/incoming")).unwrap().count(), 0);
    let stored = results.keep_copy(&of("a"), filled, Origin::default(), ResultKind::Json).await.unwrap();
    assert_eq!(content(&results, "a", &stored.handle).await.unwrap(), b"[1]");
}

#[tokio::test]
async fn another_owner_finds_nothing_and_has_another_handle_for_the_same_value() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let (theirs, own) = (put(&results, "a", "[1]").await, put(&results, "b", "[1]").await);
    assert_ne!(theirs.handle, own.handle);
    assert!(content(&results, "b", &theirs.handle).await.is_none());
    assert!(!results.remove(&of("b"), &theirs.handle).await.unwrap());
    assert_ne!(results.folder_of(&of("a")).unwrap(), results.folder_of(&of("b")).unwrap());
    assert_eq!(results.list(Some(&of("b")), 10).await.unwrap(), [own]);
    assert_eq!(results.owner_of(&theirs.handle).await.unwrap(), Some(of("a")));
    for odd in ["", "../x", "abc", "/results/../lock", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.json"] {
        assert!(results.find(&of("a"), odd).await.unwrap().is_none(), "{odd}");
    }
    assert!(results.remove(&of("a"), &theirs.handle).await.unwrap());
    assert!(!path_of(&results, &theirs).exists() && !is_there(&results, "a", &theirs).await);
}

#[tokio::test]
async fn two_gateways_on_one_folder_agree() {
    let folder = TestFolder::new("results");
    let (one, other) = (open(folder.path()).await, open(folder.path()).await);
    let puts = (0..8).map(|at| put(if at % 2 == 0 { &one } else { &other }, "a", "[1, 2]"));
    let stored = futures_util::future::join_all(puts).await;
    assert!(stored.iter().all(|each| each.handle == stored[0].handle));
    assert_eq!(one.list(None, 10).await.unwrap().len(), 1);
    assert_eq!(content(&other, "a", &stored[0].handle).await.unwrap(), b"[1, 2]");
    assert!(one.remove(&of("a"), &stored[0].handle).await.unwrap());
    assert!(!is_there(&other, "a", &stored[0]).await);
}

#[tokio::test]
async fn what_a_kill_leaves_is_mended_when_it_is_opened_again() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let (whole, without_file, cut) =
        (put(&results, "a", "[1]").await, put(&results, "a", "[2]").await, put(&results, "a", "[3]").await);
    fs::remove_file(path_of(&results, &without_file)).unwrap();
    fs::write(path_of(&results, &cut), "[").unwrap();
    let without_row = results.folder_of(&of("a")).unwrap().join("aaaaaaaaaaaaaaaaaaaa.json");
    fs::write(&without_row, "[4]").unwrap();
    let incoming = folder.path().join("results/incoming");
    let (left, new) = (incoming.join("left"), incoming.join("new"));
    fs::write(&left, "half").unwrap();
    fs::write(&new, "half").unwrap();
    let old = FileTimes::new().set_modified(SystemTime::now() - DAY);
    fs::OpenOptions::new().write(true).open(&left).unwrap().set_times(old).unwrap();
    // Somebody has filled this one for long, and still does.
    let filling = results.new_file(&of("a")).unwrap();
    filling.file().set_times(old).unwrap();
    // Asked for before anybody has mended it.
    assert!(!is_there(&results, "a", &without_file).await);
    let again = open(folder.path()).await;
    assert_eq!(again.list(None, 10).await.unwrap(), std::slice::from_ref(&whole));
    assert!(is_there(&again, "a", &whole).await);
    assert!(!without_row.exists() && !left.exists() && !path_of(&again, &cut).exists());
    assert!(new.exists(), "it may be in the making");
    let kept = again.keep(filling, Origin::default(), ResultKind::Text, None).await.unwrap();
    assert_eq!(content(&again, "a", &kept.handle).await.unwrap(), b"");
    // And what is lost can be put again.
    let again_there = put(&again, "a", "[2]").await;
    assert_eq!(again_there.handle, without_file.handle);
    assert!(is_there(&again, "a", &without_file).await);
}

#[tokio::test]
async fn a_damaged_file_of_the_same_length_is_not_served_and_the_value_can_be_put_again() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let (read, put_again, whole) =
        (put(&results, "a", "[1]").await, put(&results, "a", "[2]").await, put(&results, "a", "[3]").await);
    for damaged in [&read, &put_again] {
        fs::write(path_of(&results, damaged), "[0]").unwrap();
    }
    let error = results.open_file(&of("a"), &read.handle).await.unwrap_err();
    assert!(matches!(&error, ResultsError::Damaged { handle } if *handle == read.handle), "{error}");
    assert!(error.to_string().contains("was damaged"), "{error}");
    assert!(!is_there(&results, "a", &read).await && !path_of(&results, &read).exists());
    assert_eq!(put(&results, "a", "[2]").await.handle, put_again.handle);
    for (stored, text) in [(&put_again, b"[2]"), (&whole, b"[3]")] {
        // The second time it is known to be whole.
        for _ in 0..2 {
            assert_eq!(content(&results, "a", &stored.handle).await.unwrap(), text);
        }
    }
}

#[tokio::test]
async fn a_folder_in_the_place_of_a_result_goes_and_the_value_can_be_put_again() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let (swept, put_again) = (put(&results, "a", "[1]").await, put(&results, "a", "[2]").await);
    for stored in [&swept, &put_again] {
        fs::remove_file(path_of(&results, stored)).unwrap();
        fs::create_dir(path_of(&results, stored)).unwrap();
        fs::write(path_of(&results, stored).join("inside"), "x").unwrap();
    }
    assert_eq!(put(&results, "a", "[2]").await.handle, put_again.handle);
    assert_eq!(content(&results, "a", &put_again.handle).await.unwrap(), b"[2]");
    let again = open(folder.path()).await;
    assert!(!path_of(&again, &swept).exists() && !is_there(&again, "a", &swept).await);
    assert!(is_there(&again, "a", &put_again).await);
}

#[tokio::test]
async fn what_was_used_longest_ago_makes_room() {
    let folder = TestFolder::new("results");
    let results = small(folder.path(), 1_000).await;
    let (a, b, c) = (
        put(&results, "a", &sized('a', 300)).await,
        put(&results, "a", &sized('b', 300)).await,
        put(&results, "a", &sized('c', 300)).await,
    );
    age(folder.path(), &results, &a, 3 * DAY, 3 * DAY);
    age(folder.path(), &results, &b, 2 * DAY, 2 * DAY);
    age(folder.path(), &results, &c, 4 * DAY, DAY);
    // Reading is using, by us or by a program.
    content(&results, "a", &a.handle).await.unwrap();
    let d = put(&results, "a", &sized('d', 300)).await;
    assert!(!is_there(&results, "a", &b).await && !path_of(&results, &b).exists());
    for kept in [&a, &c, &d] {
        assert!(is_there(&results, "a", kept).await);
    }
    let bytes = vec![b' '; 1_001];
    let refused = results.put(&of("a"), Origin::default(), ResultKind::Text, None, bytes).await;
    assert!(matches!(refused, Err(ResultsError::TooLarge { bytes: 1_001, bytes_max: 1_000 })), "{refused:?}");
    assert_eq!(results.list(None, 10).await.unwrap().len(), 3);
}

#[tokio::test]
async fn what_one_execution_leaves_makes_no_room_for_more_of_it() {
    let folder = TestFolder::new("results");
    let results = small(folder.path(), 1_000).await;
    let (older, others) =
        (put(&results, "a", &sized('o', 100)).await, put(&results, "b", &sized('p', 100)).await);
    let left = async |letter: char, execution: &str| {
        let origin = Origin { session: None, execution: Some(execution.to_owned()), ..Origin::default() };
        let bytes = sized(letter, 400).into_bytes();
        results.put(&of("a"), origin, ResultKind::Json, None, bytes).await
    };
    let (first, second) = (left('a', "e").await.unwrap(), left('b', "e").await.unwrap());
    let refused = left('c', "e").await.unwrap_err();
    assert!(matches!(refused, ResultsError::Full { bytes_max: 1_000 }), "{refused}");
    for kept in [&first, &second, &older] {
        assert!(is_there(&results, "a", kept).await, "nothing went for what was not kept");
    }
    assert!(is_there(&results, "b", &others).await);
    assert_eq!(fs::read_dir(results.folder_of(&of("a")).unwrap()).unwrap().count(), 3);
    let third = left('c', "another").await.unwrap();
    assert!(is_there(&results, "a", &third).await);
    assert_ne!(is_there(&results, "a", &first).await, is_there(&results, "a", &second).await);
}

#[tokio::test]
async fn whoever_has_most_makes_room_first() {
    let folder = TestFolder::new("results");
    let results = small(folder.path(), 1_000).await;
    let theirs = put(&results, "a", &sized('x', 300)).await;
    age(folder.path(), &results, &theirs, DAY, DAY);
    let first = put(&results, "flood", &sized('a', 400)).await;
    put(&results, "flood", &sized('b', 400)).await;
    assert!(is_there(&results, "a", &theirs).await && !is_there(&results, "flood", &first).await);
}

#[tokio::test]
async fn what_nobody_has_used_for_long_goes_and_what_a_program_has_read_stays() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let (gone, read) = (put(&results, "a", "[1]").await, put(&results, "a", "[2]").await);
    age(folder.path(), &results, &gone, 8 * DAY, 8 * DAY);
    age(folder.path(), &results, &read, 8 * DAY, DAY);
    assert_eq!(results.sweep().await.unwrap(), 1);
    assert!(!is_there(&results, "a", &gone).await && !path_of(&results, &gone).exists());
    assert!(is_there(&results, "a", &read).await);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_an_error_and_what_is_there_can_be_read() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let stored = put(&results, "a", "[1]").await;
    let incoming = folder.path().join("results/incoming");
    fs::remove_dir(&incoming).unwrap();
    fs::write(&incoming, "").unwrap();
    let refused = results.put(&of("a"), Origin::default(), ResultKind::Text, None, b"x".to_vec()).await;
    let refused = refused.unwrap_err();
    assert!(matches!(refused, ResultsError::Folder { .. }), "{refused}");
    assert!(refused.to_string().contains("GRISTMILL_DATA_DIR"), "{refused}");
    assert_eq!(content(&results, "a", &stored.handle).await.unwrap(), b"[1]");
    let store = Store::open(folder.path()).unwrap();
    assert!(Results::open(store, folder.path().join("results"), ResultSettings::default()).await.is_err());
}

#[tokio::test]
async fn a_part_is_read_within_its_budget() {
    let folder = TestFolder::new("results");
    let results = open(folder.path()).await;
    let rows: Vec<_> =
        (0..10_000).map(|at| serde_json::json!({"name": format!("row {at}"), "at": at})).collect();
    let stored = put(&results, "a", &serde_json::json!({"rows": rows, "count": 10_000}).to_string()).await;
    let read = |path: &'static str, offset, limit, tokens_max| {
        let (results, handle) = (results.clone(), stored.handle.clone());
        let slice = Slice { offset, limit };
        async move { results.read(&of("a"), &handle, path, slice, (Strategy::Auto, tokens_max), None).await }
    };
    let part = read("rows", 9_998, Some(5), 500).await.unwrap();
    let expected = serde_json::json!([{"name": "row 9998", "at": 9998}, {"name": "row 9999", "at": 9999}]);
    assert_eq!((&part.shaped.value, part.total, part.next_offset()), (&expected, 10_000, None));
    assert_eq!(part.range_text().as_deref(), Some("items 9,998 to 9,999 of 10,000"));
    let part = read("rows", 0, Some(100), 200).await.unwrap();
    assert!(part.shaped.tokens <= 200 && !part.shaped.is_whole, "{}", part.shaped.text);
    assert_eq!(part.range_text().as_deref(), Some("items 0 to 99 of 10,000; continue with offset 100"));
    assert_eq!(read("rows[7].name", 0, None, 100).await.unwrap().shaped.text, "row 7");
    assert_eq!(read("count", 0, None, 100).await.unwrap().shaped.text, "10000");
    assert!(read("", 0, None, 300).await.unwrap().shaped.tokens <= 300);
    let missing = read("row", 0, None, 100).await.unwrap_err();
    assert_eq!(missing.to_string(), "the result has no `row`; did you mean `rows`?");
    let unknown =
        results.read(&of("b"), &stored.handle, "", Slice::default(), (Strategy::Auto, 100), None).await;
    let unknown = unknown.unwrap_err();
    assert_eq!(unknown.to_string(), format!("no result `{}`", stored.handle));
    assert!(unknown.hint().unwrap().starts_with("results expire 7 d after their last use"));
}

fn private() -> Seen {
    Seen { private: Some("crm".to_owned()), ..Seen::default() }
}

#[tokio::test]
async fn a_program_that_reads_a_marked_result_has_read_that_data_and_others_have_not() {
    let folder = TestFolder::new("results");
    let ledger = MarkLedger::new(None);
    let results = open(folder.path()).await.with_marks(ledger.clone());
    let marked = Origin { seen: private(), ..Origin::default() };
    let stored = results.put(&of("a"), marked, ResultKind::Json, None, b"[\"deal\"]".to_vec()).await.unwrap();
    let plain = put(&results, "a", "[1]").await;
    let begin = || {
        let id = ExecutionId::new().unwrap();
        let reading = results.follow_reads(&id, &of("a")).unwrap();
        (Caller::of(of("a")).in_execution(id, None), reading)
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    for _ in 0..2 {
        let (caller, _reading) = begin();
        fs::read(path_of(&results, &plain)).unwrap();
        assert_eq!(ledger.seen(&caller).await, Seen::default(), "it lies there");
        fs::read(path_of(&results, &stored)).unwrap();
        assert_eq!(ledger.seen(&caller).await, private(), "every read is noticed, not only the first");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (caller, _reading) = begin();
    assert_eq!(ledger.seen(&caller).await, Seen::default(), "the next one has not read it");
}

#[tokio::test]
async fn a_value_that_came_from_marked_data_once_stays_marked() {
    let folder = TestFolder::new("results");
    let ledger = MarkLedger::new(None);
    let results = open(folder.path()).await.with_marks(ledger.clone());
    let first = put(&results, "a", "[1]").await;
    assert!(first.seen.is_empty());
    let marked = Origin { seen: private(), ..Origin::default() };
    let again = results.put(&of("a"), marked, ResultKind::Json, None, b"[1]".to_vec()).await.unwrap();
    assert_eq!((&again.handle, again.seen), (&first.handle, private()));
    let later = put(&results, "a", "[1]").await;
    assert_eq!(later.seen, private());
    let reader = Caller::of(of("a"));
    results.note_read(&reader, &later).await;
    assert_eq!(ledger.seen(&reader).await, private());
}

#[tokio::test]
async fn where_reads_are_not_noted_every_marked_result_counts_as_read() {
    let folder = TestFolder::new("results");
    let ledger = MarkLedger::new(None);
    let results = open(folder.path()).await.with_marks(ledger.clone());
    results.inner.reads_are_noted.set(false).unwrap();
    let id = ExecutionId::new().unwrap();
    let caller = Caller::of(of("a")).in_execution(id.clone(), None);
    let _reading = results.follow_reads(&id, &of("a")).unwrap();
    assert_eq!(ledger.seen(&caller).await, Seen::default());
    let marked = Origin { seen: private(), ..Origin::default() };
    results.put(&of("a"), marked, ResultKind::Json, None, b"[2]".to_vec()).await.unwrap();
    assert_eq!(ledger.seen(&caller).await, private());
}
