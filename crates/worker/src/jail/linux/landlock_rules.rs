//! Landlock: no file outside the program's folders, no TCP, no signal to anyone outside.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, NetPort, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};

use gristmill_protocol::{MountAccess, SANDBOX_PROXY_PORT, SandboxedAccess, SandboxedNetwork, SandboxedPath};

use crate::engine::MountedFolder;
use crate::jail::JailError;

/// The newest generation of rules that is asked for; an older kernel gives what it has.
const NEWEST: ABI = ABI::V6;

/// The same for servers, which have sockets by name to be kept from.
const NEWEST_FOR_SERVERS: ABI = ABI::V9;

/// The kernel's landlock version; 0 is none.
pub fn abi() -> i32 {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the kernel takes no attributes and only answers with a number.
    let abi =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0usize, VERSION) };
    i32::try_from(abi).unwrap_or(0).max(0)
}

/// Binds this process to `mounts`. Where the kernel has no landlock, nothing happens: whether
/// that is acceptable was decided by the level, in the zygote.
pub fn restrict(abi: i32, mounts: &[MountedFolder]) -> Result<(), JailError> {
    if abi == 0 {
        return Ok(());
    }
    let rules = nothing_allowed(AccessFs::from_all(NEWEST), AccessNet::from_all(NEWEST)).map_err(failed)?;
    let copied = rules.try_clone().map_err(|error| JailError::new("landlock", error))?;
    if let Some(ruleset) = Option::<OwnedFd>::from(copied) {
        for mount in mounts {
            add_rule(&ruleset, &mount.fd, access_for(mount.access, abi))
                .map_err(|error| JailError::new("landlock", error))?;
        }
    }
    enforce(rules)
}

/// The same for the native engine, which also reads these paths of its view.
pub fn restrict_native(abi: i32, mounts: &[MountedFolder], readable: &[PathBuf]) -> Result<(), JailError> {
    if abi == 0 {
        return Ok(());
    }
    let failed_io = |error: io::Error| JailError::new("landlock", error);
    let rules = nothing_allowed(AccessFs::from_all(NEWEST), AccessNet::from_all(NEWEST)).map_err(failed)?;
    let copied = rules.try_clone().map_err(failed_io)?;
    if let Some(ruleset) = Option::<OwnedFd>::from(copied) {
        for mount in mounts {
            add_rule(&ruleset, &mount.fd, access_for(mount.access, abi)).map_err(failed_io)?;
        }
        for path in readable {
            let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
            let Ok(place) = rustix::fs::open(path, flags, rustix::fs::Mode::empty()) else { continue };
            let is_folder = rustix::fs::fstat(&place)
                .is_ok_and(|about| rustix::fs::FileType::from_raw_mode(about.st_mode).is_dir());
            let access = match (is_folder, path.starts_with("/dev")) {
                (true, _) => access_for(MountAccess::ReadOnly, abi),
                (false, true) => AccessFs::ReadFile | AccessFs::WriteFile,
                (false, false) => AccessFs::ReadFile.into(),
            };
            add_rule(&ruleset, &place, access).map_err(failed_io)?;
        }
    }
    enforce(rules)
}

/// Binds a server to its paths and its network. What is not there is passed over.
pub fn restrict_server(paths: &[SandboxedPath], network: SandboxedNetwork) -> Result<(), JailError> {
    let handled = match network {
        SandboxedNetwork::Open => BitFlags::EMPTY,
        SandboxedNetwork::Closed => AccessNet::from_all(NEWEST),
        SandboxedNetwork::Proxy => AccessNet::ConnectTcp.into(),
    };
    let mut rules = nothing_allowed(AccessFs::from_all(NEWEST_FOR_SERVERS), handled).map_err(failed)?;
    for SandboxedPath { path, access } in paths {
        let Ok(place) = PathFd::new(path) else { continue };
        let access = access_of_server(*access, path);
        rules = rules.add_rule(PathBeneath::new(place, access)).map_err(failed)?;
    }
    if network == SandboxedNetwork::Proxy {
        rules = rules.add_rule(NetPort::new(SANDBOX_PROXY_PORT, AccessNet::ConnectTcp)).map_err(failed)?;
    }
    enforce(rules)
}

fn failed(error: RulesetError) -> JailError {
    JailError::new("landlock", error)
}

fn nothing_allowed(
    files: BitFlags<AccessFs>,
    network: BitFlags<AccessNet>,
) -> Result<RulesetCreated, RulesetError> {
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(files)?
        .scope(Scope::from_all(NEWEST))?;
    if !network.is_empty() {
        rules = rules.handle_access(network)?;
    }
    // Set before; the list of system calls of a child has no room for setting it again.
    Ok(rules.create()?.no_new_privs(false))
}

fn enforce(rules: RulesetCreated) -> Result<(), JailError> {
    let status = rules.restrict_self().map_err(failed)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(JailError::new("landlock", "the kernel did not enforce the rules")),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// The kernel's own structure.
#[repr(C, packed)]
struct RuleBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// Adds a folder to the rules. Not by the library: it asks libc what kind of file a folder is, and libc asks in
/// a way that could name any other, for which the list of system calls has no room.
fn add_rule(ruleset: &OwnedFd, folder: &OwnedFd, access: BitFlags<AccessFs>) -> io::Result<()> {
    const PATH_BENEATH: libc::c_uint = 1;
    let rule = RuleBeneath { allowed_access: access.bits(), parent_fd: folder.as_raw_fd() };
    // SAFETY: the structure that goes with this kind of rule, which the kernel only reads.
    let outcome = unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            PATH_BENEATH,
            std::ptr::from_ref(&rule),
            0,
        )
    };
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// What may be done in a folder: files and folders, nothing executable, no device, socket, pipe
/// or link. As far as this version of the kernel knows it; what it does not know, it does not restrict.
fn access_for(access: MountAccess, abi: i32) -> BitFlags<AccessFs> {
    let mut known = BitFlags::<AccessFs>::all();
    if abi < 2 {
        known.remove(AccessFs::Refer);
    }
    if abi < 3 {
        known.remove(AccessFs::Truncate);
    }
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    let wanted = match access {
        MountAccess::ByName => AccessFs::ReadFile.into(),
        MountAccess::ReadOnly => look,
        MountAccess::ReadWrite => {
            look | AccessFs::WriteFile
                | AccessFs::Truncate
                | AccessFs::MakeReg
                | AccessFs::MakeDir
                | AccessFs::RemoveFile
                | AccessFs::RemoveDir
                | AccessFs::Refer
        }
    };
    wanted & known
}

/// What a server may do at a path: programs are run from what can be read, and nowhere are devices made.
fn access_of_server(access: SandboxedAccess, path: &Path) -> BitFlags<AccessFs> {
    let access = match access {
        SandboxedAccess::Read => AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute,
        SandboxedAccess::Write => {
            AccessFs::from_all(NEWEST_FOR_SERVERS) & !(AccessFs::MakeChar | AccessFs::MakeBlock)
        }
    };
    match path.is_dir() {
        true => access,
        false => access & AccessFs::from_file(NEWEST_FOR_SERVERS),
    }
}
