//! The tools that a TypeScript program names.

use oxc_ast::ast::{
    CallExpression, Expression, ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind,
    ObjectPropertyKind,
};
use oxc_span::{GetSpan, Span};

use super::bindings::{Bindings, module_path};
use super::imports::exported_name;
use super::literals::{key_of, literal};
use super::parse::range;
use super::paths::{bare, path_of, text_of};
use super::type_errors::SeenCall;
use crate::tool_judge::{Given, Judge, Named, Reached};

/// Calls of one program that are looked at again.
const SEEN_MAX: usize = 500;

/// Places in the arguments of one call.
const PLACES_MAX: usize = 200;

pub(super) struct ToolUse<'a, 'j, 'f, 'l> {
    pub judge: Judge<'j, 'f, 'l>,
    pub bindings: &'j Bindings<'a>,
    /// Every call of a tool, for whoever knows more about its arguments.
    pub seen: Vec<SeenCall>,
}

/// A call of a tool.
pub(super) struct ToolCall<'a> {
    pub name: String,
    server: Option<&'a str>,
    tool: &'a str,
    /// Where it is named; `None` if an import has told already.
    named_at: Option<Span>,
    /// The place of its arguments among those of the call.
    arguments_at: usize,
}

impl<'a> ToolUse<'a, '_, '_, '_> {
    /// `import {update} from "./servers/crm"`, in every spelling.
    pub fn import(&mut self, import: &ImportDeclaration<'a>, reached: Reached) {
        let Some(path) = module_path(import.source.value.as_str()) else { return };
        if path.first() != Some(&"servers") || import.import_kind == ImportOrExportKind::Type {
            return;
        }
        let whole = place(import.span);
        let server = path.get(1).copied();
        if path.len() == 3 {
            self.judge.name(Named::imported(server, Some(path[2])), whole, reached);
            return;
        }
        for specifier in import.specifiers.iter().flatten() {
            let ImportDeclarationSpecifier::ImportSpecifier(one) = specifier else {
                if server.is_some() {
                    self.judge.name(Named::imported(server, None), whole, reached);
                }
                continue;
            };
            let name = exported_name(&one.imported);
            // A name that begins as types do may be one: the stubs declare them.
            let is_type = one.import_kind == ImportOrExportKind::Type || name.starts_with(char::is_uppercase);
            let named = match server {
                Some(_) if is_type || name == "default" => Named::imported(server, None),
                Some(_) => Named::imported(server, Some(name)),
                None if is_type => continue,
                None => Named::imported(Some(name), None),
            };
            self.judge.name(named, place(one.span), reached);
        }
    }

    /// Which tool a call is of, if it is one.
    pub fn tool_of(&self, call: &CallExpression<'a>) -> Option<ToolCall<'a>> {
        tool_of(self.bindings, call)
    }

    pub fn call(&mut self, called: &ToolCall<'a>, call: &CallExpression<'a>, reached: Reached) {
        if self.seen.len() < SEEN_MAX {
            let places = argument_places(call, called.arguments_at);
            self.seen.push(SeenCall { name: called.name.clone(), reached, places });
        }
        if let Some(span) = called.named_at {
            self.judge.name(Named::called(called.server, called.tool), place(span), reached);
        }
        if let Some(given) = given(call, called.arguments_at) {
            self.judge.arguments(&called.name, &given, place(call.span), reached);
        }
    }
}

/// Which tool a call is of by what names are bound to, if it is one.
pub(super) fn tool_of<'a>(bindings: &Bindings<'a>, call: &CallExpression<'a>) -> Option<ToolCall<'a>> {
    let path = path_of(&call.callee)?;
    let whole = bindings.resolved(&path)?;
    match whole.as_slice() {
        ["servers", server, tool] => Some(ToolCall {
            name: format!("{server}.{tool}"),
            server: Some(server),
            tool,
            // An import that fails is told where it stands.
            named_at: (path.len() > 1).then(|| call.callee.span()),
            arguments_at: 0,
        }),
        ["callMCPTool" | "callTool" | "call_mcp_tool"]
        | ["gristmill", "callMCPTool" | "callTool" | "call_mcp_tool"] => {
            let first = call.arguments.first()?.as_expression()?;
            let text = text_of(first)?;
            let (server, tool) = match text.split_once(['.', '/']) {
                Some((server, tool)) => (Some(server), tool),
                None => (None, text),
            };
            let named_at = Some(first.span());
            Some(ToolCall { name: text.to_owned(), server, tool, named_at, arguments_at: 1 })
        }
        _ => None,
    }
}

/// `None` if not even the names are known.
fn given(call: &CallExpression<'_>, from: usize) -> Option<Given> {
    let mut made = Given::default();
    let arguments = call.arguments.get(from..)?;
    match arguments {
        [] => {}
        [one] => match bare(one.as_expression()?) {
            Expression::ObjectExpression(object) => {
                for property in &object.properties {
                    let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
                    made.add(key_of(&property.key, property.computed)?, literal(&property.value));
                }
            }
            Expression::NullLiteral(_) => {}
            _ => return None,
        },
        _ => return None,
    }
    Some(made)
}

/// Where the arguments of a call begin, and the names and elements in those that are written out.
fn argument_places(call: &CallExpression<'_>, from: usize) -> Vec<(u32, String)> {
    let mut places = Vec::new();
    for argument in call.arguments.iter().skip(from) {
        places.push((argument.span().start, String::new()));
        if let Some(expression) = argument.as_expression() {
            places_in(expression, "", &mut places);
        }
    }
    places
}

fn places_in(expression: &Expression<'_>, path: &str, places: &mut Vec<(u32, String)>) {
    if places.len() >= PLACES_MAX {
        return;
    }
    match bare(expression) {
        Expression::ObjectExpression(object) => {
            for property in &object.properties {
                let ObjectPropertyKind::ObjectProperty(property) = property else { continue };
                let Some(key) = key_of(&property.key, property.computed) else { continue };
                let path = if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                places.push((property.key.span().start, path.clone()));
                places_in(&property.value, &path, places);
            }
        }
        Expression::ArrayExpression(array) => {
            for (index, element) in array.elements.iter().enumerate() {
                let Some(element) = element.as_expression() else { continue };
                let path = format!("{path}[{index}]");
                places.push((element.span().start, path.clone()));
                places_in(element, &path, places);
            }
        }
        _ => {}
    }
}

pub(super) fn place(span: Span) -> ruff_text_size::TextRange {
    range(span.start as usize, span.end as usize)
}
