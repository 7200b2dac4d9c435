//! The approvals, on disk. A file that cannot be read stops new approvals and changes, never hides
//! that something changed: without it everything waits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_domain::Accept;
use gristmill_domain::catalogue::{Approve, ChooseError, ItemKind, Offer, Pins, Review, approve, review};
use gristmill_files::{FileLock, FileStamp, read_bounded, replace_private};
use parking_lot::Mutex;

const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The definitions of one server that are remembered, those among them that it no longer offers. A
/// server that wants more is held back; the others are not.
const SERVER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The approvals cannot be read or written. Tools that were approved before are held back until
/// they can be.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PinError {
    /// The file. Tools of every server are held back until it can be used.
    #[error("can't use the tool approvals in {path}: {why}")]
    File {
        path: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// One server. The others are unaffected.
    #[error(
        "`{server}` has offered {bytes} bytes of different definitions over time, and only {SERVER_BYTES_MAX} are remembered; remove it with `gristmill remove` and add it again to start over"
    )]
    TooMuch { server: String, bytes: usize },
}

/// An approval that did not happen. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// Not configured, or not enabled.
    #[error("no server `{0}`")]
    NoServer(String),
    /// Not something of it.
    #[error(transparent)]
    Choose(#[from] ChooseError),
    /// The approvals cannot be written.
    #[error(transparent)]
    Pins(#[from] PinError),
}

/// Forgets what was approved of a server: it is a new one when it is seen again. `data` is where what must
/// last is.
pub fn forget_approvals(data: &Path, server: &str) -> Result<(), PinError> {
    let file = PinFile::in_folder(data);
    let mut last = file.last.lock();
    if !file.read_if_new(&mut last)?.servers.contains_key(server) {
        return Ok(());
    }
    file.change(|pins| {
        pins.servers.remove(server);
        Ok(())
    })
}

pub(super) struct PinFile {
    path: PathBuf,
    /// One at a time in this process; the file's lock is for other processes. What was read last is
    /// read again only if the file is another one by then.
    last: Mutex<Option<(FileStamp, Arc<Pins>)>>,
}

impl PinFile {
    pub(super) fn in_folder(data: &Path) -> Self {
        Self { path: data.join("pins.json"), last: Mutex::default() }
    }

    /// Compares an offer with what was approved, and writes down what is approved by it.
    pub(super) fn review(&self, server: &str, offered: &Offer, accept: Accept) -> Result<Review, PinError> {
        let mut last = self.last.lock();
        // Most offers are as they were: that needs no lock.
        let before = self.read_if_new(&mut last)?;
        let reviewed = review(before.servers.get(server), offered, accept);
        let bytes = reviewed.new_pins.raw_bytes();
        if bytes > SERVER_BYTES_MAX {
            return Err(PinError::TooMuch { server: server.to_owned(), bytes });
        }
        if before.servers.get(server) == Some(&reviewed.new_pins) {
            return Ok(reviewed);
        }
        self.change(|pins| {
            let reviewed = review(pins.servers.get(server), offered, accept);
            pins.servers.insert(server.to_owned(), reviewed.new_pins.clone());
            Ok::<_, PinError>(reviewed)
        })
    }

    pub(super) fn approve(
        &self,
        server: &str,
        what: Approve<'_>,
        offered: &Offer,
    ) -> Result<Vec<String>, ApproveError> {
        let _turn = self.last.lock();
        self.change(|pins| Ok(approve(pins, server, what, offered)?))
    }

    /// Names of the tools of a server that were approved, whether it still offers them or not. `None` if
    /// it was never seen, or the approvals cannot be read.
    pub(super) fn tools_of(&self, server: &str) -> Option<Vec<String>> {
        let pins = self.read_if_new(&mut self.last.lock()).ok()?;
        let tools = pins.servers.get(server)?.of(ItemKind::Tool)?;
        Some(tools.keys().cloned().collect())
    }

    fn change<T, E: From<PinError>>(&self, change: impl FnOnce(&mut Pins) -> Result<T, E>) -> Result<T, E> {
        let lock = FileLock::beside(&self.path);
        let _lock = lock.map_err(|error| self.error(error.to_string()))?;
        let mut pins = self.read()?;
        let outcome = change(&mut pins)?;
        let text = serde_json::to_vec(&pins).map_err(|error| self.error(error.to_string()))?;
        // What could not be read again is not written.
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(self.error(format!("it would have more than {FILE_BYTES_MAX} bytes")).into());
        }
        replace_private(&self.path, &text).map_err(|error| self.error(error.to_string()))?;
        Ok(outcome)
    }

    fn read_if_new(&self, last: &mut Option<(FileStamp, Arc<Pins>)>) -> Result<Arc<Pins>, PinError> {
        let stamp = FileStamp::of(&self.path);
        if let (Some(stamp), Some((known, pins))) = (stamp, &*last)
            && stamp == *known
        {
            return Ok(Arc::clone(pins));
        }
        let pins = Arc::new(self.read()?);
        *last = stamp.map(|stamp| (stamp, Arc::clone(&pins)));
        Ok(pins)
    }

    fn read(&self) -> Result<Pins, PinError> {
        let text = read_bounded(&self.path, FILE_BYTES_MAX).map_err(|error| self.error(error.to_string()))?;
        let Some(text) = text else { return Ok(Pins::default()) };
        Pins::from_text(&text).map_err(|error| self.error(error.to_string()))
    }

    fn error(&self, why: String) -> PinError {
        PinError::File { path: self.path.display().to_string(), why }
    }
}
