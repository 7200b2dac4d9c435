//! Which engine runs a program.

use serde::{Deserialize, Serialize};

/// What runs a language. Each engine has its own zygote, so a child never changes its engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EngineId {
    Python,
    /// TypeScript, and JavaScript as well.
    TypeScript,
    /// Python, too: the machine's own interpreter, without WebAssembly.
    Native,
}

impl EngineId {
    /// Every engine there is.
    pub const ALL: &[Self] = &[Self::Python, Self::TypeScript, Self::Native];

    /// A short, stable word: for logs, settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::TypeScript => "typescript",
            Self::Native => "native",
        }
    }

    /// The language of its programs, for people.
    pub fn language(self) -> &'static str {
        match self {
            Self::Python | Self::Native => "Python",
            Self::TypeScript => "TypeScript",
        }
    }
}

impl std::fmt::Display for EngineId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// No engine has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoSuchEngine;

impl std::str::FromStr for EngineId {
    type Err = NoSuchEngine;

    fn from_str(name: &str) -> Result<Self, NoSuchEngine> {
        Self::ALL.iter().copied().find(|engine| engine.name() == name).ok_or(NoSuchEngine)
    }
}
