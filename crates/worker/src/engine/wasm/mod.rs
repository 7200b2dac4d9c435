//! What all engines in WebAssembly share: how their code is loaded and run, the exact cap on their
//! memory, and the host functions of `guests/*/sandbox.wit`.

mod code_settings;
mod compiled_code;
mod cpu;
mod host_calls;
mod instance;
mod memory_cap;
mod settings;
mod wasi;

pub use compiled_code::CompiledCode;
pub use cpu::check as check_cpu;
pub use instance::{Instance, quota_limits, trap_from};
pub use memory_cap::MemoryCap;
pub use settings::{raise_stack_limit, runtime};
#[cfg(target_os = "linux")]
pub use wasi::{ALWAYS, OPEN_FLAGS};
pub use wasi::{
    Descriptor, DescriptorFlags, DescriptorType, ErrorCode, Folders, MountedFolder, OpenFile, OpenFlags,
    Quota,
};

use crate::channel::Channel;
use wasi::Wasi;

/// What the host functions of one instance work on.
pub struct Host {
    pub wasi: Wasi,
    /// The line to the gateway.
    pub channel: Channel,
    memory: MemoryCap,
}

/// The guest ended itself (`os._exit`, `abort`): not an error of ours, and the end of the instance.
#[derive(Debug, thiserror::Error)]
#[error("the program ended the interpreter")]
pub struct GuestExit;
