//! One name in an open folder: looked at, opened, made. Never through a link.

use std::fs::File;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_OMIT, openat, statat};
use rustix::io::Errno;

use crate::manifest::Modified;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Nothing waits: a pipe that nobody writes to is opened all the same.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

const NEW: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Which programs read a file is told by the time of its last reading: ours doesn't count.
#[cfg(target_os = "linux")]
const UNNOTICED: OFlags = OFlags::NOATIME;
#[cfg(not(target_os = "linux"))]
const UNNOTICED: OFlags = OFlags::empty();

/// What a name stands for, if for anything.
pub(super) fn look(at: BorrowedFd<'_>, name: &[u8]) -> Result<Option<Stat>, Errno> {
    match statat(at, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn kind_of(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// Permissions of owner, group and others.
pub(super) fn mode_of(stat: &Stat) -> u32 {
    wide(Mode::from_raw_mode(stat.st_mode).bits()) & 0o777
}

/// These numbers are of other kinds on other systems.
fn wide(bits: impl Into<u32>) -> u32 {
    bits.into()
}

pub(super) fn mode(bits: u32) -> Mode {
    Mode::from_raw_mode((bits & 0o777) as rustix::fs::RawMode)
}

/// Opens a folder. One that its owner may not list or enter is opened up for its owner.
pub(super) fn open_folder(at: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let folder = opening_up(at, name, Mode::RWXU, || openat(at, name, FOLDER, Mode::empty()))?;
    let stat = rustix::fs::fstat(&folder)?;
    let is_ours = stat.st_uid == rustix::process::geteuid().as_raw();
    // One that can be opened can't always be entered.
    if is_ours && !Mode::from_raw_mode(stat.st_mode).contains(Mode::RUSR | Mode::XUSR) {
        rustix::fs::fchmod(&folder, mode(mode_of(&stat)) | Mode::RWXU)?;
    }
    Ok(folder)
}

/// Opens a file to be read. One that its owner may not read is opened up for its owner.
pub(super) fn open_file(at: BorrowedFd<'_>, name: &[u8]) -> Result<File, Errno> {
    let open = || match openat(at, name, READ | UNNOTICED, Mode::empty()) {
        // It belongs to somebody else.
        Err(Errno::PERM) => openat(at, name, READ, Mode::empty()),
        outcome => outcome,
    };
    opening_up(at, name, Mode::RUSR | Mode::WUSR, open).map(File::from)
}

/// Makes a file that is not there yet, for its owner alone.
pub(super) fn create_file(at: BorrowedFd<'_>, name: &[u8]) -> Result<File, Errno> {
    openat(at, name, NEW, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Makes a folder that is not there yet, for its owner alone.
pub(super) fn create_folder(at: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    rustix::fs::mkdirat(at, name, Mode::RWXU)?;
    open_folder(at, name)
}

/// Sets when a file was modified, and when it was read if that is to be set as well: not after now, since a time that
/// is to come counts as having been read by every program that runs then.
pub(super) fn set_modified(file: &File, modified: Modified, is_new: bool) -> Result<(), Errno> {
    let last_modification = timespec(modified);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Modified { seconds: i64::try_from(now.as_secs()).unwrap_or(0), nanos: now.subsec_nanos() };
    let last_access = match is_new {
        true if modified.seconds < now.seconds => last_modification,
        true => timespec(now),
        false => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
    };
    rustix::fs::futimens(file, &Timestamps { last_access, last_modification })
}

fn timespec(time: Modified) -> Timespec {
    // Beyond it are orders to the kernel.
    Timespec { tv_sec: time.seconds, tv_nsec: time.nanos.min(999_999_999).into() }
}

fn opening_up(
    at: BorrowedFd<'_>,
    name: &[u8],
    needed: Mode,
    open: impl Fn() -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    match open() {
        Err(Errno::ACCESS) => {
            open_up(at, name, needed)?;
            open()
        }
        outcome => outcome,
    }
}

/// Gives the owner of what a name stands for these permissions. Programs own what they make: they may have taken them
/// from themselves.
#[cfg(target_os = "linux")]
fn open_up(at: BorrowedFd<'_>, name: &[u8], needed: Mode) -> Result<(), Errno> {
    use std::os::fd::AsRawFd;
    let found = openat(at, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let stat = rustix::fs::fstat(&found)?;
    if kind_of(&stat) == FileType::Symlink {
        return Err(Errno::ACCESS);
    }
    // By what was opened: the name may stand for something else by now.
    rustix::fs::chmod(format!("/proc/self/fd/{}", found.as_raw_fd()), mode(mode_of(&stat)) | needed)
}

#[cfg(not(target_os = "linux"))]
fn open_up(at: BorrowedFd<'_>, name: &[u8], needed: Mode) -> Result<(), Errno> {
    let stat = statat(at, name, AtFlags::SYMLINK_NOFOLLOW)?;
    rustix::fs::chmodat(at, name, mode(mode_of(&stat)) | needed, AtFlags::SYMLINK_NOFOLLOW)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_its_owner_may_not_read_is_opened_up_and_nothing_behind_a_link_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let opened = File::open(folder.path()).expect("a folder");
        let mode_at = |name: &str| {
            std::fs::metadata(folder.path().join(name)).expect("there").permissions().mode() & 0o777
        };
        std::fs::write(folder.path().join("file"), "x").expect("a file");
        let closed = std::fs::Permissions::from_mode(0o040);
        std::fs::set_permissions(folder.path().join("file"), closed).expect("ours");
        std::os::unix::fs::symlink("file", folder.path().join("link")).expect("a link");
        assert_eq!(open_up(opened.as_fd(), b"link", Mode::RUSR), Err(Errno::ACCESS));
        assert_eq!(mode_at("file"), 0o040);
        open_up(opened.as_fd(), b"file", Mode::RUSR | Mode::WUSR).expect("ours");
        assert_eq!(mode_at("file"), 0o640);
    }
}
