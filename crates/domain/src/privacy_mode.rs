//! How far personal data may go.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::levels::Level;

/// Who never holds personal data. The later, the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PrivacyMode {
    /// Nothing is looked for.
    #[default]
    Off,
    /// What goes to the model or into a record has tokens in its place.
    Output,
    /// What a server answers, too, before the program sees it.
    Boundary,
}

impl PrivacyMode {
    pub const ALL: [Self; 3] = [Self::Off, Self::Output, Self::Boundary];

    /// What holds at a level if nothing else is said.
    pub fn of(level: Level) -> Self {
        match level {
            Level::Development => Self::Off,
            Level::Production | Level::Hardened => Self::Output,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Output => "output",
            Self::Boundary => "boundary",
        }
    }
}

impl fmt::Display for PrivacyMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// No mode has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` isn't a privacy mode; use off, output or boundary")]
pub struct UnknownPrivacyMode(pub String);

impl FromStr for PrivacyMode {
    type Err = UnknownPrivacyMode;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|mode| mode.as_str() == name);
        found.ok_or_else(|| UnknownPrivacyMode(name.to_owned()))
    }
}
