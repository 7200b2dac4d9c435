use std::sync::atomic::{AtomicBool, Ordering};

use gristmill_testkit::TestFolder;

use super::super::{
    FILE_NAME, Found, KeptText, RecordedCall, RecordedError, RecordedOutcome, RecordedStage, RowEffect,
    Store, database,
};
use super::*;
use crate::report::TokenAccount;
use crate::store::audit_rows::AuditBatch;
use crate::store::behind::{Behind, write_with};

fn begun(id: &str) -> Arc<BegunRow> {
    Arc::new(BegunRow {
        id: id.to_owned(),
        gateway: "killed".to_owned(),
        owner: "local".to_owned(),
        session: String::new(),
        language: "python".into(),
        level: "production".into(),
        program: "hash".to_owned(),
        code: Some("print('ä')\n".to_owned()),
        context: None,
        context_bytes: 0,
        started_ms: 1_700_000_000_000,
        trace_id: Some("trace".to_owned()),
        weight: 700,
    })
}

fn ended(id: &str) -> Arc<EndedRow> {
    let call = RecordedCall {
        name: "crm.find".to_owned(),
        line: Some(3),
        ok: true,
        sent: true,
        time_ms: 1.25,
        began_ms: Some(0.5),
        argument_bytes: 2,
        argument_tokens: 1,
        answer_bytes: 4,
        answer_tokens: 2,
        error: None,
    };
    let error = RecordedError {
        code: "GM-1001".to_owned(),
        line: Some(7),
        message: Some("no".to_owned()),
        hint: None,
        traceback: None,
    };
    let text = |text: &str| KeptText { text: Some(text.to_owned()), bytes: text.len() as u64 };
    Arc::new(EndedRow {
        begun: begun(id),
        session: String::new(),
        outcome: RecordedOutcome::Failed,
        duration_ms: 2.5,
        cpu_ms: 0.1,
        memory_peak_bytes: 9,
        calls: 1,
        calls_failed: 0,
        tokens: TokenAccount {
            program: 5,
            returned: 6,
            own_definition: Some(0),
            inside: 3,
            definitions: Some(4),
            looked_up: Some(1),
            estimated: true,
        },
        weight: 900,
        limits_hit: String::new(),
        findings: "GC-101:2".to_owned(),
        error: Some(error),
        notes: None,
        stdout: text("out"),
        stderr: text(""),
        result: None,
        tools_called: vec![call],
        stages: vec![RecordedStage { name: "run".to_owned(), began_ms: 0.0, time_ms: 1.0 }],
    })
}

fn event(text: &str, effect: RowEffect) -> AuditRow {
    AuditRow { text: format!("{{\"at\":\"2026-01-01\",\"kind\":\"{text}\"}}"), effect }
}

fn beginning(id: &str) -> Entry {
    let effect = RowEffect::Opens { execution: id.to_owned(), gateway: "killed".to_owned() };
    Entry { fact: Fact::Begun(begun(id)), audit: vec![event("execution.begun", effect)] }
}

fn end(id: &str) -> Entry {
    let effect = RowEffect::Closes { execution: id.to_owned() };
    Entry {
        fact: Fact::Ended(ended(id)),
        audit: vec![event("call", RowEffect::None), event("execution.ended", effect)],
    }
}

fn added(journal: &Journal, entries: impl IntoIterator<Item = Entry>) {
    for entry in entries {
        assert!(journal.add(entry).is_ok());
    }
}

/// As a process that is killed leaves it: the files, and no lock.
fn killed(journal: Journal) {
    drop(journal);
}

fn files(folder: &Path) -> Vec<u64> {
    let mut files: Vec<_> = fs::read_dir(folder.join(FOLDER)).unwrap().flatten().collect();
    files.retain(|file| file.file_name() != LOCK_NAME);
    files.sort_by_key(fs::DirEntry::path);
    files.iter().map(|file| file.metadata().unwrap().len()).collect()
}

async fn found(store: &Store, id: &str) -> Option<RecordedOutcome> {
    match store.find_execution(id.to_owned(), None).await.unwrap() {
        Found::One(record) => Some(record.summary.outcome),
        Found::Nothing | Found::Several(_) => None,
    }
}

