//! Files and folders put in their places and taken away, one by one.
//!
//! A file is written under a name of its own at the top of what is kept, and gets its place when it is whole. What goes
//! is moved there first, so that it is gone at once, however much is in it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use gristmill_files::remove_tree;
use rustix::fs::{AtFlags, FileType, Stat, fchmod, renameat, unlinkat};
use rustix::io::Errno;

use super::Fetch;
use super::apply::Applied;
use super::beneath;
use super::contents::{CheckedReader, is_other_content};
use super::error::ApplyError;
use super::measure::{PIECE_BYTES, hash};
use super::path::TreePath;
use super::root::{Found, Root, step_down};
use super::stamp::Stamp;
use crate::kept::TOP_FOLDERS;
use crate::manifest::{Changes, FileState, Node};
use crate::seal::{Seal, hexadecimal};

/// What is not in its place yet, or not any more, with 32 hexadecimal digits behind it.
const ASIDE: &str = ".replica-";
const ASIDE_DIGITS: usize = 32;

const OWNERS: u32 = 0o700;

/// What to do about folders on the way that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Make,
    /// What is in them is not there either.
    Accept,
}

/// See the module.
pub(super) struct Placing<'a, 'f> {
    root: &'a Root,
    seal: &'a Seal,
    fetch: &'a mut Fetch<'f>,
    /// What folders are to have in the end: until then their owner may change what is in them.
    modes: BTreeMap<TreePath, u32>,
    /// The folder that was used last.
    last: Option<(TreePath, Rc<OwnedFd>)>,
    applied: Applied,
}

impl<'a, 'f> Placing<'a, 'f> {
    pub fn new(root: &'a Root, seal: &'a Seal, fetch: &'a mut Fetch<'f>) -> Self {
        Self { root, seal, fetch, modes: BTreeMap::new(), last: None, applied: Applied::default() }
    }

    pub fn all(&mut self, changes: &Changes) -> Result<(), ApplyError> {
        for (path, node) in &changes.nodes {
            match node {
                None => self.remove(path)?,
                Some(Node::Folder { mode }) => self.folder(path, *mode)?,
                Some(Node::File(state)) => self.file(path, state)?,
            }
        }
        Ok(())
    }

    /// Gives folders their modes, the deepest first, whatever came of the rest.
    pub fn finish(mut self, outcome: Result<(), ApplyError>) -> Result<Applied, ApplyError> {
        self.last = None;
        let mut set = Ok(());
        for (path, mode) in std::mem::take(&mut self.modes).into_iter().rev() {
            let is_set = self.set_mode(&path, mode);
            set = set.and(is_set.map_err(ApplyError::system("set the permissions of", &path)));
        }
        outcome.and(set).map(|()| self.applied)
    }

    /// Takes away whatever is at a path, with all that is in it.
    pub fn remove(&mut self, path: &TreePath) -> Result<(), ApplyError> {
        let (above, name) = path.split();
        let Some(folder) = self.open(above.as_ref(), Missing::Accept)? else { return Ok(()) };
        let found = beneath::look(folder.as_fd(), name).map_err(ApplyError::system("look at", path))?;
        let Some(stat) = found else { return Ok(()) };
        self.remove_found(&folder, path, &stat)?;
        self.applied.removed += 1;
        Ok(())
    }

    /// Removes what was left where nobody came back to it.
    pub fn sweep(&mut self) -> Result<(), ApplyError> {
        for top in [None].into_iter().chain(TOP_FOLDERS.map(Some)) {
            let top = top.and_then(|name| TreePath::new(name.as_bytes()).ok());
            let Some(folder) = self.open(top.as_ref(), Missing::Accept)? else { continue };
            let Ok(Some(names)) = super::walk::list(&folder, usize::MAX) else { continue };
            for name in names.iter().filter(|name| is_aside(name)) {
                self.remove_aside(top.as_ref(), &folder, name);
            }
        }
        Ok(())
    }

