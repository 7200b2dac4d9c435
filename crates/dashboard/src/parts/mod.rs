//! What pages are made of.

mod code;
mod diff;
mod pieces;
pub mod schema_form;
mod table;

pub use diff::{Diff, DiffLine};
pub use pieces::{Pager, Tone};

pub(crate) use code::{block, listing};
pub(crate) use diff::diff;
pub(crate) use pieces::{Choice, badge, card, empty, facts, filter_field, filter_select, pager, stat};
pub(crate) use table::{cell, number, table};
