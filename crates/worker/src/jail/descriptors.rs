//! Letting go of every descriptor that a child inherited, but one. `unsafe` lives here.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Where the one that is kept goes: right behind the standard three.
const KEPT: i32 = 3;

/// Keeps `socket`; closes everything else. Standard input, output and error lead nowhere from here
/// on: they are one end of a socket pair whose other end is closed, since there may be no /dev/null
/// where we are.
///
/// Only for a process that ends by `_exit`: objects that own the closed descriptors must never be
/// dropped.
pub fn keep_only(socket: OwnedFd) -> io::Result<OwnedFd> {
    let nowhere = OwnedFd::from(UnixStream::pair()?.0);
    for standard in 0..=2 {
        // SAFETY: dup2 onto the three standard descriptors, which no Rust object owns.
        check(unsafe { libc::dup2(nowhere.as_raw_fd(), standard) })?;
    }
    drop(nowhere);
    // SAFETY: whatever had this number is closed behind the back of its owner, which is sound
    // because this process never drops it.
    check(unsafe { libc::dup2(socket.as_raw_fd(), KEPT) })?;
    // Its old number is either the one that is kept, or closed with all the others.
    std::mem::forget(socket);
    close_from(KEPT + 1)?;
    // SAFETY: the duplicate made above, owned by nothing else in this process.
    Ok(unsafe { OwnedFd::from_raw_fd(KEPT) })
}

#[cfg(target_os = "linux")]
fn close_from(first: i32) -> io::Result<()> {
    // SAFETY: closes a range of numbers; as above, their owners are never dropped.
    let outcome = unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) };
    check(outcome as i32)
}

#[cfg(not(target_os = "linux"))]
fn close_from(first: i32) -> io::Result<()> {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    for number in first..limit.map_or(4096, |limit| limit.min(4096) as i32) {
        // SAFETY: as above; a number that is not open gives an error, which is as good.
        unsafe { libc::close(number) };
    }
    Ok(())
}

fn check(outcome: i32) -> io::Result<()> {
    if outcome < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
