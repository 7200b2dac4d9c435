//! Whether a file is still what was kept: its handle follows from its content, so that can be told.
//!
//! A file is looked at once, and again when it has changed. Programs open files by name, without us.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::sync::Arc;

use gristmill_files::FileStamp;
use parking_lot::Mutex;

use super::handle::{self, Key};
use super::{Origin, RESULTS_MAX, Results, ResultsError, StoredResult, blocking, file_of};
use crate::ids::Owner;
use crate::store::StoreError;

/// Larger files are taken as they are: whoever wants a part of one would wait for all of it to be read.
const CHECKED_BYTES_MAX: u64 = 64 << 20;

/// The files that were what was kept, by handle.
#[derive(Default)]
pub(super) struct SeenWhole {
    stamps: Mutex<HashMap<String, FileStamp>>,
}

impl SeenWhole {
    /// Whether a file holds what its handle was made of; blocks on the disk.
    fn is_as_kept(&self, key: &Key, stored: &StoredResult, file: &File) -> io::Result<bool> {
        let found = file.metadata()?;
        let stamp = FileStamp::from(&found);
        let seen = self.stamps.lock().get(&stored.handle).copied();
        if found.len() > CHECKED_BYTES_MAX || seen == Some(stamp) {
            return Ok(true);
        }
        let ending = stored.file_name.rsplit_once('.').map_or("", |(_, ending)| ending);
        if handle::of_file(key, ending, file, found.len())? != stored.handle {
            return Ok(false);
        }
        let mut stamps = self.stamps.lock();
        if stamps.len() >= RESULTS_MAX {
            stamps.clear();
        }
        stamps.insert(stored.handle.clone(), stamp);
        Ok(true)
    }
}

impl Results {
    /// The same value, if it is kept already. One that is damaged is to be put anew.
    pub(super) async fn kept_before(
        &self,
        owner: &Owner,
        handle: &str,
        origin: Origin,
    ) -> Result<Option<StoredResult>, ResultsError> {
        match self.renew(owner, handle, origin).await {
            Ok(found) => Ok(found.map(|(stored, _)| stored)),
            Err(ResultsError::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file, if it is what was kept; a damaged one is forgotten and removed.
    pub(super) async fn as_kept(&self, stored: &StoredResult, file: File) -> Result<File, ResultsError> {
        if let Some(file) = self.if_as_kept(stored, file).await? {
            return Ok(file);
        }
        let damaged = || ResultsError::Damaged { handle: stored.handle.clone() };
        // Where nothing can be written it stays, and whoever asks next hears the same.
        let Ok(_lock) = self.lock().await else { return Err(damaged()) };
        // Again: another gateway may have put it there anew.
        if let Some(file) = self.open_stored(stored).await?
            && let Some(file) = self.if_as_kept(stored, file).await?
        {
            return Ok(file);
        }
        let forgotten = self.inner.store.delete_result(stored.owner.0.clone(), stored.handle.clone()).await;
        if forgotten.is_ok() {
            self.remove_files(vec![file_of(stored)]).await?;
        }
        Err(damaged())
    }

    async fn if_as_kept(&self, stored: &StoredResult, file: File) -> Result<Option<File>, ResultsError> {
        let key = match self.key_of(&stored.owner).await {
            Ok(key) => key,
            // It can be read all the same, where nothing can be written.
            Err(ResultsError::Store(StoreError::ReadOnly | StoreError::Full | StoreError::Busy)) => {
                return Ok(Some(file));
            }
            Err(error) => return Err(error),
        };
        let (inner, stored) = (Arc::clone(&self.inner), stored.clone());
        blocking(move || {
            let is_kept = inner.seen_whole.is_as_kept(&key, &stored, &file);
            let is_kept = is_kept.map_err(|error| inner.place.failed(&error))?;
            Ok(is_kept.then_some(file))
        })
        .await
    }
}
