//! What programs keep under keys.

use super::box_future::BoxFuture;

/// What the programs of one session keep beside files: JSON texts under keys, the same for every
/// language.
pub trait StateValues: Send + Sync + 'static {
    /// The value under a key.
    fn get<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StateFailure>>;

    /// Puts a value under a key, in the place of what was there. Once this is done it is kept.
    fn set<'a>(&'a self, key: &'a str, value: String) -> BoxFuture<'a, Result<(), StateFailure>>;

    /// Removes a key; whether it was there.
    fn remove<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<bool, StateFailure>>;

    /// Every key, sorted.
    fn keys(&self) -> BoxFuture<'_, Result<Vec<String>, StateFailure>>;

    fn clear(&self) -> BoxFuture<'_, Result<(), StateFailure>>;
}

impl std::fmt::Debug for dyn StateValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StateValues")
    }
}

/// A value that could not be kept or read. The others are untouched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct StateFailure(pub String);
