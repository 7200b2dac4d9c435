//! Handles: unguessable names that follow from the content, by a key that only this machine knows.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use crate::ids::unguessable;

/// What an owner's handles are made with.
pub(super) type Key = [u8; blake3::KEY_LEN];

/// What is read of a file at once.
const PIECE_BYTES: usize = 256 << 10;

/// The same bytes as JSON and as text are two results, since their files have two names.
fn hasher(key: &Key, ending: &str) -> blake3::Hasher {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(ending.as_bytes());
    hasher.update(&[0]);
    hasher
}

pub(super) fn of_bytes(key: &Key, ending: &str, bytes: &[u8]) -> String {
    let mut hasher = hasher(key, ending);
    hasher.update(bytes);
    unguessable::of(hasher.finalize().as_bytes())
}

/// The same for a file of `bytes` bytes, wherever whoever filled it stopped.
pub(super) fn of_file(key: &Key, ending: &str, file: &File, bytes: u64) -> io::Result<String> {
    let mut hasher = hasher(key, ending);
    let (mut piece, mut at) = (vec![0; PIECE_BYTES], 0);
    while at < bytes {
        let count = file.read_at(&mut piece, at)?;
        if count == 0 {
            return Err(io::Error::other("the file became shorter while it was read"));
        }
        hasher.update(&piece[..count]);
        at += count as u64;
    }
    match at == bytes {
        true => Ok(unguessable::of(hasher.finalize().as_bytes())),
        false => Err(io::Error::other("the file grew while it was read")),
    }
}

/// A handle as people and models write it: alone, or as the name or path of its file.
pub(super) fn read(text: &str) -> Option<String> {
    let text = text.trim();
    let name = text.strip_prefix('/').unwrap_or(text);
    let name = name.strip_prefix("results/").unwrap_or(name);
    let handle = name.split('.').next().unwrap_or(name);
    unguessable::fits(handle).then(|| handle.to_owned())
}
