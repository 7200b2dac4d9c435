use std::path::Path;
use std::time::Instant;

use gristmill_domain::{Code, LimitName, Limits};
use gristmill_testkit::TestFolder;
use serde_json::json;

use super::*;
use crate::ids::TraceContext;
use crate::ports::ToolFailure;
use crate::report::{CallTokens, LimitHit, Report, StageTime, Timing, ToolCalled};

fn settings() -> HistorySettings {
    HistorySettings::default()
}

async fn in_memory(settings: HistorySettings) -> History {
    History::open(Store::in_memory().unwrap(), settings).await.unwrap()
}

async fn in_folder(folder: &Path) -> History {
    History::open(Store::open(folder).unwrap(), settings()).await.unwrap()
}

fn owner(name: &str) -> Owner {
    Owner(name.to_owned())
}

fn ok(result: serde_json::Value) -> Report {
    let refused = Report::refused(Code::Exception, String::new(), None, Duration::from_millis(3));
    Report { success: true, error: None, result: Some(result), ..refused }
}

fn failed(code: Code) -> Report {
    Report::refused(code, "it went wrong".to_owned(), None, Duration::from_millis(7))
}

fn begin(history: &History, whose: &str, request: &mut ExecuteRequest) -> (ExecutionId, Recording) {
    let id = ExecutionId::new().unwrap();
    let beginning = history.about_to_run(&id, &owner(whose), request, Level::Production);
    (id, beginning.begin())
}

/// Records one execution and gives its name.
async fn record(history: &History, whose: &str, session: &str, code: &str, mut report: Report) -> String {
    let (id, recording) = begin(history, whose, &mut ExecuteRequest::python(code));
    recording.end(&mut report, session, None).await;
    assert_eq!(report.notes, [""; 0]);
    id.as_str().to_owned()
}

async fn found(history: &History, id: &str) -> ExecutionRecord {
    match history.find(id, None).await.unwrap() {
        Found::One(record) => *record,
        other => panic!("{other:?}"),
    }
}

async fn ids(history: &History, filter: &HistoryFilter) -> Vec<String> {
    history.list(filter, 100).await.unwrap().into_iter().map(|summary| summary.id).collect()
}

