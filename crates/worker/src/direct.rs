//! An engine in this very process, without zygote or jail: for measuring against, never for
//! running what an agent wrote.

use std::path::Path;

use gristmill_protocol::{Program, ProgramLimits};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::artifact::Artifact;
use crate::engine::{self, Python};

/// The compiled engine, loaded.
pub struct DirectEngine {
    engine: Engine,
    component: Component,
}

impl DirectEngine {
    /// Loads what [`Artifact::prepare`] made.
    pub fn load(cache: &Path) -> Result<Self, String> {
        engine::raise_stack_limit();
        let engine = engine::runtime().map_err(|error| format!("{error:#}"))?;
        let artifact = Artifact::in_cache(cache).map_err(|error| error.to_string())?;
        let component = artifact
            .load(&engine)
            .map_err(|error| error.to_string())?
            .ok_or("the engine is not prepared; run `gristmill setup`")?;
        Ok(Self { engine, component })
    }

    /// Brings up a fresh interpreter, runs `code` in it and throws it away. Gives the guest's answer.
    pub fn run_fresh(&self, code: &str) -> Result<String, String> {
        let mut python =
            Python::instantiate(&self.engine, &self.component).map_err(|error| error.to_string())?;
        let program = Program {
            version: gristmill_protocol::PROTOCOL_VERSION,
            code: code.to_owned(),
            context: "{}".to_owned(),
            limits: ProgramLimits::TRUSTED,
            mounts: Vec::new(),
            stay: false,
        };
        python.run(&program).map_err(|trap| trap.message)
    }
}