    fn folder(&mut self, path: &TreePath, mode: u32) -> Result<(), ApplyError> {
        let (above, name) = path.split();
        let folder = self.make(above.as_ref())?;
        let found = beneath::look(folder.as_fd(), name).map_err(ApplyError::system("look at", path))?;
        match found {
            Some(stat) if beneath::kind_of(&stat) == FileType::Directory => self.applied.there += 1,
            other => {
                if let Some(stat) = other {
                    self.remove_found(&folder, path, &stat)?;
                }
                beneath::create_folder(folder.as_fd(), name).map_err(ApplyError::system("make", path))?;
                self.applied.written += 1;
            }
        }
        self.modes.insert(path.clone(), mode);
        Ok(())
    }

    fn file(&mut self, path: &TreePath, state: &FileState) -> Result<(), ApplyError> {
        let (above, name) = path.split();
        let folder = self.make(above.as_ref())?;
        let found = beneath::look(folder.as_fd(), name).map_err(ApplyError::system("look at", path))?;
        if let Some(stat) = &found
            && self.is_there(&folder, path, stat, state)?
        {
            self.applied.there += 1;
            return Ok(());
        }
        let top = self.top_of(path)?;
        let aside = Aside::create(&top).map_err(ApplyError::system("write", path))?;
        self.fill(&aside.file, path, state)?;
        finish_file(&aside.file, state, true).map_err(ApplyError::system("set the permissions of", path))?;
        if let Some(stat) = found.filter(|stat| beneath::kind_of(stat) == FileType::Directory) {
            self.remove_found(&folder, path, &stat)?;
        }
        aside.put(&folder, name).map_err(ApplyError::system("write", path))?;
        self.applied.written += 1;
        Ok(())
    }

    /// Whether a file has this content already; then it gets the mode and the time as well. One that has several names
    /// is not ours to change under this one.
    fn is_there(
        &self,
        folder: &OwnedFd,
        path: &TreePath,
        stat: &Stat,
        state: &FileState,
    ) -> Result<bool, ApplyError> {
        let is_plain = beneath::kind_of(stat) == FileType::RegularFile && stat.st_nlink == 1;
        if !is_plain || Stamp::of(stat).bytes != state.bytes {
            return Ok(false);
        }
        let compare = || -> io::Result<bool> {
            let file = beneath::open_file(folder.as_fd(), path.split().1)?;
            if hash(&file, state.bytes, self.seal)? != (state.hash, state.bytes) {
                return Ok(false);
            }
            finish_file(&file, state, false)?;
            Ok(true)
        };
        compare().map_err(ApplyError::system("read", path))
    }

