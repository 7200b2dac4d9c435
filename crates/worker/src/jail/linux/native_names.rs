//! Names of files as a program of the native engine has them where there is no view to move into: which folder of the
//! program, or which path of the machine, is meant. Only names are worked on here; what may be opened is landlock's to
//! say.
//!
//! All of it can be called in a signal handler: it takes no lock and no memory, and does not panic.

use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use libc::c_int;

use super::native_view::{POINTS, WRITABLE};

/// The kernel's own limit, with the zero at the end.
pub const NAME_BYTES_MAX: usize = 4096;

/// A name that ends in a zero.
pub struct Name {
    bytes: [u8; NAME_BYTES_MAX],
    length: usize,
}

impl Name {
    /// `path` as it is.
    pub fn of(path: &[u8]) -> Result<Self, c_int> {
        let mut name = Self { bytes: [0; NAME_BYTES_MAX], length: 0 };
        name.push(path)?;
        Ok(name)
    }

    /// `path`, seen from `folder`, without `.`, `..` and doubled slashes: absolute. Links do not count, of which a
    /// program can make none.
    pub fn resolved(folder: &[u8], path: &[u8]) -> Result<Self, c_int> {
        if path.is_empty() {
            return Err(libc::ENOENT);
        }
        let mut name = Self::of(b"")?;
        let beginning: &[u8] = if path.starts_with(b"/") { b"" } else { folder };
        let parts = |path| <[u8]>::split(path, |byte: &u8| *byte == b'/');
        for part in parts(beginning).chain(parts(path)) {
            match part {
                b"" | b"." => {}
                b".." => name.shorten(),
                part => {
                    name.push(b"/")?;
                    name.push(part)?;
                }
            }
        }
        // A slash at the end asks for a folder.
        if name.length == 0 || path.ends_with(b"/") {
            name.push(b"/")?;
        }
        Ok(name)
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    pub fn push(&mut self, more: &[u8]) -> Result<(), c_int> {
        let end = self.length.saturating_add(more.len());
        match self.bytes.get_mut(self.length..end) {
            // The last byte stays zero.
            Some(room) if end < NAME_BYTES_MAX => {
                room.copy_from_slice(more);
                self.length = end;
                Ok(())
            }
            Some(_) | None => Err(libc::ENAMETOOLONG),
        }
    }

    fn shorten(&mut self) {
        let kept = self.bytes().iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        if let Some(gone) = self.bytes.get_mut(kept..self.length) {
            gone.fill(0);
        }
        self.length = kept;
    }
}

/// A path of the machine, and the name that programs have for it.
#[derive(Debug)]
pub struct ShownName {
    pub at: Vec<u8>,
    pub from: Vec<u8>,
}

/// What an absolute name means.
#[derive(Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// A folder of the program, by its number, and what is beneath it; nothing for the folder itself.
    Folder { point: usize, beneath: &'a [u8] },
    /// Something of the machine that can be seen here, mostly under another name.
    Shown { from: &'a [u8], beneath: &'a [u8] },
    /// What holds all of these.
    Root,
    /// What a process is told of processes.
    Processes,
    /// Nothing of the view.
    Nowhere,
}

impl Place<'_> {
    /// Whether a program may change what is there.
    pub fn is_writable(&self) -> bool {
        matches!(self, Self::Folder { point, .. } if *point < WRITABLE)
    }
}

/// What `name`, which is absolute, means.
pub fn place_of<'a>(name: &'a [u8], shown: &'a [ShownName]) -> Place<'a> {
    if name == b"/" {
        return Place::Root;
    }
    let without_slash = name.strip_prefix(b"/").unwrap_or(name);
    for (point, folder) in POINTS.iter().enumerate() {
        if let Some(beneath) = beneath(without_slash, folder.as_bytes()) {
            return Place::Folder { point, beneath };
        }
    }
    let of_shown = |shown: &'a ShownName| {
        beneath(name, &shown.at).map(|beneath| Place::Shown { from: &shown.from, beneath })
    };
    let otherwise = || if beneath(name, b"/proc").is_some() { Place::Processes } else { Place::Nowhere };
    shown.iter().find_map(of_shown).unwrap_or_else(otherwise)
}

