//! `gristmill sessions export` and `import`: a session as one file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, BufWriter, IsTerminal, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::domain::counted;
use gristmill_gateway::ids::Owner;
use gristmill_gateway::session::{Patience, Sessions};

use super::{Failure, Outcome};
use crate::own_sessions::{self, WHOSE, content};
use crate::terminal::eprint_lines;

pub async fn export(sessions: &Sessions, session: &str, file: Option<&Path>) -> Outcome {
    let info = sessions.info(&WHOSE, session).await.map_err(own_sessions::failure)?;
    let place = match file {
        Some(file) => file.to_owned(),
        None => PathBuf::from(format!("{}.tar", info.name.as_deref().unwrap_or(info.id.as_str()))),
    };
    let left_out = if place.as_os_str() == "-" {
        if io::stdout().is_terminal() {
            return Err(Failure::Usage(anyhow!(
                "a tar file can't go to a terminal; pass a file name, or pipe it"
            )));
        }
        export_to(sessions, session, io::stdout()).await?
    } else {
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600).open(&place);
        let made = made.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Failure::Usage(anyhow!("{} already exists; choose another file", place.display()))
            }
            _ => Failure::Usage(anyhow!("can't create {}: {error}", place.display())),
        })?;
        let exported = export_to(sessions, session, made).await;
        if exported.is_err() {
            // Half an archive is of no use, and stands in the way of the next attempt.
            let _ = std::fs::remove_file(&place);
        }
        let left_out = exported?;
        println!("{}", place.display());
        left_out
    };
    if left_out > 0 {
        eprint_lines(&format!("note: {left_out} entries aren't regular files and were left out"));
    }
    Ok(ExitCode::SUCCESS)
}

async fn export_to(
    sessions: &Sessions,
    session: &str,
    out: impl Write + Send + 'static,
) -> Result<usize, Failure> {
    let exported = sessions.export(&WHOSE, session, Patience::Refuse, BufWriter::new(out)).await;
    let (mut out, left_out) = exported.map_err(own_sessions::archive_failure)?;
    out.flush().map_err(|error| Failure::Internal(anyhow!("can't write the archive: {error}")))?;
    Ok(left_out)
}

pub async fn import(sessions: &Sessions, file: &Path, name: Option<String>) -> Outcome {
    let input: Box<dyn Read + Send> = match file.as_os_str() == "-" {
        true => Box::new(io::stdin()),
        false => {
            let opened = File::open(file);
            Box::new(
                opened.map_err(|error| Failure::Usage(anyhow!("can't open {}: {error}", file.display())))?,
            )
        }
    };
    let imported = sessions.import(&Owner::local(), name, BufReader::new(input)).await;
    let session = imported.map_err(own_sessions::archive_failure)?.session;
    println!("{}", session.id);
    eprint_lines(&format!(
        "imported{}: {}, {}",
        session.name.as_ref().map(|name| format!(" as `{name}`")).unwrap_or_default(),
        content(&session),
        counted(session.keys.len(), "key")
    ));
    Ok(ExitCode::SUCCESS)
}
