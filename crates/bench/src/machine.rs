//! What is measured outside of us: python3, and the memory of processes.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::figures::Percentiles;

/// CPU and cores, so that figures can be told apart.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let model = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = model.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    format!(
        "{} {}, {cores} cores{}, load {load}",
        std::env::consts::OS,
        std::env::consts::ARCH,
        model.split_once(':').map(|(_, name)| format!(",{name}")).unwrap_or_default()
    )
}

/// The time of `python3 -c '1 + 1'` from nothing.
pub fn cold_python(rounds: usize) -> Option<Percentiles> {
    cold_times(rounds).map(Percentiles::of)
}

/// Each of these times.
pub fn cold_times(rounds: usize) -> Option<Vec<Duration>> {
    let interpreter = interpreter();
    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        let status = Command::new(&interpreter)
            .args(["-c", "1 + 1"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .ok()?;
        times.push(started.elapsed());
        if !status.success() {
            return None;
        }
    }
    Some(times)
}

/// What `result` is after `code` has run in python3.
pub fn native_result(code: &str) -> Option<f64> {
    native_output(&format!("{code}\nprint(result)"))?.trim().parse().ok()
}

/// What `code` prints in python3. `None` if it fails, or if there is no python3.
pub fn native_output(code: &str) -> Option<String> {
    let output = Command::new(interpreter()).args(["-c", code]).stdin(Stdio::null()).output().ok()?;
    String::from_utf8(output.stdout).ok().filter(|_| output.status.success())
}

/// The interpreter itself: the name may lead to a wrapper script, whose time is not Python's.
fn interpreter() -> String {
    let asked = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output();
    let path = asked.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    match path.trim() {
        "" => "python3".to_owned(),
        path => path.to_owned(),
    }
}

/// Median private memory of the children of a process's children. `None` where we may not look.
pub fn private_kb_of_grandchildren(pid: u32) -> Option<u64> {
    let parents = children_of(pid);
    let mut sizes: Vec<u64> = parents.into_iter().flat_map(children_of).filter_map(private_kb).collect();
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied()
}

fn children_of(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else { continue };
        // After the name in brackets: state, then the parent.
        let after = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
        if after.split(' ').nth(1).and_then(|ppid| ppid.parse().ok()) == Some(parent) {
            found.push(pid);
        }
    }
    found
}

fn private_kb(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let field = |name: &str| kb_in(&text, name).unwrap_or(0);
    Some(field("Private_Clean:") + field("Private_Dirty:"))
}

/// What a process and all its descendants have.
pub struct Memory {
    processes: usize,
    /// Private if we may look at every one of them, resident otherwise, which counts shared pages often.
    all_kb: u64,
    first_kb: u64,
    is_private: bool,
}

impl Memory {
    /// Of a process and everything below it.
    pub fn of_tree(root: u32) -> Self {
        let tree = tree_of(root);
        let private: Option<Vec<u64>> = tree.iter().map(|pid| private_kb(*pid)).collect();
        let is_private = private.is_some();
        let sizes = private.unwrap_or_else(|| tree.iter().map(|pid| resident_kb(*pid)).collect());
        Self {
            processes: tree.len(),
            all_kb: sizes.iter().sum(),
            first_kb: sizes.first().copied().unwrap_or(0),
            is_private,
        }
    }

    /// All of them together.
    pub fn mb(&self) -> f64 {
        self.all_kb as f64 / 1024.0
    }

    /// The first process alone.
    pub fn first_mb(&self) -> f64 {
        self.first_kb as f64 / 1024.0
    }

    pub fn what(&self) -> String {
        format!("{} ({} processes)", if self.is_private { "private" } else { "resident" }, self.processes)
    }
}

/// What a process and all its descendants take of the machine, in MB: pages that several share count in part for
/// each. `None` where we may not look.
pub fn proportional_mb(root: u32) -> Option<f64> {
    let kb: Option<Vec<u64>> = tree_of(root).into_iter().map(proportional_kb).collect();
    Some(kb?.into_iter().sum::<u64>() as f64 / 1024.0)
}

fn proportional_kb(pid: u32) -> Option<u64> {
    kb_in(&fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?, "Pss:")
}

fn tree_of(root: u32) -> Vec<u32> {
    const PROCESSES_MAX: usize = 10_000;
    let mut tree = vec![root];
    let mut at = 0;
    while let Some(pid) = tree.get(at).copied().filter(|_| tree.len() < PROCESSES_MAX) {
        tree.extend(children_of(pid));
        at += 1;
    }
    tree
}

fn resident_kb(pid: u32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    kb_in(&text, "VmRSS:").unwrap_or(0)
}

/// What new processes can have.
pub fn available_mb() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    kb_in(&text, "MemAvailable:").map(|kb| kb as f64 / 1024.0)
}

fn kb_in(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
