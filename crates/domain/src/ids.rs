//! Names of things that must not be confused.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One run of one program.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExecutionId(String);

impl ExecutionId {
    /// From 8 random bytes, which the caller draws.
    pub fn from_random(bytes: [u8; 8]) -> Self {
        Self(format!("x{:016x}", u64::from_be_bytes(bytes)))
    }

    /// As it is printed.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExecutionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
