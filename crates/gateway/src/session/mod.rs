//! Sessions: what programs of one owner share, one program at a time. Files in a workspace, and
//! values under keys; reached by an unguessable handle, or by a name.
//!
//! They outlive the gateway. What is known of them is in the database, their files are in folders
//! beside it, and a lock on a file in each folder says that a program is in it, whichever gateway
//! runs it. Whoever dies lets go of the lock; whatever a death leaves half-done is finished or
//! removed by the next start ([`Sessions::tidy`]).
//!
//! Walls: an owner never finds what is another's, not even that it is there. The gateway touches a
//! session's files by descriptor only (`files.rs`).

mod archive;
mod beneath;
mod error;
mod file_error;
mod files;
mod folder;
mod held;
mod inside_path;
mod listing;
mod place;
mod session_name;
mod settings;
mod tar;
mod turns;
mod upkeep;
mod values;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_domain::policy::Seen;
use gristmill_domain::{Level, Limits};

use crate::folder_size::{FolderSize, measure};
use crate::ids::Owner;
use crate::ids::unguessable;
use crate::native_engine::EngineChoice;
use crate::store::{Inserted, SessionRecord, Store};

pub use crate::ids::SessionId;
pub use archive::{ArchiveError, Imported};
pub use error::SessionError;
pub use file_error::FileError;
pub use files::{Content, Encoding, FileWritten, READ_BYTES_MAX, ReadPart, WorkspaceFiles};
pub use held::HeldSession;
pub use listing::{FileKind, ListedFile, Listing};
pub use place::{ConnectionSession, SessionChoice};
pub use settings::SessionSettings;
pub use tar::{TarEntry, TarError, TarReader, TarWriter};
pub use upkeep::Tidied;

pub(crate) use files::open_plain_file;
pub(crate) use place::Place;

use folder::SessionFolder;
use turns::Turns;

/// How long a second program waits for the first if nothing else is said: less than any client
/// waits for an answer.
pub const BUSY_WAIT: Duration = Duration::from_secs(30);

/// What to do about a session that is running a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Give up at once.
    Refuse,
    /// Wait for it, so long at most.
    Wait(Duration),
}

impl Patience {
    /// What is left of it.
    fn after(self, waited: Duration) -> Self {
        match self {
            Self::Refuse => Self::Refuse,
            Self::Wait(longest) => Self::Wait(longest.saturating_sub(waited)),
        }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Patience::Wait(BUSY_WAIT)
    }
}

/// Whose sessions are looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those of one owner.
    Of(Owner),
    /// All: for whoever has the machine.
    Everyones,
}

impl Whose {
    fn owner(&self) -> Option<String> {
        match self {
            Whose::Of(owner) => Some(owner.0.clone()),
            Whose::Everyones => None,
        }
    }
}

/// A session to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSession {
    /// What it is called; without a name it is reached by its handle alone.
    pub name: Option<String>,
    /// What its workspace may hold, if that is less than the level permits.
    pub max_bytes: Option<u64>,
    /// How many files, in the same way.
    pub max_files: Option<u64>,
    /// What an answer about one of its programs takes if a call says nothing else.
    pub max_output_tokens: Option<u64>,
    /// Which marked data its first files and values come from.
    pub seen: Seen,
    /// The level that its programs run at, at least.
    pub level: Option<Level>,
    /// The engine of its Python programs if a call says no other.
    pub engine: Option<EngineChoice>,
    /// Whether each stage of its programs is logged.
    pub is_debugged: bool,
}

/// What a program asks for by name. A session that is made under a name for it keeps that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionWishes {
    pub level: Option<Level>,
    pub engine: Option<EngineChoice>,
}

/// A session, seen from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionInfo {
    pub id: SessionId,
    pub name: Option<String>,
    pub owner: Owner,
    /// When it was made.
    pub created: SystemTime,
    /// When it was used last.
    pub used: SystemTime,
    /// Programs that have run in it.
    pub executions: u64,
    /// Bytes in its workspace.
    pub bytes: u64,
    /// Files and folders in its workspace.
    pub files: u64,
    /// Keys of its state, sorted.
    pub keys: Vec<String>,
    /// Whether a program is in it.
    pub is_busy: bool,
    /// Limits of its own.
    pub max_bytes: Option<u64>,
    /// Limits of its own.
    pub max_files: Option<u64>,
    /// What answers take, if that is a number of its own.
    pub max_output_tokens: Option<u64>,
    /// The level that its programs run at, at least.
    pub level: Option<Level>,
    /// The engine of its Python programs if a call says no other.
    pub engine: Option<EngineChoice>,
    /// Whether each stage of its programs is logged.
    pub is_debugged: bool,
}

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Sessions {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    folder: PathBuf,
    limits: Limits,
    settings: SessionSettings,
    /// Which gateway this is, among those that use the same database.
    mark: String,
    turns: Turns,
}

