//! What is done about findings: a level, and what the configuration adds to it.

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
}

impl Guardrails {
    /// Whether a program with this finding is refused.
    pub fn refuses(&self, level: Level, finding: &Finding) -> bool {
        match finding.rule {
            Rule::DeniedModule | Rule::ModuleNotAllowed => true,
            _ => match finding.severity {
                Severity::Error => true,
                Severity::High => self.strict_mode || level == Level::Hardened,
                Severity::Medium | Severity::Low => false,
            },
        }
    }

    /// Whether the finding is recorded with the execution.
    pub fn records(&self, level: Level, finding: &Finding) -> bool {
        match level {
            Level::Development => self.refuses(level, finding),
            Level::Production | Level::Hardened => true,
        }
    }
}
