//! The engines: what runs a language. All of them are WebAssembly, on the same host functions.
//!
//! An engine is instantiated and warmed once, in the zygote; every child inherits it alive.

mod host_calls;
mod memory_cap;
mod python;
mod settings;

pub use memory_cap::MemoryCap;
pub use python::{Python, PythonError};
pub use settings::{compiler, raise_stack_limit, runtime};

use crate::channel::Channel;
use crate::wasi::Wasi;

/// What the host functions of one instance work on.
pub struct Host {
    /// Files, clocks, streams.
    pub wasi: Wasi,
    /// The line to the gateway.
    pub channel: Channel,
    /// The engine's memory.
    pub memory: MemoryCap,
}

/// The guest ended itself (`os._exit`, `abort`): not an error of ours, and the end of the instance.
#[derive(Debug, thiserror::Error)]
#[error("the program ended the interpreter")]
pub struct GuestExit;
