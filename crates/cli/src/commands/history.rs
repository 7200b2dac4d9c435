//! `gristmill history`: past executions, newest first.

use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Args;
use gristmill_gateway::domain::{cut_to_width, grouped, parse_ms, unix_of_date};
use gristmill_gateway::history::{ExecutionSummary, HistoryFilter, LISTED_MAX, RecordedOutcome, Verdict};
use serde_json::Value;

use super::Outcome;
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};
use crate::hints::hint;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::table::{Column, Table};
use crate::terminal::{one_line, print_json};

#[derive(Args)]
pub struct HistoryArguments {
    /// Only executions in this session
    #[arg(long)]
    pub session: Option<String>,

    /// Only executions that failed or were lost
    #[arg(long)]
    pub failed: bool,

    /// Only executions since then: 2h, 3d, or a date such as 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,

    /// Maximum number to show
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=LISTED_MAX as u64))]
    pub limit: u64,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    Ago(Duration),
    /// The beginning of this day, as if clocks showed UTC.
    Day(SystemTime),
}

impl FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("`{text}` isn't a time such as 2h or 3d, or a date such as 2026-01-31");
        if let Some(seconds) = unix_of_date(text) {
            return Ok(Since::Day(UNIX_EPOCH + Duration::from_secs(seconds)));
        }
        // A bare number would be seconds, which nobody means here.
        let is_bare = text.ends_with(|last: char| last.is_ascii_digit());
        match parse_ms(text) {
            Ok(ms) if !is_bare => Ok(Since::Ago(Duration::from_millis(ms))),
            Ok(_) | Err(_) => Err(wrong()),
        }
    }
}

impl Since {
    /// As a moment. Longer ago than time goes is the beginning of it.
    pub fn moment(self, times: TimeArguments) -> SystemTime {
        match self {
            Since::Ago(time) => SystemTime::now().checked_sub(time).unwrap_or(UNIX_EPOCH),
            Since::Day(day) => times.clock_moment(day),
        }
    }
}

