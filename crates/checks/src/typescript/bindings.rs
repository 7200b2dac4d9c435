//! Which names a program binds, and how often: only a name that is bound once means what it was bound to.

use std::collections::HashMap;

use oxc_ast::ast::{
    AssignmentExpression, AssignmentTarget, BindingIdentifier, BindingPattern, Expression,
    IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier, Program, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};

use super::imports::exported_name;
use super::literals::key_of;
use super::paths::{bare, path_of, text_of};

/// Every name that is bound anywhere in the program.
#[derive(Debug, Default)]
pub(super) struct Bindings<'a> {
    counts: HashMap<&'a str, usize>,
    /// What a name stands for, as the parts of a path: `["servers", "crm", "update"]`.
    imports: HashMap<&'a str, Vec<&'a str>>,
    /// Whether names may be bound in ways that can't be seen, or the program may end anywhere.
    pub is_hidden: bool,
}

impl<'a> Bindings<'a> {
    pub fn of(program: &Program<'a>) -> Self {
        let mut made = Self::default();
        made.visit_program(program);
        made
    }

    /// Whether nothing in the program binds it: then it is a global, or something of an earlier program.
    pub fn is_free(&self, name: &str) -> bool {
        !self.counts.contains_key(name)
    }

    /// Whether it is imported anywhere, whatever else it is.
    pub fn is_import(&self, name: &str) -> bool {
        self.imports.contains_key(name)
    }

    pub fn is_bound_once(&self, name: &str) -> bool {
        self.counts.get(name) == Some(&1)
    }

    /// What a path means: through imports, or from the globals. `None` if its first name means something else.
    pub fn resolved(&self, path: &[&'a str]) -> Option<Vec<&'a str>> {
        let (first, rest) = path.split_first()?;
        let meant = match self.imports.get(first) {
            Some(import) if self.is_bound_once(first) => import.clone(),
            Some(_) => return None,
            None if self.is_free(first) => vec![if *first == "tools" { "servers" } else { *first }],
            None => return None,
        };
        Some(meant.into_iter().chain(rest.iter().copied()).collect())
    }

    fn bind(&mut self, name: &'a str) {
        *self.counts.entry(name).or_default() += 1;
    }

    /// `const {a} = require("b")`, `const c = await import("b")`
    fn required(&mut self, pattern: &BindingPattern<'a>, module: &'a str) {
        let Some(path) = module_path(module) else { return };
        match pattern {
            BindingPattern::BindingIdentifier(name) => {
                self.imports.insert(name.name.as_str(), path);
            }
            BindingPattern::ObjectPattern(object) => {
                for property in &object.properties {
                    if let (BindingPattern::BindingIdentifier(here), Some(name)) =
                        (&property.value, key_of(&property.key, property.computed))
                    {
                        self.imports.insert(here.name.as_str(), member_of(&path, name));
                    }
                }
            }
            BindingPattern::ArrayPattern(_) | BindingPattern::AssignmentPattern(_) => {}
        }
    }
}

impl<'a> VisitJs<'a> for Bindings<'a> {
    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        self.bind(it.name.as_str());
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        walk_js::walk_import_declaration(self, it);
        let Some(path) = module_path(it.source.value.as_str()) else { return };
        for specifier in it.specifiers.iter().flatten() {
            let (here, meant) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    (one.local.name.as_str(), member_of(&path, exported_name(&one.imported)))
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
                    (one.local.name.as_str(), path.clone())
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => {
                    (one.local.name.as_str(), path.clone())
                }
            };
            self.imports.insert(here, meant);
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if let Some(module) = it.init.as_ref().and_then(loaded_module) {
            self.required(&it.id, module);
        }
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_assignment_expression(&mut self, it: &AssignmentExpression<'a>) {
        if let AssignmentTarget::AssignmentTargetIdentifier(name) = &it.left {
            self.bind(name.name.as_str());
        }
        walk_js::walk_assignment_expression(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.is_hidden |= matches!(it.name.as_str(), "eval" | "process" | "globalThis");
    }
}

/// The module that an expression gives: `require("a")`, `await import("a")`.
pub(super) fn loaded_module<'a>(expression: &Expression<'a>) -> Option<&'a str> {
    match bare(expression) {
        Expression::AwaitExpression(awaited) => loaded_module(&awaited.argument),
        Expression::ImportExpression(import) => text_of(&import.source),
        Expression::CallExpression(call) if path_of(&call.callee)? == ["require"] => {
            text_of(call.arguments.first()?.as_expression()?)
        }
        _ => None,
    }
}

/// What a module of ours is called in every spelling: `./servers/crm/index.ts` is `["servers", "crm"]`.
pub(super) fn module_path(module: &str) -> Option<Vec<&str>> {
    let trimmed = module.trim_start_matches(['.', '/', '@', '~']);
    let mut parts: Vec<&str> = trimmed.split('/').filter(|part| !part.is_empty()).collect();
    if !matches!(*parts.first()?, "servers" | "gristmill") {
        return None;
    }
    if let Some(last) = parts.last_mut() {
        for extension in [".ts", ".js", ".mjs", ".mts"] {
            *last = last.strip_suffix(extension).unwrap_or(last);
        }
    }
    if parts.len() > 1 && parts.last() == Some(&"index") {
        parts.pop();
    }
    (parts.len() <= 3).then_some(parts)
}

/// What a module has under a name. A file of one tool has that tool.
fn member_of<'a>(path: &[&'a str], name: &'a str) -> Vec<&'a str> {
    let is_whole = name == "default" || path.len() == 3;
    path.iter().copied().chain((!is_whole).then_some(name)).collect()
}
