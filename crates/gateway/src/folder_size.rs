//! How much a folder holds, whoever filled it.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// More entries than any limit permits: there is no need to count on.
const ENTRIES_MAX: u64 = 1_000_001;

/// Deeper than any program can make it; only someone who has broken out of the engine could. One descriptor
/// is open for each level.
pub(crate) const DEPTH_MAX: usize = 256;

/// What lies below a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FolderSize {
    pub bytes: u64,
    /// Files, folders and all else that has a name.
    pub entries: u64,
}

/// Adds what lies below a folder to `size`, links not followed. By descriptor: a path can be too long to
/// be named, and what cannot be named must still count. A program may work in it meanwhile: what is gone
/// between two looks holds nothing. Folders nested more than [`DEPTH_MAX`] deep are an error, and `size` is
/// what was found until then.
pub(crate) fn measure(folder: &OwnedFd, size: &mut FolderSize) -> io::Result<()> {
    // The folders on the way down, the deepest last; not by recursion, since others decide how deep it is.
    let mut way = vec![Dir::read_from(folder)?];
    while let Some(deepest) = way.last_mut() {
        let Some(entry) = deepest.read() else {
            way.pop();
            continue;
        };
        let entry = match entry {
            // The folder itself was removed.
            Err(Errno::NOENT) => {
                way.pop();
                continue;
            }
            entry => entry?,
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let stat = match rustix::fs::statat(deepest.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => continue,
            outcome => outcome?,
        };
        size.entries += 1;
        if size.entries > ENTRIES_MAX {
            return Ok(());
        }
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            size.bytes = size.bytes.saturating_add(u64::try_from(stat.st_size).unwrap_or(0));
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(deepest.fd()?, name, flags, Mode::empty()) {
            // Something else has its name by now.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {}
            below => way.push(Dir::new(below?)?),
        }
        if way.len() > DEPTH_MAX + 1 {
            return Err(io::Error::other(format!("it has folders nested more than {DEPTH_MAX} levels deep")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_testkit::TestFolder;

    #[test]
    fn bytes_and_entries_are_counted_and_links_are_not_followed() {
        let folder = TestFolder::new("measure");
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::fs::write(folder.path().join("a/b/file"), "12345").unwrap();
        std::fs::write(folder.path().join("a/other"), "123").unwrap();
        std::os::unix::fs::symlink("/", folder.path().join("a/link")).unwrap();
        let mut size = FolderSize::default();
        measure(&std::fs::File::open(folder.path()).unwrap().into(), &mut size).unwrap();
        // A link counts for what it takes itself.
        assert_eq!(size, FolderSize { bytes: 5 + 3 + 1, entries: 5 });
    }

    #[test]
    fn door_6_a_folder_of_twenty_thousand_levels_is_refused_on_a_small_stack_and_can_be_removed() {
        let folder = TestFolder::new("measure-deep");
        let deep = folder.path().join("deep");
        std::fs::create_dir(&deep).unwrap();
        let root = OwnedFd::from(std::fs::File::open(&deep).unwrap());
        let mut at = root.try_clone().unwrap();
        for _ in 0..20_000 {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            at = rustix::fs::openat(&at, "d", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        let thread = std::thread::Builder::new().stack_size(256 * 1024);
        let measured = thread.spawn(move || measure(&root, &mut FolderSize::default())).unwrap().join();
        let refused = measured.unwrap().unwrap_err().to_string();
        assert_eq!(refused, "it has folders nested more than 256 levels deep");
        gristmill_files::remove_tree(&deep).unwrap();
        assert!(!deep.exists());
    }
}
