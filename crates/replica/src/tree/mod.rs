//! The kept files of a data folder: what changed in them is taken, and brought to another folder.
//!
//! Walls: from the folder's descriptor down by one name at a time, through no link. Only plain files and folders are
//! taken. What is applied is checked first: only paths that are kept are touched, and a content has the name that it
//! was announced with, or nothing gets its place.

mod apply;
mod beneath;
mod contents;
mod error;
mod measure;
mod path;
mod placing;
mod reconcile;
mod root;
mod scan;
mod stamp;
mod walk;

pub use apply::{Applied, apply};
pub use contents::{CheckedReader, StoredContent};
pub use error::{ApplyError, ScanError};
pub use path::{BadPath, TreePath};
pub use reconcile::{LeftOut, reconcile};
pub use scan::{Scanned, Scanner, Skipped};
pub use walk::SkippedWhy;

#[cfg(test)]
mod tests;

/// Gives a content that is stored beside the log, to be read to its end. An error of its own goes into an
/// [`io::Error`](std::io::Error).
pub type Fetch<'a> = dyn FnMut(&crate::manifest::FileState) -> std::io::Result<Box<dyn std::io::Read>> + 'a;
