//! What is in the vault, without any of it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_privacy::Kind;

use crate::ids::{Owner, SessionId};
use crate::store::{VaultCount, VaultKeyId};

/// How much of one kind is in one scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultLine {
    pub owner: Owner,
    /// `None` for a client without a session.
    pub session: Option<SessionId>,
    pub session_name: Option<String>,
    /// What the client calls itself; empty for one that didn't say. `None` for a session.
    pub client: Option<String>,
    pub kind: Kind,
    pub values: u64,
    /// What they take in the database.
    pub bytes: u64,
    /// Within minutes.
    pub used: SystemTime,
    /// Whether the key file can read it. What another one made can't be restored without it.
    pub is_readable: bool,
}

/// What is to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wipe {
    Session(SessionId),
    All,
}

impl VaultLine {
    pub(super) fn of(count: VaultCount, key: Option<VaultKeyId>) -> Self {
        let used = Duration::from_millis(u64::try_from(count.used_ms).unwrap_or_default());
        Self {
            owner: Owner(count.owner),
            session: count.session.as_deref().and_then(SessionId::read),
            session_name: count.session_name,
            client: count.client,
            kind: Kind::named(&count.kind),
            values: count.values,
            bytes: count.bytes,
            used: UNIX_EPOCH + used,
            is_readable: key.is_some_and(|key| key.as_slice() == count.key),
        }
    }

    /// Whose values these are, for a person.
    pub fn scope_in_words(&self) -> String {
        match (&self.session, &self.session_name, self.client.as_deref()) {
            (_, Some(name), _) => format!("session {name}"),
            (Some(id), None, _) => format!("session {id}"),
            (None, None, Some("") | None) => "no session".to_owned(),
            (None, None, Some(client)) => format!("client {client}"),
        }
    }
}
