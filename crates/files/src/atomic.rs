//! A file is written beside its place, brought to the disk, and renamed: whoever reads it sees the old
//! content or the new one, also after a crash.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// No write takes this long: what is older was left behind by a process that was killed.
const LEFTOVER_AGE: Duration = Duration::from_secs(600);

/// Names that may be taken by leftovers of a process with our id.
const NAMES_MAX: usize = 100;

const PRIVATE_MODE: u32 = 0o600;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A file that could not be written. What was there before is untouched.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    #[error("{} can't be written: it isn't a regular file", .path.display())]
    NotAFile { path: PathBuf },
    #[error("{} can't be written: it links to a file that doesn't exist", .path.display())]
    DanglingLink { path: PathBuf },
    #[error("{} can't be written: {source}", .path.display())]
    System { path: PathBuf, source: io::Error },
}

impl WriteError {
    pub fn system(path: &Path, source: io::Error) -> Self {
        Self::System { path: path.to_owned(), source }
    }
}

/// Replaces or creates a file of mode 600. Missing folders are made with mode 700. A link is replaced,
/// not followed.
pub fn replace_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    make_private_folder(folder)?;
    remove_leftovers(path, folder);
    write_and_rename(path, folder, bytes, PRIVATE_MODE)
}

/// Replaces or creates a file that belongs to the user. A link stays, and the file that it points to is
/// replaced; that file keeps its mode. A new file has mode 600, and folders made for it have mode 700.
pub fn replace_keeping_mode(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    let failed = |source| WriteError::system(path, source);
    let target = behind_links(path)?;
    let folder = target.parent().ok_or_else(|| failed(io::ErrorKind::InvalidInput.into()))?;
    make_private_folder(folder).map_err(failed)?;
    let mode = match fs::metadata(&target) {
        Ok(metadata) if !metadata.is_file() => return Err(WriteError::NotAFile { path: path.to_owned() }),
        Ok(metadata) => metadata.permissions().mode() & 0o777,
        Err(error) if error.kind() == io::ErrorKind::NotFound => PRIVATE_MODE,
        Err(error) => return Err(failed(error)),
    };
    write_and_rename(&target, folder, bytes, mode).map_err(failed)
}

/// Takes all access to a file from everyone but its owner.
pub fn restrict_to_owner(path: &Path) -> Result<(), WriteError> {
    let restrict = || {
        let mode = fs::metadata(path)?.permissions().mode();
        fs::set_permissions(path, Permissions::from_mode(mode & 0o700))
    };
    restrict().map_err(|source| WriteError::system(path, source))
}

/// Makes a folder of mode 700, and those above it. One that is there stays as it is.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Brings the names in a folder to the disk. Some file systems cannot do this; then nothing happens.
pub fn sync_folder(path: &Path) {
    drop(File::open(path).and_then(|folder| folder.sync_all()));
}

fn write_and_rename(path: &Path, folder: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let (file, temporary) = create_beside(path, folder)?;
    let written = fill(file, bytes, mode).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one worth telling.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    sync_folder(folder);
    Ok(())
}

