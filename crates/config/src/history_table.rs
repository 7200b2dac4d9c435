//! The table `history`: how much is remembered of what programs did.

use std::time::Duration;

use gristmill_gateway::domain::{exact_bytes, exact_ms};
use gristmill_gateway::history::HistorySettings;

use super::fields::Fields;
use super::origin::Origin;
use super::problem::Problems;
use super::quantities::{self, Quantity};
use super::tree::Node;

pub const TABLE: &str = "history";
pub(super) const KEYS: [&str; 3] = ["keep", "max_size", "content"];

// Less than an hour is no history, and in ten years nobody asks.
const KEEP: Quantity =
    Quantity::time("a time, such as \"30d\"", "\"30d\"", (3_600_000, 3_650 * 24 * 3_600_000));
// One execution with all it may keep is smaller than the least; sums are made over the most.
const SIZE: Quantity = Quantity::size("a size, such as \"256MB\"", "\"256MB\"", (1 << 20, 64 << 30));

/// What one file says, with its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryTable {
    keep: Option<(Duration, usize)>,
    bytes_max: Option<(u64, usize)>,
    content: Option<(bool, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryConfig {
    pub settings: HistorySettings,
    pub keep_origin: Origin,
    pub size_origin: Origin,
    pub content_origin: Origin,
}

impl Default for HistoryConfig {
    fn default() -> Self {
        Self {
            settings: HistorySettings::default(),
            keep_origin: Origin::Default,
            size_origin: Origin::Default,
            content_origin: Origin::Default,
        }
    }
}

impl HistoryConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &HistoryTable, origin: impl Fn(usize) -> Origin) {
        if let Some((keep, line)) = table.keep {
            (self.settings.keep, self.keep_origin) = (keep, origin(line));
        }
        if let Some((bytes_max, line)) = table.bytes_max {
            (self.settings.bytes_max, self.size_origin) = (bytes_max, origin(line));
        }
        if let Some((content, line)) = table.content {
            (self.settings.content, self.content_origin) = (content, origin(line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 3] {
        let HistorySettings { keep, bytes_max, content } = self.settings;
        let keep = exact_ms(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX));
        [
            ("keep", format!("\"{keep}\""), &self.keep_origin),
            ("max_size", format!("\"{}\"", exact_bytes(bytes_max)), &self.size_origin),
            ("content", content.to_string(), &self.content_origin),
        ]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> HistoryTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return HistoryTable::default() };
    let keep = quantities::read(&mut fields, "keep", &KEEP, problems);
    let table = HistoryTable {
        keep: keep.map(|(ms, line)| (Duration::from_millis(ms), line)),
        bytes_max: quantities::read(&mut fields, "max_size", &SIZE, problems),
        content: fields.flag("content", problems).map(|content| (content, fields.line("content"))),
    };
    fields.finish(&KEYS, problems);
    table
}
