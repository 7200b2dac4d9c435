//! What is done about findings: a level, and what the configuration adds to it.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_domain::Level;

use crate::finding::Finding;
use crate::rules::{Rule, Severity};

/// Which findings are told, and which end a program before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guardrails {
    /// Whether serious findings are refused at every level, not only at hardened.
    pub strict_mode: bool,
    /// If any: the only modules that may be imported.
    pub allowed_modules: Vec<String>,
    /// Modules that may not be imported.
    pub denied_modules: Vec<String>,
    /// What single levels have beside that.
    pub levels: BTreeMap<Level, ModuleLists>,
    /// Modules of packages that the user added, by their first names: `allowed_modules` is about all others.
    pub installed: BTreeSet<String>,
}

/// The modules of one level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleLists {
    /// In place of what every level allows.
    pub allowed_modules: Option<Vec<String>>,
    /// Beside what every level denies.
    pub denied_modules: Vec<String>,
}

impl Guardrails {
    /// What holds at one level, for an engine that has these packages.
    pub fn at(&self, level: Level, installed: &BTreeSet<String>) -> Self {
        let mut found = Self { levels: BTreeMap::new(), installed: installed.clone(), ..self.clone() };
        if let Some(lists) = self.levels.get(&level) {
            // For what is said about it.
            found.levels.insert(level, lists.clone());
            found.denied_modules.extend(lists.denied_modules.iter().cloned());
            if let Some(allowed) = &lists.allowed_modules {
                found.allowed_modules.clone_from(allowed);
            }
        }
        found
    }

    /// Whether a program with this finding is refused.
    pub fn refuses(&self, level: Level, finding: &Finding) -> bool {
        match finding.rule {
            Rule::DeniedModule | Rule::ModuleNotAllowed => true,
            _ => match finding.severity {
                Severity::Error => true,
                Severity::High => self.refuses_high(level),
                Severity::Medium | Severity::Low => false,
            },
        }
    }

    /// Whether what is seldom there for a good reason ends a program before it runs.
    pub fn refuses_high(&self, level: Level) -> bool {
        self.strict_mode || level == Level::Hardened
    }

    /// Whether the finding is recorded with the execution.
    pub fn records(&self, level: Level, finding: &Finding) -> bool {
        match level {
            Level::Development => self.refuses(level, finding),
            Level::Production | Level::Hardened => true,
        }
    }
}
