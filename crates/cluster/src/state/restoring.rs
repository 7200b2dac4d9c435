//! A copy begins: from the latest snapshot, or, for the first gateway of all, with what lies in its data folder.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_replica::database;
use gristmill_replica::kept::Scope;
use gristmill_replica::manifest::{DatabasePart, Manifest, PART_BYTES, Snapshot};
use gristmill_replica::tree::{self, Scanner};
use tokio::runtime::Handle;

use super::contents::blocking;
use super::error::StateError;
use super::folder::{Membership, SharedFolder};
use super::log::AppendError;
use super::log_entries::LogEntries;
use super::snapshots::{Found, Latest};

/// How long a state may take to begin.
const BEGUN_WITHIN: Duration = Duration::from_secs(600);

/// A copy as of an entry.
pub(super) struct Begun {
    pub latest: Latest,
    pub as_of: u64,
    /// Knows its files.
    pub scanner: Scanner,
}

/// Makes the data folder what the latest snapshot says.
pub(super) async fn begin(folder: &Arc<SharedFolder>, entries: &LogEntries) -> Result<Begun, StateError> {
    let found = match entries.latest().await? {
        Some(found) => found,
        None => match begin_state(folder, entries).await? {
            Some(found) => found,
            // Another gateway began one in this moment.
            None => entries.latest().await?.ok_or_else(gone)?,
        },
    };
    let Found { latest, snapshot } = found;
    check(folder, entries, &latest)?;
    folder.join(entries.cluster(), &latest.state)?;
    folder.remove_database()?;
    let as_of = snapshot.as_of;
    Ok(Begun { latest, as_of, scanner: restore(folder, entries, snapshot).await? })
}

fn gone() -> StateError {
    StateError::Damaged("its latest snapshot is gone".to_owned())
}

/// Nothing is overwritten that isn't a copy.
fn check(folder: &SharedFolder, entries: &LogEntries, latest: &Latest) -> Result<(), StateError> {
    let cluster = entries.cluster().to_string();
    let data = || folder.data().to_owned();
    match folder.membership()? {
        Some(Membership { id, .. }) if id == latest.state => Ok(()),
        Some(Membership { cluster, .. }) => Err(StateError::OtherCluster { folder: data(), cluster }),
        None if folder.has_own_state()? => Err(StateError::OwnState { folder: data(), cluster }),
        None => {
            if let Some(aside) = folder.set_aside()? {
                let aside = aside.display();
                tracing::info!(target: crate::bus::LOG_AREA, %aside, "what commands had left here is put aside");
            }
            Ok(())
        }
    }
}

/// The state begins with what lies here; `None` if another gateway was quicker.
async fn begin_state(folder: &Arc<SharedFolder>, entries: &LogEntries) -> Result<Option<Found>, StateError> {
    if let Some(Membership { cluster, .. }) = folder.membership()? {
        return Err(StateError::Forgotten { folder: folder.data().to_owned(), cluster });
    }
    tracing::info!(target: crate::bus::LOG_AREA, "the shared state begins with this data folder");
    let mut id = [0; 16];
    getrandom::fill(&mut id)?;
    let state: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (from, to) = (folder.database(), folder.copy());
    let copied = blocking(move || database::copy(&from, &to).map_err(io::Error::other)).await;
    copied.map_err(|error| StateError::Files(error.to_string()))?;
    let manifest = taken(folder, entries).await?;
    let as_of = entries.log.last().await?;
    let copy = folder.copy();
    // Whoever is killed right after it goes on with it.
    folder.join(entries.cluster(), &state)?;
    let kept = entries.keep_snapshot(&state, 0, (as_of, manifest, &copy)).await;
    match kept {
        Ok(_) => entries.latest().await,
        Err(StateError::Append(AppendError::Overtaken { .. })) => {
            folder.leave();
            Ok(None)
        }
        Err(error) => {
            folder.leave();
            Err(error)
        }
    }
}

/// All files that lie here, with their contents kept.
async fn taken(folder: &Arc<SharedFolder>, entries: &LogEntries) -> Result<Manifest, StateError> {
    let (data, seal) = (folder.data().to_owned(), Arc::clone(entries.seal()));
    let failed = |error: io::Error| StateError::Files(error.to_string());
    let (mut scanner, scanned) = blocking(move || {
        let mut scanner = Scanner::new(&data).map_err(io::Error::other)?;
        let scanned = scanner.scan(&Scope::Everything, &seal).map_err(io::Error::other)?;
        Ok((scanner, scanned))
    })
    .await
    .map_err(failed)?;
    let until = Instant::now() + BEGUN_WITHIN;
    for content in &scanned.contents {
        entries.contents.keep_file(content, until).await?;
    }
    scanner.commit(&scanned.changes);
    Ok(scanner.manifest().clone())
}

/// The files and the database as a snapshot has them.
async fn restore(
    folder: &Arc<SharedFolder>,
    entries: &LogEntries,
    snapshot: Snapshot,
) -> Result<Scanner, StateError> {
    let (folder, entries, runtime) = (Arc::clone(folder), entries.clone(), Handle::current());
    let restored = blocking(move || {
        let mut fetch = |state: &_| Ok(entries.contents.fetch(&runtime, state));
        let reconciled = tree::reconcile(folder.data(), &snapshot.manifest, entries.seal(), &mut fetch);
        let (scanner, _) = reconciled.map_err(io::Error::other)?;
        restore_database(&folder.copy(), &snapshot.database, &entries, &runtime)?;
        Ok(scanner)
    });
    restored.await.map_err(|error| StateError::Files(error.to_string()))
}

/// Part by part; what is right already isn't fetched.
fn restore_database(
    copy: &Path,
    parts: &[DatabasePart],
    entries: &LogEntries,
    runtime: &Handle,
) -> io::Result<()> {
    let unfinished = copy.with_extension("unfinished");
    let mut before = File::open(copy).ok();
    let mut after =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    for part in parts {
        let mut bytes = Vec::new();
        if let Some(before) = &mut before {
            before.take(PART_BYTES as u64).read_to_end(&mut bytes)?;
        }
        if bytes.len() != part.bytes as usize || entries.seal().content_hash(&bytes) != part.hash {
            let read = runtime.block_on(entries.contents.read(part.hash, u64::from(part.bytes)));
            bytes = read.map_err(|error| io::Error::other(error.to_string()))?;
        }
        after.write_all(&bytes)?;
    }
    drop(after);
    match parts.is_empty() {
        // Without a database, the first gateway begins one.
        true => std::fs::remove_file(&unfinished).and_then(|()| remove(copy)),
        false => std::fs::rename(&unfinished, copy),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
