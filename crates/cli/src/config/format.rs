//! Which format a file is in, by its name, and its text read as a tree.

use std::path::Path;

use super::tree::{Bounds, BoundsError, Node};
use super::{read_json, read_toml, read_yaml};

/// A format of configuration files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `.toml`
    Toml,
    /// `.yaml`, `.yml`
    Yaml,
    /// `.json`, comments and trailing commas allowed
    Json,
}

/// A file that cannot be read as what its name says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SyntaxError {
    /// The parser stopped.
    #[error("{message}")]
    Text {
        /// What the parser says.
        message: String,
        /// Where, from 1.
        line: Option<usize>,
        /// The characters before it on its line, and one.
        column: Option<usize>,
    },
    /// Too deep or too large.
    #[error(transparent)]
    Bounds(#[from] BoundsError),
}

impl SyntaxError {
    /// Where, if it is known.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Text { line, .. } => *line,
            Self::Bounds(_) => None,
        }
    }

    /// Where on that line, if it is known, from 1.
    pub fn column(&self) -> Option<usize> {
        match self {
            Self::Text { column, .. } => *column,
            Self::Bounds(_) => None,
        }
    }
}

impl Format {
    /// By the extension.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" | "jsonc" => Some(Self::Json),
            _ => None,
        }
    }

    /// Reads a whole text. An empty one is an empty table in every format.
    pub fn parse(self, text: &str) -> Result<Node, SyntaxError> {
        self.parse_within(text, Bounds::default())
    }

    /// The same, within other bounds.
    pub fn parse_within(self, text: &str, bounds: Bounds) -> Result<Node, SyntaxError> {
        match self {
            Self::Toml => read_toml::parse(text, bounds),
            Self::Yaml => read_yaml::parse(text, bounds),
            Self::Json => read_json::parse(text, bounds),
        }
    }
}
