//! Seccomp for a child that analyzes: its own list of system calls, shorter than that of a child with
//! programs, since it has no folders and never waits. Any other call ends it at once.
//!
//! Here no WebAssembly stands before the list: the engine is native code that reads hostile data. So
//! nothing on it opens a file, a socket or a process; what is read and written came as descriptors.

use super::call_filter::When::{Always, Is, Without};
use super::call_filter::{Filter, Listed, OWN_MEMORY};
use crate::jail::JailError;

/// Compiles the list.
pub fn filter() -> Result<Filter, JailError> {
    Filter::compile(&[ALLOWED, ALLOWED_HERE], &[REFUSED, REFUSED_HERE])
}

#[rustfmt::skip]
const ALLOWED: &[Listed] = &[
    // The line to the gateway.
    (libc::SYS_recvmsg, Always, "the job with its files, once"),
    (libc::SYS_sendmsg, Always, "the outcome; the socket has no other end than the gateway"),
    (libc::SYS_sendto, Is(4, 0), "the same; never to an address"),
    (libc::SYS_ppoll, Always, "wait until the gateway reads"),
    // The inputs and the output: they came as descriptors, and nothing else can be opened.
    (libc::SYS_read, Always, "an input"),
    (libc::SYS_readv, Always, "the same, into several buffers"),
    (libc::SYS_pread64, Always, "an input, anywhere in it"),
    (libc::SYS_lseek, Always, "Parquet begins at the end"),
    (libc::SYS_fstat, Always, "how large an input is"),
    (libc::SYS_write, Always, "the output, up to the kernel's limit on it"),
    (libc::SYS_writev, Always, "the same, from several buffers"),
    (libc::SYS_pwrite64, Always, "the same, anywhere in it"),
    (libc::SYS_close, Always, "let go of a file"),
    (libc::SYS_fcntl, Is(1, libc::F_GETFD as u64), "builds with debug assertions look whether a descriptor is open before closing it"),
    (libc::SYS_fcntl, Is(1, libc::F_GETFL as u64), "whether a file can be read"),
    (libc::SYS_fcntl, Is(1, libc::F_DUPFD_CLOEXEC as u64), "duplicate a descriptor"),
    // Memory: never executable.
    (libc::SYS_mmap, OWN_MEMORY, "the allocator"),
    (libc::SYS_mprotect, Without(2, libc::PROT_EXEC as u64), "the allocator"),
    (libc::SYS_munmap, Always, "the allocator"),
    (libc::SYS_mremap, Always, "the allocator"),
    (libc::SYS_madvise, Always, "the allocator gives memory back"),
    (libc::SYS_brk, Always, "the allocator"),
    // Time and chance.
    (libc::SYS_clock_gettime, Always, "the time, where the vDSO cannot"),
    (libc::SYS_getrandom, Always, "seeds of hash tables"),
    // The process itself: one thread, for good.
    (libc::SYS_futex, Always, "locks inside std; there is one thread"),
    (libc::SYS_gettid, Always, "abort"),
    (libc::SYS_getpid, Always, "abort"),
    (libc::SYS_rt_sigreturn, Always, "after a signal handler"),
    (libc::SYS_rt_sigprocmask, Always, "abort"),
    (libc::SYS_rt_sigaction, Always, "a crash restores the default handler and then dies of it"),
    (libc::SYS_sigaltstack, Always, "the stack of that handler"),
    (libc::SYS_setitimer, Is(0, libc::ITIMER_PROF as u64), "the exact CPU limit; behind it stands RLIMIT_CPU, whose hard limit cannot be raised again"),
    (libc::SYS_prlimit64, Is(0, 0), "this process's own limits, whose hard ones can only go down"),
    (libc::SYS_getrusage, Is(0, libc::RUSAGE_SELF as u64), "how much memory it took"),
    (libc::SYS_landlock_create_ruleset, Always, "confinement to no folder at all, which can only get tighter"),
    (libc::SYS_landlock_restrict_self, Always, "the same"),
    (libc::SYS_exit_group, Always, "the end"),
    (libc::SYS_exit, Always, "the end"),
];

/// Calls that libraries try and can do without: they are told that the kernel has no such call.
#[rustfmt::skip]
const REFUSED: &[Listed] = &[
    (libc::SYS_tgkill, Always, "abort; without it the process dies of the instruction that comes next"),
    (libc::SYS_openat, Always, "what a library looks up in a file, it does without"),
    (libc::SYS_newfstatat, Always, "std asks how large a file is and reads on without; a name can come with any flag"),
    (libc::SYS_statx, Always, "the same"),
    (libc::SYS_sched_getaffinity, Always, "patterns size a pool by the number of cores; without it, for one"),
    (libc::SYS_faccessat, Always, "the same"),
    (libc::SYS_faccessat2, Always, "the same"),
    (libc::SYS_readlinkat, Always, "the same"),
    (libc::SYS_getcwd, Always, "words of a panic"),
    (libc::SYS_copy_file_range, Always, "std copies with it where it could read and write"),
    (libc::SYS_sendfile, Always, "the same"),
    (libc::SYS_splice, Always, "the same"),
    (libc::SYS_fadvise64, Always, "a hint to the kernel"),
    (libc::SYS_ioctl, Always, "whether standard error is a terminal"),
];

