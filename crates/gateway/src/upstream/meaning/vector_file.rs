//! Vectors on disk. Losing them costs the time to make them again: a file that can't be read or written, or
//! isn't whole, is as good as none.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use gristmill_encoder::Definition;
use gristmill_files::replace_private;

/// What vectors were made of.
pub(super) type Key = [u8; KEY_BYTES];

const KEY_BYTES: usize = 16;
const HASH_BYTES: usize = 32;
const RECORD_BYTES: usize = KEY_BYTES + Definition::BYTES;

/// Of all servers that were ever connected.
const DEFINITIONS_MAX: usize = 40_000;

pub(super) fn key_of(text: &str) -> Key {
    let mut key = Key::default();
    key.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..KEY_BYTES]);
    key
}

/// Keys, each with the vectors of its definition.
pub(super) struct VectorFile {
    path: PathBuf,
}

impl VectorFile {
    /// Vectors of another encoder belong under another name.
    pub(super) fn new(folder: &Path, stem: &str) -> Self {
        Self { path: folder.join(format!("{stem}.definitions")) }
    }

    pub(super) fn read(&self) -> HashMap<Key, Definition> {
        let records = checked(&self.path, DEFINITIONS_MAX * RECORD_BYTES);
        records.chunks_exact(RECORD_BYTES).filter_map(record).collect()
    }

    /// With what another process wrote meanwhile. If there are too many, those that nobody wants now go.
    pub(super) fn write(&self, definitions: &HashMap<Key, Definition>, wanted: &[Key]) {
        let others = self.read();
        let wanted: HashSet<&Key> = wanted.iter().collect();
        let mut all: Vec<(&Key, &Definition)> = others.iter().chain(definitions).collect();
        all.sort_unstable_by_key(|(key, _)| (!wanted.contains(key), **key));
        all.dedup_by_key(|(key, _)| **key);
        all.truncate(DEFINITIONS_MAX);
        let mut bytes = Vec::with_capacity(all.len() * RECORD_BYTES);
        for (key, definition) in all {
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(&definition.as_bytes());
        }
        let _ = replace_private(&self.path, &sealed(&bytes));
    }
}

/// Records behind a hash of them.
pub(super) fn sealed(records: &[u8]) -> Vec<u8> {
    [blake3::hash(records).as_bytes(), records].concat()
}

/// The records of a file that is whole; none of any other.
pub(super) fn checked(path: &Path, bytes_max: usize) -> Vec<u8> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take((HASH_BYTES + bytes_max) as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    match bytes.split_at_checked(HASH_BYTES) {
        Some((hash, records)) if blake3::hash(records).as_bytes() == hash => records.to_vec(),
        Some(_) | None => Vec::new(),
    }
}

fn record(bytes: &[u8]) -> Option<(Key, Definition)> {
    let (key, definition) = bytes.split_first_chunk::<KEY_BYTES>()?;
    Some((*key, Definition::from_bytes(definition.first_chunk()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_testkit::TestFolder;

    fn definition(first: u8) -> Definition {
        let mut bytes = [0; Definition::BYTES];
        bytes[0] = first;
        Definition::from_bytes(&bytes)
    }

    fn of(entries: &[(&str, u8)]) -> HashMap<Key, Definition> {
        entries.iter().map(|(text, first)| (key_of(text), definition(*first))).collect()
    }

    #[test]
    fn two_processes_lose_nothing_of_each_other() {
        let folder = TestFolder::new("meanings");
        let file = VectorFile::new(folder.path(), "an encoder");
        file.write(&of(&[("a", 1), ("b", 2)]), &[]);
        file.write(&of(&[("c", 3)]), &[]);
        assert_eq!(file.read(), of(&[("a", 1), ("b", 2), ("c", 3)]));
        assert!(VectorFile::new(folder.path(), "another").read().is_empty());
    }

    #[test]
    fn a_damaged_file_is_as_good_as_none() {
        let folder = TestFolder::new("meanings");
        let file = VectorFile::new(folder.path(), "an encoder");
        assert!(file.read().is_empty());
        for damage in [&b"short"[..], &[0; HASH_BYTES + RECORD_BYTES]] {
            std::fs::write(&file.path, damage).expect("a file");
            assert!(file.read().is_empty());
        }
        file.write(&of(&[("a", 1)]), &[]);
        let mut bytes = std::fs::read(&file.path).expect("the file");
        bytes[HASH_BYTES + KEY_BYTES] ^= 1;
        std::fs::write(&file.path, bytes).expect("a file");
        assert!(file.read().is_empty());
    }
}
