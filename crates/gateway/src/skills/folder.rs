//! A folder of skills as it lies on disk: read with bounds, links not followed.
//!
//! A project's folder comes from anybody. Whatever is wrong with one skill is said of that one.

use std::ffi::CStr;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use gristmill_domain::one_line;
use gristmill_domain::skills::{
    FilesError, NameError, SKILL_BYTES_MAX, SKILL_FILES_MAX, SKILLS_MAX, SkillFiles, SkillName,
};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// Entries of the folder that are looked at: room for skills and for what lies about.
const ENTRIES_MAX: usize = 2_000;

/// Entries of one skill that are looked at.
const SKILL_ENTRIES_MAX: usize = 4 * SKILL_FILES_MAX;

/// Above a project's skills.
const PROJECT_PARENT: &str = ".gristmill";

/// One skill on disk.
pub(super) struct FoundSkill {
    pub name: SkillName,
    pub files: SkillFiles,
}

/// Something that is no skill, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The entry's name, safe to show; empty for the folder itself.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

/// All that was found.
#[derive(Default)]
pub(super) struct Found {
    pub skills: Vec<FoundSkill>,
    pub problems: Vec<Problem>,
}

/// Reads the whole folder. One that is not there is empty.
pub(super) fn read(folder: &Path) -> Found {
    let mut found = Found::default();
    let whole = |why: String| Problem { name: String::new(), why };
    let opened = match open(folder) {
        Ok(Some(opened)) => opened,
        Ok(None) => return found,
        Err(error) => {
            found.problems.push(whole(format!("can't read {}: {error}", folder.display())));
            return found;
        }
    };
    let (names, left_out) = match names(&opened, ENTRIES_MAX) {
        Ok(names) => names,
        Err(error) => {
            found.problems.push(whole(format!("can't read {}: {error}", folder.display())));
            return found;
        }
    };
    if left_out {
        let why =
            format!("{} has more than {ENTRIES_MAX} entries; the others are not looked at", folder.display());
        found.problems.push(whole(why));
    }
    for name in names {
        // What lies in the folder besides: a README, a lock, leftovers.
        if name.starts_with('.') || !is_folder(&opened, &name) {
            continue;
        }
        if found.skills.len() >= SKILLS_MAX {
            found.problems.push(whole(format!("only the first {SKILLS_MAX} skills are used")));
            break;
        }
        match read_skill(&opened, &name, &found.skills) {
            Ok(skill) => found.skills.push(skill),
            Err(why) => found.problems.push(Problem { name: one_line(&name, 64), why: why.to_string() }),
        }
    }
    found
}

