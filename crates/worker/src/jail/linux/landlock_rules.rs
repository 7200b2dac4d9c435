//! Landlock: no file outside the program's folders, no TCP, no signal to anyone outside.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus, Scope,
};

use gristmill_protocol::MountAccess;

use crate::engine::MountedFolder;
use crate::jail::JailError;

/// The newest generation of rules that is asked for; an older kernel gives what it has.
const NEWEST: ABI = ABI::V6;

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
    let failed = |error: landlock::RulesetError| JailError::new("landlock", error);
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(failed)?
        // Set once, in the zygote; the list of system calls has no room for setting it again.
        .no_new_privs(false);
    let copied = rules.try_clone().map_err(|error| JailError::new("landlock", error))?;
    if let Some(ruleset) = Option::<OwnedFd>::from(copied) {
        for mount in mounts {
            add_rule(&ruleset, &mount.fd, access_for(mount.access, abi))
                .map_err(|error| JailError::new("landlock", error))?;
        }
    }
    let status = rules.restrict_self().map_err(failed)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(JailError::new("landlock", "the kernel did not enforce the rules")),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// The kernel's own structure.
#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// Adds a folder to the rules. Not by the library: it asks libc what kind of file a folder is, and libc asks in
/// a way that could name any other, for which the list of system calls has no room.
fn add_rule(ruleset: &OwnedFd, folder: &OwnedFd, access: BitFlags<AccessFs>) -> io::Result<()> {
    const PATH_BENEATH: libc::c_uint = 1;
    let rule = PathBeneath { allowed_access: access.bits(), parent_fd: folder.as_raw_fd() };
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
