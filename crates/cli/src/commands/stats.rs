//! `gristmill stats`: what all executions come to together.

use std::process::ExitCode;

use clap::Args;
use gristmill_gateway::history::HistoryFilter;
use serde_json::json;

use super::history::Since;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};

#[derive(Args)]
pub struct StatsArguments {
    /// Only those of this session
    #[arg(long)]
    pub session: Option<String>,

    /// Only since then: a time ago such as 2h or 3d, or a date such as 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn stats(arguments: StatsArguments) -> Outcome {
    let history = DataPlace::of(None, &arguments.config)?.open_history().await?;
    let filter = HistoryFilter {
        session: arguments.session,
        since: arguments.since.map(Since::moment),
        ..HistoryFilter::default()
    };
    let stats = history.stats(&filter).await.map_err(data_store::failure)?;
    if arguments.json {
        let mut value = serde_json::to_value(&stats).map_err(|error| Failure::Internal(error.into()))?;
        value["success_rate"] = json!(stats.success_rate());
        value["hint"] = json!(stats.hint());
        value["tokens"]["verdict"] = json!(stats.verdict());
        println!("{value:#}");
    } else {
        if stats.since_ms.is_none() && filter != HistoryFilter::default() {
            eprintln!("nothing that ran fits this");
            return Ok(ExitCode::SUCCESS);
        }
        stats.lines().iter().for_each(|line| println!("{line}"));
    }
    Ok(ExitCode::SUCCESS)
}
