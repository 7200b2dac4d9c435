//! Seccomp for a child of the native engine: the system calls that a program may make. Any other is refused with an
//! error, as libraries try much that they can do without.
//!
//! A program here is machine code, if it wants to be: the list is the wall, not what stands behind one. It has no
//! process, no exec, no socket, no signal to anybody, no tracing, no key, no new namespace or mount, nothing that
//! makes calls out of its sight, and no memory that nobody counts. Files are what its view has (`native_view.rs`);
//! where there are no namespaces to have a view in, what landlock lets it open, under names that are translated
//! (`native_trap.rs`).

use super::NativeTier;
use super::call_filter::When::{self, Always, Both, Exactly, Is, IsInt, NoneOf, Without};
use super::call_filter::{Denial, Filter, Listed};
use crate::jail::JailError;

/// Compiles the list, for a child that waits: it has a few calls more, by which it confines itself to its program.
pub fn filter(tier: NativeTier) -> Result<Filter, JailError> {
    match tier {
        NativeTier::A => Filter::compile_refusing(
            &[ALLOWED, ALLOWED_HERE, IN_A_VIEW, IN_A_VIEW_HERE, CONFINING, CONFINING_IN_A_VIEW],
            &[ABSENT],
        ),
        NativeTier::B => Filter::compile_refusing(
            &[ALLOWED, ALLOWED_HERE, WITHOUT_A_VIEW, CONFINING, CONFINING_WITHOUT_A_VIEW],
            &[ABSENT, UNCOVERED],
        ),
    }
}

/// Takes these few away again. A filter costs as long as it is long, and this one is what a program waits for.
pub fn closing(tier: NativeTier) -> Result<Denial, JailError> {
    let own = match tier {
        NativeTier::A => CONFINING_IN_A_VIEW,
        NativeTier::B => CONFINING_WITHOUT_A_VIEW,
    };
    Denial::compile(&[CONFINING, own], libc::EPERM)
}

/// Threads share everything that a process has, its table of descriptors, too, which is bounded; whoever does not, or
/// wants a namespace, is a process.
const THREAD: libc::c_int =
    libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_FILES | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
const NEW: libc::c_int = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_VFORK
    | libc::CLONE_PTRACE;
const A_THREAD: When = Exactly(0, (THREAD | NEW) as u64, THREAD as u64);

/// Memory of its own, which RLIMIT_DATA counts; nothing that grows downwards, which counts as stack.
const PRIVATE: When = Exactly(3, (libc::MAP_TYPE | libc::MAP_GROWSDOWN) as u64, libc::MAP_PRIVATE as u64);
/// A file's; shared memory without a file is counted for nobody.
const OF_A_FILE: When = Exactly(3, (libc::MAP_TYPE | libc::MAP_ANONYMOUS) as u64, libc::MAP_SHARED as u64);

/// Bits that make a program run as somebody else, outside: no file may have them.
const SPECIAL: u64 = 0o7000;

const TCGETS: u64 = 0x5401;
const TIOCGWINSZ: u64 = 0x5413;
const FIONREAD: u64 = 0x541b;
const FIONBIO: u64 = 0x5421;
const FIONCLEX: u64 = 0x5450;
const FIOCLEX: u64 = 0x5451;

const fn fcntl(command: libc::c_int) -> When {
    Is(1, command as u64)
}

const fn prctl(option: libc::c_int) -> When {
    Is(0, option as u64)
}

