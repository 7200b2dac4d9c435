//! A cgroup for all workers together: their memory and their number, behind the limits that each of them has
//! of its own. Where the `cpu` controller is delegated, too, the group holds one with all workers in it, and one for
//! each program that may have only a part of a core ([`super::cpu_shares`]).
//!
//! It can be had where the gateway lives in a group of its own below one that was given to it (cgroup v2,
//! delegated): the workers get a group beside the gateway's, which is removed when they are gone. The gateway
//! itself is never moved. Where it can't be had nothing fails, and `doctor` says why.
//!
//! Plain files only, found through a folder like `/proc`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::cpu_shares::CpuShares;
use super::renewal::RETIRED_MAX;

/// Behind it: the gateway's process number, and what tells its groups apart.
const PREFIX: &str = "gristmill-workers-";

const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// What a share of a core takes.
const CPU: &str = "cpu";

/// Where workers are if their group has others beside them: one with processes of its own can't have these.
const INNER: &str = "workers";

/// Tries to remove a group whose last process is just dying, and the time between two of them.
const REMOVALS_MAX: usize = 40;
const REMOVAL_PAUSE: Duration = Duration::from_millis(5);

/// What all workers may have together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CgroupLimits {
    pub memory_bytes: u64,
    pub processes: u64,
}

/// Beside what its program may have: stacks, buffers, and what the interpreter had before it.
const CHILD_BYTES: u64 = 64 << 20;

/// An engine's machine code, and one warm interpreter.
const ZYGOTE_BYTES: u64 = 256 << 20;

/// The one in use, the one that is coming up, and old ones that still have children.
const ZYGOTES_MAX: u64 = RETIRED_MAX as u64 + 2;

/// A zygote, its supervisor, and what tries out the walls at its start.
const PROCESSES_OF_ZYGOTE: u64 = 4;

/// How many workers there can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerCounts {
    /// Programs and analyses at once.
    pub running: u64,
    /// What each of them may have: its memory, and its files, which may lie in memory.
    pub running_bytes: u64,
    /// Children that wait for a program.
    pub waiting: u64,
    /// Interpreters that sessions keep, and what they may have together.
    pub kept: u64,
    pub kept_bytes: u64,
}

impl CgroupLimits {
    /// More than sound workers ever have: whoever meets these limits got past its own.
    pub fn of(counts: WorkerCounts) -> Self {
        let WorkerCounts { running, running_bytes, waiting, kept, kept_bytes } = counts;
        let children = running + waiting + kept;
        Self {
            memory_bytes: running
                .saturating_mul(running_bytes)
                .saturating_add(kept_bytes)
                .saturating_add(children * CHILD_BYTES + ZYGOTES_MAX * ZYGOTE_BYTES),
            // Twice: a child that is being ended is counted until it is gone.
            processes: 2 * children + ZYGOTES_MAX * PROCESSES_OF_ZYGOTE,
        }
    }

    /// On this machine: a tenth of its memory is left to everybody else.
    fn on_machine(self, proc: &Path) -> Self {
        let memory = fs::read_to_string(proc.join("meminfo")).unwrap_or_default();
        let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kilobytes = total.and_then(|total| total.split_whitespace().next()?.parse::<u64>().ok());
        let most = kilobytes.map_or(u64::MAX, |kilobytes| kilobytes.saturating_mul(1024) / 10 * 9);
        Self { memory_bytes: self.memory_bytes.min(most), ..self }
    }
}

/// Why workers have no cgroup. They run all the same, behind every other wall.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCgroup {
    #[error("this system has no cgroup v2")]
    NoVersion2,
    #[error("the gateway runs in the topmost cgroup that it can see")]
    Topmost,
    #[error("{} isn't delegated to the gateway", .0.display())]
    NotDelegated(PathBuf),
    #[error("{} has no {controller} controller", .folder.display())]
    NoController { folder: PathBuf, controller: &'static str },
    /// It has processes of its own, as a rule.
    #[error("{controllers} can't be enabled in {}: {reason}", .folder.display())]
    NotEnabled { folder: PathBuf, controllers: String, reason: String },
    #[error("{0}")]
    Failed(String),
}

/// The group. Removed with this value, if the workers are gone.
pub(super) struct WorkerCgroup {
    folder: PathBuf,
    limits: CgroupLimits,
    /// Groups for programs that may have a part of a core, or why they are counted instead.
    shares: Result<Arc<CpuShares>, NoCgroup>,
}

impl WorkerCgroup {
    /// Makes one beside that of the process that `proc` calls `self`.
    pub fn make(proc: &Path, limits: CgroupLimits) -> Result<Self, NoCgroup> {
        let parent = parent_of_own(proc)?;
        enable(&parent, &CONTROLLERS)?;
        remove_leftovers(&parent, proc);
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = format!("{PREFIX}{}-{:x}-{count}", std::process::id(), now.as_nanos() as u64);
        let folder = parent.join(name);
        fs::create_dir(&folder).map_err(|error| refused(&parent, &error))?;
        let shares = Err(NoCgroup::Failed("it isn't set up".to_owned()));
        let mut made = Self { folder, limits: limits.on_machine(proc), shares };
        made.set_limits().map_err(|error| NoCgroup::Failed(error.to_string()))?;
        made.shares = made.make_shares(&parent);
        Ok(made)
    }

    pub fn limits(&self) -> CgroupLimits {
        self.limits
    }

    /// Groups for programs that may have a part of a core, or why there are none.
    pub fn shares(&self) -> Result<&Arc<CpuShares>, NoCgroup> {
        self.shares.as_ref().map_err(NoCgroup::clone)
    }

