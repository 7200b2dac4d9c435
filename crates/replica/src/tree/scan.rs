//! What has changed in a data folder since it was taken last.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::Stat;

use super::beneath;
use super::contents::StoredContent;
use super::error::ScanError;
use super::measure::{Measured, measure};
use super::path::TreePath;
use super::root::{Found, Root, step_down};
use super::stamp::{SETTLED_AFTER, Stamp};
use super::walk::{ENTRIES_MAX, SkippedWhy, Step, Walk, list};
use crate::kept::{self, Role, Scope};
use crate::manifest::{Changes, FileState, INLINE_BYTES_IN_ALL, INLINE_BYTES_MAX, Manifest, Node};
use crate::seal::{ContentHash, Seal};

/// Knows what was taken of a data folder, and which files are as they were when they were read last: those are not
/// read again. Everything here blocks on the disk.
#[derive(Debug)]
pub struct Scanner {
    root: Arc<Root>,
    taken: Manifest,
    /// Of all contents in what was taken that stand in it.
    inline_bytes: u64,
    read: BTreeMap<TreePath, (Stamp, ContentHash)>,
    /// Files that were changed no longer ago than this are read again.
    pub(super) settled_after: Duration,
}

/// What a scan found.
#[derive(Debug, Default)]
pub struct Scanned {
    /// Against what was committed last.
    pub changes: Changes,
    /// To be stored before the changes are: contents that don't stand in them.
    pub contents: Vec<StoredContent>,
    /// Parts that are as they were committed last, whatever they are on disk.
    pub skipped: Vec<Skipped>,
    /// How many links, devices and other things that are never kept were left out.
    pub left_out: usize,
}

/// A part that was not looked into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub path: TreePath,
    pub why: SkippedWhy,
}

/// What there is, without contents.
#[derive(Default)]
pub(super) struct Look {
    pub nodes: Manifest,
    pub skipped: Vec<Skipped>,
    pub strange: Vec<TreePath>,
}

impl Look {
    /// What is at the top is never left out: somebody has it elsewhere.
    pub fn check_top(&self) -> Result<(), ScanError> {
        match self.strange.iter().find(|path| path.parts().count() == 1) {
            Some(path) => Err(ScanError::Unexpected { path: path.clone() }),
            None => Ok(()),
        }
    }
}

impl Scanner {
    /// Of a data folder of which nothing was taken yet.
    pub fn new(data_folder: &Path) -> Result<Self, ScanError> {
        let root = Root::open(data_folder).map_err(|source| {
            let path = data_folder.display().to_string();
            ScanError::Folder { path, source }
        })?;
        let (taken, read) = (Manifest::default(), BTreeMap::new());
        Ok(Self { root: Arc::new(root), taken, inline_bytes: 0, read, settled_after: SETTLED_AFTER })
    }

    pub(super) fn resume(&mut self, taken: Manifest) {
        self.inline_bytes = taken.inline_bytes();
        self.taken = taken;
    }

    pub(super) fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// All that was committed.
    pub fn manifest(&self) -> &Manifest {
        &self.taken
    }

    /// What has changed in a part of the data folder since it was committed. Until these changes are, the next scan
    /// finds them again.
    pub fn scan(&mut self, scope: &Scope, seal: &Seal) -> Result<Scanned, ScanError> {
        let look = self.look(scope, seal)?;
        look.check_top()?;
        let Look { mut nodes, mut skipped, strange } = look;
        for Skipped { path, why } in &skipped {
            self.restore(&mut nodes, path, *why);
        }
        let mut changes = self.taken.changes_to(&nodes, &self.taken_in(scope));
        for (path, _) in changes.nodes.iter().filter(|(_, node)| node.is_none()) {
            self.read.remove(path);
        }
        let contents = self.attach(&mut changes, &mut skipped, seal);
        Ok(Scanned { changes, contents, skipped, left_out: strange.len() })
    }

    /// These changes are in the log now. Those of a scan that are not among them are found again.
    pub fn commit(&mut self, changes: &Changes) {
        for (path, node) in &changes.nodes {
            let before = self.taken.get(path).map_or(0, Node::inline_bytes);
            let after = node.as_ref().map_or(0, Node::inline_bytes);
            self.inline_bytes = (self.inline_bytes + after).saturating_sub(before);
        }
        self.taken.take_in(changes);
    }

    pub(super) fn look(&mut self, scope: &Scope, seal: &Seal) -> Result<Look, ScanError> {
        let mut look = Look::default();
        for mut walk in self.walks(scope)? {
            while let Some(step) = walk.next_step()? {
                match step {
                    Step::Folder(path, mode) => look.nodes.insert(path, Node::Folder { mode }),
                    Step::File(path, stat) => self.look_at_file(&walk, path, &stat, seal, &mut look)?,
                    Step::Strange(path) => look.strange.push(path),
                    Step::Skipped(path, why) => look.skipped.push(Skipped { path, why }),
                }
            }
        }
        Ok(look)
    }

