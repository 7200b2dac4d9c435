//! The table `engines`: which languages' workers wait before anybody uses them.

use gristmill_gateway::{EngineId, engine_named};
use serde_json::json;

use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::tree::Node;

pub const TABLE: &str = "engines";
pub(super) const KEYS: [&str; 1] = ["warm"];

/// What one file says, with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnginesTable {
    warm: Option<(Vec<EngineId>, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnginesConfig {
    /// Those of the others start with their first program.
    pub warm: Vec<EngineId>,
    pub warm_origin: Origin,
}

impl Default for EnginesConfig {
    fn default() -> Self {
        Self { warm: vec![EngineId::Python], warm_origin: Origin::Default }
    }
}

impl EnginesConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &EnginesTable, origin: impl Fn(usize) -> Origin) {
        if let Some((warm, line)) = &table.warm {
            (self.warm, self.warm_origin) = (warm.clone(), origin(*line));
        }
    }

    /// The names of those that wait.
    pub fn names(&self) -> Vec<&'static str> {
        self.warm.iter().map(|engine| engine.name()).collect()
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 1] {
        [("warm", json!(self.names()).to_string(), &self.warm_origin)]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> EnginesTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return EnginesTable::default() };
    let line = fields.line("warm");
    let mut warm = Vec::new();
    for (name, line) in fields.texts("warm", problems) {
        match engine_named(&name) {
            Ok(engine) if !warm.contains(&engine) => warm.push(engine),
            Ok(_) => {}
            Err(_) => {
                let what = ProblemKind::BadQuantity { expected: "a language", example: "\"typescript\"" };
                problems.error(&fields.path("warm"), line, what);
            }
        }
    }
    fields.finish(&KEYS, problems);
    EnginesTable { warm: (line > 0).then_some((warm, line)) }
}
