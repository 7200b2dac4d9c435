//! The jail on Linux. Order matters and is spelled out in [`prepare_zygote`] and [`detach_child`].

mod analysis_calls;
mod call_filter;
mod cpu_limit;
mod landlock_rules;
mod memory_use;
mod namespaces;
mod native_calls;
mod native_view;
mod probe;
mod rlimits;
mod server_calls;
mod server_jail;
mod server_network;
mod server_view;
mod system_calls;

#[cfg(test)]
mod escape_tests;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::PathBuf;

use gristmill_protocol::{AnalysisLimits, ChildKind, EngineId, ProgramLimits, Wall, WallState, WallStatus};
use rustix::process::{Pid, PidfdFlags, Signal};

use super::{JailError, descriptors};
use crate::engine::MountedFolder;

use call_filter::Filter;

pub use cpu_limit::{cpu_us, limit_cpu};
pub use memory_use::resident_peak_bytes;
pub use namespaces::{NamespacesEntered, fork_into_namespaces};
pub use native_view::{ShownPath, WORKSPACE, in_writable_folders, thread_count};
pub use server_jail::run_server;

/// What the zygote worked out once, for all its children.
pub struct Prepared {
    /// `None` where the kernel has none; whether that is acceptable is the level's to say.
    system_calls: Option<Filter>,
    analysis_calls: Option<Filter>,
    landlock_abi: i32,
    /// What each child begins with.
    data_bytes: u64,
    /// Of the native engine alone, whose children raise their walls when they have their program.
    native: Option<NativeWalls>,
    walls: Vec<WallStatus>,
}

/// What children of the native engine stand behind.
struct NativeWalls {
    calls: Filter,
    /// What they may read of their view.
    readable: Vec<PathBuf>,
}

/// What the zygote of the native engine has moved into.
static VIEW: std::sync::OnceLock<Vec<PathBuf>> = std::sync::OnceLock::new();

/// Moves this process, which is to be the zygote of the native engine, into a view of the file system that has
/// these paths and the machine's shared libraries.
pub fn enter_view(
    namespaces: &NamespacesEntered,
    shown: &[ShownPath],
    multiarch: &str,
) -> Result<(), JailError> {
    let readable = native_view::readable(shown, multiarch);
    native_view::enter(namespaces, shown, multiarch)?;
    VIEW.get_or_init(|| readable);
    Ok(())
}

/// Raises the jail's walls that the zygote shares with all its children, and tries out the others.
pub fn prepare_zygote(namespaces: NamespacesEntered, engine: EngineId) -> Result<Prepared, JailError> {
    let mut walls = vec![stands(Wall::Process, "one for each execution, used once")];
    // While /proc can still be seen.
    let data_bytes = memory_use::data_bytes();
    let native = match engine {
        EngineId::Native => {
            walls.extend(namespaces::walls_in_view(&namespaces));
            namespaces::keep_mounting()?;
            let readable = VIEW.get().cloned().unwrap_or_default();
            Some(NativeWalls { calls: native_calls::filter()?, readable })
        }
        EngineId::Python | EngineId::TypeScript => {
            walls.extend(namespaces::empty_the_root(&namespaces));
            namespaces::drop_capabilities()?;
            None
        }
    };
    rustix::thread::set_no_new_privs(true).map_err(|error| JailError::new("no-new-privileges", error))?;
    walls.push(stands(Wall::NoNewPrivileges, "set"));
    // Nobody may look into us or our children with ptrace or /proc, not even the same user.
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
        .map_err(|error| JailError::new("dumpable", error))?;
    die_with_parent()?;
    let mut prepared = Prepared {
        system_calls: Some(system_calls::filter()?),
        analysis_calls: Some(analysis_calls::filter()?),
        landlock_abi: landlock_rules::abi(),
        data_bytes,
        native,
        walls,
    };
    let tried = match prepared.native {
        Some(_) => probe::probe_native_walls(&prepared),
        None => probe::probe_walls(&prepared),
    };
    let fell = |wall| tried.iter().any(|status| status.wall == wall && status.state != WallState::Stands);
    // What fell in the trial would fail in every child: it is not tried again.
    if fell(Wall::Seccomp) {
        (prepared.system_calls, prepared.analysis_calls) = (None, None);
    }
    if fell(Wall::Landlock) {
        prepared.landlock_abi = 0;
    }
    prepared.walls.extend(tried);
    Ok(prepared)
}

