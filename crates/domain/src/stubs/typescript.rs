//! A tool's stub in TypeScript.

use super::caps::Caps;
use super::inert_text::{in_block_comment, in_line_comment, key, lines, one_line};
use super::interface::Interface;
use super::python::{doc_line, learned_note, parted};
use super::type_text::TypeText;
use super::types::{Body, Field, Named};
use super::{Language, example, import_line};
use crate::catalogue::{Server, Tool};

pub(super) fn file(interface: &Interface, server: &Server, tool: &Tool, caps: &Caps) -> String {
    let text = TypeText::new(Language::TypeScript, &interface.types, &tool.identifier);
    let mut made = String::new();
    for (_, named) in interface.types.written() {
        made.push_str(&definition(named, &text));
        made.push('\n');
    }
    made.push_str(&doc(interface, server, tool, caps));
    let is_optional = interface.parameters.iter().all(|(_, field)| !field.is_required);
    let mark = if is_optional { "?" } else { "" };
    let mut members: String = interface.parameters.iter().map(|(_, field)| member(field, &text)).collect();
    if interface.others.is_some() {
        members.push_str("  [key: string]: unknown;\n");
    }
    let members = if members.is_empty() { "{}".to_owned() } else { format!("{{\n{members}}}") };
    let result = text.of(&interface.result);
    let name = &tool.identifier;
    made.push_str(&format!("export declare function {name}(args{mark}: {members}): Promise<{result}>;\n"));
    made
}

fn definition(named: &Named, text: &TypeText<'_>) -> String {
    let Named { name, doc, body } = named;
    let comment = comment(doc);
    match body {
        Body::Alias(value) => format!("export type {name} = {};{comment}\n", text.of(value)),
        Body::Object { fields, is_open } => {
            let mut members: String = fields.iter().map(|field| member(field, text)).collect();
            if *is_open {
                members.push_str("  [key: string]: unknown;\n");
            }
            format!("export interface {name} {{{comment}\n{members}}}\n")
        }
    }
}

fn member(field: &Field, text: &TypeText<'_>) -> String {
    let mark = if field.is_required { "" } else { "?" };
    let default = field.default.as_ref().filter(|default| !default.is_null());
    let comment = comment(&doc_line(field, default, None));
    format!("  {}{mark}: {};{comment}\n", key(Language::TypeScript, &field.name), text.of(&field.value))
}

fn doc(interface: &Interface, server: &Server, tool: &Tool, caps: &Caps) -> String {
    let description = tool.definition.description.as_deref().or(tool.definition.title.as_deref());
    let (mut doc, is_cut) = lines(description.unwrap_or_default(), caps.tool_doc_chars_max);
    if is_cut {
        doc.push(format!("(describe_tool(\"{}.{}\") shows the rest.)", server.folder, tool.stem));
    }
    if let Some(seen) = learned_note(tool) {
        parted(&mut doc);
        doc.push(seen);
    }
    parted(&mut doc);
    doc.push("Example:".to_owned());
    doc.push(format!("    {}", import_line(Language::TypeScript, server, tool)));
    doc.push(format!("    {}", example::call(Language::TypeScript, interface, tool)));
    let mut made = "/**\n".to_owned();
    for line in doc {
        made.push_str(format!(" * {}", in_block_comment(&line)).trim_end());
        made.push('\n');
    }
    made.push_str(" */\n");
    made
}

fn comment(doc: &str) -> String {
    if doc.is_empty() {
        String::new()
    } else {
        format!(" // {}", in_line_comment(&one_line(doc, usize::MAX)))
    }
}
