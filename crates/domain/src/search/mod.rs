//! Search over the tool catalogue: from a few words to the tools that can do it.
//!
//! An [`Index`] is made once per catalogue and never changes. What servers say and what callers ask
//! is hostile: the length of every text, the number of words and the depth of every schema that is
//! looked at have a limit, and nothing here can fail but a filter that names no server.

mod action;
mod answer;
mod exact_name;
mod fields;
mod index;
mod meaning;
mod postings;
mod query;
mod rank;
pub mod recall;
mod render;
mod synonyms;
mod terms;
mod tuning;
mod words;

pub use answer::{Answer, Hit, MaySee, Parameter, ServerLine, Signature};
pub use index::Index;
pub use meaning::{Nearness, meaning_parts, meaning_query, meaning_text};
pub use query::{Detail, LIMIT_DEFAULT, LIMIT_MAX, Query, SearchError};
pub use render::{TokenCount, render};
pub use tuning::{Method, Part};
