//! Two data folders, and what goes from one to the other.

mod changing;
mod hostile;
mod reconciling;
mod round_trip;

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::entry::Entry;
use crate::kept::{Scope, is_kept};
use crate::manifest::{Changes, FileState, Manifest};
use crate::seal::{ContentHash, Seal};

const ID: &str = "abcdefghijkmnpqrstuv";
const OTHER_ID: &str = "bbcdefghijkmnpqrstuv";
const OWNER: &str = "0123456789abcdef0123456789abcdef";

fn seal() -> Seal {
    Seal::of(&[7; 32])
}

fn path(text: &str) -> TreePath {
    TreePath::new(text.replace("OTHER", OTHER_ID).replace("ID", ID).replace("OWNER", OWNER).as_bytes())
        .expect("a path")
}

/// Contents that are stored beside the log.
#[derive(Default)]
struct Store(HashMap<ContentHash, Vec<u8>>);

impl Store {
    fn put(&mut self, content: &StoredContent) -> io::Result<()> {
        let mut bytes = Vec::new();
        content.open(&seal())?.read_to_end(&mut bytes)?;
        self.0.insert(content.hash, bytes);
        Ok(())
    }

    fn put_all(&mut self, scanned: &Scanned) {
        scanned.contents.iter().try_for_each(|content| self.put(content)).expect("stored");
    }

    fn get(&self, state: &FileState) -> io::Result<Box<dyn Read>> {
        let bytes = self.0.get(&state.hash).ok_or(io::ErrorKind::NotFound)?;
        Ok(Box::new(io::Cursor::new(bytes.clone())))
    }

    fn apply(&self, to: &Path, changes: &Changes) -> Result<Applied, ApplyError> {
        apply(to, changes, &seal(), &mut |state| self.get(state))
    }

    fn reconcile(&self, to: &Path, manifest: &Manifest) -> Result<(Scanner, Applied), ApplyError> {
        reconcile(to, manifest, &seal(), LeftOut::Removed, &mut |state| self.get(state))
    }
}

/// A data folder that others take from, and one that stands by.
struct World {
    from: TempDir,
    to: TempDir,
    scanner: Scanner,
    store: Store,
}

impl World {
    fn new() -> Self {
        let (from, to) = (folder(), folder());
        let scanner = Scanner::new(from.path()).expect("a data folder");
        Self { from, to, scanner, store: Store::default() }
    }

    fn write(&self, name: &str, content: &[u8]) {
        write(self.from.path(), &path(name), content);
    }

    fn scan(&mut self, scope: &Scope) -> Scanned {
        self.scanner.scan(scope, &seal()).expect("scanned")
    }

    /// What changed goes to the other folder, as it does through the log.
    fn ship(&mut self, scope: &Scope) -> Applied {
        let scanned = self.scan(scope);
        self.store.put_all(&scanned);
        let entry = Entry::Changes { files: scanned.changes, pages: None };
        let read = Entry::decode(&entry.encode().expect("encoded")).expect("decoded");
        let Entry::Changes { files, .. } = read else { panic!("another entry") };
        let applied = self.store.apply(self.to.path(), &files).expect("applied");
        self.scanner.commit(&files);
        applied
    }

    fn check_equal(&self) {
        assert_eq!(tree(self.to.path()), tree(self.from.path()));
    }
}

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn place(folder: &Path, path: &TreePath) -> PathBuf {
    folder.join(std::ffi::OsStr::from_bytes(path.as_bytes()))
}

fn write(folder: &Path, path: &TreePath, content: &[u8]) {
    let file = place(folder, path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    fs::write(file, content).expect("written");
}

/// What a test sees of a file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    File { content: Vec<u8>, mode: u32, modified: (i64, i64) },
    Folder { mode: u32 },
    Other,
}

/// Everything at kept paths.
fn tree(folder: &Path) -> BTreeMap<TreePath, Seen> {
    let mut seen = BTreeMap::new();
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let metadata = fs::symlink_metadata(entry.path()).expect("there");
            if metadata.is_dir() {
                left.push(entry.path());
            }
            let below = entry.path().strip_prefix(folder).expect("below").as_os_str().as_bytes().to_vec();
            let Ok(path) = TreePath::new(&below) else { continue };
            if is_kept(&path) {
                seen.insert(path, see(&entry.path(), &metadata));
            }
        }
    }
    seen
}

fn see(path: &Path, metadata: &fs::Metadata) -> Seen {
    let mode = metadata.mode() & 0o777;
    if metadata.is_dir() {
        return Seen::Folder { mode };
    }
    match metadata.is_file() {
        true => {
            // What is left out stays closed.
            let content = fs::read(path).unwrap_or_else(|_| b"unreadable".to_vec());
            Seen::File { content, mode, modified: (metadata.mtime(), metadata.mtime_nsec()) }
        }
        false => Seen::Other,
    }
}

