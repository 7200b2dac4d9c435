//! Types learned from use: what a tool's answers look like, where its server doesn't say.
//!
//! [`Shape`] is what answers have in common: names and types of fields, which of them may be missing, formats.
//! [`LearnedType`] merges the answers of one tool over time, and forgets what hasn't been seen for long.
//!
//! Walls: no value is kept. Of texts there are formats and, under names such as `status`, the few words that
//! many answers repeat; until those are settled only their hashes are kept. Keys that look like data become
//! `{[key: string]: T}`. Depth, fields and nodes are bounded, and the same answers give the same shape.

mod choices;
mod data_keys;
mod drift;
mod formats;
mod learned_type;
mod observe;
mod schema;
mod shape;
#[cfg(test)]
mod tests;

pub use drift::drift;
pub use learned_type::{Change, Learned, LearnedType, TypeTextError, shown_calls};
pub use observe::{NothingPersonal, Personal, observe};
pub use shape::Shape;
