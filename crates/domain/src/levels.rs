//! Levels: named sets of limits and promises.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much a program is trusted; the later is the stricter. See docs/limits.md.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Generous limits, and it runs on a machine without a jail.
    Development,
    /// The default: every wall that an ordinary Linux machine or container gives.
    #[default]
    Production,
    /// Small limits, and namespaces are a must.
    Hardened,
}

/// There is no such level.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` isn't an isolation level; use development, production or hardened")]
pub struct UnknownLevel(String);

impl Level {
    /// All of them, from the most generous on.
    pub const ALL: [Level; 3] = [Level::Development, Level::Production, Level::Hardened];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Development => "development",
            Level::Production => "production",
            Level::Hardened => "hardened",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wanted = text.to_ascii_lowercase();
        Level::ALL
            .into_iter()
            .find(|level| level.as_str() == wanted)
            .ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}
