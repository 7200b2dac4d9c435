//! A file that a program has open: reads and writes that are counted.

use std::os::fd::OwnedFd;

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use super::error_code::ErrorCode;
use super::quota::{Inode, Quota};
use super::types::{Datetime, DescriptorStat, DescriptorType};

/// One read gives at most this much, whatever was asked for: it is host memory.
const READ_BYTES_MAX: u64 = 1024 * 1024;

pub struct OpenFile {
    pub fd: OwnedFd,
    pub inode: Inode,
    pub readable: bool,
    pub writable: bool,
    /// Whether it lies in a folder whose bytes count.
    pub counted: bool,
}

impl OpenFile {
    /// Bytes at `offset`; none at the end of the file.
    pub fn read_at(&self, offset: u64, length: u64) -> Result<Vec<u8>, ErrorCode> {
        if !self.readable {
            return Err(ErrorCode::BadDescriptor);
        }
        let size = rustix::fs::fstat(&self.fd)?.st_size as u64;
        let length = length.min(READ_BYTES_MAX).min(size.saturating_sub(offset).max(1));
        let mut bytes = vec![0; length as usize];
        let count = retry(|| rustix::io::pread(&self.fd, &mut bytes[..], offset))?;
        bytes.truncate(count);
        Ok(bytes)
    }

    /// Writes all of `bytes` at `offset`, within the quota.
    pub fn write_at(&self, offset: u64, mut bytes: &[u8], quota: &mut Quota) -> Result<(), ErrorCode> {
        if !self.writable {
            return Err(ErrorCode::BadDescriptor);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let size = self.size()?;
        let end = offset.checked_add(bytes.len() as u64).ok_or(ErrorCode::FileTooLarge)?;
        quota.grow(size, end)?;
        let mut at = offset;
        while !bytes.is_empty() {
            match retry(|| rustix::io::pwrite(&self.fd, bytes, at)) {
                Ok(count) => {
                    bytes = &bytes[count..];
                    at += count as u64;
                }
                Err(error) => {
                    let reached = self.size().unwrap_or(size).max(size);
                    quota.shrink(end.max(size).saturating_sub(reached));
                    return Err(error.into());
                }
            }
        }
        Ok(())
    }

    /// Makes the file exactly `size` bytes long, within the quota.
    pub fn set_size(&self, size: u64, quota: &mut Quota) -> Result<(), ErrorCode> {
        if !self.writable {
            return Err(ErrorCode::BadDescriptor);
        }
        let before = self.size()?;
        quota.grow(before, size)?;
        if let Err(error) = rustix::fs::ftruncate(&self.fd, size) {
            quota.shrink(size.saturating_sub(before));
            return Err(error.into());
        }
        quota.shrink(before.saturating_sub(size));
        Ok(())
    }

    /// How long the file is.
    pub fn size(&self) -> Result<u64, ErrorCode> {
        Ok(rustix::fs::fstat(&self.fd)?.st_size as u64)
    }
}

/// The file behind a stat.
pub fn inode_of(stat: &Stat) -> Inode {
    (count(stat.st_dev), count(stat.st_ino))
}

/// A stat in WASI's words.
pub fn describe(stat: &Stat) -> DescriptorStat {
    let time = |seconds, nanoseconds| Some(Datetime { seconds, nanoseconds });
    DescriptorStat {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        link_count: count(stat.st_nlink),
        size: stat.st_size as u64,
        accessed: time(count(stat.st_atime), count(stat.st_atime_nsec) as u32),
        modified: time(count(stat.st_mtime), count(stat.st_mtime_nsec) as u32),
        changed: time(count(stat.st_ctime), count(stat.st_ctime_nsec) as u32),
    }
}

/// A file type in WASI's words.
pub fn kind_of(kind: FileType) -> DescriptorType {
    match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::Fifo => DescriptorType::Fifo,
        FileType::Socket => DescriptorType::Socket,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        FileType::Unknown => DescriptorType::Unknown,
    }
}

/// A number of the system's, whose type differs between systems; before 1970 is 1970.
fn count(number: impl TryInto<u64>) -> u64 {
    number.try_into().unwrap_or(0)
}

fn retry(mut call: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}
