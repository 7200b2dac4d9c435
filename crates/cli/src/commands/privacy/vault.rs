//! `gristmill privacy vault`: how much is kept of which kind, and its end. No command prints a value.

use std::io::IsTerminal;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::Flags;
use gristmill_gateway::domain::{counted_grouped, format_bytes, grouped, utc_text};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::privacy::{Vault, VaultError, VaultLine, Wipe};
use gristmill_gateway::session::Sessions;
use serde_json::{Value, json};

use crate::arguments::ConfigFile;
use crate::commands::sessions::short_owner;
use crate::commands::{Failure, Outcome};
use crate::hints::hint;
use crate::local_time::TimeArguments;
use crate::own_sessions::{self, WHOSE};
use crate::table::{Column, Table};
use crate::terminal::{confirmed, eprint_lines, one_line, print_json};
use crate::{audit_log, data_store, exit_codes, upstreams};

#[derive(Args)]
pub struct VaultArguments {
    #[command(subcommand)]
    command: VaultCommand,

    #[command(flatten)]
    times: TimeArguments,

    #[command(flatten)]
    config: ConfigFile,
}

#[derive(Subcommand)]
enum VaultCommand {
    /// List how many values of which kind are kept, by session
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete values; their tokens can't be restored afterwards
    Wipe {
        #[command(flatten)]
        which: Which,

        /// Don't ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct Which {
    /// Values of one session, by its name or handle
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,

    /// Values of all sessions and clients, and the key
    #[arg(long)]
    all: bool,
}

pub async fn vault(arguments: VaultArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let (store, _audit) = audit_log::open(&configured)?;
    let vault = Vault::open(Some(store.clone()), None).map_err(failure)?;
    let (which, yes) = match arguments.command {
        VaultCommand::List { json } => return list(&vault, arguments.times, json).await,
        VaultCommand::Wipe { which, yes } => (which, yes),
    };
    let Some(session) = which.session.filter(|_| !which.all) else {
        return wipe(&vault, Wipe::All, yes).await;
    };
    let config = &configured.config;
    let sessions = Sessions::open(store, None, config.limits.clone(), config.sessions.settings);
    let sessions = sessions.map_err(own_sessions::failure)?;
    let session = own_sessions::resolved(&sessions, &session).await?;
    let info = sessions.info(&WHOSE, &session).await.map_err(own_sessions::failure)?;
    wipe(&vault, Wipe::Session(info.id), yes).await
}

async fn list(vault: &Vault, times: TimeArguments, as_json: bool) -> Outcome {
    let lines = vault.list(None).await.map_err(failure)?;
    if as_json {
        print_json(&Value::from_iter(lines.iter().map(as_value)));
        return Ok(ExitCode::SUCCESS);
    }
    if lines.is_empty() {
        eprint_lines("The vault is empty.");
        return Ok(ExitCode::SUCCESS);
    }
    let is_shared = lines.iter().any(|line| line.owner != Owner::local());
    let mut table = Table::new([
        Column::left("SCOPE"),
        Column::left("OWNER"),
        Column::left("KIND"),
        Column::right("VALUES"),
        Column::right("SIZE"),
        Column::left("LAST USED"),
        Column::left("STATUS"),
    ]);
    for line in &lines {
        table.row([
            one_line(&line.scope_in_words()),
            if is_shared { short_owner(&line.owner) } else { String::new() },
            one_line(line.kind.name()),
            grouped(line.values),
            format_bytes(line.bytes),
            times.minute(line.used),
            if line.is_readable { String::new() } else { "other key".to_owned() },
        ]);
    }
    table.print();
    let lost: u64 = lines.iter().filter(|line| !line.is_readable).map(|line| line.values).sum();
    if lost > 0 {
        eprint_lines(&format!(
            "note: {} can't be restored: made with another vault.key; put that file back into the data folder, or delete them: gristmill privacy vault wipe --all",
            values(lost)
        ));
    }
    hint("`gristmill privacy vault wipe --session SESSION` deletes those of one session");
    Ok(ExitCode::SUCCESS)
}

/// Asks first: what is deleted is gone for good.
async fn wipe(vault: &Vault, which: Wipe, yes: bool) -> Outcome {
    let lines = vault.list(None).await.map_err(failure)?;
    let is_meant = |line: &&VaultLine| match &which {
        Wipe::Session(id) => line.session.as_ref() == Some(id),
        Wipe::All => true,
    };
    let count: u64 = lines.iter().filter(is_meant).map(|line| line.values).sum();
    if !yes {
        let what = values(count);
        if !std::io::stdin().is_terminal() {
            return Err(Failure::Usage(anyhow!(
                "this deletes {what} for good, and there is no terminal to ask on\nhint: pass --yes to delete without asking"
            )));
        }
        if !confirmed(&format!("Delete {what} for good? Their tokens can't be restored afterwards.")) {
            eprint_lines("nothing deleted");
            return Ok(exit_codes::usage());
        }
    }
    let gone = vault.wipe(None, which).await.map_err(failure)?;
    println!("deleted {}", values(gone));
    Ok(ExitCode::SUCCESS)
}

fn values(count: u64) -> String {
    counted_grouped(usize::try_from(count).unwrap_or(usize::MAX), "value")
}

fn as_value(line: &VaultLine) -> Value {
    json!({
        "owner": line.owner.0,
        "session": line.session.as_ref().map(|id| id.as_str()),
        "session_name": line.session_name,
        "client": line.client,
        "kind": line.kind,
        "values": line.values,
        "bytes": line.bytes,
        "used": utc_text(line.used),
        "readable": line.is_readable,
    })
}

fn failure(error: VaultError) -> Failure {
    match error {
        VaultError::Store(error) => data_store::failure(error),
        VaultError::File(_) | VaultError::NotAKey { .. } | VaultError::NoSession => {
            Failure::Usage(error.into())
        }
        VaultError::Randomness => Failure::Internal(error.into()),
    }
}
