//! The local owner's token: the token itself in `local-token` in the data folder, of mode 600. Whoever
//! can read that file is the owner of this gateway, who could read everything else in the folder as well.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gristmill_files::{FileLock, FileStamp, PrivateFile, PrivateFileError};
use parking_lot::Mutex;

use super::token_error::TokenError;
use super::token_text::TokenText;

const FILE_NAME: &str = "local-token";

/// A token and a line end, and what an editor may add.
const FILE_BYTES_MAX: u64 = 256;

/// The token of one data folder. Several processes may use the same folder: all have the same token.
pub struct LocalToken {
    file: PrivateFile,
    /// What was read last, read again only if the file is another one by then.
    last: Mutex<Option<(FileStamp, blake3::Hash)>>,
}

/// Whether a token had to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalTokenState {
    New,
    Known,
}

impl LocalToken {
    /// The one in this folder; there need not be any.
    pub fn open(data_folder: &Path) -> Self {
        let file = PrivateFile::new(data_folder.join(FILE_NAME), "the local owner's access token");
        Self { file, last: Mutex::default() }
    }

    /// Where it is, or would be.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// `None` if there is none. A file that others can read, or that holds anything else, is refused.
    pub fn read(&self) -> Result<Option<TokenText>, TokenError> {
        let Some((bytes, _)) = self.file.read(FILE_BYTES_MAX).map_err(|error| self.unusable(error))? else {
            return Ok(None);
        };
        self.understood(&bytes).map(Some)
    }

    /// Makes one if there is none. Of several processes that do this at once, one makes it.
    pub fn ensure(&self) -> Result<LocalTokenState, TokenError> {
        let lock = FileLock::beside(self.path());
        let _lock = lock.map_err(|error| self.error(error.to_string()))?;
        if self.read()?.is_some() {
            return Ok(LocalTokenState::Known);
        }
        let token = TokenText::random().map_err(|error| TokenError::Randomness { why: error.to_string() })?;
        let line = format!("{}\n", token.reveal());
        self.file.replace(line.as_bytes()).map_err(|error| self.unusable(error))?;
        Ok(LocalTokenState::New)
    }

    /// Takes it back: it is refused from now on, also by servers that are running. The next start of
    /// one makes another. `false` if there was none.
    pub fn remove(&self) -> Result<bool, TokenError> {
        let lock = FileLock::beside(self.path());
        let _lock = lock.map_err(|error| self.error(error.to_string()))?;
        match std::fs::remove_file(self.path()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.error(error.to_string())),
        }
    }

    /// When it was made; `None` if there is none.
    pub fn created(&self) -> Option<SystemTime> {
        std::fs::symlink_metadata(self.path()).and_then(|metadata| metadata.modified()).ok()
    }

    /// Whether this is the hash of the token: one look at the file, no reading unless it changed.
    pub(super) fn is(&self, hash: &blake3::Hash) -> Result<bool, TokenError> {
        let mut last = self.last.lock();
        let Some(stamp) = self.file.stamp() else {
            *last = None;
            return Ok(false);
        };
        if let Some((known, token)) = &*last
            && *known == stamp
        {
            return Ok(token == hash);
        }
        *last = None;
        let Some((bytes, stamp)) = self.file.read(FILE_BYTES_MAX).map_err(|error| self.unusable(error))?
        else {
            return Ok(false);
        };
        let token = self.understood(&bytes)?.hash();
        *last = Some((stamp, token));
        Ok(token == *hash)
    }

    fn understood(&self, bytes: &[u8]) -> Result<TokenText, TokenError> {
        let text = std::str::from_utf8(bytes).ok().and_then(|text| TokenText::read(text.trim_end()));
        text.ok_or_else(|| {
            self.error(
                "it holds something else than a token; delete it, and the next start makes a new one".into(),
            )
        })
    }

    fn unusable(&self, error: PrivateFileError) -> TokenError {
        TokenError::LocalFile(error)
    }

    fn error(&self, why: String) -> TokenError {
        TokenError::File { path: PathBuf::from(self.path()).display().to_string(), why }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use gristmill_testkit::TestFolder;

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).expect("there").permissions().mode() & 0o777
    }

    #[test]
    fn it_is_made_once_and_is_the_owners_alone() {
        let folder = TestFolder::new("local-token");
        let data = folder.path().join("data");
        let token = LocalToken::open(&data);
        assert_eq!((token.read(), token.created()), (Ok(None), None));
        assert_eq!(token.ensure(), Ok(LocalTokenState::New));
        let first = token.read().expect("readable").expect("made");
        assert_eq!(token.ensure(), Ok(LocalTokenState::Known));
        assert_eq!(LocalToken::open(&data).read(), Ok(Some(first)));
        assert_eq!((mode(&data), mode(token.path())), (0o700, 0o600));
    }

    #[test]
    fn many_that_start_at_once_make_one_token() {
        let folder = TestFolder::new("local-token-race");
        let states: Vec<LocalTokenState> = std::thread::scope(|scope| {
            let one = || {
                let token = LocalToken::open(folder.path());
                token.ensure().expect("made or found")
            };
            let starting: Vec<_> = (0..16).map(|_| scope.spawn(one)).collect();
            starting.into_iter().map(|one| one.join().expect("no panic")).collect()
        });
        assert_eq!(states.iter().filter(|state| **state == LocalTokenState::New).count(), 1);
    }

    #[test]
    fn it_is_told_from_others_and_forgotten_at_once_when_it_is_removed() {
        let folder = TestFolder::new("local-token-check");
        let running = LocalToken::open(folder.path());
        running.ensure().expect("made");
        let token = running.read().expect("readable").expect("made");
        let other = TokenText::random().expect("randomness");
        assert_eq!((running.is(&token.hash()), running.is(&other.hash())), (Ok(true), Ok(false)));
        assert_eq!(LocalToken::open(folder.path()).remove(), Ok(true));
        assert_eq!(running.is(&token.hash()), Ok(false));
        assert_eq!(running.remove(), Ok(false));
        running.ensure().expect("another");
        assert_eq!(running.is(&token.hash()), Ok(false));
    }

    #[test]
    fn a_file_that_others_can_read_or_that_is_damaged_opens_nothing() {
        let folder = TestFolder::new("local-token-damaged");
        let token = LocalToken::open(folder.path());
        token.ensure().expect("made");
        let text = token.read().expect("readable").expect("made");
        std::fs::set_permissions(token.path(), std::fs::Permissions::from_mode(0o644)).expect("ours");
        let refused = token.is(&text.hash()).expect_err("others can read it").to_string();
        assert!(refused.contains("chmod 600"), "{refused}");
        assert!(token.ensure().is_err(), "it is not replaced behind its owner's back");
        std::fs::set_permissions(token.path(), std::fs::Permissions::from_mode(0o600)).expect("ours");
        std::fs::write(token.path(), "not a token").expect("ours");
        let refused = token.is(&text.hash()).expect_err("damaged").to_string();
        assert!(refused.contains("delete it"), "{refused}");
    }
}