    /// Nothing was changed where this fails: workers then are in the group itself.
    fn make_shares(&self, parent: &Path) -> Result<Arc<CpuShares>, NoCgroup> {
        enable(parent, &[CPU])?;
        let inner = self.folder.join(INNER);
        fs::create_dir(&inner).map_err(|error| refused(&self.folder, &error))?;
        if let Err(error) = fs::write(self.folder.join("cgroup.subtree_control"), format!("+{CPU}")) {
            let _ = fs::remove_dir(&inner);
            return Err(not_enabled(&self.folder, &[CPU], &error));
        }
        Ok(CpuShares::new(&self.folder))
    }

    fn set_limits(&self) -> io::Result<()> {
        self.write("memory.max", self.limits.memory_bytes)?;
        self.write("pids.max", self.limits.processes)?;
        // Beyond the limit one of them is ended, not all.
        for (optional, value) in [("memory.swap.max", 0), ("memory.oom.group", 0)] {
            if self.folder.join(optional).exists() {
                self.write(optional, value)?;
            }
        }
        Ok(())
    }

    /// Moves a process in. Whatever it forks from now on is in it, too.
    pub fn take(&self, pid: u32) -> io::Result<()> {
        let procs = match self.shares {
            Ok(_) => format!("{INNER}/cgroup.procs"),
            Err(_) => "cgroup.procs".to_owned(),
        };
        match self.write(&procs, u64::from(pid)) {
            // It has ended already, which others notice.
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) => Ok(()),
            outcome => outcome,
        }
    }

    fn write(&self, name: &str, value: u64) -> io::Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, value.to_string())
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
    }
}

impl Drop for WorkerCgroup {
    fn drop(&mut self) {
        for _ in 0..REMOVALS_MAX {
            match remove_group(&self.folder) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(REMOVAL_PAUSE)
                }
                // What is left otherwise, the next gateway removes.
                Ok(()) | Err(_) => return,
            }
        }
    }
}

/// The group that ours lies in.
fn parent_of_own(proc: &Path) -> Result<PathBuf, NoCgroup> {
    let read = |name: &str| fs::read_to_string(proc.join("self").join(name)).unwrap_or_default();
    let own = read("cgroup");
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).ok_or(NoCgroup::NoVersion2)?;
    let (root, mounted) = mount_in(&read("mountinfo")).ok_or(NoCgroup::NoVersion2)?;
    let within = Path::new(own).strip_prefix(&root).map_err(|_| NoCgroup::Topmost)?;
    // One that was moved out of what can be seen starts with dots.
    let is_plain = within.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let parent = within.parent().filter(|_| is_plain).ok_or(NoCgroup::Topmost)?;
    let parent = mounted.join(parent);
    // A slice is the service manager's own, also where we could write to it.
    match parent.extension().is_some_and(|extension| extension == "slice") {
        true => Err(NoCgroup::NotDelegated(parent)),
        false => Ok(parent),
    }
}

/// Which part of the tree is mounted, and where.
fn mount_in(mountinfo: &str) -> Option<(PathBuf, PathBuf)> {
    mountinfo.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut words = place.split(' ').skip(3);
        let (root, mounted) = (words.next()?, words.next()?);
        // Names with blanks are escaped; nobody mounts it there.
        (kind.split(' ').next()? == "cgroup2").then(|| (PathBuf::from(root), PathBuf::from(mounted)))
    })
}

/// Hands controllers on to the groups in this one.
fn enable(parent: &Path, controllers: &[&'static str]) -> Result<(), NoCgroup> {
    let words = |name: &str| fs::read_to_string(parent.join(name)).unwrap_or_default();
    let has = |text: &str, controller: &str| text.split_whitespace().any(|word| word == controller);
    let offered = words("cgroup.controllers");
    if let Some(controller) = controllers.iter().find(|controller| !has(&offered, controller)) {
        return Err(NoCgroup::NoController { folder: parent.to_owned(), controller });
    }
    let enabled = words("cgroup.subtree_control");
    if controllers.iter().all(|controller| has(&enabled, controller)) {
        return Ok(());
    }
    let wanted: Vec<String> = controllers.iter().map(|controller| format!("+{controller}")).collect();
    fs::write(parent.join("cgroup.subtree_control"), wanted.join(" "))
        .map_err(|error| not_enabled(parent, controllers, &error))
}

fn not_enabled(folder: &Path, controllers: &[&str], error: &io::Error) -> NoCgroup {
    match refused(folder, error) {
        NoCgroup::Failed(reason) => {
            NoCgroup::NotEnabled { folder: folder.to_owned(), controllers: controllers.join(" and "), reason }
        }
        other => other,
    }
}

fn refused(parent: &Path, error: &io::Error) -> NoCgroup {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            NoCgroup::NotDelegated(parent.to_owned())
        }
        _ => NoCgroup::Failed(error.to_string()),
    }
}

/// A group, and those in it. One with processes stays, and so does what it lies in.
fn remove_group(folder: &Path) -> io::Result<()> {
    for inner in fs::read_dir(folder)?.flatten().filter(|entry| entry.path().is_dir()) {
        fs::remove_dir(inner.path())?;
    }
    fs::remove_dir(folder)
}

/// Groups of gateways that were killed. One that has processes can't be removed.
fn remove_leftovers(parent: &Path, proc: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let pid = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        let Some(pid) = pid.and_then(|pid| pid.parse::<u32>().ok()) else { continue };
        let has_processes = fs::read_to_string(entry.path().join("cgroup.procs"))
            .is_ok_and(|processes| !processes.is_empty());
        if !has_processes && !proc.join(pid.to_string()).exists() {
            let _ = remove_group(&entry.path());
        }
    }
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