impl Prepared {
    /// Which walls stand, tried out.
    pub fn walls(&self) -> Vec<WallStatus> {
        self.walls.clone()
    }

    /// Before a child has its program: whatever can be closed off already. Cannot be undone.
    pub fn wall_in(&self) -> Result<(), JailError> {
        match self.native {
            // It has to mount the folders of its program first.
            Some(_) => native_view::own_mounts(),
            None => self.filter_system_calls(),
        }
    }

    /// From here on, only the system calls on the list. Cannot be undone.
    pub fn filter_system_calls(&self) -> Result<(), JailError> {
        rlimits::forbid_threads().map_err(|error| JailError::new("resource limits", error))?;
        self.system_calls.as_ref().map_or(Ok(()), Filter::apply)
    }

    /// The same for a child that analyzes, which has a shorter list.
    pub fn filter_analysis_calls(&self) -> Result<(), JailError> {
        rlimits::forbid_threads().map_err(|error| JailError::new("resource limits", error))?;
        self.analysis_calls.as_ref().map_or(Ok(()), Filter::apply)
    }

    /// From here on, no file by its name, no larger output and no more memory. Cannot be undone.
    pub fn confine_analysis(&self, limits: &AnalysisLimits) -> Result<(), JailError> {
        landlock_rules::restrict(self.landlock_abi, &[])?;
        rlimits::lower_for(limits, self.data_bytes).map_err(|error| JailError::new("resource limits", error))
    }

    /// From here on, no file outside these folders. Cannot be undone.
    pub fn confine_to(&self, mounts: &[MountedFolder], limits: &ProgramLimits) -> Result<(), JailError> {
        let Some(native) = &self.native else { return landlock_rules::restrict(self.landlock_abi, mounts) };
        native_view::show_folders(mounts)?;
        namespaces::drop_capabilities()?;
        landlock_rules::restrict_native(self.landlock_abi, mounts, &native.readable)?;
        rlimits::lower_for_native(limits, self.data_bytes)
            .map_err(|error| JailError::new("resource limits", error))?;
        native.calls.apply()
    }
}

/// The first thing in a child: lets go of everything that is the zygote's.
///
/// Children of both kinds are settled alike here.
pub fn detach_child(socket: OwnedFd, _kind: ChildKind) -> io::Result<OwnedFd> {
    die_with_parent().map_err(|error| io::Error::other(error.to_string()))?;
    unblock_signals()?;
    let socket = descriptors::keep_only(socket)?;
    // A file over the kernel's limit is to be an error for whoever writes it, not the end.
    // SAFETY: ignoring a signal installs no handler.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    rlimits::lower()?;
    Ok(socket)
}

/// A child's number as a descriptor that can never come to mean another process.
pub fn process_descriptor(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()
}

fn die_with_parent() -> Result<(), JailError> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| JailError::new("parent-death signal", error))
}

fn stands(wall: Wall, detail: &str) -> WallStatus {
    WallStatus { wall, state: WallState::Stands, detail: detail.to_owned() }
}

/// Tells the zygote that a child ended, as something that can be polled.
pub struct ChildSignal(OwnedFd);

impl ChildSignal {
    /// From here on SIGCHLD arrives here only.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a zeroed set is made a valid one by sigemptyset; the other calls only read it.
        let fd = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGCHLD);
            if libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) < 0 {
                return Err(io::Error::last_os_error());
            }
            libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
        };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh descriptor that nothing else owns.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Takes what has been signalled.
    pub fn clear(&self) {
        let mut buffer = [0u8; size_of::<libc::signalfd_siginfo>() * 16];
        while rustix::io::read(&self.0, &mut buffer).is_ok_and(|count| count == buffer.len()) {}
    }
}

fn unblock_signals() -> io::Result<()> {
    // SAFETY: a zeroed set is made a valid one by sigemptyset; sigprocmask only reads it.
    let outcome = unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigprocmask(libc::SIG_SETMASK, &set, std::ptr::null_mut())
    };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