#[rustfmt::skip]
const ALLOWED: &[Listed] = &[
    // The line to the gateway, which is its only socket.
    (libc::SYS_recvmsg, Always, "answers, and the next program of a session"),
    (libc::SYS_sendmsg, Always, "output, calls, the outcome"),
    (libc::SYS_sendto, Is(4, 0), "the same; never to an address"),
    (libc::SYS_ppoll, Always, "wait for an answer or a moment"),
    // Files that are open: landlock says which of them may be. What takes a name is in lists of its own, below.
    (libc::SYS_close, Always, "let go of a file"),
    (libc::SYS_close_range, Is(2, 0), "the same for several; never with a new table of descriptors"),
    (libc::SYS_read, Always, "read"),
    (libc::SYS_readv, Always, "read"),
    (libc::SYS_pread64, Always, "read"),
    (libc::SYS_preadv, Always, "read"),
    (libc::SYS_write, Always, "write"),
    (libc::SYS_writev, Always, "write"),
    (libc::SYS_pwrite64, Always, "write"),
    (libc::SYS_pwritev, Always, "write"),
    (libc::SYS_copy_file_range, Always, "shutil copies with it"),
    (libc::SYS_sendfile, Always, "the same, older"),
    (libc::SYS_lseek, Always, "move in a file"),
    (libc::SYS_fstat, Always, "size and kind of an open file"),
    (libc::SYS_fstatfs, Always, "os.fstatvfs"),
    (libc::SYS_getdents64, Always, "list a folder"),
    (libc::SYS_ftruncate, Always, "shorten or lengthen an open file"),
    (libc::SYS_fallocate, IsInt(1, 0), "make room in a file, within RLIMIT_FSIZE; never beyond its end, where nobody sees it"),
    (libc::SYS_fadvise64, Always, "a hint; readers of large files give it"),
    (libc::SYS_fsync, Always, "sqlite"),
    (libc::SYS_fdatasync, Always, "sqlite"),
    (libc::SYS_flock, Always, "locks of files"),
    (libc::SYS_umask, Always, "tempfile and others ask for it"),
    (libc::SYS_fgetxattr, Always, "shutil.copystat looks for attributes; none can be set"),
    (libc::SYS_flistxattr, Always, "the same"),
    (libc::SYS_dup, Always, "duplicate a descriptor"),
    (libc::SYS_dup3, Always, "the same"),
    (libc::SYS_fcntl, fcntl(libc::F_GETFD), "flags of a descriptor"),
    (libc::SYS_fcntl, fcntl(libc::F_SETFD), "the same"),
    (libc::SYS_fcntl, fcntl(libc::F_GETFL), "the same"),
    (libc::SYS_fcntl, fcntl(libc::F_SETFL), "the same"),
    (libc::SYS_fcntl, fcntl(libc::F_DUPFD), "duplicate a descriptor"),
    (libc::SYS_fcntl, fcntl(libc::F_DUPFD_CLOEXEC), "the same"),
    (libc::SYS_fcntl, fcntl(libc::F_GETLK), "locks of files: sqlite"),
    (libc::SYS_fcntl, fcntl(libc::F_SETLK), "the same"),
    (libc::SYS_fcntl, fcntl(libc::F_SETLKW), "the same"),
    (libc::SYS_ioctl, Is(1, TCGETS), "whether it is a terminal, asked for each file that is opened"),
    (libc::SYS_ioctl, Is(1, TIOCGWINSZ), "how wide a terminal would be"),
    (libc::SYS_ioctl, Is(1, FIONREAD), "how much can be read"),
    (libc::SYS_ioctl, Is(1, FIONBIO), "whether reading waits"),
    (libc::SYS_ioctl, Is(1, FIOCLEX), "a flag of a descriptor"),
    (libc::SYS_ioctl, Is(1, FIONCLEX), "the same"),
    // Memory. Executable, too: modules in C are loaded when they are imported.
    (libc::SYS_mmap, PRIVATE, "the allocator, modules in C"),
    (libc::SYS_mmap, OF_A_FILE, "numpy.memmap, sqlite"),
    (libc::SYS_mprotect, Always, "the loader, the allocator"),
    (libc::SYS_munmap, Always, "the allocator"),
    (libc::SYS_mremap, Always, "the allocator"),
    (libc::SYS_madvise, Always, "the allocator gives memory back"),
    (libc::SYS_msync, Always, "numpy.memmap"),
    (libc::SYS_brk, Always, "the allocator"),
    // Threads of this process.
    (libc::SYS_clone, A_THREAD, "a thread, and never a process"),
    (libc::SYS_set_robust_list, Always, "each new thread"),
    (libc::SYS_rseq, Always, "the same"),
    (libc::SYS_set_tid_address, Always, "the same"),
    (libc::SYS_futex, Always, "locks"),
    (libc::SYS_sched_yield, Always, "locks that spin"),
    (libc::SYS_gettid, Always, "the number of a thread"),
    (libc::SYS_prctl, prctl(libc::PR_SET_NAME), "the name of a thread"),
    (libc::SYS_prctl, prctl(libc::PR_GET_NAME), "the same"),
    // Waiting for what is its own.
    (libc::SYS_pipe2, Always, "two ends within this process"),
    (libc::SYS_eventfd2, Always, "thread pools"),
    (libc::SYS_epoll_create1, Always, "selectors"),
    (libc::SYS_epoll_ctl, Always, "selectors"),
    (libc::SYS_epoll_pwait, Always, "selectors"),
    (libc::SYS_pselect6, Always, "selectors, time.sleep in older libraries"),
    // Time and chance.
    (libc::SYS_nanosleep, Always, "time.sleep, older libraries"),
    (libc::SYS_gettimeofday, Always, "the time"),
    (libc::SYS_times, Always, "os.times"),
    (libc::SYS_getrandom, Always, "os.urandom"),
    (libc::SYS_setitimer, Always, "the exact CPU limit, and timers of the program; behind them stand RLIMIT_CPU and the gateway"),
    (libc::SYS_getitimer, Always, "the same"),
    // The process itself, and what anybody may know of the machine.
    (libc::SYS_getpid, Always, "its number in its own tree"),
    (libc::SYS_getppid, Always, "the same"),
    (libc::SYS_getuid, Always, "os.getuid"),
    (libc::SYS_geteuid, Always, "the same"),
    (libc::SYS_getgid, Always, "the same"),
    (libc::SYS_getegid, Always, "the same"),
    (libc::SYS_getgroups, Always, "the same"),
    (libc::SYS_getresuid, Always, "the same"),
    (libc::SYS_getresgid, Always, "the same"),
    (libc::SYS_getcpu, Always, "allocators for each core"),
    (libc::SYS_getrusage, Always, "resource.getrusage"),
    (libc::SYS_prlimit64, Is(0, 0), "this process's own limits, whose hard ones can only go down"),
    (libc::SYS_rt_sigreturn, Always, "after a signal handler"),
    (libc::SYS_rt_sigprocmask, Always, "signals of its own"),
    (libc::SYS_rt_sigpending, Always, "the same"),
    (libc::SYS_sigaltstack, Always, "the same"),
    (libc::SYS_restart_syscall, Always, "a wait that goes on"),
    (libc::SYS_exit_group, Always, "the end"),
    (libc::SYS_exit, Always, "the end of a thread"),
];

