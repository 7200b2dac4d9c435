use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_domain::{Code, Level, Limits};
use gristmill_testkit::TestFolder;
use gristmill_watch::alerts::AlertSettings;
use parking_lot::Mutex;

use super::busiest::NAMED_MAX;
use super::*;
use crate::ids::{Caller, ExecutionId, Owner};
use crate::ports::{AlertNotice, ArgumentRecord, BoxFuture, CallEnd, CallFacts, RequestKind};
use crate::report::Report;
use crate::request::ExecuteRequest;

/// What people were told.
#[derive(Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl AlertWay for Told {
    fn name(&self) -> &'static str {
        "log"
    }

    fn tell(&self, notice: Arc<AlertNotice>) -> BoxFuture<'static, Result<(), String>> {
        self.0.lock().push(notice.words.clone());
        Box::pin(async { Ok(()) })
    }
}

fn watching(store: &Store) -> (Telemetry, Arc<Mutex<Vec<String>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let settings = WatchSettings {
        watch: gristmill_watch::Settings::default(),
        alerts: AlertSettings::default(),
        ways: vec![Arc::new(Told(Arc::clone(&told)))],
        told: Arc::new(|_| {}),
    };
    (Telemetry::watching(store.clone(), settings), told)
}

fn report(code: Option<Code>) -> Report {
    let mut report = Report::refused(code.unwrap_or(Code::Exception), String::new(), None, Duration::ZERO);
    if code.is_none() {
        (report.success, report.error) = (true, None);
    }
    report
}

/// A program that runs, and ends so.
fn run(telemetry: &Telemetry, code: &str, ends: Option<Code>) {
    run_as(&Caller::local(), telemetry, code, ends);
}

fn run_as(caller: &Caller, telemetry: &Telemetry, code: &str, ends: Option<Code>) {
    let id = ExecutionId::new().expect("an id");
    let limits = Limits::of(Level::Production);
    let measured = telemetry.begin(caller, &id, &ExecuteRequest::python(code), &limits);
    measured.end(&report(ends), Duration::from_millis(1));
}

fn call(server: &str, tool: &str) -> CallFacts {
    CallFacts {
        caller: Caller::local(),
        line: None,
        kind: RequestKind::CallTool,
        server: Some(server.to_owned()),
        name: tool.to_owned(),
        decision: None,
        request_bytes: 2,
        arguments: None,
        restored: Vec::new(),
        answer_bytes: 10,
        answer_shape: 7,
        took: Duration::from_millis(3),
        web: None,
        end: CallEnd::Answered,
    }
}

fn text(telemetry: &Telemetry) -> String {
    telemetry.metrics_text(&Gauges::default())
}

/// The number of one line.
fn value(text: &str, series: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ')?.parse().ok())
}

#[test]
fn executions_are_counted_by_outcome_and_caller_and_timed_by_stage() {
    let telemetry = Telemetry::counting();
    for ends in [None, None, Some(Code::Exception), Some(Code::Memory), Some(Code::WorkerLost)] {
        run(&telemetry, "x", ends);
    }
    telemetry.refused(&Caller::local(), None, &report(Some(Code::Busy)));
    let text = text(&telemetry);
    let count = |outcome: &str| {
        let labels = format!("{{outcome=\"{outcome}\",language=\"python\",caller=\"local\"}}");
        value(&text, &format!("gristmill_executions_total{labels}"))
    };
    let counts = ["ok", "failed", "limit", "system", "refused", "canceled"].map(count);
    assert_eq!(counts, [Some(2.0), Some(1.0), Some(1.0), Some(1.0), Some(1.0), None]);
    assert_eq!(value(&text, "gristmill_execution_errors_total{code=\"GM-1203\"}"), Some(1.0));
    assert_eq!(value(&text, "gristmill_execution_stage_seconds_count{stage=\"record\"}"), Some(5.0));
    assert!(value(&text, "process_resident_memory_bytes").is_some_and(|bytes| bytes > 1e6));
    assert!(text.ends_with("# EOF\n"), "{text}");
}

