//! The upstream supervisor: stands between the gateway and one stdio server, so that nothing of that
//! server outlives the gateway.
//!
//! `gristmill upstream-supervisor COMMAND ARGUMENT…` starts the command in our process group, with our
//! standard input, output and error. It ends everything when the command is done or the gateway is
//! gone, even by kill -9: the reading end of our standard error is the gateway's, and a pipe knows
//! when nobody reads it. What the command leaves behind comes to us as an orphan, and is ended too,
//! whatever group it is in. Should we be killed ourselves, the kernel kills the command, and the
//! gateway the rest of the group, which has our number.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitOptions, getrlimit, setrlimit};

/// Between asking the group to end and ending it.
const GRACE: Duration = Duration::from_millis(1500);

/// What a shell answers for a command that is not there.
const NOT_FOUND: u8 = 127;

/// Runs until the command or the gateway is gone.
pub fn run(command: &OsStr, arguments: &[OsString]) -> ExitCode {
    // A Ctrl-C for the gateway is the gateway's to handle.
    let _ = rustix::process::setpgid(None, None);
    outlive_polite_signals();
    adopt_orphans();
    let mut child = match start(command, arguments) {
        Ok(child) => child,
        Err(error) => {
            eprintln!("gristmill: can't start `{}`: {error}", command.to_string_lossy());
            return ExitCode::from(NOT_FOUND);
        }
    };
    let_go_of_input_and_output();
    let ended = wait_for_an_end(&mut child);
    if ended.is_none() {
        let _ = rustix::process::kill_current_process_group(Signal::TERM);
        wait_at_most(&mut child, GRACE);
        let _ = child.kill();
    }
    let status = ended.or_else(|| child.wait().ok());
    end_orphans();
    let code = status.map_or(1, |status| status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// What a type checker may have: it is shown programs of anybody. Those who run it for nothing come after everybody
/// else.
const TYPE_CHECKER_LIMITS: [(Resource, u64); 4] =
    [(Resource::Data, 1 << 30), (Resource::Core, 0), (Resource::Fsize, 0), (Resource::Nofile, 256)];

/// Lowers the limits of this process, and of what it starts.
pub fn limit_type_checker() {
    for (resource, value) in TYPE_CHECKER_LIMITS {
        let hard = getrlimit(resource).maximum.map_or(value, |hard| hard.min(value));
        let _ = setrlimit(resource, Rlimit { current: Some(hard), maximum: Some(hard) });
    }
    let _ = rustix::process::nice(5);
}

fn start(command: &OsStr, arguments: &[OsString]) -> io::Result<Child> {
    let mut starting = Command::new(command);
    starting.args(arguments);
    die_with_us(&mut starting);
    starting.spawn()
}

/// We are in the group that we ask to end, and have work to do afterwards. The command does not
/// inherit this: a handler, unlike being ignored, ends with exec.
pub fn outlive_polite_signals() {
    extern "C" fn nothing(_signal: libc::c_int) {}
    let handler = nothing as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        // SAFETY: the handler does nothing, which is safe at any moment.
        unsafe { libc::signal(signal, handler) };
    }
}

#[cfg(target_os = "linux")]
fn die_with_us(starting: &mut Command) {
    let supervisor = rustix::process::getpid();
    // SAFETY: the closure makes two system calls and no allocation, which is allowed between fork
    // and exec.
    unsafe {
        starting.pre_exec(move || {
            rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
            // We may have been killed before the call above.
            match rustix::process::getppid() {
                Some(parent) if parent == supervisor => Ok(()),
                Some(_) | None => Err(io::ErrorKind::BrokenPipe.into()),
            }
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_us(_starting: &mut Command) {}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Both belong to the command: its end must be seen by whoever is at their other end.
pub fn let_go_of_input_and_output() {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
}

/// The command's exit, or `None` when the gateway is gone.
fn wait_for_an_end(child: &mut Child) -> Option<std::process::ExitStatus> {
    loop {
        reap_orphans(child);
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if gateway_is_gone(child) {
            return None;
        }
    }
}

/// Waits until either may have ended, at most a second: orphans must be reaped.
fn gateway_is_gone(child: &Child) -> bool {
    let error = io::stderr();
    let Some(ended) = exit_of(child) else {
        let tenth = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
        let mut fds = [PollFd::from_borrowed_fd(error.as_fd(), PollFlags::empty())];
        return poll(&mut fds, Some(&tenth)).is_ok() && is_closed(&fds[0]);
    };
    let second = Timespec { tv_sec: 1, tv_nsec: 0 };
    let mut fds = [
        PollFd::from_borrowed_fd(error.as_fd(), PollFlags::empty()),
        PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::IN),
    ];
    poll(&mut fds, Some(&second)).is_ok() && is_closed(&fds[0])
}

fn is_closed(fd: &PollFd<'_>) -> bool {
    fd.revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL)
}

/// A descriptor that becomes readable when the command ends, where there is such a thing.
#[cfg(target_os = "linux")]
fn exit_of(child: &Child) -> Option<rustix::fd::OwnedFd> {
    rustix::process::pidfd_open(Pid::from_child(child), rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_of(_child: &Child) -> Option<rustix::fd::OwnedFd> {
    None
}

fn wait_at_most(child: &mut Child, time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        if matches!(child.try_wait(), Ok(Some(_)) | Err(_)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Reaps what was left to us, but not the command, whose exit is asked for elsewhere.
fn reap_orphans(child: &Child) {
    for orphan in children() {
        if orphan != Pid::from_child(child) {
            let _ = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
        }
    }
}

/// Ends everything that the command left behind: all of our group, and with it ourselves.
#[cfg(not(target_os = "linux"))]
fn end_orphans() {
    let _ = rustix::process::kill_current_process_group(Signal::KILL);
}

/// Ends everything that the command left behind, and what that leaves behind in turn.
#[cfg(target_os = "linux")]
fn end_orphans() {
    let until = Instant::now() + GRACE;
    loop {
        let left = children();
        if left.is_empty() || Instant::now() > until {
            return;
        }
        for orphan in left {
            let _ = rustix::process::kill_process(orphan, Signal::KILL);
            let _ = rustix::process::waitpid(Some(orphan), WaitOptions::NOHANG);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Our children, orphans among them.
#[cfg(target_os = "linux")]
fn children() -> Vec<Pid> {
    let us = rustix::process::getpid().as_raw_nonzero();
    let listed = std::fs::read_to_string(format!("/proc/self/task/{us}/children")).unwrap_or_default();
    listed.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

#[cfg(not(target_os = "linux"))]
fn children() -> Vec<Pid> {
    Vec::new()
}
