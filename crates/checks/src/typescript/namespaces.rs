//! Namespaces become objects, where they stand. What they export is read through them, so that later changes
//! are seen.

use oxc_ast::ast::{Declaration, Statement, TSNamespaceDeclaration, TSNamespaceDeclarationBody};
use oxc_ast_visit::VisitJs;

use super::enums::quoted;
use super::erased::{is_erased, is_type};
use super::names::bound_by;
use super::strip::Strip;

/// Whether the name of an enum or a namespace is declared where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    Here,
    /// It is a property of the global object.
    Already,
}

/// `namespace A { export const x = 1 }` becomes a function that is called with `A`.
pub(super) fn rewrite(strip: &mut Strip<'_>, namespace: &TSNamespaceDeclaration<'_>, declared: Declared) {
    let mut names = vec![namespace.id.name.as_str()];
    let mut body = &namespace.body;
    let block = loop {
        match body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                names.push(inner.id.name.as_str());
                body = &inner.body;
            }
            TSNamespaceDeclarationBody::TSModuleBlock(block) => break block,
        }
    };
    let first = names[0];
    let mut head = match declared {
        Declared::Here => format!("var {first}; ((({first}) => {{"),
        Declared::Already => format!(";((({first}) => {{"),
    };
    let mut tail = String::new();
    for pair in names.windows(2) {
        let (outer, inner) = (pair[0], pair[1]);
        head.push_str(&format!(" let {inner} = {outer}.{inner} ||= {{}}; ((({inner}) => {{"));
        tail = format!("}})({inner}));{tail}");
    }
    let innermost = names[names.len() - 1];
    let exported: Vec<&str> = block.body.iter().flat_map(exported_by).collect();
    if !exported.is_empty() {
        let properties: Vec<String> = exported
            .iter()
            .map(|name| {
                format!("{}: {{get: () => {name}, enumerable: true, configurable: true}}", quoted(name))
            })
            .collect();
        head.push_str(&format!(" Object.defineProperties({innermost}, {{{}}});", properties.join(", ")));
    }
    tail.push_str(&format!("}})({first} ||= {{}}));"));
    let (open, close) = (block.span.start as usize, block.span.end as usize - 1);
    strip.edits.replace(namespace.span.start as usize, open + 1, &head);
    for statement in &block.body {
        match statement {
            _ if is_erased(statement) => strip.visit_statement(statement),
            Statement::ExportDeclaration(export) => strip.visit_export_declaration(export),
            _ => strip.visit_statement(statement),
        }
    }
    strip.edits.replace(close, close + 1, &tail);
}

fn exported_by<'a>(statement: &Statement<'a>) -> Vec<&'a str> {
    match statement {
        Statement::ExportDeclaration(export) if !is_type(&export.declaration) => {
            declared_by(&export.declaration)
        }
        _ => Vec::new(),
    }
}

/// The names that a declaration gives values to.
pub(super) fn declared_by<'a>(declaration: &Declaration<'a>) -> Vec<&'a str> {
    match declaration {
        Declaration::VariableDeclaration(variables) => {
            let mut names = Vec::new();
            variables.declarations.iter().for_each(|declarator| bound_by(&declarator.id, &mut names));
            names
        }
        Declaration::FunctionDeclaration(function) => function.id.iter().map(|id| id.name.as_str()).collect(),
        Declaration::ClassDeclaration(class) => class.id.iter().map(|id| id.name.as_str()).collect(),
        Declaration::TSEnumDeclaration(one) => vec![one.id.name.as_str()],
        Declaration::TSNamespaceDeclaration(namespace) => vec![namespace.id.name.as_str()],
        Declaration::TSImportEqualsDeclaration(import) => vec![import.id.name.as_str()],
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => Vec::new(),
    }
}
