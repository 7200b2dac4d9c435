//! CPython, as a WebAssembly component that the build compiled to machine code.

use std::path::Path;

use gristmill_protocol::{EngineId, Wall, WallState, WallStatus};
use wasmtime::component::Component;

use super::wasm::{self, CompiledCode, Instance};
use super::{Engine, EngineError, Interpreter};

const DESCRIPTION: &str = "CPython 3.14 in WebAssembly (wasmtime 48)";

/// What programs of agents begin with and are made of: imports, comprehensions, functions, sorting and counting,
/// patterns, dates, text, JSON, exceptions and the event loop.
const SAMPLE: &str = include_str!("sample.py");

/// The native stack that the guest may use. CPython's own recursion limits must come first, so that
/// a program that recurses too deep gets a RecursionError and not the end of its interpreter:
/// with 16 MiB a deeply nested JSON text still ran out.
const STACK_BYTES: usize = 32 * 1024 * 1024;

/// See `build/main.rs`.
pub static CODE: CompiledCode = include!(concat!(env!("OUT_DIR"), "/python_code.rs"));

/// The hash of the component: which guest this binary carries.
pub const COMPONENT_HASH: &str = env!("GRISTMILL_PYTHON_COMPONENT_HASH");

/// The interpreter's code, loaded.
pub struct Python {
    engine: wasmtime::Engine,
    component: Component,
}

impl Python {
    pub fn load(cache: &Path) -> Result<Self, EngineError> {
        wasm::check_cpu().map_err(failed)?;
        wasm::raise_stack_limit(STACK_BYTES);
        let engine = wasm::runtime(STACK_BYTES).map_err(|error| failed(format!("{error:#}")))?;
        let component = CODE.load_component(&engine, cache).map_err(failed)?;
        Ok(Self { engine, component })
    }
}

impl Engine for Python {
    fn id(&self) -> EngineId {
        EngineId::Python
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn walls(&self) -> Vec<WallStatus> {
        vec![WallStatus { wall: Wall::Wasm, state: WallState::Stands, detail: DESCRIPTION.to_owned() }]
    }

    fn sample(&self) -> &'static str {
        SAMPLE
    }

    fn start(&self) -> Result<Box<dyn Interpreter>, EngineError> {
        Ok(Box::new(Instance::start(self.id(), &self.engine, &self.component)?))
    }
}

fn failed(reason: impl std::fmt::Display) -> EngineError {
    EngineError { engine: EngineId::Python, reason: reason.to_string() }
}
