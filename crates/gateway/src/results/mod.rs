//! Whole values under handles: what an answer had to leave out, an image, the output of an analysis.
//!
//! A result is a file in its owner's folder and a row in the database. Its handle follows from its
//! content by a key of its owner, so that the same value is kept once, and nobody works out another's.
//! Programs find the folder as `/results`, where they can open a file whose name they know and cannot
//! list the others.
//!
//! A file is written beside its place and moved in, then its row is written; a row is forgotten before
//! its file is removed. A lock of the kernel keeps two gateways from doing both at once. So a kill leaves
//! a whole result, or something that the next sweep removes.
//!
//! Walls: an owner never finds what is another's. Everything kept is bounded in size, number and age.
//! What cannot be kept fails no execution.

mod analysis_inputs;
mod condensed;
mod error;
mod handle;
mod integrity;
mod kind;
mod large_results;
mod marked;
mod place;
mod read;
mod upkeep;

use std::collections::HashMap;
use std::fs::File;
use std::io::Seek;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use gristmill_domain::policy::Seen;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

use crate::ids::{Caller, Owner};
use crate::marks::MarkLedger;
use crate::privacy::Veil;
use crate::request::Capabilities;
use crate::store::{ResultRecord, ResultRoom, ResultsHeld, Room, Store, StoreError, StoredFile};

pub use analysis_inputs::ResultsOf;
pub use error::{ReadError, ResultsError};
pub use kind::{ResultKind, StoredResult};
pub use place::{NewResult, RESULTS_FOLDER};
pub use read::ReadPart;

use handle::Key;
use integrity::SeenWhole;
use large_results::{HELD_AT_ONCE, LargeResultsOf};
use place::{Place, ResultsLock};

/// One result. Whoever has more to keep has a file in the workspace for it.
pub const RESULT_BYTES_MAX: u64 = 256 << 20;

/// All results: each has a file and a row, and every new one is counted among them.
const RESULTS_MAX: usize = 20_000;

/// More than anyone reads at once.
pub const LISTED_MAX: usize = 10_000;

/// Owners whose keys are held in memory; the others are read again.
const KEYS_HELD_MAX: usize = 1_024;

/// How much is kept, of all owners together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultSettings {
    /// For how long after the last use.
    pub keep: Duration,
    /// How much of it, in bytes.
    pub bytes_max: u64,
}

impl Default for ResultSettings {
    /// A week: longer than any conversation, and most others begin anew.
    fn default() -> Self {
        Self { keep: Duration::from_secs(7 * 24 * 60 * 60), bytes_max: 1 << 30 }
    }
}

/// Where a result comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub session: Option<String>,
    pub execution: Option<String>,
    /// Which marked data it was made from.
    pub seen: Seen,
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Results {
    inner: Arc<Inner>,
    /// None if no server has a mark.
    marks: Option<MarkLedger>,
}

struct Inner {
    store: Store,
    place: Place,
    settings: ResultSettings,
    keys: Mutex<HashMap<Owner, Key>>,
    seen_whole: SeenWhole,
    held_whole: Semaphore,
    /// Whether the file system notes when files are read.
    reads_are_noted: OnceLock<bool>,
}

impl Results {
    /// The results that a database knows, with their files in `folder`, which is made if it is not
    /// there. What a killed gateway left half-done is mended.
    pub async fn open(store: Store, folder: PathBuf, settings: ResultSettings) -> Result<Self, ResultsError> {
        let place = blocking(move || Place::open(folder)).await?;
        let (keys, seen_whole) = (Mutex::default(), SeenWhole::default());
        let held_whole = Semaphore::new(HELD_AT_ONCE);
        let reads_are_noted = OnceLock::new();
        let inner = Inner { store, place, settings, keys, seen_whole, held_whole, reads_are_noted };
        let results = Self { inner: Arc::new(inner), marks: None };
        // What cannot be tidied now is tidied later: results can be read meanwhile.
        let _ = results.sweep().await;
        Ok(results)
    }

    /// How much is kept.
    pub fn settings(&self) -> &ResultSettings {
        &self.inner.settings
    }

