//! Tools as a program sees them: typed stubs in both languages, one-line signatures, example calls.
//!
//! Stubs are read, by people, models and type checkers; nothing runs them. Whatever a server says in
//! its schemas and descriptions ends up as an inert text or a harmless type.

mod caps;
mod compact;
mod declarations;
mod example;
mod field_notes;
mod inert_text;
mod interface;
mod outline;
mod pattern_sample;
mod python;
mod reader;
mod reference;
mod sample;
mod signature;
mod type_names;
mod type_text;
mod types;
mod typescript;
mod variants;

pub use compact::Compact;
pub use declarations::{ANY_MODULE, declarations, declared_module};
pub(crate) use inert_text::one_line;
pub use inert_text::string as string_literal;
pub use interface::Parameter;

use crate::catalogue::{Server, Tool, ToolDefinition};
use caps::{Caps, FILE_BYTES_MAX, LEVELS};
use interface::Interface;
use reader::Reader;
use serde_json::Value;
use type_text::TypeText;

/// A language that programs are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    Python,
    /// Types that are stripped, not checked, when the program runs.
    TypeScript,
}

/// The content of the tool's `.py` file.
pub fn python(server: &Server, tool: &Tool) -> String {
    smallest_that_fits(tool, |interface, caps| python::file(interface, server, tool, caps))
}

/// The content of the tool's `.ts` file.
pub fn typescript(server: &Server, tool: &Tool) -> String {
    smallest_that_fits(tool, |interface, caps| typescript::file(interface, server, tool, caps))
}

/// How the tool is called, on one line, such as `drive.getDocument(documentId: str) -> Document`.
/// Optional parameters that would make it long are folded into `…`.
pub fn signature(language: Language, server: &Server, tool: &Tool) -> String {
    signature::line(language, &Interface::read(tool, &LEVELS[0]), server, tool)
}

/// How the tool is called, in as few tokens as possible: for lists. Of what it returns so many characters are told.
pub fn compact(tool: &Tool, result_chars_max: usize) -> Compact {
    compact::of(&Interface::read(tool, &LEVELS[0]), tool, result_chars_max)
}

/// The same for an answer of a search, such as `crm.get(id, page=1) -> {id, name}`; without what it returns if that
/// is to have no characters.
pub fn found(server: &Server, tool: &Tool, result_chars_max: usize) -> String {
    let Compact { call, result, .. } = compact(tool, result_chars_max);
    let call = format!("{}.{call}", server.identifier);
    if result.is_empty() || result_chars_max == 0 {
        return call;
    }
    match tool.learned.as_ref().filter(|learned| learned.says_something()) {
        Some(learned) => format!("{call} -> {result}  # {}", learned.seen()),
        None => format!("{call} -> {result}"),
    }
}

/// A call with values for the required parameters, on one line.
pub fn example_call(language: Language, tool: &Tool) -> String {
    example::call(language, &Interface::read(tool, &LEVELS[0]), tool)
}

/// The line that brings the tool into a program.
pub fn import_line(language: Language, server: &Server, tool: &Tool) -> String {
    match language {
        Language::Python => format!("from servers.{} import {}", server.identifier, tool.identifier),
        Language::TypeScript => {
            format!("import {{ {} }} from \"./servers/{}\";", tool.identifier, server.folder)
        }
    }
}

/// What a result of this schema looks like, on one short line of Python: its fields, or its type.
pub fn result_outline(schema: &Value, chars_max: usize) -> String {
    let mut reader = Reader::new(&LEVELS[0], schema, "");
    let result = reader.read(schema, "Result");
    let typed = || TypeText::inline(Language::Python, &reader.types).of(&result);
    outline::outline(&reader.types, &result, chars_max).unwrap_or_else(typed)
}

/// The parameters that the Python stub names, with the names that are sent. What a schema allows
/// beyond them is passed under its own name.
pub fn parameters(definition: &ToolDefinition) -> Vec<Parameter> {
    interface::parameters(definition)
}

fn smallest_that_fits(tool: &Tool, render: impl Fn(&Interface, &'static Caps) -> String) -> String {
    let mut made = String::new();
    for caps in &LEVELS {
        made = render(&Interface::read(tool, caps), caps);
        if made.len() <= FILE_BYTES_MAX {
            break;
        }
    }
    made
}
