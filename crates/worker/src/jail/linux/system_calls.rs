//! Seccomp: the system calls that a child may make, as data. Any other ends it at once.
//!
//! A program cannot make a system call at all: WebAssembly has no such instruction. This list is
//! what is left to someone who has broken out of the engine. A child that analyzes has a list of its
//! own, in [`super::analysis_calls`].

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

use crate::jail::JailError;

/// Under which condition a call is on the list.
pub(super) enum When {
    Always,
    /// One argument must have this value.
    Is(u8, u64),
    /// One argument must have none of these values.
    NoneOf(u8, &'static [u64]),
    /// One argument must have none of these bits.
    Without(u8, u64),
    /// Of these bits (the second number), one argument must have exactly those (the third).
    Exactly(u8, u64, u64),
}

use When::{Always, Exactly, Is, NoneOf, Without};

pub(super) type Listed = (i64, When, &'static str);

#[rustfmt::skip]
const ALLOWED: &[Listed] = &[
    // The line to the gateway.
    (libc::SYS_recvmsg, Always, "answers and, once, the program with its folders"),
    (libc::SYS_sendmsg, Always, "output, calls, the outcome; the socket has no other end than the gateway"),
    (libc::SYS_sendto, Is(4, 0), "the same; never to an address"),
    (libc::SYS_ppoll, Always, "wait for an answer or a moment"),
    // Files: only beneath the folders that came as descriptors; landlock holds even if this code errs.
    (libc::SYS_openat2, Always, "open beneath a folder, links and .. refused by the kernel"),
    (libc::SYS_close, Always, "let go of a file"),
    (libc::SYS_read, Always, "std reads with it where it could use pread"),
    (libc::SYS_pread64, Always, "read a file"),
    (libc::SYS_pwrite64, Always, "write a file"),
    (libc::SYS_fstat, Always, "size and kind of an open file"),
    (libc::SYS_newfstatat, Always, "size and kind of an entry"),
    (libc::SYS_statx, Always, "the same, as newer libraries ask"),
    (libc::SYS_getdents64, Always, "list a folder"),
    (libc::SYS_lseek, Always, "rewind a folder's list"),
    (libc::SYS_ftruncate, Always, "shorten or lengthen an open file"),
    (libc::SYS_mkdirat, Always, "make a folder"),
    (libc::SYS_unlinkat, Always, "remove a file or folder"),
    (libc::SYS_renameat, Always, "rename within a folder"),
    (libc::SYS_renameat2, Always, "the same, where renameat is gone"),
    (libc::SYS_readlinkat, Always, "look at a link that was there before"),
    (libc::SYS_utimensat, Is(1, 0), "set the times of an open file; never by name, which landlock does not cover"),
    (libc::SYS_fcntl, Is(1, libc::F_GETFD as u64), "builds with debug assertions look whether a descriptor is open before closing it"),
    (libc::SYS_fcntl, Is(1, libc::F_DUPFD_CLOEXEC as u64), "duplicate a descriptor"),
    // Memory: never executable.
    (libc::SYS_mmap, Without(2, libc::PROT_EXEC as u64), "the allocator"),
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

pub struct Filter(BpfProgram);

impl Filter {
    /// Compiles the list of children that run programs, once, in the zygote.
    pub fn compile() -> Result<Self, JailError> {
        Self::of(ALLOWED.iter().chain(ALLOWED_HERE), SeccompAction::KillProcess, SeccompAction::Allow)
    }

    /// What is listed meets with `listed`, any other call with `others`.
    pub(super) fn of<'a>(
        calls: impl Iterator<Item = &'a Listed>,
        others: SeccompAction,
        listed: SeccompAction,
    ) -> Result<Self, JailError> {
        let failed = |error: seccompiler::BackendError| JailError::new("seccomp", error);
        let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
        for (call, when, _reason) in calls {
            let rules = rules.entry(*call).or_default();
            let conditions = conditions(when).map_err(failed)?;
            if !conditions.is_empty() {
                rules.push(SeccompRule::new(conditions).map_err(failed)?);
            }
        }
        let filter = SeccompFilter::new(rules, others, listed, architecture()?).map_err(failed)?;
        Ok(Self(filter.try_into().map_err(failed)?))
    }

    /// Binds this process: this thread is all of it, and threads made later inherit the filter.
    pub fn apply(&self) -> Result<(), JailError> {
        seccompiler::apply_filter(&self.0).map_err(|error| JailError::new("seccomp", error))
    }
}

/// All of them must hold.
fn conditions(when: &When) -> Result<Vec<SeccompCondition>, seccompiler::BackendError> {
    let condition =
        |argument, operator, value| SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value);
    // An `int`: the kernel does not look at the upper half of the register either.
    let differs = |argument: u8, value: u64| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
    };
    let (argument, operator, value) = match when {
        Always => return Ok(Vec::new()),
        NoneOf(argument, values) => {
            return values.iter().map(|value| differs(*argument, *value)).collect();
        }
        Is(argument, value) => (*argument, SeccompCmpOp::Eq, *value),
        Without(argument, bits) => (*argument, SeccompCmpOp::MaskedEq(*bits), 0),
        Exactly(argument, bits, value) => (*argument, SeccompCmpOp::MaskedEq(*bits), *value),
    };
    Ok(vec![condition(argument, operator, value)?])
}

fn architecture() -> Result<TargetArch, JailError> {
    std::env::consts::ARCH.try_into().map_err(|error| JailError::new("seccomp", format!("{error:?}")))
}
