//! The pages of one SQLite database: what was committed is read from its write-ahead log, and written into a copy.
//!
//! Whole pages make a copy exact whatever the statements were, and SQLite doesn't have to be asked what changed. The
//! log is a ring: once all of it was copied into the database file, the next writer begins it anew and overwrites what
//! it held. [`PageSource`] keeps that from happening until it has taken what is there.
//!
//! Walls: a log is only read here, never written. Nothing here opens the database file itself while SQLite has it open
//! in this process: to close it again would drop the locks that SQLite holds.

mod apply;
mod copy;
mod error;
mod gathered;
mod log;
mod pages;
mod rows;
mod source;

pub use apply::apply;
pub use copy::copy;
pub use error::DatabaseError;
pub use pages::{Page, Pages};
pub use rows::has_rows;
pub use source::PageSource;

#[cfg(test)]
mod tests;