#[test]
fn what_waits_and_what_was_found_is_told_as_it_is_now() {
    let telemetry = Telemetry::counting();
    let gauges = |count: u64| Gauges {
        audit_lag: Duration::from_millis(1_500),
        privacy_found: [("email".to_owned(), count), ("custom".to_owned(), 1)].into(),
        ..Gauges::default()
    };
    let mut measured = report(None);
    measured.timing.took("admit", Instant::now(), Duration::from_millis(2));
    measured.timing.took("check", Instant::now(), Duration::from_millis(7));
    let limits = Limits::of(Level::Production);
    let id = ExecutionId::new().expect("an id");
    telemetry
        .begin(&Caller::local(), &id, &ExecuteRequest::python("1"), &limits)
        .end(&measured, Duration::ZERO);
    telemetry.metrics_text(&gauges(2));
    let text = telemetry.metrics_text(&gauges(5));
    assert_eq!(value(&text, "gristmill_privacy_found_total{kind=\"email\"}"), Some(5.0), "{text}");
    assert_eq!(value(&text, "gristmill_privacy_found_total{kind=\"custom\"}"), Some(1.0));
    assert_eq!(value(&text, "gristmill_audit_lag_seconds"), Some(1.5));
    assert_eq!(value(&text, "gristmill_watch_events_waiting"), Some(0.0));
    let stage = |stage: &str| {
        value(&text, &format!("gristmill_execution_stage_seconds_bucket{{le=\"0.005\",stage=\"{stage}\"}}"))
    };
    assert_eq!((stage("admit"), stage("check"), stage("start")), (Some(1.0), Some(0.0), None), "{text}");
}

#[test]
fn tools_beyond_the_first_two_hundred_are_other_until_they_are_busier() {
    let telemetry = Telemetry::counting();
    let observer = telemetry.observer(None);
    for number in 0..NAMED_MAX + 50 {
        observer.passed(&Arc::new(call("crm", &format!("tool{number}"))));
    }
    let labelled = |text: &str| {
        let is_named = |line: &&str| line.starts_with("gristmill_calls_total{server=\"crm\"");
        text.lines().filter(is_named).count()
    };
    let of = |text: &str, server: &str, tool: &str| {
        value(
            text,
            &format!("gristmill_calls_total{{server=\"{server}\",tool=\"{tool}\",outcome=\"answered\"}}"),
        )
    };
    let before = text(&telemetry);
    assert_eq!((labelled(&before), of(&before, "other", "other")), (NAMED_MAX, Some(50.0)));
    (0..10).for_each(|_| observer.passed(&Arc::new(call("crm", "tool249"))));
    telemetry.metrics().tools.reorder();
    (0..3).for_each(|_| observer.passed(&Arc::new(call("crm", "tool249"))));
    let after = text(&telemetry);
    assert_eq!((labelled(&after), of(&after, "crm", "tool249")), (NAMED_MAX, Some(3.0)));
    assert_eq!(of(&after, "other", "other"), Some(60.0), "what was counted as other stays there");
}

#[test]
fn labels_hold_nothing_that_a_program_says() {
    let telemetry = Telemetry::counting();
    let observer = telemetry.observer(None);
    let uri = "mail://canary";
    let resource = CallFacts { kind: RequestKind::ReadResource, ..call("mail", uri) };
    observer.passed(&Arc::new(resource));
    let unknown = CallEnd::Failed { code: Code::UnknownTool, was_sent: false };
    let unknown = CallFacts { server: None, end: unknown, ..call("", "canary") };
    observer.passed(&Arc::new(unknown));
    observer.passed(&Arc::new(call("evil\"\n} 1", "tool\\")));
    let text = text(&telemetry);
    assert!(!text.contains("canary"), "{text}");
    assert!(text.contains("server=\"evil\\\"\\n} 1\",tool=\"tool\\\\\""), "{text}");
    assert_eq!(value(&text, "gristmill_call_errors_total{code=\"GM-1401\"}"), Some(1.0));
}

#[test]
fn the_audit_hears_of_calls_too_and_says_what_is_kept_of_arguments() {
    struct Audit(Mutex<usize>);
    impl CallObserver for Audit {
        fn passed(&self, _facts: &Arc<CallFacts>) {
            *self.0.lock() += 1;
        }

        fn arguments(&self, json: &str) -> Option<ArgumentRecord> {
            Some(ArgumentRecord { digest: json.to_owned(), text: None })
        }
    }
    let audit = Arc::new(Audit(Mutex::new(0)));
    let observer = Telemetry::counting().observer(Some(Arc::clone(&audit) as Arc<dyn CallObserver>));
    observer.passed(&Arc::new(call("crm", "get")));
    assert_eq!(*audit.0.lock(), 1);
    assert_eq!(observer.arguments("{}").map(|kept| kept.digest), Some("{}".to_owned()));
    assert!(!observer.wants_shapes(), "nobody watches");
}