impl Sessions {
    /// The sessions that a database knows. Those of a database in memory are in the `scratch` folder, and
    /// go with it. `limits` are the level's: a workspace holds no more than they permit.
    pub fn open(
        store: Store,
        scratch: Option<&Path>,
        limits: Limits,
        settings: SessionSettings,
    ) -> Result<Self, SessionError> {
        let folder = match (store.folder(), scratch) {
            (Some(data), _) => data.join(folder::ALL),
            (None, Some(scratch)) => scratch.join(folder::ALL),
            (None, None) => {
                let reason = "a database in memory has no place for files".to_owned();
                return Err(SessionError::NoFolder { session: "any".to_owned(), reason });
            }
        };
        folder::make_folder(&folder).map_err(|error| SessionError::NoFolder {
            session: folder.display().to_string(),
            reason: error.to_string(),
        })?;
        let mark = unguessable::new().map_err(|error| SessionError::NoFolder {
            session: "any".to_owned(),
            reason: error.to_string(),
        })?;
        Ok(Self { inner: Arc::new(Inner { store, folder, limits, settings, mark, turns: Turns::default() }) })
    }

    /// Makes a session and holds it.
    pub async fn create(&self, owner: &Owner, new: NewSession) -> Result<HeldSession, SessionError> {
        self.create_with(owner, new, Vec::new(), |folder, _| folder.make_workspace()).await
    }

    /// Takes a session by its name or its handle, as soon as nobody else has it.
    pub async fn enter(
        &self,
        whose: &Whose,
        session: &str,
        patience: Patience,
    ) -> Result<HeldSession, SessionError> {
        let record = self.find(whose, session).await?;
        self.hold(record, patience).await
    }

    /// The same; a name that there is no session of becomes one.
    pub async fn enter_or_create(
        &self,
        owner: &Owner,
        session: &str,
        patience: Patience,
    ) -> Result<HeldSession, SessionError> {
        self.enter_or_create_at(owner, session, patience, SessionWishes::default()).await
    }

    /// The same; one that is made keeps these wishes.
    pub async fn enter_or_create_at(
        &self,
        owner: &Owner,
        session: &str,
        patience: Patience,
        wishes: SessionWishes,
    ) -> Result<HeldSession, SessionError> {
        // Whoever came first finds it or makes it first.
        let asked = tokio::time::Instant::now();
        let Some(_turn) = self.inner.turns.take(&format!("{}\0{session}", owner.0), patience).await else {
            return Err(SessionError::Busy { session: session.to_owned(), waited: asked.elapsed() });
        };
        let patience = patience.after(asked.elapsed());
        // Twice: another gateway may make it, or end it, in between.
        for _ in 0..2 {
            match self.enter(&Whose::Of(owner.clone()), session, patience).await {
                Err(SessionError::Missing { .. }) if SessionId::read(session).is_none() => {}
                outcome => return outcome,
            }
            let SessionWishes { level, engine } = wishes;
            let new = NewSession { name: Some(session.to_owned()), level, engine, ..NewSession::default() };
            match self.create(owner, new).await {
                Err(SessionError::NameTaken { .. }) => {}
                outcome => return outcome,
            }
        }
        self.enter(&Whose::Of(owner.clone()), session, patience).await
    }

    /// All sessions, the last used first.
    pub async fn list(&self, whose: &Whose) -> Result<Vec<SessionInfo>, SessionError> {
        let records = self.inner.store.all_sessions(whose.owner()).await?;
        let mut all = Vec::with_capacity(records.len());
        for record in records {
            all.extend(self.info_of(record).await?);
        }
        Ok(all)
    }

    /// One session, by its name or its handle.
    pub async fn info(&self, whose: &Whose, session: &str) -> Result<SessionInfo, SessionError> {
        let record = self.find(whose, session).await?;
        let missing = || SessionError::Missing { session: session.to_owned() };
        self.info_of(record).await?.ok_or_else(missing)
    }

