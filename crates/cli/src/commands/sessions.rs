//! `gristmill sessions`: what agents have left, shown, ended and moved.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{Args, Subcommand};
use gristmill_gateway::domain::{counted, format_bytes, parse_bytes, utc_text, visible};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::session::{NewSession, Patience, SessionInfo, Sessions};
use serde_json::{Value, json};

use super::{Outcome, session_archive};
use crate::arguments::ConfigFile;
use crate::arguments::answer::ANSWER_TOKENS;
use crate::own_sessions::{self, WHOSE, content};
use crate::terminal::eprint_lines;

/// A BLAKE3 hash, in hexadecimal.
const IDENTITY_DIGITS: usize = 64;

#[derive(Args)]
pub struct SessionsArguments {
    #[command(subcommand)]
    pub command: SessionsCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum SessionsCommand {
    /// Show every session, the last used first
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one session
    Show {
        /// Its name or its handle
        session: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a session, and print its handle
    Create {
        /// What it is called; without a name it is reached by its handle alone
        #[arg(long)]
        name: Option<String>,
        /// The most that its files may take, such as 20MB, if that is less than the level permits
        #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
        max_size: Option<u64>,
        /// The most files and folders, in the same way
        #[arg(long, value_name = "COUNT")]
        max_files: Option<u64>,
        /// What an answer about one of its programs takes if a call says nothing else
        #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u64).range(ANSWER_TOKENS))]
        max_output_tokens: Option<u64>,
    },
    /// End sessions: their files and their state are gone
    End {
        /// Their names or handles
        #[arg(required = true)]
        sessions: Vec<String>,
    },
    /// Empty a session: its files and its state are gone, its name and handle stay
    Reset {
        /// Its name or its handle
        session: String,
    },
    /// End what has been idle for too long, and remove what was left half-done
    Gc {
        /// Only say what would be ended
        #[arg(long)]
        dry_run: bool,
    },
    /// Write a session into a tar file
    Export {
        /// Its name or its handle
        session: String,
        /// The file to make, or `-` for standard output [default: the session's name with .tar]
        file: Option<PathBuf>,
    },
    /// Make a session of a tar file that `export` wrote
    Import {
        /// The file, or `-` for standard input
        file: PathBuf,
        /// What it is called [default: as it was]
        #[arg(long)]
        name: Option<String>,
    },
}

pub async fn sessions(arguments: SessionsArguments) -> Outcome {
    let sessions = own_sessions::open(&arguments.config)?;
    match arguments.command {
        SessionsCommand::List { json } => list(&sessions, json).await,
        SessionsCommand::Show { session, json } => show(&sessions, &session, json).await,
        SessionsCommand::Create { name, max_size, max_files, max_output_tokens } => {
            create(&sessions, NewSession { name, max_bytes: max_size, max_files, max_output_tokens }).await
        }
        SessionsCommand::End { sessions: named } => end(&sessions, &named).await,
        SessionsCommand::Reset { session } => reset(&sessions, &session).await,
        SessionsCommand::Gc { dry_run } => tidy(&sessions, dry_run).await,
        SessionsCommand::Export { session, file } => {
            session_archive::export(&sessions, &session, file.as_deref()).await
        }
        SessionsCommand::Import { file, name } => session_archive::import(&sessions, &file, name).await,
    }
}

async fn create(sessions: &Sessions, new: NewSession) -> Outcome {
    let held = sessions.create(&Owner::local(), new).await.map_err(own_sessions::failure)?;
    println!("{}", held.id());
    eprint_lines(&format!(
        "hint: `gristmill run --session {} FILE` works in it",
        held.name().unwrap_or(held.id().as_str())
    ));
    held.leave().await;
    Ok(ExitCode::SUCCESS)
}

async fn list(sessions: &Sessions, as_json: bool) -> Outcome {
    let all = sessions.list(&WHOSE).await.map_err(own_sessions::failure)?;
    if as_json {
        println!("{:#}", Value::from_iter(all.iter().map(as_value)));
        return Ok(ExitCode::SUCCESS);
    }
    if all.is_empty() {
        eprint_lines("there are no sessions");
        eprint_lines(
            "hint: a program that leaves files behind makes one, and so does `gristmill run --session NAME`",
        );
        return Ok(ExitCode::SUCCESS);
    }
    let width = all.iter().map(|info| title(info).len()).max().unwrap_or_default();
    for info in &all {
        println!("{:<width$}  {}", title(info), summary(info));
    }
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

/// An owner by its token's name: the digits of its identity say nothing to a person, and would make
/// a list wider than any terminal.
pub fn short_owner(owner: &Owner) -> String {
    let is_identity =
        |text: &str| text.len() == IDENTITY_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    match owner.0.rsplit_once(':') {
        Some((name, identity)) if is_identity(identity) => visible(name),
        Some(_) | None => visible(&owner.0),
    }
}

fn summary(info: &SessionInfo) -> String {
    let mut parts =
        vec![format!("used {} UTC", minute(info.used)), counted(info.executions, "program"), content(info)];
    if !info.keys.is_empty() {
        parts.push(counted(info.keys.len(), "key"));
    }
    if info.is_busy {
        parts.push("in use".to_owned());
    }
    parts.join("  ")
}

fn minute(time: SystemTime) -> String {
    utc_text(time)[..16].replace('T', " ")
}

async fn show(sessions: &Sessions, session: &str, as_json: bool) -> Outcome {
    let info = sessions.info(&WHOSE, session).await.map_err(own_sessions::failure)?;
    if as_json {
        println!("{:#}", as_value(&info));
        return Ok(ExitCode::SUCCESS);
    }
    println!("handle   {}", info.id);
    println!("name     {}", info.name.as_deref().unwrap_or("-"));
    println!("owner    {}", visible(&info.owner.0));
    println!("made     {} UTC", minute(info.created));
    println!("used     {} UTC, by {}", minute(info.used), counted(info.executions, "program"));
    println!("files    {}", content(&info));
    let keys: Vec<String> = info.keys.iter().map(|key| visible(key)).collect();
    println!("state    {}", if keys.is_empty() { "-".to_owned() } else { keys.join(", ") });
    if info.max_bytes.is_some() || info.max_files.is_some() {
        let bytes = info.max_bytes.map(format_bytes).unwrap_or_else(|| "-".to_owned());
        let files = info.max_files.map(|files| files.to_string()).unwrap_or_else(|| "-".to_owned());
        println!("limits   {bytes}, {files} files");
    }
    if let Some(tokens) = info.max_output_tokens {
        println!("answers  {tokens} tokens");
    }
    if info.is_busy {
        println!("in use   a program is running in it");
    }
    eprint_lines(&format!("hint: `gristmill workspace ls {}` lists its files", shortest(&info)));
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
    })
}

async fn end(sessions: &Sessions, named: &[String]) -> Outcome {
    for session in named {
        let ended = sessions.end(&WHOSE, session, Patience::Refuse).await.map_err(own_sessions::failure)?;
        println!("ended {}: {}", title(&ended), content(&ended));
    }
    Ok(ExitCode::SUCCESS)
}

async fn reset(sessions: &Sessions, session: &str) -> Outcome {
    let reset = sessions.reset(&WHOSE, session, Patience::Refuse).await.map_err(own_sessions::failure)?;
    println!("emptied {}", title(&reset));
    Ok(ExitCode::SUCCESS)
}

async fn tidy(sessions: &Sessions, dry_run: bool) -> Outcome {
    if dry_run {
        let idle = sessions.idle().await.map_err(own_sessions::failure)?;
        idle.iter().for_each(|id| println!("{id}"));
        eprint_lines(&format!("{} would be ended", counted(idle.len(), "idle session")));
        return Ok(ExitCode::SUCCESS);
    }
    let tidied = sessions.tidy().await.map_err(own_sessions::failure)?;
    for id in &tidied.ended {
        println!("{id}");
    }
    let (ended, folders) = (tidied.ended.len() as u64, tidied.folders_removed as u64);
    eprint_lines(&format!(
        "ended {}; removed {} of sessions that are gone",
        counted(ended, "idle session"),
        counted(folders, "folder")
    ));
    Ok(ExitCode::SUCCESS)
}
