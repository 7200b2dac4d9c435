//! Counts what a program keeps in its writable folders, and says no in time.
//!
//! Exact in bytes of file content: every write, truncation, rename and removal passes here, and
//! the child is the only writer. What the disk holds can be more by its block rounding, at most
//! one block for each file.

use std::collections::{BTreeSet, HashMap};

use gristmill_protocol::WorkerLimit;

use super::error_code::ErrorCode;

#[derive(Debug, Clone, Copy)]
pub struct QuotaLimits {
    pub file_bytes: u64,
    pub workspace_bytes: u64,
    pub workspace_files: u64,
    pub open_files: u32,
}

/// A file, whatever it is called.
pub type Inode = (u64, u64);

#[derive(Debug)]
pub struct Quota {
    limits: QuotaLimits,
    bytes_used: u64,
    files_used: u64,
    open: HashMap<Inode, u32>,
    open_count: u32,
    hit: BTreeSet<WorkerLimit>,
}

impl Quota {
    /// A count that starts from what the folders already hold.
    pub fn new(limits: QuotaLimits, bytes_used: u64, files_used: u64) -> Self {
        Self { limits, bytes_used, files_used, open: HashMap::new(), open_count: 0, hit: BTreeSet::new() }
    }

    /// Counts for another program, from what the folders hold now. What is open stays so, and counts.
    pub fn renew(&mut self, limits: QuotaLimits, bytes_used: u64, files_used: u64) {
        self.limits = limits;
        (self.bytes_used, self.files_used) = (bytes_used, files_used);
        self.hit.clear();
    }

    /// What the folders hold now: bytes and entries.
    pub fn used(&self) -> (u64, u64) {
        (self.bytes_used, self.files_used)
    }

    /// The limits that refused something.
    pub fn limits_hit(&self) -> impl Iterator<Item = WorkerLimit> + '_ {
        self.hit.iter().copied()
    }

    /// A file of `size` bytes is to become at least `end` bytes long.
    pub fn grow(&mut self, size: u64, end: u64) -> Result<(), ErrorCode> {
        if end > self.limits.file_bytes && end > size {
            self.hit.insert(WorkerLimit::FileBytes);
            return Err(ErrorCode::FileTooLarge);
        }
        let growth = end.saturating_sub(size);
        if growth > 0 && self.bytes_used.saturating_add(growth) > self.limits.workspace_bytes {
            self.hit.insert(WorkerLimit::WorkspaceBytes);
            return Err(ErrorCode::Quota);
        }
        self.bytes_used += growth;
        Ok(())
    }

    /// Bytes are gone, or a growth that was granted did not happen.
    pub fn shrink(&mut self, bytes: u64) {
        self.bytes_used = self.bytes_used.saturating_sub(bytes);
    }

    /// A file or folder is to be made.
    pub fn make_entry(&mut self) -> Result<(), ErrorCode> {
        if self.files_used >= self.limits.workspace_files {
            self.hit.insert(WorkerLimit::WorkspaceFiles);
            return Err(ErrorCode::Quota);
        }
        self.files_used += 1;
        Ok(())
    }

    /// A file or folder is gone, or was not made after all.
    pub fn drop_entry(&mut self) {
        self.files_used = self.files_used.saturating_sub(1);
    }

    /// A name of `inode` was removed. Its bytes come back now, unless it is still open.
    pub fn removed(&mut self, inode: Inode, size: u64, last_name: bool) {
        self.drop_entry();
        if last_name && !self.open.contains_key(&inode) {
            self.shrink(size);
        }
    }

    /// Whether one more file or folder may be open.
    pub fn admit_open(&mut self) -> Result<(), ErrorCode> {
        if self.open_count >= self.limits.open_files {
            self.hit.insert(WorkerLimit::OpenFiles);
            // WASI has no EMFILE; of what it has, "quota exceeded" misleads the least.
            return Err(ErrorCode::Quota);
        }
        Ok(())
    }

    pub fn opened(&mut self, inode: Inode) {
        self.open_count += 1;
        *self.open.entry(inode).or_default() += 1;
    }

    /// It is closed. True when nothing else has the same file open.
    pub fn closed(&mut self, inode: Inode) -> bool {
        self.open_count = self.open_count.saturating_sub(1);
        match self.open.get_mut(&inode) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            Some(_) => {
                self.open.remove(&inode);
                true
            }
            None => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: QuotaLimits =
        QuotaLimits { file_bytes: 100, workspace_bytes: 150, workspace_files: 2, open_files: 2 };

    #[test]
    fn growth_is_refused_at_the_exact_byte() {
        let mut quota = Quota::new(LIMITS, 0, 0);
        assert_eq!(quota.grow(0, 100), Ok(()));
        assert_eq!(quota.grow(100, 101), Err(ErrorCode::FileTooLarge));
        assert_eq!(quota.grow(0, 50), Ok(()));
        assert_eq!(quota.grow(50, 51), Err(ErrorCode::Quota));
        assert_eq!(quota.used().0, 150);
        assert_eq!(
            quota.limits_hit().collect::<Vec<_>>(),
            [WorkerLimit::FileBytes, WorkerLimit::WorkspaceBytes]
        );
    }

    #[test]
    fn a_file_that_was_over_the_limit_before_can_still_be_rewritten_in_place() {
        let mut quota = Quota::new(LIMITS, 140, 1);
        assert_eq!(quota.grow(140, 120), Ok(()));
        assert_eq!(quota.grow(140, 140), Ok(()));
    }

    #[test]
    fn the_bytes_of_a_removed_file_come_back_only_when_it_is_closed() {
        let mut quota = Quota::new(LIMITS, 0, 0);
        quota.make_entry().unwrap();
        quota.opened((1, 7));
        quota.grow(0, 80).unwrap();
        quota.removed((1, 7), 80, true);
        assert_eq!(quota.used(), (80, 0));
        assert!(quota.closed((1, 7)));
        quota.shrink(80);
        assert_eq!(quota.used(), (0, 0));
    }

    #[test]
    fn the_next_program_counts_anew_but_what_is_open_stays_open() {
        let mut quota = Quota::new(LIMITS, 0, 0);
        quota.make_entry().unwrap();
        quota.opened((1, 7));
        assert_eq!(quota.grow(0, 101), Err(ErrorCode::FileTooLarge));
        quota.renew(QuotaLimits { workspace_bytes: 500, ..LIMITS }, 60, 1);
        assert_eq!((quota.used(), quota.limits_hit().count()), ((60, 1), 0));
        quota.opened((1, 8));
        assert_eq!(quota.admit_open(), Err(ErrorCode::Quota));
        assert!(quota.closed((1, 7)));
    }

    #[test]
    fn entries_and_open_files_are_counted() {
        let mut quota = Quota::new(LIMITS, 0, 1);
        assert_eq!(quota.make_entry(), Ok(()));
        assert_eq!(quota.make_entry(), Err(ErrorCode::Quota));
        quota.opened((1, 1));
        quota.opened((1, 1));
        assert_eq!(quota.admit_open(), Err(ErrorCode::Quota));
        assert!(!quota.closed((1, 1)));
        assert!(quota.closed((1, 1)));
        assert_eq!(quota.admit_open(), Ok(()));
    }
}
