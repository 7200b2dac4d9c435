//! Finds personal data and secrets in text and JSON: what it is, where, how sure, and by which rule.
//!
//! Pure: bytes in, findings out. One pass over the text: a table of byte classes and one automaton of words
//! and prefixes lead to candidates, and only these are checked (check digits, numbering plans, checksums).
//! Every look around a candidate has a bound, so time grows with the length of the text and nothing else.
//! What is found and what isn't: docs/privacy.md.

mod finding;
mod kind;
mod settings;

mod bytes;
mod topic;
mod words;

mod keywords;

mod context;
mod digits;
mod sink;

mod allow;
mod crypto;
mod custom;
mod documents;
mod email;
mod encoded;
mod letters;
mod network;
mod numbers;
mod people;
mod phone;
mod postal;
mod secrets;

mod token;

mod scan;

mod detector;
mod fields;
mod json;
mod persons;
mod printed;

pub use detector::Detector;
pub use finding::{Encoding, Finding, JsonFinding, TooMany};
pub use json::{NodeFinding, Origin};
pub use kind::Kind;
pub use settings::{Allow, AllowField, Settings, SettingsError};
pub use token::{Code, Form, FoundToken, each_token, find_tokens, mint, placeholder};