#[tokio::test]
async fn an_execution_is_found_with_all_that_is_known_of_it() {
    let history = in_memory(settings()).await;
    let mut request = ExecuteRequest::python("print('hi')\nsum(rows)");
    request.context = json!({"rows": [1, 2]}).as_object().unwrap().clone().into();
    request.own_definition_tokens = 30;
    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    request.capabilities.caller.trace = TraceContext::read(&format!("00-{TRACE}-00f067aa0ba902b7-01"), None);
    let (id, recording) = begin(&history, "a", &mut request);
    assert!(request.capabilities.count_tokens);
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::ToolCalls, 5).unwrap();
    let (asked, mut timing) = (Instant::now(), Timing::default());
    timing.preceded_by(StageTime { name: "place", began: asked, took: Duration::from_millis(2) });
    timing.calls_began.push(asked + Duration::from_micros(1_500));
    let mut report = Report {
        timing,
        stdout: "hi\n".to_owned(),
        limits_hit: vec![LimitHit::new(LimitName::ToolCalls, &limits)],
        notes: vec!["a note".to_owned()],
        findings: crate::checks::check("x = 1\nexec(x)", &crate::checks::NoTools, &Default::default())
            .findings,
        tools_called: vec![ToolCalled {
            argument_tokens: Some(4),
            answer_tokens: Some(1_000),
            answer_bytes: 9_000,
            ..ToolCalled::unanswered("crm.search", Some(2), 12)
        }],
        call_tokens: CallTokens { definitions: 60, looked_up: 9, estimated: false },
        memory_peak_bytes: 77,
        cpu_time_ms: 1.5,
        ..ok(json!(3))
    };
    recording.end(&mut report, "work", None).await;
    let record = found(&history, id.as_str()).await;
    let unanswered = report.tools_called[0].error.clone();
    let expected = ExecutionRecord {
        summary: ExecutionSummary {
            id: id.as_str().to_owned(),
            session: "work".to_owned(),
            session_name: None,
            owner: "a".to_owned(),
            started_ms: record.summary.started_ms,
            duration_ms: 3.0,
            outcome: RecordedOutcome::Ok,
            error_code: None,
            limits_hit: vec!["tool_calls".to_owned()],
            findings: vec!["GC-104:2".to_owned()],
            calls: 1,
            calls_failed: 1,
            tokens: TokenAccount {
                program: (tokens::count(&request.code) + tokens::count(r#"{"rows":[1,2]}"#)) as u64,
                returned: (tokens::count("3") + tokens::count("hi\n")) as u64,
                own_definition: Some(30),
                inside: 1_004,
                definitions: Some(60),
                looked_up: Some(9),
                estimated: false,
            },
            cpu_time_ms: 1.5,
            memory_peak_bytes: 77,
            code: Some(request.code.clone()),
        },
        language: "python".to_owned(),
        level: "production".to_owned(),
        program_hash: blake3::hash(request.code.as_bytes()).to_hex().to_string(),
        context: Some(r#"{"rows":[1,2]}"#.to_owned()),
        context_bytes: 14,
        error: None,
        notes: vec!["a note".to_owned()],
        stdout: KeptText { text: Some("hi\n".to_owned()), bytes: 3 },
        stderr: KeptText { text: Some(String::new()), bytes: 0 },
        result: Some(KeptText { text: Some("3".to_owned()), bytes: 1 }),
        tools_called: vec![RecordedCall {
            name: "crm.search".to_owned(),
            line: Some(2),
            ok: false,
            sent: true,
            time_ms: 0.0,
            began_ms: Some(1.5),
            argument_bytes: 12,
            argument_tokens: 4,
            answer_bytes: 9_000,
            answer_tokens: 1_000,
            error: unanswered,
        }],
        stages: vec![RecordedStage { name: "place".to_owned(), began_ms: 0.0, time_ms: 2.0 }],
        trace_id: Some(TRACE.to_owned()),
        gateway: history.own_gateway().to_owned(),
    };
    assert_eq!(record, expected);
    let tokens = record.summary.tokens;
    assert_eq!(tokens.saved(), 1_034 - tokens.program as i64 - tokens.returned as i64);
    assert_eq!(report.tokens, Some(tokens), "the report tells the same");
}

#[tokio::test]
async fn what_has_gone_back_is_what_the_answer_took() {
    let history = in_memory(settings()).await;
    let id = ExecutionId::new().unwrap();
    let mut request = ExecuteRequest::python("1");
    let recording = history.about_to_run(&id, &owner("a"), &mut request, Level::Production).begin();
    recording.end(&mut ok(json!("many words ".repeat(500))), "", Some(50)).await;
    assert_eq!(found(&history, id.as_str()).await.summary.tokens.returned, 50);
}

#[tokio::test]
async fn without_contents_only_hashes_names_and_figures_are_kept() {
    let history = in_memory(HistorySettings { content: false, ..settings() }).await;
    let secret = "sesame";
    let mut request = ExecuteRequest::python(format!("'{secret}'"));
    request.context = json!({"password": secret}).as_object().unwrap().clone().into();
    let (id, recording) = begin(&history, "a", &mut request);
    let mut report = failed(Code::Exception);
    report.error.as_mut().unwrap().message = format!("no {secret}");
    report.error.as_mut().unwrap().line = Some(4);
    report.stdout = secret.to_owned();
    report.result = Some(json!(secret));
    report.notes = vec![secret.to_owned()];
    report.tools_called =
        vec![ToolCalled { error: Some(secret.to_owned()), ..ToolCalled::unanswered("a.b", None, 3) }];
    recording.end(&mut report, "", None).await;
    let record = found(&history, id.as_str()).await;
    assert!(!serde_json::to_string(&record).unwrap().contains(secret), "{record:?}");
    assert_eq!(record.program_hash, blake3::hash(request.code.as_bytes()).to_hex().to_string());
    assert_eq!(record.error.unwrap().line, Some(4));
    assert_eq!((record.stdout.bytes, record.tools_called[0].name.as_str()), (6, "a.b"));
    assert!(record.summary.tokens.program > 0);
}

#[tokio::test]
async fn door_9_no_argument_is_kept_in_an_error() {
    let history = in_memory(settings()).await;
    let (id, recording) = begin(&history, "a", &mut ExecuteRequest::python("1"));
    let secret = "sesame";
    let failure = ToolFailure::Unfit {
        told: format!("`pin` must be a number, not \"{secret}\""),
        kept: "`pin`: doesn't fit the schema".to_owned(),
    };
    let mut report = failed(Code::Tool);
    let error = report.error.as_mut().unwrap();
    error.message = format!("ToolError: {failure}");
    error.traceback = Some(format!("Traceback\n  line 1\nToolError: {failure}\n"));
    report.tools_called = vec![ToolCalled {
        error: Some(failure.to_string()),
        kept_error: Some(failure.kept()),
        ..ToolCalled::unanswered("a.b", None, 3)
    }];
    recording.end(&mut report, "", None).await;
    let record = found(&history, id.as_str()).await;
    assert!(!serde_json::to_string(&record).unwrap().contains(secret), "{record:?}");
    let kept = "GM-1402: `pin`: doesn't fit the schema";
    assert_eq!(record.tools_called[0].error.as_deref(), Some(kept));
    assert_eq!(record.error.unwrap().message, Some(format!("ToolError: {kept}")));
    assert!(report.error.unwrap().message.contains(secret), "whoever ran it is told");
}

#[tokio::test]
async fn lists_are_filtered_and_the_newest_come_first() {
    let history = in_memory(settings()).await;
    let first = record(&history, "a", "work", "1", ok(json!(1))).await;
    let second = record(&history, "b", "work", "2", failed(Code::Exception)).await;
    let third = record(&history, "a", "", "3", failed(Code::Cancelled)).await;
    let check = async |filter: HistoryFilter, expected: &[&String]| {
        let expected: Vec<String> = expected.iter().map(|id| (*id).clone()).collect();
        assert_eq!(ids(&history, &filter).await, expected, "{filter:?}");
    };
    let all = HistoryFilter::default;
    check(all(), &[&third, &second, &first]).await;
    check(HistoryFilter { owner: Some(owner("a")), ..all() }, &[&third, &first]).await;
    check(HistoryFilter { session: Some("work".to_owned()), ..all() }, &[&second, &first]).await;
    check(HistoryFilter { failed: true, ..all() }, &[&second]).await;
    let later = std::time::SystemTime::now() + Duration::from_secs(60);
    check(HistoryFilter { since: Some(later), ..all() }, &[]).await;
    assert_eq!(history.list(&all(), 1).await.unwrap()[0].id, third);
    assert_eq!(history.find(&first, Some(&owner("b"))).await.unwrap(), Found::Nothing);
}

#[tokio::test]
async fn the_most_used_tools_are_those_of_most_executions_until_yesterday() {
    let history = in_memory(settings()).await;
    let calling = |names: &[&str], is_ok: bool| {
        let called = |name: &&str| ToolCalled { ok: is_ok, ..ToolCalled::unanswered(name, None, 1) };
        Report { tools_called: names.iter().map(called).collect(), ..ok(json!(1)) }
    };
    record(&history, "a", "", "1", calling(&["crm.get"; 50], true)).await;
    record(&history, "a", "", "2", calling(&["crm.list", "mail.send"], true)).await;
    record(&history, "a", "", "3", calling(&["crm.list"], true)).await;
    record(&history, "a", "", "4", calling(&["crm.gone", "crm.gone"], false)).await;
    record(&history, "b", "", "5", calling(&["other.tool"], true)).await;
    let used =
        async |period, limit| history.store().most_called("a".to_owned(), period, limit).await.unwrap();
    assert_eq!(used(0..i64::MAX, 10).await, ["crm.list", "crm.get", "mail.send"]);
    assert_eq!(used(0..i64::MAX, 1).await, ["crm.list"]);
    assert_eq!(used(0..1, 10).await, [""; 0]);
    for number in 6..30 {
        record(&history, "a", "", &number.to_string(), calling(&["crm.get"], true)).await;
    }
    assert_eq!(used(0..i64::MAX, 10).await, ["crm.get"], "others are in less than a third of the programs");
    // Today's calls count from tomorrow on: what a client is shown stays the same for a day.
    assert_eq!(history.most_called(&owner("a"), 10).await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn the_beginning_of_a_name_is_enough_if_it_is_the_only_one() {
    let history = in_memory(settings()).await;
    let mut all = Vec::new();
    for number in 0..40 {
        all.push(record(&history, "a", "", &number.to_string(), ok(json!(1))).await);
    }
    let alike = all.iter().filter(|id| id[..1] == all[0][..1]).count();
    match history.find(&all[0][..1], None).await.unwrap() {
        Found::One(_) => assert_eq!(alike, 1),
        Found::Several(names) => assert_eq!(names.len(), alike.min(10)),
        Found::Nothing => panic!("nothing found"),
    }
    assert_eq!(found(&history, &all[7][..12]).await.summary.id, all[7]);
    assert_eq!(history.find("1", None).await.unwrap(), Found::Nothing, "no name has this letter");
}

#[tokio::test]
async fn figures_add_up() {
    let history = in_memory(settings()).await;
    for time in 1..=20 {
        let mut report = Report { total_time_ms: f64::from(time), ..ok(json!(1)) };
        let called = ToolCalled::unanswered("crm.search", None, 2);
        report.tools_called = vec![ToolCalled { ok: true, time_ms: 4.0, answer_tokens: Some(10), ..called }];
        record(&history, "a", "work", "1", report).await;
    }
    let mut limited = failed(Code::WallTime);
    limited.limits_hit = vec![LimitHit::new(LimitName::WallTime, &Limits::of(Level::Production))];
    limited.tools_called = vec![ToolCalled::unanswered("shop.buy", None, 2)];
    record(&history, "b", "", "2", limited).await;
    begin(&history, "b", &mut ExecuteRequest::python("3"));

    let all = history.stats(&HistoryFilter::default()).await.unwrap();
    assert_eq!((all.executions, all.ok, all.failed, all.running), (22, 20, 1, 1));
    assert_eq!(all.success_rate(), Some(20.0 / 21.0));
    assert_eq!(all.p95_ms, 19.0);
    assert_eq!((all.calls, all.calls_failed), (21, 1));
    let tools: Vec<_> = all.tools.iter().map(|tool| (tool.name.as_str(), tool.calls, tool.failed)).collect();
    assert_eq!(tools, [("crm.search", 20, 0), ("shop.buy", 1, 1)]);
    assert_eq!((all.tools[0].average_ms, all.tools[0].tokens), (4.0, 200));
    assert_eq!(all.limits_hit, [("wall_time".to_owned(), 1)]);

    let of_a = HistoryFilter { owner: Some(owner("a")), ..HistoryFilter::default() };
    let of_a = history.stats(&of_a).await.unwrap();
    assert_eq!((of_a.executions, of_a.average_ms, of_a.tokens.inside), (20, 10.5, 200));
    assert_eq!(of_a.tokens.program, 20 * tokens::count("1") as u64);
    let nothing = HistoryFilter { session: Some("none".to_owned()), ..HistoryFilter::default() };
    assert_eq!(history.stats(&nothing).await.unwrap(), Stats::default());
}

/// One call with this answer, of a tool with this definition.
fn called(answer_tokens: u64, definitions: u64) -> Report {
    let call = ToolCalled { ok: true, ..ToolCalled::unanswered("crm.search", None, 2) };
    Report {
        tools_called: vec![ToolCalled { answer_tokens: Some(answer_tokens), ..call }],
        call_tokens: CallTokens { definitions, ..CallTokens::default() },
        ..ok(json!(1))
    }
}

#[tokio::test]
async fn programs_that_cost_more_than_their_calls_are_counted_and_hinted_at() {
    let history = in_memory(settings()).await;
    let code = "one two three four five six";
    let took = (tokens::count(code) + tokens::count("1")) as u64;
    for _ in 0..4 {
        record(&history, "a", "", code, called(1, 2)).await;
    }
    record(&history, "a", "", code, called(1_000, 0)).await;
    // Without a call, and without an end: there is nothing to compare.
    record(&history, "a", "", code, ok(json!(1))).await;
    begin(&history, "a", &mut ExecuteRequest::python(code));
    let stats = history.stats(&HistoryFilter::default()).await.unwrap();
    let expected = DirectCalls {
        compared: 5,
        cheaper: 4,
        tokens_less: 4 * (took - 3),
        saved: 4 * 3 + 1_000 - 5 * took as i64,
        without_calls: 1,
        without_calls_tokens: took,
    };
    assert_eq!(stats.direct, expected);
    assert_eq!((stats.tokens.definitions, stats.tokens.saved()), (Some(8), expected.saved - took as i64));
    assert!(stats.hint().is_some_and(|hint| hint.starts_with("4 of 5 programs with calls")), "{stats:?}");
    // What goes takes its account with it.
    let all_gone = history.inner.store.remove_executions(i64::MAX, 0, 100).await.unwrap();
    let left = history.inner.store.run(|connection| {
        let count = "SELECT count(*) FROM execution_tokens";
        Ok(connection.query_row(count, (), |row| row.get::<_, i64>(0))?)
    });
    assert_eq!((all_gone, left.await.unwrap()), (6, 0));
}

#[tokio::test]
async fn what_is_too_old_or_too_much_goes_the_oldest_first() {
    let all = HistoryFilter::default();
    let brief = in_memory(HistorySettings { keep: Duration::ZERO, ..settings() }).await;
    record(&brief, "a", "", "1", ok(json!(1))).await;
    let (running, _recording) = begin(&brief, "a", &mut ExecuteRequest::python("2"));
    // At most until the next millisecond.
    while brief.sweep().await.unwrap() == 0 {}
    assert_eq!(ids(&brief, &all).await, [running.as_str()], "what runs stays");

    let small = in_memory(HistorySettings { bytes_max: 100_000, ..settings() }).await;
    let mut kept = Vec::new();
    for number in 0..8 {
        let report = Report { stdout: "x".repeat(30_000), ..ok(json!(number)) };
        kept.push(record(&small, "a", "", &number.to_string(), report).await);
    }
    small.sweep().await.unwrap();
    kept.reverse();
    assert_eq!(ids(&small, &all).await, kept[..3]);
    let programs = small
        .inner
        .store
        .run(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM programs", (), |row| row.get::<_, i64>(0))?)
        })
        .await;
    assert_eq!(programs.unwrap(), 3, "texts of programs go with the last of their executions");
}

#[tokio::test]
async fn what_a_gateway_leaves_running_is_lost_and_what_another_runs_is_not() {
    let folder = TestFolder::new("history");
    let gone = in_folder(folder.path()).await;
    let lost = ExecutionId::new().unwrap();
    let mut request = ExecuteRequest::python("1");
    let beginning = gone.about_to_run(&lost, &owner("a"), &mut request, Level::Production);
    let recording = beginning.in_session(Some("work")).begin();
    let alive = in_folder(folder.path()).await;
    let (running, _recording) = begin(&alive, "a", &mut ExecuteRequest::python("2"));
    // A list waits for what was noted before it.
    ids(&gone, &HistoryFilter::default()).await;
    assert_eq!(ids(&alive, &HistoryFilter::default()).await, [running.as_str(), lost.as_str()]);
    drop((recording, gone));
    let next = in_folder(folder.path()).await;
    let summary = found(&next, lost.as_str()).await.summary;
    assert_eq!((summary.outcome, summary.session.as_str()), (RecordedOutcome::Lost, "work"));
    assert_eq!(found(&next, running.as_str()).await.summary.outcome, RecordedOutcome::Running);
}

#[tokio::test]
async fn a_record_that_cannot_be_written_is_a_note_in_the_report() {
    let history = in_memory(settings()).await;
    let (_, recording) = begin(&history, "a", &mut ExecuteRequest::python("1"));
    history.inner.store.close().await;
    let mut report = ok(json!(1));
    recording.end(&mut report, "", None).await;
    assert_eq!(report.notes, ["this execution isn't in the history: the database is closed"]);
    assert_eq!(report.result, Some(json!(1)));
}

#[tokio::test]
async fn an_end_that_could_not_be_written_is_written_by_a_later_sweep() {
    let history = in_memory(settings()).await;
    let refuse_writes = |number: u8| {
        let pragma = format!("PRAGMA query_only = {number}");
        history.inner.store.run(move |connection| Ok(connection.execute_batch(&pragma)?))
    };
    let (id, recording) = begin(&history, "a", &mut ExecuteRequest::python("1"));
    refuse_writes(1).await.unwrap();
    let mut report = ok(json!(1));
    recording.end(&mut report, "", None).await;
    assert!(report.notes[0].starts_with("this execution isn't in the history: "), "{:?}", report.notes);
    history.write_unwritten().await;
    assert_eq!(history.unwritten().len(), 1, "it waits on");
    refuse_writes(0).await.unwrap();
    history.sweep().await.unwrap();
    let written = found(&history, id.as_str()).await;
    assert_eq!(written.summary.outcome, RecordedOutcome::Ok);
    assert_eq!(history.unwritten().len(), 0);
}

#[tokio::test]
async fn gateways_of_one_folder_are_told_apart() {
    let folder = TestFolder::new("gateways");
    let (one, other) = (in_folder(folder.path()).await, in_folder(folder.path()).await);
    one.serves_at("stdio");
    let roles = async || {
        let found = one.gateways().await.unwrap();
        found.into_iter().map(|gateway| gateway.role).collect::<Vec<_>>()
    };
    assert_eq!(roles().await, ["stdio"], "the other has done nothing yet");
    let id = record(&other, "a", "", "1", ok(json!(1))).await;
    // Others find it once it is in the database, which is at the latest when its own process asks.
    found(&other, &id).await;
    let mut both = roles().await;
    both.sort();
    assert_eq!(both, ["a command", "stdio"]);
    let ran_by = found(&one, &id).await.gateway;
    assert_eq!(ran_by, other.own_gateway());
    assert!(one.is_alive(&ran_by));
    other.close().await;
    assert!(!one.is_alive(&ran_by));
    assert_eq!(roles().await, ["stdio"]);
    let gone = one.gateway_of(&ran_by).await.unwrap().unwrap();
    assert_eq!((gone.role.as_str(), gone.pid), ("a command", u64::from(std::process::id())));
}
