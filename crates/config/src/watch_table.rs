//! The table `watch`: whether what runs is watched, and what is never called a burst.

use gristmill_gateway::domain::exact_bytes;
use gristmill_gateway::watch::Settings;

use super::fields::Fields;
use super::origin::Origin;
use super::problem::Problems;
use super::quantities::{self, Quantity};
use super::tree::Node;

pub const TABLE: &str = "watch";
pub(super) const KEYS: [&str; 4] = ["enabled", "calls_per_minute", "denials_per_minute", "output_per_minute"];

/// Of counts in a minute.
pub(super) const COUNTS: (u64, u64) = (1, 1_000_000);
const OUTPUT: Quantity = Quantity::size("a size, such as \"1MiB\"", "\"1MiB\"", (1 << 10, 1 << 40));

/// What one file says, with its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchTable {
    enabled: Option<(bool, usize)>,
    calls: Option<(u64, usize)>,
    denials: Option<(u64, usize)>,
    output: Option<(u64, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq)]
pub struct WatchConfig {
    pub enabled: bool,
    pub settings: Settings,
    pub enabled_origin: Origin,
    pub calls_origin: Origin,
    pub denials_origin: Origin,
    pub output_origin: Origin,
}

impl Default for WatchConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            settings: Settings::default(),
            enabled_origin: Origin::Default,
            calls_origin: Origin::Default,
            denials_origin: Origin::Default,
            output_origin: Origin::Default,
        }
    }
}

impl WatchConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &WatchTable, origin: impl Fn(usize) -> Origin) {
        if let Some((enabled, line)) = table.enabled {
            (self.enabled, self.enabled_origin) = (enabled, origin(line));
        }
        if let Some((calls, line)) = table.calls {
            // A tool has no more callers than there are.
            (self.settings.calls_a_minute, self.settings.tool_calls_a_minute) = (calls, calls);
            self.calls_origin = origin(line);
        }
        if let Some((denials, line)) = table.denials {
            (self.settings.denials_a_minute, self.denials_origin) = (denials, origin(line));
        }
        if let Some((output, line)) = table.output {
            (self.settings.output_bytes_a_minute, self.output_origin) = (output, origin(line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 4] {
        let output = exact_bytes(self.settings.output_bytes_a_minute);
        [
            ("enabled", self.enabled.to_string(), &self.enabled_origin),
            ("calls_per_minute", self.settings.calls_a_minute.to_string(), &self.calls_origin),
            ("denials_per_minute", self.settings.denials_a_minute.to_string(), &self.denials_origin),
            ("output_per_minute", format!("\"{output}\""), &self.output_origin),
        ]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> WatchTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return WatchTable::default() };
    let mut count = |fields: &mut Fields<'_>, key: &str| {
        fields.whole(key, COUNTS.0, COUNTS.1, problems).map(|count| (count, fields.line(key)))
    };
    let calls = count(&mut fields, "calls_per_minute");
    let denials = count(&mut fields, "denials_per_minute");
    let table = WatchTable {
        enabled: fields.flag("enabled", problems).map(|enabled| (enabled, fields.line("enabled"))),
        calls,
        denials,
        output: quantities::read(&mut fields, "output_per_minute", &OUTPUT, problems),
    };
    fields.finish(&KEYS, problems);
    table
}
