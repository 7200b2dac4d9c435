//! A program's folders on their way to a node and back.
//!
//! The gateway packs a folder, the node unpacks it. Of a workspace, the node notes what it unpacked and later packs
//! what has changed; the gateway applies that as a whole or not at all. Trees that many programs share, such as
//! `/servers`, are known by a hash of their content and stay on the node.
//!
//! Walls:
//! - Folders are open descriptors. Everything is reached from them one name at a time, through no link and into no
//!   other file system, whatever is renamed meanwhile.
//! - What comes over the wire is hostile, whoever sent it: its names can't lead out, and its bytes, entries and depth
//!   are counted while it is read. Nothing is held in memory but names and hashes.
//! - Others decide how deep a folder is, so nothing calls itself.
//!
//! Everything here blocks on the disk, and nothing knows how the bytes travel.

mod bounds;
mod error;
mod name;

mod archive_reader;
mod archive_writer;
mod beneath;
mod spool;
mod walk;

mod pack;
mod snapshot;
mod unpack;

mod apply;
mod changes;
mod measure;
mod placing;
mod plan;

mod tree_cache;
mod tree_hash;
mod tree_lock;

pub use apply::{Applied, apply};
pub use bounds::{Bounds, DEPTH_MAX};
pub use changes::{Changed, changes};
pub use error::FolderError;
pub use pack::{Packed, pack, pack_files};
pub use snapshot::{Snapshot, snapshot};
pub use spool::{Spool, Spooled, unlinked_file};
pub use tree_cache::{CachedTree, TreeCache};
pub use tree_hash::{NotATreeHash, TreeHash, TreeHashes, tree_hash};
pub use unpack::{Unpacked, unpack};

#[cfg(test)]
mod tests;
