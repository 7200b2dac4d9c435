//! `gristmill results`: whole values behind answers that were too large, shown, taken out and removed.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_gateway::answer::TOKENS_DEFAULT;
use gristmill_gateway::domain::result_path::Slice;
use gristmill_gateway::domain::shape::Strategy;
use gristmill_gateway::domain::{format_bytes, utc_text, visible};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::results::{LISTED_MAX, ReadError, ResultKind, Results, ResultsError, StoredResult};
use serde_json::{Value, json};

use super::print_file::print_file;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};
use crate::terminal::{Printable, eprint_lines};

#[derive(Args)]
pub struct ResultsArguments {
    #[command(subcommand)]
    pub command: ResultsCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum ResultsCommand {
    /// Show every result, the newest first
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a result, or a part of it, shaped to fit
    Show {
        /// Its handle, or its path in programs
        handle: String,
        /// The part to show, such as `rows[3].name`
        #[arg(long, default_value = "")]
        path: String,
        /// The first item, member or character to show
        #[arg(long, default_value_t = 0)]
        offset: u64,
        /// How many of them
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
        /// The most tokens that are printed
        #[arg(long, value_name = "N", default_value_t = TOKENS_DEFAULT)]
        max_tokens: usize,
    },
    /// Write a result as it is, byte for byte
    Get {
        /// Its handle, or its path in programs
        handle: String,
        /// The file to make [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove results
    Remove {
        /// Their handles
        #[arg(required = true)]
        handles: Vec<String>,
    },
}

pub async fn results(arguments: ResultsArguments) -> Outcome {
    let place = DataPlace::of(None, &arguments.config)?;
    let (store, folder) = (place.open_store()?, place.folder()?.join("results"));
    let results = Results::open(store, folder, place.results).await.map_err(failure)?;
    match arguments.command {
        ResultsCommand::List { json } => list(&results, json).await,
        ResultsCommand::Show { handle, path, offset, limit, max_tokens } => {
            show(&results, &handle, &path, Slice { offset, limit }, max_tokens).await
        }
        ResultsCommand::Get { handle, output } => get(&results, &handle, output.as_deref()).await,
        ResultsCommand::Remove { handles } => remove(&results, &handles).await,
    }
}

async fn list(results: &Results, as_json: bool) -> Outcome {
    let all = results.list(None, LISTED_MAX).await.map_err(failure)?;
    if as_json {
        println!("{:#}", Value::from_iter(all.iter().map(as_value)));
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        eprint_lines("there are no results");
        eprint_lines("hint: a value that is too large for an answer is kept whole, under a handle");
    }
    for stored in &all {
        println!("{}", line(stored));
    }
    Ok(ExitCode::SUCCESS)
}

fn line(stored: &StoredResult) -> String {
    let mut parts = vec![
        stored.handle.clone(),
        format!("{} UTC", minute(stored)),
        kind(stored),
        format_bytes(stored.bytes),
    ];
    if let Some(session) = &stored.session {
        parts.push(format!("session {}", visible(session)));
    }
    if stored.owner != Owner::local() {
        parts.push(format!("of {}", super::sessions::short_owner(&stored.owner)));
    }
    parts.join("  ")
}

/// One word for values and texts, whoever stored them; of bytes what they are.
fn kind(stored: &StoredResult) -> String {
    match (stored.kind, &stored.media_type) {
        (ResultKind::Binary, Some(media_type)) => visible(media_type),
        (ResultKind::Json | ResultKind::Text | ResultKind::Binary, _) => stored.kind.as_str().to_owned(),
    }
}

fn created(stored: &StoredResult) -> String {
    let since = Duration::from_millis(u64::try_from(stored.created_ms).unwrap_or(0));
    utc_text(UNIX_EPOCH + since)
}

fn minute(stored: &StoredResult) -> String {
    created(stored).chars().take(16).collect::<String>().replace('T', " ")
}

fn as_value(stored: &StoredResult) -> Value {
    json!({
        "handle": stored.handle,
        "owner": stored.owner.0,
        "kind": stored.kind.as_str(),
        "media_type": stored.media_type,
        "bytes": stored.bytes,
        "created": created(stored),
        "session": stored.session,
        "execution": stored.execution,
        "path_in_program": stored.path_in_program(),
    })
}

async fn show(results: &Results, handle: &str, path: &str, slice: Slice, max_tokens: usize) -> Outcome {
    let owner = owner_of(results, handle).await?;
    let budget = (Strategy::Auto, max_tokens.max(1));
    let part = results.read(&owner, handle, path, slice, budget).await.map_err(|error| {
        let told = match error.hint() {
            Some(_) if matches!(error, ReadError::Binary { .. }) => {
                anyhow!("{error}\nhint: `gristmill results get {handle} --output FILE` writes it")
            }
            Some(hint) => anyhow!("{error}\nhint: {hint}"),
            None => anyhow!("{error}"),
        };
        match error {
            ReadError::Results(error) => failure(error),
            ReadError::Missing { .. }
            | ReadError::Binary { .. }
            | ReadError::PathInText { .. }
            | ReadError::Path(_) => Failure::Usage(told),
        }
    })?;
    let text = match io::stdout().is_terminal() {
        true => Printable::all(&part.shaped.text),
        false => part.shaped.text.clone(),
    };
    println!("{text}");
    part.range_text()
        .iter()
        .chain(&part.shaped.left_out)
        .for_each(|note| eprint_lines(&format!("note: {note}")));
    Ok(ExitCode::SUCCESS)
}

async fn get(results: &Results, handle: &str, output: Option<&Path>) -> Outcome {
    let owner = owner_of(results, handle).await?;
    let opened = results.open_file(&owner, handle).await.map_err(failure)?;
    let (stored, mut file) = opened.ok_or_else(|| missing(handle))?;
    let Some(output) = output else { return print(&stored, &mut file) };
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(output);
    let unwritten = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Usage(anyhow!("{} is there already; name another file", output.display()))
        }
        _ => Failure::Usage(anyhow!("{} cannot be written: {error}", output.display())),
    };
    let mut target = made.map_err(unwritten)?;
    let copied = io::copy(&mut file, &mut target).map_err(|error| {
        Failure::Internal(anyhow!("{} cannot be written whole: {error}", output.display()))
    })?;
    println!("{} ({})", visible(&output.display().to_string()), format_bytes(copied));
    Ok(ExitCode::SUCCESS)
}

