//! Each detector on a small world: one caller with four quiet weeks behind it.

use gristmill_watch::{
    Anomaly, CallOutcome, Called, Executed, Kind, Memory, Outcome, Settings, Severity, Subject, Watch,
};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
/// A Monday.
const START: u64 = 20_458 * DAY;
/// The Monday after four weeks, at ten.
const NOW: u64 = START + 28 * DAY + 10 * HOUR;

fn executed(at_ms: u64) -> Executed {
    Executed {
        id: format!("e{at_ms}"),
        caller: "ann".to_owned(),
        session: None,
        at_ms,
        outcome: Outcome::Succeeded,
        code: None,
        duration_ms: 800,
        duration_limit_ms: 5000,
        memory_peak_bytes: 50 << 20,
        memory_limit_bytes: 512 << 20,
        output_bytes: 2000,
        tokens_saved: Some(900),
        program: at_ms,
        calls: 2,
    }
}

fn called(at_ms: u64, tool: &str) -> Called {
    Called {
        execution: format!("e{at_ms}"),
        caller: "ann".to_owned(),
        server: "crm".to_owned(),
        tool: tool.to_owned(),
        at_ms,
        outcome: CallOutcome::Answered,
        took_ms: 50,
        answer_bytes: 3000 + at_ms % 2000,
        shape: 1 + at_ms % 3,
    }
}

/// Weekdays from nine to five, every five minutes a program with two calls, one program in twenty failing.
fn quiet_weeks(watch: &mut Watch) -> Vec<Anomaly> {
    let mut found = Vec::new();
    for day in (0..28).filter(|day| day % 7 < 5) {
        for step in 0..96_u64 {
            let at = START + day * DAY + 9 * HOUR + step * 5 * MINUTE;
            found.extend(watch.called(&called(at, "get_record")));
            found.extend(watch.called(&called(at + 300, "list_records")));
            let mut run = executed(at + 1000);
            if step % 20 == 7 {
                run.outcome = Outcome::ProgramFailed;
            }
            found.extend(watch.executed(&run));
        }
    }
    found
}

fn established() -> Watch {
    let mut watch = Watch::new(Settings::default());
    quiet_weeks(&mut watch);
    watch
}

/// Runs that differ from the usual ones, this far apart: after how many something is found, and what.
fn runs(gap_ms: u64, change: impl Fn(&mut Executed, u64)) -> Option<(u64, Anomaly)> {
    let mut watch = established();
    (0..200).find_map(|step| {
        let mut run = executed(NOW + step * gap_ms);
        change(&mut run, step);
        watch.executed(&run).into_iter().next().map(|found| (step + 1, found))
    })
}

fn calls(gap_ms: u64, change: impl Fn(&mut Called, u64)) -> Option<(u64, Anomaly)> {
    let mut watch = established();
    (0..2000).find_map(|step| {
        let mut call = called(NOW + step * gap_ms, "get_record");
        change(&mut call, step);
        watch.called(&call).into_iter().next().map(|found| (step + 1, found))
    })
}

#[track_caller]
fn check(found: Option<(u64, Anomaly)>, after: u64, kind: Kind, severity: Severity, action: &str) -> Anomaly {
    let (steps, anomaly) = found.expect("it is found");
    let seen = (steps, anomaly.kind, anomaly.severity, anomaly.action.as_str());
    assert_eq!(seen, (after, kind, severity, action), "{anomaly:#?}");
    assert!((1..=5).contains(&anomaly.executions.len()) && !anomaly.facts.is_empty(), "{anomaly:#?}");
    anomaly
}

#[test]
fn four_quiet_weeks_say_nothing() {
    assert_eq!(quiet_weeks(&mut Watch::new(Settings::default())), []);
}

#[test]
fn a_session_whose_programs_all_fail() {
    let found = runs(15_000, |run, _| {
        run.session = Some("report".to_owned());
        run.outcome = Outcome::ProgramFailed;
        run.code = Some("GM-1201".to_owned());
    });
    let action = "gristmill history --failed --session report --since 1h";
    let anomaly = check(found, 14, Kind::Failures, Severity::Warning, action);
    assert_eq!(
        anomaly.words,
        "14 of the last 14 executions of session report of caller ann failed within 3 min, the latest with GM-1201; \
         usually 5% do."
    );
    assert_eq!(anomaly.key, "failures: session report of caller ann");
}

#[test]
fn more_failures_within_a_minute_than_anybody_fixes() {
    let found = runs(4000, |run, _| run.outcome = Outcome::ProgramFailed);
    let action = "gristmill history --failed --since 1h";
    let anomaly = check(found, 11, Kind::Failures, Severity::Warning, action);
    let words = "11 executions of caller ann failed within a minute; at most 1 on the 14 active days before.";
    assert_eq!(anomaly.words, words);
}

#[test]
fn faults_of_the_gateway_are_critical_after_five() {
    let found = runs(5000, |run, _| run.outcome = Outcome::SystemFailed);
    check(found, 5, Kind::SystemFailures, Severity::Critical, "gristmill doctor");
}

