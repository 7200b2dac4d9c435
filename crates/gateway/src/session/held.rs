//! A session that is held by one user at a time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gristmill_domain::{Level, LimitName, Limits};
use tokio::time::Instant;

use super::folder::{FolderLock, SessionFolder, path_in_data};
use super::turns::Turn;
use super::values::SessionValues;
use super::{Patience, SessionError, Sessions, id_of, no_folder, shown};
use crate::ids::SessionId;
use crate::native_engine::EngineChoice;
use crate::ports::StateValues;
use crate::report::SessionReport;
use crate::request::LatestVariables;
use crate::store::{SessionRecord, StoreError, VARIABLES_RESET};

/// How often a session that is in use is looked at: often at first, since most programs are short.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// A session that nobody else can enter until this is dropped.
pub struct HeldSession {
    sessions: Sessions,
    record: Box<SessionRecord>,
    id: SessionId,
    lock: FolderLock,
    /// Behind the lock: whoever is next finds that let go.
    _turn: Option<Turn>,
    is_new: bool,
    note: Option<Box<str>>,
}

impl HeldSession {
    pub(super) fn new(
        sessions: Sessions,
        record: SessionRecord,
        id: SessionId,
        lock: FolderLock,
        is_new: bool,
    ) -> Self {
        Self { sessions, record: Box::new(record), id, lock, _turn: None, is_new, note: None }
    }

    pub fn id(&self) -> &SessionId {
        &self.id
    }

    pub fn name(&self) -> Option<&str> {
        self.record.name.as_deref()
    }

    /// Whether it was made just now.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Where its files are.
    pub fn workspace(&self) -> PathBuf {
        self.folder().workspace()
    }

    /// What its programs keep under keys.
    pub fn state(&self) -> Arc<dyn StateValues> {
        Arc::new(SessionValues::new(self.sessions.inner.store.clone(), self.id.clone()))
    }

    /// Under which name an interpreter may be kept for it. After a reset it is another one, so that
    /// no gateway goes on with variables that were to be forgotten.
    pub fn variables_key(&self) -> String {
        format!("{}-{}", self.id, self.record.resets)
    }

    /// Where the variables are that a program of it left last.
    pub fn latest_variables(&self) -> LatestVariables {
        match self.record.variables_by.as_deref() {
            None => LatestVariables::Nowhere,
            Some(VARIABLES_RESET) => LatestVariables::Reset,
            Some(mark) if mark == self.sessions.inner.mark => LatestVariables::Here,
            Some(_) => LatestVariables::Elsewhere,
        }
    }

    /// Notes whether this gateway keeps its variables now, for every other one to know.
    pub(super) async fn note_variables(&self, are_kept: bool) -> Result<(), StoreError> {
        let by = are_kept.then(|| self.sessions.inner.mark.clone());
        // Mostly they were here before.
        if by == self.record.variables_by {
            return Ok(());
        }
        self.sessions.inner.store.note_variables(self.record.id.clone(), by).await
    }

    /// The level that its programs run at, at least.
    pub fn level(&self) -> Option<Level> {
        self.record.level
    }

    /// The engine of its Python programs if a call says no other.
    pub fn engine(&self) -> Option<EngineChoice> {
        self.record.engine
    }

    /// Whether each stage of its programs is logged.
    pub fn is_debugged(&self) -> bool {
        self.folder().is_debugged()
    }

    /// Whether a program may run in it that asks for this level by name.
    pub(super) fn takes(&self, asked: Option<Level>) -> Result<(), SessionError> {
        match (self.level(), asked) {
            (Some(level), Some(asked)) if asked < level => {
                Err(SessionError::Looser { session: shown(&self.record), level, asked })
            }
            (_, _) => Ok(()),
        }
    }

    /// The limits of a program in it: those given, or its own where they are lower.
    pub fn limits(&self, limits: &Limits) -> Limits {
        lowered(limits, &self.record)
    }

    /// What an answer about one of its programs takes if a call says nothing else.
    pub fn answer_tokens_max(&self) -> Option<usize> {
        self.record.max_output_tokens.and_then(|tokens| usize::try_from(tokens).ok())
    }

