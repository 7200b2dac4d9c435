//! The table `audit`: what is written down for auditors, and how long it is kept.

use std::time::Duration;

use gristmill_gateway::audit::AuditSettings;
use gristmill_gateway::domain::{exact_bytes, exact_ms};

use super::fields::Fields;
use super::origin::Origin;
use super::problem::Problems;
use super::quantities::{self, Quantity};
use super::tree::Node;

pub const TABLE: &str = "audit";
pub(super) const KEYS: [&str; 4] = ["enabled", "arguments", "keep", "max_size"];

// Less than a day is no audit, and in ten years nobody asks.
const KEEP: Quantity =
    Quantity::time("a time, such as \"365d\"", "\"365d\"", (24 * 3_600_000, 3_650 * 24 * 3_600_000));
const SIZE: Quantity = Quantity::size("a size, such as \"512MB\"", "\"512MB\"", (1 << 20, 64 << 30));

/// What one file says, with its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AuditTable {
    enabled: Option<(bool, usize)>,
    arguments: Option<(bool, usize)>,
    keep: Option<(Duration, usize)>,
    bytes_max: Option<(u64, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditConfig {
    pub enabled: bool,
    pub settings: AuditSettings,
    pub enabled_origin: Origin,
    pub arguments_origin: Origin,
    pub keep_origin: Origin,
    pub size_origin: Origin,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            settings: AuditSettings::default(),
            enabled_origin: Origin::Default,
            arguments_origin: Origin::Default,
            keep_origin: Origin::Default,
            size_origin: Origin::Default,
        }
    }
}

impl AuditConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &AuditTable, origin: impl Fn(usize) -> Origin) {
        if let Some((enabled, line)) = table.enabled {
            (self.enabled, self.enabled_origin) = (enabled, origin(line));
        }
        if let Some((arguments, line)) = table.arguments {
            (self.settings.arguments, self.arguments_origin) = (arguments, origin(line));
        }
        if let Some((keep, line)) = table.keep {
            (self.settings.keep, self.keep_origin) = (keep, origin(line));
        }
        if let Some((bytes_max, line)) = table.bytes_max {
            (self.settings.bytes_max, self.size_origin) = (bytes_max, origin(line));
        }
    }

    /// What the audit is opened with; `None` if there is none.
    pub fn wanted(&self) -> Option<AuditSettings> {
        self.enabled.then_some(self.settings)
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 4] {
        let AuditSettings { arguments, keep, bytes_max } = self.settings;
        let keep = exact_ms(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX));
        [
            ("enabled", self.enabled.to_string(), &self.enabled_origin),
            ("arguments", arguments.to_string(), &self.arguments_origin),
            ("keep", format!("\"{keep}\""), &self.keep_origin),
            ("max_size", format!("\"{}\"", exact_bytes(bytes_max)), &self.size_origin),
        ]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> AuditTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return AuditTable::default() };
    let keep = quantities::read(&mut fields, "keep", &KEEP, problems);
    let table = AuditTable {
        enabled: fields.flag("enabled", problems).map(|enabled| (enabled, fields.line("enabled"))),
        arguments: fields.flag("arguments", problems).map(|arguments| (arguments, fields.line("arguments"))),
        keep: keep.map(|(ms, line)| (Duration::from_millis(ms), line)),
        bytes_max: quantities::read(&mut fields, "max_size", &SIZE, problems),
    };
    fields.finish(&KEYS, problems);
    table
}