    fn look_at_file(
        &mut self,
        walk: &Walk,
        path: TreePath,
        stat: &Stat,
        seal: &Seal,
        look: &mut Look,
    ) -> Result<(), ScanError> {
        let now = Stamp::of(stat);
        if let Some((_, hash)) = self.read.get(&path).filter(|(before, _)| *before == now) {
            let mode = beneath::mode_of(stat);
            let state =
                FileState { hash: *hash, bytes: now.bytes, mode, modified: now.modified, inline: None };
            look.nodes.insert(path, Node::File(state));
            return Ok(());
        }
        let (_, name) = path.split();
        let measured = walk.at().map_err(io::Error::from);
        let measured = measured.and_then(|at| measure(at, name, seal, self.settled_after));
        match measured.map_err(ScanError::system("read", &path))? {
            Measured::File { state, stamp } => {
                match stamp {
                    Some(stamp) => drop(self.read.insert(path.clone(), (stamp, state.hash))),
                    None => drop(self.read.remove(&path)),
                }
                look.nodes.insert(path, Node::File(state));
            }
            Measured::Gone => {}
            Measured::Skipped(why) => look.skipped.push(Skipped { path, why }),
        }
        Ok(())
    }

    /// The way through each session, all results, all skills.
    fn walks(&self, scope: &Scope) -> Result<Vec<Walk>, ScanError> {
        let mut walks = Vec::new();
        if scope.has_settings() {
            walks.push(self.walk_at_top(kept::settings())?);
        }
        if let Scope::Session(_) | Scope::Everything = scope
            && let Some((folder, path)) = self.passage("sessions")?
        {
            let names = sessions_in(scope, &folder, &path)?;
            // Sessions may be more than a process may have descriptors.
            let folder = Arc::new(folder);
            walks.extend(
                names.into_iter().map(|name| Walk::new(Arc::clone(&folder), Some(path.clone()), vec![name])),
            );
        }
        if let Scope::Results | Scope::Everything = scope
            && let Some((folder, path)) = self.passage("results")?
        {
            let names = all_in(&folder, &path)?;
            walks.push(Walk::new(Arc::new(folder), Some(path), names));
        }
        if let Scope::Skills | Scope::Everything = scope {
            walks.push(self.walk_at_top(std::iter::once("skills"))?);
        }
        Ok(walks)
    }

    fn walk_at_top(&self, names: impl Iterator<Item = &'static str>) -> Result<Walk, ScanError> {
        let folder = self.root.again().map_err(|error| {
            let path = self.root.path().display().to_string();
            ScanError::Folder { path, source: error.into() }
        })?;
        Ok(Walk::new(Arc::new(folder), None, names.map(|name| name.as_bytes().to_owned()).collect()))
    }

    /// A folder at the top that leads to what is kept, if it is there.
    fn passage(&self, name: &str) -> Result<Option<(OwnedFd, TreePath)>, ScanError> {
        let Ok(path) = TreePath::new(name.as_bytes()) else { return Ok(None) };
        let found = step_down(self.root.folder(), name.as_bytes());
        match found.map_err(ScanError::system("open", &path))? {
            Found::Folder(folder) => Ok(Some((folder, path))),
            Found::Nothing => Ok(None),
            Found::File | Found::Link => Err(ScanError::Unexpected { path }),
        }
    }

    /// The paths of what was committed in a part.
    fn taken_in(&self, scope: &Scope) -> Vec<&TreePath> {
        match scope {
            Scope::Everything => self.taken.paths().collect(),
            Scope::Settings => {
                let known = |name: &str| TreePath::new(name.as_bytes()).ok();
                let paths = kept::settings().filter_map(known);
                paths.filter_map(|path| self.taken.within(&path).next()).collect()
            }
            Scope::Session(_) | Scope::Results | Scope::Skills => {
                let top = TreePath::new(scope.folder().as_bytes());
                top.map(|top| self.taken.within(&top).collect()).unwrap_or_default()
            }
        }
    }

    /// What is not looked into is as it was committed.
    fn restore(&self, nodes: &mut Manifest, path: &TreePath, why: SkippedWhy) {
        match why {
            // Nothing of such a path was ever taken, and what else is in the folder was looked at.
            SkippedWhy::TooDeep => {}
            SkippedWhy::Changing
            | SkippedWhy::Unreadable
            | SkippedWhy::TooLarge
            | SkippedWhy::TooManyEntries => {
                for path in self.taken.within(path) {
                    if let Some(node) = self.taken.get(path) {
                        nodes.insert(path.clone(), node.clone());
                    }
                }
            }
        }
    }

    /// Puts small contents into the changes; gives the others.
    fn attach(&self, changes: &mut Changes, skipped: &mut Vec<Skipped>, seal: &Seal) -> Vec<StoredContent> {
        let mut room = INLINE_BYTES_IN_ALL.saturating_sub(self.inline_bytes);
        let mut contents = Vec::new();
        changes.nodes.retain_mut(|(path, node)| {
            let Some(Node::File(state)) = node else { return true };
            if let Some(Node::File(before)) = self.taken.get(path)
                && before.has_content_of(state)
            {
                state.inline.clone_from(&before.inline);
                return true;
            }
            let content = StoredContent::new(&self.root, path.clone(), state.hash, state.bytes);
            if state.bytes > INLINE_BYTES_MAX.min(room) {
                contents.push(content);
                return true;
            }
            let mut bytes = Vec::new();
            let read = content.open(seal).and_then(|mut reader| reader.read_to_end(&mut bytes));
            match read {
                Ok(_) => {
                    room -= state.bytes;
                    state.inline = Some(bytes.into());
                    true
                }
                // It was there a moment ago.
                Err(_) => {
                    skipped.push(Skipped { path: path.clone(), why: SkippedWhy::Changing });
                    false
                }
            }
        });
        contents
    }
}

