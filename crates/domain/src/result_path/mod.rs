//! A part of a large value by its path, without holding the rest of it.
//!
//! The text is read once, from front to back, in pieces of a fixed size; what is kept of it is
//! bounded by the caller. So a result of any size can be asked about in little memory.
//!
//! No file is opened here. The text comes from whatever reader the caller has.

mod error;
mod path;
mod read_source;
mod select;

pub use error::PathError;
pub use path::ResultPath;
pub use select::{PartKind, Slice, TakenPart, take_part, take_text};

#[cfg(test)]
mod tests;
