//! Why a token could not be issued, listed or revoked, and how one may be called.

use gristmill_files::PrivateFileError;

use super::caller::Caller;

/// Nobody has so many clients; what is issued in a loop by mistake ends here.
pub(super) const TOKENS_MAX: usize = 1000;

/// Of a name, in characters.
pub(super) const NAME_MAX: usize = 64;

/// A token could not be issued, listed or revoked. What was there before is still there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    #[error(
        "`{name}` can't be a token name: use 1 to {NAME_MAX} characters of a-z, 0-9, `-`, `_` and `.`; `local` is taken"
    )]
    Name {
        /// As it was given, cut.
        name: String,
    },
    #[error("a token named `{name}` already exists; remove it first, or pick another name")]
    Taken { name: String },
    /// A token for nothing.
    #[error("a token needs at least one scope: execute, search or admin")]
    NoScope,
    /// It would be refused from the beginning.
    #[error("the expiry is in the past")]
    Past,
    #[error("you already have {TOKENS_MAX} tokens; revoke some first")]
    TooMany,
    #[error("no token is named `{name}`; {}", known_names(.known))]
    Missing {
        /// What was asked for, cut.
        name: String,
        known: Vec<String>,
    },
    /// The file. Nobody gets in by token until it can be used.
    #[error("can't use the access tokens in {path}: {why}")]
    File {
        path: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// The local owner's file. Nobody is the local owner until it can be used.
    #[error("can't use the local owner's token: {0}")]
    LocalFile(PrivateFileError),
    /// The system has no randomness.
    #[error("can't create a token: {why}")]
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
    // `local` is the owner of this gateway.
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(allowed) && name != Caller::local().name
}
