//! Removing a folder with everything in it, however deep it is.
//!
//! Invariants: no recursion and at most four descriptors, since whoever filled the folder decides how deep it
//! is (`std::fs::remove_dir_all` calls itself for each level). Nothing is reached by more than one name from
//! a descriptor, and no link is followed.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// How what is moved up is called there, with a number behind it.
const MOVED: &str = ".removing-";

/// Removes the folder at `path` and everything in it. A link in its place is refused. What cannot be removed
/// is left, with everything above it, and the first reason is given.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    empty_and_remove(path, None).map(drop)
}

/// The same, and gives how many bytes its files had.
pub fn remove_tree_counted(path: &Path) -> io::Result<u64> {
    empty_and_remove(path, Some(0)).map(Option::unwrap_or_default)
}

fn empty_and_remove(path: &Path, bytes: Option<u64>) -> io::Result<Option<u64>> {
    let root = open_root(path)?;
    let mut emptying = Emptying { root: &root, moved: 0, failed: None, bytes };
    // Each round takes one level off every folder that is left.
    while emptying.round()? == Round::TookSome {}
    if let Some(error) = emptying.failed {
        return Err(error.into());
    }
    let bytes = emptying.bytes;
    std::fs::remove_dir(path).map(|()| bytes)
}

#[derive(PartialEq, Eq)]
enum Round {
    /// There may be more.
    TookSome,
    /// What is left cannot be removed, if there is anything.
    TookNothing,
}

struct Emptying<'a> {
    root: &'a OwnedFd,
    /// How many folders got a new place.
    moved: u64,
    /// Why something is still there, for the first such thing of this round.
    failed: Option<Errno>,
    /// Of the files that went, if anybody wants to know.
    bytes: Option<u64>,
}

impl Emptying<'_> {
    /// Removes the files of the root; of each folder in it the files, whereupon the folders of that one are
    /// moved up into the root and itself removed.
    fn round(&mut self) -> io::Result<Round> {
        self.failed = None;
        let mut took = Round::TookNothing;
        let root = self.root;
        for entry in Dir::read_from(root)? {
            let entry = entry?;
            let name = entry.file_name();
            if is_itself(name) {
                continue;
            }
            let removed = match self.remove_entry(root, name, entry.file_type()) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => self.take_apart(name),
                outcome => outcome,
            };
            match removed {
                Ok(()) => took = Round::TookSome,
                // Someone else was faster.
                Err(Errno::NOENT) => {}
                Err(error) => {
                    self.failed.get_or_insert(error);
                }
            }
        }
        Ok(took)
    }

    /// Empties one folder of the root and removes it.
    fn take_apart(&mut self, name: &CStr) -> Result<(), Errno> {
        let folder = open_to_empty(self.root, name)?;
        for entry in Dir::read_from(&folder)? {
            let entry = entry?;
            let below = entry.file_name();
            if is_itself(below) {
                continue;
            }
            match self.remove_entry(&folder, below, entry.file_type()) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => self.move_up(&folder, below)?,
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        rustix::fs::unlinkat(self.root, name, AtFlags::REMOVEDIR)
    }

    /// Removes a file, a link, or an empty folder.
    fn remove_entry(&mut self, folder: &OwnedFd, name: &CStr, kind: FileType) -> Result<(), Errno> {
        if kind != FileType::Directory {
            let size = self.bytes.and_then(|_| file_bytes(folder, name));
            match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
                // A folder, where the file system does not tell kinds or the name has changed hands.
                Err(Errno::ISDIR | Errno::PERM) => {}
                outcome => {
                    if let (Ok(()), Some(bytes)) = (&outcome, &mut self.bytes) {
                        *bytes = bytes.saturating_add(size.unwrap_or_default());
                    }
                    return outcome;
                }
            }
        }
        rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)
    }

    /// Gives a folder a name in the root that no other has.
    fn move_up(&mut self, from: &OwnedFd, name: &CStr) -> Result<(), Errno> {
        loop {
            let above = format!("{MOVED}{}", self.moved);
            self.moved += 1;
            match rustix::fs::renameat(from, name, self.root, above.as_str()) {
                // Someone else had the same idea for a name.
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
                // A folder that cannot be written to cannot be moved either.
                Err(Errno::ACCESS) if make_own(from, name).is_ok() => {
                    return rustix::fs::renameat(from, name, self.root, above.as_str());
                }
                outcome => return outcome,
            }
        }
    }
}

