//! The engines: what runs a language.
//!
//! An [`Engine`] is loaded once, in its zygote, which starts and warms one [`Interpreter`] of it;
//! every child inherits that alive. Nothing outside this module knows which engine runs.

mod engine_file;
#[cfg(target_os = "linux")]
mod native;
mod python;
mod typescript;
mod wasm;

use std::io;
use std::path::Path;

use gristmill_protocol::{EngineId, NativeStart, Program, ProgramLimits, Trap, WallStatus, WorkerLimit};

use crate::channel::Channel;
use crate::fork::{Forked, fork};
use crate::jail::NamespacesEntered;

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

    /// Called before this process forks; one of the next two follows.
    fn before_fork(&mut self) {}

    fn after_fork_in_parent(&mut self) {}

    fn after_fork_in_child(&mut self) {}

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
#[error("can't start the {} engine: {reason}", shown(*.engine))]
pub struct EngineError {
    pub engine: EngineId,
    pub reason: String,
}

/// Two engines run Python.
fn shown(engine: EngineId) -> &'static str {
    match engine {
        EngineId::Python | EngineId::TypeScript => engine.language(),
        EngineId::Native => engine.name(),
    }
}

/// Loads an engine, whose code is unpacked in `cache`.
pub fn load(id: EngineId, cache: &Path) -> Result<Box<dyn Engine>, EngineError> {
    match id {
        EngineId::Python => Ok(Box::new(python::Python::load(cache)?)),
        EngineId::TypeScript => Ok(Box::new(typescript::TypeScript::load(cache)?)),
        EngineId::Native => {
            let reason = "it runs in a zygote only, with the settings of [engines.native]".to_owned();
            Err(EngineError { engine: id, reason })
        }
    }
}

/// Loads the machine's own interpreter, in a process that may still go where it wants.
#[cfg(target_os = "linux")]
pub fn load_native(
    start: &NativeStart,
    namespaces: &NamespacesEntered,
    may_lack_namespaces: bool,
) -> Result<Box<dyn Engine>, EngineError> {
    Ok(Box::new(native::Native::load(start, namespaces, may_lack_namespaces)?))
}

/// Elsewhere there is no jail to put it in.
#[cfg(not(target_os = "linux"))]
pub fn load_native(
    _start: &NativeStart,
    _namespaces: &NamespacesEntered,
    _may_lack_namespaces: bool,
) -> Result<Box<dyn Engine>, EngineError> {
    Err(EngineError {
        engine: EngineId::Native,
        reason: "it needs Linux, whose jail it stands behind".to_owned(),
    })
}

/// Forks this process, which has one thread, and the interpreter in it.
pub fn fork_interpreter(interpreter: &mut dyn Interpreter) -> io::Result<Forked> {
    interpreter.before_fork();
    let forked = fork();
    match &forked {
        Ok(Forked::Child) => interpreter.after_fork_in_child(),
        Ok(Forked::Parent(_)) | Err(_) => interpreter.after_fork_in_parent(),
    }
    forked
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
        stay: false,
    }
}
