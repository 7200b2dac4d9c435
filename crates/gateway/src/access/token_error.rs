//! Why a token could not be issued, listed or revoked, and how one may be called.

use super::caller::Caller;

/// Nobody has so many clients; what is issued in a loop by mistake ends here.
pub(super) const TOKENS_MAX: usize = 1000;

/// Of a name, in characters.
pub(super) const NAME_MAX: usize = 64;

/// A token could not be issued, listed or revoked. What was there before is still there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error(
        "`{name}` cannot be a token's name: use 1 to {NAME_MAX} of a-z, 0-9, `-`, `_` and `.`, but not `local`"
    )]
    Name {
        /// As it was given, cut.
        name: String,
    },
    #[error("there is a token `{name}` already; revoke it first, or take another name")]
    Taken { name: String },
    /// A token for nothing.
    #[error("a token needs a scope: execute, search or admin")]
    NoScope,
    /// It would be refused from the beginning.
    #[error("the expiry is in the past")]
    Past,
    #[error("there are {TOKENS_MAX} tokens already; revoke some first")]
    TooMany,
    #[error("there is no token `{name}`; {}", known_names(.known))]
    Missing {
        /// What was asked for, cut.
        name: String,
        known: Vec<String>,
    },
    /// The file. Nobody gets in by token until it can be used.
    #[error("the access tokens in {path} cannot be used: {why}")]
    File {
        path: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The system has no randomness.
    #[error("no token can be made: {why}")]
    Randomness {
        /// What the system says.
        why: String,
    },
}

fn known_names(known: &[String]) -> String {
    match known {
        [] => "there are none".to_owned(),
        some => format!("there are {}", some.join(", ")),
    }
}

/// Whether a token may be called so.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    // `local` is everyone on this machine who has no token.
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(allowed) && name != Caller::local().name
}