    fn fill(&mut self, mut file: &File, path: &TreePath, state: &FileState) -> Result<(), ApplyError> {
        let inner: Box<dyn Read> = match &state.inline {
            Some(inline) => Box::new(io::Cursor::new(inline.clone())),
            None => {
                let fetched = (self.fetch)(state);
                fetched.map_err(|source| ApplyError::Fetch { path: path.clone(), source })?
            }
        };
        let mut reader = CheckedReader::new(inner, state.hash, state.bytes, self.seal);
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let count = match reader.read(&mut piece) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_other_content(&error) => {
                    return Err(ApplyError::OtherContent { path: path.clone() });
                }
                Err(source) => return Err(ApplyError::Fetch { path: path.clone(), source }),
            };
            let written = file.write_all(piece.get(..count).unwrap_or_default());
            written.map_err(ApplyError::system("write", path))?;
        }
        if state.inline.is_none() {
            self.applied.bytes_fetched += state.bytes;
        }
        Ok(())
    }

    fn remove_found(&mut self, folder: &OwnedFd, path: &TreePath, stat: &Stat) -> Result<(), ApplyError> {
        let (above, name) = path.split();
        let kind = beneath::kind_of(stat);
        let is_at_top = above.is_none() && TOP_FOLDERS.iter().any(|top| top.as_bytes() == name);
        if is_at_top && kind == FileType::Symlink {
            // Whoever set up the machine has it elsewhere.
            return Err(ApplyError::NotAFolder { path: path.clone() });
        }
        self.last = None;
        let removed = match kind {
            FileType::Directory => match unlinkat(folder, name, AtFlags::REMOVEDIR) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => return self.remove_full(folder, path),
                outcome => outcome,
            },
            _ => unlinkat(folder, name, AtFlags::empty()),
        };
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(ApplyError::system("remove", path)(error)),
        }
    }

    fn remove_full(&mut self, folder: &OwnedFd, path: &TreePath) -> Result<(), ApplyError> {
        let failed = |error: io::Error| ApplyError::system("remove", path)(error);
        let top = self.top_of(path)?;
        let (aside, (_, name)) = (aside_name().map_err(failed)?, path.split());
        let moved = match renameat(folder, name, &top, aside.as_str()) {
            // What its owner may not change can't be moved either.
            Err(Errno::ACCESS) => beneath::open_folder(folder.as_fd(), name)
                .and_then(|full| fchmod(&full, beneath::mode(OWNERS)))
                .and_then(|()| renameat(folder, name, &top, aside.as_str())),
            outcome => outcome,
        };
        moved.map_err(|error| failed(error.into()))?;
        self.remove_aside(top_path(path).as_ref(), &top, aside.as_bytes());
        Ok(())
    }

    /// What can't be removed now is removed by a later sweep.
    fn remove_aside(&self, top: Option<&TreePath>, folder: &OwnedFd, name: &[u8]) {
        if unlinkat(folder, name, AtFlags::empty()).is_err() {
            let text = |bytes| str::from_utf8(bytes).unwrap_or_default();
            let top = top.map(|top| text(top.as_bytes())).unwrap_or_default();
            let _ = remove_tree(&self.root.path().join(top).join(text(name)));
        }
    }

    /// Where things are put that have no place: in the same file system as this path.
    fn top_of(&mut self, path: &TreePath) -> Result<Rc<OwnedFd>, ApplyError> {
        self.make(top_path(path).as_ref())
    }

    fn make(&mut self, path: Option<&TreePath>) -> Result<Rc<OwnedFd>, ApplyError> {
        match (self.open(path, Missing::Make)?, path) {
            (Some(folder), _) => Ok(folder),
            (None, Some(path)) => Err(ApplyError::NotAFolder { path: path.clone() }),
            (None, None) => Err(self.root_failed(Errno::NOENT)),
        }
    }

    /// A folder whose owner may change what is in it.
    fn open(&mut self, path: Option<&TreePath>, missing: Missing) -> Result<Option<Rc<OwnedFd>>, ApplyError> {
        if let Some((last, folder)) = &self.last
            && Some(last) == path
        {
            return Ok(Some(Rc::clone(folder)));
        }
        let mut folder = self.root.again().map_err(|error| self.root_failed(error))?;
        let Some(path) = path else { return Ok(Some(Rc::new(folder))) };
        let mut way: Option<TreePath> = None;
        for name in path.parts() {
            let Ok(here) = TreePath::join(way.as_ref(), name) else { return Ok(None) };
            let is_closed = self.note_mode(&folder, &here, name)?;
            folder = match (
                step_down(folder.as_fd(), name).map_err(ApplyError::system("open", &here))?,
                missing,
            ) {
                (Found::Folder(below), _) => below,
                (Found::Nothing, Missing::Make) => {
                    beneath::create_folder(folder.as_fd(), name).map_err(ApplyError::system("make", &here))?
                }
                (Found::Nothing | Found::File, Missing::Accept) => return Ok(None),
                (Found::File, Missing::Make) | (Found::Link, _) => {
                    return Err(ApplyError::NotAFolder { path: here });
                }
            };
            if is_closed {
                let opened = fchmod(&folder, beneath::mode(OWNERS));
                opened.map_err(ApplyError::system("set the permissions of", &here))?;
            }
            way = Some(here);
        }
        let folder = Rc::new(folder);
        self.last = Some((path.clone(), Rc::clone(&folder)));
        Ok(Some(folder))
    }

    /// Whether this is a folder whose owner may not change what is in it. Then its mode is remembered.
    fn note_mode(&mut self, above: &OwnedFd, path: &TreePath, name: &[u8]) -> Result<bool, ApplyError> {
        let found = beneath::look(above.as_fd(), name).map_err(ApplyError::system("look at", path))?;
        let folder = found.filter(|stat| beneath::kind_of(stat) == FileType::Directory);
        let mode = folder.map(|stat| beneath::mode_of(&stat)).filter(|mode| mode & OWNERS != OWNERS);
        if let Some(mode) = mode {
            self.modes.entry(path.clone()).or_insert(mode);
        }
        Ok(mode.is_some())
    }

    fn set_mode(&mut self, path: &TreePath, mode: u32) -> Result<(), Errno> {
        let Some(above) = self.root.above(path)? else { return Ok(()) };
        match step_down(above.as_fd(), path.split().1)? {
            Found::Folder(folder) => fchmod(&folder, beneath::mode(mode)),
            // It was removed since.
            Found::Nothing | Found::File | Found::Link => Ok(()),
        }
    }

    fn root_failed(&self, error: Errno) -> ApplyError {
        let path = self.root.path().display().to_string();
        super::error::ScanError::Folder { path, source: error.into() }.into()
    }
}

