//! Names from a program, resolved beneath a folder's descriptor and nowhere else.
//!
//! The path is walked one part at a time and no link is followed, so no race can slip one in. Not by
//! `openat2`, which could do it in one step: it takes its flags from memory, where the list of system
//! calls cannot see them. Someone who has broken out of the engine would open any name of the host with
//! `O_PATH`, which landlock lets pass, and look at what is behind it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, Stat, fstat, openat};
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

/// Every flag with which a child opens something, besides how it reads and writes. The list of system
/// calls has room for no other.
#[cfg(target_os = "linux")]
pub const OPEN_FLAGS: OFlags = OFlags::RWMODE
    .union(OFlags::CREATE)
    .union(OFlags::EXCL)
    .union(OFlags::NOCTTY)
    .union(OFlags::NONBLOCK)
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC)
    .union(ALWAYS);

/// Those with which everything is opened.
pub const ALWAYS: OFlags = OFlags::NOFOLLOW;

/// How a folder on the way is opened.
const STEP: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Opens `path` beneath `folder`, one part at a time. `..` goes back to where the path came from, and
/// never further.
pub fn open(folder: BorrowedFd<'_>, path: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let must_be_folder = path.ends_with('/');
    let mut parts = path.split('/').filter(|part| !part.is_empty() && *part != ".").peekable();
    // Those on the way, the deepest last.
    let mut way: Vec<OwnedFd> = Vec::new();
    while let Some(part) = parts.next() {
        if part == ".." {
            way.pop().ok_or(Errno::XDEV)?;
            continue;
        }
        let at = way.last().map_or(folder, OwnedFd::as_fd);
        match parts.peek() {
            Some(_) => way.push(open_one(at, part, STEP, Mode::empty())?),
            None if must_be_folder => return open_one(at, part, flags | OFlags::DIRECTORY, mode),
            None => return open_one(at, part, flags, mode),
        }
    }
    // The folder itself, or one that `..` came back to.
    open_one(way.last().map_or(folder, OwnedFd::as_fd), ".", flags, mode)
}

fn open_one(at: BorrowedFd<'_>, name: &str, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    loop {
        match openat(at, name, flags | ALWAYS | OFlags::CLOEXEC, mode) {
            Err(Errno::INTR) => {}
            outcome => return outcome,
        }
    }
}

/// Opens the parent of `path` beneath `folder`.
pub fn entry<'a>(folder: BorrowedFd<'_>, path: &'a str) -> Result<Entry<'a>, Errno> {
    let trimmed = path.trim_end_matches('/');
    let (parent, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    match name {
        "" | "." => return Err(Errno::INVAL),
        ".." => return Err(Errno::PERM),
        _ => {}
    }
    let parent = match parts(parent) {
        // Not opened again: where files are found by name only, a folder cannot be.
        0 => rustix::io::fcntl_dupfd_cloexec(folder, 0)?,
        _ => open(folder, parent, STEP, Mode::empty())?,
    };
    Ok(Entry { parent, name })
}

/// What stands under a name.
pub enum Seen {
    /// A link. Where it leads is not looked at.
    Link,
    /// Anything else.
    Thing(Stat),
}

/// Looks at a plain name in a folder. By opening it: landlock guards opening and not looking, so the list
/// of system calls has no call that looks by name.
pub fn look(folder: BorrowedFd<'_>, name: &str) -> Result<Seen, Errno> {
    // NONBLOCK: a fifo that someone left in the folder must not hang us.
    match open_one(folder, name, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty()) {
        Ok(fd) => Ok(Seen::Thing(fstat(&fd)?)),
        Err(Errno::LOOP) => Ok(Seen::Link),
        // A link where the system has another word for it.
        Err(Errno::MLINK) => Ok(Seen::Link),
        Err(error) => Err(error),
    }
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
        let opened = |path: &str| open(root.as_fd(), path, read, Mode::empty());
        for path in ["deep/file.txt", "deep/../deep/file.txt", "./deep//.././deep", "deep/..", ""] {
            assert!(opened(path).is_ok(), "{path}");
        }
        for path in ["../outside.txt", "absolute", "relative", "deep/../../outside.txt", "/etc/passwd"] {
            assert!(opened(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_link_is_seen_as_one_and_nothing_is_told_of_where_it_leads() {
        let folder = gristmill_testkit::TestFolder::new("beneath-look");
        std::fs::write(folder.path().join("file"), "four").unwrap();
        std::os::unix::fs::symlink("file", folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink("nothing", folder.path().join("dangling")).unwrap();
        let root = std::fs::File::open(folder.path()).unwrap();
        assert!(matches!(look(root.as_fd(), "file"), Ok(Seen::Thing(stat)) if stat.st_size == 4));
        for link in ["link", "dangling"] {
            assert!(matches!(look(root.as_fd(), link), Ok(Seen::Link)), "{link}");
        }
        assert!(matches!(look(root.as_fd(), "other"), Err(Errno::NOENT)));
    }

    #[test]
    fn the_last_part_must_be_a_name() {
        let here = std::fs::File::open(".").unwrap();
        for path in ["", ".", "..", "a/..", "/", "x/."] {
            assert!(entry(here.as_fd(), path).is_err(), "{path}");
        }
    }
}