    /// Keeps a value. The same value of the same owner has the same handle, and is kept once.
    pub async fn put(
        &self,
        owner: &Owner,
        origin: Origin,
        kind: ResultKind,
        media_type: Option<String>,
        bytes: Vec<u8>,
    ) -> Result<StoredResult, ResultsError> {
        let size = bytes.len() as u64;
        self.check_size(size)?;
        let media_type = kind::media_type(media_type);
        let (key, ending) = (self.key_of(owner).await?, kind.ending(media_type.as_deref()));
        let hashed = blocking(move || Ok((handle::of_bytes(&key, ending, &bytes), bytes)));
        let (handle, bytes) = hashed.await?;
        if let Some(known) = self.kept_before(owner, &handle, origin.clone()).await? {
            return Ok(known);
        }
        let (inner, whose) = (Arc::clone(&self.inner), owner.clone());
        let filled = blocking(move || {
            let new = inner.place.new_file(&whose)?;
            new.fill(&bytes).map_err(|error| inner.place.failed(&error))?;
            Ok(new)
        });
        let new = filled.await?;
        let record =
            kind::new_record(owner, &handle, (kind, media_type), origin, size, self.inner.store.now_ms());
        self.take_in(new, record).await
    }

    /// An empty file for somebody else to fill; blocks on the disk for a moment. It is removed if it is
    /// dropped, and becomes a result by [`Results::keep`].
    pub fn new_file(&self, owner: &Owner) -> Result<NewResult, ResultsError> {
        self.inner.place.new_file(owner)
    }

    /// A file without a name for somebody else to fill, where results are kept; blocks on the disk for a moment.
    /// Nothing of it stays unless [`Results::keep_copy`] keeps it: not even what a kill interrupts.
    pub fn nameless_file(&self) -> Result<File, ResultsError> {
        self.inner.place.nameless_file()
    }

    /// Keeps a copy of a file that was filled.
    pub async fn keep_copy(
        &self,
        owner: &Owner,
        mut filled: File,
        origin: Origin,
        kind: ResultKind,
    ) -> Result<StoredResult, ResultsError> {
        let (results, owner) = (self.clone(), owner.clone());
        let copied = blocking(move || {
            let failed = |error: std::io::Error| results.inner.place.failed(&error);
            results.check_size(filled.metadata().map_err(failed)?.len())?;
            let new = results.new_file(&owner)?;
            filled.rewind().and_then(|()| std::io::copy(&mut filled, &mut new.file())).map_err(failed)?;
            Ok(new)
        });
        self.keep(copied.await?, origin, kind, None).await
    }

    /// Keeps a file that was filled, as [`Results::put`] keeps bytes.
    pub async fn keep(
        &self,
        new: NewResult,
        origin: Origin,
        kind: ResultKind,
        media_type: Option<String>,
    ) -> Result<StoredResult, ResultsError> {
        let owner = new.owner().clone();
        let media_type = kind::media_type(media_type);
        let (key, ending) = (self.key_of(&owner).await?, kind.ending(media_type.as_deref()));
        let results = self.clone();
        let hashed = blocking(move || {
            let failed = |error: std::io::Error| results.inner.place.failed(&error);
            let size = new.file().metadata().map_err(failed)?.len();
            results.check_size(size)?;
            let handle = handle::of_file(&key, ending, new.file(), size).map_err(failed)?;
            Ok((new, handle, size))
        });
        let (new, handle, size) = hashed.await?;
        if let Some(known) = self.kept_before(&owner, &handle, origin.clone()).await? {
            return Ok(known);
        }
        let record =
            kind::new_record(&owner, &handle, (kind, media_type), origin, size, self.inner.store.now_ms());
        self.take_in(new, record).await
    }

    /// One of an owner's results; its handle may be written as the path of its file.
    pub async fn find(&self, owner: &Owner, handle: &str) -> Result<Option<StoredResult>, ResultsError> {
        Ok(self.look_up(owner, handle).await?.map(|(stored, _)| stored))
    }

    /// The same with its file, at its beginning. That counts as a use. A file that is no longer what was
    /// kept is an error, and is removed.
    pub async fn open_file(
        &self,
        owner: &Owner,
        handle: &str,
    ) -> Result<Option<(StoredResult, File)>, ResultsError> {
        self.renew(owner, handle, Origin::default()).await
    }

