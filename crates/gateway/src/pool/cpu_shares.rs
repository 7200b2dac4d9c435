//! A cgroup for each program that may have less than a whole core (`cpu_percent`): the kernel slows it down.
//!
//! The groups lie in that of all workers. One whose program has ended is used again: what is left in it was killed.
//! They are removed with the group that they lie in.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gristmill_domain::PERCENT_OF_CORE;
use parking_lot::Mutex;

/// Behind it: what tells them apart.
const PREFIX: &str = "program-";

/// What a share is a share of. The kernel's own default.
const PERIOD_US: u64 = 100_000;

pub(super) struct CpuShares {
    folder: PathBuf,
    made: AtomicU64,
    /// Groups whose programs have ended.
    free: Mutex<Vec<PathBuf>>,
}

/// The group of one worker. Free for another one with this value.
pub(super) struct CpuGroup {
    shares: Arc<CpuShares>,
    folder: PathBuf,
}

impl CpuShares {
    /// In a group that hands on the `cpu` controller, and has no processes of its own.
    pub fn new(folder: &Path) -> Arc<Self> {
        Arc::new(Self { folder: folder.to_owned(), made: AtomicU64::new(0), free: Mutex::default() })
    }

    /// Moves a process into a group with this share of a core. Blocks on the kernel.
    pub fn hold(self: &Arc<Self>, pid: u32, percent: u64) -> io::Result<CpuGroup> {
        let free = self.free.lock().pop();
        let folder = match free {
            Some(folder) => folder,
            None => {
                let folder =
                    self.folder.join(format!("{PREFIX}{}", self.made.fetch_add(1, Ordering::Relaxed)));
                fs::create_dir(&folder)?;
                folder
            }
        };
        let group = CpuGroup { shares: Arc::clone(self), folder };
        group.set(percent)?;
        fs::write(group.folder.join("cgroup.procs"), pid.to_string())?;
        Ok(group)
    }
}

impl CpuGroup {
    /// The same process, with another share.
    pub fn set(&self, percent: u64) -> io::Result<()> {
        let most = match percent {
            PERCENT_OF_CORE.. => format!("max {PERIOD_US}"),
            _ => format!("{} {PERIOD_US}", PERIOD_US / PERCENT_OF_CORE * percent),
        };
        fs::write(self.folder.join("cpu.max"), most)
    }
}

impl Drop for CpuGroup {
    fn drop(&mut self) {
        self.shares.free.lock().push(std::mem::take(&mut self.folder));
    }
}

#[cfg(test)]
mod tests {
    use gristmill_testkit::TestFolder;

    use super::*;

    #[test]
    fn a_program_gets_a_group_with_its_share_and_leaves_it_to_the_next() {
        let folder = TestFolder::new("cpu-shares");
        let shares = CpuShares::new(folder.path());
        let read = |path: &str| fs::read_to_string(folder.path().join(path)).unwrap();
        let first = shares.hold(11, 40).unwrap();
        assert_eq!(
            (read("program-0/cpu.max"), read("program-0/cgroup.procs")),
            ("40000 100000".into(), "11".into())
        );
        first.set(100).unwrap();
        assert_eq!(read("program-0/cpu.max"), "max 100000");
        let second = shares.hold(12, 1).unwrap();
        assert_eq!(
            (read("program-1/cpu.max"), read("program-1/cgroup.procs")),
            ("1000 100000".into(), "12".into())
        );
        drop(first);
        let third = shares.hold(13, 25).unwrap();
        assert_eq!(
            (read("program-0/cpu.max"), read("program-0/cgroup.procs")),
            ("25000 100000".into(), "13".into())
        );
        drop((second, third));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_group_that_cannot_be_made_is_an_error() {
        let folder = TestFolder::new("cpu-shares-missing");
        let shares = CpuShares::new(&folder.path().join("missing"));
        assert!(shares.hold(11, 40).is_err());
    }
}
