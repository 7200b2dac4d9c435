//! The files of the session that a call means, read and written without a program. A program may run
//! in the session meanwhile.

use gristmill_gateway::domain::{Code, Level, one_line};
use gristmill_gateway::ids::{Caller, SessionId};
use gristmill_gateway::session::{
    Encoding, FileError, NewSession, Patience, SessionError, Whose, WorkspaceFiles,
};
use serde::Deserialize;

use super::answer::Answer;
use super::caller::Requester;
use super::{Connection, GatewayServer};

/// How the content of a file is given in an argument.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ContentEncoding {
    #[default]
    Text,
    Base64,
}

impl From<ContentEncoding> for Encoding {
    fn from(encoding: ContentEncoding) -> Self {
        match encoding {
            ContentEncoding::Text => Encoding::Text,
            ContentEncoding::Base64 => Encoding::Base64,
        }
    }
}

impl GatewayServer {
    /// The files of the session that is meant, and its handle if it was made just now.
    pub(super) async fn files_to_write(
        &self,
        session: Option<String>,
        requester: &Requester,
    ) -> Result<(WorkspaceFiles, Option<String>), Answer> {
        let (sessions, owner) = (&self.parts.sessions, &requester.owner);
        let whose = Whose::Of(owner.clone());
        let (session, made) = match (session, self.connection) {
            (Some(session), _) => {
                let found = sessions.files(&whose, &session).await;
                if matches!(found, Err(SessionError::Missing { .. })) {
                    let held = sessions.enter_or_create(owner, &session, Patience::default()).await;
                    held.map_err(|error| no_session(&error))?.leave().await;
                }
                (session, None)
            }
            (None, Connection::Pipes) => {
                let found = sessions.of_connection(owner, &self.session).await;
                let (id, is_new) = found.map_err(|error| no_session(&error))?;
                if let (true, Some(ledger)) = (is_new, self.parts.gateway.marks()) {
                    // The connection went on without a session until now.
                    ledger.note_session(&id, &ledger.seen(&requester.caller).await).await;
                }
                (id.to_string(), is_new.then(|| id.to_string()))
            }
            (None, Connection::Http) => {
                let held = sessions.create(owner, NewSession::default()).await;
                let id = held.map_err(|error| no_session(&error))?.id().to_string();
                (id.clone(), Some(id))
            }
        };
        let files = sessions.files(&whose, &session).await.map_err(|error| no_session(&error))?;
        Ok((files, made))
    }

    /// The session that is meant, if there is one.
    pub(super) async fn session_meant(
        &self,
        session: Option<&str>,
        requester: &Requester,
    ) -> Result<Option<SessionId>, Answer> {
        match (session, self.connection) {
            (Some(session), _) => {
                let whose = Whose::Of(requester.owner.clone());
                let found =
                    self.parts.sessions.info(&whose, session).await.map_err(|error| no_session(&error))?;
                Ok(Some(found.id))
            }
            (None, Connection::Pipes) => Ok(self.session.id().await),
            (None, Connection::Http) => Ok(None),
        }
    }

    /// The session that is meant and the level that it has, if it has one.
    pub(super) async fn session_level(
        &self,
        session: Option<&str>,
        requester: &Requester,
    ) -> Result<Option<(String, Level)>, Answer> {
        let session = match (session, self.connection) {
            (Some(session), _) => session.to_owned(),
            (None, Connection::Pipes) => match self.session.id().await {
                Some(id) => id.to_string(),
                None => return Ok(None),
            },
            (None, Connection::Http) => return Ok(None),
        };
        let whose = Whose::Of(requester.owner.clone());
        let level = self.parts.sessions.level(&whose, &session).await.map_err(|error| no_session(&error))?;
        Ok(level.map(|level| (session, level)))
    }

    /// A session that was made for a file that was refused would be empty for ever.
    pub(super) async fn remove_empty_session(&self, made: Option<String>, requester: &Requester) {
        if let Some(session) = made {
            let whose = Whose::Of(requester.owner.clone());
            let _ = self.parts.sessions.end(&whose, &session, Patience::Refuse).await;
        }
    }

