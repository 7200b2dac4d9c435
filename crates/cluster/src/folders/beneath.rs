//! One name below an open folder: opened, made, looked at. Never through a link, never into another file system.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps, openat};
use rustix::io::Errno;

use super::name::Name;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Nothing waits: a pipe that nobody writes to is opened all the same.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

const NEW: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The last second of the year 9999: no file system is asked for more.
const MODIFIED_MAX: i64 = 253_402_300_799;

pub(super) fn open_folder(at: BorrowedFd<'_>, name: &Name) -> Result<OwnedFd, Errno> {
    open(at, name, FOLDER)
}

/// The same folder once more.
pub(super) fn open_again(folder: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    openat(folder, c".", FOLDER, Mode::empty())
}

/// A plain file that can be read.
#[derive(Debug)]
pub(super) struct PlainFile {
    pub file: File,
    pub bytes: u64,
    pub modified: i64,
}

/// Opens a file; `None` if the name is that of something else.
pub(super) fn open_file(at: BorrowedFd<'_>, name: &Name) -> Result<Option<PlainFile>, Errno> {
    let file = open(at, name, READ)?;
    let stat = rustix::fs::fstat(&file)?;
    let is_plain = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(is_plain.then(|| PlainFile { file: file.into(), bytes: size_of(&stat), modified: modified_of(&stat) }))
}

/// Makes a file that is not there yet.
pub(super) fn create_file(at: BorrowedFd<'_>, name: &Name, mode: Mode) -> Result<File, Errno> {
    openat(at, name.as_c_str(), NEW, mode).map(File::from)
}

/// Makes a folder that is not there yet, for its owner alone.
pub(super) fn create_folder(at: BorrowedFd<'_>, name: &Name) -> Result<OwnedFd, Errno> {
    rustix::fs::mkdirat(at, name.as_c_str(), Mode::RWXU)?;
    open_folder(at, name)
}

/// What a name stands for, if for anything.
pub(super) fn look(at: BorrowedFd<'_>, name: &Name) -> Result<Option<Stat>, Errno> {
    match rustix::fs::statat(at, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn size_of(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or(0)
}

pub(super) fn set_modified(file: &File, seconds: i64) -> Result<(), Errno> {
    let time = Timespec { tv_sec: within_time(seconds), tv_nsec: 0 };
    rustix::fs::futimens(file, &Timestamps { last_access: time, last_modification: time })
}

/// A time that every file system keeps.
pub(super) fn within_time(seconds: i64) -> i64 {
    seconds.clamp(0, MODIFIED_MAX)
}

fn modified_of(stat: &Stat) -> i64 {
    within_time(stat.st_mtime)
}

/// Lets the owner of an open folder list, enter and change it.
pub(super) fn make_usable(folder: &OwnedFd) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode);
    match mode.contains(Mode::RWXU) {
        true => Ok(()),
        false => rustix::fs::fchmod(folder, Mode::RWXU),
    }
}

/// Lets its owner read what a name stands for, if that is a file or a folder.
#[cfg(target_os = "linux")]
pub(super) fn make_readable(at: BorrowedFd<'_>, name: &Name) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let found = open(at, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?;
    let mode = owners_mode(FileType::from_raw_mode(rustix::fs::fstat(&found)?.st_mode))?;
    // By what was opened: the name may stand for something else by now.
    rustix::fs::chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), mode)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn make_readable(at: BorrowedFd<'_>, name: &Name) -> Result<(), Errno> {
    let stat = rustix::fs::statat(at, name.as_c_str(), AtFlags::SYMLINK_NOFOLLOW)?;
    let mode = owners_mode(FileType::from_raw_mode(stat.st_mode))?;
    rustix::fs::chmodat(at, name.as_c_str(), mode, AtFlags::SYMLINK_NOFOLLOW)
}

fn owners_mode(kind: FileType) -> Result<Mode, Errno> {
    match kind {
        FileType::Directory => Ok(Mode::RWXU),
        FileType::RegularFile => Ok(Mode::RUSR | Mode::WUSR),
        _ => Err(Errno::ACCESS),
    }
}

fn open(at: BorrowedFd<'_>, name: &Name, flags: OFlags) -> Result<OwnedFd, Errno> {
    match in_one_step(at, name, flags) {
        // An old kernel, or a filter that knows nothing of it: one name is no way out either.
        Err(Errno::NOSYS | Errno::PERM) => openat(at.as_fd(), name.as_c_str(), flags, Mode::empty()),
        outcome => outcome,
    }
}

#[cfg(target_os = "linux")]
fn in_one_step(at: BorrowedFd<'_>, name: &Name, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let how = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    // EAGAIN: something was renamed meanwhile and the kernel could not be sure.
    for _ in 0..16 {
        match openat2(at, name.as_c_str(), flags, Mode::empty(), how) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            outcome => return outcome,
        }
    }
    Err(Errno::BUSY)
}

#[cfg(not(target_os = "linux"))]
fn in_one_step(_: BorrowedFd<'_>, _: &Name, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}
