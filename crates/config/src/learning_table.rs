//! The table `learning`: what is learned from use.

use super::fields::Fields;
use super::origin::Origin;
use super::problem::Problems;
use super::tree::Node;

pub const TABLE: &str = "learning";
pub(super) const KEYS: [&str; 1] = ["types"];

/// What one file says, with its line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LearningTable {
    types: Option<(bool, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearningConfig {
    /// Whether what tools' answers look like is learned and shown.
    pub types: bool,
    pub types_origin: Origin,
}

impl Default for LearningConfig {
    fn default() -> Self {
        Self { types: true, types_origin: Origin::Default }
    }
}

impl LearningConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &LearningTable, origin: impl Fn(usize) -> Origin) {
        if let Some((types, line)) = table.types {
            (self.types, self.types_origin) = (types, origin(line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 1] {
        [("types", self.types.to_string(), &self.types_origin)]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> LearningTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return LearningTable::default() };
    let line = fields.line("types");
    let types = fields.flag("types", problems).map(|types| (types, line));
    fields.finish(&KEYS, problems);
    LearningTable { types }
}