    /// The newest first; without an owner everyone's.
    pub async fn list(&self, owner: Option<&Owner>, limit: usize) -> Result<Vec<StoredResult>, ResultsError> {
        let owner = owner.map(|owner| owner.0.clone());
        let records = self.inner.store.list_results(owner, limit.min(LISTED_MAX)).await?;
        Ok(records.into_iter().map(StoredResult::from).collect())
    }

    /// Whose a result is: for whoever has the machine.
    pub async fn owner_of(&self, handle: &str) -> Result<Option<Owner>, ResultsError> {
        let Some(handle) = handle::read(handle) else { return Ok(None) };
        Ok(self.inner.store.result_owner(handle).await?.map(Owner))
    }

    /// How many results there are, and how large.
    pub async fn held(&self) -> Result<ResultsHeld, ResultsError> {
        Ok(self.inner.store.results_held().await?)
    }

    /// Removes a result; whether it was there.
    pub async fn remove(&self, owner: &Owner, handle: &str) -> Result<bool, ResultsError> {
        let Some((stored, _)) = self.look_up(owner, handle).await? else { return Ok(false) };
        let _lock = self.lock().await?;
        let gone = self.inner.store.delete_result(owner.0.clone(), stored.handle.clone()).await?;
        self.remove_files(vec![file_of(&stored)]).await?;
        Ok(gone)
    }

    /// The owner's folder, made if it is not there: mounted as `/results`, where files are opened by name.
    pub fn folder_of(&self, owner: &Owner) -> std::io::Result<PathBuf> {
        self.inner.place.made_folder_of(owner)
    }

    /// Lets a program of this caller read what is kept for its owner, as files and in analyses, and leave a
    /// large result there, which is shown through `veil`.
    pub fn offer_to(
        &self,
        capabilities: &mut Capabilities,
        caller: &Caller,
        origin: Origin,
        veil: Option<Arc<Veil>>,
    ) {
        let owner = &caller.owner;
        // Without their folder it runs as well, and opens none.
        capabilities.results_folder = self.folder_of(owner).ok();
        capabilities.analysis_inputs = Some(Arc::new(ResultsOf::new(self.clone(), owner.clone())));
        let large = LargeResultsOf { results: self.clone(), caller: caller.clone(), origin, veil };
        capabilities.large_results = Some(Arc::new(large));
    }

    fn check_size(&self, bytes: u64) -> Result<(), ResultsError> {
        let bytes_max = RESULT_BYTES_MAX.min(self.inner.settings.bytes_max);
        match bytes <= bytes_max {
            true => Ok(()),
            false => Err(ResultsError::TooLarge { bytes, bytes_max }),
        }
    }

    fn room(&self) -> ResultRoom {
        ResultRoom { bytes_max: self.inner.settings.bytes_max, count_max: RESULTS_MAX }
    }

    async fn lock(&self) -> Result<ResultsLock, ResultsError> {
        let inner = Arc::clone(&self.inner);
        blocking(move || inner.place.lock()).await
    }

    async fn key_of(&self, owner: &Owner) -> Result<Key, ResultsError> {
        let held = self.inner.keys.lock().get(owner).copied();
        if let Some(key) = held {
            return Ok(key);
        }
        let mut fresh = vec![0; blake3::KEY_LEN];
        getrandom::fill(&mut fresh).map_err(|error| StoreError::Other(error.to_string()))?;
        let key = self.inner.store.result_key(owner.0.clone(), fresh).await?;
        let damaged = |_| StoreError::Damaged("a key of results has another length".to_owned());
        let key: Key = key.try_into().map_err(damaged)?;
        let mut keys = self.inner.keys.lock();
        if keys.len() >= KEYS_HELD_MAX {
            keys.clear();
        }
        keys.insert(owner.clone(), key);
        Ok(key)
    }

    /// A result whose file is there. One whose file is gone is forgotten.
    async fn look_up(
        &self,
        owner: &Owner,
        handle: &str,
    ) -> Result<Option<(StoredResult, File)>, ResultsError> {
        let Some(handle) = handle::read(handle) else { return Ok(None) };
        let Some(record) = self.inner.store.result(owner.0.clone(), handle).await? else {
            return Ok(None);
        };
        let stored = StoredResult::from(record);
        if let Some(file) = self.open_stored(&stored).await? {
            return Ok(Some((stored, file)));
        }
        let _lock = self.lock().await?;
        // Again: another gateway may have put it there meanwhile.
        match self.open_stored(&stored).await? {
            Some(file) => Ok(Some((stored, file))),
            None => {
                self.inner.store.delete_result(owner.0.clone(), stored.handle.clone()).await?;
                Ok(None)
            }
        }
    }

