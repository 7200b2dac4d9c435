//! QuickJS, as a WebAssembly module that the build compiled to machine code, with the JavaScript of
//! `guests/javascript` around the program. TypeScript arrives here as JavaScript.
//!
//! ```text
//! instance ── drives ──► guest ── calls ──► exports of the module
//! the module ── host_call ──► host_functions, file_functions
//! ```

mod exports;
mod file_functions;
mod guest;
mod host_functions;
mod instance;
mod preview1;

use std::path::Path;

use gristmill_protocol::{EngineId, Wall, WallState, WallStatus};
use wasmtime::Module;

use super::wasm::{self, CompiledCode};
use super::{Engine, EngineError, Interpreter};
use instance::Instance;

const DESCRIPTION: &str = "QuickJS-NG 0.17 in WebAssembly (wasmtime 48)";

/// Functions, objects, text, JSON, a promise: what programs of agents begin with.
const SAMPLE: &str = "\"use strict\";(async () => { const rows = Array.from({length: 20}, (_, i) => ({id: i, name: `row ${i}`}));\nconst one = await Promise.resolve(JSON.parse(JSON.stringify(rows)));\n__gristmill.last = ({count: one.length, rows: one.filter((row) => row.id % 2)});\n})";

/// The native stack that the guest may use. The interpreter's own stack (`instance.rs`) must end first, so
/// that recursion is a RangeError: its parser uses far more of this one than of its own, and with 32 MiB a
/// hundred thousand parentheses ended the interpreter. A child's own stack ends at 64 MiB (`rlimits.rs`).
const STACK_BYTES: usize = 60 * 1024 * 1024;

/// See `build/main.rs`.
pub static CODE: CompiledCode = include!(concat!(env!("OUT_DIR"), "/quickjs_code.rs"));

/// Which guest this binary carries: the hash of the module and of the JavaScript around programs.
pub const MODULE_HASH: &str = env!("GRISTMILL_QUICKJS_HASH");

/// The interpreter's code, loaded.
pub struct TypeScript {
    engine: wasmtime::Engine,
    module: Module,
}

impl TypeScript {
    pub fn load(cache: &Path) -> Result<Self, EngineError> {
        wasm::check_cpu().map_err(failed)?;
        wasm::raise_stack_limit(STACK_BYTES);
        let engine = wasm::runtime(STACK_BYTES).map_err(|error| failed(format!("{error:#}")))?;
        let module = CODE.load_module(&engine, cache).map_err(failed)?;
        Ok(Self { engine, module })
    }
}

impl Engine for TypeScript {
    fn id(&self) -> EngineId {
        EngineId::TypeScript
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
        let started = Instance::start(&self.engine, &self.module);
        Ok(Box::new(started.map_err(|error| failed(format!("{error:#}")))?))
    }
}

fn failed(reason: impl std::fmt::Display) -> EngineError {
    EngineError { engine: EngineId::TypeScript, reason: reason.to_string() }
}
