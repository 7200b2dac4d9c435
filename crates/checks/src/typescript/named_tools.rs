//! Which tools a TypeScript program may call, as far as its text says: see the same of Python.

use oxc_ast::ast::{
    CallExpression, Expression, IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier,
    ImportOrExportKind,
};
use oxc_ast_visit::{VisitJs, walk_js};

use super::bindings::{Bindings, module_path};
use super::calls::tool_of;
use super::imports::exported_name;
use super::parse::{unfenced, with_program};
use super::paths::path_of;
use crate::check::CODE_BYTES_MAX;
use crate::named_tools::NamedTools;

/// Ways around names, and requests to hosts, which the text can't tell apart.
const LEADING_ANYWHERE: [&str; 5] = ["fetch", "Function", "Proxy", "Reflect", "require"];

/// The same behind a dot.
const LEADING_MEMBERS: [&str; 5] = ["constructor", "__proto__", "prototype", "getPrototypeOf", "fetch"];

/// Which tools a program may call.
pub fn named_tools(code: &str) -> NamedTools {
    let text = unfenced(code);
    if text.len() > CODE_BYTES_MAX {
        return NamedTools::unreadable();
    }
    let found = with_program(&text, |program| {
        let bindings = Bindings::of(program);
        let found = NamedTools { may_call_others: bindings.is_hidden, ..NamedTools::default() };
        let mut finder = Finder { bindings: &bindings, found };
        finder.visit_program(program);
        Ok(finder.found)
    });
    found.unwrap_or_else(|_| NamedTools::unreadable())
}

struct Finder<'b, 'a> {
    bindings: &'b Bindings<'a>,
    found: NamedTools,
}

impl<'a> Finder<'_, 'a> {
    fn anything(&mut self) {
        self.found.may_call_others = true;
    }

    /// What a path of names stands for.
    fn path(&mut self, path: &[&'a str]) {
        if path.iter().any(|part| LEADING_MEMBERS.contains(part)) {
            self.anything();
        }
        let Some(first) = path.first() else { return };
        let Some(whole) = self.bindings.resolved(path) else {
            // An import that something else hides, or a name of the program's own.
            if self.bindings.is_import(first) {
                self.anything();
            }
            return;
        };
        match whole.as_slice() {
            ["servers", server, tool, ..] => self.found.add(format!("{server}.{tool}")),
            ["servers" | "skills" | "gristmill"] | ["servers", _] => self.anything(),
            ["callMCPTool" | "callTool" | "call_mcp_tool"]
            | ["gristmill", "callMCPTool" | "callTool" | "call_mcp_tool"] => self.anything(),
            [first, ..] if LEADING_ANYWHERE.contains(first) => self.anything(),
            _ => {}
        }
    }
}

impl<'a> VisitJs<'a> for Finder<'_, 'a> {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            return;
        }
        let Some(path) = module_path(it.source.value.as_str()) else {
            // Whatever is in there may call anything.
            if !it.source.value.as_str().starts_with("node:") {
                self.anything();
            }
            return;
        };
        match path.as_slice() {
            ["servers", server, tool] => self.found.add(format!("{server}.{tool}")),
            ["servers", server] => {
                for specifier in it.specifiers.iter().flatten() {
                    let ImportDeclarationSpecifier::ImportSpecifier(one) = specifier else { continue };
                    let name = exported_name(&one.imported);
                    // A name that begins as types do may be one: the stubs declare them.
                    let is_type =
                        one.import_kind == ImportOrExportKind::Type || name.starts_with(char::is_uppercase);
                    if !is_type && name != "default" {
                        self.found.add(format!("{server}.{name}"));
                    }
                }
            }
            _ => {}
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        match tool_of(self.bindings, it) {
            Some(called) => {
                self.found.add(called.name.replacen('/', ".", 1));
                it.arguments.iter().for_each(|argument| self.visit_argument(argument));
            }
            None => walk_js::walk_call_expression(self, it),
        }
    }

    fn visit_expression(&mut self, it: &Expression<'a>) {
        match it {
            Expression::ImportExpression(_) => self.anything(),
            Expression::StaticMemberExpression(_)
            | Expression::ComputedMemberExpression(_)
            | Expression::ChainExpression(_) => {
                if let Some(path) = path_of(it) {
                    self.path(&path);
                    return;
                }
                if let Expression::StaticMemberExpression(member) = it
                    && LEADING_MEMBERS.contains(&member.property.name.as_str())
                {
                    self.anything();
                }
            }
            _ => {}
        }
        walk_js::walk_expression(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.path(&[it.name.as_str()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, names: &[&str], may_call_others: bool) {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(named_tools(code), NamedTools { names, may_call_others }, "{code}");
    }

    #[test]
    fn tools_are_named_in_every_spelling() {
        check("import { get } from \"./servers/crm\";\nawait get({ id: 1 })", &["crm.get"], false);
        check("await tools.crm.get({})", &["crm.get"], false);
        check("import * as crm from \"./servers/crm\";\nids.map(crm.get)", &["crm.get"], false);
        check("await callMCPTool(\"crm.get\", {})", &["crm.get"], false);
        check("import { get } from \"./servers/crm\";\nawait Promise.all(ids.map(get))", &["crm.get"], false);
        check("const a = [1, 2].map((x) => x * 2);\nMath.max(...a)", &[], false);
    }

    #[test]
    fn what_cant_be_followed_counts_as_a_call_of_anything() {
        check("await callMCPTool(name, {})", &[], true);
        check("await tools[server][tool]({})", &[], true);
        check("const t = tools;", &[], true);
        check("const m = await import(\"./servers/crm\");", &[], true);
        check("import { make } from \"skills/report\";", &[], true);
        check("eval(\"1\")", &[], true);
        check("(() => {}).constructor(\"x\")()", &[], true);
        check("await fetch(\"https://a.example/\")", &[], true);
        check("const f = globalThis.fetch;", &[], true);
        check("function (", &[], true);
    }
}
