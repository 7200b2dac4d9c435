//! What a server says beside the protocol: its standard error, kept short.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use gristmill_domain::HiddenText;
use parking_lot::Mutex;

/// Lines that are remembered for error messages.
const LINES_MAX: usize = 50;

/// Longer lines are cut.
const LINE_BYTES_MAX: usize = 2000;

/// A log file is begun anew at this size; the one before it is kept.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// The log of one server.
pub struct ServerLog {
    inner: Mutex<Inner>,
    hide: Option<Box<Hide>>,
}

/// A line without what is personal in it; `None` if there is nothing.
type Hide = dyn Fn(&str) -> Option<String> + Send + Sync;

struct Inner {
    last: VecDeque<String>,
    path: Option<PathBuf>,
    file: Option<(File, u64)>,
}

impl ServerLog {
    /// Remembers the last lines only.
    pub fn in_memory() -> Self {
        Self { inner: Mutex::new(Inner { last: VecDeque::new(), path: None, file: None }), hide: None }
    }

    /// Also writes to a file that only its owner reads. If that cannot be written, the last lines are
    /// still remembered.
    pub fn in_file(path: PathBuf) -> Self {
        Self { inner: Mutex::new(Inner { last: VecDeque::new(), path: Some(path), file: None }), hide: None }
    }

    /// Keeps what this leaves of a line.
    pub fn hiding(self, hide: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { hide: Some(Box::new(hide)), ..self }
    }

    /// One line, without its end. Control characters and what hides text are made visible.
    pub fn line(&self, text: &str) {
        let hidden = self.hide.as_ref().and_then(|hide| hide(text));
        let mut invisible = HiddenText::default();
        let shown: String = gristmill_domain::first_bytes(hidden.as_deref().unwrap_or(text), LINE_BYTES_MAX)
            .chars()
            .map(|c| if invisible.hides(c) || is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c })
            .collect();
        let mut inner = self.inner.lock();
        inner.write(&shown);
        if inner.last.len() == LINES_MAX {
            inner.last.pop_front();
        }
        inner.last.push_back(shown);
    }

    /// The last lines, oldest first.
    pub fn last(&self, count: usize) -> Vec<String> {
        let inner = self.inner.lock();
        inner.last.iter().skip(inner.last.len().saturating_sub(count)).cloned().collect()
    }
}

/// Whether a terminal would do something for it, rather than show it.
fn is_obeyed(c: char) -> bool {
    c.is_control() && c != '\t'
}

impl Inner {
    fn write(&mut self, line: &str) {
        let Some(path) = &self.path else { return };
        if self.file.as_ref().is_some_and(|(_, bytes)| *bytes > FILE_BYTES_MAX) {
            self.file = None;
            let _ = std::fs::rename(path, path.with_extension("log.1"));
        }
        if self.file.is_none() {
            if let Some(parent) = path.parent() {
                let _ = DirBuilder::new().recursive(true).mode(0o700).create(parent);
            }
            let opened = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
            self.file = opened.ok().map(|file| {
                let bytes = file.metadata().map_or(0, |metadata| metadata.len());
                (file, bytes)
            });
        }
        if let Some((file, bytes)) = &mut self.file
            && file.write_all(format!("{line}\n").as_bytes()).is_ok()
        {
            *bytes += line.len() as u64 + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_can_neither_forge_a_line_nor_move_one() {
        let log = ServerLog::in_memory();
        log.line("ok\u{1b}[2J\u{9b}1m\rerror: forged\u{2028}\u{202e}\ttab");
        let lost = char::REPLACEMENT_CHARACTER;
        log.line("a\u{e0041}\u{200b} \u{26a0}\u{fe0f} b");
        assert_eq!(log.last(1), [format!("a{lost}{lost} \u{26a0}\u{fe0f} b")]);
        assert_eq!(log.last(2)[..1], [format!("ok{lost}[2J{lost}1m{lost}error: forged{lost}{lost}\ttab")]);
    }
}
