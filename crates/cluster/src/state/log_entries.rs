//! Entries on their way into the log and out of it: packed, sealed for their place, and stored beside it if they are
//! too large.

use std::sync::Arc;
use std::time::Instant;

use gristmill_replica::PackError;
use gristmill_replica::entry::{Entry, Envelope};
use gristmill_replica::seal::Seal;

use super::contents::Contents;
use super::error::StateError;
use super::log::{AppendError, StateLog};
use crate::names::ClusterName;

/// An entry of so many bytes goes into one message, with what sealing adds to it.
const WHOLE_BYTES_MAX: usize = 800 * 1024;

/// An entry that only has to be sealed for its place.
pub(super) struct Enveloped {
    envelope: Vec<u8>,
    /// Of the entry, wherever it is.
    pub bytes: u64,
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(super) struct LogEntries {
    pub log: StateLog,
    pub contents: Contents,
    seal: Arc<Seal>,
    cluster: ClusterName,
    /// Which state it is: another one of the same cluster has other entries at the same places.
    state: Arc<str>,
}

impl LogEntries {
    pub fn new(log: StateLog, seal: Arc<Seal>, cluster: ClusterName) -> Self {
        let contents = Contents::new(log.blobs(), Arc::clone(&seal));
        Self { log, contents, seal, cluster, state: Arc::from("") }
    }

    /// The same, once it's known which state it is.
    pub fn of_state(self, state: &str) -> Self {
        Self { state: Arc::from(state), ..self }
    }

    pub fn seal(&self) -> &Arc<Seal> {
        &self.seal
    }

    pub fn cluster(&self) -> &ClusterName {
        &self.cluster
    }

    /// An entry in its envelope. One that is too large for a message is stored first, which takes a while.
    pub async fn enveloped(&self, entry: &Entry, until: Instant) -> Result<Enveloped, StateError> {
        let packed = entry.encode().map_err(of_pack)?;
        let bytes = packed.len() as u64;
        let envelope = match packed.len() <= WHOLE_BYTES_MAX {
            true => Envelope::Whole(packed),
            false => Envelope::Stored { id: self.contents.keep(&packed, until).await?, bytes },
        };
        Ok(Enveloped { envelope: envelope.encode().map_err(of_pack)?, bytes })
    }

    /// An entry as it's appended behind that one. It opens in that place only: whoever carries it can't move it, or
    /// leave one out.
    pub fn sealed(&self, after: u64, enveloped: &Enveloped) -> Result<Vec<u8>, StateError> {
        let sealed = self.seal.seal(&self.place(after), &enveloped.envelope);
        sealed.map_err(|error| StateError::Damaged(error.to_string()))
    }

    /// Appends one behind that one.
    pub async fn append(&self, after: u64, sealed: Vec<u8>, until: Instant) -> Result<u64, AppendError> {
        self.log.append(after, sealed, until).await
    }

    /// What stands in the log behind that one.
    pub async fn opened(&self, after: u64, sealed: &[u8]) -> Result<Entry, StateError> {
        let envelope = self.seal.open(&self.place(after), sealed);
        let envelope = envelope.map_err(|_| StateError::WrongKey { key: self.seal.id() })?;
        match Envelope::decode(&envelope).map_err(of_pack)? {
            Envelope::Whole(packed) => Entry::decode(&packed).map_err(of_pack),
            Envelope::Stored { id, bytes } => {
                Entry::decode(&self.contents.read(id, bytes).await?).map_err(of_pack)
            }
        }
    }

    fn place(&self, after: u64) -> String {
        format!("entry after {after} of {} in {}", self.state, self.cluster)
    }
}

pub(super) fn of_pack(error: PackError) -> StateError {
    match error {
        PackError::OtherVersion { .. } => StateError::OtherVersion(error.to_string()),
        PackError::TooLarge { .. } | PackError::Damaged => StateError::Damaged(error.to_string()),
    }
}
