//! What we wrote into which client's file, kept in the data folder so that it can be taken back.

use std::path::{Path, PathBuf};

use gristmill_config::read_file::{FileText, ReadError};
use gristmill_files::{FileLock, LockError, WriteError, replace_keeping_mode};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::undo::Undo;

/// The name of the store in the data folder.
pub const FILE_NAME: &str = "connections.json";
const VERSION: u32 = 1;
const BYTES_MAX: u64 = 32 << 20;
/// More files than anyone connects.
const CONNECTIONS_MAX: usize = 1_000;

/// One file that has our entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    pub client: String,
    pub file: PathBuf,
    /// What we are called there.
    pub name: String,
    /// When, in UTC.
    pub at: String,
    pub entry: Json,
    /// Whether the access token in the entry is not from us.
    #[serde(default)]
    pub has_own_token: bool,
    /// What stood there before under this name.
    pub previous: Option<SavedEntry>,
    /// The hash of the file as we left it.
    pub hash: String,
    /// The file as it was; none if there was none.
    pub backup: Option<PathBuf>,
    /// The client's servers that moved behind us.
    pub moved: Vec<Moved>,
    /// How to take it back to the byte.
    pub undo: Option<Undo>,
}

/// A server that moved behind us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// Its name in the client.
    pub name: String,
    /// As it stood there.
    pub entry: SavedEntry,
}

/// An entry of a client, which may hold secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SavedEntry(pub Json);

impl std::fmt::Debug for SavedEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SavedEntry(…)")
    }
}

/// The store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// It cannot be read.
    #[error("can't use the record of connections in {path}: the file {source}", path = .path.display())]
    Read { path: PathBuf, source: ReadError },
    /// It is not ours, or damaged.
    #[error("can't read the record of connections in {path}; move the file away to continue without it", path = .0.display())]
    Damaged(PathBuf),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Nobody else may change it meanwhile, and that could not be had.
    #[error("can't change the record of connections: {0}")]
    Lock(#[from] LockError),
}

#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    connections: Vec<Connection>,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    connections: Vec<Connection>,
}

impl Records {
    /// Reads it; a missing one is empty.
    pub fn load(data_folder: &Path) -> Result<Self, RecordsError> {
        let path = data_folder.join(FILE_NAME);
        let read = FileText::read_if_there_within(&path, BYTES_MAX);
        let Some(file) = read.map_err(|source| RecordsError::Read { path: path.clone(), source })? else {
            return Ok(Self { path, connections: Vec::new() });
        };
        match serde_json::from_slice::<Stored>(&file.bytes) {
            Ok(stored) if stored.version == VERSION => Ok(Self { path, connections: stored.connections }),
            Ok(_) | Err(_) => Err(RecordsError::Damaged(path)),
        }
    }

    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// What is known about a file.
    pub fn of(&self, file: &Path) -> Option<&Connection> {
        self.connections.iter().find(|connection| connection.file == file)
    }

    /// Writes one down, in place of another for the same file.
    pub fn put(&mut self, connection: Connection) -> Result<(), RecordsError> {
        self.change(|connections| {
            connections.retain(|other| other.file != connection.file);
            connections.push(connection);
            let over = connections.len().saturating_sub(CONNECTIONS_MAX);
            connections.drain(..over);
        })
    }

    pub fn forget(&mut self, file: &Path) -> Result<(), RecordsError> {
        self.change(|connections| connections.retain(|other| other.file != file))
    }

    /// Two of us may write at the same time; neither may undo the other.
    fn change(&mut self, change: impl FnOnce(&mut Vec<Connection>)) -> Result<(), RecordsError> {
        let _lock = FileLock::beside(&self.path)?;
        let mut connections = Self::load(self.folder())?.connections;
        change(&mut connections);
        let stored = Stored { version: VERSION, connections };
        let mut text =
            serde_json::to_vec_pretty(&stored).map_err(|_| RecordsError::Damaged(self.path.clone()))?;
        text.push(b'\n');
        replace_keeping_mode(&self.path, &text)?;
        self.connections = stored.connections;
        Ok(())
    }
}

/// Of a file's content.
pub fn hash_of(content: &[u8]) -> String {
    blake3::hash(content).to_hex().to_string()
}
