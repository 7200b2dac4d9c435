//! What a detector looks for, and what it leaves alone.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::kind::Kind;

/// Longer patterns are nothing that anybody writes.
pub const PATTERN_BYTES_MAX: usize = 1_024;

/// All that can be set. The default looks for every kind.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Kinds that aren't looked for.
    pub off: Vec<Kind>,
    /// Findings below it aren't told. In percent.
    pub confidence_min: u8,
    /// Countries (`US`, `DE`) whose phone numbers are found without a country code.
    pub phone_regions: Vec<String>,
    /// Custom kinds: name and regular expression.
    pub patterns: BTreeMap<String, String>,
    /// Custom kinds that only add: they never take the place of another kind. For patterns of somebody else.
    pub added: BTreeSet<String>,
    pub allow: Allow,
}

/// What is no finding although it looks like one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Allow {
    /// Exact values, whatever their case.
    pub values: Vec<String>,
    /// Values with `*` for any text, such as `*@example.com`.
    pub globs: Vec<String>,
    /// Fields of servers.
    pub fields: Vec<AllowField>,
}

/// A field whose findings aren't told.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllowField {
    /// Server, tool and keys, such as `crm.*.fields.notes`; `*` is one name, `**` any number of them.
    /// Positions in lists aren't counted.
    pub field: String,
    /// Only these kinds; all if there are none.
    #[serde(default)]
    pub kinds: Vec<Kind>,
}

impl Default for Settings {
    fn default() -> Self {
        let regions = ["US", "CA", "GB", "IE", "DE", "FR", "ES", "IT", "NL", "AU", "IN", "BR"];
        Self {
            off: Vec::new(),
            confidence_min: 50,
            phone_regions: regions.map(str::to_owned).to_vec(),
            patterns: BTreeMap::new(),
            added: BTreeSet::new(),
            allow: Allow::default(),
        }
    }
}

/// Settings that can't be used. No detector was made.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the privacy pattern `{name}` can't be used: {reason}")]
    Pattern { name: String, reason: String },
    #[error("the privacy pattern `{name}` has the name of a built-in kind; choose another name")]
    PatternName { name: String },
    #[error("there are {count} privacy patterns; at most {max} can be used")]
    TooManyPatterns { count: usize, max: usize },
    #[error("`{region}` is no region with phone numbers; use a two-letter country code such as US")]
    Region { region: String },
    #[error("the allowed value or field `{0}` is longer than {max} bytes", max = PATTERN_BYTES_MAX)]
    AllowTooLong(String),
}
