//! `gristmill anomalies`: what the watch has found, newest first.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use gristmill_gateway::domain::utc_text_ms;
use gristmill_gateway::store::ANOMALIES_MAX;
use gristmill_gateway::watch::Anomaly;
use serde_json::{Value, json};

use super::Outcome;
use super::history::Since;
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};
use crate::hints::hint;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::table::{Column, Table};
use crate::terminal::{one_line, print_json};

#[derive(Args)]
pub struct AnomaliesArguments {
    /// Only what was found since then: 2h, 3d, or a date such as 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,

    /// Maximum number to show
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=ANOMALIES_MAX as u64))]
    pub limit: u64,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn anomalies(arguments: AnomaliesArguments) -> Outcome {
    let store = DataPlace::of(None, &arguments.config)?.open_store()?;
    let since = arguments.since.map_or(UNIX_EPOCH, |since| since.moment(arguments.times));
    let limit = usize::try_from(arguments.limit).unwrap_or(ANOMALIES_MAX);
    let found = store.find_anomalies(unix_ms(since), limit).await.map_err(data_store::failure)?;
    if arguments.json {
        print_json(&Value::from_iter(found.iter().map(as_value)));
        return Ok(ExitCode::SUCCESS);
    }
    if found.is_empty() {
        let is_everything = arguments.since.is_none();
        println!(
            "{}",
            if is_everything { "Nothing unusual was found." } else { "Nothing unusual since then." }
        );
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([
        Column::left("TIME"),
        Column::left("SEVERITY"),
        Column::left("WHAT"),
        Column::wrapping("EVIDENCE"),
        Column::wrapping("WHAT TO DO"),
    ]);
    for anomaly in &found {
        table.row([
            arguments.times.minute(moment(anomaly)),
            anomaly.severity.name().to_owned(),
            anomaly.kind.name().to_owned(),
            one_line(&anomaly.words),
            one_line(&anomaly.action),
        ]);
    }
    table.print();
    if let Some(execution) = found.iter().find_map(|anomaly| anomaly.executions.last()) {
        let short = execution.get(..8).unwrap_or(execution);
        hint(&format!("`gristmill show {short}` shows one of the executions; --json lists them"));
    }
    if found.len() == limit {
        hint(&format!("there may be more: --limit {}", (limit * 5).min(ANOMALIES_MAX)));
    }
    Ok(ExitCode::SUCCESS)
}

fn as_value(anomaly: &Anomaly) -> Value {
    let facts: serde_json::Map<String, Value> =
        anomaly.facts.iter().map(|fact| (fact.name.clone(), json!(fact.value))).collect();
    json!({
        "at": utc_text_ms(moment(anomaly)),
        "severity": anomaly.severity,
        "kind": anomaly.kind,
        "subject": anomaly.subject.to_string(),
        "words": anomaly.words,
        "facts": facts,
        "executions": anomaly.executions,
        "action": anomaly.action,
        "key": anomaly.key,
    })
}

fn moment(anomaly: &Anomaly) -> SystemTime {
    from_unix_ms(i64::try_from(anomaly.at_ms).unwrap_or(i64::MAX))
}

fn unix_ms(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