#[test]
fn a_program_that_fails_unchanged() {
    let found = runs(20_000, |run, _| {
        run.program = 7;
        run.outcome = Outcome::ProgramFailed;
        run.session = Some("report".to_owned());
    });
    check(
        found,
        7,
        Kind::RepeatedProgram,
        Severity::Warning,
        "gristmill history --session report --since 1h",
    );
}

#[test]
fn a_program_that_succeeds_unchanged() {
    let found = runs(20_000, |run, _| run.program = 7);
    check(found, 13, Kind::RepeatedProgram, Severity::Warning, "gristmill history --since 1h");
}

#[test]
fn a_flood_of_output() {
    let found = runs(5000, |run, _| run.output_bytes = 300_000);
    let anomaly = check(found, 4, Kind::Output, Severity::Warning, "gristmill history --since 1h");
    assert_eq!(
        anomaly.words,
        "Programs of caller ann wrote 1.1 MB within a minute; the busiest minute of the 14 active days before had 1 KB."
    );
}

#[test]
fn a_flood_of_output_of_somebody_new() {
    let mut watch = Watch::new(Settings::default());
    let mut found = (0..20).flat_map(|second| {
        let run = Executed { output_bytes: 300_000, ..executed(NOW + second * 1000) };
        watch.executed(&run)
    });
    let anomaly = found.find(|anomaly| anomaly.kind == Kind::Output).expect("a finding");
    assert_eq!(
        anomaly.words,
        "Programs of caller ann wrote 4.0 MB within a minute; there's no history to compare with yet, so the threshold is 4.0 MB."
    );
}

#[test]
fn memory_and_time_near_their_limits() {
    let action = format!("gristmill show e{}", NOW + 4 * MINUTE);
    let found = runs(MINUTE, |run, _| run.memory_peak_bytes = 500 << 20);
    check(found, 5, Kind::MemoryNearLimit, Severity::Warning, &action);
    let found = runs(MINUTE, |run, _| run.duration_ms = 5000);
    check(found, 5, Kind::TimeNearLimit, Severity::Warning, &action);
}

#[test]
fn savings_that_become_losses() {
    let found = runs(MINUTE, |run, _| run.tokens_saved = Some(-400));
    // The last twenty have to have lost more than they saved.
    check(found, 15, Kind::SavingsLost, Severity::Warning, "gristmill stats --since 1d");
}

#[test]
fn work_in_the_middle_of_the_night_and_not_an_hour_of_overtime() {
    let at = |run: &mut Executed, hour: u64, step: u64| run.at_ms = NOW + hour * HOUR + step * MINUTE;
    let found = runs(MINUTE, |run, step| at(run, 17, step));
    check(found, 4, Kind::UnusualHours, Severity::Warning, "gristmill audit query --caller ann --since 2h");
    let found = runs(MINUTE, |run, step| run.at_ms = NOW + 9 * HOUR + step % 40 * MINUTE);
    assert_eq!(found, None);
}

#[test]
fn a_weekend_is_a_notice() {
    let found = runs(MINUTE, |run, step| run.at_ms = NOW + 5 * DAY + step * MINUTE);
    check(found, 4, Kind::UnusualHours, Severity::Notice, "gristmill audit query --caller ann --since 2h");
}

#[test]
fn denied_calls_to_many_tools_are_critical_and_one_programs_loop_is_nothing() {
    let found = calls(2000, |call, step| {
        call.outcome = CallOutcome::Denied;
        call.tool = format!("admin_{step}");
    });
    check(found, 9, Kind::Denials, Severity::Critical, "gristmill audit query --caller ann --since 1h");
    let found = calls(100, |call, _| {
        call.outcome = CallOutcome::Denied;
        call.execution = "loop".to_owned();
    });
    assert!(found.is_none_or(|(_, found)| found.kind == Kind::Calls));
}

#[test]
fn a_storm_of_calls() {
    let found = calls(100, |call, _| call.execution = "storm".to_owned());
    let action = "gristmill audit query --kind call --caller ann --since 1h";
    let anomaly = check(found, 401, Kind::Calls, Severity::Warning, action);
    assert_eq!(anomaly.subject, Subject::Caller("ann".to_owned()));
}

#[test]
fn a_tool_that_fails_in_several_executions_and_not_in_one() {
    let found = calls(10_000, |call, _| call.outcome = CallOutcome::Failed);
    check(found, 8, Kind::CallFailures, Severity::Warning, "gristmill logs crm");
    let found = calls(1000, |call, _| {
        call.outcome = CallOutcome::Failed;
        call.execution = "one".to_owned();
    });
    assert_eq!(found, None);
}

