//! A tool's stub in Python.

use serde_json::Value;

use super::caps::Caps;
use super::field_notes::shown;
use super::inert_text::{in_docstring, in_line_comment, is_plain_name, lines, literal, one_line, string};
use super::interface::Interface;
use super::type_text::TypeText;
use super::types::{Body, Field, Named, Type};
use super::{Language, example, import_line};
use crate::catalogue::{Server, Tool};

const LINE_CHARS_MAX: usize = 100;

/// Words that are no name in Python.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

pub(super) fn file(interface: &Interface, server: &Server, tool: &Tool, caps: &Caps) -> String {
    let text = TypeText::new(Language::Python, &interface.types, &tool.identifier);
    let mut body = String::new();
    let mut defined: Vec<usize> = Vec::new();
    for (id, named) in interface.types.written() {
        let is_ahead = |other: usize| match interface.types.get(other) {
            Some((other, _)) => !defined.contains(&other),
            None => false,
        };
        body.push_str(&definition(named, &text, &is_ahead));
        body.push_str("\n\n");
        defined.push(id);
    }
    body.push_str(&function(interface, &text, tool));
    body.push_str(&docstring(interface, server, tool, caps));
    body.push_str("    ...\n");
    let imports = text.imports();
    if imports.is_empty() { body } else { format!("{imports}\n\n{body}") }
}

fn definition(named: &Named, text: &TypeText<'_>, is_ahead: &dyn Fn(usize) -> bool) -> String {
    let Named { name, doc, body } = named;
    let comment = comment(doc);
    // What is evaluated at once may only mention in quotes what comes later.
    let quoted = |value: &Type| {
        let written = text.of(value);
        if value.mentions(is_ahead) { string(Language::Python, &written) } else { written }
    };
    let (fields, is_open) = match body {
        Body::Alias(value) => {
            // A plain assignment of a quoted type would be a string.
            let alias = text.word("TypeAlias");
            return format!("{name}: {alias} = {}{comment}\n", quoted(value));
        }
        Body::Object { fields, is_open } => (fields, *is_open),
    };
    let typed_dict = text.word("TypedDict");
    let is_class = fields.iter().all(|field| is_attribute(&field.name) && !text.is_hiding(&field.name));
    let mut made = if is_class {
        format!("class {name}({typed_dict}):{comment}\n")
    } else {
        format!("{name} = {typed_dict}({}, {{{comment}\n", string(Language::Python, name))
    };
    for field in fields {
        let mut value = if is_class { text.of(&field.value) } else { quoted(&field.value) };
        if !field.is_required {
            value = format!("{}[{value}]", text.word("NotRequired"));
        }
        let comment = self::comment(&doc_line(field, field.default.as_ref(), None));
        if is_class {
            made.push_str(&format!("    {}: {value}{comment}\n", field.name));
        } else {
            made.push_str(&format!("    {}: {value},{comment}\n", string(Language::Python, &field.name)));
        }
    }
    if is_open {
        made.push_str("    # and other keys\n");
    }
    if !is_class {
        made.push_str("})\n");
    }
    made
}

/// Whether a class can have a field of this name.
fn is_attribute(name: &str) -> bool {
    // Two underscores in front of a name in a class change the name.
    is_plain_name(name) && !name.starts_with("__") && !KEYWORDS.contains(&name)
}

fn function(interface: &Interface, text: &TypeText<'_>, tool: &Tool) -> String {
    let mut parameters: Vec<String> =
        interface.parameters.iter().map(|(identifier, field)| parameter(identifier, field, text)).collect();
    if !parameters.is_empty() {
        parameters.insert(0, "*".to_owned());
    }
    if let Some(others) = &interface.others {
        let mut name = "others".to_owned();
        while interface.parameters.iter().any(|(identifier, _)| *identifier == name) {
            name.push('_');
        }
        parameters.push(format!("**{name}: {}", text.of(others)));
    }
    let result = text.of(&interface.result);
    let name = &tool.identifier;
    let line = format!("async def {name}({}) -> {result}:\n", parameters.join(", "));
    if parameters.is_empty() || line.chars().count() <= LINE_CHARS_MAX {
        return line;
    }
    format!("async def {name}(\n    {},\n) -> {result}:\n", parameters.join(",\n    "))
}

