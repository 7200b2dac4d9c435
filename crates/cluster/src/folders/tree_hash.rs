//! What a read-only tree is called everywhere: a hash of its content.
//!
//! The names of trees on the gateway don't do. They are hashes of what a tree is made from, which another version
//! may write in other words; and a node that believed a gateway that this name is that content would hand the one's
//! content to the programs of another.

use std::fmt;
use std::fs::{File, Metadata};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_files::FileStamp;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::error::FolderError;
use super::snapshot::{Entry, Snapshot, snapshot};

/// No other hash of ours is of the same bytes.
const CONTEXT: &str = "gristmill 2026-11 cluster: content of a tree";

/// Trees whose hashes are kept. More are hashed again.
const KNOWN_MAX: usize = 256;

/// Clocks of file systems tick this often at the least. Before that, a folder that was made in the place of another
/// may have its stamp.
const SETTLED_AFTER: Duration = Duration::from_millis(100);

/// Equal for two folders if and only if they hold the same names, kinds and contents. Times don't count.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TreeHash([u8; 32]);

/// Text that is not the hash of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it isn't 64 hexadecimal digits in lower case")]
pub struct NotATreeHash;

/// Reads a folder and gives its hash.
pub fn tree_hash(folder: BorrowedFd<'_>, bounds: Bounds) -> Result<TreeHash, FolderError> {
    Ok(TreeHash::of(&snapshot(folder, bounds)?))
}

impl TreeHash {
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
        // Each folder on the way down, and how many of its entries were hashed.
        let mut way = vec![(Snapshot::ROOT, 0)];
        while let Some((folder, next)) = way.last_mut() {
            let Some((name, entry)) = snapshot.folder(*folder).get(*next) else {
                hasher.update(b"u");
                way.pop();
                continue;
            };
            *next += 1;
            match entry {
                Entry::Folder(place) => {
                    hasher.update(&[b'd', name.length()]).update(name.bytes());
                    way.push((*place, 0));
                }
                Entry::File(file) => {
                    hasher.update(&[b'f', name.length()]).update(name.bytes()).update(file.hash.as_bytes());
                }
            }
        }
        Self(*hasher.finalize().as_bytes())
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for TreeHash {
    fn from(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

impl fmt::Display for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for TreeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TreeHash({self})")
    }
}

impl FromStr for TreeHash {
    type Err = NotATreeHash;

    fn from_str(text: &str) -> Result<Self, NotATreeHash> {
        let hash = blake3::Hash::from_hex(text).map_err(|_| NotATreeHash)?;
        let hash = Self(*hash.as_bytes());
        if hash.to_string() == text { Ok(hash) } else { Err(NotATreeHash) }
    }
}

/// The hashes of the gateway's own trees, each taken once.
///
/// Only for trees that are written once, under a name of their own, and then renamed into place, as those of tools,
/// skills and packages are: a change deep inside, which no such tree sees, isn't seen here either.
#[derive(Default)]
pub struct TreeHashes {
    /// By the stamp of a tree's root, which tells it from any other that has been in its place.
    known: Mutex<Vec<(FileStamp, TreeHash)>>,
}

impl TreeHashes {
    /// A hash that was taken before.
    pub fn known(&self, folder: BorrowedFd<'_>) -> Option<TreeHash> {
        let metadata = folder.try_clone_to_owned().and_then(|folder| File::from(folder).metadata());
        let stamp = FileStamp::from(&metadata.ok()?);
        self.known.lock().iter().find(|(known, _)| *known == stamp).map(|(_, hash)| *hash)
    }

    /// The hash of a tree, which the caller keeps from being removed.
    pub fn of(&self, folder: BorrowedFd<'_>, bounds: Bounds) -> Result<TreeHash, FolderError> {
        let metadata = folder.try_clone_to_owned().and_then(|folder| File::from(folder).metadata());
        let metadata = metadata.map_err(FolderError::system("look at a tree"))?;
        let stamp = FileStamp::from(&metadata);
        if let Some((_, hash)) = self.known.lock().iter().find(|(known, _)| *known == stamp) {
            return Ok(*hash);
        }
        let hash = tree_hash(folder, bounds)?;
        if is_settled(&metadata) {
            let mut known = self.known.lock();
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            known.push((stamp, hash));
        }
        Ok(hash)
    }
}

fn is_settled(metadata: &Metadata) -> bool {
    let (seconds, nanoseconds) = (metadata.ctime(), metadata.ctime_nsec());
    let changed = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
    let changed = changed.map(|(seconds, nanoseconds)| UNIX_EPOCH + Duration::new(seconds, nanoseconds));
    changed.is_some_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > SETTLED_AFTER))
}