    /// Which marked data the programs of a session have read; nothing if there is no such session.
    pub async fn seen(&self, whose: &Whose, session: &str) -> Seen {
        self.find(whose, session).await.map(|record| record.seen).unwrap_or_default()
    }

    /// The level that programs of a session run at, at least; `None` if there is no such session, or it has
    /// no level of its own.
    pub async fn level(&self, whose: &Whose, session: &str) -> Result<Option<Level>, SessionError> {
        match self.find(whose, session).await {
            Ok(record) => Ok(record.level),
            Err(SessionError::Missing { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Has each stage of a session's programs logged from the next one on, or not any more; by every gateway.
    pub async fn set_debugged(
        &self,
        whose: &Whose,
        session: &str,
        is_debugged: bool,
    ) -> Result<SessionInfo, SessionError> {
        let record = self.find(whose, session).await?;
        let folder = SessionFolder::of(&self.inner.folder, &id_of(&record)?);
        folder.set_debugged(is_debugged).map_err(|error| no_folder(&record, &error))?;
        self.inner.store.changed(&folder::path_in_data(&record.id));
        self.info(whose, record.id.as_str()).await
    }

    /// The files of a session. Nobody is kept out meanwhile: what is written appears whole.
    pub async fn files(&self, whose: &Whose, session: &str) -> Result<WorkspaceFiles, SessionError> {
        let record = self.find(whose, session).await?;
        self.files_of_found(&record).await
    }

    async fn files_of_found(&self, record: &SessionRecord) -> Result<WorkspaceFiles, SessionError> {
        // A session whose files somebody looks at is not idle; if that cannot be noted, no matter.
        let _ = self.inner.store.use_session(record.id.clone(), self.inner.store.now_ms(), 0).await;
        let files = self.files_of(record);
        // If it was ended since it was found, its folder was made again for nobody. If it is ended from
        // here on, the folder goes with it, and what is written into it as well.
        if self.inner.store.session_by_id(None, record.id.clone()).await?.is_none() {
            let folder = SessionFolder::of(&self.inner.folder, &id_of(record)?);
            // Whoever has the lock takes the folder away.
            if let Ok(Some(_lock)) = folder.try_lock() {
                let _ = folder::remove(folder.path());
            }
            return Err(SessionError::Missing { session: shown(record) });
        }
        files
    }

    fn files_of(&self, record: &SessionRecord) -> Result<WorkspaceFiles, SessionError> {
        let id = id_of(record)?;
        let folder = SessionFolder::of(&self.inner.folder, &id);
        let failed = |error: std::io::Error| no_folder(record, &error);
        // Somebody may have removed it by hand: it begins anew, empty.
        folder::make_folder(folder.path()).map_err(failed)?;
        folder::make_folder(&folder.incoming()).map_err(failed)?;
        folder.make_workspace().map_err(failed)?;
        let root = folder::open_folder(&folder.workspace()).map_err(failed)?;
        let incoming = folder::open_folder(&folder.incoming()).map_err(failed)?;
        let files = WorkspaceFiles::new(root, incoming, held::lowered(&self.inner.limits, record));
        let (store, path) = (self.inner.store.clone(), folder::path_in_data(&record.id));
        Ok(files.telling(move || store.changed(&path)))
    }

    async fn info_of(&self, record: SessionRecord) -> Result<Option<SessionInfo>, SessionError> {
        let Some(id) = SessionId::read(&record.id) else { return Ok(None) };
        let keys = self.inner.store.session_keys(record.id.clone()).await?;
        let folder = SessionFolder::of(&self.inner.folder, &id);
        let looked = tokio::task::spawn_blocking(move || {
            let mut found = FolderSize::default();
            // What cannot be measured counts as far as it was.
            if let Ok(workspace) = folder::open_folder(&folder.workspace()) {
                let _ = measure(&workspace, &mut found);
            }
            (found, folder.is_locked(), folder.is_debugged())
        });
        let (FolderSize { bytes, entries: files }, is_busy, is_debugged) = looked.await.unwrap_or_default();
        let number = |value: Option<i64>| value.and_then(|value| u64::try_from(value).ok());
        let (level, engine) = (record.level, record.engine);
        Ok(Some(SessionInfo {
            id,
            level,
            engine,
            name: record.name,
            owner: Owner(record.owner),
            created: time_of(record.created_ms),
            used: time_of(record.used_ms),
            executions: u64::try_from(record.executions).unwrap_or(0),
            bytes,
            files,
            keys,
            is_busy,
            is_debugged,
            max_bytes: number(record.max_bytes),
            max_files: number(record.max_files),
            max_output_tokens: number(record.max_output_tokens),
        }))
    }

    async fn find(&self, whose: &Whose, session: &str) -> Result<SessionRecord, SessionError> {
        let missing = || SessionError::Missing { session: gristmill_domain::one_line(session, 64) };
        if SessionId::read(session).is_some() {
            let found = self.inner.store.session_by_id(whose.owner(), session.to_owned()).await?;
            return found.ok_or_else(missing);
        }
        session_name::check(session)?;
        let mut found = self.inner.store.sessions_by_name(whose.owner(), session.to_owned()).await?;
        // Whoever has the machine means a session of its own first.
        if let Some(own) = found.iter().position(|record| record.owner == Owner::LOCAL) {
            return Ok(found.swap_remove(own));
        }
        match found.len() {
            0 => Err(missing()),
            1 => Ok(found.swap_remove(0)),
            _ => Err(SessionError::Ambiguous {
                name: session.to_owned(),
                handles: found.into_iter().map(|record| record.id).collect(),
            }),
        }
    }

    /// Makes a session whose files come from `fill`. Nothing is left of it if anything fails.
    async fn create_with(
        &self,
        owner: &Owner,
        new: NewSession,
        values: Vec<(String, String)>,
        fill: impl FnOnce(&SessionFolder, &folder::FolderLock) -> std::io::Result<()> + Send + 'static,
    ) -> Result<HeldSession, SessionError> {
        if let Some(name) = &new.name {
            session_name::check(name)?;
        }
        let shown = new.name.clone().unwrap_or_else(|| "new".to_owned());
        let failed = |error: String| SessionError::NoFolder { session: shown.clone(), reason: error };
        let id = SessionId::new().map_err(|error| failed(error.to_string()))?;
        let folder = SessionFolder::of(&self.inner.folder, &id);
        let (making, is_debugged) = (folder.clone(), new.is_debugged);
        let made = tokio::task::spawn_blocking(move || {
            let lock = making.try_lock()?.ok_or_else(|| std::io::Error::other("it is in use"))?;
            if is_debugged {
                making.set_debugged(true)?;
            }
            fill(&making, &lock).map(|()| lock)
        });
        let made = made.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
        let clear_away = || drop(folder::remove(folder.path()));
        let lock = made.map_err(|error| {
            clear_away();
            failed(error.to_string())
        })?;
        let now = self.inner.store.now_ms();
        let bound = |value: Option<u64>| value.map(|value| i64::try_from(value).unwrap_or(i64::MAX));
        let record = SessionRecord {
            id: id.as_str().to_owned(),
            owner: owner.0.clone(),
            name: new.name,
            created_ms: now,
            used_ms: now,
            executions: 0,
            resets: 0,
            variables_by: None,
            max_bytes: bound(new.max_bytes),
            max_files: bound(new.max_files),
            max_output_tokens: bound(new.max_output_tokens),
            seen: new.seen,
            level: new.level,
            engine: new.engine,
        };
        let inserted =
            self.inner.store.insert_session(record.clone(), values, self.inner.settings.counts()).await;
        let refused = match inserted {
            Ok(Inserted::Done) => return Ok(HeldSession::new(self.clone(), record, id, lock, true)),
            Ok(Inserted::NameTaken) => SessionError::NameTaken { name: record.name.unwrap_or_default() },
            Ok(Inserted::TooMany(count)) => SessionError::TooMany { count },
            Err(error) => error.into(),
        };
        clear_away();
        Err(refused)
    }
}

fn id_of(record: &SessionRecord) -> Result<SessionId, SessionError> {
    SessionId::read(&record.id).ok_or_else(|| SessionError::Missing { session: shown(record) })
}

/// How a session is called in messages: as its users know it.
fn shown(record: &SessionRecord) -> String {
    record.name.clone().unwrap_or_else(|| record.id.clone())
}

fn no_folder(record: &SessionRecord, error: &std::io::Error) -> SessionError {
    SessionError::NoFolder { session: shown(record), reason: error.to_string() }
}

fn time_of(ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or(0))
}

#[cfg(test)]
mod tests;
