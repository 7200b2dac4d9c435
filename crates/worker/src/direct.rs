//! An engine in this very process, without zygote or jail: for measuring against, never for
//! running what an agent wrote.

use std::path::Path;

use gristmill_protocol::EngineId;

use crate::engine::{self, Engine};

pub struct DirectEngine {
    engine: Box<dyn Engine>,
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
}