pub async fn history(arguments: HistoryArguments) -> Outcome {
    let history = DataPlace::of(None, &arguments.config)?.open_history().await?;
    let filter = HistoryFilter {
        owner: None,
        session: arguments.session,
        failed: arguments.failed,
        since: arguments.since.map(|since| since.moment(arguments.times)),
    };
    let limit = usize::try_from(arguments.limit).unwrap_or(LISTED_MAX);
    let listed = history.list(&filter, limit).await.map_err(data_store::failure)?;
    if arguments.json {
        print_json(&Value::from_iter(listed.iter().map(as_value)));
        return Ok(ExitCode::SUCCESS);
    }
    if listed.is_empty() {
        let is_everything = filter == HistoryFilter::default();
        eprintln!("{}", if is_everything { "Nothing has run yet." } else { "No matching executions." });
        if is_everything {
            hint("`gristmill run -c 'print(1)'` runs a program");
        }
        return Ok(ExitCode::SUCCESS);
    }
    table(&listed, arguments.times).print();
    hint(&format!("`gristmill show {}` shows one in full", short(&listed[0].id)));
    if listed.len() == limit {
        hint(&format!("there may be more: --limit {}", (limit * 5).min(LISTED_MAX)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Enough of an id to be the only one, nearly always.
fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

fn table(listed: &[ExecutionSummary], times: TimeArguments) -> Table {
    let mut table = Table::new([
        Column::left("TIME"),
        Column::left("ID"),
        Column::left("OUTCOME"),
        Column::right("DURATION"),
        Column::right("CALLS"),
        Column::right("SAVED"),
        Column::cut("PROGRAM"),
    ]);
    listed.iter().for_each(|summary| table.row(cells(summary, times)));
    table
}

fn cells(summary: &ExecutionSummary, times: TimeArguments) -> [String; 7] {
    let outcome = match (&summary.error_code, summary.outcome) {
        (Some(code), RecordedOutcome::Failed) => code.clone(),
        (Some(_) | None, outcome) => outcome.as_str().to_owned(),
    };
    [
        times.minute(from_unix_ms(summary.started_ms)),
        short(&summary.id).to_owned(),
        outcome,
        if summary.outcome.is_known() { time(summary.duration_ms) } else { String::new() },
        if summary.outcome.is_known() { grouped(summary.calls) } else { String::new() },
        tokens_saved(summary),
        first_line(summary.code.as_deref()),
    ]
}

fn tokens_saved(summary: &ExecutionSummary) -> String {
    if !summary.outcome.is_known() {
        return String::new();
    }
    let about = if summary.tokens.is_about() { "~" } else { "" };
    match summary.tokens.verdict() {
        Verdict::NoCall => "-".to_owned(),
        Verdict::Saved(_) | Verdict::Nothing { .. } => {
            let saved = summary.tokens.saved();
            let sign = if saved < 0 { "-" } else { "" };
            format!("{about}{sign}{}", grouped(saved.unsigned_abs()))
        }
        Verdict::NotKnown => "?".to_owned(),
    }
}

/// What a table shows of a program, however wide the terminal is.
const PROGRAM_CHARS: usize = 80;

/// The first line that says something.
fn first_line(code: Option<&str>) -> String {
    let Some(code) = code else { return "(not recorded)".to_owned() };
    let is_telling = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    let line = one_line(code.lines().find(is_telling).or(code.lines().next()).unwrap_or_default());
    cut_to_width(&line, PROGRAM_CHARS)
}

/// `1.3 ms`, `2.5 s`.
pub fn time(ms: f64) -> String {
    if ms < 1_000.0 { format!("{ms:.1} ms") } else { format!("{:.1} s", ms / 1_000.0) }
}

/// The same for a machine.
pub fn as_value(summary: &ExecutionSummary) -> Value {
    as_far_as_known(serde_json::to_value(summary).unwrap_or_default(), summary)
}

/// Without the figures that nobody knows.
pub fn as_far_as_known(mut value: Value, summary: &ExecutionSummary) -> Value {
    if !summary.outcome.is_known() {
        for figure in ["duration_ms", "calls", "calls_failed", "tokens", "cpu_time_ms", "memory_peak_bytes"] {
            value[figure] = Value::Null;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use gristmill_gateway::history::TokenAccount;

    use super::*;

    fn summary() -> ExecutionSummary {
        ExecutionSummary {
            id: "abcdefghijkmnpqrstuv".to_owned(),
            session: String::new(),
            session_name: None,
            owner: "local".to_owned(),
            started_ms: 1_785_231_000_000,
            duration_ms: 12.34,
            outcome: RecordedOutcome::Ok,
            error_code: None,
            limits_hit: Vec::new(),
            findings: Vec::new(),
            calls: 3,
            calls_failed: 0,
            tokens: TokenAccount {
                program: 100,
                returned: 20,
                own_definition: Some(0),
                inside: 4_700,
                definitions: Some(300),
                looked_up: Some(0),
                estimated: false,
            },
            cpu_time_ms: 1.0,
            memory_peak_bytes: 0,
            code: Some("# why\n\nprint('\u{1b}[2J')\n".to_owned()),
        }
    }

    #[test]
    fn a_table_lines_up_and_obeys_no_program() {
        let failed = ExecutionSummary {
            outcome: RecordedOutcome::Failed,
            error_code: Some("GM-1102".to_owned()),
            duration_ms: 61_000.0,
            tokens: TokenAccount { inside: 0, definitions: Some(0), ..summary().tokens },
            code: None,
            ..summary()
        };
        let times = TimeArguments { utc: true };
        assert_eq!(
            table(&[summary(), failed], times).lines(None),
            [
                "TIME                  ID        OUTCOME  DURATION  CALLS  SAVED  PROGRAM",
                "2026-07-28 09:30 UTC  abcdefgh  ok        12.3 ms      3  4,880  print('␛[2J')",
                "2026-07-28 09:30 UTC  abcdefgh  GM-1102    61.0 s      3      -  (not recorded)",
            ]
        );
        let cells = |summary: &ExecutionSummary| cells(summary, times);
        let lost = ExecutionSummary { outcome: RecordedOutcome::Lost, duration_ms: 0.0, ..summary() };
        assert_eq!((cells(&lost)[3].as_str(), &as_value(&lost)["duration_ms"]), ("", &Value::Null));
        assert_eq!((cells(&lost)[4].as_str(), &as_value(&lost)["calls"]), ("", &Value::Null));
        assert_eq!((cells(&lost)[5].as_str(), &as_value(&lost)["tokens"]), ("", &Value::Null));
        // From before definitions were counted.
        let saved = |inside: u64| {
            let tokens = TokenAccount { inside, definitions: None, ..summary().tokens };
            cells(&ExecutionSummary { tokens, ..summary() })[5].clone()
        };
        assert_eq!((saved(4_700), saved(50)), ("~4,580".to_owned(), "?".to_owned()));
        assert_eq!(as_value(&lost)["session"], Value::Null);
        let long = ExecutionSummary { code: Some("x".repeat(500)), ..summary() };
        assert_eq!(cells(&long)[6].chars().count(), PROGRAM_CHARS);
        // A usual terminal has room for a table.
        assert_eq!(table(&[long, summary()], TimeArguments { utc: false }).lines(Some(80)).len(), 3);
        assert!(table(&[summary()], times).lines(Some(60)).iter().all(|line| line.chars().count() <= 60));
    }

    #[test]
    fn since_is_a_time_ago_or_a_date() {
        let check = |text: &str, expected: Option<Since>| assert_eq!(text.parse().ok(), expected, "{text}");
        check("2h", Some(Since::Ago(Duration::from_secs(7_200))));
        check("3d", Some(Since::Ago(Duration::from_secs(3 * 86_400))));
        check("2026-07-28", Some(Since::Day(UNIX_EPOCH + Duration::from_secs(1_785_196_800))));
        for wrong in ["", "7", "2026", "2026-02-30", "2026-7-28", "yesterday", "-1h"] {
            check(wrong, None);
        }
    }
}