/// Something that a gateway, a program or a person does.
#[derive(Clone, Debug)]
enum Act {
    Write(usize, usize, u8),
    /// The same content, changed in place.
    Patch(usize, u8),
    Folder(usize),
    Remove(usize),
    Rename(usize, usize),
    Mode(usize, u32),
    Modified(usize, u64),
    Link(usize),
    Socket(usize),
}

const SIZES: [usize; 6] = [0, 5, 8 << 10, (8 << 10) + 1, 70_000, 600_000];

fn places() -> Vec<TreePath> {
    let mut places = Vec::new();
    for base in ["sessions/ID/workspace", "sessions/OTHER/workspace", "skills"] {
        for below in ["", "/a", "/a/b", "/a/b/c", "/a-b", "/x y\n", "/lock", "/a/\u{e9}"] {
            places.push(path(&format!("{base}{below}")));
        }
    }
    for other in [
        "sessions/ID",
        "sessions/ID/debug",
        "results/OWNER",
        "results/OWNER/h.json",
        "pins.json",
        "vault.key",
    ] {
        places.push(path(other));
    }
    places.push(TreePath::join(Some(&path("sessions/ID/workspace/a")), b"\xff\xfe").expect("a path"));
    places
}

fn acts(count: usize) -> impl Strategy<Value = Vec<Act>> {
    let at = 0..places().len();
    let act = prop_oneof![
        5 => (at.clone(), 0..SIZES.len(), 0_u8..4).prop_map(|(at, size, byte)| Act::Write(at, size, byte)),
        2 => (at.clone(), 0_u8..4).prop_map(|(at, byte)| Act::Patch(at, byte)),
        2 => at.clone().prop_map(Act::Folder),
        2 => at.clone().prop_map(Act::Remove),
        2 => (at.clone(), at.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        2 => (at.clone(), proptest::sample::select(vec![0o600, 0o755, 0o555, 0o777, 0o400, 0o000]))
            .prop_map(|(at, mode)| Act::Mode(at, mode)),
        1 => (at.clone(), 0_u64..3).prop_map(|(at, time)| Act::Modified(at, time)),
        1 => at.clone().prop_map(Act::Link),
        1 => at.prop_map(Act::Socket),
    ];
    proptest::collection::vec(act, 0..count)
}

/// What can't be done in this folder is left.
fn act(folder: &Path, act: &Act) {
    let places = places();
    let place = |at: &usize| place(folder, &places[*at]);
    let above = |path: &Path| fs::create_dir_all(path.parent().expect("a folder"));
    let _: io::Result<()> = match act {
        Act::Write(at, size, byte) => {
            above(&place(at)).and_then(|()| fs::write(place(at), vec![*byte; SIZES[*size]]))
        }
        Act::Patch(at, byte) => fs::OpenOptions::new()
            .write(true)
            .open(place(at))
            .and_then(|file| std::os::unix::fs::FileExt::write_all_at(&file, &[*byte], 0)),
        Act::Folder(at) => fs::create_dir_all(place(at)),
        Act::Remove(at) => fs::remove_file(place(at)).or_else(|_| fs::remove_dir_all(place(at))),
        Act::Rename(from, to) => above(&place(to)).and_then(|()| fs::rename(place(from), place(to))),
        Act::Mode(at, mode) => fs::symlink_metadata(place(at)).and_then(|found| match found.is_symlink() {
            true => Ok(()),
            false => fs::set_permissions(place(at), Permissions::from_mode(*mode)),
        }),
        Act::Modified(at, time) => fs::File::open(place(at)).and_then(|file| {
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::new(2_145_830_400 + time, 123_456_789))
        }),
        Act::Link(at) if places[*at].parts().count() > 3 => {
            above(&place(at)).and_then(|()| std::os::unix::fs::symlink("/etc", place(at)))
        }
        Act::Link(_) => Ok(()),
        Act::Socket(at) if places[*at].parts().count() > 3 => {
            above(&place(at)).and_then(|()| std::os::unix::net::UnixListener::bind(place(at)).map(drop))
        }
        Act::Socket(_) => Ok(()),
    };
}

/// Something else in the place of a settings file, or of the folder of skills, ends a scan.
fn tidy_top(folder: &Path) {
    for path in places().iter().filter(|path| path.parts().count() == 1) {
        let place = place(folder, path);
        let is_folder = path.as_bytes() == b"skills";
        let is_right = |found: fs::Metadata| if is_folder { found.is_dir() } else { found.is_file() };
        if fs::symlink_metadata(&place).is_ok_and(|found| !is_right(found)) {
            fs::remove_file(&place).or_else(|_| gristmill_files::remove_tree(&place)).expect("removed");
        }
    }
}

/// Links and sockets are never kept.
fn without_others(tree: BTreeMap<TreePath, Seen>) -> BTreeMap<TreePath, Seen> {
    let plain = tree.into_iter().filter(|(path, seen)| match seen {
        Seen::Other => false,
        Seen::File { .. } => crate::kept::role(path) != Some(crate::kept::Role::Folder),
        Seen::Folder { .. } => crate::kept::role(path) != Some(crate::kept::Role::File),
    });
    plain.collect()
}