/// Byte for byte, but for a terminal, which a value must not drive.
fn print(stored: &StoredResult, file: &mut File) -> Outcome {
    if io::stdout().is_terminal() && stored.kind == ResultKind::Binary {
        return Err(Failure::Usage(anyhow!(
            "the result is {} of {}, which is not for a terminal; write it into a file: --output FILE",
            format_bytes(stored.bytes),
            stored.media_type.as_deref().map_or_else(|| "bytes".to_owned(), visible)
        )));
    }
    print_file(file)
}

async fn remove(results: &Results, handles: &[String]) -> Outcome {
    for handle in handles {
        let owner = owner_of(results, handle).await?;
        if !results.remove(&owner, handle).await.map_err(failure)? {
            return Err(missing(handle));
        }
        println!("removed {}", visible(handle));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whoever is at the terminal sees everyone's.
async fn owner_of(results: &Results, handle: &str) -> Result<Owner, Failure> {
    results.owner_of(handle).await.map_err(failure)?.ok_or_else(|| missing(handle))
}

fn missing(handle: &str) -> Failure {
    Failure::Usage(anyhow!(
        "there is no result `{}`\nhint: `gristmill results list` shows what there is",
        visible(handle)
    ))
}

/// As a command ends by it.
fn failure(error: ResultsError) -> Failure {
    match error {
        ResultsError::Store(error) => data_store::failure(error),
        ResultsError::TooLarge { .. } | ResultsError::Full { .. } | ResultsError::Folder { .. } => {
            Failure::Usage(error.into())
        }
        ResultsError::Busy | ResultsError::Damaged { .. } => Failure::Internal(error.into()),
    }
}
