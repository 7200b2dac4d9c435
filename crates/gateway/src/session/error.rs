//! Why a session cannot be used, and what still works.

use std::time::{Duration, Instant};

use gristmill_domain::{Code, Level};

use crate::report::{Refusal, Report};
use crate::store::StoreError;

/// A session that cannot be used. Nothing ran, and its files are untouched.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// One program at a time.
    #[error("session `{session}` is already running a program{}", waited_text(.waited))]
    Busy {
        /// Its name, or its handle.
        session: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// There is none of this name or handle for whoever asks.
    #[error("no session `{session}`")]
    Missing {
        /// As it was written.
        session: String,
    },
    /// Several owners have one of this name.
    #[error("several sessions are named `{name}`: {}", .handles.join(", "))]
    Ambiguous {
        name: String,
        /// The handles, by which they differ.
        handles: Vec<String>,
    },
    /// All places are taken.
    #[error("no room for another session (the most is {count})")]
    TooMany { count: usize },
    #[error("`{name}` can't be a session name: use 1 to 64 letters, digits, `-`, `_` or `.`")]
    BadName {
        /// As it was written, shortened.
        name: String,
    },
    /// Another session of the same owner has it.
    #[error("a session named `{name}` already exists")]
    NameTaken { name: String },
    /// Its programs run at a stricter level.
    #[error("session `{session}` is for level {level} and stricter; {asked} is looser")]
    Looser {
        /// Its name, or its handle.
        session: String,
        level: Level,
        asked: Level,
    },
    /// No folder for its files.
    #[error("can't use the folder of session `{session}`: {reason}")]
    NoFolder {
        /// Its name, or its handle.
        session: String,
        /// What the system says.
        reason: String,
    },
    /// What is known of sessions cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn waited_text(waited: &Duration) -> String {
    match waited.as_secs() {
        0 => String::new(),
        seconds => format!("; it didn't finish within {seconds} s"),
    }
}

impl SessionError {
    /// What to do next, for a caller.
    pub fn hint(&self) -> &'static str {
        match self {
            SessionError::Busy { .. } => "wait for it, or use another session",
            SessionError::Missing { .. } => {
                "sessions end after a long time without use; to start a new one, leave `session` out or pass a name"
            }
            SessionError::Ambiguous { .. } => "use the handle",
            SessionError::TooMany { .. } => {
                "use an existing session, or none; `gristmill sessions remove` deletes one, and `max` in [sessions] allows more"
            }
            SessionError::BadName { .. } => "leave the session out to run the program on its own",
            SessionError::NameTaken { .. } => "pick another name",
            SessionError::Looser { .. } => "leave the level out, or use another session",
            SessionError::NoFolder { .. } => {
                "free some disk space, or set GRISTMILL_DATA_DIR to a folder with room"
            }
            SessionError::Store(_) => "`gristmill doctor` checks the database",
        }
    }

    /// Whether room or the machine is the reason, not what was asked for: whoever asked could not know
    /// it, and its program need not wait for it to be mended.
    pub(crate) fn is_ours(&self) -> bool {
        match self {
            SessionError::NoFolder { .. } | SessionError::Store(_) | SessionError::TooMany { .. } => true,
            SessionError::Busy { .. }
            | SessionError::Missing { .. }
            | SessionError::Ambiguous { .. }
            | SessionError::BadName { .. }
            | SessionError::Looser { .. }
            | SessionError::NameTaken { .. } => false,
        }
    }

    /// The report of a program that could not begin for it; `asked` is when somebody asked for it.
    pub fn report(self, asked: Instant) -> Report {
        Refusal::from(self).report(asked)
    }

    pub fn code(&self) -> Code {
        match self {
            SessionError::Busy { .. } | SessionError::TooMany { .. } => Code::Busy,
            SessionError::Missing { .. }
            | SessionError::Ambiguous { .. }
            | SessionError::BadName { .. }
            | SessionError::Looser { .. }
            | SessionError::NameTaken { .. } => Code::BadRequest,
            SessionError::NoFolder { .. } | SessionError::Store(_) => Code::Workspace,
        }
    }
}

impl From<SessionError> for Refusal {
    fn from(error: SessionError) -> Self {
        Refusal::new(error.code(), error.to_string(), error.hint())
    }
}