fn kinds(folder: &Path) -> Vec<String> {
    let connection = Connection::open(folder.join(FILE_NAME)).unwrap();
    let mut query = connection.prepare("SELECT event ->> 'kind' FROM audit_events ORDER BY number").unwrap();
    query.query_map((), |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn what_a_killed_process_wrote_down_is_there_for_whoever_comes_next() {
    let folder = TestFolder::new("journal");
    Store::open(folder.path()).unwrap().close().await;
    let journal = Journal::begin(folder.path()).unwrap();
    added(&journal, [beginning("one"), end("one"), beginning("two")]);
    // Somebody else comes while it is there: nothing of it is touched.
    let other = Store::open(folder.path()).unwrap();
    assert_eq!(found(&other, "one").await, None);
    killed(journal);
    other.write_left().await.unwrap();
    assert_eq!(found(&other, "one").await, Some(RecordedOutcome::Failed));
    assert_eq!(found(&other, "two").await, Some(RecordedOutcome::Running));
    let Found::One(record) = other.find_execution("one".to_owned(), None).await.unwrap() else { panic!() };
    let wanted = ended("one");
    assert_eq!(
        (
            record.tools_called,
            record.stages,
            record.error,
            record.stdout,
            record.summary.tokens,
            record.trace_id
        ),
        (
            wanted.tools_called.clone(),
            wanted.stages.clone(),
            wanted.error.clone(),
            wanted.stdout.clone(),
            wanted.tokens,
            wanted.begun.trace_id.clone()
        )
    );
    assert_eq!((record.language, record.level), ("python".to_owned(), "production".to_owned()));
    assert_eq!(kinds(folder.path()), ["execution.begun", "execution.begun", "call", "execution.ended"]);
    assert!(files(folder.path()).is_empty());
}

#[tokio::test]
async fn to_write_it_twice_changes_nothing() {
    let folder = TestFolder::new("journal_twice");
    let mut connection = database::open(folder.path()).unwrap();
    let journal = Journal::begin(folder.path()).unwrap();
    added(&journal, [beginning("one"), end("one")]);
    // Killed after the transaction, and before the file was emptied.
    write(&mut connection, &[beginning("one"), end("one")]).unwrap();
    killed(journal);
    write_left(&mut connection, folder.path()).unwrap();
    assert_eq!(kinds(folder.path()), ["execution.begun", "call", "execution.ended"]);
    let calls: i64 =
        connection.query_row("SELECT count(*) FROM execution_calls", (), |row| row.get(0)).unwrap();
    assert_eq!(calls, 1);
}

#[test]
fn files_take_turns_and_are_emptied_once_the_database_has_their_entries() {
    let folder = TestFolder::new("journal_turns");
    let mut connection = database::open(folder.path()).unwrap();
    let journal = Journal::begin(folder.path()).unwrap();
    added(&journal, [beginning("one"), end("one")]);
    let taken = journal.take();
    added(&journal, [beginning("two")]);
    assert!(files(folder.path()).iter().all(|bytes| *bytes > 0));
    write(&mut connection, &taken).unwrap();
    journal.is_written();
    assert_eq!(files(folder.path())[0], 0);
    // One that the database refuses stays, whichever file it is in, until it is written.
    let refused = journal.take();
    added(&journal, [end("two")]);
    journal.put_back(refused);
    assert!(files(folder.path()).iter().all(|bytes| *bytes > 0));
    assert!(journal.write_down(&mut connection).unwrap().is_some());
    added(&journal, [beginning("three"), end("three")]);
    journal.write_down(&mut connection).unwrap();
    assert_eq!(files(folder.path()).iter().sum::<u64>(), 0);
    assert_eq!(kinds(folder.path()).iter().filter(|kind| *kind == "execution.ended").count(), 3);
    journal.end();
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_cut_or_changed_end_of_a_file_hides_nothing_that_is_before_it() {
    let folder = TestFolder::new("journal_cut");
    let path = folder.path().join("x");
    let read = |path: &Path| super::read(path).0;
    let whole = [frame(&beginning("one")).unwrap(), frame(&end("one")).unwrap()].concat();
    let first = frame(&beginning("one")).unwrap().len();
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(read(&path).len(), usize::from(length >= first), "{length}");
    }
    let mut changed = whole.clone();
    changed[first + HASH_BYTES + LENGTH_BYTES + 5] ^= 1;
    fs::write(&path, &changed).unwrap();
    assert_eq!(read(&path).len(), 1);
    // A length beyond everything, and one that a later version wrote.
    fs::write(&path, [&[0; HASH_BYTES][..], &[255; 40]].concat()).unwrap();
    assert!(read(&path).is_empty());
    fs::write(&path, &whole).unwrap();
    assert_eq!(read(&path).len(), 2);
}

#[test]
fn beyond_its_bound_it_takes_nothing_and_what_is_much_is_due_at_once() {
    let folder = TestFolder::new("journal_bound");
    let journal = Journal::begin(folder.path()).unwrap();
    let large = || Entry {
        fact: Fact::Begun(Arc::new(BegunRow {
            code: Some("x".repeat(MUCH_BYTES)),
            ..Arc::into_inner(begun("large")).unwrap()
        })),
        audit: vec![],
    };
    assert_eq!(journal.add(beginning("one")).ok(), Some(false));
    assert_eq!((journal.add(large()).ok(), journal.add(large()).ok()), (Some(true), Some(false)));
    let taken = (0..).take_while(|_| journal.add(large()).is_ok()).count();
    assert!((10..BYTES_MAX / MUCH_BYTES).contains(&taken), "{taken}");
    assert!(journal.add(beginning("small")).is_ok());
}

/// One that has the end of an execution to write, which begins at the very moment at which that is taken.
struct Hasty {
    behind: Arc<Behind>,
    is_settled: AtomicBool,
}

impl AuditBatch for Hasty {
    fn is_empty(&self) -> bool {
        false
    }

    fn take(&self) -> Vec<AuditRow> {
        assert!(self.behind.journal().unwrap().add(beginning("one")).is_ok());
        end("one").audit
    }

    fn take_of(&self, _: &str) -> Option<Vec<AuditRow>> {
        None
    }

    fn is_settled(&self) {
        self.is_settled.store(true, Ordering::Relaxed);
    }

    fn put_back(&self, _: Vec<AuditRow>) {
        panic!("nothing fails");
    }

    fn written(&self, _: &AuditHead) {}
}

#[test]
fn the_end_of_what_the_journal_has_just_heard_of_comes_after_its_beginning() {
    let folder = TestFolder::new("journal_hasty");
    let mut connection = database::open(folder.path()).unwrap();
    let behind = Arc::new(Behind::new(Some(folder.path().to_owned())));
    let batch = Hasty { behind: Arc::clone(&behind), is_settled: AtomicBool::new(false) };
    write_with(&mut connection, &behind, &batch, |_| Ok(())).unwrap();
    assert!(batch.is_settled.load(Ordering::Relaxed));
    assert_eq!(kinds(folder.path()), ["execution.begun", "call", "execution.ended"]);
}

#[test]
fn once_it_has_ended_it_takes_nothing() {
    let folder = TestFolder::new("journal_ended");
    let journal = Journal::begin(folder.path()).unwrap();
    journal.end();
    assert!(journal.add(beginning("late")).is_err());
    assert!(files(folder.path()).is_empty());
}

#[test]
fn what_another_version_wrote_is_kept_and_what_is_no_journal_is_left_alone() {
    let folder = TestFolder::new("journal_unread");
    let mut connection = database::open(folder.path()).unwrap();
    let journal = Journal::begin(folder.path()).unwrap();
    let path = journal.state.lock().files[0].path.clone();
    added(&journal, [beginning("one")]);
    killed(journal);
    let mut bytes = fs::read(&path).unwrap();
    let strange = br#"{"fact":{"Paused":1},"audit":[]}"#;
    let mut hashed = u32::try_from(strange.len()).unwrap().to_le_bytes().to_vec();
    hashed.extend(strange);
    bytes.extend(&blake3::hash(&hashed).as_bytes()[..HASH_BYTES]);
    bytes.extend(hashed);
    fs::write(&path, &bytes).unwrap();
    let others = ["notes.a", "x.b"].map(|name| folder.path().join(FOLDER).join(name));
    others.iter().for_each(|other| fs::write(other, "mine").unwrap());
    write_left(&mut connection, folder.path()).unwrap();
    assert_eq!(kinds(folder.path()), ["execution.begun"]);
    assert_eq!(fs::read(unread_name(&path)).unwrap(), bytes);
    assert!(others.iter().all(|other| other.exists()) && !path.exists());
}

#[test]
fn one_that_the_database_refuses_holds_up_no_other() {
    let folder = TestFolder::new("journal_refused");
    let mut connection = database::open(folder.path()).unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON executions WHEN NEW.id = 'bad' \
                  BEGIN SELECT RAISE(ABORT, 'not this one'); END";
    connection.execute_batch(refuse).unwrap();
    let journal = Journal::begin(folder.path()).unwrap();
    added(&journal, [beginning("one"), beginning("bad"), end("bad"), end("one")]);
    assert!(journal.write_down(&mut connection).unwrap().is_some());
    assert_eq!(kinds(folder.path()), ["execution.begun", "call", "execution.ended"]);
    assert!(journal.is_empty() && files(folder.path()).iter().sum::<u64>() == 0);
}
