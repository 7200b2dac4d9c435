//! How many tools a caller is shown.

use std::fmt;
use std::str::FromStr;

use super::tools::{CodeWriting, ShownTools, SingleCalls};

/// A named set of tools. Each has all tools of the smaller ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    /// To run programs, in which everything else is a function, and to find tools: as few tokens as possible.
    #[default]
    Minimal,
    /// What programs have as functions, as tools of their own.
    Standard,
    /// And other names for the same, for callers that are used to them.
    Full,
}

/// No profile has this name.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown profile `{0}`; use minimal, standard or full")]
pub struct UnknownProfile(String);

impl Profile {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Profile::Minimal => "minimal",
            Profile::Standard => "standard",
            Profile::Full => "full",
        }
    }

    /// What the definitions of its tools take of a model's context (o200k): of each its name, its
    /// description and its input schema.
    pub fn definition_tokens(self) -> u64 {
        ShownTools::new(self, SingleCalls::InPrograms, CodeWriting::ByCaller).tokens()
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        let all = [Profile::Minimal, Profile::Standard, Profile::Full];
        let found = all.into_iter().find(|profile| profile.as_str() == text);
        found.ok_or_else(|| UnknownProfile(text.chars().take(40).collect()))
    }
}
