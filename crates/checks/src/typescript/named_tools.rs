//! Which tools a TypeScript program may call, as far as its text says: see the same of Python.

use oxc_ast::ast::{
    AssignmentTargetPropertyProperty, BinaryOperator, BindingProperty, CallExpression, ChainElement,
    Expression, IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind,
    NewExpression, ObjectPropertyKind, PropertyKey,
};
use oxc_ast_visit::{VisitJs, walk_js};

use super::bindings::{Bindings, module_path};
use super::calls::tool_of;
use super::imports::exported_name;
use super::literals::key_of;
use super::parse::{unfenced, with_program};
use super::paths::{bare, path_of, text_of};
use crate::check::CODE_BYTES_MAX;
use crate::named_tools::NamedTools;
use crate::request_hosts::{Beginning, RequestHosts, is_request};

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
        let mut finder = Finder { bindings: &bindings, found, hosts: RequestHosts::default() };
        finder.visit_program(program);
        let Finder { mut found, hosts, .. } = finder;
        hosts.settle(&mut found);
        Ok(found)
    });
    found.unwrap_or_else(|_| NamedTools::unreadable())
}

struct Finder<'b, 'a> {
    bindings: &'b Bindings<'a>,
    found: NamedTools,
    hosts: RequestHosts,
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
            ["servers", server, tool, ..] => self.uses(format!("{server}.{tool}")),
            ["servers" | "skills" | "gristmill"] | ["servers", _] => self.anything(),
            ["callMCPTool" | "callTool" | "call_mcp_tool"]
            | ["gristmill", "callMCPTool" | "callTool" | "call_mcp_tool"] => self.anything(),
            [first, ..] if LEADING_ANYWHERE.contains(first) => self.anything(),
            _ => {}
        }
    }

    /// A tool, in whatever way.
    fn uses(&mut self, tool: String) {
        self.hosts.used_otherwise(&tool);
        self.found.add(tool);
    }

    /// A member behind a dot or in brackets. One whose name is made while the program runs is none that is known.
    fn member(&mut self, expression: &Expression<'a>) {
        let name = match expression {
            Expression::StaticMemberExpression(member) => Some(member.property.name.to_string()),
            Expression::ComputedMemberExpression(member) => constant(&member.expression),
            Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::StaticMemberExpression(member) => Some(member.property.name.to_string()),
                ChainElement::ComputedMemberExpression(member) => constant(&member.expression),
                _ => None,
            },
            _ => None,
        };
        if name.is_some_and(|name| LEADING_MEMBERS.contains(&name.as_str())) {
            self.anything();
        }
    }

    /// What is called by a name that is made while the program runs may be anything.
    fn callee(&mut self, callee: &Expression<'a>) {
        let key = match bare(callee) {
            Expression::ComputedMemberExpression(member) => &member.expression,
            Expression::ChainExpression(chain) => match &chain.expression {
                ChainElement::ComputedMemberExpression(member) => &member.expression,
                _ => return,
            },
            _ => return,
        };
        if !matches!(bare(key), Expression::NumericLiteral(_)) && constant(key).is_none() {
            self.anything();
        }
    }

    /// The name by which a pattern takes something out of an object.
    fn taken(&mut self, key: &PropertyKey<'a>, is_computed: bool) {
        let name = match key {
            PropertyKey::StaticIdentifier(name) if !is_computed => Some(name.name.to_string()),
            key => key.as_expression().and_then(constant),
        };
        if name.is_none_or(|name| LEADING_MEMBERS.contains(&name.as_str())) {
            self.anything();
        }
    }

    /// `fetch("https://host/...")`, or a tool of the server. Whether it was one whose host is known.
    fn requested(&mut self, call: &CallExpression<'a>) -> bool {
        let whole = path_of(&call.callee).and_then(|path| self.bindings.resolved(&path));
        let argument = |place: usize| call.arguments.get(place).and_then(|one| one.as_expression());
        let (method, url) = match whole.as_deref() {
            Some(["fetch"]) => match (call.arguments.len(), argument(1)) {
                (0..=1, None) => (Some("get"), argument(0)),
                (_, Some(options)) => (method_in(options), argument(0)),
                (_, None) => return false,
            },
            Some(["servers", server, tool]) if is_request(server) => {
                (Some(*tool), argument(0).and_then(|given| property(given, "url")))
            }
            Some(_) | None => return false,
        };
        let tool =
            method.zip(url.and_then(beginning_of)).and_then(|(method, url)| self.hosts.request(method, url));
        let is_known = tool.is_some();
        tool.into_iter().for_each(|tool| self.found.add(tool));
        is_known
    }
}

