//! Forking, and what each side must do about the other's end. `unsafe` lives here.

use std::io;

use rustix::process::Pid;

/// Which side of a fork this is.
pub enum Forked {
    Child,
    /// The old one, with the new one's number as it sees it.
    Parent(Pid),
}

/// Forks this process, which must have exactly one thread.
pub fn fork() -> io::Result<Forked> {
    // SAFETY: the supervisor and the zygote never start a thread, so the child finds every lock in a
    // sound state and may go on as an ordinary process.
    let pid = unsafe { libc::fork() };
    after_fork(i64::from(pid))
}

/// Forks into new namespaces, if the system permits. One thread only, as for [`fork`].
#[cfg(target_os = "linux")]
pub fn fork_into(namespaces: libc::c_int) -> io::Result<Forked> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and without a new stack this is fork with other flags; the
    // arguments that are left zero are not used then. One thread, as above.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    after_fork(pid)
}

fn after_fork(pid: i64) -> io::Result<Forked> {
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            pid.map(Forked::Parent).ok_or_else(|| io::Error::other("fork gave no process number"))
        }
    }
}

/// Ends this process at once: no destructor, no exit handler, no flush.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: `_exit` takes any code and does not return.
    unsafe { libc::_exit(code) }
}
