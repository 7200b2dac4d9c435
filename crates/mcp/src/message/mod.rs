//! Incoming messages, checked on their bytes before `rmcp` sees them: the same for standard input and
//! for HTTP.
//!
//! Walls: everything that a client sends is hostile, and bounded in size, depth and number here. A
//! mistake is answered in words, and the next request works.

mod check;
pub(crate) mod json_shape;
mod methods;
mod parse_budget;
mod refusal;

pub(crate) use check::{Checked, Kind, MODERN, Refused, check};
pub(crate) use json_shape::{request_id, request_id_of_fragments};
pub(crate) use methods::DISCOVER;
pub use parse_budget::PARSED_BYTES_MAX;
pub(crate) use parse_budget::{BUDGET, Busy, CallShare, ParsedShare};
pub use refusal::{Fault, Refusal};