/// A file that has no place yet. It is removed if it gets none.
struct Aside<'a> {
    file: File,
    top: &'a OwnedFd,
    /// `None` when it has its place.
    name: Option<String>,
}

impl<'a> Aside<'a> {
    fn create(top: &'a OwnedFd) -> io::Result<Self> {
        let name = aside_name()?;
        let file = beneath::create_file(top.as_fd(), name.as_bytes())?;
        Ok(Self { file, top, name: Some(name) })
    }

    fn put(mut self, folder: &OwnedFd, name: &[u8]) -> Result<(), Errno> {
        if let Some(aside) = &self.name {
            renameat(self.top, aside.as_str(), folder, name)?;
            self.name = None;
        }
        Ok(())
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.name.take() {
            // What can't be removed now is removed by a later sweep.
            let _ = unlinkat(self.top, name.as_str(), AtFlags::empty());
        }
    }
}

/// What was opened to be read can be given a mode and a time as well.
fn finish_file(file: &File, state: &FileState, is_new: bool) -> Result<(), Errno> {
    let stat = rustix::fs::fstat(file)?;
    if beneath::mode_of(&stat) != state.mode & 0o777 {
        fchmod(file, beneath::mode(state.mode))?;
    }
    if is_new || Stamp::of(&stat).modified != state.modified {
        beneath::set_modified(file, state.modified, is_new)?;
    }
    Ok(())
}

/// The folder at the top that a path is in; `None` if that is the data folder.
fn top_path(path: &TreePath) -> Option<TreePath> {
    let mut parts = path.parts();
    match (parts.next(), parts.next()) {
        (Some(top), Some(_)) => TreePath::new(top).ok(),
        (_, None) | (None, _) => None,
    }
}

fn aside_name() -> io::Result<String> {
    let mut random = [0; ASIDE_DIGITS / 2];
    getrandom::fill(&mut random).map_err(|_| io::Error::other("the system random source failed"))?;
    Ok(format!("{ASIDE}{}", hexadecimal(&random)))
}

fn is_aside(name: &[u8]) -> bool {
    let digits = name.strip_prefix(ASIDE.as_bytes());
    digits.is_some_and(|digits| digits.len() == ASIDE_DIGITS && digits.iter().all(u8::is_ascii_hexdigit))
}
