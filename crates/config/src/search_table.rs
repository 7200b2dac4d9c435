//! The table `search`: how tools are found.

use gristmill_gateway::upstream::SearchSettings;

use super::fields::Fields;
use super::origin::Origin;
use super::problem::Problems;
use super::tree::Node;

pub const TABLE: &str = "search";
pub(super) const KEYS: [&str; 2] = ["meaning", "uses"];

/// What one file says, each with its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchTable {
    meaning: Option<(bool, usize)>,
    uses: Option<(bool, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchConfig {
    pub settings: SearchSettings,
    pub meaning_origin: Origin,
    pub uses_origin: Origin,
}

impl Default for SearchConfig {
    fn default() -> Self {
        let settings = SearchSettings::default();
        Self { settings, meaning_origin: Origin::Default, uses_origin: Origin::Default }
    }
}

impl SearchConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &SearchTable, origin: impl Fn(usize) -> Origin) {
        if let Some((meaning, line)) = table.meaning {
            (self.settings.by_meaning, self.meaning_origin) = (meaning, origin(line));
        }
        if let Some((uses, line)) = table.uses {
            (self.settings.by_use, self.uses_origin) = (uses, origin(line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 2] {
        let SearchSettings { by_meaning, by_use } = self.settings;
        [
            (KEYS[0], by_meaning.to_string(), &self.meaning_origin),
            (KEYS[1], by_use.to_string(), &self.uses_origin),
        ]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> SearchTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return SearchTable::default() };
    let lines = KEYS.map(|key| fields.line(key));
    let [meaning, uses] = KEYS.map(|key| fields.flag(key, problems));
    fields.finish(&KEYS, problems);
    SearchTable { meaning: meaning.map(|on| (on, lines[0])), uses: uses.map(|on| (on, lines[1])) }
}
