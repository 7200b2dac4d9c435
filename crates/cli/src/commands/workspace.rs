//! `gristmill workspace`: a session's files, listed, printed, added and copied out.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_gateway::domain::{format_bytes, utc_text, visible};
use gristmill_gateway::session::{
    FileKind, ListedFile, Patience, SessionError, SessionWishes, Sessions, WorkspaceFiles,
};
use serde_json::{Value, json};

use super::print_file::print_file;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::local_time::TimeArguments;
use crate::own_sessions::{self, WHOSE};
use crate::table::{Column, Table};
use crate::terminal::{eprint_lines, print_json};

/// More lines than anyone reads; a pattern shows the others.
const LISTED_MAX: usize = 10_000;

#[derive(Args)]
pub struct WorkspaceArguments {
    #[command(subcommand)]
    pub command: WorkspaceCommand,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum WorkspaceCommand {
    /// List a session's files
    Ls {
        /// Session name or handle
        session: String,
        /// Only files that match, such as `*.csv` or `data/**`
        pattern: Option<String>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a file
    Cat {
        /// Session name or handle
        session: String,
        /// Path in the workspace
        path: String,
    },
    /// Copy a file into a session; a new name creates one
    Put {
        /// Session name or handle
        session: String,
        /// File to copy, or `-` for standard input
        file: PathBuf,
        /// Path in the workspace [default: the file's name]
        path: Option<String>,
    },
    /// Copy a file out of a session
    Get {
        /// Session name or handle
        session: String,
        /// Path in the workspace
        path: String,
        /// Where to save it, or `-` for standard output [default: its name, in the current folder]
        file: Option<PathBuf>,
        /// Overwrite an existing file
        #[arg(long)]
        force: bool,
    },
}

pub async fn workspace(arguments: WorkspaceArguments) -> Outcome {
    let sessions = own_sessions::open(&arguments.config)?;
    match arguments.command {
        WorkspaceCommand::Ls { session, pattern, json } => {
            list(&files(&sessions, &session).await?, pattern.as_deref(), arguments.times, json)
        }
        WorkspaceCommand::Cat { session, path } => print(&files(&sessions, &session).await?, &path),
        WorkspaceCommand::Put { session, file, path } => put(&sessions, &session, &file, path).await,
        WorkspaceCommand::Get { session, path, file: Some(file), .. } if file.as_os_str() == "-" => {
            print(&files(&sessions, &session).await?, &path)
        }
        WorkspaceCommand::Get { session, path, file, force } => {
            get(&files(&sessions, &session).await?, &path, file, force)
        }
    }
}

async fn files(sessions: &Sessions, session: &str) -> Result<WorkspaceFiles, Failure> {
    let session = own_sessions::resolved(sessions, session).await?;
    sessions.files(&WHOSE, &session).await.map_err(own_sessions::failure)
}

fn list(files: &WorkspaceFiles, pattern: Option<&str>, times: TimeArguments, as_json: bool) -> Outcome {
    let listing = files.list(pattern, LISTED_MAX).map_err(own_sessions::file_failure)?;
    if as_json {
        print_json(&Value::from_iter(listing.files.iter().map(as_value)));
    } else {
        let mut table =
            Table::new([Column::right("SIZE"), Column::left("MODIFIED"), Column::wrapping("PATH")]);
        for file in &listing.files {
            let size = match file.kind {
                FileKind::File => format_bytes(file.size),
                FileKind::EmptyFolder => "folder".to_owned(),
                FileKind::Other => "other".to_owned(),
            };
            table.row([size, times.minute(file.changed), visible(&file.path)]);
        }
        if !listing.files.is_empty() {
            table.print();
        }
    }
    if listing.files.is_empty() {
        eprint_lines(if pattern.is_some() { "No matching files." } else { "No files." });
    }
    if listing.is_cut || listing.total > listing.files.len() {
        eprint_lines("note: the list is cut; use a pattern to see the rest");
    }
    Ok(ExitCode::SUCCESS)
}

fn as_value(file: &ListedFile) -> Value {
    let kind = match file.kind {
        FileKind::File => "file",
        FileKind::EmptyFolder => "folder",
        FileKind::Other => "other",
    };
    json!({"path": file.path, "bytes": file.size, "changed": utc_text(file.changed), "kind": kind})
}

fn print(files: &WorkspaceFiles, path: &str) -> Outcome {
    let mut file = files.open(path).map_err(own_sessions::file_failure)?;
    print_file(&mut file)
}

async fn put(sessions: &Sessions, session: &str, file: &Path, path: Option<String>) -> Outcome {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let is_input = file.as_os_str() == "-";
    let path = match path.or(name.filter(|_| !is_input)) {
        Some(path) => path,
        None if is_input => {
            return Err(Failure::Usage(anyhow!(
                "standard input needs a path: gristmill workspace put SESSION - PATH"
            )));
        }
        None => return Err(Failure::Usage(anyhow!("{} isn't a regular file", file.display()))),
    };
    // The content first: no session is made for a file that cannot be read.
    let (mut content, size): (Box<dyn Read + Send>, u64) = match is_input {
        true => {
            let mut bytes = Vec::new();
            let most = gristmill_gateway::session::READ_BYTES_MAX;
            let read = io::stdin().lock().take(most + 1).read_to_end(&mut bytes);
            read.map_err(|error| Failure::Internal(anyhow!("can't read standard input: {error}")))?;
            if bytes.len() as u64 > most {
                let most = format_bytes(most);
                return Err(Failure::Usage(anyhow!("standard input is larger than {most}; pass a file")));
            }
            let size = bytes.len() as u64;
            (Box::new(io::Cursor::new(bytes)), size)
        }
        false => {
            let unreadable =
                |error: io::Error| Failure::Usage(anyhow!("can't read {}: {error}", file.display()));
            let opened = File::open(file).map_err(unreadable)?;
            let metadata = opened.metadata().map_err(unreadable)?;
            if !metadata.is_file() {
                return Err(Failure::Usage(anyhow!("{} isn't a regular file", file.display())));
            }
            (Box::new(opened), metadata.len())
        }
    };
    let whose = own_sessions::whose_to_change(session);
    let files = match sessions.files(&whose, session).await {
        Err(SessionError::Missing { .. }) => {
            let entered =
                own_sessions::enter(sessions, session, Patience::default(), SessionWishes::default()).await;
            let held = entered.map_err(own_sessions::failure)?;
            if let (true, Some(name)) = (held.is_new(), held.name()) {
                eprint_lines(&format!("note: {}", own_sessions::new_session_words(name)));
            }
            held.leave().await;
            sessions.files(&whose, session).await
        }
        outcome => outcome,
    };
    let files = files.map_err(own_sessions::failure)?;
    let written = files.write_from(&path, &mut content, size).map_err(own_sessions::file_failure)?;
    let replaced = if written.replaced { ", replaced" } else { "" };
    println!("{} ({}{replaced})", visible(&path), format_bytes(written.size));
    Ok(ExitCode::SUCCESS)
}

fn get(files: &WorkspaceFiles, path: &str, file: Option<PathBuf>, force: bool) -> Outcome {
    let mut source = files.open(path).map_err(own_sessions::file_failure)?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let place = file.unwrap_or_else(|| PathBuf::from(name));
    let place = if place.is_dir() { place.join(name) } else { place };
    let mut options = OpenOptions::new();
    options.write(true).mode(0o600);
    let made = match force {
        true => options.create(true).truncate(true).open(&place),
        false => options.create_new(true).open(&place),
    };
    let mut target = made.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Usage(anyhow!("{} already exists; use --force to overwrite it", place.display()))
        }
        _ => Failure::Usage(anyhow!("can't write {}: {error}", place.display())),
    })?;
    let copied = io::copy(&mut source, &mut target)
        .map_err(|error| Failure::Internal(anyhow!("can't write {}: {error}", place.display())))?;
    println!("{} ({})", visible(&place.display().to_string()), format_bytes(copied));
    Ok(ExitCode::SUCCESS)
}
