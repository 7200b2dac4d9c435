//! Processes, seen from outside.

use std::fs;
use std::time::{Duration, Instant};

use crate::World;

/// Asks again and again until the answer is there; fails after a time that no machine needs.
pub fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "not within 30 s: {what}");
        std::thread::yield_now();
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// Numbers of the processes whose parent is `parent`, dead ones left out.
pub fn children_of(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((_, after)) = stat.rsplit_once(") ") else { continue };
        let mut words = after.split(' ');
        let (state, ppid) = (words.next(), words.next().and_then(|ppid| ppid.parse::<u32>().ok()));
        if ppid == Some(parent) && state != Some("Z") {
            found.push(pid);
        }
    }
    found.sort_unstable();
    found
}

/// Numbers of the processes that were started with an argument that holds `text`, dead ones left out.
pub fn with_argument(text: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let arguments = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&arguments).contains(text) && is_alive(pid) {
            found.push(pid);
        }
    }
    found.sort_unstable();
    found
}

/// The children of a world's zygote.
pub fn workers_of(world: &World) -> Vec<u32> {
    let supervisor = eventually("a supervisor", || world.gateway().pool().supervisor_pid());
    children_of(supervisor).into_iter().flat_map(children_of).collect()
}

/// Whether a process of this number runs.
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, after)| !after.starts_with('Z'))
}

/// kill -9, of a process that a test started.
pub fn kill_9(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process number");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it can be killed");
}

/// As the kernel ends a process that made a system call it may not make.
pub fn end_as_forbidden(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid as i32).expect("a process number");
    rustix::process::kill_process(pid, rustix::process::Signal::SYS).expect("it can be ended");
}
