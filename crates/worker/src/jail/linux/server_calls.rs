//! Seccomp for a confined server: a list of system calls that it may not make.
//!
//! A server is any program, in any language: a list of what it may do would break most of them. What is
//! denied reaches into other processes, changes its own walls, or is a part of the kernel that no
//! server needs. It is refused with an error, as a machine without it would.

use gristmill_protocol::SandboxedNetwork;

use super::call_filter::When::{self, Always, Exactly, NoneOf};
use super::call_filter::{Listed, deny};
use crate::jail::JailError;

/// Puts a character into a terminal, as if it had been typed.
const TIOCSTI: u64 = 0x5412;

const fn bit(flag: libc::c_int) -> When {
    Exactly(0, flag as u64, flag as u64)
}

#[rustfmt::skip]
const DENIED: &[Listed] = &[
    // Other processes.
    (libc::SYS_ptrace, Always, "reads and changes another process"),
    (libc::SYS_process_vm_readv, Always, "the same"),
    (libc::SYS_process_vm_writev, Always, "the same"),
    (libc::SYS_process_madvise, Always, "the same"),
    (libc::SYS_pidfd_getfd, Always, "takes another process's descriptors"),
    (libc::SYS_kcmp, Always, "compares two processes"),
    (libc::SYS_perf_event_open, Always, "watches others"),
    // Keys, which are the user's and not the process's.
    (libc::SYS_keyctl, Always, "the user's keyring"),
    (libc::SYS_add_key, Always, "the same"),
    (libc::SYS_request_key, Always, "the same"),
    // Its own walls.
    (libc::SYS_mount, Always, "another view of the file system"),
    (libc::SYS_umount2, Always, "the same"),
    (libc::SYS_mount_setattr, Always, "the same"),
    (libc::SYS_move_mount, Always, "the same"),
    (libc::SYS_open_tree, Always, "the same"),
    (libc::SYS_fsopen, Always, "the same"),
    (libc::SYS_fsconfig, Always, "the same"),
    (libc::SYS_fsmount, Always, "the same"),
    (libc::SYS_fspick, Always, "the same"),
    (libc::SYS_pivot_root, Always, "the same"),
    (libc::SYS_chroot, Always, "the same"),
    (libc::SYS_open_by_handle_at, Always, "files by number, past every folder"),
    (libc::SYS_unshare, Always, "new namespaces come with new rights"),
    (libc::SYS_setns, Always, "the same"),
    (libc::SYS_clone, bit(libc::CLONE_NEWUSER), "the same"),
    (libc::SYS_clone, bit(libc::CLONE_NEWNS), "the same"),
    (libc::SYS_clone, bit(libc::CLONE_NEWPID), "the same"),
    (libc::SYS_clone, bit(libc::CLONE_NEWNET), "the same"),
    (libc::SYS_clone, bit(libc::CLONE_NEWIPC), "the same"),
    (libc::SYS_clone, bit(libc::CLONE_NEWUTS), "the same"),
    (libc::SYS_clone, bit(libc::CLONE_NEWCGROUP), "the same"),
    // The kernel and the machine.
    (libc::SYS_bpf, Always, "programs in the kernel"),
    (libc::SYS_userfaultfd, Always, "holds the kernel up in the middle of a copy"),
    (libc::SYS_init_module, Always, "code in the kernel"),
    (libc::SYS_finit_module, Always, "the same"),
    (libc::SYS_delete_module, Always, "the same"),
    (libc::SYS_kexec_load, Always, "another kernel"),
    (libc::SYS_reboot, Always, "the machine"),
    (libc::SYS_swapon, Always, "the machine"),
    (libc::SYS_swapoff, Always, "the machine"),
    (libc::SYS_acct, Always, "the machine"),
    (libc::SYS_quotactl, Always, "the machine"),
    (libc::SYS_syslog, Always, "the kernel's own log"),
    (libc::SYS_settimeofday, Always, "the machine's clock"),
    (libc::SYS_clock_settime, Always, "the same"),
    (libc::SYS_clock_adjtime, Always, "the same"),
    (libc::SYS_adjtimex, Always, "the same"),
    (libc::SYS_ioctl, Exactly(1, 0xffff_ffff, TIOCSTI), "types into the user's terminal"),
];

/// Calls that libraries do without if the kernel has none.
#[rustfmt::skip]
const ABSENT: &[Listed] = &[
    (libc::SYS_clone3, Always, "its flags are out of a filter's sight; libraries then use clone"),
    (libc::SYS_io_uring_setup, Always, "makes calls that no filter sees"),
    (libc::SYS_io_uring_enter, Always, "the same"),
    (libc::SYS_io_uring_register, Always, "the same"),
];

const UNIX: u64 = libc::AF_UNIX as u64;

/// Sockets of any other family, such as those of virtual machines, go past every network wall.
const ANY_NETWORK: &[Listed] = &[(
    libc::SYS_socket,
    NoneOf(0, &[UNIX, libc::AF_INET as u64, libc::AF_INET6 as u64, libc::AF_NETLINK as u64]),
    "not the internet's",
)];

const NO_NETWORK: &[Listed] = &[(libc::SYS_socket, NoneOf(0, &[UNIX]), "any network")];

/// From here on, and in whatever it starts. Cannot be undone.
pub fn filter(network: SandboxedNetwork) -> Result<(), JailError> {
    let sockets = match network {
        SandboxedNetwork::Closed => NO_NETWORK,
        SandboxedNetwork::Open | SandboxedNetwork::Proxy => ANY_NETWORK,
    };
    deny(ABSENT, libc::ENOSYS)?;
    deny(sockets, libc::EACCES)?;
    deny(DENIED, libc::EPERM)
}