fn file_bytes(folder: &OwnedFd, name: &CStr) -> Option<u64> {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    u64::try_from(stat.st_size).ok()
}

fn open_root(path: &Path) -> io::Result<OwnedFd> {
    match rustix::fs::open(path, FOLDER, Mode::empty()) {
        Err(Errno::ACCESS) if std::fs::symlink_metadata(path)?.is_dir() => {
            rustix::fs::chmod(path, Mode::RWXU)?;
            Ok(rustix::fs::open(path, FOLDER, Mode::empty())?)
        }
        outcome => {
            let root = outcome?;
            // Whoever is not root cannot empty a folder that is read-only.
            let _ = rustix::fs::fchmod(&root, Mode::RWXU);
            Ok(root)
        }
    }
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Opens a folder that is about to be emptied; one that its owner may not use is made usable.
fn open_to_empty(parent: &OwnedFd, name: &CStr) -> Result<OwnedFd, Errno> {
    let folder = match rustix::fs::openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::ACCESS) => {
            make_own(parent, name)?;
            rustix::fs::openat(parent, name, FOLDER, Mode::empty())?
        }
        outcome => outcome?,
    };
    let _ = rustix::fs::fchmod(&folder, Mode::RWXU);
    Ok(folder)
}

/// Lets its owner read, enter and change a folder. Not what a link leads to.
fn make_own(parent: &OwnedFd, name: &CStr) -> Result<(), Errno> {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => rustix::fs::chmodat(parent, name, Mode::RWXU, AtFlags::empty()),
        _ => Err(Errno::NOTDIR),
    }
}

fn is_itself(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// As deep as no recursion gets on the stacks of these tests.
    const DEEP: usize = 20_000;

    /// Little enough that one frame for each level would not fit.
    const STACK_BYTES: usize = 256 * 1024;

    fn nest(folder: &Path, levels: usize) {
        let mut at = rustix::fs::open(folder, FOLDER, Mode::empty()).unwrap();
        for level in 0..levels {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            if level % 1000 == 0 {
                let flags = OFlags::WRONLY | OFlags::CREATE;
                rustix::fs::openat(&at, "file", flags, Mode::RUSR).unwrap();
            }
            at = rustix::fs::openat(&at, "d", FOLDER, Mode::empty()).unwrap();
        }
    }

    #[test]
    fn door_6_twenty_thousand_nested_folders_are_removed_on_a_small_stack() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("deep");
        fs::create_dir(&deep).unwrap();
        nest(&deep, DEEP);
        // Beside it something wide, with names like those that we give.
        for number in 0..50 {
            fs::create_dir_all(deep.join(format!("{MOVED}{number}/below/further"))).unwrap();
            fs::write(deep.join(format!("{MOVED}{number}/below/file")), "content").unwrap();
        }
        let removing = deep.clone();
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn(move || remove_tree(&removing)).unwrap().join().unwrap().unwrap();
        assert!(!deep.exists());
    }

    #[test]
    fn links_go_and_what_they_lead_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, outside) = (folder.path().join("tree"), folder.path().join("outside"));
        fs::create_dir_all(tree.join("a/b")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "kept").unwrap();
        for link in ["link", "a/link", "a/b/link"] {
            std::os::unix::fs::symlink(&outside, tree.join(link)).unwrap();
        }
        remove_tree(&tree).unwrap();
        assert!(!tree.exists() && outside.join("kept").exists());
        std::os::unix::fs::symlink(&outside, &tree).unwrap();
        assert!(remove_tree(&tree).is_err() && outside.join("kept").exists());
        assert_eq!(remove_tree(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn folders_that_their_owner_may_not_use_are_removed_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        fs::create_dir_all(tree.join("a/b/c/d")).unwrap();
        fs::write(tree.join("a/b/c/file"), "content").unwrap();
        for (path, mode) in [("a/b/c", 0o500), ("a/b", 0o300), ("a", 0o500), ("", 0o500)] {
            fs::set_permissions(tree.join(path), fs::Permissions::from_mode(mode)).unwrap();
        }
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
    }
}
