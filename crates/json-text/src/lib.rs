//! JSON text measured, passed over and taken apart without being built.
//!
//! Every text is foreign. Whatever the bytes are, nothing here panics, recurses, or takes more memory
//! than what it returns. What is not JSON is noticed only where something is read: a parser comes
//! after, and can then rely on the bounds that were checked.

mod blocks;
mod caps;
mod reserved_keys;
mod scanner;
mod sink;
mod source;
mod span;
mod string_text;
mod strings;

pub use blocks::{Block, Blocks};
pub use caps::{JsonCapError, JsonCaps};
pub use reserved_keys::has_reserved_key;
pub use scanner::{ScanError, Scanner};
pub use sink::{Bounded, Discard, Sink};
pub use source::{SliceSource, Source};
pub use span::{Member, Members, after_space, end_of_member, end_of_string, members};
pub use string_text::{BadString, string_at};
pub use strings::{Strings, strings};
