//! A skill's folder written whole or not at all.
//!
//! The new folder is made beside its place, brought to the disk, and changes places with the old one in
//! one step. Whoever is killed in between leaves the old folder or the new one, and a leftover that the
//! next one to write removes.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use gristmill_domain::skills::{SkillFiles, SkillName};
use gristmill_files::remove_tree;
use rustix::fs::{AtFlags, CWD, RenameFlags, renameat, renameat_with, statat, unlinkat};
use rustix::io::Errno;

use super::folder;

/// New folders, and old ones on their way out.
const LEFTOVER: &str = ".leftover-";
/// An old one that has no new one in its place yet, followed by its name.
const ASIDE: &str = ".aside-";

/// Entries that are looked at for leftovers.
const ENTRIES_MAX: usize = 4_000;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Puts these files in the place of a skill. Whoever calls holds the lock.
pub(super) fn replace(folder: &Path, name: &SkillName, files: &SkillFiles) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    let new = leftover(folder);
    let outcome = write_new(&new, files).and_then(|()| swap(folder, name, &new));
    // By now it holds what was there before, or what could not be written.
    let _ = remove_tree(&new);
    outcome?;
    sync(folder);
    Ok(())
}

/// Takes a skill's folder away. Whoever calls holds the lock.
pub(super) fn remove(folder: &Path, name: &SkillName) -> io::Result<()> {
    let gone = leftover(folder);
    fs::rename(folder.join(name.as_str()), &gone)?;
    sync(folder);
    let _ = remove_tree(&gone);
    Ok(())
}

/// Whether somebody left something behind.
pub(super) fn has_leftovers(folder: &Path) -> bool {
    let Ok(Some(opened)) = folder::open(folder) else { return false };
    entries(&opened).iter().any(|name| name.starts_with(LEFTOVER) || name.starts_with(ASIDE))
}

/// As many as are worth looking at: a project's folder may hold anything.
fn entries(folder: &OwnedFd) -> Vec<String> {
    folder::names(folder, ENTRIES_MAX).map(|(names, _)| names).unwrap_or_default()
}

/// Finishes or takes back what somebody who was killed had begun. Whoever calls holds the lock. By
/// descriptor and through no link: whatever the project is, nothing outside of its folder is touched.
pub(super) fn clean(folder: &Path) {
    let Ok(Some(opened)) = folder::open(folder) else { return };
    for name in entries(&opened) {
        if let Some(skill) = name.strip_prefix(ASIDE) {
            let is_free = matches!(statat(&opened, skill, AtFlags::SYMLINK_NOFOLLOW), Err(Errno::NOENT));
            // Without one in its place, it is the only one there is.
            if SkillName::new(skill).is_ok() && is_free {
                let _ = renameat(&opened, name.as_str(), &opened, skill);
            } else {
                remove_flat(&opened, &name);
            }
        } else if name.starts_with(LEFTOVER) {
            remove_flat(&opened, &name);
        }
    }
}

/// A folder as we write them, files side by side. One that holds anything else is not ours, and stays.
fn remove_flat(above: &OwnedFd, name: &str) {
    let Ok(opened) = folder::open_below(above, name) else { return };
    for file in entries(&opened) {
        let _ = unlinkat(&opened, file.as_str(), AtFlags::empty());
    }
    let _ = unlinkat(above, name, AtFlags::REMOVEDIR);
}

fn leftover(folder: &Path) -> PathBuf {
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("{LEFTOVER}{}-{count}", std::process::id()))
}

fn write_new(new: &Path, files: &SkillFiles) -> io::Result<()> {
    DirBuilder::new().mode(0o755).create(new)?;
    for (name, text) in files.iter() {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(new.join(name))?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
    }
    sync(new);
    Ok(())
}

fn swap(folder: &Path, name: &SkillName, new: &Path) -> io::Result<()> {
    let place = folder.join(name.as_str());
    if fs::symlink_metadata(&place).is_err() {
        return fs::rename(new, &place);
    }
    match renameat_with(CWD, new, CWD, &place, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        // Not every file system can do it in one step.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            let aside = folder.join(format!("{ASIDE}{name}"));
            let _ = remove_tree(&aside);
            fs::rename(&place, &aside)?;
            let moved = fs::rename(new, &place);
            match &moved {
                Ok(()) => drop(remove_tree(&aside)),
                Err(_) => drop(fs::rename(&aside, &place)),
            }
            moved
        }
        Err(error) => Err(error.into()),
    }
}

/// Some file systems cannot do this; then there is nothing to be done.
fn sync(folder: &Path) {
    drop(File::open(folder).and_then(|folder| folder.sync_all()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_testkit::TestFolder;

    fn files(code: &str) -> SkillFiles {
        let mut files = SkillFiles::default();
        files.put("a.py", code).expect("a file");
        files
    }

    #[test]
    fn a_folder_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = TestFolder::new("skills-write");
        let name = SkillName::new("a").expect("a name");
        let mut first = files("x = 1");
        first.put("notes.md", "old").expect("a file");
        replace(folder.path(), &name, &first).expect("written");
        replace(folder.path(), &name, &files("x = 2")).expect("written");
        let read = super::super::folder::read_one(folder.path(), &name).expect("readable").expect("there");
        assert_eq!(read, files("x = 2"));
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        remove(folder.path(), &name).expect("removed");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }

    #[test]
    fn nothing_is_cleaned_up_through_a_link() {
        let folder = TestFolder::new("skills-clean-linked");
        let outside = folder.path().join("outside/skills");
        fs::create_dir_all(outside.join(".leftover-1-2")).expect("a folder");
        fs::create_dir_all(outside.join(".aside-taken")).expect("a folder");
        fs::create_dir_all(folder.path().join("one/.gristmill")).expect("a folder");
        fs::create_dir_all(folder.path().join("two")).expect("a folder");
        let link = |to: &Path, at: &str| {
            std::os::unix::fs::symlink(to, folder.path().join(at)).expect("a link");
        };
        link(&outside, "one/.gristmill/skills");
        link(&folder.path().join("outside"), "two/.gristmill");
        for project in ["one", "two"] {
            let skills = folder.path().join(project).join(".gristmill/skills");
            assert!(!has_leftovers(&skills), "{project}");
            clean(&skills);
        }
        assert!(outside.join(".leftover-1-2").is_dir() && outside.join(".aside-taken").is_dir());
        // A link among the leftovers is not followed either.
        link(&outside, ".leftover-3-4");
        clean(folder.path());
        assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 2);
    }

    #[test]
    fn what_a_killed_one_left_is_finished_or_taken_back() {
        let folder = TestFolder::new("skills-clean");
        let make = |name: &str| {
            fs::create_dir(folder.path().join(name)).expect("a folder");
            fs::write(folder.path().join(name).join("a.py"), name).expect("a file");
        };
        make(".leftover-1-2");
        make(".aside-alone");
        make(".aside-both");
        make("both");
        assert!(has_leftovers(folder.path()));
        clean(folder.path());
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("one").file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["alone", "both"]);
        assert_eq!(fs::read_to_string(folder.path().join("both/a.py")).expect("a file"), "both");
    }
}
