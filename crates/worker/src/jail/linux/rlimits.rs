//! The belts: hard limits behind the exact ones that the engine keeps.

use std::io;

use gristmill_protocol::{AnalysisLimits, ProgramLimits};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors of one child: the program's own limit is counted in the engine, this leaves room for ours.
pub const OPEN_FILES_MAX: u64 = 1024;

/// What every child gets. Where the machine's own hard limit is lower, that one stays.
const LIMITS: [(Resource, u64); 6] = [
    (Resource::Nofile, OPEN_FILES_MAX),
    // The largest file any setting can permit.
    (Resource::Fsize, 4 << 30),
    // A crash leaves nothing on the disk.
    (Resource::Core, 0),
    (Resource::Memlock, 0),
    // More than any engine asks for. Without one, what the stack takes would count for nothing.
    (Resource::Stack, 64 << 20),
    // Private writable memory: WebAssembly cannot address more than 4 GiB; the rest is ours.
    (Resource::Data, 5 << 30),
];

/// What the zygote may have grown by since its data was measured.
const GROWN_BYTES: u64 = 8 << 20;

/// Lowers this process's limits for good.
pub fn lower() -> io::Result<()> {
    for (resource, value) in LIMITS {
        set(resource, value)?;
    }
    Ok(())
}

/// No process and no thread: everything a child does, it does itself. The kernel does not hold this one
/// against root; the list of system calls does.
pub fn forbid_threads() -> io::Result<()> {
    set(Resource::Nproc, 0)
}

/// Threads of all children of one zygote, which are one user's in a namespace of their own.
const THREADS_MAX: u64 = 2048;

/// Descriptors beside those that a program may have open itself.
const OWN_FILES: u64 = 16;

/// What a program's addresses may span beyond its memory: libraries and files are mapped, not loaded.
const MAPPED_BYTES: u64 = 16 << 30;

/// Lowers them to what one program of the native engine may take, where `data_bytes` are taken already.
pub fn lower_for_native(limits: &ProgramLimits, data_bytes: u64) -> io::Result<()> {
    set(Resource::Nproc, THREADS_MAX)?;
    set(Resource::Fsize, limits.file_bytes)?;
    set(Resource::As, MAPPED_BYTES.saturating_add(limits.memory_bytes))?;
    set(Resource::Nofile, OWN_FILES + u64::from(limits.open_files))?;
    let data = data_bytes.saturating_add(GROWN_BYTES).saturating_add(limits.memory_bytes);
    set(Resource::Data, data)
}

/// Lowers them to what one analysis may take, where `data_bytes` are taken already.
pub fn lower_for(limits: &AnalysisLimits, data_bytes: u64) -> io::Result<()> {
    set(Resource::Fsize, limits.output_bytes)?;
    let data = data_bytes.saturating_add(GROWN_BYTES).saturating_add(limits.memory_bytes);
    set(Resource::Data, data)
}

fn set(resource: Resource, value: u64) -> io::Result<()> {
    let hard = getrlimit(resource).maximum.map_or(value, |hard| hard.min(value));
    Ok(setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?)
}
