//! Sessions: workspaces that programs of one owner share under a name, one program at a time.
//!
//! They last as long as the gateway does, or until they have been idle for an hour.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::builder::Gateway;
use crate::execute::WorkspaceChoice;
use crate::executions::Owner;
use crate::pool::Scratch;

/// Each holds a folder on disk.
const SESSIONS_MAX: usize = 256;

/// Those of one owner: nobody takes what all need.
const SESSIONS_OF_ONE_MAX: usize = 64;

/// A conversation that has been silent for this long is over.
const IDLE_MAX: Duration = Duration::from_secs(60 * 60);

/// Long enough for any name that a person or a model gives.
const NAME_BYTES_MAX: usize = 64;

/// A session that cannot be used. Nothing ran, and its files are untouched.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// One program at a time.
    #[error("session `{name}` is already running a program")]
    Busy {
        /// Its name.
        name: String,
    },
    /// All places are taken.
    #[error("{count} sessions are open, which is as many as may be")]
    TooMany {
        /// How many.
        count: usize,
    },
    /// Not a name.
    #[error("`{name}` is not a name for a session: 1 to 64 letters, digits, `-`, `_` or `.`")]
    BadName {
        /// As it was written, shortened.
        name: String,
    },
    /// No folder for its files.
    #[error("no folder can be made for session `{name}`: {reason}")]
    NoFolder {
        /// Its name.
        name: String,
        /// What the system says.
        reason: String,
    },
}

/// See the module.
pub(crate) struct Sessions {
    gateway: Gateway,
    open: Mutex<HashMap<(Owner, String), Arc<Session>>>,
}

struct Session {
    folder: Scratch,
    busy: AtomicBool,
    used: Mutex<Instant>,
}

/// A session that is held by one program.
pub(crate) struct HeldSession(Arc<Session>);

impl Sessions {
    pub fn new(gateway: Gateway) -> Self {
        Self { gateway, open: Mutex::default() }
    }

    /// Takes a session for one program; opens it if it is not open.
    pub fn enter(&self, owner: &Owner, name: &str) -> Result<HeldSession, SessionError> {
        check_name(name)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        open.retain(|_, session| !session.is_over(now));
        let key = (owner.clone(), name.to_owned());
        let session = match open.get(&key) {
            Some(session) => Arc::clone(session),
            None if open.len() >= SESSIONS_MAX => return Err(SessionError::TooMany { count: open.len() }),
            None if open.keys().filter(|(whose, _)| whose == owner).count() >= SESSIONS_OF_ONE_MAX => {
                return Err(SessionError::TooMany { count: SESSIONS_OF_ONE_MAX });
            }
            None => {
                let folder = self.gateway.take_scratch().map_err(|error| SessionError::NoFolder {
                    name: name.to_owned(),
                    reason: error.to_string(),
                })?;
                let session =
                    Arc::new(Session { folder, busy: AtomicBool::new(false), used: Mutex::new(now) });
                open.insert(key, Arc::clone(&session));
                session
            }
        };
        if session.busy.swap(true, Ordering::AcqRel) {
            return Err(SessionError::Busy { name: name.to_owned() });
        }
        Ok(HeldSession(session))
    }
}

fn check_name(name: &str) -> Result<(), SessionError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    match (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(fits) {
        true => Ok(()),
        false => Err(SessionError::BadName { name: gristmill_domain::one_line(name, NAME_BYTES_MAX) }),
    }
}

impl Session {
    fn is_over(&self, now: Instant) -> bool {
        let used = *self.used.lock().unwrap_or_else(PoisonError::into_inner);
        !self.busy.load(Ordering::Acquire) && now.saturating_duration_since(used) > IDLE_MAX
    }
}

impl HeldSession {
    /// Where its files are.
    pub fn workspace(&self) -> WorkspaceChoice {
        WorkspaceChoice::Kept(self.0.folder.workspace_path())
    }
}

impl Drop for HeldSession {
    fn drop(&mut self) {
        *self.0.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        self.0.busy.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_1_to_64_plain_characters() {
        for name in ["a", ".", "..", "A-b_c.9", &"n".repeat(64)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "a/b", "\u{e4}", "\0", &"n".repeat(65)] {
            let bad = gristmill_domain::one_line(name, NAME_BYTES_MAX);
            assert_eq!(check_name(name), Err(SessionError::BadName { name: bad }), "{name:?}");
        }
    }

    #[test]
    fn a_bad_name_is_told_in_one_short_line() {
        let error =
            check_name(&format!("line\nline\u{1b}[31m{}", "x".repeat(10_000))).unwrap_err().to_string();
        assert!(error.len() < 250 && !error.contains(['\n', '\u{1b}']), "{error}");
    }
}
