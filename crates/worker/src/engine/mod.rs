//! The engines: what runs a language.
//!
//! An [`Engine`] is loaded once, in its zygote, which starts and warms one [`Interpreter`] of it;
//! every child inherits that alive. Nothing outside this module knows which engine runs.

mod engine_file;
mod python;
mod typescript;
mod wasm;

use std::path::Path;

use gristmill_protocol::{EngineId, Program, ProgramLimits, Trap, WallStatus, WorkerLimit};

use crate::channel::Channel;

pub use engine_file::EngineFile;
pub use wasm::MountedFolder;
#[cfg(target_os = "linux")]
pub use wasm::{ALWAYS, OPEN_FLAGS};

/// What runs a language.
pub trait Engine {
    fn id(&self) -> EngineId;

    /// The engine and its version, for people.
    fn description(&self) -> &'static str;

    /// The walls that the engine itself puts around a program, beside those of the jail.
    fn walls(&self) -> Vec<WallStatus>;

    /// A typical small program in the engine's language: what it touches, most programs touch.
    fn sample(&self) -> &'static str;

    /// Brings up an interpreter that is not connected to anything.
    fn start(&self) -> Result<Box<dyn Interpreter>, EngineError>;
}

/// A live interpreter: for one program, or for those of one session.
pub trait Interpreter {
    fn engine(&self) -> EngineId;

    /// Touches what a run will touch, so that the run itself finds it in memory.
    fn warm(&mut self) -> Result<(), EngineError>;

    /// Does, in a fresh process, what does not depend on the program: new random state, streams,
    /// the working folder.
    fn ready(&mut self) -> Result<(), EngineError>;

    /// The line to the gateway.
    fn channel(&mut self) -> &mut Channel;

    /// Hands over the folders and limits of the first program.
    fn give(&mut self, folders: Vec<MountedFolder>, limits: &ProgramLimits);

    /// The same folders with the limits of a further program.
    fn renew(&mut self, limits: &ProgramLimits);

    /// Runs one program to its end: the guest's answer, or how the interpreter was lost.
    fn run(&mut self, program: &Program) -> Result<String, Trap>;

    fn used(&self) -> EngineUse;
}

/// What the program at hand used of its limits.
#[derive(Debug, Default)]
pub struct EngineUse {
    pub memory_peak_bytes: u64,
    /// Limits that refused something, each once.
    pub limits_hit: Vec<WorkerLimit>,
    /// Bytes in the writable folders.
    pub workspace_bytes: u64,
    /// Entries in the writable folders.
    pub workspace_files: u64,
}

/// There is no interpreter; no program ran.
#[derive(Debug, thiserror::Error)]
#[error("can't start the {} engine: {reason}", .engine.language())]
pub struct EngineError {
    pub engine: EngineId,
    pub reason: String,
}

/// Loads an engine, whose code is unpacked in `cache`.
pub fn load(id: EngineId, cache: &Path) -> Result<Box<dyn Engine>, EngineError> {
    match id {
        EngineId::Python => Ok(Box::new(python::Python::load(cache)?)),
        EngineId::TypeScript => Ok(Box::new(typescript::TypeScript::load(cache)?)),
    }
}

/// A program of our own: no folders, no limits on memory and time.
pub fn trusted_program(engine: EngineId, code: &str) -> Program {
    Program {
        version: gristmill_protocol::PROTOCOL_VERSION,
        engine,
        code: code.to_owned(),
        filename: String::new(),
        context: "{}".to_owned(),
        limits: ProgramLimits::TRUSTED,
        mounts: Vec::new(),
        stay: false,
    }
}
