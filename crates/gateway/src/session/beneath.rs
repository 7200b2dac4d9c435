//! Names resolved beneath a workspace's descriptor and nowhere else, whatever a program in it renames
//! meanwhile.
//!
//! On Linux the kernel does it in one step: `openat2`, beneath the folder, through no link and into
//! no other file system. Where that is missing, the way is walked one name at a time, and no link is
//! followed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;

use super::inside_path::InsidePath;

/// A folder on the way, never a link to one.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens what a path names. Nothing waits: a pipe that nobody writes to is opened all the same.
pub(super) fn open(root: BorrowedFd<'_>, path: &InsidePath<'_>, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match in_one_step(root, &path.text(), flags) {
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(root, path, flags),
        outcome => outcome,
    }
}

/// The folder that a path's last name is in, made with all above it if `make` says so.
pub(super) fn parent(root: BorrowedFd<'_>, path: &InsidePath<'_>, make: bool) -> Result<OwnedFd, Errno> {
    let (folders, _) = path.split();
    let mut at = openat(root, ".", FOLDER, Mode::empty())?;
    for name in folders {
        at = match open_below(at.as_fd(), name) {
            Err(Errno::NOENT) if make => {
                match rustix::fs::mkdirat(&at, *name, Mode::from_raw_mode(0o700)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
                open_below(at.as_fd(), name)?
            }
            outcome => outcome?,
        };
    }
    Ok(at)
}

/// How many of these folders, each in the one before, are not there yet.
pub(super) fn missing(root: BorrowedFd<'_>, folders: &[&str]) -> Result<u64, Errno> {
    let mut at = openat(root, ".", FOLDER, Mode::empty())?;
    for (number, name) in folders.iter().enumerate() {
        at = match open_below(at.as_fd(), name) {
            Err(Errno::NOENT) => return Ok((folders.len() - number) as u64),
            outcome => outcome?,
        };
    }
    Ok(0)
}

pub(super) fn open_below(at: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    match in_one_step(at, name, FOLDER) {
        Err(Errno::NOSYS | Errno::PERM) => openat(at, name, FOLDER, Mode::empty()),
        outcome => outcome,
    }
}

#[cfg(target_os = "linux")]
fn in_one_step(root: BorrowedFd<'_>, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let how = ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV;
    // EAGAIN: something was renamed meanwhile and the kernel could not be sure.
    for _ in 0..16 {
        match openat2(root, path, flags, Mode::empty(), how) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            outcome => return outcome,
        }
    }
    Err(Errno::BUSY)
}

#[cfg(not(target_os = "linux"))]
fn in_one_step(_: BorrowedFd<'_>, _: &str, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

fn step_by_step(root: BorrowedFd<'_>, path: &InsidePath<'_>, flags: OFlags) -> Result<OwnedFd, Errno> {
    let (folders, name) = path.split();
    let mut at = openat(root, ".", FOLDER, Mode::empty())?;
    for folder in folders {
        at = openat(&at, *folder, FOLDER, Mode::empty())?;
    }
    openat(&at, name, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways of resolving refuse the same escapes.
    #[test]
    fn a_link_is_never_followed() {
        let folder = gristmill_testkit::TestFolder::new("beneath");
        std::fs::write(folder.path().join("outside.txt"), "secret").unwrap();
        let inside = folder.path().join("inside");
        std::fs::create_dir_all(inside.join("deep")).unwrap();
        std::fs::write(inside.join("deep/file.txt"), "fine").unwrap();
        std::os::unix::fs::symlink("../outside.txt", inside.join("file")).unwrap();
        std::os::unix::fs::symlink("..", inside.join("up")).unwrap();
        std::os::unix::fs::symlink("deep", inside.join("same")).unwrap();
        let root = std::fs::File::open(&inside).unwrap();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for path in ["file", "up/outside.txt", "same/file.txt"] {
            let path = InsidePath::read(path).unwrap();
            assert!(in_one_step(root.as_fd(), &path.text(), flags).is_err(), "{path:?}");
            assert!(step_by_step(root.as_fd(), &path, flags).is_err(), "{path:?}");
            assert!(open(root.as_fd(), &path, flags).is_err(), "{path:?}");
        }
        let fine = InsidePath::read("deep/file.txt").unwrap();
        assert!(in_one_step(root.as_fd(), &fine.text(), flags).is_ok());
        assert!(step_by_step(root.as_fd(), &fine, flags).is_ok());
        assert!(parent(root.as_fd(), &InsidePath::read("up/x").unwrap(), true).is_err());
        assert!(parent(root.as_fd(), &InsidePath::read("new/below/x").unwrap(), true).is_ok());
        assert!(inside.join("new/below").is_dir());
    }
}
