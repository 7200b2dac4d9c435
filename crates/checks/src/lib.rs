//! What can be said about a program before it runs: where it isn't Python or TypeScript, which modules and tools
//! it names, and what in it is seldom there for a good reason. TypeScript also becomes JavaScript here.
//!
//! A help for the author and a tripwire for the auditor, never the wall: a program that wants to get past
//! these checks does. Pure: text in, findings out. What only the language itself can decide is left to it, so
//! that nothing is called an error that isn't one.

mod as_function;
mod bindings;
mod check;
mod constructs;
mod dangers;
mod finding;
mod flow;
mod guardrails;
mod imports;
mod lines;
mod literals;
mod modules;
mod named_tools;
mod nesting;
mod paths;
mod repaired;
mod request_hosts;
mod rules;
mod syntax;
mod tool_judge;
mod tool_names;
mod tools;
pub mod typescript;

pub use as_function::{FUNCTION_NAME, NotAFunction, as_function};
pub use check::{CODE_BYTES_MAX, ReadProgram, check};
pub use finding::{CheckReport, Finding};
pub use guardrails::{Guardrails, ModuleLists};
pub use imports::{Imported, imported, imported_modules, imported_of};
pub use named_tools::{NamedTools, named_tools};
pub use rules::{Rule, Severity};
pub use tool_names::{NoTools, ToolNames};
pub use typescript::{Language, detect};
