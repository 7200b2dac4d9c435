//! Namespaces: entered once by the zygote and shared by its children, since they cost half a
//! millisecond each time. An empty network, an empty root, a process tree of its own.

use std::fs;
use std::io::{self, Read, Write};

use gristmill_protocol::{Wall, WallState, WallStatus};
use rustix::mount::{MountFlags, MountPropagationFlags, UnmountFlags};
use rustix::process::{Pid, Signal, WaitOptions};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

use super::stands;
use crate::fork::{Forked, fork, fork_into};
use crate::jail::JailError;

const WITHOUT_USER: libc::c_int = libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// How far the zygote got.
pub enum NamespacesEntered {
    /// All of them, with a user namespace in which we are ourselves and nobody else exists.
    All,
    /// All but the user namespace: only root can do that.
    AllButUser(String),
    /// None; the system's words.
    None(String),
}

/// Forks the zygote into as many namespaces as the machine permits.
pub fn fork_into_namespaces() -> io::Result<(Forked, NamespacesEntered)> {
    fork_into_these(WITHOUT_USER)
}

/// Forks a server's first process into namespaces, of which the network is its own only if it is to
/// have none or ours.
pub(super) fn fork_server(own_network: bool) -> io::Result<(Forked, NamespacesEntered)> {
    fork_into_these(if own_network { WITHOUT_USER } else { WITHOUT_USER & !libc::CLONE_NEWNET })
}

fn fork_into_these(namespaces: libc::c_int) -> io::Result<(Forked, NamespacesEntered)> {
    let refused = match fork_with_user_namespace(namespaces) {
        Ok(forked) => return Ok((forked, NamespacesEntered::All)),
        Err(error) => error.to_string(),
    };
    if rustix::process::geteuid().is_root()
        && let Ok(forked) = fork_into(namespaces)
    {
        return Ok((forked, NamespacesEntered::AllButUser(refused)));
    }
    Ok((fork()?, NamespacesEntered::None(refused)))
}

/// The parent writes the new namespace's user map; only then does the child go on.
fn fork_with_user_namespace(namespaces: libc::c_int) -> io::Result<Forked> {
    let (mut go, mut ready) = io::pipe()?;
    match fork_into(libc::CLONE_NEWUSER | namespaces)? {
        Forked::Child => {
            drop(ready);
            // No byte means that the map could not be written, and that we are to be no more.
            match go.read(&mut [0]) {
                Ok(1) => Ok(Forked::Child),
                Ok(_) | Err(_) => crate::fork::exit_now(1),
            }
        }
        Forked::Parent(pid) => {
            drop(go);
            let mapped = map_ourselves(pid).and_then(|()| ready.write_all(&[1]));
            if let Err(error) = mapped {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
                let _ = rustix::process::waitpid(Some(pid), WaitOptions::empty());
                return Err(error);
            }
            Ok(Forked::Parent(pid))
        }
    }
}

fn map_ourselves(pid: Pid) -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let folder = format!("/proc/{}", pid.as_raw_nonzero());
    fs::write(format!("{folder}/setgroups"), "deny")?;
    fs::write(format!("{folder}/uid_map"), format!("{user} {user} 1"))?;
    fs::write(format!("{folder}/gid_map"), format!("{group} {group} 1"))
}

/// Makes the root an empty, read-only folder, and says which namespaces stand.
pub fn empty_the_root(entered: &NamespacesEntered) -> Vec<WallStatus> {
    walls_of(entered, |others| {
        let root = others.map_err(str::to_owned);
        root.and_then(|()| pivot_to_empty().map_err(|error| error.to_string()))
            .map(|()| "own, empty, read-only")
    })
}

/// Says which namespaces stand, where this process is in its view already.
pub fn walls_in_view(entered: &NamespacesEntered) -> Vec<WallStatus> {
    let detail = "own: the interpreter, its packages and libraries, read-only";
    walls_of(entered, |others| others.map(|()| detail).map_err(str::to_owned))
}

fn walls_of(
    entered: &NamespacesEntered,
    root: impl FnOnce(Result<(), &str>) -> Result<&'static str, String>,
) -> Vec<WallStatus> {
    let (user, others) = match entered {
        NamespacesEntered::All => (Ok(()), Ok(())),
        NamespacesEntered::AllButUser(why) => (Err(why.as_str()), Ok(())),
        NamespacesEntered::None(why) => (Err(why.as_str()), Err(why.as_str())),
    };
    let status = |wall, entered: Result<(), &str>, detail: &str| match entered {
        Ok(()) => stands(wall, detail),
        Err(why) => WallStatus { wall, state: WallState::Unavailable, detail: why.to_owned() },
    };
    let root = match root(others) {
        Ok(detail) => stands(Wall::MountNamespace, detail),
        Err(why) => WallStatus { wall: Wall::MountNamespace, state: WallState::Unavailable, detail: why },
    };
    vec![
        status(Wall::UserNamespace, user, "own, without capabilities"),
        status(Wall::NetworkNamespace, others, "own, no interface up"),
        root,
        status(Wall::PidNamespace, others, "own process tree"),
    ]
}

fn pivot_to_empty() -> io::Result<()> {
    use rustix::mount::{mount, mount_change, mount_remount, unmount};
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    // Any folder serves: it is covered in our own view only.
    let over =
        ["/tmp", "/run", "/dev", "/"].into_iter().find(|path| fs::metadata(path).is_ok()).unwrap_or("/tmp");
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("none", over, "tmpfs", flags, Some(c"size=4k,nr_inodes=2,mode=0555"))?;
    rustix::process::chdir(over)?;
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    mount_remount("/", flags | MountFlags::RDONLY | MountFlags::BIND, "")?;
    rustix::process::chdir("/")?;
    Ok(())
}

/// Gives up every capability, in whichever user namespace we are.
pub fn drop_capabilities() -> Result<(), JailError> {
    keep_capabilities(CapabilitySet::empty())
}

/// Gives up every capability but the one to mount, which children of the native engine need until they have their
/// program.
pub fn keep_mounting() -> Result<(), JailError> {
    keep_capabilities(CapabilitySet::SYS_ADMIN)
}

fn keep_capabilities(kept: CapabilitySet) -> Result<(), JailError> {
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).map_err(|error| JailError::new("capabilities", error))
}
