//! Sessions for a command: the database and what is configured about them.

use anyhow::anyhow;
use gristmill_config::Flags;
use gristmill_gateway::KeepSettings;
use gristmill_gateway::domain::{format_bytes, grouped};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::session::{
    ArchiveError, FileError, HeldSession, Patience, SessionError, SessionId, SessionInfo, SessionSettings,
    SessionWishes, Sessions, Whose,
};

use crate::arguments::ConfigFile;
use crate::audit_log;
use crate::failure::Failure;
use crate::id_prefix;
use crate::upstreams::{self, Configured};

/// Whoever is at the terminal sees everything.
pub const WHOSE: Whose = Whose::Everyones;

/// The sessions of the data folder.
pub fn open(file: &ConfigFile) -> Result<Sessions, Failure> {
    let configured = upstreams::read(&Flags { config: file.config.clone(), ..Flags::default() })?;
    let limits = configured.config.limits.clone();
    let (store, _audit) = audit_log::open(&configured)?;
    Sessions::open(store, None, limits, configured.config.sessions.settings).map_err(failure)
}

/// What is configured about sessions.
pub fn settings(configured: Option<&Configured>) -> SessionSettings {
    configured.map(|configured| configured.config.sessions.settings).unwrap_or_default()
}

/// What is configured about the interpreters that stay.
pub fn keep_settings(configured: Option<&Configured>) -> KeepSettings {
    configured.map(|configured| configured.config.sessions.keep).unwrap_or_default()
}

/// A session by its name, its handle or the beginning of its handle, as a name or a handle.
pub async fn resolved(sessions: &Sessions, session: &str) -> Result<String, Failure> {
    match sessions.info(&WHOSE, session).await {
        Ok(_) => Ok(session.to_owned()),
        Err(SessionError::Missing { .. }) if SessionId::read(session).is_none() => {
            let all = sessions.list(&WHOSE).await.map_err(failure)?;
            id_prefix::SESSION.resolve(session, all.iter().map(|info| info.id.as_str()))
        }
        Err(error) => Err(failure(error)),
    }
}

/// Among whose sessions a command that runs or writes looks. A name means one of our own: another
/// owner chose its names, and may have put there what our program would then use. A handle is meant.
pub fn whose_to_change(session: &str) -> Whose {
    match SessionId::read(session) {
        Some(_) => WHOSE,
        None => Whose::Of(Owner::local()),
    }
}

/// Takes a session for whoever is at the terminal; a new name becomes one, which keeps these wishes.
pub async fn enter(
    sessions: &Sessions,
    session: &str,
    patience: Patience,
    wishes: SessionWishes,
) -> Result<HeldSession, SessionError> {
    match whose_to_change(session) {
        Whose::Of(owner) => sessions.enter_or_create_at(&owner, session, patience, wishes).await,
        Whose::Everyones => sessions.enter(&WHOSE, session, patience).await,
    }
}

/// A name may be misspelt: whoever wrote it must see that a session was made of it.
pub fn new_session_words(name: &str) -> String {
    format!("new session `{name}`")
}

/// What a session holds. Folders count, too: they are what a limit counts.
pub fn content(info: &SessionInfo) -> String {
    let noun = if info.files == 1 { "entry" } else { "entries" };
    format!("{} {noun}, {}", grouped(info.files), format_bytes(info.bytes))
}

/// A session that something ran in, unless it has been ended since; that is said.
pub async fn if_still_there(file: &ConfigFile, session: &str) -> Result<Option<String>, Failure> {
    match open(file)?.info(&WHOSE, session).await {
        Ok(info) => Ok(Some(info.id.as_str().to_owned())),
        Err(SessionError::Missing { .. }) => {
            crate::terminal::eprint_lines("note: its session was deleted, so this runs without its files");
            Ok(None)
        }
        Err(error) => Err(failure(error)),
    }
}

/// As a command ends by it.
pub fn failure(error: SessionError) -> Failure {
    let told = match &error {
        SessionError::Missing { .. } => {
            anyhow!("{error}\nhint: `gristmill sessions list` shows your sessions")
        }
        SessionError::Busy { .. } => anyhow!("{error}\nhint: try again when it has ended"),
        SessionError::Ambiguous { .. }
        | SessionError::TooMany { .. }
        | SessionError::BadName { .. }
        | SessionError::NameTaken { .. }
        | SessionError::Looser { .. }
        | SessionError::NoFolder { .. }
        | SessionError::Store(_) => anyhow!("{error}\nhint: {}", error.hint()),
    };
    match error {
        SessionError::NoFolder { .. } | SessionError::Store(_) => Failure::Internal(told),
        SessionError::Busy { .. }
        | SessionError::Missing { .. }
        | SessionError::Ambiguous { .. }
        | SessionError::TooMany { .. }
        | SessionError::BadName { .. }
        | SessionError::Looser { .. }
        | SessionError::NameTaken { .. } => Failure::Usage(told),
    }
}

/// As a command ends by a file.
pub fn file_failure(error: FileError) -> Failure {
    let told = match &error {
        FileError::Missing { .. } => {
            anyhow!("{error}\nhint: `gristmill workspace ls SESSION` lists its files")
        }
        FileError::BadPath { .. }
        | FileError::BadPattern
        | FileError::IsFolder { .. }
        | FileError::NotFolder { .. }
        | FileError::Link { .. }
        | FileError::Special { .. }
        | FileError::NotText { .. }
        | FileError::NotBase64 { .. }
        | FileError::Limit(_)
        | FileError::System { .. } => anyhow!("{error}"),
    };
    Failure::Usage(told)
}

/// As a command ends by an archive.
pub fn archive_failure(error: ArchiveError) -> Failure {
    match error {
        ArchiveError::Session(error) => failure(error),
        ArchiveError::File(error) => file_failure(error),
        ArchiveError::Archive(_) => Failure::Usage(anyhow!("{error}")),
        ArchiveError::Write(_) => Failure::Internal(anyhow!("{error}")),
    }
}