#[tokio::test]
async fn a_stuck_agent_is_found_told_of_once_and_kept() {
    let store = Store::in_memory().unwrap();
    let (telemetry, told) = watching(&store);
    (0..12).for_each(|_| run(&telemetry, "1 / 0", Some(Code::Exception)));
    telemetry.close().await;
    let found = store.find_anomalies(0, 10).await.unwrap();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].kind.name(), found[0].executions.len()), ("repeated-program", 5));
    let told = told.lock().clone();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].starts_with("alert: warning repeated-program: One program ran 7 times"), "{told:#?}");
    assert!(told[0].ends_with("\nhint: gristmill history --since 1h"), "{told:#?}");
    assert!(text(&telemetry).contains("gristmill_alerts_total{to=\"log\",outcome=\"ok\"} 1"));
}

#[tokio::test]
async fn normal_use_is_silent() {
    let store = Store::in_memory().unwrap();
    let (telemetry, told) = watching(&store);
    let observer = telemetry.observer(None);
    for number in 0..60 {
        run(&telemetry, &format!("print({number})"), (number % 7 == 0).then_some(Code::Exception));
        (0..5).for_each(|_| observer.passed(&Arc::new(call("crm", "get"))));
    }
    telemetry.close().await;
    assert_eq!(store.find_anomalies(0, 10).await.unwrap(), []);
    assert!(told.lock().is_empty());
}

#[tokio::test]
async fn the_next_gateway_goes_on_with_what_was_learned_and_repeats_no_alert() {
    let folder = TestFolder::new("watch-restart");
    let store = Store::open(folder.path()).unwrap();
    let (telemetry, _) = watching(&store);
    (0..8).for_each(|_| run(&telemetry, "1 / 0", Some(Code::Exception)));
    telemetry.close().await;
    assert_eq!(store.find_anomalies(0, 10).await.unwrap().len(), 1);
    let (next, told) = watching(&store);
    (0..8).for_each(|_| run(&next, "1 / 0", Some(Code::Exception)));
    next.close().await;
    let found = store.find_anomalies(0, 10).await.unwrap();
    let repeated = found.iter().filter(|anomaly| anomaly.kind.name() == "repeated-program").count();
    assert_eq!(repeated, 1, "known, and told a moment ago: {found:#?}");
    assert!(!told.lock().iter().any(|said| said.contains("repeated-program")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn of_two_gateways_one_watches_and_the_other_takes_its_place() {
    let folder = TestFolder::new("watch-two");
    let (one, other) = (Store::open(folder.path()).unwrap(), Store::open(folder.path()).unwrap());
    let (first, told) = watching(&one);
    // The lock is taken by the first task that runs.
    until(|| folder.path().join("watch.lock").exists()).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    let (second, told_by_second) = watching(&other);
    (0..4).for_each(|_| run(&first, "1 / 0", Some(Code::Exception)));
    (0..5).for_each(|_| run(&second, "1 / 0", Some(Code::Exception)));
    until(|| !told.lock().is_empty()).await;
    assert!(told_by_second.lock().is_empty(), "one of them tells");
    first.close().await;
    drop(first);
    let ben = Caller::of(Owner("ben".to_owned()));
    (0..9).for_each(|_| run_as(&ben, &second, "1 / 0", Some(Code::Exception)));
    until(|| told_by_second.lock().iter().any(|said| said.contains("caller ben"))).await;
    second.close().await;
}

/// With a clock that runs ahead, but a database that does not.
async fn until(mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "it doesn't come");
        std::thread::sleep(Duration::from_millis(2));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn what_finds_no_room_is_counted_and_nobody_waits() {
    let store = Store::in_memory().unwrap();
    // The task does not get to run meanwhile: there is one thread.
    let (telemetry, _) = watching(&store);
    let observer = telemetry.observer(None);
    (0..EVENTS_MAX + 10).for_each(|_| observer.passed(&Arc::new(call("crm", "get"))));
    assert_eq!(value(&text(&telemetry), "gristmill_watch_events_dropped_total"), Some(10.0));
}

#[tokio::test]
async fn a_call_costs_less_than_20_us_and_an_execution_less_than_100() {
    let store = Store::in_memory().unwrap();
    let (telemetry, _) = watching(&store);
    let observer = telemetry.observer(None);
    let facts = Arc::new(call("crm", "get"));
    let best = |mut act: Box<dyn FnMut()>| {
        let rounds = (0..10).map(|_| {
            let began = Instant::now();
            (0..200).for_each(|_| act());
            began.elapsed() / 200
        });
        rounds.min().unwrap_or_default()
    };
    let of_call = best(Box::new(move || observer.passed(&facts)));
    let running = telemetry.clone();
    let of_execution = best(Box::new(move || run(&running, "print(1)", None)));
    assert!(of_call < Duration::from_micros(20), "{of_call:?}");
    assert!(of_execution < Duration::from_micros(100), "{of_execution:?}");
}