/// The rest of a name that lies in `folder` or is it.
fn beneath<'a>(name: &'a [u8], folder: &[u8]) -> Option<&'a [u8]> {
    match name.strip_prefix(folder)? {
        b"" => Some(b""),
        rest => rest.strip_prefix(b"/"),
    }
}

/// The program's working folder, as an absolute name. Threads may change it at once: then it is a mixture, which is
/// a name like any other.
pub struct WorkingFolder {
    bytes: [AtomicU8; NAME_BYTES_MAX],
    length: AtomicUsize,
}

impl WorkingFolder {
    /// The root.
    pub const fn new() -> Self {
        Self { bytes: [const { AtomicU8::new(b'/') }; NAME_BYTES_MAX], length: AtomicUsize::new(1) }
    }

    pub fn enter(&self, name: &[u8]) {
        let name = name.get(..NAME_BYTES_MAX - 1).unwrap_or(name);
        for (kept, byte) in self.bytes.iter().zip(name) {
            kept.store(*byte, Ordering::Relaxed);
        }
        self.length.store(name.len(), Ordering::Relaxed);
    }

    pub fn name(&self) -> Name {
        let length = self.length.load(Ordering::Relaxed).min(NAME_BYTES_MAX - 1);
        let mut name = Name { bytes: [0; NAME_BYTES_MAX], length };
        for (byte, kept) in name.bytes.iter_mut().zip(&self.bytes).take(length) {
            *byte = kept.load(Ordering::Relaxed);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_made_absolute_without_steps_up() {
        let check = |folder: &str, path: &str, expected: &str| {
            let name = Name::resolved(folder.as_bytes(), path.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(name.bytes()), expected, "{folder} {path}");
        };
        check("/workspace", "a.txt", "/workspace/a.txt");
        check("/workspace/in", "../b//c/./d", "/workspace/b/c/d");
        check("/workspace", "/etc/../../tmp/x", "/tmp/x");
        check("/workspace", "../../..", "/");
        check("/workspace", ".", "/workspace");
        check("/workspace", "new/", "/workspace/new/");
        check("/", "etc", "/etc");
        assert_eq!(Name::resolved(b"/workspace", b"").err(), Some(libc::ENOENT));
        let long = vec![b'a'; NAME_BYTES_MAX];
        assert_eq!(Name::resolved(b"/workspace", &long).err(), Some(libc::ENAMETOOLONG));
        let name = Name::resolved(b"/", b"abc/../d").unwrap();
        assert_eq!(name.bytes.get(..4), Some(&b"/d\0\0"[..]), "it ends in a zero");
    }

    #[test]
    fn folders_of_the_program_and_shown_paths_are_found_by_whole_names() {
        let shown = [ShownName { at: b"/python/packages".to_vec(), from: b"/data/packages".to_vec() }];
        let check = |name: &'static str, expected: Place<'_>| {
            assert_eq!(place_of(name.as_bytes(), &shown), expected, "{name}");
        };
        check("/workspace/a/b", Place::Folder { point: 0, beneath: b"a/b" });
        check("/tmp", Place::Folder { point: 1, beneath: b"" });
        check("/results/", Place::Folder { point: 4, beneath: b"" });
        check("/workspaces/a", Place::Nowhere);
        check("/", Place::Root);
        check("/python/packages/numpy", Place::Shown { from: b"/data/packages", beneath: b"numpy" });
        check("/python/packages-1/x", Place::Nowhere);
        check("/etc/passwd", Place::Nowhere);
        check("/proc/self/maps", Place::Processes);
        assert!(place_of(b"/tmp/x", &shown).is_writable());
        assert!(!place_of(b"/skills/x", &shown).is_writable());
    }

    #[test]
    fn the_working_folder_is_the_one_that_was_entered() {
        let folder = WorkingFolder::new();
        assert_eq!(folder.name().bytes(), b"/");
        folder.enter(b"/workspace/in");
        assert_eq!(folder.name().bytes(), b"/workspace/in");
    }
}
