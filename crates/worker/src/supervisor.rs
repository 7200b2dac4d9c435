//! The supervisor: forks the zygote, and outlives the gateway just long enough to clean up.
//!
//! It does two things only. When the gateway is gone, even by kill -9, it ends the zygote (and
//! with it every child) and removes the gateway's scratch folder. When the zygote is gone, it
//! ends too, which the gateway notices.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, WaitOptions, WaitStatus};

use crate::fork::{Forked, exit_now};
use crate::{jail, zygote};

/// Runs the supervisor until the gateway or the zygote ends. The control socket is standard input.
pub fn run(cache: PathBuf, scratch: PathBuf) -> ExitCode {
    // A group of our own: a Ctrl-C for the gateway is the gateway's to handle.
    let _ = rustix::process::setpgid(None, None);
    wait_for_a_word(io::stdin().as_fd());
    let (forked, namespaces) = match jail::fork_into_namespaces() {
        Ok(forked) => forked,
        Err(error) => {
            eprintln!("can't fork the zygote: {error}");
            return ExitCode::FAILURE;
        }
    };
    match forked {
        Forked::Child => exit_now(zygote::run(&cache, namespaces)),
        Forked::Parent(pid) => supervise(pid, &scratch),
    }
}

/// The gateway says its first word when this process is where it belongs, such as in a cgroup: what is forked
/// afterwards is there, too. The zygote reads it; a line that is closed ends the wait as well.
fn wait_for_a_word(control: BorrowedFd<'_>) {
    let mut fds = [PollFd::from_borrowed_fd(control, PollFlags::IN)];
    while poll(&mut fds, None) == Err(rustix::io::Errno::INTR) {}
}

fn supervise(zygote: Pid, scratch: &Path) -> ExitCode {
    let control = io::stdin();
    let ended = wait_for_an_end(control.as_fd(), zygote);
    let code = match ended {
        Ended::Zygote(status) => match status.exit_status() {
            Some(0) => ExitCode::SUCCESS,
            Some(_) | None => ExitCode::FAILURE,
        },
        Ended::Gateway => {
            let _ = rustix::process::kill_process(zygote, rustix::process::Signal::KILL);
            let _ = rustix::process::waitpid(Some(zygote), WaitOptions::empty());
            ExitCode::SUCCESS
        }
    };
    if gateway_is_gone(control.as_fd()) {
        let _ = gristmill_files::remove_tree(scratch);
    }
    end_the_rest();
    code
}

/// The zygote's death has ended its children.
#[cfg(target_os = "linux")]
fn end_the_rest() {}

/// Without a parent-death signal: all of our group, and with it ourselves.
#[cfg(not(target_os = "linux"))]
fn end_the_rest() {
    let _ = rustix::process::kill_current_process_group(rustix::process::Signal::KILL);
}

enum Ended {
    Zygote(WaitStatus),
    Gateway,
}

fn wait_for_an_end(control: BorrowedFd<'_>, zygote: Pid) -> Ended {
    loop {
        if let Ok(Some((_, status))) = rustix::process::waitpid(Some(zygote), WaitOptions::NOHANG) {
            return Ended::Zygote(status);
        }
        if gateway_is_gone(control) {
            return Ended::Gateway;
        }
        wait(control, zygote);
    }
}

/// Waits until either may have ended.
#[cfg(target_os = "linux")]
fn wait(control: BorrowedFd<'_>, zygote: Pid) {
    let Ok(pidfd) = rustix::process::pidfd_open(zygote, rustix::process::PidfdFlags::empty()) else {
        return;
    };
    let mut fds = [
        PollFd::from_borrowed_fd(control, PollFlags::empty()),
        PollFd::from_borrowed_fd(pidfd.as_fd(), PollFlags::IN),
    ];
    let _ = poll(&mut fds, None);
}

/// Without pidfds: looks ten times a second.
#[cfg(not(target_os = "linux"))]
fn wait(control: BorrowedFd<'_>, _zygote: Pid) {
    let tenth = rustix::event::Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
    let _ = poll(&mut [PollFd::from_borrowed_fd(control, PollFlags::empty())], Some(&tenth));
}

/// The socket is never read here, only asked whether its other end is open.
fn gateway_is_gone(control: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(control, PollFlags::empty())];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut fds, Some(&now)) {
        Ok(_) => fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL),
        Err(_) => false,
    }
}
