//! A folder on disk. Every name is resolved beneath its open descriptor: on Linux by the kernel in
//! one step (`openat2` with `RESOLVE_BENEATH`), elsewhere one part at a time without following any
//! link. Files are opened without waiting, so that a pipe cannot hold the server up.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::inside_path::InsidePath;
use super::tree::{Entry, Kind, Tree, WriteMode};

/// Entries of one folder.
const ENTRIES_MAX: usize = 20_000;

pub struct FolderTree {
    root: OwnedFd,
}

impl FolderTree {
    /// Opens the root, which may be reached through links: whoever started the server named it.
    pub fn open(root: &Path) -> Result<Self, String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(root, flags, Mode::empty()) {
            Ok(root) => Ok(Self { root }),
            Err(error) => Err(format!("can't open the root folder {}: {error}", root.display())),
        }
    }

    fn folder(&self, path: &InsidePath) -> Result<OwnedFd, String> {
        self.resolve(path, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
            .map_err(|error| told(path, error))
    }

    fn parent(&self, path: &InsidePath) -> Result<OwnedFd, String> {
        self.folder(&path.parent())
    }

    fn resolve(&self, path: &InsidePath, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
            let text = if path.is_root() { ".".to_owned() } else { path.to_string() };
            // EAGAIN: something was renamed meanwhile and the kernel could not be sure.
            for _ in 0..16 {
                match openat2(&self.root, &text, flags, mode, how) {
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    // A kernel or a container without the call: the slow way is as safe.
                    Err(Errno::NOSYS | Errno::PERM) => return self.walk(path, flags, mode),
                    outcome => return outcome,
                }
            }
            Err(Errno::BUSY)
        }
        #[cfg(not(target_os = "linux"))]
        self.walk(path, flags, mode)
    }

    fn walk(&self, path: &InsidePath, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        use rustix::fs::openat;
        let down = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut at = openat(&self.root, ".", down, Mode::empty())?;
        if path.is_root() {
            return Ok(at);
        }
        for folder in path.parent().ancestry() {
            at = openat(&at, folder.last(), down, Mode::empty())?;
        }
        openat(&at, path.last(), flags | OFlags::NOFOLLOW, mode)
    }

    fn open_file(&self, path: &InsidePath, flags: OFlags) -> Result<(File, u64), String> {
        // `openat2` takes a mode only where a file may be made.
        let makes = flags.contains(OFlags::CREATE);
        let mode = if makes { Mode::from_raw_mode(0o644) } else { Mode::empty() };
        let opened = self.resolve(path, flags, mode).map_err(|error| told(path, error))?;
        let stat = rustix::fs::fstat(&opened).map_err(|error| told(path, error))?;
        match kind(&stat) {
            Kind::File => Ok((File::from(opened), size(&stat))),
            Kind::Folder => Err(format!("{path} is a folder")),
            Kind::Other => Err(format!("{path} is not a regular file")),
        }
    }
}

