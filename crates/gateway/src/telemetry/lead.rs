//! The gateway that watches: of several on one data folder it is one, by a lock that the kernel lets go of
//! however it ends. Another one takes its place, and goes on with what it had learned.

use gristmill_files::FileLock;
use gristmill_watch::alerts::{Alert, Alerts};
use gristmill_watch::{Anomaly, Watch};

use super::WatchSettings;
use crate::store::{Store, StoreError, WatchEvent, WatchMemory};

/// Its name in the data folder.
const LOCK_FILE: &str = "watch.lock";

/// Whoever watches.
pub(super) struct Lead {
    watch: Watch,
    alerts: Alerts,
    /// A database in memory has one gateway.
    _lock: Option<FileLock>,
}

impl Lead {
    /// `None` if another gateway watches, or nothing can be read.
    pub async fn take(store: &Store, settings: &WatchSettings) -> Option<Self> {
        let lock = match store.folder().map(|folder| folder.join(LOCK_FILE)) {
            Some(path) => Some(FileLock::try_take(&path).ok()??),
            None => None,
        };
        let kept = store.watch_memory().await.ok()?;
        let watched = settings.watch.clone();
        // It may be large: no other task waits for it.
        let reading = tokio::task::spawn_blocking(move || {
            let kept = kept?;
            let watch = Watch::restore(watched, serde_json::from_str(&kept.memory).ok()?);
            Some((watch, serde_json::from_str(&kept.alerts).unwrap_or_default()))
        });
        // What another version wrote is begun anew.
        let known = reading.await.ok().flatten();
        let (watch, alerts) = known.unwrap_or_else(|| (Watch::new(settings.watch.clone()), Alerts::new()));
        Some(Self { watch, alerts, _lock: lock })
    }

    pub fn see(&mut self, event: &WatchEvent) -> Vec<Anomaly> {
        match event {
            WatchEvent::Executed(event) => self.watch.executed(event),
            WatchEvent::Called(event) => self.watch.called(event),
        }
    }

    pub fn alert(&mut self, settings: &WatchSettings, anomaly: &Anomaly) -> Option<Alert> {
        self.alerts.found(&settings.alerts, anomaly)
    }

    /// What is over.
    pub fn tick(&mut self, settings: &WatchSettings, now_ms: u64) -> Vec<Alert> {
        self.alerts.tick(&settings.alerts, now_ms)
    }

    /// Writes what was learned.
    pub async fn save(&self, store: &Store) -> Result<(), StoreError> {
        let (memory, alerts) = (self.watch.memory().clone(), self.alerts.clone());
        let written = tokio::task::spawn_blocking(move || {
            let memory = serde_json::to_string(&memory)?;
            Ok::<_, serde_json::Error>(WatchMemory { memory, alerts: serde_json::to_string(&alerts)? })
        });
        match written.await {
            Ok(Ok(kept)) => store.keep_watch_memory(kept).await,
            Ok(Err(error)) => Err(StoreError::Other(error.to_string())),
            Err(error) => Err(StoreError::Other(error.to_string())),
        }
    }
}
