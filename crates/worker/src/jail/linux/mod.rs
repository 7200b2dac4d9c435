//! The jail on Linux. Order matters and is spelled out in [`prepare_zygote`] and [`detach_child`].

mod analysis_calls;
mod call_filter;
mod cpu_limit;
mod landlock_rules;
mod memory_use;
mod namespaces;
mod native_calls;
mod native_names;
mod native_trap;
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

use call_filter::{Denial, Filter};

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
    /// Of the native engine alone, whose children raise their walls when they are told their folders.
    native: Option<NativeWalls>,
    walls: Vec<WallStatus>,
}

/// What holds programs of the native engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeTier {
    /// Namespaces with a view of the file system of its own; landlock, the list of system calls and limits behind it.
    A,
    /// Landlock, the list of system calls and limits alone, for machines and containers without namespaces.
    B,
}

/// The generation of landlock without which a file could be cut short although it may only be read.
const TIER_B_LANDLOCK: i32 = 3;

/// What children of the native engine stand behind.
struct NativeWalls {
    tier: NativeTier,
    calls: Filter,
    /// What the list had for the confinement itself.
    closing: Denial,
    /// What they may read of their view.
    readable: Vec<PathBuf>,
}

/// How the zygote of the native engine is confined, and what its children may read.
static VIEW: std::sync::OnceLock<(NativeTier, Vec<PathBuf>)> = std::sync::OnceLock::new();

/// Shows this process, which is to be the zygote of the native engine, these paths and the machine's shared
/// libraries: in a view of its own or, where there is none and it `may_lack_namespaces`, by their names alone.
pub fn enter_view(
    namespaces: &NamespacesEntered,
    may_lack_namespaces: bool,
    shown: &[ShownPath],
    multiarch: &str,
) -> Result<(), JailError> {
    let readable = native_view::readable(shown, multiarch);
    let tier = match namespaces {
        NamespacesEntered::All | NamespacesEntered::AllButUser(_) => {
            native_view::enter(shown, multiarch)?;
            NativeTier::A
        }
        NamespacesEntered::None(why) if may_lack_namespaces => {
            let abi = landlock_rules::abi();
            if abi < TIER_B_LANDLOCK {
                let words = format!(
                    "the native engine runs in namespaces only on this machine, which refuses them ({why}): without \
                     them it needs landlock of ABI {TIER_B_LANDLOCK}, where this kernel has {abi}; use Linux 6.2 or \
                     newer with landlock in its `lsm=` list, or permit namespaces"
                );
                return Err(JailError::new("landlock", words));
            }
            native_trap::translate_names(&native_view::names(shown, multiarch))?;
            NativeTier::B
        }
        NamespacesEntered::None(why) => {
            let words = format!(
                "the native engine runs in namespaces only at this level, and this machine refuses them ({why}); \
                 permit unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 or an AppArmor \
                 profile with `userns`), or set `without_namespaces = true` in [engines.native], which is weaker and \
                 not for level hardened"
            );
            return Err(JailError::new("namespaces", words));
        }
    };
    VIEW.get_or_init(|| (tier, readable));
    Ok(())
}

/// Raises the jail's walls that the zygote shares with all its children, and tries out the others.
pub fn prepare_zygote(namespaces: NamespacesEntered, engine: EngineId) -> Result<Prepared, JailError> {
    let mut walls = vec![stands(Wall::Process, "one for each execution, used once")];
    // While /proc can still be seen.
    let data_bytes = memory_use::data_bytes();
    // What is looked up once for clocks is looked up here: children have no call for it.
    cpu_us();
    let native = match engine {
        EngineId::Native => {
            walls.extend(namespaces::walls_in_view(&namespaces));
            let (tier, readable) = VIEW.get().cloned().unwrap_or((NativeTier::A, Vec::new()));
            match tier {
                NativeTier::A => namespaces::keep_mounting()?,
                NativeTier::B => namespaces::drop_capabilities()?,
            }
            let (calls, closing) = (native_calls::filter(tier)?, native_calls::closing(tier)?);
            Some(NativeWalls { tier, calls, closing, readable })
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
        let Some(native) = &self.native else { return self.filter_system_calls() };
        // Walls bind this thread: one that a package has started after the fork would go on without them.
        match thread_count() {
            Ok(1) => {}
            Ok(count) => return Err(JailError::new("threads", format!("{count} in a worker that waits"))),
            Err(error) => return Err(JailError::new("threads", error)),
        }
        if native.tier == NativeTier::A {
            native_view::own_mounts()?;
        }
        native.calls.apply()
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
        match native.tier {
            NativeTier::A => {
                native_view::show_folders(mounts)?;
                namespaces::drop_capabilities()?;
            }
            NativeTier::B => native_trap::give_folders(mounts)?,
        }
        landlock_rules::restrict_native(self.landlock_abi, mounts, &native.readable)?;
        rlimits::lower_for_native(limits, self.data_bytes)
            .map_err(|error| JailError::new("resource limits", error))?;
        native.closing.apply()
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
    /// From here on SIGCHLD arrives here only, and only for children that end: the gateway stops them before.
    pub fn new() -> io::Result<Self> {
        // SAFETY: a zeroed action is the default one, which installs no handler; a zeroed set is made a valid one
        // by sigemptyset; the other calls only read them.
        let fd = unsafe {
            let action = libc::sigaction { sa_flags: libc::SA_NOCLDSTOP, ..std::mem::zeroed() };
            if libc::sigaction(libc::SIGCHLD, &action, std::ptr::null_mut()) < 0 {
                return Err(io::Error::last_os_error());
            }
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
