//! A session as one file, to take elsewhere: a tar archive of `manifest.json`, `state.json` and
//! `workspace/`, in this order.
//!
//! An archive may come from anywhere: what it names is resolved as carefully as what a caller names,
//! and what it holds is counted.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use gristmill_domain::policy::Seen;
use gristmill_domain::{Level, LimitName, Limits, one_line, utc_text};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::file_error::FileError;
use super::files::WorkspaceFiles;
use super::folder::{self, CopyBounds, SessionFolder};
use super::held;
use super::listing::FileKind;
use super::tar::{TarError, TarReader, TarWriter};
use super::{NewSession, Patience, SessionError, SessionInfo, Sessions, Whose};
use crate::ids::Owner;
use crate::state_values::{ALL_BYTES_MAX, Others, check_readable, check_room};

/// What stands in a manifest, so that no other archive is taken for a session.
const FORMAT: &str = "gristmill session";
/// Raised when an older Gristmill could not read what we write.
const VERSION: u32 = 1;
/// A few short values.
const MANIFEST_BYTES_MAX: u64 = 64 * 1024;
/// All values that a session may have, as JSON within JSON, which at most doubles them.
const STATE_BYTES_MAX: u64 = 2 * ALL_BYTES_MAX as u64 + (1 << 20);
const WORKSPACE: &str = "workspace/";

/// A session that could not be taken out or in. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    #[error(transparent)]
    Session(#[from] SessionError),
    /// What was to be read.
    #[error("can't use the archive: {0}")]
    Archive(String),
    /// One of its files.
    #[error(transparent)]
    File(#[from] FileError),
    /// Where it was to be written.
    #[error("can't write the archive: {0}")]
    Write(std::io::Error),
}

impl From<TarError> for ArchiveError {
    fn from(error: TarError) -> Self {
        ArchiveError::Archive(error.to_string())
    }
}

/// What was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub session: SessionInfo,
}

#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    name: Option<String>,
    exported: String,
    max_bytes: Option<u64>,
    max_files: Option<u64>,
    /// Archives of earlier versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    /// Which marked data the session's programs have read.
    #[serde(default, skip_serializing_if = "Seen::is_empty")]
    seen: Seen,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level: Option<Level>,
}

impl Sessions {
    /// Writes a session as an archive, and gives how many entries of its workspace were left out
    /// since they are not plain files. Nobody else is in the session meanwhile.
    pub async fn export<W: Write + Send + 'static>(
        &self,
        whose: &Whose,
        session: &str,
        patience: Patience,
        out: W,
    ) -> Result<(W, usize), ArchiveError> {
        let held = self.enter(whose, session, patience).await?;
        let record = held.record();
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let manifest = Manifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            name: record.name.clone(),
            exported: utc_text(SystemTime::now()),
            max_bytes: number(record.max_bytes),
            max_files: number(record.max_files),
            max_output_tokens: number(record.max_output_tokens),
            seen: record.seen.clone(),
            level: held.level(),
        };
        let values = self.inner.store.session_values(record.id.clone()).await.map_err(SessionError::from)?;
        let files = self.files_of(record)?;
        let written = tokio::task::spawn_blocking(move || write(out, &manifest, values, &files));
        let written = written.await.map_err(|error| ArchiveError::Archive(error.to_string()))?;
        held.leave().await;
        written
    }

    /// Makes a session of an archive. `name` takes the place of the one that it had.
    pub async fn import<R: Read + Send + 'static>(
        &self,
        owner: &Owner,
        name: Option<String>,
        input: R,
    ) -> Result<Imported, ArchiveError> {
        let reading = tokio::task::spawn_blocking(move || read_beginning(input));
        let broken = |error: tokio::task::JoinError| ArchiveError::Archive(error.to_string());
        let (manifest, values, archive) = reading.await.map_err(broken)??;
        let new = NewSession {
            name: name.or(manifest.name),
            max_bytes: manifest.max_bytes,
            max_files: manifest.max_files,
            max_output_tokens: manifest.max_output_tokens,
            seen: manifest.seen,
            level: manifest.level,
            // An archive may come from anybody, and one wall less is for its user to choose.
            engine: None,
            is_debugged: false,
        };
        let limits = held::lowered_to(&self.inner.limits, new.max_bytes, new.max_files);
        let problem: Arc<Mutex<Option<ArchiveError>>> = Arc::default();
        let told = Arc::clone(&problem);
        let made = self
            .create_with(owner, new, values, move |folder, _| {
                unpack(archive, folder, &limits).map_err(|error| {
                    let text = error.to_string();
                    *told.lock() = Some(error);
                    std::io::Error::other(text)
                })
            })
            .await;
        let held = match made {
            Ok(held) => held,
            Err(error) => {
                let problem = problem.lock().take();
                return Err(problem.unwrap_or(ArchiveError::Session(error)));
            }
        };
        let session = self.info(&Whose::Everyones, held.id().as_str()).await?;
        held.leave().await;
        Ok(Imported { session: SessionInfo { is_busy: false, ..session } })
    }
}