fn fill(mut file: File, bytes: &[u8], mode: u32) -> io::Result<()> {
    file.write_all(bytes)?;
    // Others may read it only when it is whole.
    if mode != PRIVATE_MODE {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

/// An empty file of mode 600 under a name that nobody has.
fn create_beside(path: &Path, folder: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for _ in 0..NAMES_MAX {
        let mut temporary = beginning_of_leftovers(name.to_owned());
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        temporary.push(format!("{}-{count}.new", std::process::id()));
        let temporary = folder.join(temporary);
        match OpenOptions::new().write(true).create_new(true).mode(PRIVATE_MODE).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn beginning_of_leftovers(name: OsString) -> OsString {
    let mut beginning = OsString::from(".");
    beginning.push(name);
    beginning.push(".");
    beginning
}

fn remove_leftovers(path: &Path, folder: &Path) {
    let beginning = beginning_of_leftovers(path.file_name().unwrap_or_default().to_owned());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let (name, beginning) = (name.as_encoded_bytes(), beginning.as_encoded_bytes());
        if !name.starts_with(beginning) || !name.ends_with(b".new") {
            continue;
        }
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        if modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFTOVER_AGE)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The absolute path of the file itself; of a file that is not there yet, the path where it will be.
fn behind_links(path: &Path) -> Result<PathBuf, WriteError> {
    let failed = |source| WriteError::system(path, source);
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(path) {
            Ok(_) => Err(WriteError::DanglingLink { path: path.to_owned() }),
            Err(_) => std::path::absolute(path).map_err(failed),
        },
        Err(error) => Err(failed(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::time::SystemTime;

    use tempfile::TempDir;

    use super::*;

    fn folder() -> TempDir {
        tempfile::tempdir().expect("a folder for the test")
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("a test may do this");
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> =
            fs::read_dir(folder).expect("a folder").flatten().map(|e| e.file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_private_file_is_created_with_private_folders() {
        let root = folder();
        let path = root.path().join("deep/data/file.json");
        replace_private(&path, b"one").expect("written");
        replace_private(&path, b"two").expect("written again");
        assert_eq!(fs::read(&path).expect("a file"), b"two");
        assert_eq!(
            (mode(&path), mode(&root.path().join("deep/data")), mode(&root.path().join("deep"))),
            (0o600, 0o700, 0o700)
        );
        assert_eq!(names(&root.path().join("deep/data")), ["file.json"]);
    }

    #[test]
    fn a_private_file_is_private_again_after_it_was_opened_up() {
        let root = folder();
        let path = root.path().join("file");
        fs::write(&path, "old").expect("a test may do this");
        set_mode(&path, 0o666);
        replace_private(&path, b"new").expect("written");
        assert_eq!(mode(&path), 0o600);
    }

    #[test]
    fn a_private_file_takes_the_place_of_a_link() {
        let root = folder();
        let (path, target) = (root.path().join("link"), root.path().join("target"));
        fs::write(&target, "elsewhere").expect("a test may do this");
        symlink(&target, &path).expect("a link");
        replace_private(&path, b"ours").expect("written");
        assert_eq!(fs::read(&target).expect("a file"), b"elsewhere");
        assert!(fs::symlink_metadata(&path).expect("a file").is_file());
    }

    #[test]
    fn old_leftovers_go_and_young_ones_stay() {
        let root = folder();
        let path = root.path().join("file");
        let make = |name: &str, age: Duration| {
            let file = File::create(root.path().join(name)).expect("a file");
            file.set_modified(SystemTime::now() - age).expect("a time");
        };
        make(".file.1-0.new", LEFTOVER_AGE * 2);
        make(".file.2-0.new", Duration::ZERO);
        make(".file.of-the-user", LEFTOVER_AGE * 2);
        make(".other.1-0.new", LEFTOVER_AGE * 2);
        replace_private(&path, b"").expect("written");
        assert_eq!(names(root.path()), [".file.2-0.new", ".file.of-the-user", ".other.1-0.new", "file"]);
    }

    #[test]
    fn nothing_is_left_of_a_write_that_fails() {
        let root = folder();
        let path = root.path().join("in-the-way");
        fs::create_dir(&path).expect("a folder");
        replace_private(&path, b"new").expect_err("a folder is in its place");
        assert_eq!(names(root.path()), ["in-the-way"]);
    }

    #[test]
    fn a_users_file_keeps_its_mode_and_a_new_one_is_private() {
        let root = folder();
        let path = root.path().join("new/config.toml");
        replace_keeping_mode(&path, b"one").expect("written");
        assert_eq!((mode(&path), mode(&root.path().join("new"))), (0o600, 0o700));
        for kept in [0o644, 0o640, 0o600] {
            set_mode(&path, kept);
            replace_keeping_mode(&path, b"two").expect("written");
            assert_eq!(mode(&path), kept);
        }
        assert_eq!(names(&root.path().join("new")), ["config.toml"]);
    }

    #[test]
    fn a_link_stays_and_its_target_is_replaced() {
        let root = folder();
        let target = root.path().join("dotfiles/config.toml");
        fs::create_dir(root.path().join("dotfiles")).expect("a folder");
        fs::write(&target, "old").expect("a file");
        let (near, far) = (root.path().join("near"), root.path().join("far"));
        symlink("dotfiles/config.toml", &near).expect("a link");
        symlink(&near, &far).expect("a link to a link");
        replace_keeping_mode(&far, b"new").expect("written");
        assert_eq!(fs::read(&target).expect("a file"), b"new");
        assert!(fs::symlink_metadata(&far).expect("a link").is_symlink());
        assert_eq!(names(&root.path().join("dotfiles")), ["config.toml"]);
    }

    #[test]
    fn what_is_no_file_is_refused_by_its_name() {
        let root = folder();
        let dangling = root.path().join("dangling");
        symlink("nowhere", &dangling).expect("a link");
        assert_eq!(
            replace_keeping_mode(&dangling, b"").expect_err("it points nowhere").to_string(),
            format!("{} can't be written: it links to a file that doesn't exist", dangling.display())
        );
        assert_eq!(
            replace_keeping_mode(root.path(), b"").expect_err("a folder").to_string(),
            format!("{} can't be written: it isn't a regular file", root.path().display())
        );
        let below = dangling.join("x/y");
        assert!(matches!(replace_keeping_mode(&below, b""), Err(WriteError::System { .. })));
    }

    #[test]
    fn restricting_leaves_the_owners_access_as_it_is() {
        let root = folder();
        let path = root.path().join("script");
        fs::write(&path, "").expect("a file");
        set_mode(&path, 0o755);
        restrict_to_owner(&path).expect("it is ours");
        assert_eq!(mode(&path), 0o700);
        assert!(matches!(restrict_to_owner(&root.path().join("none")), Err(WriteError::System { .. })));
    }
}
