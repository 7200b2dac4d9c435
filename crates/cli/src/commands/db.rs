//! `gristmill db`: backs up and checks the database.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_gateway::domain::{format_bytes, utc_text};
use gristmill_gateway::store::{BackupError, FILE_NAME};
use serde_json::json;

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};
use crate::exit_codes;
use crate::hints::hint;

#[derive(Args)]
pub struct DbArguments {
    #[command(subcommand)]
    pub command: DbCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum DbCommand {
    /// Back up the database, also while it's in use
    ///
    /// Skill folders and session files are stored next to the database and aren't part of the backup.
    Backup {
        /// File to create; nothing is overwritten [default: gristmill-TIME.db in the current folder]
        file: Option<PathBuf>,
    },
    /// Check the database for damage
    Check {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

pub async fn db(arguments: DbArguments) -> Outcome {
    let place = DataPlace::of(None, &arguments.config)?;
    let file = place.folder()?.join(FILE_NAME);
    if !file.exists() {
        return Err(Failure::Usage(anyhow!(
            "no database yet at {}; it's created when the first program runs",
            file.display()
        )));
    }
    let store = place.open_store()?;
    match arguments.command {
        DbCommand::Backup { file: to } => {
            let to = to.unwrap_or_else(default_name);
            store.backup(&to).await.map_err(|error| match error {
                BackupError::Store(error) => data_store::failure(error),
                BackupError::Exists(_) | BackupError::Unwritable { .. } => Failure::Usage(error.into()),
            })?;
            println!("{}", to.display());
            hint(&format!("to restore it, stop every gristmill and copy it to {}", file.display()));
            Ok(ExitCode::SUCCESS)
        }
        DbCommand::Check { json } => {
            let health = store.health().await.map_err(data_store::failure)?;
            if json {
                println!(
                    "{:#}",
                    json!({"file": file, "version": health.version, "bytes": health.bytes, "faults": health.faults})
                );
            } else if health.faults.is_empty() {
                println!(
                    "ok: {}, version {}, {}",
                    file.display(),
                    health.version,
                    format_bytes(health.bytes)
                );
            } else {
                println!("damaged: {}", file.display());
                health.faults.iter().for_each(|fault| println!("  {fault}"));
                eprintln!("hint: stop every gristmill, keep the damaged file, and restore a backup");
            }
            Ok(if health.faults.is_empty() { ExitCode::SUCCESS } else { exit_codes::internal() })
        }
    }
}

/// `gristmill-2026-07-28T09-30-00Z.db`.
fn default_name() -> PathBuf {
    PathBuf::from(format!("gristmill-{}.db", utc_text(SystemTime::now()).replace(':', "-")))
}
