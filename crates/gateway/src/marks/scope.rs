//! How far marks reach.

use gristmill_domain::one_line;

use crate::ids::{Caller, Client, Owner, SessionId};

/// A client says any name that it likes.
const CLIENT_CHARS_MAX: usize = 64;

/// Whatever shares what it has read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All programs of a session, in whichever gateway.
    Session(SessionId),
    /// Everything that a client asks for without a session, as long as this gateway runs.
    Client {
        owner: Owner,
        /// What it calls itself; empty for programs that no client asked for.
        client: String,
    },
}

impl Scope {
    pub fn of(caller: &Caller) -> Self {
        match &caller.session {
            Some(session) => Scope::Session(session.clone()),
            None => Self::of_client(caller),
        }
    }

    pub(crate) fn of_client(caller: &Caller) -> Self {
        let name = |client: &Client| one_line(&client.name, CLIENT_CHARS_MAX);
        let client = caller.client.as_ref().map(name).unwrap_or_default();
        Scope::Client { owner: caller.owner.clone(), client }
    }
}