/// Calls that exist on x86_64 only, most of them under their older names.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const ALLOWED_HERE: &[Listed] = &[
    (libc::SYS_poll, Always, "wait for an answer or a moment"),
    (libc::SYS_select, Always, "selectors"),
    (libc::SYS_epoll_wait, Always, "selectors"),
    (libc::SYS_pipe, Always, "two ends within this process"),
    (libc::SYS_dup2, Always, "duplicate a descriptor"),
    (libc::SYS_getpgrp, Always, "its number in its own tree"),
    (libc::SYS_time, Always, "the time"),
    (libc::SYS_alarm, Always, "a timer of the program"),
    (libc::SYS_arch_prctl, Always, "each new thread, and libraries that ask what the processor has"),
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[Listed] = &[];

/// What takes a name, or says something of the machine: harmless in a view and a process tree of its own.
#[rustfmt::skip]
const IN_A_VIEW: &[Listed] = &[
    (libc::SYS_openat, Without(3, SPECIAL), "open or make a file, with no special bit"),
    (libc::SYS_newfstatat, Always, "size and kind of a file by name; the view has nothing to hide"),
    (libc::SYS_statx, Always, "the same, as newer libraries ask"),
    (libc::SYS_statfs, Always, "shutil.disk_usage"),
    (libc::SYS_faccessat, Always, "os.access"),
    (libc::SYS_faccessat2, Always, "the same, newer"),
    (libc::SYS_readlinkat, Always, "os.path.realpath"),
    (libc::SYS_getcwd, Always, "os.getcwd"),
    (libc::SYS_chdir, Always, "os.chdir"),
    (libc::SYS_fchdir, Always, "the same by descriptor"),
    (libc::SYS_mkdirat, Without(2, SPECIAL), "make a folder"),
    (libc::SYS_unlinkat, Always, "remove a file or folder"),
    (libc::SYS_renameat, Always, "rename"),
    (libc::SYS_renameat2, Always, "the same, where renameat is gone"),
    (libc::SYS_truncate, Always, "shorten or lengthen a file by name"),
    (libc::SYS_utimensat, Always, "os.utime; what is read-only stays so"),
    (libc::SYS_fchmod, Without(1, SPECIAL), "shutil.copy; never setuid"),
    (libc::SYS_fchmodat, Without(2, SPECIAL), "the same by name"),
    (libc::SYS_getxattr, Always, "shutil.copystat looks for attributes; none can be set"),
    (libc::SYS_lgetxattr, Always, "the same"),
    (libc::SYS_listxattr, Always, "the same"),
    (libc::SYS_llistxattr, Always, "the same"),
    (libc::SYS_clock_gettime, Always, "the time, where the vDSO cannot"),
    (libc::SYS_clock_getres, Always, "time.get_clock_info"),
    (libc::SYS_clock_nanosleep, Always, "time.sleep"),
    (libc::SYS_getpgid, Always, "os.getpgid, in a process tree of its own"),
    (libc::SYS_getsid, Always, "the same"),
    (libc::SYS_sched_getaffinity, Always, "os.cpu_count and thread pools"),
    (libc::SYS_sched_getparam, Always, "thread pools"),
    (libc::SYS_sched_getscheduler, Always, "thread pools"),
    (libc::SYS_uname, Always, "platform"),
    (libc::SYS_rt_sigaction, Always, "signals of its own"),
];
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const IN_A_VIEW_HERE: &[Listed] = &[
    (libc::SYS_open, Without(2, SPECIAL), "open or make a file, with no special bit"),
    (libc::SYS_stat, Always, "size and kind of a file"),
    (libc::SYS_lstat, Always, "the same"),
    (libc::SYS_access, Always, "os.access"),
    (libc::SYS_readlink, Always, "os.path.realpath"),
    (libc::SYS_mkdir, Without(1, SPECIAL), "make a folder"),
    (libc::SYS_rmdir, Always, "remove a folder"),
    (libc::SYS_unlink, Always, "remove a file"),
    (libc::SYS_rename, Always, "rename"),
    (libc::SYS_chmod, Without(1, SPECIAL), "shutil.copy; never setuid"),
];
#[cfg(not(target_arch = "x86_64"))]
const IN_A_VIEW_HERE: &[Listed] = &[];