    /// The files of the session that is meant; `None` if there is none yet.
    pub(super) async fn files_to_read(
        &self,
        session: Option<String>,
        requester: &Requester,
    ) -> Result<Option<WorkspaceFiles>, Answer> {
        let whose = Whose::Of(requester.owner.clone());
        let sessions = &self.parts.sessions;
        let named = session.clone();
        let found = match (session, self.connection) {
            (Some(session), _) => sessions.files(&whose, &session).await.map(Some),
            (None, Connection::Pipes) => match self.session.id().await {
                None => return Ok(None),
                Some(id) => match sessions.files(&whose, id.as_str()).await {
                    // It was ended: the next one begins with the next file.
                    Err(SessionError::Missing { .. }) => Ok(None),
                    found => found.map(Some),
                },
            },
            (None, Connection::Http) => {
                let hint = "pass the session's name or handle";
                let message = "`session` is missing";
                return Err(Answer::refused(Code::BadRequest, message, Some(hint)));
            }
        };
        if let Ok(Some(_)) = &found {
            self.note_files_read(named, requester).await;
        }
        found.map_err(|error| {
            let hint = match matches!(error, SessionError::Missing { .. }) {
                true => "check the name; reading doesn't start a session, and idle sessions end",
                false => error.hint(),
            };
            Answer::refused(error.code(), &error.to_string(), Some(hint))
        })
    }

    /// Whoever reads files of a session has read what its programs have.
    async fn note_files_read(&self, session: Option<String>, requester: &Requester) {
        let Some(ledger) = self.parts.gateway.marks() else { return };
        let session = match session {
            Some(session) => Some(session),
            None => self.session.id().await.map(|id| id.to_string()),
        };
        if let Some(session) = session {
            let seen = self.parts.sessions.seen(&Whose::Of(requester.owner.clone()), &session).await;
            ledger.note(&self.reader(requester).await, &seen).await;
        }
    }

    /// Who reads what is handed to the client: with the session that its programs go on in.
    pub(super) async fn reader(&self, requester: &Requester) -> Caller {
        let session = match self.connection {
            Connection::Pipes => self.session.id().await,
            Connection::Http => None,
        };
        Caller { session, ..requester.caller.clone() }
    }
}

/// A session that has nothing in it yet has no file of this path either.
pub(super) fn no_file(path: &str) -> Answer {
    refused(&FileError::Missing { path: one_line(path, 120) })
}

/// Does something with files, where nobody waits for the disk.
pub(super) async fn with_files<T: Send + 'static>(
    files: WorkspaceFiles,
    path: String,
    work: impl FnOnce(&WorkspaceFiles, &str) -> Result<T, FileError> + Send + 'static,
) -> Result<(String, T), Answer> {
    let done = tokio::task::spawn_blocking(move || work(&files, &path).map(|done| (path, done)));
    match done.await {
        Ok(outcome) => outcome.map_err(|error| refused(&error)),
        Err(error) => Err(Answer::refused(Code::Workspace, &error.to_string(), None)),
    }
}

pub(super) fn no_session(error: &SessionError) -> Answer {
    Answer::refused(error.code(), &error.to_string(), Some(error.hint()))
}

fn refused(error: &FileError) -> Answer {
    let (code, hint) = match error {
        FileError::Missing { .. } | FileError::IsFolder { .. } | FileError::NotFolder { .. } => {
            (Code::BadRequest, Some("list_workspace_files lists the files"))
        }
        FileError::NotText { .. } => (Code::BadRequest, Some("pass `encoding`: \"base64\"")),
        FileError::BadPath { .. }
        | FileError::BadPattern
        | FileError::Link { .. }
        | FileError::Special { .. }
        | FileError::NotBase64 { .. } => (Code::BadRequest, None),
        FileError::Limit(_) | FileError::System { .. } => (Code::Workspace, None),
    };
    // A caller cannot raise limits: that is for whoever runs the gateway.
    let text = error.to_string();
    let message = text.split_once(", or raise `").map_or(text.as_str(), |(message, _)| message);
    Answer::refused(code, message, hint)
}

/// Exact, since a model may read on from there.
pub(super) fn bytes_text(count: u64) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}
