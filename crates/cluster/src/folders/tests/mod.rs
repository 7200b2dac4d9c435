//! Folders on their way, with everything that could go wrong.

mod applying;
mod changing;
mod deep;
mod hostile;
mod races;
mod round_trip;
mod trees;

use std::ffi::OsStr;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use super::archive_writer::{END, FILE, FOLDER, GONE, Kind, UP};
use super::{Applied, Bounds, FolderError, Snapshot, apply, changes, pack, snapshot, unpack};

pub(super) const BOUNDS: Bounds =
    Bounds { bytes: 10_000_000, entries: 10_000, file_bytes: 10_000_000, depth: 64 };

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A folder for one test, gone afterwards.
pub(super) struct World {
    path: PathBuf,
}

impl World {
    pub fn new(name: &str) -> Self {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gristmill-folders-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a folder");
        Self { path }
    }

    pub fn at(&self, path: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(path.as_ref())
    }

    /// A folder in it, made if it is missing.
    pub fn folder(&self, path: &str) -> OwnedFd {
        fs::create_dir_all(self.at(path)).expect("a folder");
        self.open(path)
    }

    pub fn open(&self, path: &str) -> OwnedFd {
        fs::File::open(self.at(path)).expect("a folder").into()
    }

    /// Writes a file, with the folders above it.
    pub fn write(&self, path: impl AsRef<OsStr>, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    pub fn set_modified(&self, path: &str, seconds: i64) {
        let file = fs::File::open(self.at(path)).expect("a file");
        super::beneath::set_modified(&file, seconds).expect("a time");
    }

    /// What is in a folder, by name.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(path)).expect("a folder").flatten();
        let mut names: Vec<_> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// All paths of a folder with what they are: `/` for a folder, `->` for a link, or a file's text.
    pub fn tree(&self, path: &str) -> Vec<(String, String)> {
        let root = self.at(path);
        let (mut found, mut left) = (Vec::new(), vec![root.clone()]);
        while let Some(folder) = left.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
                let shown = path.strip_prefix(&root).expect("it is in it").to_string_lossy().into_owned();
                let text = match () {
                    () if kind.is_dir() => "/".to_owned(),
                    () if kind.is_symlink() => "->".to_owned(),
                    () => String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned(),
                };
                if kind.is_dir() {
                    left.push(path);
                }
                found.push((shown, text));
            }
        }
        found.sort();
        found
    }

    /// Packs one folder and unpacks it as another, and notes what is there.
    pub fn carry(&self, from: &str, to: &str) -> Snapshot {
        let (_, archive) = pack(self.open(from).as_fd(), BOUNDS, Vec::new()).expect("packed");
        unpack(self.folder(to).as_fd(), archive.as_slice(), BOUNDS).expect("unpacked").snapshot
    }

    /// Applies what has changed in one folder to another.
    pub fn bring_back(&self, from: &str, before: &Snapshot, to: &str) -> Result<Applied, FolderError> {
        let (changed, archive) =
            changes(self.open(from).as_fd(), before, BOUNDS, Vec::new()).expect("changes");
        let now = snapshot(self.open(from).as_fd(), BOUNDS).expect("a snapshot");
        assert_eq!(changed.snapshot, now, "what was sent is what is there");
        self.apply(to, &archive, BOUNDS)
    }

    pub fn apply(&self, to: &str, archive: &[u8], bounds: Bounds) -> Result<Applied, FolderError> {
        let stage = format!("stage-{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let applied = apply(self.open(to).as_fd(), self.folder(&stage).as_fd(), archive, bounds);
        gristmill_files::remove_tree(&self.at(&stage)).expect("removed");
        applied
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = gristmill_files::remove_tree(&self.path);
    }
}

pub(super) fn os(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

/// An archive as nobody of ours writes it.
pub(super) struct Forged {
    bytes: Vec<u8>,
}

impl Forged {
    pub fn new(kind: Kind) -> Self {
        Self { bytes: kind.magic().to_vec() }
    }

    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn head(self, record: u8, name: impl AsRef<[u8]>) -> Self {
        let name = name.as_ref();
        self.raw(&[record, u8::try_from(name.len()).expect("a short name")]).raw(name)
    }

    pub fn folder(self, name: impl AsRef<[u8]>) -> Self {
        self.head(FOLDER, name)
    }

    pub fn gone(self, name: impl AsRef<[u8]>) -> Self {
        self.head(GONE, name)
    }

    pub fn up(self) -> Self {
        self.raw(&[UP])
    }

    pub fn file(self, name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        let mut forged = self.head(FILE, name).raw(&7_i64.to_le_bytes());
        if !content.is_empty() {
            forged = forged.raw(&(content.len() as u32).to_le_bytes()).raw(content);
        }
        forged.raw(&0_u32.to_le_bytes())
    }

    /// With its end.
    pub fn done(self) -> Vec<u8> {
        self.raw(&[END]).cut()
    }

    /// As it is.
    pub fn cut(self) -> Vec<u8> {
        zstd::encode_all(self.bytes.as_slice(), 1).expect("compressed")
    }
}
