//! `gristmill audit`: what was written down for auditors, and whether it is whole.

mod cef;
mod line;
mod report;
mod verify;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use gristmill_gateway::audit::{Audit, AuditError, AuditFilter, AuditKind, AuditRecord, AuditSettings};
use gristmill_gateway::domain::utc_text_ms;
use gristmill_gateway::store::Store;
use serde_json::Value;

use super::history::Since;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};
use crate::hints::hint;
use crate::local_time::TimeArguments;
use crate::terminal::print_json;

/// How often new events are looked for.
const POLL: Duration = Duration::from_millis(500);

/// Events that are read at once.
const PAGE: usize = 1_000;

#[derive(Args)]
pub struct AuditArguments {
    #[command(subcommand)]
    pub command: AuditCommand,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum AuditCommand {
    /// Show the latest events, oldest first
    Tail {
        /// Keep printing new events until Ctrl-C
        #[arg(short, long)]
        follow: bool,
        /// How many of the last events to print
        #[arg(short = 'n', long, default_value_t = 20)]
        lines: usize,
        /// Print as JSON, one event per line
        #[arg(long)]
        json: bool,
    },
    /// Find events, newest first
    Query {
        #[command(flatten)]
        filter: FilterArguments,
        /// Maximum number to show
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Count violations by kind, caller, session, tool and day
    Report {
        /// Only events since then: 2h, 3d, or a date such as 2026-01-31
        #[arg(long, value_name = "WHEN")]
        since: Option<Since>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Check that no event was changed, removed or moved; exits with 1 if one was
    Verify {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print all events for another system, oldest first
    Export {
        /// What to print
        #[arg(long, value_enum, default_value_t = Format::Jsonl)]
        format: Format,
        /// Only events since then: 2h, 3d, or a date such as 2026-01-31
        #[arg(long, value_name = "WHEN")]
        since: Option<Since>,
    },
}

/// What other systems read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// JSON Lines: number, hash and event
    Jsonl,
    /// ArcSight Common Event Format
    Cef,
}

#[derive(Args)]
pub struct FilterArguments {
    /// Only this kind, such as `call` or `token.refused`, or a group such as `token`; repeatable
    #[arg(long)]
    pub kind: Vec<String>,
    /// Only events about this server
    #[arg(long)]
    pub server: Option<String>,
    /// Only calls of this tool, by the server's own name for it
    #[arg(long)]
    pub tool: Option<String>,
    /// Only this caller: `local`, or a token's name
    #[arg(long)]
    pub caller: Option<String>,
    /// Only this session, by its handle or the beginning of it
    #[arg(long)]
    pub session: Option<String>,
    /// Only this execution, by its id or the beginning of it
    #[arg(long)]
    pub execution: Option<String>,
    /// Only events since then: 2h, 3d, or a date such as 2026-01-31
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
}

pub async fn audit(arguments: AuditArguments) -> Outcome {
    let place = DataPlace::of(None, &arguments.config)?;
    let audit = open(&place.open_store()?, place.audit)?;
    let times = arguments.times;
    match arguments.command {
        AuditCommand::Tail { follow, lines, json } => tail(&audit, follow, lines, json, times).await,
        AuditCommand::Query { filter, limit, json } => query(&audit, filter, limit, json, times).await,
        AuditCommand::Report { since, json } => {
            let filter = AuditFilter { since: moment(since, times), ..AuditFilter::default() };
            let counted = audit.report(&filter).await.map_err(data_store::failure)?;
            match json {
                true => print_json(&serde_json::to_value(&counted).unwrap_or_default()),
                false => report::print(&counted),
            }
            Ok(ExitCode::SUCCESS)
        }
        AuditCommand::Verify { json } => verify::verify(&audit, json).await,
        AuditCommand::Export { format, since } => export(&audit, format, moment(since, times)).await,
    }
}

/// For reading: also where no more is written.
fn open(store: &Store, settings: Option<AuditSettings>) -> Result<Audit, Failure> {
    if settings.is_none() {
        crate::terminal::eprint_lines("note: the audit is turned off; this is what was written before");
    }
    Audit::open(store, settings.unwrap_or_default()).map_err(failure)
}

fn failure(error: AuditError) -> Failure {
    match error {
        AuditError::Randomness => Failure::Internal(error.into()),
        AuditError::File(_) | AuditError::NotAKey { .. } | AuditError::NoFolder => {
            Failure::Usage(error.into())
        }
    }
}

async fn tail(audit: &Audit, follow: bool, lines: usize, json: bool, times: TimeArguments) -> Outcome {
    let mut last = audit.find(&AuditFilter::default(), lines).await.map_err(data_store::failure)?;
    last.reverse();
    let mut seen = match last.last() {
        Some(record) => record.number,
        None => audit.size().await.map_err(data_store::failure)?.last,
    };
    show(&last, json, times);
    if !follow {
        if last.is_empty() {
            eprintln!("No events yet.");
        }
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(ExitCode::SUCCESS),
            () = tokio::time::sleep(POLL) => {}
        }
        let new = audit.after(seen, PAGE).await.map_err(data_store::failure)?;
        seen = new.last().map_or(seen, |record| record.number);
        show(&new, json, times);
    }
}

fn show(records: &[AuditRecord], json: bool, times: TimeArguments) {
    for record in records {
        match json {
            true => println!("{}", line::exported(record)),
            false => println!("{}", line::shown(record, times)),
        }
    }
}

async fn query(
    audit: &Audit,
    arguments: FilterArguments,
    limit: usize,
    json: bool,
    times: TimeArguments,
) -> Outcome {
    let FilterArguments { kind, server, tool, caller, session, execution, since } = arguments;
    let kinds = kinds(&kind)?;
    let since = moment(since, times);
    let filter = AuditFilter { kinds, server, tool, caller, session, execution, since, newest: None };
    let found = audit.find(&filter, limit).await.map_err(data_store::failure)?;
    if json {
        print_json(&Value::from_iter(found.iter().map(line::as_value)));
        return Ok(ExitCode::SUCCESS);
    }
    show(&found, false, times);
    if found.is_empty() {
        eprintln!("No matching events.");
    } else if found.len() == limit {
        hint(&format!("there may be more: --limit {}", limit.saturating_mul(5)));
    }
    Ok(ExitCode::SUCCESS)
}

fn kinds(written: &[String]) -> Result<Vec<&'static str>, Failure> {
    let mut kinds = Vec::new();
    for written in written {
        let before = kinds.len();
        kinds.extend(AuditKind::ALL.iter().filter(|kind| kind.matches(written)).map(|kind| kind.as_str()));
        if kinds.len() == before {
            let known: Vec<&str> = AuditKind::ALL.iter().map(|kind| kind.as_str()).collect();
            return Err(Failure::Usage(anyhow!(
                "there's no kind of event `{written}`; there are {}",
                known.join(", ")
            )));
        }
    }
    Ok(kinds)
}

async fn export(audit: &Audit, format: Format, since: Option<String>) -> Outcome {
    let mut seen = 0;
    let mut out = BufWriter::new(io::stdout());
    loop {
        let page = audit.after(seen, PAGE).await.map_err(data_store::failure)?;
        let Some(last) = page.last() else { break };
        seen = last.number;
        for record in page.iter().filter(|record| line::is_since(record, since.as_deref())) {
            let line = match format {
                Format::Jsonl => line::exported(record),
                Format::Cef => cef::line(record),
            };
            if writeln!(out, "{line}").is_err() {
                // Whoever reads has had enough.
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
    out.flush().map_err(|error| Failure::Internal(error.into()))?;
    Ok(ExitCode::SUCCESS)
}

fn moment(since: Option<Since>, times: TimeArguments) -> Option<String> {
    since.map(|since| utc_text_ms(since.moment(times)))
}
