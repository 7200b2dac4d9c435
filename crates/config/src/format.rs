//! Which format a file is in, by its name, and its text read as a tree.

use std::path::Path;

use super::syntax_error::SyntaxError;
use super::tree::{Bounds, Node};
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

impl Format {
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
