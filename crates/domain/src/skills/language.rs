//! What a skill is written in: the ending of its file says it.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SkillLanguage {
    #[default]
    Python,
    /// JavaScript is TypeScript without types.
    TypeScript,
}

impl SkillLanguage {
    pub const ALL: [Self; 2] = [Self::Python, Self::TypeScript];

    /// As `SKILL.md` and JSON have it, and as Markdown names a block of code.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::TypeScript => "typescript",
        }
    }

    /// The ending of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Python => "py",
            Self::TypeScript => "ts",
        }
    }
}

impl fmt::Display for SkillLanguage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Python => "Python",
            Self::TypeScript => "TypeScript",
        })
    }
}
