//! `gristmill db`: a copy of the database, and whether it is whole.

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

#[derive(Args)]
pub struct DbArguments {
    #[command(subcommand)]
    pub command: DbCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum DbCommand {
    /// Write a copy of it, while everything goes on
    ///
    /// The folders of skills and the files of sessions lie beside the database and are not in the copy.
    Backup {
        /// Where to; nothing is overwritten [default: gristmill-TIME.db in this folder]
        file: Option<PathBuf>,
    },
    /// Read all of it, and say what is wrong
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
            "there is no database yet at {}; it is made when the first program runs",
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
            eprintln!("hint: to go back to it, stop every gristmill and copy it to {}", file.display());
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
                    "whole: {}, version {}, {}",
                    file.display(),
                    health.version,
                    format_bytes(health.bytes)
                );
            } else {
                println!("damaged: {}", file.display());
                health.faults.iter().for_each(|fault| println!("  {fault}"));
                eprintln!("hint: stop every gristmill, keep the file, and put a backup in its place");
            }
            Ok(if health.faults.is_empty() { ExitCode::SUCCESS } else { exit_codes::internal() })
        }
    }
}

/// `gristmill-2026-07-28T09-30-00Z.db`.
fn default_name() -> PathBuf {
    PathBuf::from(format!("gristmill-{}.db", utc_text(SystemTime::now()).replace(':', "-")))
}
