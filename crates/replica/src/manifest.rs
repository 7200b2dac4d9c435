//! What the kept part of a data folder is at a moment, what changes in it, and both together with the database as a
//! snapshot to begin from.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::entry::LogPlace;
use crate::packed::{self, PackError};
use crate::seal::ContentHash;
use crate::tree::TreePath;

/// A content of so many bytes stands in the entry itself.
pub const INLINE_BYTES_MAX: u64 = 8 << 10;

/// Of all contents that stand in one manifest: what is more is stored beside the log, however small it is.
pub const INLINE_BYTES_IN_ALL: u64 = 64 << 20;

/// A content that is stored beside the log is stored in parts of so many bytes, and so is the database.
pub const PART_BYTES: usize = 512 << 10;

/// One file or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Node {
    File(FileState),
    Folder { mode: u32 },
}

/// A file as it was at a moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// The name of its content.
    pub hash: ContentHash,
    pub bytes: u64,
    /// Permissions of owner, group and others.
    pub mode: u32,
    pub modified: Modified,
    /// Its content if that is small; otherwise it is stored under its name.
    pub inline: Option<Inline>,
}

/// When a file was modified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modified {
    /// Since 1970; before it they are negative.
    pub seconds: i64,
    pub nanos: u32,
}

/// A content that stands where it is named. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Inline(Arc<[u8]>);

impl From<Vec<u8>> for Inline {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}

impl AsRef<[u8]> for Inline {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Inline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Inline({} bytes)", self.0.len())
    }
}

impl Serialize for Inline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Inline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_bytes::ByteBuf::deserialize(deserializer).map(|bytes| bytes.into_vec().into())
    }
}

impl Node {
    /// Whether they are the same on disk, wherever their contents stand.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(one), Self::File(other)) => {
                one.has_content_of(other) && one.mode == other.mode && one.modified == other.modified
            }
            (Self::Folder { mode }, Self::Folder { mode: other }) => mode == other,
            (Self::File(_), Self::Folder { .. }) | (Self::Folder { .. }, Self::File(_)) => false,
        }
    }

    pub(crate) fn inline_bytes(&self) -> u64 {
        match self {
            Self::File(FileState { inline: Some(inline), .. }) => inline.0.len() as u64,
            Self::File(FileState { inline: None, .. }) | Self::Folder { .. } => 0,
        }
    }
}

impl FileState {
    pub(crate) fn has_content_of(&self, other: &Self) -> bool {
        self.hash == other.hash && self.bytes == other.bytes
    }
}

/// What is different from before. What is gone stands first, children before the folders they were in; then what is
/// there, folders before their children.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// `None`: gone.
    pub nodes: Vec<(TreePath, Option<Node>)>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The contents that are stored beside the log.
    pub fn stored(&self) -> impl Iterator<Item = &FileState> {
        self.nodes.iter().filter_map(|(_, node)| stored(node.as_ref()))
    }
}

fn stored(node: Option<&Node>) -> Option<&FileState> {
    match node {
        Some(Node::File(state)) => state.inline.is_none().then_some(state),
        Some(Node::Folder { .. }) | None => None,
    }
}

/// All that is kept at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    nodes: BTreeMap<TreePath, Node>,
}

impl Manifest {
    pub fn get(&self, path: &TreePath) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// In the order of their paths: folders before what is in them.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = (&TreePath, &Node)> {
        self.nodes.iter()
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The contents that are stored beside the log.
    pub fn stored(&self) -> impl Iterator<Item = &FileState> {
        self.nodes.values().filter_map(|node| stored(Some(node)))
    }

    /// Makes it what it is after these changes. The same changes once more change nothing.
    pub fn take_in(&mut self, changes: &Changes) {
        for (path, node) in &changes.nodes {
            match node {
                Some(folder @ Node::Folder { .. }) => self.insert(path.clone(), folder.clone()),
                Some(file @ Node::File(_)) => {
                    self.remove(path);
                    self.insert(path.clone(), file.clone());
                }
                None => self.remove(path),
            }
        }
    }

    pub(crate) fn insert(&mut self, path: TreePath, node: Node) {
        self.nodes.insert(path, node);
    }

    /// Takes a node out, with everything in it.
    pub(crate) fn remove(&mut self, path: &TreePath) {
        if self.nodes.remove(path).is_none_or(|node| matches!(node, Node::Folder { .. })) {
            let below: Vec<_> = self.below(path).map(|(path, _)| path.clone()).collect();
            below.iter().for_each(|path| drop(self.nodes.remove(path)));
        }
    }

    /// What is in a folder, however deep; not the folder itself.
    pub(crate) fn below(&self, path: &TreePath) -> impl Iterator<Item = (&TreePath, &Node)> {
        let beginning = [path.as_bytes(), b"/"].concat();
        let after =
            self.nodes.range::<[u8], _>((std::ops::Bound::Excluded(&*beginning), std::ops::Bound::Unbounded));
        after.take_while(move |(path, _)| path.as_bytes().starts_with(&beginning))
    }

