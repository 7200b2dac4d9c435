//! A copy begins: from the latest snapshot, or, for the first gateway of all, with what lies in its data folder.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_replica::database;
use gristmill_replica::entry::LogPlace;
use gristmill_replica::kept::Scope;
use gristmill_replica::manifest::{DatabasePart, PART_BYTES, Snapshot};
use gristmill_replica::tree::{self, LeftOut, Scanned, Scanner, Skipped, SkippedWhy};
use tokio::runtime::Handle;

use super::contents::blocking;
use super::error::StateError;
use super::folder::{Membership, Origin, SharedFolder};
use super::log::AppendError;
use super::log_entries::LogEntries;
use super::snapshots::{Found, Latest};
use crate::bus::LOG_AREA;

/// How long a state may take to begin.
const BEGUN_WITHIN: Duration = Duration::from_secs(600);

/// A file that changes while it's taken is looked at so often, with a pause in between.
const SCANS_MAX: usize = 5;
const SCAN_PAUSE: Duration = Duration::from_secs(1);

/// A copy as of an entry.
pub(super) struct Begun {
    pub latest: Latest,
    pub as_of: LogPlace,
    /// Knows its files.
    pub scanner: Scanner,
}

/// Makes the data folder what the latest snapshot says.
pub(super) async fn begin(folder: &Arc<SharedFolder>, entries: &LogEntries) -> Result<Begun, StateError> {
    let found = match entries.latest().await? {
        Some(found) => found,
        None => match begin_state(folder, entries).await? {
            Some(begun) => return Ok(begun),
            // Another gateway began one in this moment.
            None => entries.latest().await?.ok_or_else(gone)?,
        },
    };
    let Found { latest, snapshot } = found;
    let left_out = match check(folder, entries, &latest)? {
        Origin::Elsewhere => LeftOut::Removed,
        Origin::Begins | Origin::Here => LeftOut::Stays,
    };
    folder.remove_database()?;
    let as_of = snapshot.as_of;
    Ok(Begun { latest, as_of, scanner: restore(folder, entries, snapshot, left_out).await? })
}

fn gone() -> StateError {
    StateError::Damaged("its latest snapshot is gone".to_owned())
}

/// Nothing is overwritten that isn't a copy. From here on the folder belongs to the state.
fn check(folder: &SharedFolder, entries: &LogEntries, latest: &Latest) -> Result<Origin, StateError> {
    let cluster = entries.cluster().to_string();
    let data = || folder.data().to_owned();
    match folder.membership()? {
        Some(Membership { id, origin, .. }) if id == latest.state => {
            if origin == Origin::Begins {
                folder.join(entries.cluster(), &latest.state, Origin::Here)?;
            }
            return Ok(origin);
        }
        // It never began: another gateway was quicker.
        Some(Membership { origin: Origin::Begins, .. }) => folder.leave(),
        Some(Membership { cluster, .. }) => {
            return Err(StateError::OtherCluster { folder: data(), cluster });
        }
        None => {}
    }
    if folder.has_own_state()? {
        return Err(StateError::OwnState { folder: data(), cluster });
    }
    if let Some(aside) = folder.set_aside()? {
        let aside = aside.display();
        tracing::info!(target: LOG_AREA, %aside, "what commands had left here is put aside");
    }
    folder.join(entries.cluster(), &latest.state, Origin::Elsewhere)?;
    Ok(Origin::Elsewhere)
}

/// The state begins with what lies here; `None` if another gateway was quicker.
async fn begin_state(folder: &Arc<SharedFolder>, entries: &LogEntries) -> Result<Option<Begun>, StateError> {
    let state = match folder.membership()? {
        // It was interrupted, and may have begun at the last moment.
        Some(Membership { id, origin: Origin::Begins, .. }) => id,
        Some(Membership { cluster, .. }) => {
            return Err(StateError::Forgotten { folder: folder.data().to_owned(), cluster });
        }
        None => new_id()?,
    };
    tracing::info!(target: LOG_AREA, "the shared state begins with this data folder");
    // Before anything is copied: what commands change from here on would be lost, so they are refused.
    folder.join(entries.cluster(), &state, Origin::Begins)?;
    let (latest, as_of, scanner) = match kept_as_it_lies(folder, entries, &state).await {
        Ok(kept) => kept,
        Err(StateError::Append(AppendError::Overtaken { .. })) => return Ok(None),
        // It may have begun after all: the next try finds out.
        Err(error @ StateError::Append(AppendError::Unavailable(_))) => return Err(error),
        Err(error) => {
            folder.leave();
            return Err(error);
        }
    };
    folder.join(entries.cluster(), &state, Origin::Here)?;
    folder.remove_database()?;
    Ok(Some(Begun { latest, as_of, scanner }))
}