fn sessions_in(scope: &Scope, folder: &OwnedFd, path: &TreePath) -> Result<Vec<Vec<u8>>, ScanError> {
    let is_session = |name: &[u8]| {
        TreePath::join(Some(path), name).is_ok_and(|path| kept::role(&path) == Some(Role::Folder))
    };
    match scope {
        Scope::Session(id) if is_session(id.as_bytes()) => Ok(vec![id.clone().into_bytes()]),
        Scope::Session(id) => Err(ScanError::NotASession { id: id.clone() }),
        Scope::Settings | Scope::Results | Scope::Skills | Scope::Everything => {
            Ok(all_in(folder, path)?.into_iter().filter(|name| is_session(name)).collect())
        }
    }
}

fn all_in(folder: &OwnedFd, path: &TreePath) -> Result<Vec<Vec<u8>>, ScanError> {
    let listed = list(folder, ENTRIES_MAX).map_err(ScanError::system("list", path))?;
    listed.ok_or_else(|| ScanError::system("list", path)(io::Error::other("it has too many entries")))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    const IDS: [&str; 3] = ["abcdefghijkmnpqrstuv", "bbcdefghijkmnpqrstuv", "cbcdefghijkmnpqrstuv"];

    /// A data folder of three sessions, each with a file that was changed a moment ago.
    fn sessions_below(folder: &Path) -> Scanner {
        for id in IDS {
            let workspace = folder.join("sessions").join(id).join("workspace");
            std::fs::create_dir_all(&workspace).expect("made");
            std::fs::write(workspace.join("a"), id).expect("written");
        }
        std::thread::sleep(Duration::from_millis(100));
        Scanner::new(folder).expect("a data folder")
    }

    #[test]
    fn a_file_that_was_changed_of_late_is_read_again() {
        let (folder, seal) = (tempfile::tempdir().expect("a folder"), Seal::of(&[7; 32]));
        let mut scanner = sessions_below(folder.path());
        scanner.scan(&Scope::Everything, &seal).expect("scanned");
        assert!(scanner.read.is_empty());
        scanner.settled_after = Duration::from_millis(50);
        scanner.scan(&Scope::Everything, &seal).expect("scanned");
        let is_told =
            super::super::stamp::tells_of_changes(&std::fs::File::open(folder.path()).expect("a folder"));
        assert_eq!(scanner.read.len(), if is_told { IDS.len() } else { 0 });
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_in_memory_is_always_read_again() {
        // Not every machine has it.
        let Ok(folder) = tempfile::tempdir_in("/dev/shm") else { return };
        let mut scanner = sessions_below(folder.path());
        scanner.settled_after = Duration::ZERO;
        scanner.scan(&Scope::Everything, &Seal::of(&[7; 32])).expect("scanned");
        assert!(scanner.read.is_empty());
    }

    #[test]
    fn many_sessions_take_one_descriptor() {
        let folder = tempfile::tempdir().expect("a folder");
        let scanner = sessions_below(folder.path());
        let walks = scanner.walks(&Scope::Everything).expect("ways");
        let at: Vec<_> = walks.iter().map(|walk| walk.at().expect("a folder").as_raw_fd()).collect();
        let at: std::collections::BTreeSet<_> = at.into_iter().collect();
        // The data folder for single files and again for skills, and the folder of sessions.
        assert_eq!((walks.len(), at.len()), (IDS.len() + 2, 3));
    }

    #[test]
    fn small_contents_are_stored_beside_the_log_once_too_many_stand_in_the_manifest() {
        let seal = Seal::of(&[7; 32]);
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["audit.key", "pins.json", "vault.key"] {
            std::fs::write(folder.path().join(name), [1; 1_000]).expect("written");
        }
        let mut scanner = Scanner::new(folder.path()).expect("a data folder");
        scanner.inline_bytes = INLINE_BYTES_IN_ALL - 2_500;
        let scanned = scanner.scan(&Scope::Everything, &seal).expect("scanned");
        assert_eq!((scanned.changes.nodes.len(), scanned.contents.len()), (3, 1));
        scanner.commit(&scanned.changes);
        assert_eq!(scanner.inline_bytes, INLINE_BYTES_IN_ALL - 500);
        std::fs::remove_file(folder.path().join("audit.key")).expect("removed");
        let scanned = scanner.scan(&Scope::Everything, &seal).expect("scanned");
        scanner.commit(&scanned.changes);
        assert_eq!(scanner.inline_bytes, INLINE_BYTES_IN_ALL - 1_500);
    }
}
