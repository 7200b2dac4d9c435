//! The keys of the audit, in a file of the data folder that only its owner reads: one to sign with, one for
//! digests that nobody can guess from. Beside it is the mark: what was signed last, outside of the database.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_files::{FileLock, PrivateFile, PrivateFileError};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde::{Deserialize, Serialize};

use super::chain::{BEGINNING, hex, signed_bytes};
use crate::store::SignedHead;

/// The file's name in the data folder.
pub const KEY_FILE: &str = "audit.key";

/// The file that says what was signed last.
pub const MARK_FILE: &str = "audit.mark";

const FILE_BYTES_MAX: u64 = 4 << 10;
const VERSION: u32 = 1;

/// There is no audit without its keys. Everything else works.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AuditError {
    #[error(transparent)]
    File(#[from] PrivateFileError),
    #[error("{path} isn't an audit key; restore it from a backup, or move it away to start with a new one")]
    NotAKey { path: String },
    #[error("the system random source failed; try again")]
    Randomness,
    #[error("a database in memory has no place for an audit")]
    NoFolder,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    version: u32,
    sign: String,
    digest: String,
}

#[derive(Serialize, Deserialize)]
struct StoredMark {
    number: u64,
    at_ms: i64,
    hash: String,
    signature: String,
}

/// See the module.
pub(super) struct Keys {
    pair: Ed25519KeyPair,
    digest: [u8; 32],
    mark: PrivateFile,
}

impl Keys {
    /// Those of a data folder; they are made if there are none. Blocks on the disk.
    pub fn open(folder: &Path) -> Result<Self, AuditError> {
        let file = PrivateFile::new(folder.join(KEY_FILE), "keys");
        let mark = PrivateFile::new(folder.join(MARK_FILE), "signatures");
        if let Some(keys) = read(&file, &mark)? {
            return Ok(keys);
        }
        let _lock = FileLock::beside(file.path()).map_err(PrivateFileError::from)?;
        // Another process may have been quicker.
        if let Some(keys) = read(&file, &mark)? {
            return Ok(keys);
        }
        let (mut sign, mut digest) = ([0; 32], [0; 32]);
        getrandom::fill(&mut sign).map_err(|_| AuditError::Randomness)?;
        getrandom::fill(&mut digest).map_err(|_| AuditError::Randomness)?;
        let stored =
            Stored { version: VERSION, sign: STANDARD.encode(sign), digest: STANDARD.encode(digest) };
        file.replace(serde_json::to_string(&stored).unwrap_or_default().as_bytes())?;
        let keys = read(&file, &mark)?.ok_or_else(|| not_a_key(&file))?;
        if keys.mark()?.is_none() {
            // From now on a missing mark is a mark that somebody took away.
            keys.write_mark(&keys.sign(0, false, BEGINNING.to_vec(), 0))?;
        }
        Ok(keys)
    }

    /// By which people tell keys apart.
    pub fn id(&self) -> String {
        hex(&self.pair.public_key().as_ref()[..8])
    }

    pub fn sign(&self, number: u64, is_anchor: bool, hash: Vec<u8>, at_ms: i64) -> SignedHead {
        let mut head = SignedHead { number, is_anchor, hash, at_ms, signature: Vec::new() };
        head.signature = self.pair.sign(&signed_bytes(&head)).as_ref().to_vec();
        head
    }

    /// Whether it was signed with this key.
    pub fn has_signed(&self, head: &SignedHead) -> bool {
        let key = UnparsedPublicKey::new(&ED25519, self.pair.public_key().as_ref());
        key.verify(&signed_bytes(head), &head.signature).is_ok()
    }

    /// The same for the same bytes, and for nobody else to guess.
    pub fn digest(&self, bytes: &[u8]) -> String {
        hex(&blake3::keyed_hash(&self.digest, bytes).as_bytes()[..16])
    }

    /// What was signed last, as the file says; `None` if it is missing or says nothing.
    pub fn mark(&self) -> Result<Option<SignedHead>, PrivateFileError> {
        let Some((bytes, _)) = self.mark.read(FILE_BYTES_MAX)? else { return Ok(None) };
        let Ok(stored) = serde_json::from_slice::<StoredMark>(&bytes) else { return Ok(None) };
        let StoredMark { number, at_ms, hash, signature } = stored;
        let (Ok(hash), Ok(signature)) = (STANDARD.decode(hash), STANDARD.decode(signature)) else {
            return Ok(None);
        };
        Ok(Some(SignedHead { number, is_anchor: false, hash, at_ms, signature }))
    }

    /// Writes it unless there is a later one, which another process has written.
    pub fn advance_mark(&self, head: &SignedHead) -> Result<(), PrivateFileError> {
        let _lock = FileLock::beside(self.mark.path())?;
        let is_later = self.mark()?.is_some_and(|mark| {
            mark.number > head.number && mark.at_ms >= head.at_ms && self.has_signed(&mark)
        });
        if is_later { Ok(()) } else { self.write_mark(head) }
    }

    fn write_mark(&self, head: &SignedHead) -> Result<(), PrivateFileError> {
        let stored = StoredMark {
            number: head.number,
            at_ms: head.at_ms,
            hash: STANDARD.encode(&head.hash),
            signature: STANDARD.encode(&head.signature),
        };
        self.mark.replace(serde_json::to_string(&stored).unwrap_or_default().as_bytes())
    }
}

fn read(file: &PrivateFile, mark: &PrivateFile) -> Result<Option<Keys>, AuditError> {
    let Some((bytes, _)) = file.read(FILE_BYTES_MAX)? else { return Ok(None) };
    let keys = || {
        let stored: Stored = serde_json::from_slice(&bytes).ok()?;
        let key = |text: &str| <[u8; 32]>::try_from(STANDARD.decode(text).ok()?).ok();
        let pair = Ed25519KeyPair::from_seed_unchecked(&key(&stored.sign)?).ok()?;
        let is_known = stored.version == VERSION;
        is_known.then_some(Keys { pair, digest: key(&stored.digest)?, mark: mark.clone() })
    };
    keys().map(Some).ok_or_else(|| not_a_key(file))
}

fn not_a_key(file: &PrivateFile) -> AuditError {
    AuditError::NotAKey { path: file.path().display().to_string() }
}