/// A folder that is given as a descriptor.
const BENEATH: When = NoneOf(0, &[HERE]);
const BENEATH_BOTH: When = Both(&NoneOf(0, &[HERE]), &NoneOf(2, &[HERE]));
/// The working folder, or none; the upper half of the register means nothing.
const HERE: u64 = libc::AT_FDCWD.cast_unsigned() as u64;

/// For what a file is opened. The fourth of these values is for neither: that makes a descriptor by which any file
/// can be looked at.
const ACCESS: u64 = (libc::O_PATH | libc::O_ACCMODE) as u64;
const TO_READ: When = Both(&Exactly(2, ACCESS, libc::O_RDONLY as u64), &Without(3, SPECIAL));
const TO_WRITE: When = Both(&Exactly(2, ACCESS, libc::O_WRONLY as u64), &Without(3, SPECIAL));
const TO_CHANGE: When = Both(&Exactly(2, ACCESS, libc::O_RDWR as u64), &Without(3, SPECIAL));

/// Clocks of other processes have numbers below zero.
const OWN_CLOCK: When = Without(0, 1 << 31);

/// The same without a view: only what landlock covers, and nothing that tells of other processes. Translated names
/// come this way, too.
#[rustfmt::skip]
const WITHOUT_A_VIEW: &[Listed] = &[
    (libc::SYS_openat, Both(&BENEATH, &TO_READ), "open a file, with no special bit; never with O_PATH, nor to do neither, which landlock does not cover"),
    (libc::SYS_openat, Both(&BENEATH, &TO_WRITE), "open or make one"),
    (libc::SYS_openat, Both(&BENEATH, &TO_CHANGE), "the same"),
    (libc::SYS_mkdirat, Both(&BENEATH, &Without(2, SPECIAL)), "make a folder"),
    (libc::SYS_unlinkat, BENEATH, "remove a file or folder"),
    (libc::SYS_renameat, BENEATH_BOTH, "rename"),
    (libc::SYS_renameat2, BENEATH_BOTH, "the same, where renameat is gone"),
    (libc::SYS_clock_gettime, OWN_CLOCK, "the time, where the vDSO cannot"),
    (libc::SYS_clock_getres, OWN_CLOCK, "time.get_clock_info"),
    (libc::SYS_clock_nanosleep, OWN_CLOCK, "time.sleep"),
    (libc::SYS_getpgid, Is(0, 0), "os.getpgid of itself"),
    (libc::SYS_getsid, Is(0, 0), "os.getsid of itself"),
    (libc::SYS_sched_getaffinity, IsInt(0, 0), "os.cpu_count and thread pools, of itself"),
    (libc::SYS_sched_getparam, IsInt(0, 0), "thread pools, of itself"),
    (libc::SYS_sched_getscheduler, IsInt(0, 0), "the same"),
    (libc::SYS_rt_sigaction, NoneOf(0, &[libc::SIGSYS as u64]), "signals of its own, but for the one that translates names"),
];

