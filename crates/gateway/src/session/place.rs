//! Where one program works: in a session, or on its own until it leaves something behind.
//!
//! A session that would be empty is not made. A program without one runs in a throw-away folder; if
//! it leaves files or state behind, that folder becomes a session, whose handle is in its report.

use std::sync::Arc;

use gristmill_domain::policy::Seen;
use gristmill_domain::{Level, LimitName};
use tokio::sync::Mutex;

use super::folder::CopyBounds;
use super::held::HeldSession;
use super::{NewSession, Patience, SessionError, SessionWishes, Sessions, Whose};
use crate::ids::Owner;
use crate::ids::SessionId;
use crate::native_engine::EngineChoice;
use crate::pool::Scratch;
use crate::ports::StateValues;
use crate::report::Report;
use crate::request::{ExecuteRequest, Leftovers, Variables, WorkspaceChoice};
use crate::state_values::StateInMemory;

/// Which session a program works in.
#[derive(Clone, Default)]
pub enum SessionChoice {
    /// None yet.
    #[default]
    Alone,
    /// One by its name or its handle; a new name becomes a session.
    Named(String),
    /// That of the connection it came over, as soon as there is one.
    OfConnection(ConnectionSession),
}

/// The session that calls of one connection go on in. Cheap to clone: all clones are the same.
#[derive(Clone, Default)]
pub struct ConnectionSession {
    id: Arc<Mutex<Option<SessionId>>>,
}

impl ConnectionSession {
    /// Its handle, if there is one.
    pub async fn id(&self) -> Option<SessionId> {
        self.id.lock().await.clone()
    }
}

/// A program's place while it runs.
pub(crate) enum Place {
    /// In a session that it holds.
    Held(HeldSession),
    Alone {
        /// Where one is made of what it leaves.
        sessions: Sessions,
        leftovers: Leftovers,
        state: Arc<StateInMemory>,
        /// The connection whose session it makes, if it leaves anything.
        connection: Option<ConnectionSession>,
        /// Why it is not where it was meant to be.
        note: Option<String>,
        /// Whether what it leaves can be kept.
        is_kept: bool,
    },
}

impl Sessions {
    /// Finds a program's place. With `make`, a session is there before the program begins. `wishes`
    /// are what the program asks for: a session that is made under a name keeps them.
    pub(crate) async fn place(
        &self,
        owner: &Owner,
        choice: &SessionChoice,
        patience: Patience,
        make: bool,
        wishes: SessionWishes,
    ) -> Result<Place, SessionError> {
        match choice {
            SessionChoice::Alone if make => self.create(owner, NewSession::default()).await.map(Place::Held),
            SessionChoice::Alone => Ok(Place::alone(self, None, None)),
            SessionChoice::Named(session) => {
                match self.enter_or_create_at(owner, session, patience, wishes).await {
                    Ok(held) => Ok(Place::Held(held)),
                    Err(error) if error.is_ours() && !make => self.place_without(owner, session, error).await,
                    Err(error) => Err(error),
                }
            }
            SessionChoice::OfConnection(connection) => {
                self.place_of_connection(owner, connection, make).await
            }
        }
    }

    /// A session that cannot be made would have been empty: its program runs all the same. One that is
    /// there has files, without which its program would go wrong.
    async fn place_without(
        &self,
        owner: &Owner,
        session: &str,
        error: SessionError,
    ) -> Result<Place, SessionError> {
        match self.find(&Whose::Of(owner.clone()), session).await {
            Err(SessionError::Missing { .. }) => Ok(Place::Alone {
                sessions: self.clone(),
                leftovers: Leftovers::default(),
                state: Arc::default(),
                connection: None,
                note: Some(format!(
                    "couldn't create the session, so nothing is kept: {error}; {}",
                    error.hint()
                )),
                is_kept: false,
            }),
            Ok(_) | Err(_) => Err(error),
        }
    }

    async fn place_of_connection(
        &self,
        owner: &Owner,
        connection: &ConnectionSession,
        make: bool,
    ) -> Result<Place, SessionError> {
        let mut id = connection.id.lock().await;
        if let Some(known) = id.as_ref() {
            match self.enter(&Whose::Of(owner.clone()), known.as_str(), Patience::Refuse).await {
                Ok(held) => return Ok(Place::Held(held)),
                Err(SessionError::Busy { .. }) if make => {
                    return self.create(owner, NewSession::default()).await.map(Place::Held);
                }
                Err(SessionError::Busy { .. }) => {
                    let note = "the session of this connection was running another program, so this one ran on its own, without its files";
                    return Ok(Place::alone(self, None, Some(note.to_owned())));
                }
                // It was ended or swept: the next one begins.
                Err(SessionError::Missing { .. }) => *id = None,
                Err(error) if error.is_ours() && !make => {
                    let note = format!("the program ran without the session of this connection: {error}");
                    return Ok(Place::alone(self, None, Some(note)));
                }
                Err(error) => return Err(error),
            }
        }
        if !make {
            return Ok(Place::alone(self, Some(connection.clone()), None));
        }
        let held = self.create(owner, NewSession::default()).await?;
        *id = Some(held.id().clone());
        Ok(Place::Held(held))
    }

