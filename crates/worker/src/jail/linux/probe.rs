//! Tries the walls that only children have, in a child: a wall is said to stand because something
//! ran into it, not because a version number promises it. What is tried is what someone would try who has
//! broken out of the engine; `escape_tests.rs` tries more of it.

use std::os::unix::net::UnixStream;

use gristmill_protocol::{ChildKind, ProgramLimits, Wall, WallState, WallStatus};
use rustix::process::{WaitOptions, WaitStatus};

use super::{Prepared, detach_child, rlimits, stands};
use crate::fork::{Forked, exit_now, fork};

/// What the probe's exit code says.
const HELD: i32 = 0;
const BROKEN: i32 = 1;

/// Landlock, seccomp and rlimits, each tried by breaking it.
pub fn probe_walls(prepared: &Prepared) -> Vec<WallStatus> {
    let landlock = in_a_child(ChildKind::Programs, || {
        if prepared.confine_to(&[], &ProgramLimits::TRUSTED).is_err() {
            return BROKEN;
        }
        // Even an empty root can be listed, unless landlock refuses.
        match std::fs::read_dir("/") {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => HELD,
            Err(_) | Ok(_) => BROKEN,
        }
    });
    let killed = |status: Option<WaitStatus>| {
        status.and_then(|status| status.terminating_signal()) == Some(libc::SIGSYS)
    };
    let forbidden: [fn(); 2] = [bind_a_socket, share_memory];
    let seccomp = forbidden.into_iter().all(|forbidden| {
        killed(in_a_child(ChildKind::Programs, || {
            // Looking at a name is refused with an error, which is the other way to hold.
            if prepared.filter_system_calls().is_err() || std::fs::symlink_metadata("/").is_ok() {
                return BROKEN;
            }
            forbidden();
            BROKEN
        }))
    });
    let seccomp_of_analysis = forbidden.into_iter().all(|forbidden| {
        killed(in_a_child(ChildKind::Analysis, || {
            let is_filtered = prepared.filter_analysis_calls().is_ok();
            if !is_filtered || std::fs::read_dir("/").is_ok() || std::fs::symlink_metadata("/").is_ok() {
                return BROKEN;
            }
            forbidden();
            BROKEN
        }))
    });
    let rlimits = in_a_child(ChildKind::Programs, || {
        let mut held = Vec::new();
        // More descriptors than the limit permits; it has to stop us before the count does.
        for _ in 0..=rlimits::OPEN_FILES_MAX {
            match std::os::unix::net::UnixStream::pair() {
                Ok(pair) => held.push(pair),
                Err(_) => return HELD,
            }
        }
        BROKEN
    });
    let abi = prepared.landlock_abi;
    vec![
        match landlock.as_ref().is_some_and(|status| status.exit_status() == Some(HELD)) {
            true => stands(Wall::Landlock, &format!("ABI {abi}")),
            false => unavailable(Wall::Landlock, format!("ABI {abi}, and a forbidden folder could be read")),
        },
        match seccomp && seccomp_of_analysis {
            true => stands(Wall::Seccomp, "allow-list; any other call ends the process"),
            false => unavailable(Wall::Seccomp, "a forbidden call did not end the process".to_owned()),
        },
        match rlimits.as_ref().is_some_and(|status| status.exit_status() == Some(HELD)) {
            true => stands(Wall::Rlimits, "no core files; bounded memory, files, descriptors and CPU"),
            false => unavailable(Wall::Rlimits, "more descriptors could be opened than permitted".to_owned()),
        },
    ]
}

