//! Where files lie that come back, until all of them are here: beside the workspace, in the same file system.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gristmill_files::remove_tree;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::names::LinkId;

/// How its name begins; the link's follows.
const NAME: &str = ".arriving-";

/// How often another program that tidies up may take one for left behind before it's locked, and how long that takes.
const TRIES: usize = 100;
const TIDIED_WITHIN: Duration = Duration::from_millis(1);

/// Removed with everything in it when this is dropped.
pub(super) struct Stage {
    path: PathBuf,
    /// Locked as long as it's used.
    pub folder: OwnedFd,
}

impl Stage {
    /// Removes those that killed gateways have left there.
    pub fn beside(workspace: &Path, link: LinkId) -> io::Result<Self> {
        let above = workspace.parent().ok_or_else(|| io::Error::other("the workspace is in no folder"))?;
        remove_left_behind(above);
        let path = above.join(format!("{NAME}{link}"));
        for _ in 0..TRIES {
            match DirBuilder::new().mode(0o700).create(&path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => {}
            }
            match open(&path) {
                // Where nothing can be locked, nothing is removed either.
                Ok(folder) if lock(&folder) != Err(Errno::WOULDBLOCK) && is_at(&folder, &path) => {
                    return Ok(Self { path, folder });
                }
                Ok(_) => std::thread::sleep(TIDIED_WITHIN),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("others remove it again and again"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = remove_tree(&self.path);
    }
}

/// What can't be removed now has another chance with the next program.
fn remove_left_behind(above: &Path) {
    for entry in fs::read_dir(above).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let link = name.to_str().and_then(|name| LinkId::read(name.strip_prefix(NAME)?));
        if link.is_none() {
            continue;
        }
        if let Ok(folder) = open(&entry.path())
            && lock(&folder).is_ok()
        {
            let _ = remove_tree(&entry.path());
        }
    }
}

fn open(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Fails if somebody else has it, and where folders can't be locked.
fn lock(folder: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::flock(folder, FlockOperation::NonBlockingLockExclusive)
}

/// Whether a folder is still where it was made.
fn is_at(folder: &OwnedFd, path: &Path) -> bool {
    let (Ok(ours), Ok(there)) = (rustix::fs::fstat(folder), rustix::fs::lstat(path)) else { return false };
    (ours.st_dev, ours.st_ino) == (there.st_dev, there.st_ino)
}

#[cfg(test)]
mod tests {
    use gristmill_testkit::TestFolder;

    use super::*;

    #[test]
    fn a_stage_is_made_while_others_tidy_up_and_only_what_is_ours_is_removed() {
        let above = TestFolder::new("stages");
        let (workspace, own) = (above.path().join("workspace"), above.path().join(".arriving-notes"));
        fs::create_dir(&own).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let stage = Stage::beside(&workspace, LinkId::new().unwrap()).expect("a stage");
                        assert!(is_at(&stage.folder, &stage.path));
                    }
                });
            }
        });
        let left: Vec<_> = fs::read_dir(above.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, [own]);
    }
}
