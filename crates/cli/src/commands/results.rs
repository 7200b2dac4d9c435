//! `gristmill results`: full results that didn't fit in an answer, shown, saved and removed.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_gateway::answer::TOKENS_DEFAULT;
use gristmill_gateway::domain::result_path::Slice;
use gristmill_gateway::domain::shape::Strategy;
use gristmill_gateway::domain::{format_bytes, utc_text, visible};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::results::{
    LISTED_MAX, RESULTS_FOLDER, ReadError, ResultKind, Results, ResultsError, StoredResult,
};
use serde_json::{Value, json};

use super::print_file::print_file;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::arguments::answer::strategy_parser;
use crate::data_store::{self, DataPlace};
use crate::hints::hint;
use crate::id_prefix;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::table::{Column, Table};
use crate::terminal::{Printable, eprint_lines, print_json};

#[derive(Args)]
pub struct ResultsArguments {
    #[command(subcommand)]
    pub command: ResultsCommand,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum ResultsCommand {
    /// List results, newest first
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a result, or part of it, within a token budget
    Show {
        /// Result handle (the first characters are enough) or path
        handle: String,
        /// Part to show, such as `rows[3].name`
        #[arg(long, default_value = "")]
        path: String,
        /// First item, key or character to show
        #[arg(long, default_value_t = 0)]
        offset: u64,
        /// How many to show
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
        limit: Option<u64>,
        /// Token budget
        #[arg(long, value_name = "N", default_value_t = TOKENS_DEFAULT)]
        max_tokens: usize,
        /// How to condense a value that is too large
        #[arg(long, value_parser = strategy_parser())]
        shape: Option<Strategy>,
    },
    /// Save a result, byte for byte
    Get {
        /// Result handle (the first characters are enough) or path
        handle: String,
        /// File to create [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove results
    Remove {
        /// Result handles; the first characters are enough
        #[arg(required = true)]
        handles: Vec<String>,
    },
}

pub async fn results(arguments: ResultsArguments) -> Outcome {
    let place = DataPlace::of(None, &arguments.config)?;
    let (store, folder) = (place.open_store()?, place.folder()?.join(RESULTS_FOLDER));
    let results = Results::open(store, folder, place.results).await.map_err(failure)?;
    match arguments.command {
        ResultsCommand::List { json } => list(&results, arguments.times, json).await,
        ResultsCommand::Show { handle, path, offset, limit, max_tokens, shape } => {
            let handle = resolved(&results, &handle).await?;
            let budget = (shape.unwrap_or(Strategy::Auto), max_tokens.max(1));
            show(&results, &handle, &path, Slice { offset, limit }, budget).await
        }
        ResultsCommand::Get { handle, output } => {
            let handle = resolved(&results, &handle).await?;
            get(&results, &handle, output.as_deref()).await
        }
        ResultsCommand::Remove { handles } => remove(&results, &handles).await,
    }
}

async fn list(results: &Results, times: TimeArguments, as_json: bool) -> Outcome {
    let all = results.list(None, LISTED_MAX).await.map_err(failure)?;
    if as_json {
        print_json(&Value::from_iter(all.iter().map(as_value)));
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        eprint_lines("No results.");
        hint("a result that doesn't fit in an answer is stored in full under a handle");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([
        Column::left("HANDLE"),
        Column::left("CREATED"),
        Column::left("TYPE"),
        Column::right("SIZE"),
        Column::left("SESSION"),
        Column::left("OWNER"),
    ]);
    let is_shared = all.iter().any(|stored| stored.owner != Owner::local());
    for stored in &all {
        table.row([
            stored.handle.clone(),
            times.minute(from_unix_ms(stored.created_ms)),
            kind(stored),
            format_bytes(stored.bytes),
            stored.session.as_deref().map(visible).unwrap_or_default(),
            if is_shared { super::sessions::short_owner(&stored.owner) } else { String::new() },
        ]);
    }
    table.print();
    Ok(ExitCode::SUCCESS)
}

/// One word for values and texts, whoever stored them; of bytes what they are.
fn kind(stored: &StoredResult) -> String {
    match (stored.kind, &stored.media_type) {
        (ResultKind::Binary, Some(media_type)) => visible(media_type),
        (ResultKind::Json | ResultKind::Text | ResultKind::Binary, _) => stored.kind.as_str().to_owned(),
    }
}

fn created(stored: &StoredResult) -> String {
    utc_text(from_unix_ms(stored.created_ms))
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

async fn show(
    results: &Results,
    handle: &str,
    path: &str,
    slice: Slice,
    budget: (Strategy, usize),
) -> Outcome {
    let owner = owner_of(results, handle).await?;
    let part = results.read(&owner, handle, path, slice, budget, None).await.map_err(|error| {
        let told = match error.hint() {
            Some(_) if matches!(error, ReadError::Binary { .. }) => {
                anyhow!("{error}\nhint: `gristmill results get {handle} --output FILE` saves it")
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
            Failure::Usage(anyhow!("{} already exists; choose another file", output.display()))
        }
        _ => Failure::Usage(anyhow!("can't write {}: {error}", output.display())),
    };
    let mut target = made.map_err(unwritten)?;
    let copied = io::copy(&mut file, &mut target)
        .map_err(|error| Failure::Internal(anyhow!("couldn't write all of {}: {error}", output.display())))?;
    println!("{} ({})", visible(&output.display().to_string()), format_bytes(copied));
    Ok(ExitCode::SUCCESS)
}

/// Byte for byte, but for a terminal, which a value must not drive.
fn print(stored: &StoredResult, file: &mut File) -> Outcome {
    if io::stdout().is_terminal() && stored.kind == ResultKind::Binary {
        return Err(Failure::Usage(anyhow!(
            "the result is {} of {}, which can't go to a terminal; save it with --output FILE",
            format_bytes(stored.bytes),
            stored.media_type.as_deref().map_or_else(|| "bytes".to_owned(), visible)
        )));
    }
    print_file(file)
}

async fn remove(results: &Results, handles: &[String]) -> Outcome {
    // All of them first: a slip in the last handle must not cost the first result.
    let mut found = Vec::new();
    for handle in handles {
        found.push(resolved(results, handle).await?);
    }
    found.dedup();
    for handle in &found {
        let owner = owner_of(results, handle).await?;
        if !results.remove(&owner, handle).await.map_err(failure)? {
            return Err(missing(handle));
        }
        println!("removed {}", visible(handle));
    }
    Ok(ExitCode::SUCCESS)
}

/// The handle that is meant: as it is written, as a path, or by its beginning.
async fn resolved(results: &Results, given: &str) -> Result<String, Failure> {
    if results.owner_of(given).await.map_err(failure)?.is_some() {
        return Ok(given.to_owned());
    }
    let name = given.trim().trim_start_matches('/');
    let name = name.strip_prefix("results/").unwrap_or(name);
    let beginning = name.split('.').next().unwrap_or(name);
    let all = results.list(None, LISTED_MAX).await.map_err(failure)?;
    id_prefix::RESULT.resolve(beginning, all.iter().map(|stored| stored.handle.as_str()))
}

/// Whoever is at the terminal sees everyone's.
async fn owner_of(results: &Results, handle: &str) -> Result<Owner, Failure> {
    results.owner_of(handle).await.map_err(failure)?.ok_or_else(|| missing(handle))
}

fn missing(handle: &str) -> Failure {
    id_prefix::RESULT.missing(handle)
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
