//! Where there is no Linux: the same names, without the kernel's walls. WebAssembly and a process
//! used once are what stands; `doctor` says so. For an analysis, whose engine is native code, it is the
//! process and a limit on its output alone.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use gristmill_protocol::{AnalysisLimits, ChildKind, EngineId, ProgramLimits, Wall, WallState, WallStatus};
use rustix::process::{Pid, Resource, Rlimit, setrlimit};

use super::{JailError, descriptors};
use crate::engine::MountedFolder;
use crate::fork::{Forked, fork};

/// There are none to enter.
pub struct NamespacesEntered;

/// What the zygote worked out once: nothing, here.
pub struct Prepared;

pub fn fork_into_namespaces() -> io::Result<(Forked, NamespacesEntered)> {
    Ok((fork()?, NamespacesEntered))
}

/// Nothing to prepare.
pub fn prepare_zygote(_namespaces: NamespacesEntered, _engine: EngineId) -> Result<Prepared, JailError> {
    Ok(Prepared)
}

impl Prepared {
    /// One wall, and the names of those that are missing.
    pub fn walls(&self) -> Vec<WallStatus> {
        let stands =
            |wall, detail: &str| WallStatus { wall, state: WallState::Stands, detail: detail.to_owned() };
        let missing =
            |wall| WallStatus { wall, state: WallState::NotOnThisPlatform, detail: "Linux only".to_owned() };
        vec![
            stands(Wall::Process, "one for each execution, used once"),
            missing(Wall::Landlock),
            missing(Wall::Seccomp),
            missing(Wall::NoNewPrivileges),
            missing(Wall::UserNamespace),
            missing(Wall::NetworkNamespace),
            missing(Wall::MountNamespace),
            missing(Wall::PidNamespace),
            missing(Wall::Rlimits),
        ]
    }

    /// There is no filter.
    pub fn wall_in(&self) -> Result<(), JailError> {
        Ok(())
    }

    /// There is no filter.
    pub fn filter_analysis_calls(&self) -> Result<(), JailError> {
        Ok(())
    }

    /// The output is limited by the system; memory by nobody but the gateway's deadline.
    pub fn confine_analysis(&self, limits: &AnalysisLimits) -> Result<(), JailError> {
        let most = Some(limits.output_bytes);
        setrlimit(Resource::Fsize, Rlimit { current: most, maximum: most })
            .map_err(|error| JailError::new("resource limits", error))
    }

    /// The engine keeps the program to its folders by itself.
    pub fn confine_to(&self, _mounts: &[MountedFolder], _limits: &ProgramLimits) -> Result<(), JailError> {
        Ok(())
    }
}

/// Lets go of everything that is the zygote's.
pub fn detach_child(socket: OwnedFd, kind: ChildKind) -> io::Result<OwnedFd> {
    if kind == ChildKind::Analysis {
        // A file over the limit is to be an error for whoever writes it, not the end.
        // SAFETY: ignoring a signal installs no handler.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }
    descriptors::keep_only(socket)
}

/// Whole seconds only. A process that stays keeps the hard limit it has: it cannot be raised again.
pub fn limit_cpu(cpu_ms: u64, stays: bool) -> Result<(), JailError> {
    let soft = (cpu_us() / 1_000_000).saturating_add(cpu_ms / 1000).saturating_add(1);
    let maximum = if stays { rustix::process::getrlimit(Resource::Cpu).maximum } else { Some(soft) };
    setrlimit(Resource::Cpu, Rlimit { current: Some(soft), maximum })
        .map_err(|error| JailError::new("CPU limit", error))
}

/// CPU time that this process has used.
pub fn cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    (time.tv_sec as u64) * 1_000_000 + (time.tv_nsec as u64) / 1000
}

/// The most that this process has had in memory at once.
pub fn resident_peak_bytes() -> u64 {
    // SAFETY: a zeroed structure is a valid one, and the call only fills it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    // Bytes on Apple's systems, kilobytes on others.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(unit)
}

/// There are no process descriptors: the zygote kills by number.
pub fn process_descriptor(_pid: Pid) -> Option<OwnedFd> {
    None
}

/// A pipe that SIGCHLD writes into.
pub struct ChildSignal {
    read: OwnedFd,
}

/// The pipe's other end, for the handler.
static CHILD_SIGNAL_WRITE: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new(-1);

extern "C" fn on_child(_signal: libc::c_int) {
    let fd = CHILD_SIGNAL_WRITE.load(std::sync::atomic::Ordering::Relaxed);
    // SAFETY: write is safe in a signal handler; one byte from a static place.
    unsafe {
        libc::write(fd, [1u8].as_ptr().cast(), 1);
    }
}

impl ChildSignal {
    /// From here on the end of a child can be polled for.
    pub fn new() -> io::Result<Self> {
        use std::os::fd::IntoRawFd;
        let (read, write) = rustix::pipe::pipe()?;
        for end in [&read, &write] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        CHILD_SIGNAL_WRITE.store(write.into_raw_fd(), std::sync::atomic::Ordering::Relaxed);
        // SAFETY: the handler only writes to a pipe; the action is fully initialised.
        let outcome = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_child as *const () as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGCHLD, &action, std::ptr::null_mut())
        };
        if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(Self { read }) }
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.read.as_fd()
    }

    /// Takes what has been signalled.
    pub fn clear(&self) {
        let mut buffer = [0u8; 64];
        while rustix::io::read(&self.read, &mut buffer).is_ok_and(|count| count == buffer.len()) {}
    }
}

/// There are no walls for servers here.
pub fn run_server(_sandbox: &gristmill_protocol::ServerSandbox, _command: &[std::ffi::OsString]) -> i32 {
    eprintln!(
        "gristmill: no sandbox for this server: it needs Linux; set `sandbox = false` for it to run with your rights"
    );
    126
}
