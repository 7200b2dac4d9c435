//! A data folder that several machines have: what one gateway changes in it, entry by entry, so that another can go
//! on from there.
//!
//! The gateway that *leads* takes the changes of its database and its files and writes them to a log; those that
//! *stand by* bring their copies up to date from it. Here is what an entry holds and how it is taken and applied;
//! where the log is, and who leads, is others' business.
//!
//! Walls: an entry is sealed with a key that the machines share and whoever carries it does not have. What is opened is
//! still checked: paths stay beneath the data folder and among those that are kept together, sizes are bounded.

pub mod database;
pub mod entry;
pub mod kept;
pub mod manifest;
mod packed;
pub mod seal;
pub mod tree;

pub use packed::{PLAIN_BYTES_MAX, PackError};
