//! Contents too large for entries of the log, in parts, each under its name and number.
//!
//! Walls: a name is a hash that whoever keeps a blob chose; nothing here checks it. Seal the bytes before.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use async_nats::StatusCode;
use async_nats::jetstream::response::Response;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::log::{
    AppendError, BlobError, Content, Delivered, Delivery, LogError, Message, Order, Streams, Wanted, Which,
    said,
};

/// The largest part: 512 KiB of content, and what sealing adds.
pub const PART_BYTES_MAX: usize = 513 * 1024;

/// How long a part may take to come.
const PART_WITHIN: Duration = Duration::from_secs(2);

/// How often a list is begun.
const LIST_TRIES: usize = 5;

/// How often in a row nothing may come, although there should be more: what was to come was removed.
const IDLE_MAX: usize = 4;

/// What is kept. Cheap to clone.
#[derive(Clone)]
pub struct Blobs {
    streams: Streams,
}

/// A blob that is kept, or begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBlob {
    pub id: [u8; 32],
    /// How many are there.
    pub parts: u32,
    /// The sequence of the latest part.
    pub last: u64,
    /// How long ago the latest part was kept, by the servers' clock.
    pub age: Duration,
}

/// Only how many subjects there are matters, not which.
#[derive(Serialize)]
struct SubjectsOf<'a> {
    subjects_filter: &'a str,
}

#[derive(Deserialize)]
struct SubjectCount {
    #[serde(default)]
    total: u64,
}

impl Blobs {
    pub(super) fn new(streams: Streams) -> Self {
        Self { streams }
    }

    /// Keeps a part, in place of one with the same number. It tries until then.
    pub async fn put(
        &self,
        id: &[u8; 32],
        part: u32,
        bytes: Vec<u8>,
        until: Instant,
    ) -> Result<(), BlobError> {
        if bytes.len() > PART_BYTES_MAX {
            return Err(BlobError::TooLarge { bytes: bytes.len(), max: PART_BYTES_MAX });
        }
        let message = Message {
            stream: self.streams.blobs.clone(),
            subject: self.streams.bus.subjects().blob_part(&hex(id), part),
            bytes: bytes.into(),
            order: Order::Any,
        };
        match self.streams.publish(&message, until).await {
            Ok(_) => Ok(()),
            Err(AppendError::TooLarge { bytes, max }) => Err(BlobError::TooLarge { bytes, max }),
            Err(AppendError::Unavailable(why)) => Err(BlobError::Unknown(why)),
            Err(AppendError::Overtaken { .. }) => Err(BlobError::Unknown("it was refused".to_owned())),
        }
    }

    /// Whether that many parts are there, as the server knows it that leads the stream.
    pub async fn has(&self, id: &[u8; 32], parts: u32) -> Result<bool, LogError> {
        let (stream, filter) = (&self.streams.blobs, self.streams.bus.subjects().blob_parts(&hex(id)));
        let question = SubjectsOf { subjects_filter: &filter };
        match self.streams.ask::<_, SubjectCount>(&format!("STREAM.INFO.{stream}"), &question).await? {
            Response::Ok(count) => Ok(count.total >= u64::from(parts)),
            Response::Err { error } => Err(said(stream, &error)),
        }
    }

    /// A part that was kept.
    pub async fn get(&self, id: &[u8; 32], part: u32) -> Result<Bytes, BlobError> {
        let subject = self.streams.bus.subjects().blob_part(&hex(id), part);
        if let Some(bytes) = self.get_anywhere(&subject).await {
            return Ok(bytes);
        }
        let which = Which::last_of(&subject);
        let message = self.streams.message(&self.streams.blobs, &which).await?;
        message.map(|message| message.payload).ok_or(BlobError::NotThere { part })
    }

    /// From any server that has it, as it is. None if that one hasn't got it yet.
    async fn get_anywhere(&self, subject: &str) -> Option<Bytes> {
        let what = format!("$JS.API.DIRECT.GET.{}.{subject}", self.streams.blobs);
        let request = async_nats::Request::new().timeout(Some(PART_WITHIN));
        let answer = self.streams.bus.client().send_request(what, request).await.ok()?;
        match answer.status {
            None | Some(StatusCode::OK) => Some(answer.payload),
            Some(_) => None,
        }
    }

    /// All that are there.
    pub async fn list(&self) -> Result<Vec<KeptBlob>, LogError> {
        for _ in 0..LIST_TRIES {
            if let Some(blobs) = self.try_list().await? {
                return Ok(blobs);
            }
        }
        Err(LogError::Unavailable("the list of blobs doesn't come to its end".to_owned()))
    }

    async fn try_list(&self) -> Result<Option<Vec<KeptBlob>>, LogError> {
        let wanted = Wanted {
            stream: self.streams.blobs.clone(),
            filter: self.streams.bus.subjects().all_blob_parts(),
            from: 1,
            content: Content::HeadersOnly,
        };
        let mut delivery = Delivery::begin(&self.streams, &wanted).await?;
        let mut is_whole = delivery.begun.num_pending == 0;
        let mut blobs = BTreeMap::<[u8; 32], KeptBlob>::new();
        let mut idle = 0;
        while !is_whole {
            match delivery.next().await {
                Some(Delivered::Message { subject, age_at_begin: age, pending, sequence, .. }) => {
                    idle = 0;
                    is_whole = pending == 0;
                    // Others' messages under these subjects are left alone.
                    let Some(id) = self.id_in(&subject) else { continue };
                    let blob = blobs.entry(id).or_insert(KeptBlob { id, parts: 0, last: 0, age });
                    blob.parts += 1;
                    blob.last = blob.last.max(sequence);
                    blob.age = blob.age.min(age);
                }
                Some(Delivered::Idle) if idle < IDLE_MAX => idle += 1,
                Some(Delivered::Idle) | None => return Ok(None),
            }
        }
        Ok(Some(blobs.into_values().collect()))
    }

    fn id_in(&self, subject: &str) -> Option<[u8; 32]> {
        let (hex, _) = self.streams.bus.subjects().read_blob_part(subject)?;
        Some(*blake3::Hash::from_hex(hex).ok()?.as_bytes())
    }

    /// Removes all parts as they were listed; what was put since stays. Not while the bus is away: who knows when it would
    /// come there.
    pub async fn forget(&self, blob: &KeptBlob) -> Result<(), LogError> {
        if !self.streams.bus.is_connected() {
            return Err(LogError::Unavailable("the bus isn't connected".to_owned()));
        }
        let filter = self.streams.bus.subjects().blob_parts(&hex(&blob.id));
        self.streams.purge(&self.streams.blobs, &filter, Some(blob.last + 1)).await
    }
}

fn hex(id: &[u8; 32]) -> String {
    blake3::Hash::from_bytes(*id).to_hex().to_string()
}