/// Without a view these are stopped, and answered by `native_trap.rs`.
pub const TRANSLATED: &[&[Listed]] = &[TRANSLATED_ANYWHERE, TRANSLATED_HERE];

#[rustfmt::skip]
const TRANSLATED_ANYWHERE: &[Listed] = &[
    (libc::SYS_openat, IsInt(0, libc::AT_FDCWD), "the name may mean another place"),
    (libc::SYS_mkdirat, IsInt(0, libc::AT_FDCWD), "the same"),
    (libc::SYS_unlinkat, IsInt(0, libc::AT_FDCWD), "the same"),
    (libc::SYS_renameat, IsInt(0, libc::AT_FDCWD), "the same"),
    (libc::SYS_renameat, IsInt(2, libc::AT_FDCWD), "the same"),
    (libc::SYS_renameat2, IsInt(0, libc::AT_FDCWD), "the same"),
    (libc::SYS_renameat2, IsInt(2, libc::AT_FDCWD), "the same"),
    (libc::SYS_truncate, Always, "the same"),
    (libc::SYS_chdir, Always, "the working folder is kept as a name"),
    (libc::SYS_getcwd, Always, "the same; the machine's path would say where it is"),
    (libc::SYS_newfstatat, Always, "landlock does not cover looking at a name: it is opened first"),
    (libc::SYS_faccessat, Always, "the same"),
    (libc::SYS_faccessat2, Always, "the same"),
    (libc::SYS_readlinkat, Always, "the same"),
    (libc::SYS_statfs, Always, "the same"),
    (libc::SYS_getxattr, Always, "landlock does not cover it; there are no attributes"),
    (libc::SYS_lgetxattr, Always, "the same"),
    (libc::SYS_listxattr, Always, "the same"),
    (libc::SYS_llistxattr, Always, "the same"),
    (libc::SYS_fchmod, Always, "landlock does not cover it; it is not done"),
    (libc::SYS_fchmodat, Always, "the same"),
    (libc::SYS_utimensat, Always, "the same"),
    (libc::SYS_uname, Always, "what the machine is called is nobody's business"),
    (libc::SYS_sched_getaffinity, NoneOf(0, &[0]), "the number must be the caller's own"),
    (libc::SYS_sched_getparam, NoneOf(0, &[0]), "the same"),
    (libc::SYS_sched_getscheduler, NoneOf(0, &[0]), "the same"),
];
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
const TRANSLATED_HERE: &[Listed] = &[
    (libc::SYS_open, Always, "older names of the calls above"),
    (libc::SYS_stat, Always, "the same"),
    (libc::SYS_lstat, Always, "the same"),
    (libc::SYS_access, Always, "the same"),
    (libc::SYS_readlink, Always, "the same"),
    (libc::SYS_mkdir, Always, "the same"),
    (libc::SYS_rmdir, Always, "the same"),
    (libc::SYS_unlink, Always, "the same"),
    (libc::SYS_rename, Always, "the same"),
    (libc::SYS_chmod, Always, "the same"),
];
#[cfg(not(target_arch = "x86_64"))]
const TRANSLATED_HERE: &[Listed] = &[];

