//! Sessions that end: because somebody says so, because nobody has used them for long, or because a
//! gateway died in the middle of something.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Weak;
use std::time::{Duration, SystemTime};

use super::folder::{self, GONE, SessionFolder};
use super::held::HeldSession;
use super::{Inner, Patience, SessionError, SessionInfo, Sessions, Whose, no_folder};
use crate::ids::SessionId;
use crate::ports::AuditEvent;

/// A folder that nobody knows and nobody holds may still be a session in the making; after so long
/// it is not.
const HALF_MADE_AFTER: Duration = Duration::from_secs(600);

/// How often idle sessions are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

/// What was tidied up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tidied {
    /// Sessions that were idle for too long, by handle.
    pub ended: Vec<SessionId>,
    /// Folders that belonged to no session.
    pub folders_removed: usize,
}

impl Sessions {
    /// Ends a session: its files and its state are gone.
    pub async fn end(
        &self,
        whose: &Whose,
        session: &str,
        patience: Patience,
    ) -> Result<SessionInfo, SessionError> {
        let info = self.info(whose, session).await?;
        let held = self.enter(whose, session, patience).await?;
        self.end_held(held, "ended").await?;
        Ok(info)
    }

    /// Empties a session: its handle and its name stay, its files and its state are gone.
    pub async fn reset(
        &self,
        whose: &Whose,
        session: &str,
        patience: Patience,
    ) -> Result<SessionInfo, SessionError> {
        let held = self.enter(whose, session, patience).await?;
        let failed = |error: std::io::Error| no_folder(held.record(), &error);
        self.inner.store.empty_session(held.record().id.clone()).await?;
        let gone = held.folder().take_workspace_away(held.lock()).map_err(failed)?;
        if let Some(gone) = gone {
            remove_behind(gone).await;
        }
        let info = self.info(&Whose::Everyones, held.id().as_str()).await;
        held.leave().await;
        info.map(|info| SessionInfo { is_busy: false, ..info })
    }

    /// Ends what has been idle for too long, finishes what a killed gateway left half-done, and
    /// removes folders that belong to no session. Whatever a program is in is left alone.
    pub async fn tidy(&self) -> Result<Tidied, SessionError> {
        let mut tidied = Tidied::default();
        for id in self.idle().await? {
            if let Some(held) = self.hold_idle(&id).await? {
                self.end_held(held, "idle").await?;
                tidied.ended.push(id);
            }
        }
        self.inner.store.remove_idle_vaults().await?;
        tidied.folders_removed = self.remove_leftovers().await?;
        Ok(tidied)
    }

    /// Those that have been idle for too long.
    pub async fn idle(&self) -> Result<Vec<SessionId>, SessionError> {
        let before = |idle: Duration| {
            self.inner.store.now_ms().saturating_sub(i64::try_from(idle.as_millis()).unwrap_or(i64::MAX))
        };
        let settings = &self.inner.settings;
        let idle = self.inner.store.idle_sessions(before(settings.idle), before(settings.named_idle)).await?;
        Ok(idle.iter().filter_map(|record| SessionId::read(&record.id)).collect())
    }

    /// Holds a session if nobody does, and nobody has used it since it was found idle.
    async fn hold_idle(&self, id: &SessionId) -> Result<Option<HeldSession>, SessionError> {
        let folder = SessionFolder::of(&self.inner.folder, id);
        // One whose folder cannot be used is for `end`, which says why.
        let Ok(Some(lock)) = folder.try_lock() else { return Ok(None) };
        if !self.idle().await?.contains(id) {
            return Ok(None);
        }
        let record = self.inner.store.session_by_id(None, id.as_str().to_owned()).await?;
        Ok(record.map(|record| HeldSession::new(self.clone(), record, id.clone(), lock, false)))
    }

    /// Tidies up now and every hour, as long as anybody has these sessions.
    pub fn tidy_in_background(&self) {
        let inner = std::sync::Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            while let Some(sessions) = still_there(&inner) {
                // What cannot be tidied now is tidied in an hour, or by the next start.
                let _ = sessions.tidy().await;
                drop(sessions);
                tokio::time::sleep(SWEEP_EVERY).await;
            }
        });
    }

    /// First nobody finds it any more, then its folder has another name, then its files go: a kill
    /// at any moment leaves the whole session, or something that the next start removes.
    async fn end_held(&self, held: HeldSession, how: &str) -> Result<(), SessionError> {
        self.inner.store.delete_session(held.record().id.clone()).await?;
        let record = held.record();
        self.inner.store.note(AuditEvent::session_deleted(&record.id, &record.owner, how));
        let gone = held.folder().take_away(held.lock());
        let gone = gone.map_err(|error| no_folder(held.record(), &error))?;
        self.inner.store.changed(&folder::path_in_data(&record.id));
        drop(held);
        remove_behind(gone).await;
        Ok(())
    }

    async fn remove_leftovers(&self) -> Result<usize, SessionError> {
        let known = self.inner.store.all_sessions(None).await?;
        let known: std::collections::HashSet<String> = known.into_iter().map(|record| record.id).collect();
        let all = self.inner.folder.clone();
        let removed = tokio::task::spawn_blocking(move || {
            let entries = fs::read_dir(&all).into_iter().flatten().flatten();
            entries.filter(|entry| is_removed(&all, &entry.path(), &known)).count()
        });
        Ok(removed.await.unwrap_or_default())
    }
}

fn still_there(inner: &Weak<Inner>) -> Option<Sessions> {
    inner.upgrade().map(|inner| Sessions { inner })
}

async fn remove_behind(gone: PathBuf) {
    // What cannot be removed now is removed by the next start.
    let _ = tokio::task::spawn_blocking(move || folder::remove(&gone)).await;
}

/// Removes one entry of the folder of all sessions, if it belongs to none of them.
fn is_removed(all: &Path, path: &Path, known: &std::collections::HashSet<String>) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    if name.starts_with(GONE) {
        return folder::remove(path).is_ok();
    }
    let Some(id) = SessionId::read(name) else { return false };
    let folder = SessionFolder::of(all, &id);
    if known.contains(name) {
        remove_unfinished(&folder.incoming());
        return false;
    }
    if !is_old(path) || !path.is_dir() {
        return false;
    }
    // Held by whoever makes it, if somebody does.
    let Ok(Some(lock)) = folder.try_lock() else { return false };
    match folder.take_away(&lock) {
        Ok(gone) => folder::remove(&gone).is_ok(),
        Err(_) => false,
    }
}

/// Files that were being written when their writer died.
fn remove_unfinished(incoming: &Path) {
    for entry in fs::read_dir(incoming).into_iter().flatten().flatten() {
        if is_old(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    let age = changed.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    age.is_some_and(|age| age > HALF_MADE_AFTER)
}
