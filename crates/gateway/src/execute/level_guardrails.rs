//! Which modules programs may import, by engine and level.

use std::collections::BTreeSet;
use std::sync::Arc;

use gristmill_checks::Guardrails;
use gristmill_domain::Level;
use gristmill_protocol::EngineId;

use crate::native_engine::{NativeEngine, WasmPackages};

/// Made once: every program is held to one of them.
pub(crate) struct LevelGuardrails {
    found: Vec<((EngineId, Level), Arc<Guardrails>)>,
    /// What is configured, which all of them come from.
    base: Arc<Guardrails>,
}

impl LevelGuardrails {
    pub fn new(
        base: &Arc<Guardrails>,
        native: Option<&NativeEngine>,
        packages: Option<&WasmPackages>,
    ) -> Self {
        let none = BTreeSet::new();
        let installed = |engine: EngineId| match engine {
            EngineId::Python => packages.map_or(&none, |packages| &packages.modules),
            EngineId::Native => native.map_or(&none, |native| &native.modules),
            EngineId::TypeScript => &none,
        };
        let mut found = Vec::new();
        for engine in EngineId::ALL {
            for level in Level::ALL {
                found.push(((*engine, level), Arc::new(base.at(level, installed(*engine)))));
            }
        }
        Self { found, base: Arc::clone(base) }
    }

    pub fn of(&self, engine: EngineId, level: Level) -> &Arc<Guardrails> {
        let found = self.found.iter().find(|(key, _)| *key == (engine, level));
        found.map_or(&self.base, |(_, guardrails)| guardrails)
    }
}
