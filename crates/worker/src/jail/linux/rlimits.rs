//! The belts: hard limits behind the exact ones that the engine keeps.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors of one child: the program's own limit is counted in the engine, this leaves room for ours.
pub const OPEN_FILES_MAX: u64 = 1024;

/// What every child gets. Where the machine's own hard limit is lower, that one stays.
const LIMITS: [(Resource, u64); 6] = [
    // No process and no thread: everything a child does, it does itself. The kernel does not hold
    // this one against root; the list of system calls does.
    (Resource::Nproc, 0),
    (Resource::Nofile, OPEN_FILES_MAX),
    // The largest file any setting can permit.
    (Resource::Fsize, 4 << 30),
    // A crash leaves nothing on the disk.
    (Resource::Core, 0),
    (Resource::Memlock, 0),
    // Private writable memory: WebAssembly cannot address more than 4 GiB; the rest is ours.
    (Resource::Data, 5 << 30),
];

/// Lowers this process's limits for good.
pub fn lower() -> io::Result<()> {
    for (resource, value) in LIMITS {
        let hard = getrlimit(resource).maximum.map_or(value, |hard| hard.min(value));
        setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) })?;
    }
    Ok(())
}