/// The text of an expression that is put together of literals.
fn constant(expression: &Expression<'_>) -> Option<String> {
    match bare(expression) {
        Expression::BinaryExpression(sum) if sum.operator == BinaryOperator::Addition => {
            Some(constant(&sum.left)? + &constant(&sum.right)?)
        }
        Expression::TemplateLiteral(template) => {
            let mut text = String::new();
            let mut inserted = template.expressions.iter();
            for part in &template.quasis {
                text.push_str(part.value.cooked.as_ref()?.as_str());
                if let Some(expression) = inserted.next() {
                    text.push_str(&constant(expression)?);
                }
            }
            Some(text)
        }
        expression => text_of(expression).map(str::to_owned),
    }
}

/// How a text begins.
fn beginning_of<'e>(expression: &'e Expression<'_>) -> Option<Beginning<'e>> {
    match bare(expression) {
        Expression::StringLiteral(text) => Some(Beginning { text: text.value.as_str(), is_whole: true }),
        Expression::TemplateLiteral(template) => {
            let text = template.quasis.first()?.value.cooked.as_ref()?.as_str();
            Some(Beginning { text, is_whole: template.expressions.is_empty() })
        }
        Expression::BinaryExpression(sum) if sum.operator == BinaryOperator::Addition => {
            beginning_of(&sum.left).map(|beginning| Beginning { is_whole: false, ..beginning })
        }
        _ => None,
    }
}

/// A property of an object whose properties are all written out, once each.
fn property<'e, 'a>(expression: &'e Expression<'a>, name: &str) -> Option<&'e Expression<'a>> {
    let Expression::ObjectExpression(object) = bare(expression) else { return None };
    let mut found = None;
    for property in &object.properties {
        let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
        if key_of(&property.key, property.computed)? == name {
            found = Some(&property.value);
        }
    }
    found
}

