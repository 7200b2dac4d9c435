//! An engine in this very process, without zygote or jail: for measuring against and for tests, never
//! for running what an agent wrote.

use std::os::fd::OwnedFd;
use std::path::Path;

use gristmill_protocol::{EngineId, Mount, Program, Trap, WorkerLimit};

use crate::engine::{self, Engine, MountedFolder};

pub struct DirectEngine {
    engine: Box<dyn Engine>,
}

/// How a program ended that ran with a line to somebody.
#[derive(Debug)]
pub struct DirectOutcome {
    /// The guest's answer, or how the interpreter was lost.
    pub told: Result<String, Trap>,
    pub limits_hit: Vec<WorkerLimit>,
    pub memory_peak_bytes: u64,
}

impl DirectEngine {
    /// Loads the engine as a zygote does.
    pub fn load(id: EngineId, cache: &Path) -> Result<Self, String> {
        let engine = engine::load(id, cache).map_err(|error| error.to_string())?;
        Ok(Self { engine })
    }

    /// Brings up a fresh interpreter, runs `code` in it and throws it away. Gives the guest's answer.
    pub fn run_fresh(&self, code: &str) -> Result<String, String> {
        let mut interpreter = self.engine.start().map_err(|error| error.to_string())?;
        let program = engine::trusted_program(self.engine.id(), code);
        interpreter.run(&program).map_err(|trap| trap.message)
    }

    /// Brings up an interpreter as a child has it, and runs these programs in it, one after the other, with
    /// these folders. `line` leads to whoever answers calls and reads output.
    pub fn run_connected(
        &self,
        programs: &[Program],
        line: OwnedFd,
        folders: Vec<(Mount, OwnedFd)>,
    ) -> Result<Vec<DirectOutcome>, String> {
        let mut interpreter = self.engine.start().map_err(|error| error.to_string())?;
        interpreter.warm().and_then(|()| interpreter.ready()).map_err(|error| error.to_string())?;
        interpreter.channel().connect(line);
        let mut folders = Some(folders);
        let mut outcomes = Vec::new();
        for program in programs {
            match folders.take() {
                Some(folders) => {
                    let mounted = folders.into_iter().map(|(mount, fd)| MountedFolder::new(mount, fd));
                    interpreter.give(mounted.collect(), &program.limits);
                }
                None => interpreter.renew(&program.limits),
            }
            let told = interpreter.run(program);
            let used = interpreter.used();
            let (limits_hit, memory_peak_bytes) = (used.limits_hit, used.memory_peak_bytes);
            outcomes.push(DirectOutcome { told, limits_hit, memory_peak_bytes });
        }
        Ok(outcomes)
    }
}
