//! Seccomp for a child that runs programs: the system calls that it may make. Any other ends it at once.
//!
//! A program cannot make a system call at all: WebAssembly has no such instruction. This list is
//! what is left to someone who has broken out of the engine. A child that analyzes has a list of its
//! own, in [`super::analysis_calls`].

use rustix::fs::OFlags;

use super::call_filter::When::{self, Always, Both, Exactly, Is, Without};
use super::call_filter::{Filter, Listed, OWN_MEMORY};
use crate::engine::{ALWAYS, OPEN_FLAGS};
use crate::jail::JailError;

/// Compiles the list.
pub fn filter() -> Result<Filter, JailError> {
    Filter::compile(&[ALLOWED, ALLOWED_HERE], &[REFUSED])
}

/// What may be opened, as the walk of names does it. Rustix sets `O_LARGEFILE` everywhere, which means nothing
/// on 64 bits.
const OPENED: When = Both(
    &Without(2, !(OPEN_FLAGS.bits() | OFlags::LARGEFILE.bits()) as u64),
    &Exactly(2, ALWAYS.bits() as u64, ALWAYS.bits() as u64),
);

#[rustfmt::skip]
const ALLOWED: &[Listed] = &[
    // The line to the gateway.
    (libc::SYS_recvmsg, Always, "the folders, the program, answers"),
    (libc::SYS_sendmsg, Always, "output, calls, the outcome; the socket has no other end than the gateway"),
    (libc::SYS_sendto, Is(4, 0), "the same; never to an address"),
    (libc::SYS_ppoll, Always, "wait for an answer or a moment"),
    // Files: only beneath the folders that came as descriptors; landlock holds even if this code errs. No call
    // here looks at a name without opening it, since landlock does not cover looking.
    (libc::SYS_openat, OPENED, "open one name in a folder, never a link, never with O_PATH"),
    (libc::SYS_close, Always, "let go of a file"),
    (libc::SYS_read, Always, "std reads with it where it could use pread"),
    (libc::SYS_pread64, Always, "read a file"),
    (libc::SYS_pwrite64, Always, "write a file"),
    (libc::SYS_fstat, Always, "size and kind of an open file"),
    (libc::SYS_getdents64, Always, "list a folder"),
    (libc::SYS_lseek, Always, "rewind a folder's list"),
    (libc::SYS_ftruncate, Always, "shorten or lengthen an open file"),
    (libc::SYS_mkdirat, Always, "make a folder"),
    (libc::SYS_unlinkat, Always, "remove a file or folder"),
    (libc::SYS_renameat, Always, "rename within a folder"),
    (libc::SYS_renameat2, Is(4, 0), "the same, where renameat is gone"),
    (libc::SYS_utimensat, Is(1, 0), "set the times of an open file; never by name, which landlock does not cover"),
    (libc::SYS_fcntl, Is(1, libc::F_GETFD as u64), "builds with debug assertions look whether a descriptor is open before closing it"),
    (libc::SYS_fcntl, Is(1, libc::F_DUPFD_CLOEXEC as u64), "duplicate a descriptor"),
    // Memory: never executable.
    (libc::SYS_mmap, OWN_MEMORY, "the allocator"),
    (libc::SYS_mprotect, Without(2, libc::PROT_EXEC as u64), "the engine's memory grows by this"),
    (libc::SYS_munmap, Always, "the allocator"),
    (libc::SYS_mremap, Always, "the allocator"),
    (libc::SYS_madvise, Always, "the allocator gives memory back"),
    (libc::SYS_brk, Always, "the allocator"),
    // Time and chance.
    (libc::SYS_clock_gettime, Always, "the time, where the vDSO cannot"),
    (libc::SYS_clock_nanosleep, Always, "time.sleep"),
    (libc::SYS_nanosleep, Always, "time.sleep, older libraries"),
    (libc::SYS_getrandom, Always, "os.urandom"),
    // The process itself.
    (libc::SYS_futex, Always, "locks inside std; there is one thread"),
    (libc::SYS_rt_sigreturn, Always, "after the engine's own signal handler"),
    (libc::SYS_rt_sigprocmask, Always, "the engine's own signal handler"),
    (libc::SYS_rt_sigaction, Always, "a crash restores the default handler and then dies of it"),
    (libc::SYS_sigaltstack, Always, "the stack of that handler"),
    (libc::SYS_setitimer, Is(0, libc::ITIMER_PROF as u64), "the exact CPU limit; behind it stands RLIMIT_CPU, whose hard limit cannot be raised again"),
    (libc::SYS_prlimit64, Is(0, 0), "this process's own limits, whose hard ones can only go down"),
    (libc::SYS_landlock_create_ruleset, Always, "confinement to the folders, which can only get tighter"),
    (libc::SYS_landlock_add_rule, Always, "the same"),
    (libc::SYS_landlock_restrict_self, Always, "the same"),
    (libc::SYS_exit_group, Always, "the end"),
    (libc::SYS_exit, Always, "the end"),
];

/// Calls that exist on x86_64 only, under their older names.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const ALLOWED_HERE: &[Listed] = &[
    (libc::SYS_poll, Always, "wait for an answer or a moment"),
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[Listed] = &[];

/// Calls that libraries try and can do without: they are told that the kernel has no such call.
#[rustfmt::skip]
const REFUSED: &[Listed] = &[
    (libc::SYS_newfstatat, Always, "what a library looks up, it does without; a name can come with any flag"),
    (libc::SYS_statx, Always, "the same, as newer libraries ask"),
];