/// A folder that cannot be read as a skill. Nothing of it is used.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableSkill {
    #[error("there is no folder {}", .0.display())]
    NoFolder(PathBuf),
    /// Its name is none that can be imported.
    #[error(transparent)]
    Name(#[from] NameError),
    /// Another folder beside it means the same name.
    #[error("its name reads like `{0}`, which comes first")]
    ReadsLike(SkillName),
    /// It, or something in it, leads elsewhere.
    #[error("it is a link, and links aren't followed")]
    Link,
    /// More than a skill has.
    #[error("it has more than {SKILL_FILES_MAX} files")]
    TooManyFiles,
    /// One of its files.
    #[error("{name}: {why}")]
    File {
        name: String,
        /// What is wrong with it.
        why: Box<UnreadableSkill>,
    },
    /// Its files together are no skill.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// In place of a file.
    #[error("it is a folder, but a skill's files must lie side by side")]
    Folder,
    /// A pipe, a device.
    #[error("it isn't a file")]
    NotAFile,
    /// Not to be kept whole.
    #[error("it is larger than {SKILL_BYTES_MAX} bytes")]
    TooLarge,
    #[error("it isn't UTF-8 text")]
    NotText,
    /// The system says no.
    #[error(transparent)]
    System(#[from] std::io::Error),
}

impl From<Errno> for UnreadableSkill {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

/// One skill of the folder; `None` if there is none of exactly this name.
pub(super) fn read_one(folder: &Path, name: &SkillName) -> Result<Option<SkillFiles>, UnreadableSkill> {
    let Some(opened) = open(folder)? else { return Ok(None) };
    match rustix::fs::statat(&opened, name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(_) => read_skill(&opened, name.as_str(), &[]).map(|skill| Some(skill.files)),
    }
}

/// The names of all that lie in the folder and could be skills.
pub(super) fn skill_names(folder: &Path) -> Vec<SkillName> {
    let Ok(Some(opened)) = open(folder) else { return Vec::new() };
    let names = names(&opened, ENTRIES_MAX).map(|(names, _)| names).unwrap_or_default();
    let folders = names.into_iter().filter(|name| is_folder(&opened, name));
    folders.filter_map(|name| SkillName::new(&name).ok()).collect()
}

/// A skill's folder that somebody names, to be imported: anywhere, under any name.
pub fn read_files(folder: &Path) -> Result<SkillFiles, UnreadableSkill> {
    let opened = open(folder)?.ok_or_else(|| UnreadableSkill::NoFolder(folder.to_owned()))?;
    files_of(&opened)
}

/// Differs whenever something in the folder does, as far as times and sizes tell.
pub(super) fn fingerprint(folder: &Path) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    let mut add = |name: &str, stat: &Stat| {
        let Stat { st_ino, st_size, st_ctime, st_ctime_nsec, .. } = stat;
        hasher.update(format!("{name}\0{st_ino} {st_size} {st_ctime} {st_ctime_nsec}\0").as_bytes());
    };
    if let Ok(Some(opened)) = open(folder) {
        for (name, below) in entries(&opened, ENTRIES_MAX) {
            add(&name, &below);
            if FileType::from_raw_mode(below.st_mode) != FileType::Directory || name.starts_with('.') {
                continue;
            }
            if let Ok(skill) = open_below(&opened, &name) {
                entries(&skill, SKILL_ENTRIES_MAX).iter().for_each(|(name, stat)| add(name, stat));
            }
        }
    }
    hasher.finalize()
}

fn entries(folder: &OwnedFd, count_max: usize) -> Vec<(String, Stat)> {
    let names = names(folder, count_max).map(|(names, _)| names).unwrap_or_default();
    let stat = |name: String| {
        let stat = rustix::fs::statat(folder, name.as_str(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((name, stat))
    };
    names.into_iter().filter_map(stat).collect()
}

/// A project must not lead us elsewhere: neither the folder nor the one above may be a link.
pub(super) fn open(folder: &Path) -> io::Result<Option<OwnedFd>> {
    // A bare name has nothing above it that we were told of.
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).map(PathBuf::from);
    for place in above.iter().map(PathBuf::as_path).chain([folder]) {
        match std::fs::symlink_metadata(place) {
            Ok(metadata) if metadata.is_symlink() && place.ends_with(PROJECT_PARENT) => {
                return Err(io::Error::other(format!("{} is a link", place.display())));
            }
            Ok(metadata) if metadata.is_symlink() && place == folder => {
                return Err(io::Error::other("it is a link"));
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = match (above, folder.file_name()) {
        // Step by step: no link can come in between.
        (Some(above), Some(name)) if above.ends_with(PROJECT_PARENT) => {
            let above = rustix::fs::open(above.as_path(), flags, Mode::empty())?;
            rustix::fs::openat(&above, name, flags, Mode::empty())?
        }
        (_, _) => rustix::fs::open(folder, flags, Mode::empty())?,
    };
    Ok(Some(opened))
}

pub(super) fn open_below(folder: &OwnedFd, name: &str) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

fn is_folder(folder: &OwnedFd, name: &str) -> bool {
    let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.is_ok_and(|stat| {
        // A link is looked at, to say that it is one.
        matches!(FileType::from_raw_mode(stat.st_mode), FileType::Directory | FileType::Symlink)
    })
}

/// Sorted, at most so many; whether there are more. Names that are not text are left out.
pub(super) fn names(folder: &OwnedFd, count_max: usize) -> io::Result<(Vec<String>, bool)> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        let name: &CStr = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        if names.len() >= count_max {
            names.sort();
            return Ok((names, true));
        }
        if let Ok(name) = name.to_str() {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok((names, false))
}

fn read_skill(folder: &OwnedFd, name: &str, others: &[FoundSkill]) -> Result<FoundSkill, UnreadableSkill> {
    let name = SkillName::new(name)?;
    if let Some(other) = others.iter().find(|other| other.name.folded() == name.folded()) {
        return Err(UnreadableSkill::ReadsLike(other.name.clone()));
    }
    let opened = open_below(folder, name.as_str()).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => UnreadableSkill::Link,
        error => error.into(),
    })?;
    let files = files_of(&opened)?;
    files.code(&name)?;
    Ok(FoundSkill { name, files })
}

fn files_of(folder: &OwnedFd) -> Result<SkillFiles, UnreadableSkill> {
    let (names, more) = names(folder, SKILL_ENTRIES_MAX)?;
    if more {
        return Err(UnreadableSkill::TooManyFiles);
    }
    let mut files = SkillFiles::default();
    for name in names {
        if name.starts_with('.') || name == "__pycache__" {
            continue;
        }
        let text = read_text(folder, &name)
            .map_err(|why| UnreadableSkill::File { name: one_line(&name, 64), why: Box::new(why) })?;
        files.put(&name, &text)?;
    }
    Ok(files)
}

fn read_text(folder: &OwnedFd, name: &str) -> Result<String, UnreadableSkill> {
    // Not blocking: a pipe in its place must not hold us.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP => UnreadableSkill::Link,
        error => error.into(),
    })?;
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Directory => return Err(UnreadableSkill::Folder),
        _ => return Err(UnreadableSkill::NotAFile),
    }
    let mut bytes = Vec::new();
    std::fs::File::from(file).take(SKILL_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > SKILL_BYTES_MAX {
        return Err(UnreadableSkill::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| UnreadableSkill::NotText)
}