/// A parameter with its type and what it is when it is left out.
pub(super) fn parameter(identifier: &str, field: &Field, text: &TypeText<'_>) -> String {
    let value = text.of(&field.value);
    if field.is_required {
        return format!("{identifier}: {value}");
    }
    match written_default(field) {
        Some(default) => format!("{identifier}: {value} = {}", literal(Language::Python, default)),
        // Null where the schema has none means "left out": it is not sent.
        None if field.value.takes_null() => format!("{identifier}: {value} = None"),
        None => format!("{identifier}: {value} | None = None"),
    }
}

/// The default, where it can stand behind the parameter.
fn written_default(field: &Field) -> Option<&Value> {
    let is_short = |value: &&Value| match value {
        Value::String(text) => text.chars().count() <= 40,
        Value::Bool(_) | Value::Number(_) | Value::Null => true,
        Value::Array(_) | Value::Object(_) => false,
    };
    field.default.as_ref().filter(is_short).filter(|value| field.value.takes(value))
}

fn docstring(interface: &Interface, server: &Server, tool: &Tool, caps: &Caps) -> String {
    let description = tool.definition.description.as_deref().or(tool.definition.title.as_deref());
    let (mut doc, is_cut) = lines(description.unwrap_or_default(), caps.tool_doc_chars_max);
    if is_cut {
        doc.push(format!("(describe_tool(\"{}.{}\") shows the rest.)", server.folder, tool.stem));
    }
    let documented = interface.parameters.iter().filter_map(|(identifier, field)| {
        let default = if written_default(field).is_some() { None } else { field.default.as_ref() };
        let sent_as = Some(field.name.as_str()).filter(|name| name != identifier);
        let line = doc_line(field, default.filter(|default| !default.is_null()), sent_as);
        (!line.is_empty()).then(|| format!("{identifier}: {line}"))
    });
    let documented: Vec<String> = documented.collect();
    if !documented.is_empty() {
        parted(&mut doc);
        doc.extend(documented);
    }
    if let Some(seen) = learned_note(tool) {
        parted(&mut doc);
        doc.push(seen);
    }
    parted(&mut doc);
    doc.push("Example:".to_owned());
    doc.push(format!("    {}", import_line(Language::Python, server, tool)));
    doc.push(format!("    {}", example::call(Language::Python, interface, tool)));
    let mut made = "    \"\"\"".to_owned();
    for (index, line) in doc.iter().enumerate() {
        if index > 0 && !line.is_empty() {
            made.push_str("    ");
        }
        made.push_str(&in_docstring(line));
        made.push('\n');
    }
    made.push_str("    \"\"\"\n");
    made
}

/// Where the type of the result comes from, if its server doesn't declare it.
pub(super) fn learned_note(tool: &Tool) -> Option<String> {
    let learned = tool.learned.as_ref().filter(|learned| learned.says_something())?;
    Some(format!("Result type {}, not declared by the server: other fields are possible.", learned.seen()))
}

/// With an empty line at its end, unless it is empty.
pub(super) fn parted(doc: &mut Vec<String>) {
    if doc.last().is_some_and(|last| !last.is_empty()) {
        doc.push(String::new());
    }
}

/// What there is to say about a field, on one line.
pub(super) fn doc_line(field: &Field, default: Option<&Value>, sent_as: Option<&str>) -> String {
    let mut notes = field.notes.clone();
    notes.extend(default.map(|default| format!("default {}", shown(default))));
    notes.extend(sent_as.map(|name| format!("sent as {}", string(Language::Python, name))));
    let notes = notes.join(", ");
    match (field.doc.is_empty(), notes.is_empty()) {
        (_, true) => field.doc.clone(),
        (true, false) => notes,
        (false, false) => format!("{} ({notes})", field.doc),
    }
}

fn comment(doc: &str) -> String {
    if doc.is_empty() {
        String::new()
    } else {
        format!("  # {}", in_line_comment(&one_line(doc, usize::MAX)))
    }
}