/// The method that options of `fetch` name.
fn method_in<'a>(options: &Expression<'a>) -> Option<&'a str> {
    let Expression::ObjectExpression(object) = bare(options) else { return None };
    let mut method = "get";
    for property in &object.properties {
        let ObjectPropertyKind::ObjectProperty(property) = property else { return None };
        if key_of(&property.key, property.computed)? == "method" {
            method = text_of(&property.value)?;
        }
    }
    Some(method)
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
        if self.requested(it) {
            it.arguments.iter().for_each(|argument| self.visit_argument(argument));
            return;
        }
        self.callee(&it.callee);
        match tool_of(self.bindings, it) {
            Some(called) => {
                self.uses(called.name.replacen('/', ".", 1));
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
                self.member(it);
            }
            _ => {}
        }
        walk_js::walk_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        self.callee(&it.callee);
        walk_js::walk_new_expression(self, it);
    }

    fn visit_binding_property(&mut self, it: &BindingProperty<'a>) {
        self.taken(&it.key, it.computed);
        walk_js::walk_binding_property(self, it);
    }

    fn visit_assignment_target_property_property(&mut self, it: &AssignmentTargetPropertyProperty<'a>) {
        self.taken(&it.name, it.computed);
        walk_js::walk_assignment_target_property_property(self, it);
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
        let found = named_tools(code);
        let hosts = found.hosts.clone();
        assert_eq!(found, NamedTools { names, hosts, may_call_others }, "{code}");
    }

    #[test]
    fn tools_are_named_in_every_spelling() {
        check("import { get } from \"./servers/crm\";\nawait get({ id: 1 })", &["crm.get"], false);
        check("await tools.crm.get({})", &["crm.get"], false);
        check("import * as crm from \"./servers/crm\";\nids.map(crm.get)", &["crm.get"], false);
        check("await callMCPTool(\"crm.get\", {})", &["crm.get"], false);
        check("import { get } from \"./servers/crm\";\nawait Promise.all(ids.map(get))", &["crm.get"], false);
        check("await tools[\"crm\"][\"get\"]({})", &["crm.get"], false);
        check("await tools[`crm`]?.get({})", &["crm.get"], false);
        check("import * as crm from \"./servers/crm\";\nawait crm[\"get\"]({})", &["crm.get"], false);
        check("const rows = [1];\nconst { length: n } = rows;\nrows[0].toFixed(rows[n - 1])", &[], false);
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
        check("await tools[server].get({})", &[], true);
        check("await tools.crm[tool]({})", &[], true);
        check("await tools[\"cr\" + \"m\"].get({})", &[], true);
        check("import * as crm from \"./servers/crm\";\nawait crm[tool]({})", &[], true);
        check("const { crm } = tools;\nawait crm.get({})", &[], true);
        check("(() => {})[\"constructor\"](\"x\")()", &[], true);
        check("(() => {})[\"con\" + `struc${\"tor\"}`](\"x\")()", &[], true);
        check("(() => {})?.constructor(\"x\")()", &[], true);
        check("const { constructor: make } = () => {};\nmake(\"x\")()", &[], true);
        check("let make;\n({ [\"constructor\"]: make } = () => {});\nmake(\"x\")()", &[], true);
        check("const { [name]: make } = () => {};", &[], true);
        check("const call = (rows, name) => rows[name](1);", &[], true);
        check("const made = new (() => {})[name](\"x\");", &[], true);
        check("await fetch(url)", &[], true);
        check("const f = globalThis.fetch;", &[], true);
        check("function (", &[], true);
    }
    #[test]
    fn requests_name_their_hosts_where_the_text_does() {
        let check = |code: &str, hosts: &[(&str, &str)], may_call_others: bool| {
            let found = named_tools(code);
            let told: Vec<(&str, Vec<&str>)> = found
                .hosts
                .iter()
                .map(|(tool, hosts)| (tool.as_str(), hosts.iter().map(String::as_str).collect()))
                .collect();
            let expected: Vec<(&str, Vec<&str>)> =
                hosts.iter().map(|(tool, host)| (*tool, vec![*host])).collect();
            assert_eq!((told, found.may_call_others), (expected, may_call_others), "{code}");
            assert!(hosts.iter().all(|(tool, _)| found.names.contains(*tool)), "{code}");
        };
        let get = [("http.get", "a.example")];
        check("await fetch(\"https://a.example/\")", &get, false);
        check("await fetch(`https://a.example/items/${n}`)", &get, false);
        check("await fetch(\"https://a.example/\" + path, { headers: { a: b } })", &get, false);
        check("await tools.http.get({ url: \"https://a.example/\" })", &get, false);
        let post = "await fetch(\"https://a.example/\", { method: \"POST\", body })";
        check(post, &[("http.post", "a.example")], false);
        check("await fetch(\"https://a.example/\", options)", &[], true);
        check("await fetch(\"https://a.example/\", { ...options })", &[], true);
        check("await fetch(\"https://a.example/\", { method })", &[], true);
        check("await fetch(`https://${host}/`)", &[], true);
        check("await fetch(`https://a.example${path}`)", &[], true);
        check("const send = fetch;\nawait send(\"https://a.example/\")", &[], true);
        check("await tools.http.get({ url })", &[], false);
    }
}