    /// The session of a connection, made if there is none; whether it was made.
    pub async fn of_connection(
        &self,
        owner: &Owner,
        connection: &ConnectionSession,
    ) -> Result<(SessionId, bool), SessionError> {
        let mut id = connection.id.lock().await;
        if let Some(known) = id.as_ref() {
            match self.find(&Whose::Of(owner.clone()), known.as_str()).await {
                Ok(_) => return Ok((known.clone(), false)),
                Err(SessionError::Missing { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let held = self.create(owner, NewSession::default()).await?;
        *id = Some(held.id().clone());
        Ok((held.id().clone(), true))
    }

    /// Makes a session of what a program left behind.
    async fn adopt(
        &self,
        owner: &Owner,
        files: Option<Scratch>,
        values: Vec<(String, String)>,
        seen: Seen,
    ) -> Result<HeldSession, SessionError> {
        let limits = &self.inner.limits;
        let bounds = CopyBounds {
            // What the program was permitted; a request may have raised it to its level's most.
            bytes: limits.range(LimitName::WorkspaceBytes).1,
            files: limits.range(LimitName::WorkspaceFiles).1,
        };
        let new = NewSession { seen, ..NewSession::default() };
        self.create_with(owner, new, values, move |folder, lock| match files {
            Some(scratch) => folder.take_over(lock, &scratch.workspace_path(), bounds),
            None => folder.make_workspace(),
        })
        .await
    }
}

impl Place {
    fn alone(sessions: &Sessions, connection: Option<ConnectionSession>, note: Option<String>) -> Self {
        let (sessions, leftovers, state) = (sessions.clone(), Leftovers::default(), Arc::default());
        Place::Alone { sessions, leftovers, state, connection, note, is_kept: true }
    }

    /// Gives a program what its place has.
    pub fn equip(
        &self,
        request: &mut ExecuteRequest,
        default: &gristmill_domain::Limits,
        keep_variables: bool,
    ) {
        match self {
            Place::Held(held) => {
                request.workspace = WorkspaceChoice::Kept(held.workspace());
                request.capabilities.state = held.state();
                if keep_variables {
                    let (session, latest) = (held.variables_key(), held.latest_variables());
                    request.variables = Variables::Keep { session, latest };
                }
                let limits = request.limits.take();
                request.limits = Some(held.limits(limits.as_ref().unwrap_or(default)));
            }
            Place::Alone { leftovers, state, is_kept: true, .. } => {
                request.workspace = WorkspaceChoice::KeptIfUsed(leftovers.clone());
                request.capabilities.state = Arc::clone(state) as Arc<dyn StateValues>;
            }
            Place::Alone { .. } => {}
        }
    }

    /// What answers take in the session that it is in, if that has a number of its own.
    pub fn answer_tokens_max(&self) -> Option<usize> {
        match self {
            Place::Held(held) => held.answer_tokens_max(),
            Place::Alone { .. } => None,
        }
    }

    /// Whether a program may run there that asks for this level by name.
    pub fn takes(&self, asked: Option<Level>) -> Result<(), SessionError> {
        match self {
            Place::Held(held) => held.takes(asked),
            Place::Alone { .. } => Ok(()),
        }
    }

    /// The engine of that session's programs, if it has one of its own.
    pub fn engine(&self) -> Option<EngineChoice> {
        match self {
            Place::Held(held) => held.engine(),
            Place::Alone { .. } => None,
        }
    }

    /// The handle of the session that it is in already.
    pub fn session(&self) -> Option<&SessionId> {
        match self {
            Place::Held(held) => Some(held.id()),
            Place::Alone { .. } => None,
        }
    }

    /// Whether somebody looks into that session.
    pub fn is_debugged(&self) -> bool {
        match self {
            Place::Held(held) => held.is_debugged(),
            Place::Alone { .. } => false,
        }
    }

    /// The name of that session, if it has one.
    pub fn session_name(&self) -> Option<&str> {
        match self {
            Place::Held(held) => held.name(),
            Place::Alone { .. } => None,
        }
    }

    /// After the program: lets go of the session, or makes one of what was left behind. Done before
    /// anybody hears of the end, since the next program may come at once. A session that is made has read
    /// what its program has `seen`.
    pub async fn leave(self, owner: &Owner, seen: &Seen, report: &mut Report) {
        match self {
            Place::Held(held) => {
                report.notes.extend(held.note().map(str::to_owned));
                report.session = Some(held.report());
                if let Some(variables) = &report.variables
                    && let Err(error) = held.note_variables(variables.kept).await
                {
                    report.notes.push(format!(
                        "couldn't record which gateway keeps the session's variables, so the next program may start without them: {error}"
                    ));
                }
                held.leave_after_program().await;
            }
            Place::Alone { sessions, leftovers, state, connection, note, is_kept } => {
                report.notes.extend(note);
                let files = leftovers.take();
                if !is_kept || (files.is_none() && state.is_empty()) {
                    return;
                }
                let left = (files, state.values(), seen.clone());
                match keep(&sessions, owner, connection, left).await {
                    Ok(held) => {
                        report.session = Some(held.report());
                        held.leave_after_program().await;
                    }
                    Err(error) => report
                        .notes
                        .push(format!("what the program left in /workspace and `state` isn't kept: {error}")),
                }
            }
        }
    }
}

async fn keep(
    sessions: &Sessions,
    owner: &Owner,
    connection: Option<ConnectionSession>,
    (files, values, seen): (Option<Scratch>, Vec<(String, String)>, Seen),
) -> Result<HeldSession, SessionError> {
    let Some(connection) = connection else { return sessions.adopt(owner, files, values, seen).await };
    let mut id = connection.id.lock().await;
    let held = sessions.adopt(owner, files, values, seen).await?;
    // Two calls at once may both leave something: the first one's is the connection's.
    id.get_or_insert_with(|| held.id().clone());
    Ok(held)
}
