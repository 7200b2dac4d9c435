//! The tokens on disk: `access-tokens.json` in the data folder, of mode 600, hashes only. A file
//! that is not exactly as we write it is refused as a whole.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use gristmill_domain::policy::TokenLimits;
use gristmill_files::{FileLock, FileStamp, read_bounded, replace_private};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::caller::Scope;
use super::token_error::{TokenError, is_name};
use crate::store::check_leads_beside;

const FORMAT: u64 = 1;

/// A thousand tokens have about 200 kilobytes.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// What is known of a token. The token itself is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRecord {
    pub name: String,
    pub scopes: BTreeSet<Scope>,
    /// When it was issued, to the second.
    pub created: SystemTime,
    /// From when on it is refused, to the second.
    pub expires: Option<SystemTime>,
    /// What it is limited to beside its scopes.
    pub limits: Arc<TokenLimits>,
}

/// All tokens by their hashes.
pub(super) type Records = HashMap<blake3::Hash, TokenRecord>;

pub(super) struct TokenFile {
    path: PathBuf,
    /// What was read last, read again only if the file is another one by then.
    last: Mutex<Option<(FileStamp, Arc<Records>)>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFileContent {
    format: u64,
    tokens: Vec<StoredToken>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredToken {
    name: String,
    hash: String,
    scopes: BTreeSet<Scope>,
    created_s: u64,
    expires_s: Option<u64>,
    /// Not there in files from before tokens could be limited.
    #[serde(default, skip_serializing_if = "TokenLimits::is_empty")]
    limits: TokenLimits,
}

impl TokenFile {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, last: Mutex::default() }
    }

    /// As the file is now: one look at the file, no reading unless it changed.
    pub(super) fn current(&self) -> Result<Arc<Records>, TokenError> {
        let mut last = self.last.lock();
        // Before reading: whoever replaces the file in between is noticed the next time.
        let Some(stamp) = self.stamp()? else {
            *last = None;
            return Ok(Arc::default());
        };
        if let Some((known, records)) = &*last
            && *known == stamp
        {
            return Ok(Arc::clone(records));
        }
        *last = None;
        let records = Arc::new(self.read()?);
        *last = Some((stamp, Arc::clone(&records)));
        Ok(records)
    }

    /// Changes the file, one process at a time.
    pub(super) fn change<T>(
        &self,
        change: impl FnOnce(&mut Records) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        check_leads_beside(&self.path).map_err(|error| self.error(error.to_string()))?;
        let lock = FileLock::beside(&self.path);
        let _lock = lock.map_err(|error| self.error(error.to_string()))?;
        self.stamp()?;
        let mut records = self.read()?;
        let outcome = change(&mut records)?;
        let mut tokens: Vec<StoredToken> = records.iter().map(|(hash, it)| written(hash, it)).collect();
        tokens.sort_by(|one, other| one.name.cmp(&other.name));
        let text = serde_json::to_vec_pretty(&TokenFileContent { format: FORMAT, tokens })
            .map_err(|error| self.error(error.to_string()))?;
        replace_private(&self.path, &text).map_err(|error| self.error(error.to_string()))?;
        Ok(outcome)
    }

    /// `None` if there is no file. One that others could have written is not believed.
    fn stamp(&self) -> Result<Option<FileStamp>, TokenError> {
        let metadata = match std::fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.error(error.to_string())),
        };
        if !metadata.is_file() {
            return Err(self.error("it isn't a file; move it away".to_owned()));
        }
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(self.error("it belongs to another user".to_owned()));
        }
        if metadata.permissions().mode() & 0o077 != 0 {
            let why = format!("other users can read it; run `chmod 600 {}`", self.path.display());
            return Err(self.error(why));
        }
        Ok(Some(FileStamp::from(&metadata)))
    }

    fn read(&self) -> Result<Records, TokenError> {
        let text = read_bounded(&self.path, FILE_BYTES_MAX).map_err(|error| self.error(error.to_string()))?;
        let Some(text) = text else { return Ok(Records::default()) };
        let damaged = |why: String| {
            self.error(format!("it is damaged ({why}); move it away and issue the tokens again"))
        };
        let written: TokenFileContent =
            serde_json::from_str(&text).map_err(|error| damaged(error.to_string()))?;
        if written.format != FORMAT {
            let why = format!("it has format {}, this version reads {FORMAT}", written.format);
            return Err(self.error(why));
        }
        let mut records = Records::default();
        let mut names = BTreeSet::new();
        for token in written.tokens {
            let (hash, record) = understood(token).map_err(damaged)?;
            if !names.insert(record.name.clone()) {
                return Err(damaged(format!("`{}` is there twice", record.name)));
            }
            records.insert(hash, record);
        }
        Ok(records)
    }

    fn error(&self, why: String) -> TokenError {
        TokenError::File { path: self.path.display().to_string(), why }
    }
}

fn written(hash: &blake3::Hash, record: &TokenRecord) -> StoredToken {
    StoredToken {
        name: record.name.clone(),
        hash: hash.to_hex().to_string(),
        scopes: record.scopes.clone(),
        created_s: seconds(record.created),
        expires_s: record.expires.map(seconds),
        limits: TokenLimits::clone(&record.limits),
    }
}

fn understood(token: StoredToken) -> Result<(blake3::Hash, TokenRecord), String> {
    let StoredToken { name, hash, scopes, created_s, expires_s, limits } = token;
    if !is_name(&name) {
        return Err("a name that cannot be one".to_owned());
    }
    let hash = blake3::Hash::from_hex(&hash).map_err(|error| format!("the hash of `{name}`: {error}"))?;
    if scopes.is_empty() {
        return Err(format!("`{name}` has no scope"));
    }
    let no_time = || format!("a time of `{name}` that cannot be one");
    let created = moment(created_s).ok_or_else(no_time)?;
    let expires = expires_s.map(|at| moment(at).ok_or_else(no_time)).transpose()?;
    Ok((hash, TokenRecord { name, scopes, created, expires, limits: Arc::new(limits) }))
}

fn moment(seconds: u64) -> Option<SystemTime> {
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// To the second, as the file keeps it.
pub(super) fn whole_seconds(time: SystemTime) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds(time))
}
