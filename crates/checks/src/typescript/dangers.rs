//! Constructs that are seldom there for a good reason. What they would reach, the sandbox doesn't have: a
//! finding says that somebody tried.

use gristmill_domain::one_line;
use oxc_ast::ast::{
    Argument, CallExpression, ComputedMemberExpression, Expression, IdentifierReference, ImportDeclaration,
    ImportExpression, NewExpression, StaticMemberExpression, StringLiteral,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use super::bindings::Bindings;
use super::calls::place;
use super::modules::{advice, is_ours, package_of, telling_rule};
use super::paths::{bare, path_of, text_of};
use crate::constructs::SYSTEM_FILES;
use crate::dangers::{is_encoded, message_of};
use crate::finding::Findings;
use crate::modules::Modules;
use crate::rules::Rule;

pub(super) struct Dangers<'a, 'b, 'f, 'l> {
    pub bindings: &'b Bindings<'a>,
    pub modules: &'b Modules<'b>,
    pub findings: &'f mut Findings<'l>,
    /// Whether there are hosts that programs may send requests to.
    pub has_hosts: bool,
}

/// Properties that lead from any object into the language.
const INTERNALS: [&str; 5] =
    ["__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"];

/// What turns something unreadable into text.
const DECODERS: [&str; 5] = ["atob", "fromCharCode", "fromCodePoint", "unescape", "decodeURIComponent"];

/// Globals that say enough, if the program has no such name of its own.
const GLOBALS: [(&str, Rule); 7] = [
    ("fetch", Rule::Network),
    ("XMLHttpRequest", Rule::Network),
    ("WebSocket", Rule::Network),
    ("EventSource", Rule::Network),
    ("WebAssembly", Rule::NativeCode),
    ("SharedArrayBuffer", Rule::ObjectsInMemory),
    ("Worker", Rule::Processes),
];

impl<'a> Dangers<'a, '_, '_, '_> {
    fn found(&mut self, rule: Rule, span: Span, what: &str) {
        let shown = one_line(what, 80);
        let message = match rule {
            Rule::InternalAttribute => format!("`{shown}` leads into the language's internals"),
            _ => message_of(rule, &shown),
        };
        self.findings.add(rule, place(span), message, hint_of(rule));
    }

    fn module(&mut self, module: &'a str, span: Span) {
        if is_ours(module) {
            return;
        }
        let package = package_of(module);
        if let Some(rule) = telling_rule(package) {
            self.found(rule, span, module);
        }
        // The lists have dots between the parts of a name.
        let listed = module.strip_prefix("node:").unwrap_or(module).replace('/', ".");
        self.modules.judge_as(&listed, &advice(package), place(span), self.findings);
    }

    /// `eval(x)`, `new Function(x)`
    fn code(&mut self, name: &str, arguments: &[Argument<'a>], span: Span) {
        let Some(last) = arguments.last().and_then(Argument::as_expression) else { return };
        let rule = match text_of(last) {
            Some(_) => Rule::LiteralCode,
            None if decodes(last) => Rule::HiddenCode,
            None => Rule::ComputedCode,
        };
        self.found(rule, span, name);
    }

    fn property(&mut self, name: &str, object: &Expression<'a>, span: Span) {
        if INTERNALS.contains(&name) {
            self.found(Rule::InternalAttribute, span, name);
        }
        let is_constructor = |expression: &Expression<'a>| match bare(expression) {
            Expression::StaticMemberExpression(member) => member.property.name.as_str() == "constructor",
            Expression::ComputedMemberExpression(member) => {
                text_of(&member.expression) == Some("constructor")
            }
            _ => false,
        };
        if name == "constructor" && is_constructor(object) {
            self.found(Rule::InternalAttribute, span, "constructor.constructor");
        }
    }
}

impl<'a> VisitJs<'a> for Dangers<'a, '_, '_, '_> {
    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.module(it.source.value.as_str(), it.span);
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        match text_of(&it.source) {
            Some(module) => self.module(module, it.span),
            None => self.found(Rule::ImportMachinery, it.span, "import()"),
        }
        walk_js::walk_import_expression(self, it);
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        let path = path_of(&it.callee).and_then(|path| self.bindings.resolved(&path));
        match path.as_deref() {
            Some(
                [name @ ("eval" | "Function")] | ["globalThis" | "window", name @ ("eval" | "Function")],
            ) => {
                self.code(name, &it.arguments, it.span);
            }
            Some(["require"]) => match it.arguments.first().and_then(Argument::as_expression).map(text_of) {
                Some(Some(module)) => self.module(module, it.span),
                Some(None) => self.found(Rule::ImportMachinery, it.span, "require"),
                None => {}
            },
            Some(["process", "binding" | "dlopen" | "kill"]) => {
                self.found(Rule::Processes, it.span, "process")
            }
            _ => {}
        }
        // `(() => {}).constructor("code")()`
        if let Expression::StaticMemberExpression(member) = bare(&it.callee)
            && member.property.name.as_str() == "constructor"
        {
            self.code("constructor", &it.arguments, it.span);
        }
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        let path = path_of(&it.callee).and_then(|path| self.bindings.resolved(&path));
        if let Some(["Function"] | ["globalThis" | "window", "Function"]) = path.as_deref() {
            self.code("new Function", &it.arguments, it.span);
        }
        walk_js::walk_new_expression(self, it);
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        self.property(it.property.name.as_str(), &it.object, it.property.span);
        walk_js::walk_static_member_expression(self, it);
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        if let Some(name) = text_of(&it.expression) {
            self.property(name, &it.object, it.expression.span());
        }
        walk_js::walk_computed_member_expression(self, it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        let name = it.name.as_str();
        // `fetch` reaches them.
        if self.bindings.is_free(name)
            && !(self.has_hosts && name == "fetch")
            && let Some((_, rule)) = GLOBALS.iter().find(|(global, _)| *global == name)
        {
            self.found(*rule, it.span, name);
        }
    }

    fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
        if SYSTEM_FILES.iter().any(|start| it.value.as_str().starts_with(start)) {
            self.found(Rule::SystemFiles, it.span, it.value.as_str());
        }
    }
}

/// Whether the text comes out of a decoder, or is a long one that looks like base64.
fn decodes(expression: &Expression<'_>) -> bool {
    struct Finder(bool);
    impl<'a> VisitJs<'a> for Finder {
        fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
            self.0 |= DECODERS.contains(&it.name.as_str()) || it.name.as_str() == "Buffer";
        }

        fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
            self.0 |= DECODERS.contains(&it.property.name.as_str());
            walk_js::walk_static_member_expression(self, it);
        }

        fn visit_string_literal(&mut self, it: &StringLiteral<'a>) {
            self.0 |= is_encoded(it.value.as_str());
        }
    }
    let mut finder = Finder(false);
    finder.visit_expression(expression);
    finder.0
}

fn hint_of(rule: Rule) -> Option<String> {
    let hint = match rule {
        Rule::ComputedCode | Rule::LiteralCode => "for data, use JSON.parse; for code, write it out",
        Rule::NativeCode => "the sandbox has no native code; write it in TypeScript",
        Rule::Processes => "the sandbox has no processes; use Promise.all for parallel tool calls",
        Rule::Network => "the sandbox has no network; call a tool, or have the user set `allowed_hosts`",
        Rule::SystemFiles => "a program sees /workspace and /tmp",
        _ => return None,
    };
    Some(hint.to_owned())
}