    /// What could not be noted when it was entered, in words.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// What a program's report says about it.
    pub fn report(&self) -> SessionReport {
        SessionReport { id: self.id.as_str().to_owned(), name: self.record.name.clone(), is_new: self.is_new }
    }

    /// Notes that it was used until now, and lets others in.
    pub async fn leave(self) {
        self.used(0).await;
    }

    /// The same, and counts a program that ran in it.
    pub async fn leave_after_program(self) {
        self.used(1).await;
    }

    async fn used(&self, programs: i64) {
        // If it cannot be noted, the session counts as idle since it was entered, no more.
        let store = &self.sessions.inner.store;
        let _ = store.use_session(self.record.id.clone(), store.now_ms(), programs).await;
        store.changed(&path_in_data(&self.record.id));
    }

    pub(super) fn folder(&self) -> SessionFolder {
        SessionFolder::of(&self.sessions.inner.folder, &self.id)
    }

    pub(super) fn lock(&self) -> &FolderLock {
        &self.lock
    }

    pub(super) fn record(&self) -> &SessionRecord {
        &self.record
    }
}

/// Limits with those of a session where they are lower.
pub(super) fn lowered(limits: &Limits, record: &SessionRecord) -> Limits {
    let number = |own: Option<i64>| own.and_then(|own| u64::try_from(own).ok());
    let tightened = record.level.and_then(|level| limits.tightened(level));
    let limits = tightened.as_ref().unwrap_or(limits);
    lowered_to(limits, number(record.max_bytes), number(record.max_files))
}

/// The same for a session that is not made yet.
pub(super) fn lowered_to(limits: &Limits, bytes: Option<u64>, files: Option<u64>) -> Limits {
    let mut limits = limits.clone();
    for (name, own) in [(LimitName::WorkspaceBytes, bytes), (LimitName::WorkspaceFiles, files)] {
        let own = own.unwrap_or(u64::MAX);
        if own < limits.get(name) {
            // Nothing is below what a level permits: the least is 0.
            let _ = limits.set(name, own);
        }
    }
    limits
}

impl Sessions {
    /// Waits for the lock, then makes sure that the session is still there.
    pub(super) async fn hold(
        &self,
        record: SessionRecord,
        patience: Patience,
    ) -> Result<HeldSession, SessionError> {
        let id = id_of(&record)?;
        let folder = SessionFolder::of(&self.inner.folder, &id);
        let began = Instant::now();
        let Some(turn) = self.inner.turns.take(&record.id, patience).await else {
            return Err(SessionError::Busy { session: shown(&record), waited: began.elapsed() });
        };
        let lock = self.lock(&folder, &record, (patience, began)).await?;
        // At once: a sweep must not take a session for idle whose program was killed with the gateway.
        let (found, note) =
            match self.inner.store.use_session(record.id.clone(), self.inner.store.now_ms(), 0).await {
                Ok(found) => (found, None),
                // A database that cannot be written does not keep a program from running.
                Err(error) => {
                    let note = format!("couldn't record the use of the session: {error}").into_boxed_str();
                    (self.inner.store.session_by_id(None, record.id.clone()).await?, Some(note))
                }
            };
        let Some(record) = found else {
            // It was ended while we waited, and its folder made again by our trying.
            let _ = super::folder::remove(folder.path());
            return Err(SessionError::Missing { session: shown(&record) });
        };
        folder.make_workspace().map_err(|error| no_folder(&record, &error))?;
        let held = HeldSession::new(self.clone(), record, id, lock, false);
        Ok(HeldSession { note, _turn: Some(turn), ..held })
    }

    async fn lock(
        &self,
        folder: &SessionFolder,
        record: &SessionRecord,
        (patience, began): (Patience, Instant),
    ) -> Result<FolderLock, SessionError> {
        let mut pause = FIRST_PAUSE;
        loop {
            if let Some(lock) = folder.try_lock().map_err(|error| no_folder(record, &error))? {
                return Ok(lock);
            }
            let waited = began.elapsed();
            let left = match patience {
                Patience::Refuse => Duration::ZERO,
                Patience::Wait(longest) => longest.saturating_sub(waited),
            };
            if left.is_zero() {
                return Err(SessionError::Busy { session: shown(record), waited });
            }
            // By looking again: the one who has it may be another process.
            tokio::time::sleep(pause.min(left)).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