/// Without a view, absent like those below.
const UNCOVERED: &[Listed] =
    &[(libc::SYS_statx, Always, "landlock does not cover looking at a name; libraries then use newfstatat")];

/// What a child does between its program's arrival and its program's first instruction, and never again.
#[rustfmt::skip]
const CONFINING: &[Listed] = &[
    (libc::SYS_landlock_create_ruleset, Always, "confinement to the folders of the program"),
    (libc::SYS_landlock_add_rule, Always, "the same"),
    (libc::SYS_landlock_restrict_self, Always, "the same"),
    (libc::SYS_prctl, prctl(libc::PR_SET_NO_NEW_PRIVS), "asked for with every filter"),
    (libc::SYS_seccomp, Always, "the filter that takes these calls away"),
];
#[rustfmt::skip]
const CONFINING_IN_A_VIEW: &[Listed] = &[
    (libc::SYS_mount, Always, "the folders of the program, where it has them"),
    (libc::SYS_mount_setattr, Always, "the same"),
    (libc::SYS_umount2, Always, "the rest of the machine"),
    (libc::SYS_capset, Always, "the capability to mount is given up"),
];
#[rustfmt::skip]
const CONFINING_WITHOUT_A_VIEW: &[Listed] = &[
    (libc::SYS_openat, Exactly(2, libc::O_PATH as u64, libc::O_PATH as u64), "descriptors of folders that neither list nor change anything"),
];

/// Calls that libraries try first and have another way for: they are told that the kernel has no such call.
#[rustfmt::skip]
const ABSENT: &[Listed] = &[
    (libc::SYS_clone3, Always, "its flags are out of a filter's sight; libraries then use clone"),
    (libc::SYS_io_uring_setup, Always, "makes calls that no filter sees"),
    (libc::SYS_memfd_create, Always, "memory that nobody counts"),
    (libc::SYS_openat2, Always, "its mode is out of a filter's sight; libraries then use openat"),
    (libc::SYS_userfaultfd, Always, "holds the kernel up in the middle of a copy"),
    (libc::SYS_io_setup, Always, "calls on the side"),
    (libc::SYS_sysinfo, Always, "what the machine has and how busy it is; libraries that ask take a default"),
];