    pub(crate) fn inline_bytes(&self) -> u64 {
        self.nodes.values().map(Node::inline_bytes).sum()
    }

    /// A node and what is in it.
    pub(crate) fn within(&self, path: &TreePath) -> impl Iterator<Item = &TreePath> {
        let itself = self.nodes.get_key_value(path).map(|(path, _)| path);
        itself.into_iter().chain(self.below(path).map(|(path, _)| path))
    }

    /// What makes a part of this manifest, whose paths are given in their order, into all of `to`.
    pub(crate) fn changes_to(&self, to: &Self, part: &[&TreePath]) -> Changes {
        let gone = part.iter().rev().filter(|path| to.get(path).is_none());
        let made =
            to.nodes().filter(|(path, node)| self.get(path).is_none_or(|before| !before.is_same(node)));
        let nodes = gone.map(|path| ((*path).clone(), None));
        Changes { nodes: nodes.chain(made.map(|(path, node)| (path.clone(), Some(node.clone())))).collect() }
    }

    pub(crate) fn paths(&self) -> impl DoubleEndedIterator<Item = &TreePath> {
        self.nodes.keys()
    }
}

/// Where somebody begins who has nothing, or too little to go on from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Where in the log everything was so.
    pub as_of: LogPlace,
    pub manifest: Manifest,
    /// The database's file, part by part.
    pub database: Vec<DatabasePart>,
}

/// A part of the database's file; every one but the last has [`PART_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabasePart {
    /// The name of its content, under which it is stored.
    pub hash: ContentHash,
    pub bytes: u32,
}

impl Snapshot {
    pub fn encode(&self) -> Result<Vec<u8>, PackError> {
        packed::pack(self)
    }

    pub fn decode(bytes: &[u8]) -> Result<Self, PackError> {
        packed::unpack(bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::new(text.as_bytes()).expect("a path")
    }

    fn file(byte: u8) -> Node {
        let modified = Modified { seconds: 1, nanos: 2 };
        let inline = Some(vec![byte].into());
        Node::File(FileState { hash: ContentHash([byte; 32]), bytes: 1, mode: 0o600, modified, inline })
    }

    fn manifest(nodes: &[(&str, Option<u8>)]) -> Manifest {
        let node = |byte: &Option<u8>| byte.map_or(Node::Folder { mode: 0o700 }, file);
        Manifest { nodes: nodes.iter().map(|(name, byte)| (path(name), node(byte))).collect() }
    }

    #[test]
    fn changes_lead_from_one_manifest_to_the_other() {
        let trees = [
            manifest(&[]),
            manifest(&[("a", None), ("a-b", Some(1)), ("a/b", None), ("a/b/c", Some(1)), ("a0", Some(2))]),
            manifest(&[("a", Some(1)), ("a-b", None), ("a-b/c", Some(3))]),
            manifest(&[("a", None), ("a/b", Some(2)), ("a0", Some(3))]),
        ];
        for from in &trees {
            for to in &trees {
                let changes = from.changes_to(to, &from.paths().collect::<Vec<_>>());
                assert_eq!(changes.is_empty(), from == to);
                let mut made = from.clone();
                made.take_in(&changes);
                assert_eq!(&made, to);
                made.take_in(&changes);
                assert_eq!(&made, to);
            }
        }
    }

    #[test]
    fn a_folder_goes_with_everything_in_it_and_nothing_beside_it() {
        let mut tree =
            manifest(&[("a", None), ("a-b", Some(1)), ("a/b", None), ("a/b/c", Some(1)), ("a0", Some(2))]);
        tree.take_in(&Changes { nodes: vec![(path("a"), None)] });
        assert_eq!(tree, manifest(&[("a-b", Some(1)), ("a0", Some(2))]));
    }

    #[test]
    fn where_a_content_stands_is_no_change() {
        let tree = manifest(&[("a", Some(1))]);
        let mut other = tree.clone();
        if let Some(Node::File(state)) = other.nodes.get_mut(&path("a")) {
            state.inline = None;
        }
        assert!(tree.changes_to(&other, &tree.paths().collect::<Vec<_>>()).is_empty());
        assert_eq!((tree.stored().count(), other.stored().count()), (0, 1));
        assert_eq!((tree.inline_bytes(), other.inline_bytes()), (1, 0));
    }

    #[test]
    fn a_snapshot_reads_back_as_it_was() {
        let snapshot = Snapshot {
            as_of: LogPlace::of(12, b"an entry"),
            manifest: manifest(&[("skills", None), ("skills/a", Some(1))]),
            database: vec![DatabasePart { hash: ContentHash([4; 32]), bytes: 4096 }],
        };
        let bytes = snapshot.encode().expect("encoded");
        assert_eq!(Snapshot::decode(&bytes), Ok(snapshot));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Snapshot::decode(&bytes);
            let packed = zstd::bulk::compress(&bytes, 1).expect("compressed");
            let _ = Snapshot::decode(&[&[1][..], &packed].concat());
        }
    }
}
