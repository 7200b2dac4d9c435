//! Results that go: because nobody has used them for long, because others need the room, or because a
//! gateway died in the middle of something.

use std::sync::Arc;
use std::time::Duration;

use super::{Inner, Results, ResultsError, blocking};
use crate::clock::unix_ms;

/// How often old results are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

impl Results {
    /// Forgets what nobody has used for too long and what is too much, the longest unused first; then
    /// mends what a killed gateway left: a row without its file, a file without its row. Gives how many
    /// went.
    pub async fn sweep(&self) -> Result<usize, ResultsError> {
        let _lock = self.lock().await?;
        self.note_reads().await?;
        let Inner { store, settings, .. } = &*self.inner;
        let before = store.now().checked_sub(settings.keep).map_or(0, unix_ms);
        let forgotten = store.forget_results(before, self.room()).await?;
        let (inner, known) = (Arc::clone(&self.inner), store.result_files().await?);
        let (lost, strays) = blocking(move || {
            // Those that were forgotten just now are strays, too.
            let strays = inner.place.remove_strays(&known);
            let lost = inner.place.lost(known);
            inner.place.remove(&lost);
            Ok((lost, strays))
        })
        .await?;
        for file in &lost {
            store.delete_result(file.owner.clone(), file.handle.clone()).await?;
        }
        Ok(strays.max(forgotten.len()) + lost.len())
    }

    /// Sweeps every hour, as long as anybody has these results. Opening them has swept already.
    pub fn tidy_in_background(&self) {
        let inner = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(SWEEP_EVERY).await;
                let Some(inner) = inner.upgrade() else { return };
                // What cannot be tidied now is tidied in an hour, or by the next start.
                let _ = Self { inner, marks: None }.sweep().await;
            }
        });
    }

    /// Programs read files without asking us: the file system knows when.
    pub(super) async fn note_reads(&self) -> Result<(), ResultsError> {
        let (inner, files) = (Arc::clone(&self.inner), self.inner.store.result_files().await?);
        let reads = blocking(move || Ok(inner.place.reads(&files))).await?;
        Ok(self.inner.store.use_results(reads).await?)
    }
}