/// The same for the native engine: one child stands behind all of them, as every program of its own does, and
/// tries what a program would. Which wall gave way, its exit code says.
pub fn probe_native_walls(prepared: &Prepared) -> Vec<WallStatus> {
    // Each is tried, whatever another came to.
    const FILES: i32 = 2;
    const CALLS: i32 = 4;
    const LIMITS: i32 = 8;
    let limits = ProgramLimits { open_files: 8, ..ProgramLimits::TRUSTED };
    let tried = in_a_child(ChildKind::Programs, || {
        if prepared.wall_in().and_then(|()| prepared.confine_to(&[], &limits)).is_err() {
            return BROKEN;
        }
        let mut gave_way = HELD;
        let denied = |path: &str| matches!(std::fs::read_dir(path), Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied);
        if !denied("/")
            || std::fs::File::open("/proc/self/status").is_ok()
            || std::fs::write("/x", "").is_ok()
            || can_look_past_names(c"/etc/passwd")
            || can_look_past_names(c"/proc/1")
        {
            gave_way |= FILES;
        }
        let socket = std::net::UdpSocket::bind("127.0.0.1:0");
        let process = std::process::Command::new("/bin/true").spawn();
        let (nowhere, flags) = (std::ptr::null_mut(), libc::MAP_SHARED | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at a place that the kernel chooses, which nobody uses.
        let shared = unsafe { libc::mmap(nowhere, 4096, libc::PROT_READ, flags, -1, 0) };
        // SAFETY: signal 0 is none; it only asks.
        let signalled = unsafe { libc::kill(libc::getppid(), 0) } == 0;
        if socket.is_ok() || process.is_ok() || fork().is_ok() || shared != libc::MAP_FAILED || signalled {
            gave_way |= CALLS;
        }
        let opened: Vec<_> = (0..64).map_while(|_| std::fs::File::open("/dev/null").ok()).collect();
        if opened.is_empty() || opened.len() == 64 {
            gave_way |= LIMITS;
        }
        gave_way
    });
    let code = tried.as_ref().and_then(|status| status.exit_status()).unwrap_or(BROKEN);
    let status = |wall, gave_way: i32, detail: String| match code == BROKEN || code & gave_way != 0 {
        false => stands(wall, &detail),
        true => unavailable(wall, "a program could get past it".to_owned()),
    };
    vec![
        status(Wall::Landlock, FILES, format!("ABI {}", prepared.landlock_abi)),
        status(Wall::Seccomp, CALLS, "allow-list; any other call is refused".to_owned()),
        status(Wall::Rlimits, LIMITS, "no core files; bounded memory, files, descriptors and CPU".to_owned()),
    ]
}

/// Whether anything of a file outside can be learned but that it is there, by calls that nothing translates.
fn can_look_past_names(name: &std::ffi::CStr) -> bool {
    let (name, mut about) = (name.as_ptr(), [0u8; 512]);
    let about = about.as_mut_ptr();
    // SAFETY: a name that ends, and more room than either structure takes.
    let outcomes = unsafe {
        [
            libc::syscall(libc::SYS_openat, 0, name, libc::O_RDONLY, 0),
            libc::syscall(libc::SYS_openat, 0, name, libc::O_PATH, 0),
            libc::syscall(libc::SYS_newfstatat, 0, name, about, 0),
            libc::syscall(libc::SYS_newfstatat, libc::AT_FDCWD, name, about, libc::AT_SYMLINK_NOFOLLOW),
            libc::syscall(libc::SYS_statx, 0, name, 0, libc::STATX_ALL, about),
            libc::syscall(libc::SYS_readlinkat, 0, name, about, 512),
        ]
    };
    outcomes.into_iter().any(|outcome| outcome >= 0)
}

fn bind_a_socket() {
    let _ = std::net::UdpSocket::bind("127.0.0.1:0");
}

/// Memory that no limit would count.
fn share_memory() {
    let (nowhere, flags) = (std::ptr::null_mut(), libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at a place that the kernel chooses, which nobody uses.
    unsafe { libc::mmap(nowhere, 4096, libc::PROT_READ, flags, -1, 0) };
}

fn in_a_child(kind: ChildKind, attempt: impl FnOnce() -> i32) -> Option<WaitStatus> {
    let (_ours, theirs) = UnixStream::pair().ok()?;
    match fork().ok()? {
        Forked::Child => exit_now(match detach_child(theirs.into(), kind) {
            Ok(_) => attempt(),
            Err(_) => BROKEN,
        }),
        Forked::Parent(pid) => {
            rustix::process::waitpid(Some(pid), WaitOptions::empty()).ok()?.map(|(_, status)| status)
        }
    }
}

fn unavailable(wall: Wall, detail: String) -> WallStatus {
    WallStatus { wall, state: WallState::Unavailable, detail }
}
