//! Whose an execution is, a session, a stored result.

/// Who may ask about an execution, and whose sessions it may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(pub String);

impl Owner {
    /// Whoever uses this machine: the command line, a client over pipes, and callers over HTTP from
    /// this machine who need no token.
    pub const LOCAL: &'static str = "local";

    pub fn local() -> Self {
        Self(Self::LOCAL.to_owned())
    }

    /// Whoever calls with a token of this name.
    pub fn of_token(identity: &str) -> Self {
        Self(format!("http:{identity}"))
    }
}
