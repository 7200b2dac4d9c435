//! Entries on their way into the log and out of it: packed, sealed for their place, and stored beside it if they are
//! too large.

use std::sync::Arc;
use std::time::Instant;

use gristmill_replica::PackError;
use gristmill_replica::entry::{Entry, Envelope, LogPlace};
use gristmill_replica::seal::Seal;

use super::contents::{Contents, blocking};
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
    pub async fn enveloped(&self, entry: &Arc<Entry>, until: Instant) -> Result<Enveloped, StateError> {
        let packed = match entry.is_large() {
            false => entry.encode(),
            // Packing it takes longer than others may be kept waiting.
            true => {
                let entry = Arc::clone(entry);
                let packed = blocking(move || Ok(entry.encode())).await;
                packed.map_err(|error| StateError::Files(error.to_string()))?
            }
        };
        let packed = packed.map_err(of_pack)?;
        let bytes = packed.len() as u64;
        let envelope = match packed.len() <= WHOLE_BYTES_MAX {
            true => Envelope::Whole(packed),
            false => Envelope::Stored { id: self.contents.keep(&packed, until).await?, bytes },
        };
        Ok(Enveloped { envelope: envelope.encode().map_err(of_pack)?, bytes })
    }

    /// An entry as it's appended there. It opens in that place only: whoever carries it can't move it, leave one out, or
    /// put it behind another history.
    pub fn sealed(&self, after: LogPlace, enveloped: &Enveloped) -> Result<Vec<u8>, StateError> {
        let sealed = self.seal.seal(&self.place(after), &enveloped.envelope);
        sealed.map_err(|error| StateError::Damaged(error.to_string()))
    }

    /// Appends one behind that one, and gives its place.
    pub async fn append(
        &self,
        after: LogPlace,
        sealed: Vec<u8>,
        until: Instant,
    ) -> Result<LogPlace, AppendError> {
        let mut place = LogPlace::of(0, &sealed);
        place.sequence = self.log.append_behind(after, sealed, until).await?;
        Ok(place)
    }

    /// What stands in the log there.
    pub async fn opened(&self, after: LogPlace, sealed: &[u8]) -> Result<Entry, StateError> {
        let envelope = self.seal.open(&self.place(after), sealed);
        let envelope =
            envelope.map_err(|_| StateError::Torn { after: after.sequence, key: self.seal.id() })?;
        match Envelope::decode(&envelope).map_err(of_pack)? {
            Envelope::Whole(packed) => Entry::decode(&packed).map_err(of_pack),
            Envelope::Stored { id, bytes } => {
                Entry::decode(&self.contents.read(id, bytes).await?).map_err(of_pack)
            }
        }
    }

    fn place(&self, after: LogPlace) -> String {
        let LogPlace { sequence, link } = after;
        let link = blake3::Hash::from_bytes(link).to_hex();
        format!("entry after {sequence} ({link}) of {} in {}", self.state, self.cluster)
    }
}

pub(super) fn of_pack(error: PackError) -> StateError {
    match error {
        PackError::OtherVersion { .. } => StateError::OtherVersion(error.to_string()),
        PackError::TooLarge { .. } | PackError::Damaged => StateError::Damaged(error.to_string()),
    }
}
