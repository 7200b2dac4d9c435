//! How something looks to a program, in WASI's words.

use rustix::fs::Stat;

use super::open_file::{describe, inode_of};
use super::types::{DescriptorStat, DescriptorType, MetadataHash};

/// What a program was shown.
pub enum Looked {
    /// The root: the list of mounts.
    Root,
    /// A link. Nothing is known of it, but that it is one.
    Link,
    /// Anything else.
    Thing(Stat),
}

impl Looked {
    pub fn describe(&self) -> DescriptorStat {
        match self {
            Looked::Root => unknown(DescriptorType::Directory),
            Looked::Link => unknown(DescriptorType::SymbolicLink),
            Looked::Thing(stat) => describe(stat),
        }
    }

    /// What tells it apart from other things.
    pub fn identity(&self) -> MetadataHash {
        let (lower, upper) = match self {
            Looked::Root => (0, 0),
            Looked::Link => (0, u64::MAX),
            Looked::Thing(stat) => {
                let (device, inode) = inode_of(stat);
                (inode, device)
            }
        };
        MetadataHash { lower, upper }
    }

    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Looked::Root, Looked::Root) => true,
            (Looked::Thing(one), Looked::Thing(other)) => inode_of(one) == inode_of(other),
            (Looked::Root | Looked::Link | Looked::Thing(_), _) => false,
        }
    }
}

fn unknown(kind: DescriptorType) -> DescriptorStat {
    DescriptorStat { kind, link_count: 1, size: 0, accessed: None, modified: None, changed: None }
}