/// Calls that exist on x86_64 only, under their older names.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const ALLOWED_HERE: &[Listed] = &[
    (libc::SYS_poll, Always, "wait until the gateway reads"),
];
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const REFUSED_HERE: &[Listed] = &[
    (libc::SYS_open, Always, "as openat"),
    (libc::SYS_access, Always, "as faccessat"),
    (libc::SYS_readlink, Always, "as readlinkat"),
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[Listed] = &[];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[Listed] = &[];

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use gristmill_protocol::ChildKind;
    use rustix::process::{WaitOptions, WaitStatus};

    use crate::fork::{Forked, exit_now, fork};
    use crate::jail::linux::detach_child;

    /// Exit codes of an attempt.
    const REFUSED_WITH_AN_ERROR: i32 = 0;
    const WENT_THROUGH: i32 = 1;

    /// How a child ends that tries this behind the filter.
    fn behind_the_filter(attempt: impl FnOnce() -> i32) -> WaitStatus {
        let filter = super::filter().unwrap();
        let (_ours, theirs) = UnixStream::pair().unwrap();
        match fork().unwrap() {
            Forked::Child => exit_now(match detach_child(theirs.into(), ChildKind::Analysis) {
                Ok(_) if filter.apply().is_ok() => attempt(),
                Ok(_) | Err(_) => 99,
            }),
            Forked::Parent(pid) => {
                let ended = rustix::process::waitpid(Some(pid), WaitOptions::empty()).unwrap();
                ended.expect("it was waited for").1
            }
        }
    }

    fn code_of<T>(outcome: std::io::Result<T>) -> i32 {
        if outcome.is_ok() { WENT_THROUGH } else { REFUSED_WITH_AN_ERROR }
    }

    #[test]
    fn a_child_that_analyzes_opens_no_file() {
        let ended = behind_the_filter(|| code_of(std::fs::File::open("/etc/passwd")));
        assert_eq!(ended.exit_status(), Some(REFUSED_WITH_AN_ERROR));
    }

    #[test]
    fn a_child_that_analyzes_dies_of_a_socket_a_process_a_thread_and_a_program() {
        let socket = behind_the_filter(|| code_of(std::net::UdpSocket::bind("127.0.0.1:0")));
        let pair = behind_the_filter(|| code_of(UnixStream::pair()));
        let process = behind_the_filter(|| {
            // SAFETY: a plain fork, which is to end this process of one thread.
            unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
            WENT_THROUGH
        });
        let thread = behind_the_filter(|| code_of(std::thread::Builder::new().spawn(|| ())));
        let program = behind_the_filter(|| {
            let (path, nothing) = (c"/bin/true", [std::ptr::null()]);
            // SAFETY: a path and two empty lists, each ended by a null pointer.
            unsafe { libc::execve(path.as_ptr(), nothing.as_ptr(), nothing.as_ptr()) };
            WENT_THROUGH
        });
        let signal = behind_the_filter(|| {
            // SAFETY: a signal 0 changes nothing.
            unsafe { libc::kill(1, 0) };
            WENT_THROUGH
        });
        for ended in [socket, pair, process, thread, program, signal] {
            assert_eq!(ended.terminating_signal(), Some(libc::SIGSYS), "{ended:?}");
        }
    }

    #[test]
    fn a_child_that_analyzes_has_memory_and_hash_tables() {
        let ended = behind_the_filter(|| {
            let numbers: Vec<u64> = (0..1_000_000).collect();
            let known: std::collections::HashSet<u64> = numbers.iter().map(|number| number % 1_000).collect();
            if numbers.iter().sum::<u64>() == 499_999_500_000 && known.len() == 1_000 {
                42
            } else {
                WENT_THROUGH
            }
        });
        assert_eq!(ended.exit_status(), Some(42), "{ended:?}");
    }

    #[test]
    fn an_abort_behind_the_filter_is_a_crash_and_not_a_forbidden_call() {
        let ended = behind_the_filter(|| -> i32 { std::process::abort() });
        let signal = ended.terminating_signal();
        assert!(signal.is_some() && signal != Some(libc::SIGSYS), "{ended:?}");
    }
}
