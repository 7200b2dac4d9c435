//! The log that gateways share, in a stream of NATS JetStream.
//!
//! One gateway writes, and each entry says which one it follows: a gateway that others have overtaken can't write any
//! more. The others follow. What is old is trimmed away once a snapshot has it, and one message, apart from the
//! entries, says where that is.
//!
//! Walls: bytes pass as they are given, so seal them before. An entry is kept when the servers say so, as safely as
//! they keep it: see `sync_interval` in their configuration.

mod delivery;
mod error;
mod follow;
mod permissions;
mod publish;
mod streams;

use std::time::Instant;

use bytes::Bytes;
use gristmill_replica::entry::LogPlace;

use self::publish::Earlier;
use super::blobs::Blobs;
use crate::bus::Bus;

pub use error::{AppendError, BlobError, LogError};
pub use follow::Follow;
pub use permissions::Permissions;

pub(super) use delivery::{Content, Delivered, Delivery, Wanted};
pub(super) use publish::{Message, Order};
pub(super) use streams::{Streams, Which, said};

/// The largest entry. Servers take messages of 1 MB, if nobody has changed that.
pub const ENTRY_BYTES_MAX: usize = 900 * 1024;

/// The log of a cluster. Cheap to clone.
#[derive(Clone)]
pub struct StateLog {
    streams: Streams,
    /// Subjects.
    log: String,
    snapshot: String,
}

impl StateLog {
    /// Opens the log and the blobs beside it, and makes their streams if they aren't there: with so many copies, on as
    /// many servers. A stream that has more keeps them, and one that has fewer gets more.
    pub async fn open(bus: &Bus, replicas: usize) -> Result<Self, LogError> {
        let streams = Streams::open(bus, replicas).await?;
        let (log, snapshot) = (bus.subjects().state_log(), bus.subjects().state_snapshot());
        Ok(Self { streams, log, snapshot })
    }

    /// What the NKey of a machine that does this must be permitted.
    pub fn permissions(bus: &Bus) -> Permissions {
        Permissions::of(bus.subjects())
    }

    /// Contents too large for entries.
    pub fn blobs(&self) -> Blobs {
        Blobs::new(self.streams.clone())
    }

    /// The sequence of the last entry, 0 if there is none, as the server knows it that leads the stream. One that was
    /// cut off from the others may not know better for some seconds; an append tells.
    pub async fn last(&self) -> Result<u64, LogError> {
        let last = self.streams.message(&self.streams.state, &Which::last_of(&self.log)).await?;
        Ok(last.map_or(0, |last| last.sequence))
    }

    /// The last entry's place.
    pub async fn last_place(&self) -> Result<LogPlace, LogError> {
        let last = self.streams.message(&self.streams.state, &Which::last_of(&self.log)).await?;
        Ok(last.map(|last| LogPlace::of(last.sequence, &last.payload)).unwrap_or_default())
    }

    /// Appends an entry that follows entry `after` (0: it's the first one), and says which sequence it has. It tries
    /// until then, and never makes two entries. Dropped while it runs, it's like [`AppendError::Unavailable`].
    pub async fn append(&self, after: u64, bytes: Vec<u8>, until: Instant) -> Result<u64, AppendError> {
        self.put(&self.log, (after, None), bytes, Earlier::Kept, until).await
    }

    /// The same, behind exactly that entry: if servers have lost it and others have written another one in its place,
    /// this one is overtaken.
    pub async fn append_behind(
        &self,
        after: LogPlace,
        bytes: Vec<u8>,
        until: Instant,
    ) -> Result<u64, AppendError> {
        self.put(&self.log, (after.sequence, Some(after.link)), bytes, Earlier::Kept, until).await
    }

    /// Entries that follow entry `after` (0: from the first one), in order and each once.
    pub async fn follow(&self, after: u64) -> Result<Follow, LogError> {
        follow::follow(self.streams.clone(), after).await
    }

    /// Where the latest snapshot is, as [`set_snapshot`](Self::set_snapshot) has it, and the revision of that.
    pub async fn snapshot(&self) -> Result<Option<(u64, Bytes)>, LogError> {
        let last = self.streams.message(&self.streams.state, &Which::last_of(&self.snapshot)).await?;
        Ok(last.map(|last| (last.sequence, last.payload)))
    }

    /// Says where the latest snapshot is, in place of that `revision` (0: of none), and gives the new revision.
    pub async fn set_snapshot(
        &self,
        revision: u64,
        bytes: Vec<u8>,
        until: Instant,
    ) -> Result<u64, AppendError> {
        self.put(&self.snapshot, (revision, None), bytes, Earlier::Removed, until).await
    }

    /// Removes entries before that one. The last entry always stays.
    pub async fn trim(&self, before: u64) -> Result<(), LogError> {
        let below = before.min(self.last().await?);
        if below == 0 {
            return Ok(());
        }
        self.streams.purge(&self.streams.state, &self.log, Some(below)).await
    }

    async fn put(
        &self,
        subject: &str,
        (after, link): (u64, Option<[u8; 32]>),
        bytes: Vec<u8>,
        earlier: Earlier,
        until: Instant,
    ) -> Result<u64, AppendError> {
        if bytes.len() > ENTRY_BYTES_MAX {
            return Err(AppendError::TooLarge { bytes: bytes.len(), max: ENTRY_BYTES_MAX });
        }
        let message = Message {
            stream: self.streams.state.clone(),
            subject: subject.to_owned(),
            bytes: bytes.into(),
            order: Order::after(after, link, earlier)?,
        };
        self.streams.publish(&message, until).await
    }
}
