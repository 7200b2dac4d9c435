//! Issuing, listing, revoking and checking tokens.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::SystemTime;

use super::caller::{Caller, Scope};
use super::token_file::{TokenFile, TokenRecord, whole_seconds};
use super::token_text::TokenText;

/// Nobody has so many clients; what is issued in a loop by mistake ends here.
const TOKENS_MAX: usize = 1000;

/// Of a name, in characters.
const NAME_MAX: usize = 64;

/// A token could not be issued, listed or revoked. What was there before is still there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The name.
    #[error(
        "`{name}` cannot be a token's name: use 1 to {NAME_MAX} of a-z, 0-9, `-`, `_` and `.`, but not `local`"
    )]
    Name {
        /// As it was given, cut.
        name: String,
    },
    /// Names are unique.
    #[error("there is a token `{name}` already; revoke it first, or take another name")]
    Taken {
        /// Which.
        name: String,
    },
    /// A token for nothing.
    #[error("a token needs a scope: execute, search or admin")]
    NoScope,
    /// It would be refused from the beginning.
    #[error("the expiry is in the past")]
    Past,
    /// Too many.
    #[error("there are {TOKENS_MAX} tokens already; revoke some first")]
    TooMany,
    /// Nothing to revoke.
    #[error("there is no token `{name}`; {}", known_names(.known))]
    Missing {
        /// What was asked for, cut.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The file. Nobody gets in by token until it can be used.
    #[error("the access tokens in {path} cannot be used: {why}")]
    File {
        /// Which.
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

/// Why nobody was let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefused {
    /// Not a token, or not one of ours, or revoked.
    #[error("the access token is not known here: it may have been revoked")]
    Unknown,
    /// It was one of ours.
    #[error("the access token `{name}` has expired")]
    Expired {
        /// Which.
        name: String,
    },
    /// Nobody can be checked.
    #[error(transparent)]
    Unreadable(#[from] TokenError),
}

/// A token that was just issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedToken {
    /// The token: it can be shown now and never again.
    pub text: TokenText,
    /// What is kept.
    pub record: TokenRecord,
}

/// The tokens of one data folder. Several processes may use the same folder: what one of them
/// revokes is refused by all from the next check on.
pub struct AccessTokens {
    file: TokenFile,
}

impl AccessTokens {
    /// Those in this folder; there need not be any.
    pub fn open(data_folder: &Path) -> Self {
        Self { file: TokenFile::new(data_folder.join("access-tokens.json")) }
    }

    /// A new token. Without an expiry it is good until it is revoked.
    pub fn issue(
        &self,
        name: &str,
        scopes: impl IntoIterator<Item = Scope>,
        expires: Option<SystemTime>,
        now: SystemTime,
    ) -> Result<IssuedToken, TokenError> {
        if !is_name(name) {
            return Err(TokenError::Name { name: cut(name) });
        }
        let scopes: BTreeSet<Scope> = scopes.into_iter().collect();
        if scopes.is_empty() {
            return Err(TokenError::NoScope);
        }
        let expires = expires.map(whole_seconds);
        if expires.is_some_and(|at| at <= now) {
            return Err(TokenError::Past);
        }
        let text = TokenText::random().map_err(|error| TokenError::Randomness { why: error.to_string() })?;
        let record = TokenRecord { name: name.to_owned(), scopes, created: whole_seconds(now), expires };
        self.file.change(|records| {
            if records.values().any(|other| other.name == name) {
                return Err(TokenError::Taken { name: name.to_owned() });
            }
            if records.len() >= TOKENS_MAX {
                return Err(TokenError::TooMany);
            }
            records.insert(text.hash(), record.clone());
            Ok(())
        })?;
        Ok(IssuedToken { text, record })
    }

    /// All of them, by name, the expired ones too.
    pub fn list(&self) -> Result<Vec<TokenRecord>, TokenError> {
        let mut records: Vec<TokenRecord> = self.file.current()?.values().cloned().collect();
        records.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(records)
    }

    /// Forgets one: it is refused from now on, also by servers that are running.
    pub fn revoke(&self, name: &str) -> Result<TokenRecord, TokenError> {
        self.file.change(|records| {
            let hash = records.iter().find(|(_, record)| record.name == name).map(|(hash, _)| *hash);
            hash.and_then(|hash| records.remove(&hash)).ok_or_else(|| {
                let mut known: Vec<String> = records.values().map(|record| record.name.clone()).collect();
                known.sort();
                known.truncate(20);
                TokenError::Missing { name: cut(name), known }
            })
        })
    }

    /// Who presents this. Looks the hash up: how long that takes says nothing about any token.
    pub fn check(&self, presented: &str, now: SystemTime) -> Result<Caller, TokenRefused> {
        let records = self.file.current()?;
        let token = TokenText::read(presented).ok_or(TokenRefused::Unknown)?;
        let hash = token.hash();
        let record = records.get(&hash).ok_or(TokenRefused::Unknown)?;
        if record.expires.is_some_and(|at| at <= now) {
            return Err(TokenRefused::Expired { name: record.name.clone() });
        }
        // A hash of the hash: what is kept in memory about a caller opens no door.
        let identity = format!("{}:{}", record.name, blake3::hash(hash.as_bytes()).to_hex());
        Ok(Caller { name: record.name.clone(), identity, scopes: record.scopes.clone() })
    }
}

/// Whether a token may be called so.
pub(super) fn is_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.');
    // `local` is everyone on this machine who has no token.
    !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(allowed) && name != Caller::local().name
}

fn cut(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect()
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