#[test]
fn a_first_tool_is_a_notice_and_a_first_server_that_others_use_a_warning() {
    let found = calls(1000, |call, _| call.tool = "delete_record".to_owned());
    let action = "gristmill audit query --caller ann --tool delete_record --since 1d";
    let anomaly = check(found, 1, Kind::FirstTool, Severity::Notice, action);
    assert_eq!(
        anomaly.words,
        "Caller ann called crm.delete_record for the first time; in 21 active days it used 2 tools of 1 servers."
    );

    let mut watch = established();
    let mut call = called(NOW - 5 * DAY, "pay");
    call.server = "payroll".to_owned();
    call.caller = "bob".to_owned();
    assert_eq!(watch.called(&call), [], "a newcomer has no habits");
    let mut call = called(NOW, "pay");
    call.server = "payroll".to_owned();
    let found = watch.called(&call).into_iter().next().map(|found| (1, found));
    let action = "gristmill audit query --caller ann --server payroll --since 1d";
    check(found, 1, Kind::FirstServer, Severity::Warning, action);
    assert_eq!(watch.called(&call), [], "the second time is no first use");
}

#[test]
fn answers_that_grow_shrink_or_change_their_shape() {
    let action = "gristmill tools review crm";
    let found = calls(MINUTE, |call, _| call.answer_bytes *= 10);
    check(found, 7, Kind::AnswerSize, Severity::Warning, action);
    let found = calls(MINUTE, |call, _| call.answer_bytes = 2);
    check(found, 7, Kind::AnswerSize, Severity::Warning, action);
    let found = calls(MINUTE, |call, _| call.shape = 99);
    check(found, 7, Kind::AnswerShape, Severity::Warning, action);
}

#[test]
fn what_goes_on_is_told_every_ten_minutes_and_not_at_every_event() {
    let mut watch = established();
    let mut told = 0;
    for step in 0..360 {
        let mut run = executed(NOW + step * 5000);
        run.outcome = Outcome::SystemFailed;
        let found = watch.executed(&run);
        told += found.iter().filter(|found| found.kind == Kind::SystemFailures).count();
    }
    assert_eq!(told, 3);
}

#[test]
fn a_restart_changes_nothing() {
    let mut watch = established();
    let text = serde_json::to_string(watch.memory()).expect("it is plain data");
    let memory: Memory = serde_json::from_str(&text).expect("its own text");
    let mut again = Watch::restore(Settings::default(), memory);
    for step in 0..300 {
        let mut call = called(NOW + step * 1000, "get_record");
        call.outcome = CallOutcome::Failed;
        assert_eq!(watch.called(&call), again.called(&call));
    }
}

#[test]
fn a_flood_of_names_fills_a_bounded_memory() {
    let mut watch = Watch::new(Settings::default());
    let long = "n".repeat(2000);
    for step in 0..12_000_u64 {
        let mut call = called(NOW + step * 100, &format!("tool {step} {long}"));
        call.server = format!("server {} {long}", step / 20);
        call.caller = format!("caller {} {long}", step / 40);
        call.execution = format!("{step} {long}");
        call.outcome = if step % 3 == 0 { CallOutcome::Denied } else { CallOutcome::Failed };
        watch.called(&call);
        let mut run = executed(NOW + step * 100);
        run.caller = call.caller;
        run.session = Some(format!("session {} {long}", step / 10));
        run.outcome = Outcome::ProgramFailed;
        watch.executed(&run);
    }
    let size = serde_json::to_string(watch.memory()).expect("it is plain data").len();
    assert!(size < 15_000_000, "{size} bytes as text");
}

#[test]
fn no_event_makes_it_panic_and_clocks_may_jump() {
    let mut watch = Watch::new(Settings { utc_offset_minutes: -720, ..Settings::default() });
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        [0, 1, u64::MAX, NOW, seed >> 11, NOW + (seed >> 40)][(seed >> 33) as usize % 6]
    };
    for step in 0..20_000 {
        let mut run = executed(next());
        run.memory_peak_bytes = next();
        run.memory_limit_bytes = next();
        run.duration_ms = next();
        run.duration_limit_ms = next();
        run.output_bytes = next();
        run.tokens_saved = Some([i64::MIN, -1, 0, i64::MAX][step % 4]);
        run.program = next();
        run.outcome = if step % 2 == 0 { Outcome::LimitReached } else { Outcome::Succeeded };
        watch.executed(&run);
        let mut call = called(next(), "get_record");
        call.answer_bytes = next();
        call.shape = next();
        watch.called(&call);
    }
}

#[test]
fn every_suggested_command_is_in_the_reference() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.md");
    let page = std::fs::read_to_string(page).expect("the reference");
    let actions = [
        "gristmill history --failed --session x --since 1h",
        "gristmill doctor",
        "gristmill logs x",
        "gristmill audit query --kind call --caller x --server x --tool x --since 1h",
        "gristmill show x",
        "gristmill tools review x",
        "gristmill stats --since 1d",
    ];
    for action in actions {
        let words: Vec<&str> = action.split(' ').collect();
        let heading = |count: usize| format!("# {}\n", words[..count.min(words.len())].join(" "));
        let heading = if page.contains(&heading(3)) { heading(3) } else { heading(2) };
        let section = page.split(&heading).nth(1).unwrap_or_else(|| panic!("no section for {action}"));
        let section = section.split("\n#").next().expect("its text");
        for option in words.iter().filter(|word| word.starts_with("--")) {
            assert!(
                section.contains(&format!("`{option} ")) || section.contains(&format!("`{option}`")),
                "{action}"
            );
        }
    }
}
