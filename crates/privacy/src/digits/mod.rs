//! Digits as they are written, and the sums that tell whether they are a number of something.

pub mod checks;
mod group;
mod shape;

pub use group::{Group, Number, is_called_behind};
pub use shape::{HEADS, Separator, Shape};
