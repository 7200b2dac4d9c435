//! The jail: everything that the operating system puts between a child and the machine.
//!
//! This module is the one `cfg` boundary of the project. On Linux the walls are namespaces (once,
//! in the zygote), landlock, seccomp and rlimits (in every child). Elsewhere there are none of
//! these, and what is left is WebAssembly and a process used once; the names are the same.

mod descriptors;
mod remedy;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::{
    ChildSignal, NamespacesEntered, Prepared, ShownPath, WORKSPACE, cpu_us, detach_child, enter_view,
    fork_into_namespaces, in_writable_folders, limit_cpu, prepare_zygote, process_descriptor,
    resident_peak_bytes, run_server, thread_count,
};

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{
    ChildSignal, NamespacesEntered, Prepared, cpu_us, detach_child, fork_into_namespaces, limit_cpu,
    prepare_zygote, process_descriptor, resident_peak_bytes, run_server,
};

pub use remedy::{first_missing, remedy_for};

/// A wall that should rise and does not. No program runs.
#[derive(Debug, thiserror::Error)]
#[error("{wall}: {detail}")]
pub struct JailError {
    pub wall: &'static str,
    pub detail: String,
}

impl JailError {
    pub(crate) fn new(wall: &'static str, detail: impl std::fmt::Display) -> Self {
        Self { wall, detail: detail.to_string() }
    }
}