fn write<W: Write>(
    out: W,
    manifest: &Manifest,
    values: Vec<(String, String)>,
    files: &WorkspaceFiles,
) -> Result<(W, usize), ArchiveError> {
    let listing = files.list(None, usize::MAX)?;
    if listing.is_cut {
        let why = "the workspace has more entries, or deeper folders, than an archive is made of";
        return Err(ArchiveError::Archive(why.to_owned()));
    }
    let mut tar = TarWriter::new(out);
    let mut left_out = 0;
    let text =
        |value: serde_json::Result<String>| value.map_err(|error| ArchiveError::Archive(error.to_string()));
    let now = seconds(SystemTime::now());
    let manifest = text(serde_json::to_string_pretty(manifest))?;
    let state = text(serde_json::to_string(&values.into_iter().collect::<BTreeMap<_, _>>()))?;
    for (name, text) in [("manifest.json", manifest), ("state.json", state)] {
        tar.file(name, text.len() as u64, now, &mut text.as_bytes()).map_err(ArchiveError::Write)?;
    }
    for entry in listing.files {
        let path = format!("{WORKSPACE}{}", entry.path);
        match entry.kind {
            FileKind::EmptyFolder => tar.folder(&path).map_err(ArchiveError::Write)?,
            FileKind::Other => left_out += 1,
            FileKind::File => {
                // A name that is not text cannot be found by what is shown of it.
                let Ok(mut file) = files.open(&entry.path) else {
                    left_out += 1;
                    continue;
                };
                let size = file.metadata().map_err(ArchiveError::Write)?.len();
                tar.file(&path, size, seconds(entry.changed), &mut file).map_err(ArchiveError::Write)?;
            }
        }
    }
    Ok((tar.finish().map_err(ArchiveError::Write)?, left_out))
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

type Beginning<R> = (Manifest, Vec<(String, String)>, TarReader<R>);

/// What the archive says about itself, and the state in it.
fn read_beginning<R: Read>(input: R) -> Result<Beginning<R>, ArchiveError> {
    let mut tar = TarReader::new(input);
    let not_ours = |why: &str| ArchiveError::Archive(format!("it isn't an exported session: {why}"));
    let manifest = member(&mut tar, "manifest.json", MANIFEST_BYTES_MAX)?;
    let manifest: Manifest =
        serde_json::from_slice(&manifest).map_err(|error| not_ours(&format!("manifest.json: {error}")))?;
    if manifest.format != FORMAT {
        return Err(not_ours("manifest.json is of something else"));
    }
    if manifest.version > VERSION {
        return Err(ArchiveError::Archive("a newer Gristmill wrote it; use that version".to_owned()));
    }
    let state = member(&mut tar, "state.json", STATE_BYTES_MAX)?;
    let state: BTreeMap<String, String> =
        serde_json::from_slice(&state).map_err(|error| not_ours(&format!("state.json: {error}")))?;
    let mut others = Others::default();
    for (key, value) in &state {
        check_room(key, value, others).map_err(|failure| ArchiveError::Archive(failure.to_string()))?;
        check_readable(key, value).map_err(|failure| ArchiveError::Archive(failure.to_string()))?;
        if serde_json::from_str::<serde::de::IgnoredAny>(value).is_err() {
            let key = one_line(key, 40);
            return Err(ArchiveError::Archive(format!("the value of `{key}` in its state is not JSON")));
        }
        others = Others { count: others.count + 1, bytes: others.bytes + key.len() + value.len() };
    }
    Ok((manifest, state.into_iter().collect(), tar))
}

fn member<R: Read>(tar: &mut TarReader<R>, name: &str, bytes_max: u64) -> Result<Vec<u8>, ArchiveError> {
    let wrong = |why: String| Err(ArchiveError::Archive(format!("it isn't an exported session: {why}")));
    match tar.next_entry()? {
        Some(entry) if entry.path == name && !entry.is_folder && entry.size <= bytes_max => {
            let mut bytes = Vec::new();
            tar.content().read_to_end(&mut bytes).map_err(TarError::from)?;
            match bytes.len() as u64 == entry.size {
                true => Ok(bytes),
                false => wrong(format!("{name} is cut off")),
            }
        }
        Some(entry) if entry.path == name => wrong(format!("{name} is too large")),
        Some(_) | None => wrong(format!("{name} is missing")),
    }
}

/// Puts the files of an archive into a new workspace. Blocks on the disk.
fn unpack<R: Read>(
    mut tar: TarReader<R>,
    folder: &SessionFolder,
    limits: &Limits,
) -> Result<(), ArchiveError> {
    let failed = |error: std::io::Error| {
        ArchiveError::Session(SessionError::NoFolder { session: "new".to_owned(), reason: error.to_string() })
    };
    folder.make_workspace().map_err(failed)?;
    let root = folder::open_folder(&folder.workspace()).map_err(failed)?;
    let incoming = folder::open_folder(&folder.incoming()).map_err(failed)?;
    let files = WorkspaceFiles::new(root, incoming, limits.clone());
    let mut left = CopyBounds {
        bytes: limits.get(LimitName::WorkspaceBytes),
        files: limits.get(LimitName::WorkspaceFiles),
    };
    while let Some(entry) = tar.next_entry()? {
        if entry.is_folder && entry.path == WORKSPACE.trim_end_matches('/') {
            continue;
        }
        let Some(path) = entry.path.strip_prefix(WORKSPACE) else {
            let shown = one_line(&entry.path, 80);
            return Err(ArchiveError::Archive(format!("`{shown}` in it is not in `workspace/`")));
        };
        let too_much = |name: LimitName| ArchiveError::File(FileError::Limit(limits.hit_message(name)));
        left.bytes = left.bytes.checked_sub(entry.size).ok_or_else(|| too_much(LimitName::WorkspaceBytes))?;
        let entries = files.new_entries(path, entry.is_folder)?;
        left.files = left.files.checked_sub(entries).ok_or_else(|| too_much(LimitName::WorkspaceFiles))?;
        match entry.is_folder {
            true => files.make_folder(path)?,
            false => files.write_new(path, &mut tar.content(), entry.size)?,
        }
    }
    Ok(())
}