    async fn open_stored(&self, stored: &StoredResult) -> Result<Option<File>, ResultsError> {
        let (inner, stored) = (Arc::clone(&self.inner), stored.clone());
        blocking(move || {
            let opened = inner.place.open_file(&stored.owner.0, &stored.file_name, stored.bytes);
            opened.map_err(|error| inner.place.failed(&error))
        })
        .await
    }

    /// A result that is used, or came once more.
    async fn renew(
        &self,
        owner: &Owner,
        handle: &str,
        origin: Origin,
    ) -> Result<Option<(StoredResult, File)>, ResultsError> {
        let Some((mut stored, file)) = self.look_up(owner, handle).await? else { return Ok(None) };
        let file = self.as_kept(&stored, file).await?;
        self.add_marks(&mut stored, &file, &origin.seen).await?;
        let from = (origin.session, origin.execution);
        let renewed = self
            .inner
            .store
            .renew_result(owner.0.clone(), stored.handle.clone(), self.inner.store.now_ms(), from)
            .await;
        match renewed {
            Ok(record) => Ok(record.map(|record| (record.into(), file))),
            // It can be read all the same, where nothing can be written.
            Err(StoreError::ReadOnly | StoreError::Full | StoreError::Busy) => Ok(Some((stored, file))),
            Err(error) => Err(error.into()),
        }
    }

    /// A whole file becomes a result; older ones make room for it.
    async fn take_in(&self, new: NewResult, record: ResultRecord) -> Result<StoredResult, ResultsError> {
        let _lock = self.lock().await?;
        let (inner, file_name) = (Arc::clone(&self.inner), record.file_name.clone());
        let is_marked = !record.seen.is_empty();
        let moved = blocking(move || {
            if is_marked {
                marked::note_reads_of(new.file()).map_err(|error| inner.place.failed(&error))?;
            }
            inner.place.take_in(new, &file_name).map_err(|error| inner.place.failed(&error))
        });
        moved.await?;
        self.inner.store.changed(&self.inner.place.path_in_data(&record.owner, &record.file_name));
        let stored = StoredResult::from(record.clone());
        match self.remember(record).await {
            Ok(forgotten) => {
                self.remove_files(forgotten).await?;
                Ok(stored)
            }
            Err(error) => {
                self.remove_files(vec![file_of(&stored)]).await?;
                Err(error)
            }
        }
    }

    /// Writes the row; gives those that were forgotten for it.
    async fn remember(&self, record: ResultRecord) -> Result<Vec<StoredFile>, ResultsError> {
        let store = &self.inner.store;
        if let Room::Made(forgotten) = store.insert_result(record.clone(), self.room(), false).await? {
            return Ok(forgotten);
        }
        // Before anything goes for want of room: what programs have read is used.
        self.note_reads().await?;
        match store.insert_result(record, self.room(), true).await? {
            Room::Made(forgotten) => Ok(forgotten),
            Room::Needed => Ok(Vec::new()),
            Room::Taken => Err(ResultsError::Full { bytes_max: self.inner.settings.bytes_max }),
        }
    }

    async fn remove_files(&self, files: Vec<StoredFile>) -> Result<(), ResultsError> {
        if files.is_empty() {
            return Ok(());
        }
        let inner = Arc::clone(&self.inner);
        blocking(move || {
            inner.place.remove(&files);
            for StoredFile { owner, file_name, .. } in &files {
                inner.store.changed(&inner.place.path_in_data(owner, file_name));
            }
            Ok(())
        })
        .await
    }
}

fn file_of(stored: &StoredResult) -> StoredFile {
    StoredFile {
        owner: stored.owner.0.clone(),
        handle: stored.handle.clone(),
        file_name: stored.file_name.clone(),
        bytes: i64::try_from(stored.bytes).unwrap_or(i64::MAX),
    }
}

/// Does something on the disk where nobody waits for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ResultsError> + Send + 'static,
) -> Result<T, ResultsError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(StoreError::Other(error.to_string()).into()))
}

#[cfg(test)]
mod hidden_tests;
#[cfg(test)]
mod tests;