impl Tree for FolderTree {
    fn entries(&self, folder: &InsidePath) -> Result<Vec<Entry>, String> {
        let opened = self.folder(folder)?;
        let listing = Dir::read_from(&opened).map_err(|error| told(folder, error))?;
        let mut entries = Vec::new();
        for item in listing {
            let item = item.map_err(|error| told(folder, error))?;
            // Names that are not text cannot be said in JSON, nor asked for.
            let Ok(name) = item.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            if entries.len() >= ENTRIES_MAX {
                return Err(format!("the folder holds more than {ENTRIES_MAX} entries"));
            }
            // Gone since it was listed: not there.
            if let Ok(stat) = rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) {
                entries.push(entry(name, &stat));
            }
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn entry(&self, path: &InsidePath) -> Result<Entry, String> {
        let stat = match path.is_root() {
            true => rustix::fs::fstat(&self.root),
            false => rustix::fs::statat(self.parent(path)?, path.last(), AtFlags::SYMLINK_NOFOLLOW),
        };
        stat.map(|stat| entry(path.last(), &stat)).map_err(|error| told(path, error))
    }

    fn read(&self, path: &InsidePath, bytes_max: usize) -> Result<Vec<u8>, String> {
        let (file, size) = self.open_file(path, OFlags::RDONLY)?;
        let mut bytes = Vec::new();
        // The size may grow while we read.
        let outcome = file.take(bytes_max as u64 + 1).read_to_end(&mut bytes);
        outcome.map_err(|error| format!("{path} cannot be read: {error}"))?;
        if bytes.len() > bytes_max {
            return Err(format!("{path} has {size} bytes; at most {bytes_max} are read"));
        }
        Ok(bytes)
    }

    fn write(&self, path: &InsidePath, text: &str, mode: WriteMode, bytes_max: usize) -> Result<u64, String> {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        let (mut file, before) = self.open_file(
            path,
            match mode {
                WriteMode::Replace => flags,
                WriteMode::Append => flags | OFlags::APPEND,
                WriteMode::New => flags | OFlags::EXCL,
            },
        )?;
        let kept = if mode == WriteMode::Append { before } else { 0 };
        let size = kept + text.len() as u64;
        if size > bytes_max as u64 {
            return Err(format!("{path} would be larger than {bytes_max} bytes"));
        }
        let emptied = if mode == WriteMode::Replace { file.set_len(0) } else { Ok(()) };
        match emptied.and_then(|()| file.write_all(text.as_bytes())) {
            Ok(()) => Ok(size),
            Err(error) => Err(format!("{path} cannot be written: {error}")),
        }
    }

    fn make_folder(&self, path: &InsidePath) -> Result<bool, String> {
        let mut created = false;
        for folder in path.ancestry() {
            match rustix::fs::mkdirat(self.parent(&folder)?, folder.last(), Mode::from_raw_mode(0o755)) {
                Ok(()) => created = true,
                // Resolved, not only looked at: a link to elsewhere or a file is no folder.
                Err(Errno::EXIST) => drop(self.folder(&folder)?),
                Err(error) => return Err(told(&folder, error)),
            }
        }
        Ok(created)
    }

    fn rename(&self, from: &InsidePath, to: &InsidePath, overwrite: bool) -> Result<(), String> {
        let moved = self.entry(from)?;
        let (old, new) = (self.parent(from)?, self.parent(to)?);
        if let Ok(there) = self.entry(to) {
            match there.kind {
                Kind::Folder => return Err(format!("{to} is a folder; give the new name as well")),
                Kind::File if overwrite && moved.kind == Kind::File => {}
                Kind::File | Kind::Other => {
                    return Err(format!("{to} exists already; set overwrite to replace a file"));
                }
            }
        }
        rustix::fs::renameat(old, from.last(), new, to.last()).map_err(|error| told(from, error))
    }
}

fn entry(name: &str, stat: &Stat) -> Entry {
    let kind = kind(stat);
    let size_bytes = if kind == Kind::File { size(stat) } else { 0 };
    Entry { name: name.to_owned(), kind, size_bytes, modified: stat.st_mtime }
}

fn kind(stat: &Stat) -> Kind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        _ => Kind::Other,
    }
}

fn size(stat: &Stat) -> u64 {
    u64::try_from(stat.st_size).unwrap_or_default()
}

fn told(path: &InsidePath, error: Errno) -> String {
    match error {
        Errno::NOENT => format!("there is no {path}"),
        Errno::NOTDIR => format!("{path} is not in a folder, or is no folder"),
        Errno::ISDIR => format!("{path} is a folder"),
        Errno::EXIST => format!("{path} exists already; use mode replace or append"),
        Errno::XDEV | Errno::LOOP => {
            format!("{path} leads out of the root through a link, which isn't followed")
        }
        Errno::ACCESS | Errno::PERM => format!("permission denied for {path}"),
        error => format!("{path} cannot be used: {error}"),
    }
}
