//! Whoever writes a program by rules, without a model.

use gristmill_protocol::EngineId;
use serde_json::Value;

/// Writes programs of a few known kinds, or says why it doesn't. Pure: no clock, no network, no luck.
pub trait RuleWriter: Send + Sync {
    fn write(&self, task: &RuleTask<'_>) -> RuleOutcome;
}

/// What is asked of it.
#[derive(Clone, Copy, Debug)]
pub struct RuleTask<'a> {
    pub sentence: &'a str,
    pub engine: EngineId,
    /// The best first.
    pub tools: &'a [RuleCandidate<'a>],
}

/// One tool that the program may call.
#[derive(Clone, Copy, Debug)]
pub struct RuleCandidate<'a> {
    /// As it is configured.
    pub server: &'a str,
    /// What the server is called in an import.
    pub module: &'a str,
    /// By its server's own name.
    pub tool: &'a str,
    /// What the tool is called in a program.
    pub function: &'a str,
    /// In the server's words; untrusted.
    pub description: &'a str,
    pub input_schema: &'a Value,
    /// Declared by its server, or learned.
    pub output_schema: Option<&'a Value>,
    pub read_only: bool,
    /// From 0 to 1, beside the best.
    pub nearness: f32,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleOutcome {
    Written {
        code: String,
        /// What it took for granted, a sentence each.
        assumptions: Vec<String>,
        /// As `server.tool`.
        tools: Vec<String>,
    },
    /// It isn't sure enough.
    Refused {
        reason: String,
        /// As `server.tool`, the nearest first.
        nearest: Vec<String>,
    },
}
