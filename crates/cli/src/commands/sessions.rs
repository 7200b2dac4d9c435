//! `gristmill sessions`: sessions of agents, listed, shown, removed and moved.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_gateway::EngineChoice;
use gristmill_gateway::domain::{
    Level, counted, counted_grouped, format_bytes, grouped, parse_bytes, utc_text, visible,
};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::session::{NewSession, Patience, SessionInfo, Sessions};
use serde_json::{Value, json};

use super::{Failure, Outcome, session_archive};
use crate::arguments::ConfigFile;
use crate::arguments::answer::ANSWER_TOKENS;
use crate::exit_codes;
use crate::hints::hint;
use crate::local_time::TimeArguments;
use crate::own_sessions::{self, WHOSE, content};
use crate::table::{Column, Table};
use crate::terminal::{confirmed, eprint_lines, print_json};

#[derive(Args)]
pub struct SessionsArguments {
    #[command(subcommand)]
    pub command: SessionsCommand,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum SessionsCommand {
    /// List sessions, most recently used first
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one session
    Show {
        /// Session name or handle; the first characters of a handle are enough
        session: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Create a session and print its handle
    Create {
        /// Session name; without one, use the handle
        #[arg(long)]
        name: Option<String>,
        /// Maximum size of its files, such as 20MB, up to the isolation level's limit
        #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
        max_size: Option<u64>,
        /// Maximum number of files and folders
        #[arg(long, value_name = "COUNT")]
        max_files: Option<u64>,
        /// Default token budget for answers in this session
        #[arg(long, alias = "max-output-tokens", value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(ANSWER_TOKENS))]
        max_tokens: Option<u64>,
        /// Isolation level that its programs run at, at least
        #[arg(long, value_name = "LEVEL")]
        level: Option<Level>,
        /// Engine of its Python programs, unless a call names another: wasm, native or auto
        #[arg(long, value_name = "ENGINE")]
        engine: Option<EngineChoice>,
        /// Log each stage of its programs, as `serve --debug` does for all
        #[arg(long)]
        debug: bool,
    },
    /// Log each stage of a session's programs, whatever else is logged
    Debug {
        /// Session name or handle; the first characters of a handle are enough
        session: String,
        /// Stop
        #[arg(long)]
        off: bool,
    },
    /// Delete sessions with their files and state
    #[command(alias = "end")]
    Remove {
        /// Session names or handles
        #[arg(required = true)]
        sessions: Vec<String>,
        /// Don't ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
    /// Delete a session's files and state, but keep its name and handle
    Reset {
        /// Session name or handle; the first characters of a handle are enough
        session: String,
    },
    /// Delete sessions that have been idle too long, and clean up leftovers
    Gc {
        /// Only list what would be deleted
        #[arg(long)]
        dry_run: bool,
    },
    /// Export a session to a tar file
    Export {
        /// Session name or handle; the first characters of a handle are enough
        session: String,
        /// File to create, or `-` for standard output [default: NAME.tar]
        file: Option<PathBuf>,
    },
    /// Create a session from an exported tar file
    Import {
        /// File to import, or `-` for standard input
        file: PathBuf,
        /// Name of the new session [default: the exported name]
        #[arg(long)]
        name: Option<String>,
    },
}

pub async fn sessions(arguments: SessionsArguments) -> Outcome {
    let (sessions, times) = (own_sessions::open(&arguments.config)?, arguments.times);
    match arguments.command {
        SessionsCommand::List { json } => list(&sessions, times, json).await,
        SessionsCommand::Show { session, json } => {
            let session = own_sessions::resolved(&sessions, &session).await?;
            show(&sessions, &session, times, json).await
        }
        SessionsCommand::Create {
            name,
            max_size,
            max_files,
            max_tokens,
            level,
            engine,
            debug: is_debugged,
        } => {
            let (max_bytes, max_output_tokens) = (max_size, max_tokens);
            let new = NewSession {
                name,
                max_bytes,
                max_files,
                max_output_tokens,
                level,
                engine,
                is_debugged,
                ..NewSession::default()
            };
            create(&sessions, new).await
        }
        SessionsCommand::Debug { session, off } => {
            let session = own_sessions::resolved(&sessions, &session).await?;
            debug(&sessions, &session, !off).await
        }
        SessionsCommand::Remove { sessions: named, yes } => remove(&sessions, &named, yes).await,
        SessionsCommand::Reset { session } => {
            let session = own_sessions::resolved(&sessions, &session).await?;
            reset(&sessions, &session).await
        }
        SessionsCommand::Gc { dry_run } => tidy(&sessions, dry_run).await,
        SessionsCommand::Export { session, file } => {
            let session = own_sessions::resolved(&sessions, &session).await?;
            session_archive::export(&sessions, &session, file.as_deref()).await
        }
        SessionsCommand::Import { file, name } => session_archive::import(&sessions, &file, name).await,
    }
}

async fn create(sessions: &Sessions, new: NewSession) -> Outcome {
    let held = sessions.create(&Owner::local(), new).await.map_err(own_sessions::failure)?;
    println!("{}", held.id());
    hint(&format!(
        "`gristmill run --session {} FILE` runs a program in it",
        held.name().unwrap_or(held.id().as_str())
    ));
    held.leave().await;
    Ok(ExitCode::SUCCESS)
}

async fn list(sessions: &Sessions, times: TimeArguments, as_json: bool) -> Outcome {
    let all = sessions.list(&WHOSE).await.map_err(own_sessions::failure)?;
    if as_json {
        print_json(&Value::from_iter(all.iter().map(as_value)));
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        eprint_lines("No sessions.");
        hint("`gristmill run --session NAME FILE` creates one; agents create them when they keep files");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new([
        Column::left("NAME"),
        Column::left("HANDLE"),
        Column::left("OWNER"),
        Column::left("LAST USED"),
        Column::right("PROGRAMS"),
        Column::right("FILES"),
        Column::right("SIZE"),
        Column::right("KEYS"),
        Column::left("STATUS"),
    ]);
    let is_shared = all.iter().any(|info| info.owner != Owner::local());
    for info in &all {
        table.row([
            info.name.clone().unwrap_or_default(),
            info.id.to_string(),
            if is_shared { short_owner(&info.owner) } else { String::new() },
            times.minute(info.used),
            grouped(info.executions),
            grouped(info.files),
            format_bytes(info.bytes),
            if info.keys.is_empty() { String::new() } else { grouped(info.keys.len() as u64) },
            if info.is_busy { "in use".to_owned() } else { String::new() },
        ]);
    }
    table.print();
    Ok(ExitCode::SUCCESS)
}

/// How a person finds it again: by its name, if that is enough.
fn title(info: &SessionInfo) -> String {
    match (&info.name, info.owner == Owner::local()) {
        (Some(name), true) => format!("{name} ({})", info.id),
        (Some(name), false) => format!("{name} ({}, of {})", info.id, short_owner(&info.owner)),
        (None, true) => info.id.to_string(),
        (None, false) => format!("{} (of {})", info.id, short_owner(&info.owner)),
    }
}

/// An owner by its token's name.
pub fn short_owner(owner: &Owner) -> String {
    visible(owner.without_identity())
}

fn programs(count: u64) -> String {
    counted_grouped(usize::try_from(count).unwrap_or(usize::MAX), "program")
}

async fn show(sessions: &Sessions, session: &str, times: TimeArguments, as_json: bool) -> Outcome {
    let info = sessions.info(&WHOSE, session).await.map_err(own_sessions::failure)?;
    if as_json {
        print_json(&as_value(&info));
        return Ok(ExitCode::SUCCESS);
    }
    println!("handle   {}", info.id);
    println!("name     {}", info.name.as_deref().unwrap_or("-"));
    println!("owner    {}", visible(&info.owner.0));
    println!("created  {}", times.minute(info.created));
    println!("used     {}, by {}", times.minute(info.used), programs(info.executions));
    println!("files    {}", content(&info));
    let keys: Vec<String> = info.keys.iter().map(|key| visible(key)).collect();
    println!("state    {}", if keys.is_empty() { "-".to_owned() } else { keys.join(", ") });
    if info.max_bytes.is_some() || info.max_files.is_some() {
        let bytes = info.max_bytes.map(format_bytes).unwrap_or_else(|| "-".to_owned());
        let files = info.max_files.map(grouped).unwrap_or_else(|| "-".to_owned());
        println!("limits   {bytes}, {files} files");
    }
    if let Some(tokens) = info.max_output_tokens {
        println!("answers  {} tokens", grouped(tokens));
    }
    if let Some(level) = info.level {
        println!("level    {level} or stricter");
    }
    if let Some(engine) = info.engine {
        println!("engine   {engine}");
    }
    if info.is_debugged {
        println!("debug    each stage of its programs is logged");
    }
    if info.is_busy {
        println!("status   in use: a program is running");
    }
    hint(&format!("`gristmill workspace ls {}` lists its files", shortest(&info)));
    Ok(ExitCode::SUCCESS)
}

fn shortest(info: &SessionInfo) -> &str {
    info.name.as_deref().unwrap_or(info.id.as_str())
}

fn as_value(info: &SessionInfo) -> Value {
    json!({
        "id": info.id.as_str(),
        "name": info.name,
        "owner": info.owner.0,
        "created": utc_text(info.created),
        "used": utc_text(info.used),
        "executions": info.executions,
        "bytes": info.bytes,
        // Files and folders: what a limit counts.
        "entries": info.files,
        "keys": info.keys,
        "busy": info.is_busy,
        "max_bytes": info.max_bytes,
        "max_files": info.max_files,
        "max_output_tokens": info.max_output_tokens,
        "level": info.level,
        "engine": info.engine.map(EngineChoice::as_str),
        "debug": info.is_debugged,
    })
}

/// Asks first: what is deleted is gone for good.
async fn remove(sessions: &Sessions, named: &[String], yes: bool) -> Outcome {
    let mut found: Vec<SessionInfo> = Vec::new();
    for session in named {
        let session = own_sessions::resolved(sessions, session).await?;
        let info = sessions.info(&WHOSE, &session).await.map_err(own_sessions::failure)?;
        if found.iter().all(|other| other.id != info.id) {
            found.push(info);
        }
    }
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(Failure::Usage(anyhow!(
                "this deletes {} with all files, and there is no terminal to ask on\nhint: pass --yes to delete without asking",
                counted(found.len(), "session")
            )));
        }
        found.iter().for_each(|info| eprint_lines(&format!("  {}: {}", title(info), content(info))));
        if !confirmed(&format!("Delete {} with all files?", counted(found.len(), "session"))) {
            eprint_lines("nothing deleted");
            return Ok(exit_codes::usage());
        }
    }
    for info in found {
        let removed = sessions.end(&WHOSE, info.id.as_str(), Patience::Refuse).await;
        let removed = removed.map_err(own_sessions::failure)?;
        println!("deleted {}: {}", title(&removed), content(&removed));
    }
    Ok(ExitCode::SUCCESS)
}

async fn reset(sessions: &Sessions, session: &str) -> Outcome {
    let reset = sessions.reset(&WHOSE, session, Patience::Refuse).await.map_err(own_sessions::failure)?;
    println!("reset {}", title(&reset));
    Ok(ExitCode::SUCCESS)
}

async fn debug(sessions: &Sessions, session: &str, is_on: bool) -> Outcome {
    let info = sessions.set_debugged(&WHOSE, session, is_on).await.map_err(own_sessions::failure)?;
    match is_on {
        true => {
            println!("logging each stage of {}", title(&info));
            hint(&format!(
                "`gristmill logs -f` shows it; `gristmill sessions debug {} --off` stops it",
                shortest(&info)
            ));
        }
        false => println!("no longer logging each stage of {}", title(&info)),
    }
    Ok(ExitCode::SUCCESS)
}

async fn tidy(sessions: &Sessions, dry_run: bool) -> Outcome {
    if dry_run {
        let idle = sessions.idle().await.map_err(own_sessions::failure)?;
        idle.iter().for_each(|id| println!("{id}"));
        eprint_lines(&format!("{} would be deleted", counted(idle.len(), "idle session")));
        return Ok(ExitCode::SUCCESS);
    }
    let tidied = sessions.tidy().await.map_err(own_sessions::failure)?;
    for id in &tidied.ended {
        println!("{id}");
    }
    let (ended, folders) = (tidied.ended.len() as u64, tidied.folders_removed as u64);
    eprint_lines(&format!(
        "deleted {} and {}",
        counted(ended, "idle session"),
        counted(folders, "leftover folder")
    ));
    Ok(ExitCode::SUCCESS)
}
