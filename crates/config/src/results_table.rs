//! The table `results`: how much is kept of what answers left out.

use std::time::Duration;

use gristmill_gateway::domain::{exact_bytes, exact_ms};
use gristmill_gateway::results::ResultSettings;

use super::fields::Fields;
use super::origin::Origin;
use super::problem::Problems;
use super::quantities::{self, Quantity};
use super::tree::Node;

pub const TABLE: &str = "results";
pub(super) const KEYS: [&str; 2] = ["keep", "max_size"];

// Less than an hour would lose a result within one conversation, and in ten years nobody asks.
const KEEP: Quantity =
    Quantity::time("a time, such as \"7d\"", "\"7d\"", (3_600_000, 3_650 * 24 * 3_600_000));
// Less than the least would hold no result worth keeping; more than the most is no cache any more.
const SIZE: Quantity = Quantity::size("a size, such as \"1GiB\"", "\"1GiB\"", (1 << 20, 1 << 40));

/// What one file says, with its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultsTable {
    keep: Option<(Duration, usize)>,
    bytes_max: Option<(u64, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultsConfig {
    pub settings: ResultSettings,
    pub keep_origin: Origin,
    pub size_origin: Origin,
}

impl Default for ResultsConfig {
    fn default() -> Self {
        let settings = ResultSettings::default();
        Self { settings, keep_origin: Origin::Default, size_origin: Origin::Default }
    }
}

impl ResultsConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &ResultsTable, origin: impl Fn(usize) -> Origin) {
        if let Some((keep, line)) = table.keep {
            (self.settings.keep, self.keep_origin) = (keep, origin(line));
        }
        if let Some((bytes_max, line)) = table.bytes_max {
            (self.settings.bytes_max, self.size_origin) = (bytes_max, origin(line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 2] {
        let ResultSettings { keep, bytes_max } = self.settings;
        let keep = exact_ms(u64::try_from(keep.as_millis()).unwrap_or(u64::MAX));
        [
            ("keep", format!("\"{keep}\""), &self.keep_origin),
            ("max_size", format!("\"{}\"", exact_bytes(bytes_max)), &self.size_origin),
        ]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> ResultsTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return ResultsTable::default() };
    let keep = quantities::read(&mut fields, "keep", &KEEP, problems);
    let table = ResultsTable {
        keep: keep.map(|(ms, line)| (Duration::from_millis(ms), line)),
        bytes_max: quantities::read(&mut fields, "max_size", &SIZE, problems),
    };
    fields.finish(&KEYS, problems);
    table
}
