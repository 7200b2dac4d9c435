//! Snapshots: all of the state as it was after an entry, so that the log before it can go.
//!
//! One small message says where the latest is. Whoever writes it says which one it replaces, so that one that was made
//! long ago never takes the place of a newer one, whose log has gone.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use gristmill_replica::entry::LogPlace;
use gristmill_replica::manifest::{DatabasePart, Manifest, PART_BYTES, Snapshot};
use gristmill_replica::seal::ContentHash;
use serde::{Deserialize, Serialize};

use super::contents::blocking;
use super::error::StateError;
use super::log_entries::{LogEntries, of_pack};

/// How long keeping one may take.
const KEPT_WITHIN: Duration = Duration::from_secs(600);

/// A content that no snapshot names is let go of after so long: one that is being kept isn't named yet.
const LET_GO_AFTER: Duration = Duration::from_secs(900);

/// Where the latest snapshot is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Pointer {
    /// Of the state: another one has another.
    state: String,
    id: ContentHash,
    bytes: u64,
}

/// A snapshot with what its message says.
pub(super) struct Found {
    pub latest: Latest,
    pub snapshot: Snapshot,
}

/// Which snapshot is the latest.
#[derive(Clone, Debug)]
pub(super) struct Latest {
    /// Of the state: one that began anew has another.
    pub state: String,
    /// Of the message that says where it is.
    pub revision: u64,
}

impl LogEntries {
    /// The latest snapshot, if there is any.
    pub async fn latest(&self) -> Result<Option<Found>, StateError> {
        let Some((revision, sealed)) = self.log.snapshot().await? else { return Ok(None) };
        let opened = self.seal().open(&self.pointer_place(), &sealed);
        let opened = opened.map_err(|_| StateError::WrongKey { key: self.seal().id() })?;
        let damaged = |_| StateError::Damaged("where the latest snapshot is can't be read".to_owned());
        let Pointer { state, id, bytes } = postcard::from_bytes(&opened).map_err(damaged)?;
        let packed = self.contents.read(id, bytes).await?;
        let snapshot = Snapshot::decode(&packed).map_err(of_pack)?;
        Ok(Some(Found { latest: Latest { state, revision }, snapshot }))
    }

    /// Keeps a snapshot in place of the one with that revision (0: of none); gives what it names, too. `database` is a
    /// file that nobody writes meanwhile.
    pub async fn keep_snapshot(
        &self,
        state: &str,
        revision: u64,
        (as_of, manifest, database): (LogPlace, Manifest, &Path),
    ) -> Result<(Latest, HashSet<ContentHash>), StateError> {
        let until = Instant::now() + KEPT_WITHIN;
        let mut parts = Vec::new();
        if let Some(mut file) = opened(database)? {
            loop {
                let read;
                (file, read) = blocking(move || {
                    let mut part = Vec::new();
                    (&mut file).take(PART_BYTES as u64).read_to_end(&mut part)?;
                    Ok((file, part))
                })
                .await
                .map_err(|error| unreadable(&error))?;
                if read.is_empty() {
                    break;
                }
                let hash = self.contents.keep(&read, until).await?;
                parts.push(DatabasePart { hash, bytes: u32::try_from(read.len()).unwrap_or(u32::MAX) });
            }
        }
        let snapshot = Snapshot { as_of, manifest, database: parts };
        // Of many files it takes a while.
        let (snapshot, packed) = blocking(move || {
            let packed = snapshot.encode();
            Ok((snapshot, packed))
        })
        .await
        .map_err(|error| StateError::Files(error.to_string()))?;
        let packed = packed.map_err(of_pack)?;
        let id = self.contents.keep(&packed, until).await?;
        let pointer = Pointer { state: state.to_owned(), id, bytes: packed.len() as u64 };
        let plain = postcard::to_stdvec(&pointer).map_err(|error| StateError::Damaged(error.to_string()))?;
        let sealed = self.seal().seal(&self.pointer_place(), &plain);
        let sealed = sealed.map_err(|error| StateError::Damaged(error.to_string()))?;
        let revision = self.log.set_snapshot(revision, sealed, until).await?;
        let mut named = named(&snapshot);
        named.insert(id);
        Ok((Latest { state: state.to_owned(), revision }, named))
    }

    /// Lets go of the log before that entry, and of contents that nothing names any more: neither this snapshot nor an
    /// entry since. Ends when this gateway doesn't lead any more: another one needs others.
    pub async fn trim(
        &self,
        as_of: u64,
        named: &HashSet<ContentHash>,
        leads: impl Fn() -> bool,
    ) -> Result<(), StateError> {
        self.log.trim(as_of).await?;
        let blobs = self.contents.blobs();
        for kept in blobs.list().await? {
            let id = ContentHash(kept.id);
            if kept.age > LET_GO_AFTER && !named.contains(&id) {
                let let_go = async || match leads() {
                    true => blobs.forget(&kept).await,
                    false => Ok(()),
                };
                self.contents.needed().unless(&id, let_go).await?;
            }
        }
        Ok(())
    }

    fn pointer_place(&self) -> String {
        format!("latest snapshot of {}", self.cluster())
    }
}

/// What a snapshot names.
fn named(snapshot: &Snapshot) -> HashSet<ContentHash> {
    let files = snapshot.manifest.stored().map(|file| file.hash);
    files.chain(snapshot.database.iter().map(|part| part.hash)).collect()
}

fn opened(database: &Path) -> Result<Option<File>, StateError> {
    match File::open(database) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(&error)),
    }
}

fn unreadable(error: &io::Error) -> StateError {
    StateError::Files(format!("the copy of the database can't be read: {error}"))
}
