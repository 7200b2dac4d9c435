use std::path::Path;
use std::time::{Duration, SystemTime};

use gristmill_checks::Guardrails;
use gristmill_domain::{Code, Level};
use gristmill_protocol::EngineId;
use gristmill_testkit::TestFolder;
use rusqlite::Connection;
use serde_json::Value;

use super::*;
use crate::Clock;
use crate::ids::{Caller, ExecutionId};
use crate::ports::{CallEnd, CallFacts, RequestKind, Writes};
use crate::report::{LimitHit, Report};
use crate::store::AuditBatch;
use crate::store::FILE_NAME;

const SECRET: &str = "canary-4111-secret";

struct World {
    folder: TestFolder,
}

impl World {
    fn new() -> Self {
        Self { folder: TestFolder::new("audit") }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn audit(&self) -> Audit {
        self.audit_with(AuditSettings::default())
    }

    fn audit_with(&self, settings: AuditSettings) -> Audit {
        Audit::open(&Store::open(self.path()).unwrap(), settings).unwrap()
    }

    /// So many events, signed.
    async fn with_events(count: usize) -> Self {
        let world = Self::new();
        let audit = world.audit();
        for number in 0..count {
            audit.note_now(AuditEvent::login(&format!("server{number}")));
        }
        audit.sign().await.unwrap();
        world
    }

    /// Does something to the file that no gristmill does.
    fn tamper(&self, sql: &str) {
        let connection = Connection::open(self.path().join(FILE_NAME)).unwrap();
        connection.execute_batch("DROP TRIGGER IF EXISTS audit_events_stay").unwrap();
        connection.execute_batch(sql).unwrap();
    }

    async fn faults(&self) -> Vec<(u64, String)> {
        let found = self.audit().verify().await.unwrap();
        found.faults.into_iter().map(|fault| (fault.number, fault.what)).collect()
    }

    async fn events(&self) -> Vec<Value> {
        let records = self.audit().after(0, LISTED_MAX).await.unwrap();
        records.iter().map(|record| serde_json::from_str(&record.text).unwrap()).collect()
    }

    async fn kinds(&self) -> Vec<String> {
        self.events().await.iter().map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
    }
}

fn call(caller: &Caller, audit: &Audit) -> CallFacts {
    CallFacts {
        caller: caller.clone(),
        line: None,
        kind: RequestKind::CallTool,
        server: Some("crm".to_owned()),
        name: "update_record".to_owned(),
        request_bytes: 7,
        restored: Vec::new(),
        arguments: CallObserver::arguments(audit, &format!("{{\"card\":\"{SECRET}\"}}")),
        decision: None,
        answer_bytes: 9,
        answer_shape: 0,
        took: Duration::from_micros(1_500),
        web: None,
        end: CallEnd::Answered,
    }
}

fn report(code: Option<Code>) -> Report {
    let mut report =
        Report::refused(code.unwrap_or(Code::Exception), SECRET.to_owned(), None, Duration::ZERO);
    if code.is_none() {
        (report.success, report.error) = (true, None);
    }
    report
}

/// The database and the files beside it, as bytes.
fn everything(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap().flatten().filter(|entry| entry.path().is_file());
    files.flat_map(|entry| std::fs::read(entry.path()).unwrap()).collect()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn a_chain_that_nobody_touched_is_whole() {
    let world = World::with_events(10).await;
    let audit = world.audit();
    let found = audit.verify().await.unwrap();
    assert_eq!((found.events, found.first, found.last, found.unsigned), (10, 1, 10, 0));
    assert_eq!((found.checkpoints, found.faults.as_slice()), (1, [].as_slice()));
    audit.note_now(AuditEvent::logout("one-more"));
    audit.inner.store.append_audit(Arc::clone(&audit.inner.waiting) as Arc<_>).await.unwrap();
    let found = audit.verify().await.unwrap();
    assert_eq!((found.last, found.unsigned, found.is_whole()), (11, 1, true));
}

#[tokio::test]
async fn an_event_that_was_edited_is_found() {
    let world = World::with_events(10).await;
    world.tamper("UPDATE audit_events SET event = replace(event, 'server4', 'server9') WHERE number = 5");
    let faults = world.faults().await;
    assert!(matches!(faults.as_slice(), [(5, what)] if what.contains("was changed")), "{faults:?}");
    let found = world.audit().verify().await.unwrap();
    assert!(found.faults[0].at.as_ref().is_some_and(|at| at.ends_with('Z')), "{found:?}");
}

#[tokio::test]
async fn an_event_that_was_deleted_is_found() {
    let world = World::with_events(10).await;
    world.tamper("DELETE FROM audit_events WHERE number IN (4, 5)");
    let faults = world.faults().await;
    assert!(
        matches!(faults.as_slice(), [(6, what)] if what.contains("events 4 to 5 are missing")),
        "{faults:?}"
    );
    // Closing the gap does not hide it.
    world.tamper("UPDATE audit_events SET number = number - 2 WHERE number > 5");
    let faults = world.faults().await;
    assert!(faults.iter().any(|(number, _)| *number == 4), "{faults:?}");
}

#[tokio::test]
async fn events_that_changed_places_are_found() {
    let world = World::with_events(10).await;
    world.tamper(
        "UPDATE audit_events SET number = -1 WHERE number = 3; \
         UPDATE audit_events SET number = 3 WHERE number = 7; \
         UPDATE audit_events SET number = 7 WHERE number = -1;",
    );
    let faults = world.faults().await;
    assert_eq!(faults.first().map(|(number, _)| *number), Some(3), "{faults:?}");
}

#[tokio::test]
async fn a_chain_that_was_cut_at_its_end_is_found() {
    let world = World::with_events(10).await;
    world.tamper("DELETE FROM audit_events WHERE number > 7");
    let faults = world.faults().await;
    assert!(
        matches!(faults.as_slice(), [(7, what)] if what.contains("events 8 to 10 are missing")),
        "{faults:?}"
    );
    // Without the checkpoints, the mark beside the key tells.
    world.tamper("DELETE FROM audit_checkpoints");
    let faults = world.faults().await;
    assert!(
        matches!(faults.as_slice(), [(7, what)] if what.contains("events 8 to 10 are missing")),
        "{faults:?}"
    );
    // What goes on afterwards does not hide it.
    let audit = world.audit();
    audit.note_now(AuditEvent::login("later"));
    audit.sign().await.unwrap();
    let faults = world.faults().await;
    assert!(faults.iter().any(|(_, what)| what.contains("no longer led to event 10")), "{faults:?}");
    // Nor does the mark's absence.
    std::fs::remove_file(world.path().join(MARK_FILE)).unwrap();
    assert!(world.faults().await.iter().any(|(_, what)| what.contains("audit.mark) is missing")));
    let audit = world.audit();
    audit.note_now(AuditEvent::login("much later"));
    audit.sign().await.unwrap();
    assert!(
        world.faults().await.iter().any(|(_, what)| what.contains("the mark beside the key was missing"))
    );
}

#[tokio::test]
async fn a_mark_that_was_left_behind_follows() {
    let world = World::with_events(3).await;
    let mark = world.path().join(MARK_FILE);
    let old = std::fs::read(&mark).unwrap();
    let audit = world.audit();
    audit.note_now(AuditEvent::login("later"));
    audit.sign().await.unwrap();
    let new = std::fs::read(&mark).unwrap();
    assert_ne!(old, new);
    // As a process leaves it that is killed before it could write it.
    std::fs::write(&mark, &old).unwrap();
    audit.sign().await.unwrap();
    assert_eq!(std::fs::read(&mark).unwrap(), new);
    assert_eq!(world.faults().await, []);
}

#[tokio::test]
async fn a_chain_that_was_written_anew_is_found() {
    let world = World::with_events(10).await;
    world.tamper("UPDATE audit_events SET event = replace(event, 'server4', 'server9') WHERE number = 5");
    // Whoever does this knows how hashes are made, but has no key.
    let connection = Connection::open(world.path().join(FILE_NAME)).unwrap();
    let mut previous = chain::BEGINNING;
    for number in 1..=10_u64 {
        let text: String = connection
            .query_row("SELECT event FROM audit_events WHERE number = ?1", [number as i64], |row| row.get(0))
            .unwrap();
        previous = chain::link(&previous, number, &text);
        connection
            .execute(
                "UPDATE audit_events SET hash = ?2 WHERE number = ?1",
                rusqlite::params![number as i64, previous],
            )
            .unwrap();
    }
    connection.execute("UPDATE audit_checkpoints SET hash = ?1", [previous]).unwrap();
    drop(connection);
    let faults = world.faults().await;
    assert!(faults.iter().any(|(number, what)| *number == 10 && what.contains("isn't signed with this key")));
    assert!(
        faults.iter().any(|(number, what)| *number == 10 && what.contains("isn't the one that the mark"))
    );
}

#[tokio::test]
async fn a_key_that_was_replaced_is_found() {
    let world = World::with_events(10).await;
    std::fs::remove_file(world.path().join(KEY_FILE)).unwrap();
    let faults = world.faults().await;
    assert!(
        faults.iter().any(|(number, what)| *number == 10 && what.contains("isn't signed with this key")),
        "{faults:?}"
    );
}

#[tokio::test]
async fn the_key_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with_events(1).await;
    for name in [KEY_FILE, MARK_FILE] {
        let mode = std::fs::metadata(world.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    let key = world.path().join(KEY_FILE);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = Audit::open(&Store::open(world.path()).unwrap(), AuditSettings::default()).err();
    assert!(refused.is_some_and(|error| error.to_string().contains("chmod 600")));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_gateways_that_append_at_once_make_one_chain() {
    let world = World::new();
    let append = |name: &'static str| {
        // Each with a connection of its own, as two processes have.
        let audit = world.audit();
        tokio::spawn(async move {
            for number in 0..100 {
                audit.note_now(AuditEvent::login(&format!("{name}{number}")));
                audit.settle().await.unwrap();
            }
            audit.sign().await.unwrap();
        })
    };
    let (one, other) = (append("one"), append("other"));
    one.await.unwrap();
    other.await.unwrap();
    let found = world.audit().verify().await.unwrap();
    assert_eq!((found.last, found.faults.as_slice()), (200, [].as_slice()));
}

#[tokio::test]
async fn the_node_that_a_program_ran_on_stands_in_its_final_event() {
    let world = World::new();
    let audit = world.audit();
    for node in [None, Some("node-a")] {
        let id = ExecutionId::new().unwrap();
        let caller = Caller::local().in_execution(id.clone(), None);
        let execution = audit.begin(&caller, &id, (EngineId::Python, "1"), Level::default(), &Writes::Sent);
        let ended = Report { node: node.map(str::to_owned), ..report(None) };
        execution.end(&ended, &Guardrails::default()).await.unwrap();
        let events = world.events().await;
        assert_eq!(events.last().unwrap().get("node").and_then(Value::as_str), node);
    }
}

#[tokio::test]
async fn an_execution_has_one_final_event_after_its_calls() {
    let world = World::new();
    let audit = world.audit();
    audit.serve().await.unwrap();
    let id = ExecutionId::new().unwrap();
    let caller = Caller::local().in_execution(id.clone(), None);
    let execution = audit.begin(&caller, &id, (EngineId::Python, "x = 1\n"), Level::default(), &Writes::Sent);
    audit.passed(&Arc::new(call(&caller, &audit)));
    let mut ended = report(Some(Code::WallTime));
    ended.limits_hit =
        vec![LimitHit { name: "wall_time", value: 1, message: "raise it with --wall-time".to_owned() }];
    execution.end(&ended, &Guardrails::default()).await.unwrap();
    assert_eq!(world.kinds().await, ["execution.begun", "call", "violation", "execution.ended"]);
    let events = world.events().await;
    assert_eq!(events[2]["detail"], "wall_time");
    assert_eq!(
        (&events[3]["outcome"], &events[3]["code"]),
        (&Value::from("failed"), &Value::from("GM-1201"))
    );
    let named = |event: &Value| event["execution"] == id.as_str();
    assert!(events.iter().all(named), "{events:?}");
    // Whoever thinks that this gateway is gone finds nothing to close.
    drop(audit);
    world.audit().serve().await.unwrap();
    assert_eq!(world.kinds().await.len(), 4);
    assert!(world.faults().await.is_empty());
}

#[tokio::test]
async fn whoever_is_in_a_hurry_gets_his_own_events_unless_some_go_another_way() {
    let world = World::new();
    let audit = world.audit();
    let waiting = &audit.inner.waiting;
    let [one, other] = [(); 2].map(|()| ExecutionId::new().unwrap());
    let note = |id: &ExecutionId| {
        let caller = Caller::local().in_execution(id.clone(), None);
        audit.inner.waiting.put(Noted::Call(Arc::new(call(&caller, &audit))));
    };
    let taken = |id: &ExecutionId| waiting.take_of(id.as_str()).map(|rows| rows.len());
    [&one, &other, &one].into_iter().for_each(&note);
    assert_eq!((taken(&one), taken(&one), waiting.count()), (Some(2), Some(0), 1));
    // On its way into the database: what comes after it goes the same way.
    let rows = waiting.take();
    note(&other);
    assert_eq!((rows.len(), taken(&other), taken(&one)), (1, None, Some(0)));
    waiting.is_settled();
    assert_eq!(taken(&other), Some(1));
    // Refused by the database, it waits as a text, of which nobody knows whose it is.
    waiting.put_back(rows);
    assert_eq!(taken(&other), None);
    assert_eq!(waiting.take().len(), 1);
    waiting.is_settled();
    (0..100).for_each(|_| note(&one));
    assert_eq!((taken(&one), waiting.count()), (None, 100));
}

#[tokio::test]
async fn what_was_found_in_a_program_is_there_by_rule_and_line_and_has_an_end() {
    let world = World::new();
    let audit = world.audit();
    let id = ExecutionId::new().unwrap();
    let caller = Caller::local().in_execution(id.clone(), None);
    let guardrails = Guardrails::default();
    let code = format!(
        "import requests\nx = '{SECRET}'.__class__.__subclasses__()\n{}",
        "import httpx\n".repeat(30)
    );
    let mut ended = report(Some(Code::Guardrail));
    ended.findings = gristmill_checks::check(&code, &gristmill_checks::NoTools, &guardrails).findings;
    assert!(ended.findings.len() > 20, "{:?}", ended.findings);
    audit
        .begin(&caller, &id, (EngineId::Python, &code), Level::Hardened, &Writes::Sent)
        .end(&ended, &guardrails)
        .await
        .unwrap();
    let events = world.events().await;
    let found: Vec<&Value> = events.iter().filter(|event| event["kind"] == "finding").collect();
    assert_eq!(found.len(), 20);
    let said = |event: &Value| {
        (event["rule"].clone(), event["severity"].clone(), event["line"].clone(), event["refused"].clone())
    };
    assert_eq!(said(found[0]), ("GC-101".into(), "high".into(), 2.into(), true.into()));
    assert_eq!(said(found[1]), ("GC-114".into(), "low".into(), 1.into(), false.into()));
    assert_eq!(events.last().unwrap()["kind"], "execution.ended");
    assert!(!holds(&everything(world.path()), SECRET));
    let report = audit.report(&AuditFilter::default()).await.unwrap();
    assert!(report.by_kind.iter().all(|kind| kind.name == "finding GC-101"), "{report:?}");
}

#[tokio::test]
async fn what_a_killed_gateway_left_open_is_closed_by_the_next() {
    let world = World::new();
    let audit = world.audit();
    audit.serve().await.unwrap();
    let id = ExecutionId::new().unwrap();
    let caller = Caller::local().in_execution(id.clone(), None);
    let execution = audit.begin(&caller, &id, (EngineId::Python, "x = 1\n"), Level::default(), &Writes::Sent);
    audit.settle().await.unwrap();
    // While it lives, nobody else closes what it has open.
    world.audit().serve().await.unwrap();
    assert_eq!(world.kinds().await, ["execution.begun"]);
    *audit.inner.alive.lock() = None;
    world.audit().serve().await.unwrap();
    let events = world.events().await;
    assert_eq!(world.kinds().await, ["execution.begun", "execution.ended"]);
    assert_eq!(
        (&events[1]["outcome"], &events[1]["execution"]),
        (&Value::from("lost"), &Value::from(id.as_str()))
    );
    assert_eq!(events[1]["caller"], "local");
    // One that turns out to be alive after all writes no second one.
    execution.end(&report(None), &Guardrails::default()).await.unwrap();
    assert_eq!(world.kinds().await.len(), 2);
    assert!(world.faults().await.is_empty());
}

#[tokio::test]
async fn neither_arguments_nor_code_nor_words_of_errors_are_in_the_file() {
    let world = World::new();
    let audit = world.audit();
    let id = ExecutionId::new().unwrap();
    let caller = Caller::local().in_execution(id.clone(), None);
    let execution = audit.begin(
        &caller,
        &id,
        (EngineId::Python, &format!("card = '{SECRET}'")),
        Level::default(),
        &Writes::Sent,
    );
    audit.passed(&Arc::new(call(&caller, &audit)));
    let unknown = CallFacts { server: None, name: SECRET.to_owned(), ..call(&caller, &audit) };
    audit.passed(&Arc::new(unknown.clone()));
    let uri = CallFacts { kind: RequestKind::ReadResource, name: format!("mail://{SECRET}"), ..unknown };
    audit.passed(&Arc::new(CallFacts { server: Some("mail".to_owned()), ..uri }));
    execution.end(&report(Some(Code::Exception)), &Guardrails::default()).await.unwrap();
    audit.sign().await.unwrap();
    assert_eq!(world.kinds().await.len(), 5);
    assert!(!holds(&everything(world.path()), SECRET));
    let events = world.events().await;
    // The same arguments have the same digest, which is not one that anybody could make.
    let digest = events[1]["arguments_digest"].as_str().unwrap();
    assert_eq!((digest.len(), &events[2]["arguments_digest"]), (32, &events[1]["arguments_digest"]));
    let plain = blake3::hash(format!("{{\"card\":\"{SECRET}\"}}").as_bytes()).to_hex().to_string();
    assert!(!plain.starts_with(digest));
    assert_eq!((events[1]["tool"].as_str(), events[2]["tool"].as_str()), (Some("update_record"), None));
}

#[tokio::test]
async fn a_call_is_made_into_an_event_later_unless_its_name_is_long() {
    let world = World::new();
    let audit = world.audit();
    let caller = Caller::local().in_execution(ExecutionId::new().unwrap(), None);
    let short = Arc::new(call(&caller, &audit));
    audit.passed(&short);
    assert_eq!(Arc::strong_count(&short), 2, "it waits as it is");
    let long = Arc::new(CallFacts { name: "n".repeat(1 << 20), ..call(&caller, &audit) });
    audit.passed(&long);
    assert_eq!(Arc::strong_count(&long), 1, "many of these would fill the memory");
    audit.settle().await.unwrap();
    assert_eq!(Arc::strong_count(&short), 1);
    let events = world.events().await;
    let named: Vec<usize> = events.iter().map(|event| event["tool"].as_str().unwrap().len()).collect();
    assert_eq!(named, [13, 203]);
}

#[tokio::test]
async fn arguments_are_in_the_file_where_that_is_wanted_and_within_a_bound() {
    let world = World::new();
    let audit = world.audit_with(AuditSettings { arguments: true, ..AuditSettings::default() });
    audit.passed(&Arc::new(call(&Caller::local(), &audit)));
    let long = CallObserver::arguments(&audit, &"x".repeat(100_000));
    audit.passed(&Arc::new(CallFacts { arguments: long, ..call(&Caller::local(), &audit) }));
    audit.settle().await.unwrap();
    let events = world.events().await;
    assert_eq!(events[0]["arguments"], format!("{{\"card\":\"{SECRET}\"}}"));
    assert_eq!(events[1]["arguments"].as_str().map(|text| text.chars().count()), Some((4 << 10) + 1));
}

#[tokio::test]
async fn what_is_too_old_goes_and_the_rest_can_still_be_proven() {
    let world = World::new();
    let clock = Clock::held_at(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
    let store = Store::open(world.path()).unwrap().with_clock(clock.clone());
    let settings = AuditSettings { keep: Duration::from_secs(3_600), ..AuditSettings::default() };
    let audit = Audit::open(&store, settings).unwrap();
    for hour in 0..4 {
        for number in 0..5 {
            audit.note_now(AuditEvent::login(&format!("hour{hour}-{number}")));
        }
        audit.sign().await.unwrap();
        clock.advance(Duration::from_secs(1_800));
    }
    assert_eq!(audit.sweep().await.unwrap(), 10);
    audit.sign().await.unwrap();
    let found = audit.verify().await.unwrap();
    assert_eq!((found.first, found.last, found.faults.as_slice()), (11, 21, [].as_slice()));
    assert_eq!(world.events().await.last().map(|event| event["what"].clone()), Some("retention".into()));
    assert_eq!(audit.sweep().await.unwrap(), 0);
    // All of it may be too old: what comes then is linked to what was signed.
    clock.advance(Duration::from_secs(100_000));
    assert!(audit.sweep().await.unwrap() > 0);
    audit.note_now(AuditEvent::login("after"));
    audit.sign().await.unwrap();
    assert_eq!(audit.verify().await.unwrap().faults, []);
    // Nobody without the key can cut it so.
    world.tamper("DELETE FROM audit_events WHERE number <= 22");
    assert!(!world.faults().await.is_empty());
}

#[tokio::test]
async fn what_is_too_much_goes_the_oldest_first() {
    let world = World::new();
    let audit = world.audit_with(AuditSettings { bytes_max: 2_000, ..AuditSettings::default() });
    for number in 0..40 {
        audit.note_now(AuditEvent::login(&format!("server{number}")));
        audit.sign().await.unwrap();
    }
    let beyond = audit.inner.store.audit_beyond(2_000, 1_000).await.unwrap();
    assert!(beyond.is_some_and(|number| number > 10), "{beyond:?}");
    for at_once in [1, 3, 7] {
        assert_eq!(audit.inner.store.audit_beyond(2_000, at_once).await.unwrap(), beyond);
    }
    assert_eq!(audit.inner.store.audit_beyond(1_000_000, 7).await.unwrap(), None);
    assert!(audit.sweep().await.unwrap() > 10);
    let found = audit.verify().await.unwrap();
    assert_eq!(found.faults, []);
    assert!(found.events > 5 && found.last == 41, "{found:?}");
}

#[tokio::test]
async fn bad_tokens_are_noted_until_there_are_many() {
    let world = World::new();
    let audit = world.audit();
    for _ in 0..1_000 {
        AuditLog::note(&audit, AuditEvent::token_refused("unknown", None));
    }
    audit.settle().await.unwrap();
    assert_eq!(world.kinds().await.len(), 30);
}

#[tokio::test]
async fn events_are_found_by_what_they_say() {
    let world = World::new();
    let audit = world.audit();
    audit.passed(&Arc::new(call(&Caller::local(), &audit)));
    audit.note_now(AuditEvent::login("crm"));
    audit.note_now(AuditEvent::login("mail"));
    audit.settle().await.unwrap();
    let found = async |filter: AuditFilter| {
        let records = audit.find(&filter, 10).await.unwrap();
        records.iter().map(|record| record.number).collect::<Vec<u64>>()
    };
    let server = |name: &str| AuditFilter { server: Some(name.to_owned()), ..AuditFilter::default() };
    assert_eq!(found(AuditFilter::default()).await, [3, 2, 1]);
    assert_eq!(found(server("crm")).await, [2, 1]);
    assert_eq!(found(AuditFilter { kinds: vec!["login"], ..server("crm") }).await, [2]);
    let caller = AuditFilter { caller: Some("local".to_owned()), ..AuditFilter::default() };
    assert_eq!(found(caller).await, [1]);
    let tool = AuditFilter { tool: Some("update_record".to_owned()), ..AuditFilter::default() };
    assert_eq!(found(tool).await, [1]);
    let later = AuditFilter { since: Some("2999-01-01T00:00:00.000Z".to_owned()), ..AuditFilter::default() };
    assert!(found(later).await.is_empty());
}

#[tokio::test]
async fn violations_are_counted_by_kind_caller_and_place() {
    let world = World::new();
    let audit = world.audit();
    let id = ExecutionId::new().unwrap();
    let caller = Caller::local().in_execution(id.clone(), None);
    for _ in 0..2 {
        audit.note_now(AuditEvent::violation(&caller, "limit", "memory", Some(7)));
    }
    let held_back = CallEnd::Failed { code: Code::ToolHeldBack, was_sent: false };
    audit.passed(&Arc::new(CallFacts { end: held_back, line: Some(4), ..call(&caller, &audit) }));
    // Nobody tried what may not be done: the server is not there, or the program is wrong.
    for code in [Code::ServerDown, Code::LoginNeeded, Code::UnknownTool, Code::BadCall] {
        let end = CallEnd::Failed { code, was_sent: false };
        audit.passed(&Arc::new(CallFacts { end, ..call(&caller, &audit) }));
    }
    audit.note_now(AuditEvent::login("crm"));
    audit.settle().await.unwrap();
    let report = audit.report(&AuditFilter::default()).await.unwrap();
    let count = |name: &str, count| Count { name: name.to_owned(), count };
    assert_eq!((report.violations, report.calls), (3, 5));
    assert_eq!(report.by_kind, [count("limit memory", 2), count("call GM-3005", 1)]);
    assert_eq!(
        (report.by_caller, report.by_tool),
        (vec![count("local", 3)], vec![count("crm.update_record", 1)])
    );
    assert_eq!((report.places[0].line, report.places[1].line), (Some(4), Some(7)));
    assert_eq!(report.places[1].execution.as_deref(), Some(id.as_str()));
}
