//! Children that have ended: which, how, and what the kernel counted for each.

use gristmill_protocol::{ChildExit, ProcessUse};

/// What the kernel counts resident memory in.
#[cfg(target_os = "macos")]
const RESIDENT_UNIT_BYTES: u64 = 1;
#[cfg(not(target_os = "macos"))]
const RESIDENT_UNIT_BYTES: u64 = 1024;

/// One child that was reaped.
#[derive(Debug)]
pub struct Reaped {
    pub pid: i32,
    pub exit: ChildExit,
    pub used: ProcessUse,
}

/// The next child that has ended; `None` if no other has. Never waits.
pub fn next() -> Option<Reaped> {
    loop {
        let mut status = 0;
        // SAFETY: zeroes are a valid `rusage`, and the call only fills it and the status.
        let (pid, usage) = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::wait4(-1, &mut status, libc::WNOHANG, &mut usage), usage)
        };
        if pid <= 0 {
            return None;
        }
        let exit = match (libc::WIFEXITED(status), libc::WIFSIGNALED(status)) {
            (true, _) => ChildExit::Code(libc::WEXITSTATUS(status)),
            (false, true) => ChildExit::Signal(libc::WTERMSIG(status)),
            // It was stopped or goes on: it has not ended.
            (false, false) => continue,
        };
        return Some(Reaped { pid, exit, used: use_of(&usage) });
    }
}

fn use_of(usage: &libc::rusage) -> ProcessUse {
    let us = |time: libc::timeval| {
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        seconds.saturating_mul(1_000_000).saturating_add(u64::try_from(time.tv_usec).unwrap_or(0))
    };
    ProcessUse {
        cpu_us: us(usage.ru_utime).saturating_add(us(usage.ru_stime)),
        resident_peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(RESIDENT_UNIT_BYTES),
    }
}
