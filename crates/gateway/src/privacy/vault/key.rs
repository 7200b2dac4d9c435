//! The master key, in a file of the data folder that only its owner reads. It is made when it is first needed.
//!
//! Every gateway looks at the file's stamp before it uses what it has in memory: whoever wipes a vault writes the
//! file again.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_files::{FileLock, FileStamp, PrivateFile, PrivateFileError};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::cipher::{KEY_BYTES, Master};
use super::error::VaultError;

/// The file's name in the data folder.
pub(super) const KEY_FILE: &str = "vault.key";

const FILE_BYTES_MAX: u64 = 4 << 10;
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    key: String,
}

/// The key as it is now. What was made before an earlier one of another number is not to be used.
#[derive(Clone)]
pub(super) struct Current {
    pub master: Arc<Master>,
    /// Grows whenever the file changes.
    pub number: u64,
}

/// See the module.
pub(super) struct KeyFile {
    /// None for a key that is forgotten with the process.
    file: Option<PrivateFile>,
    held: Mutex<Held>,
}

#[derive(Default)]
struct Held {
    current: Option<Current>,
    stamp: Option<FileStamp>,
    number: u64,
}

impl KeyFile {
    /// That of a data folder; without one, in memory. Blocks on the disk.
    pub fn open(folder: Option<&Path>) -> Result<Self, VaultError> {
        let file = folder.map(|folder| PrivateFile::new(folder.join(KEY_FILE), "keys"));
        let key = Self { file, held: Mutex::default() };
        match key.file {
            Some(_) => key.current().map(drop)?,
            None => drop(key.held.lock().take(Master::random()?, None)),
        }
        Ok(key)
    }

    /// The key, if there is one. Costs one look at the file's stamp, as long as that stays the same.
    pub fn current(&self) -> Result<Option<Current>, VaultError> {
        let mut held = self.held.lock();
        let Some(file) = &self.file else { return Ok(held.current.clone()) };
        let stamp = file.stamp();
        if held.current.is_some() && held.stamp == stamp {
            return Ok(held.current.clone());
        }
        match stamp.map(|_| read(file)).transpose()?.flatten() {
            Some((master, stamp)) => Ok(Some(held.take(master, Some(stamp)))),
            None => {
                held.current = None;
                Ok(None)
            }
        }
    }

    /// The key; it is made if there is none. Blocks on the disk.
    pub fn current_or_new(&self) -> Result<Current, VaultError> {
        if let Some(current) = self.current()? {
            return Ok(current);
        }
        let Some(file) = &self.file else { return Err(VaultError::Randomness) };
        let _lock = FileLock::beside(file.path()).map_err(PrivateFileError::from)?;
        // Another process may have been quicker.
        if let Some(current) = self.current()? {
            return Ok(current);
        }
        write(file, &Master::random()?)?;
        self.current()?.ok_or_else(|| not_a_key(file))
    }

    /// Nobody uses what they have in memory any more. With a new key, nothing that was sealed before can be read.
    /// Blocks on the disk.
    pub fn renew(&self, is_new: bool) -> Result<(), VaultError> {
        let Some(file) = &self.file else {
            let mut held = self.held.lock();
            let master = match (&held.current, is_new) {
                (Some(current), false) => Arc::clone(&current.master),
                _ => Arc::new(Master::random()?),
            };
            held.number += 1;
            held.current = Some(Current { master, number: held.number });
            return Ok(());
        };
        let _lock = FileLock::beside(file.path()).map_err(PrivateFileError::from)?;
        match self.current()? {
            Some(_) if is_new => write(file, &Master::random()?)?,
            Some(current) => write(file, &current.master)?,
            None => {}
        }
        self.current().map(drop)
    }
}

impl Held {
    fn take(&mut self, master: Master, stamp: Option<FileStamp>) -> Current {
        self.number += 1;
        let current = Current { master: Arc::new(master), number: self.number };
        (self.current, self.stamp) = (Some(current.clone()), stamp);
        current
    }
}

fn write(file: &PrivateFile, master: &Master) -> Result<(), VaultError> {
    let stored = Stored { version: VERSION, key: STANDARD.encode(master.bytes()) };
    let text = Zeroizing::new(serde_json::to_string(&stored).unwrap_or_default());
    drop(Zeroizing::new(stored.key));
    Ok(file.replace(text.as_bytes())?)
}

fn read(file: &PrivateFile) -> Result<Option<(Master, FileStamp)>, VaultError> {
    let Some((bytes, stamp)) = file.read(FILE_BYTES_MAX)? else { return Ok(None) };
    let bytes = Zeroizing::new(bytes);
    let key = || {
        let Stored { version, key } = serde_json::from_slice(&bytes).ok()?;
        let key = Zeroizing::new(key);
        let decoded = Zeroizing::new(STANDARD.decode(key.as_bytes()).ok()?);
        let is_known = version == VERSION;
        <[u8; KEY_BYTES]>::try_from(decoded.as_slice()).ok().filter(|_| is_known).map(Zeroizing::new)
    };
    let key = key().ok_or_else(|| not_a_key(file))?;
    Ok(Some((Master::new(key), stamp)))
}

fn not_a_key(file: &PrivateFile) -> VaultError {
    VaultError::NotAKey { path: file.path().display().to_string() }
}
