//! Issuing, listing, revoking and checking tokens.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use gristmill_domain::policy::TokenLimits;

use super::caller::{Caller, Scope};
use super::local_token::LocalToken;
use super::token_error::{NAME_MAX, TOKENS_MAX, TokenError, is_name};
use super::token_file::{TokenFile, TokenRecord, whole_seconds};
use super::token_text::TokenText;

/// Why nobody was let in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefused {
    /// Not a token, or not one of ours, or revoked.
    #[error("unknown access token; it may have been revoked")]
    Unknown,
    /// It was one of ours.
    #[error("the access token `{name}` has expired")]
    Expired { name: String },
    /// Nobody can be checked.
    #[error(transparent)]
    Unreadable(#[from] TokenError),
}

/// A token that was just issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedToken {
    /// The token: it can be shown now and never again.
    pub text: TokenText,
    pub record: TokenRecord,
}

/// The tokens of one data folder. Several processes may use the same folder: what one of them
/// revokes is refused by all from the next check on.
pub struct AccessTokens {
    file: TokenFile,
    local: LocalToken,
}

impl AccessTokens {
    /// Those in this folder; there need not be any.
    pub fn open(data_folder: &Path) -> Self {
        let file = TokenFile::new(data_folder.join("access-tokens.json"));
        Self { file, local: LocalToken::open(data_folder) }
    }

    /// The token that makes its holder the local owner.
    pub fn local(&self) -> &LocalToken {
        &self.local
    }

    /// A new token. Without an expiry it is good until it is revoked.
    pub fn issue(
        &self,
        name: &str,
        scopes: impl IntoIterator<Item = Scope>,
        expires: Option<SystemTime>,
        now: SystemTime,
    ) -> Result<IssuedToken, TokenError> {
        self.issue_limited(name, scopes, TokenLimits::default(), expires, now)
    }

    /// The same, good for less than its scopes permit.
    pub fn issue_limited(
        &self,
        name: &str,
        scopes: impl IntoIterator<Item = Scope>,
        limits: TokenLimits,
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
        let limits = Arc::new(limits);
        let record =
            TokenRecord { name: name.to_owned(), scopes, created: whole_seconds(now), expires, limits };
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

    /// All named ones, by name, the expired ones too.
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
        let Some(record) = records.get(&hash) else {
            return if self.local.is(&hash)? { Ok(Caller::local()) } else { Err(TokenRefused::Unknown) };
        };
        if record.expires.is_some_and(|at| at <= now) {
            return Err(TokenRefused::Expired { name: record.name.clone() });
        }
        // A hash of the hash: what is kept in memory about a caller opens no door.
        let identity = format!("{}:{}", record.name, blake3::hash(hash.as_bytes()).to_hex());
        let limits = (!record.limits.is_empty()).then(|| Arc::clone(&record.limits));
        Ok(Caller { name: record.name.clone(), identity, scopes: record.scopes.clone(), limits })
    }
}

fn cut(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(NAME_MAX).collect()
}

#[cfg(test)]
#[path = "tokens_tests.rs"]
mod tests;
