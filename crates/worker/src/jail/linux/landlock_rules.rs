//! Landlock: no file outside the program's folders, no TCP, no signal to anyone outside.

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
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
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|rules| rules.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|rules| rules.scope(Scope::from_all(NEWEST)))
        .and_then(Ruleset::create)
        .map_err(failed)?
        // Set once, in the zygote; the list of system calls has no room for setting it again.
        .no_new_privs(false);
    for mount in mounts {
        rules = rules.add_rule(PathBeneath::new(&mount.fd, access_for(mount.access))).map_err(failed)?;
    }
    let status = rules.restrict_self().map_err(failed)?;
    match status.ruleset {
        RulesetStatus::NotEnforced => Err(JailError::new("landlock", "the kernel did not enforce the rules")),
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}

/// What may be done in a folder: files and folders, nothing executable, no device, socket, pipe
/// or link.
fn access_for(access: MountAccess) -> BitFlags<AccessFs> {
    let look = AccessFs::ReadFile | AccessFs::ReadDir;
    match access {
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
    }
}
