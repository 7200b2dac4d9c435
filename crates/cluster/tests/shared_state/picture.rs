//! What a data folder has of the shared state, to be compared: kept files with their modes and times, and rows.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use gristmill_replica::kept::is_kept;
use gristmill_replica::tree::TreePath;
use gristmill_testkit::TestFolder;
use rusqlite::{Connection, OpenFlags};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Folder { mode: u32 },
    File { mode: u32, modified: (i64, i64), bytes: usize, hash: blake3::Hash },
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    files: BTreeMap<TreePath, Seen>,
    pub rows: BTreeMap<i64, blake3::Hash>,
}

impl Picture {
    /// Of a gateway that leads, or of a folder whose state isn't shared.
    pub fn of_leader(data: &Path) -> Self {
        let connection = Connection::open(data.join("gristmill.db")).expect("a database");
        Self { files: files_in(data), rows: rows(&connection).expect("a whole database") }
    }

    /// Of one that stands by; `None` while its database isn't whole.
    pub fn of_copy(data: &Path) -> Option<Self> {
        let files = files_in(data);
        // SQLite would put its own files beside it.
        let aside = TestFolder::new("shared-state-copy");
        let copy = aside.path().join("copy.db");
        fs::copy(data.join("replica/gristmill.db"), &copy).ok()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let rows = rows(&Connection::open_with_flags(&copy, flags).ok()?)?;
        Some(Self { files, rows })
    }

    /// The same without files of that name.
    pub fn without(mut self, name: &str) -> Self {
        self.files.retain(|path, _| !path.as_bytes().ends_with(name.as_bytes()));
        self
    }

    pub fn assert_is(&self, expected: &Self) {
        let differ = |path: &&TreePath| self.files.get(*path) != expected.files.get(*path);
        let paths = self.files.keys().filter(differ).chain(expected.files.keys().filter(differ));
        let told = |path: &TreePath| (path.clone(), self.files.get(path), expected.files.get(path));
        let different: Vec<_> = paths.map(told).collect();
        assert!(different.is_empty(), "path, what is there, what was expected: {different:#?}");
        assert!(self.rows == expected.rows, "rows {:?}\nexpected {:?}", self.rows, expected.rows);
    }
}

fn files_in(data: &Path) -> BTreeMap<TreePath, Seen> {
    let mut files = BTreeMap::new();
    let mut folders = vec![data.to_owned()];
    while let Some(folder) = folders.pop() {
        // What stands by is changed while it's looked at.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let relative = path.strip_prefix(data).expect("below the data folder");
            let relative = TreePath::new(relative.as_os_str().as_bytes()).expect("a path");
            let Ok(about) = fs::symlink_metadata(&path) else { continue };
            if about.is_dir() {
                folders.push(path.clone());
            }
            if is_kept(&relative) {
                files.insert(relative, look(&path, &about));
            }
        }
    }
    files
}

fn look(path: &Path, about: &fs::Metadata) -> Seen {
    let mode = about.mode() & 0o777;
    match (about.is_dir(), about.is_file()) {
        (true, _) => Seen::Folder { mode },
        (_, true) => {
            let content = fs::read(path).unwrap_or_default();
            let modified = (about.mtime(), about.mtime_nsec());
            Seen::File { mode, modified, bytes: content.len(), hash: blake3::hash(&content) }
        }
        (false, false) => Seen::Other,
    }
}

fn rows(connection: &Connection) -> Option<BTreeMap<i64, blake3::Hash>> {
    let check: String = connection.query_row("PRAGMA integrity_check", (), |row| row.get(0)).ok()?;
    if check != "ok" {
        return None;
    }
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0)).ok()?;
    if tables == 0 {
        return Some(BTreeMap::new());
    }
    let mut select = connection.prepare("SELECT id, value FROM rows").ok()?;
    let read = select.query_map((), |row| {
        let value: Vec<u8> = row.get(1)?;
        Ok((row.get(0)?, blake3::hash(&value)))
    });
    read.ok()?.collect::<Result<_, _>>().ok()
}
