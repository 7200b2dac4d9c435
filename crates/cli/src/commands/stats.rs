//! `gristmill stats`: totals over past executions.

use std::process::ExitCode;

use clap::Args;
use gristmill_gateway::history::HistoryFilter;
use serde_json::json;

use super::history::Since;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};
use crate::hints::hint;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::terminal::{print_json, print_lines};

#[derive(Args)]
pub struct StatsArguments {
    /// Only executions in this session
    #[arg(long)]
    pub session: Option<String>,

    /// Only executions since then: 2h, 3d, or a date such as 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn stats(arguments: StatsArguments) -> Outcome {
    let history = DataPlace::of(None, &arguments.config)?.open_history().await?;
    let filter = HistoryFilter {
        session: arguments.session,
        since: arguments.since.map(|since| since.moment(arguments.times)),
        ..HistoryFilter::default()
    };
    let stats = history.stats(&filter).await.map_err(data_store::failure)?;
    if arguments.json {
        let mut value = serde_json::to_value(&stats).map_err(|error| Failure::Internal(error.into()))?;
        value["success_rate"] = json!(stats.success_rate());
        value["hint"] = json!(stats.hint());
        value["tokens"]["verdict"] = json!(stats.verdict());
        print_json(&value);
    } else {
        if stats.since_ms.is_none() && filter != HistoryFilter::default() {
            eprintln!("No matching executions.");
            return Ok(ExitCode::SUCCESS);
        }
        let since = stats.since_ms.map(|since| arguments.times.minute(from_unix_ms(since)));
        let lines = stats.lines_since(since.as_deref());
        // The hint is for a person, after everything else.
        lines.iter().filter(|line| !line.starts_with("hint: ")).for_each(|line| print_lines(line));
        stats.hint().iter().for_each(|text| hint(text));
    }
    Ok(ExitCode::SUCCESS)
}
