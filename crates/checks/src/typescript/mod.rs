//! TypeScript and JavaScript before they run: what is wrong, and the script that a worker takes.
//!
//! Types become blanks, so every line and every column stays where its author put it, and errors need no source
//! map. Enums, namespaces and parameter properties are rewritten in place, without a line more; the script says what
//! their author wrote. Hostile texts are bounded before a parser sees them.

mod as_function;
mod bindings;
mod calls;
mod check;
mod classes;
mod columns;
mod dangers;
mod detect;
mod edits;
mod enums;
mod erased;
mod flow;
mod imports;
mod literals;
mod mistakes;
mod module_docs;
mod module_facts;
mod modules;
mod named_tools;
mod names;
mod namespaces;
mod nesting;
mod parse;
mod paths;
mod prepare;
mod script;
mod strip;
mod tokens;
mod type_errors;
mod type_text;
mod type_words;

pub use as_function::as_function;
pub use check::{check, check_with_types};
pub use detect::{Language, detect};
pub use module_facts::{module_facts, test_functions};
pub use named_tools::named_tools;
pub use prepare::{TopLevel, prepare, prepare_module};
pub use type_errors::{TypeError, TypeReport};
pub use type_text::{may_use_tools, type_text};
