//! CPU time: a timer that kills, and the kernel's own limit behind it.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::jail::JailError;

/// All the CPU that a process may use in its life if it stays for further programs: the kernel's
/// hard limit cannot be raised again, so it cannot be that of one program.
const LIFE_CPU_SECONDS: u64 = 4 * 60 * 60;

/// From now on the process may use `cpu_ms` of CPU; then SIGPROF ends it. For one that stays the
/// limit can be set anew.
pub fn limit_cpu(cpu_ms: u64, stays: bool) -> Result<(), JailError> {
    let failed = |error: io::Error| JailError::new("CPU limit", error);
    let seconds = i64::try_from(cpu_ms / 1000).unwrap_or(i64::MAX / 1000);
    let microseconds = (cpu_ms % 1000) as i64 * 1000;
    let timer = libc::itimerval {
        it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
        it_value: libc::timeval { tv_sec: seconds as _, tv_usec: microseconds.max(1) as _ },
    };
    // SAFETY: the timer is valid for the length of the call, and the old one is not asked for.
    if unsafe { libc::setitimer(libc::ITIMER_PROF, &timer, std::ptr::null_mut()) } < 0 {
        return Err(failed(io::Error::last_os_error()));
    }
    // Whole seconds, counted from the process's start: the belt.
    let used = cpu_us() / 1_000_000;
    let soft = used.saturating_add(cpu_ms / 1000).saturating_add(2);
    let hard = if stays { soft.max(used.saturating_add(LIFE_CPU_SECONDS)) } else { soft };
    let hard = getrlimit(Resource::Cpu).maximum.map_or(hard, |present| present.min(hard));
    setrlimit(Resource::Cpu, Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) })
        .map_err(|error| failed(error.into()))
}

/// CPU time that this process has used, user and system together.
pub fn cpu_us() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    (time.tv_sec as u64) * 1_000_000 + (time.tv_nsec as u64) / 1000
}