fn new_id() -> Result<String, StateError> {
    let mut id = [0; 16];
    getrandom::fill(&mut id)?;
    Ok(id.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The first snapshot, of what lies here. Nothing of that is touched.
async fn kept_as_it_lies(
    folder: &Arc<SharedFolder>,
    entries: &LogEntries,
    state: &str,
) -> Result<(Latest, LogPlace, Scanner), StateError> {
    let (from, to) = (folder.database(), folder.copy());
    let copied = blocking(move || Ok(database::copy(&from, &to))).await;
    copied.map_err(|error| StateError::Files(error.to_string()))??;
    let scanner = taken(folder, entries).await?;
    let as_of = entries.log.last_place().await?;
    let (manifest, copy) = (scanner.manifest().clone(), folder.copy());
    let (latest, _) = entries.keep_snapshot(state, 0, (as_of, manifest, &copy)).await?;
    Ok((latest, as_of, scanner))
}

/// All files that lie here, with their contents kept. Fails if one of them can't be: others would go on without it.
async fn taken(folder: &SharedFolder, entries: &LogEntries) -> Result<Scanner, StateError> {
    let data = folder.data().to_owned();
    let failed = |error: io::Error| StateError::Files(error.to_string());
    let scanner = blocking(move || Scanner::new(&data).map_err(io::Error::other)).await;
    let mut scanner = scanner.map_err(failed)?;
    let until = Instant::now() + BEGUN_WITHIN;
    let mut scans = 1;
    loop {
        let seal = Arc::clone(entries.seal());
        let looked = blocking(move || {
            let scanned = scanner.scan(&Scope::Everything, &seal).map_err(io::Error::other)?;
            Ok((scanner, scanned))
        });
        let scanned;
        (scanner, scanned) = looked.await.map_err(failed)?;
        match kept(&scanned, entries, until).await? {
            None => {
                if scanned.left_out > 0 {
                    let count = scanned.left_out;
                    tracing::info!(target: LOG_AREA, count, "links and devices aren't shared, and stay here");
                }
                scanner.commit(&scanned.changes);
                return Ok(scanner);
            }
            Some(Skipped { why: SkippedWhy::Changing, .. }) if scans < SCANS_MAX => {
                scans += 1;
                tokio::time::sleep(SCAN_PAUSE).await;
            }
            Some(Skipped { path, why }) => {
                let why = format!("{path} can't be shared: {why}");
                return Err(StateError::Folder { folder: folder.data().to_owned(), why });
            }
        }
    }
}

/// Keeps all contents; gives what can't be kept, if there is anything.
async fn kept(
    scanned: &Scanned,
    entries: &LogEntries,
    until: Instant,
) -> Result<Option<Skipped>, StateError> {
    // One that won't pass first: it needn't be waited for.
    let lasting = scanned.skipped.iter().find(|skipped| skipped.why != SkippedWhy::Changing);
    if let Some(skipped) = lasting.or(scanned.skipped.first()) {
        return Ok(Some(skipped.clone()));
    }
    for content in &scanned.contents {
        match entries.contents.keep_file(content, until).await {
            Ok(_) => {}
            Err(StateError::Changing(_)) => {
                return Ok(Some(Skipped { path: content.path.clone(), why: SkippedWhy::Changing }));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// The files and the database as a snapshot has them.
async fn restore(
    folder: &Arc<SharedFolder>,
    entries: &LogEntries,
    snapshot: Snapshot,
    left_out: LeftOut,
) -> Result<Scanner, StateError> {
    let (folder, entries, runtime) = (Arc::clone(folder), entries.clone(), Handle::current());
    let restored = blocking(move || {
        let mut fetch = |state: &_| Ok(entries.contents.fetch(&runtime, state));
        let (manifest, seal) = (&snapshot.manifest, entries.seal());
        let reconciled = tree::reconcile(folder.data(), manifest, seal, left_out, &mut fetch);
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
