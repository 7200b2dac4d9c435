//! `gristmill alerts test`: whether alerts arrive where `[alerts]` sends them.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use gristmill_config::Flags;
use gristmill_gateway::telemetry::test_notice;

use super::Outcome;
use crate::arguments::ConfigFile;
use crate::exit_codes;
use crate::hints::hint;
use crate::terminal::{eprint_lines, print_lines};
use crate::upstreams;
use crate::watching::{self, Tries};

#[derive(Args)]
pub struct AlertsArguments {
    #[command(subcommand)]
    pub command: AlertsCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum AlertsCommand {
    /// Send a test alert to every place in `[alerts]`
    Test,
}

pub async fn alerts(arguments: AlertsArguments) -> Outcome {
    let AlertsCommand::Test = arguments.command;
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let config = &configured.config;
    if !config.watch.enabled {
        eprint_lines("note: `enabled = false` in [watch]: nothing is watched, so no alert will come");
    }
    let ways = watching::ways(&config.alerts, Tries::Once).await?;
    if ways.is_empty() {
        eprint_lines(
            "warning: alerts go nowhere\nhint: set `log = true`, `command` or `webhook` in [alerts]; `gristmill config path` shows the file",
        );
        return Ok(exit_codes::usage());
    }
    let notice = Arc::new(test_notice(SystemTime::now()));
    let mut has_failed = false;
    for way in ways {
        match way.tell(Arc::clone(&notice)).await {
            Ok(()) => print_lines(&format!("{}: ok", way.name())),
            Err(why) => {
                has_failed = true;
                print_lines(&format!("{}: failed: {why}", way.name()));
            }
        }
    }
    if has_failed {
        eprint_lines("hint: see [alerts] in your configuration; `gristmill config show` prints it");
        return Ok(exit_codes::internal());
    }
    hint("`gristmill anomalies` lists what was found");
    Ok(ExitCode::SUCCESS)
}
