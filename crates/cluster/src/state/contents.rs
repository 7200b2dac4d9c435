//! Contents beside the log: sealed part by part, and named so that nobody without the key can tell what they are.

use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::time::Instant;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use gristmill_replica::manifest::{FileState, PART_BYTES};
use gristmill_replica::seal::{ContentHash, Seal};
use gristmill_replica::tree::StoredContent;
use tokio::runtime::Handle;

use super::blobs::Blobs;
use super::error::StateError;
use super::needed::Needed;

/// Everybody waits for a large file: each of its parts alone would wait for its acknowledgement.
const PARTS_AT_ONCE: usize = 8;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(super) struct Contents {
    blobs: Blobs,
    seal: Arc<Seal>,
    needed: Needed,
}

impl Contents {
    pub fn new(blobs: Blobs, seal: Arc<Seal>) -> Self {
        Self { blobs, seal, needed: Needed::default() }
    }

    pub fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    pub fn needed(&self) -> &Needed {
        &self.needed
    }

    /// Keeps bytes under their name, unless they are there; gives the name.
    pub async fn keep(&self, bytes: &[u8], until: Instant) -> Result<ContentHash, StateError> {
        let id = self.seal.content_hash(bytes);
        self.needed.needs(id).await;
        if self.blobs.has(&id.0, parts_of(bytes.len() as u64)).await? {
            return Ok(id);
        }
        for (number, part) in (0..).zip(bytes.chunks(PART_BYTES)) {
            self.put(&id, number, part, until).await?;
        }
        Ok(id)
    }

    /// Keeps what a file held when it was looked at, and says how many bytes that took: none if they are there.
    /// [`StateError::Changing`] if it holds something else by now.
    pub async fn keep_file(&self, content: &StoredContent, until: Instant) -> Result<u64, StateError> {
        self.needed.needs(content.hash).await;
        if self.blobs.has(&content.hash.0, parts_of(content.bytes)).await? {
            return Ok(0);
        }
        let failed = |error: io::Error| StateError::Changing(error.to_string());
        let mut file = content.open(&self.seal).map_err(failed)?;
        let mut on_their_way = FuturesUnordered::new();
        for number in 0..parts_of(content.bytes) {
            let mut part = Vec::new();
            (file, part) = blocking(move || {
                (&mut file).take(PART_BYTES as u64).read_to_end(&mut part)?;
                Ok((file, part))
            })
            .await
            .map_err(failed)?;
            if on_their_way.len() == PARTS_AT_ONCE {
                on_their_way.next().await.transpose()?;
            }
            on_their_way.push(async move { self.put(&content.hash, number, &part, until).await });
        }
        while let Some(put) = on_their_way.next().await {
            put?;
        }
        Ok(content.bytes)
    }

    /// The whole of what was kept under a name.
    pub async fn read(&self, id: ContentHash, bytes: u64) -> Result<Vec<u8>, StateError> {
        let mut all = Vec::new();
        for number in 0..parts_of(bytes) {
            all.extend(self.part(&id, number).await?);
        }
        match all.len() as u64 == bytes && self.seal.content_hash(&all) == id {
            true => Ok(all),
            false => Err(StateError::Damaged("a content isn't what it's named by".to_owned())),
        }
    }

    /// The same, piece by piece, for whoever may block: call it where the runtime isn't held up.
    pub fn fetch(&self, runtime: &Handle, state: &FileState) -> Box<dyn Read> {
        let (contents, runtime) = (self.clone(), runtime.clone());
        Box::new(Parts {
            contents,
            runtime,
            id: state.hash,
            parts: parts_of(state.bytes),
            next: 0,
            current: Cursor::default(),
        })
    }

    async fn part(&self, id: &ContentHash, number: u32) -> Result<Vec<u8>, StateError> {
        let sealed = self.blobs.get(&id.0, number).await?;
        self.seal.open(&what(id, number), &sealed).map_err(|_| StateError::WrongKey { key: self.seal.id() })
    }

    async fn put(
        &self,
        id: &ContentHash,
        number: u32,
        part: &[u8],
        until: Instant,
    ) -> Result<(), StateError> {
        let sealed = self
            .seal
            .seal(&what(id, number), part)
            .map_err(|error| StateError::Damaged(error.to_string()))?;
        Ok(self.blobs.put(&id.0, number, sealed, until).await?)
    }
}

/// A part opens in its own place only.
fn what(id: &ContentHash, number: u32) -> String {
    format!("part {number} of {id}")
}

pub(super) fn parts_of(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(PART_BYTES as u64)).unwrap_or(u32::MAX)
}

struct Parts {
    contents: Contents,
    runtime: Handle,
    id: ContentHash,
    parts: u32,
    next: u32,
    current: Cursor<Vec<u8>>,
}

impl Read for Parts {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.current.read(buffer)?;
            if count > 0 || buffer.is_empty() || self.next == self.parts {
                return Ok(count);
            }
            let part = self.runtime.block_on(self.contents.part(&self.id, self.next));
            self.current = Cursor::new(part.map_err(|error| io::Error::other(error.to_string()))?);
            self.next += 1;
        }
    }
}

/// Work that waits for the disk.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}
