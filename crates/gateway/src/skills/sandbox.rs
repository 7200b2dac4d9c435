//! Where programs of ours run that look at skills and test them: whoever runs programs offers it.

use std::sync::Arc;

use gristmill_domain::policy::Seen;
use gristmill_protocol::EngineId;
use serde_json::{Map, Value};

use super::view::FrozenSkills;
use crate::ids::Caller;
use crate::ports::{BoxFuture, Tools, Writes};
use crate::report::Report;

/// Runs programs in the sandbox, in places of their own: whoever saves a skill may be a program that
/// holds one of the ordinary places, and must not wait for itself.
pub(crate) trait SkillSandbox: Send + Sync {
    /// Runs one to its end. Dropping the future stops it, and what it did is recorded all the same.
    fn run(&self, program: SandboxProgram) -> BoxFuture<'static, Report>;

    /// Those of these modules that only the native engine has.
    fn only_natively(&self, modules: &[String]) -> Vec<String>;

    /// The tools as they are now.
    fn tools(&self) -> BoxFuture<'_, Arc<dyn Tools>>;
}

/// One program of ours.
pub(crate) struct SandboxProgram {
    pub engine: EngineId,
    pub code: String,
    pub context: Map<String, Value>,
    /// The gateway's own wall time may be shorter.
    pub wall_ms_max: u64,
    /// What it can import.
    pub skills: FrozenSkills,
    /// Whose program it is, and with which note it is in the history; `None` if it is nobody's.
    pub recorded: Option<(Caller, String)>,
    /// Which marked data its code was made from.
    pub seen: Seen,
    /// What becomes of its writes.
    pub writes: Writes,
}
