//! Names from a program, resolved beneath a folder's descriptor and nowhere else.
//!
//! On Linux the kernel does it in one step (`openat2` with `RESOLVE_BENEATH`), so no race can
//! slip a link in between. Elsewhere the path is walked one part at a time without following
//! any link.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The longest path that is looked at; PATH_MAX on Linux.
const PATH_BYTES_MAX: usize = 4096;

/// A path whose parent is open and whose last part is a plain name.
pub struct Entry<'a> {
    pub parent: OwnedFd,
    /// Never empty, `.`, `..`, nor with a slash in it.
    pub name: &'a str,
}

/// Refuses what no path may be.
pub fn check(path: &str) -> Result<(), Errno> {
    if path.len() >= PATH_BYTES_MAX {
        return Err(Errno::NAMETOOLONG);
    }
    if path.contains('\0') {
        return Err(Errno::INVAL);
    }
    Ok(())
}

/// How many folders a path goes down, at most.
pub fn parts(path: &str) -> usize {
    path.split('/').filter(|part| !matches!(*part, "" | ".")).count()
}

/// Splits an absolute or root-relative path into the folder it names under `/` and the rest,
/// with `.` and `..` worked out by name. `None` is the root itself.
pub fn split_root(path: &str) -> Option<(&str, String)> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let (first, rest) = parts.split_first()?;
    let mut rest = rest.join("/");
    if rest.is_empty() {
        rest.push('.');
    } else if path.ends_with('/') {
        // Keeps its meaning: "this must be a folder".
        rest.push('/');
    }
    Some((first, rest))
}

/// Opens `path` beneath `folder`.
pub fn open(folder: BorrowedFd<'_>, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let path = if path.is_empty() { "." } else { path };
    resolve(folder, path, flags | OFlags::CLOEXEC, mode)
}

/// Opens the parent of `path` beneath `folder`.
pub fn entry<'a>(folder: BorrowedFd<'_>, path: &'a str) -> Result<Entry<'a>, Errno> {
    let trimmed = path.trim_end_matches('/');
    let (parent, name) = trimmed.rsplit_once('/').unwrap_or((".", trimmed));
    match name {
        "" | "." => return Err(Errno::INVAL),
        ".." => return Err(Errno::PERM),
        _ => {}
    }
    let parent = if parent.is_empty() { "." } else { parent };
    let parent = open(folder, parent, folder_only(), Mode::empty())?;
    Ok(Entry { parent, name })
}

#[cfg(target_os = "linux")]
fn folder_only() -> OFlags {
    OFlags::PATH | OFlags::DIRECTORY
}

#[cfg(not(target_os = "linux"))]
fn folder_only() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY
}

#[cfg(target_os = "linux")]
fn resolve(folder: BorrowedFd<'_>, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    // EAGAIN: something was renamed meanwhile and the kernel could not be sure.
    for _ in 0..16 {
        match openat2(folder, path, flags, mode, how) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            outcome => return outcome,
        }
    }
    Err(Errno::BUSY)
}

#[cfg(not(target_os = "linux"))]
use walk as resolve;

/// The same without the kernel's help: one part at a time, no link followed, no `..`.
#[cfg(any(test, not(target_os = "linux")))]
fn walk(folder: BorrowedFd<'_>, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    use rustix::fs::openat;
    let must_be_folder = path.ends_with('/');
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
    let mut at = openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    while let Some(part) = parts.next() {
        if part == ".." {
            return Err(Errno::XDEV);
        }
        let step = match parts.peek() {
            Some(_) => OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
            None if must_be_folder => flags | OFlags::DIRECTORY,
            None => flags,
        };
        let last = parts.peek().is_none();
        at = openat(&at, part, step | OFlags::NOFOLLOW, if last { mode } else { Mode::empty() })?;
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn the_root_is_left_by_name_only() {
        for (path, expected) in [
            ("", None),
            ("/", None),
            ("..", None),
            ("workspace/../..", None),
            ("/workspace", Some(("workspace", "."))),
            ("workspace/a/b", Some(("workspace", "a/b"))),
            ("workspace/./a//b/", Some(("workspace", "a/b/"))),
            ("workspace/../etc/passwd", Some(("etc", "passwd"))),
            ("../../tmp/x/../y", Some(("tmp", "y"))),
        ] {
            let split = split_root(path);
            assert_eq!(split.as_ref().map(|(first, rest)| (*first, rest.as_str())), expected, "{path}");
        }
    }

    /// Both ways of resolving refuse the same escapes.
    #[test]
    fn a_name_that_leads_out_is_refused() {
        let folder = gristmill_testkit::TestFolder::new("beneath");
        let outside = folder.path().join("outside.txt");
        std::fs::write(&outside, "secret").unwrap();
        let inside = folder.path().join("inside");
        std::fs::create_dir_all(inside.join("deep")).unwrap();
        std::fs::write(inside.join("deep/file.txt"), "fine").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("absolute")).unwrap();
        std::os::unix::fs::symlink("../outside.txt", inside.join("relative")).unwrap();
        let root = std::fs::File::open(&inside).unwrap();
        let read = OFlags::RDONLY | OFlags::CLOEXEC;
        for opener in [resolve, walk] {
            assert!(opener(root.as_fd(), "deep/file.txt", read, Mode::empty()).is_ok());
            for path in ["../outside.txt", "absolute", "relative", "deep/../../outside.txt", "/etc/passwd"] {
                let opened = opener(root.as_fd(), path, read, Mode::empty());
                assert!(opened.is_err(), "{path}");
            }
        }
    }

    #[test]
    fn the_last_part_must_be_a_name() {
        let here = std::fs::File::open(".").unwrap();
        for path in ["", ".", "..", "a/..", "/", "x/."] {
            assert!(entry(here.as_fd(), path).is_err(), "{path}");
        }
    }
}
