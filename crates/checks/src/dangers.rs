//! Constructs that are seldom there for a good reason. What they would reach, the sandbox doesn't have: a
//! finding says that somebody tried.

use gristmill_domain::one_line;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, Expr, ExprCall, Identifier, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::bindings::{Bindings, Noted};
use crate::constructs::{
    DECODERS, FRAMES, FUNCTION_STARTS, FUNCTIONS, INTERNALS, MODULES, SYSTEM_FILES, has_known_functions,
    has_known_modules, is_perhaps_internal, is_perhaps_of_the_system, turns_text_around,
};
use crate::finding::Findings;
use crate::modules::{Modules, Told};
use crate::paths::{first_part, text_of};
use crate::rules::Rule;

/// A string of this length that is all base64 is data, or code.
const ENCODED_CHARS_MIN: usize = 200;

pub(crate) struct Dangers<'a, 'f, 'l> {
    pub bindings: &'a Bindings,
    pub modules: &'a Modules<'a>,
    pub findings: &'f mut Findings<'l>,
}

/// Characters in the text itself, comments and strings included.
pub(crate) fn hidden_text(text: &str, findings: &mut Findings<'_>) {
    if text.is_ascii() {
        return;
    }
    if let Some((at, c)) = text.char_indices().find(|(_, c)| turns_text_around(*c)) {
        let Ok(at) = u32::try_from(at) else { return };
        let range = TextRange::at(TextSize::new(at), TextSize::of(c));
        let message =
            format!("the character U+{:04X} changes the order in which the text is shown", u32::from(c));
        findings.add(Rule::HiddenText, range, message, Some("remove it".to_owned()));
    }
}

impl Dangers<'_, '_, '_> {
    /// What there is to say about each of these.
    pub fn judge(&mut self, noted: &[Noted<'_>]) {
        for noted in noted {
            match noted {
                Noted::Stmt(stmt) => self.stmt(stmt),
                Noted::Expr(expr) => self.expr(expr),
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Import(import) => {
                import.names.iter().for_each(|alias| self.import(alias.name.as_str(), alias.range()));
            }
            Stmt::ImportFrom(import) if import.level == 0 => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                self.import(module, stmt.range());
                self.names_of(module, &import.names);
            }
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Attribute(attribute) => self.attribute(expr, &attribute.attr),
            Expr::Call(call) => self.call(call),
            Expr::StringLiteral(literal) => self.string(literal.value.to_str(), expr.range()),
            Expr::Name(name) if name.id.as_str() == "__builtins__" => {
                self.found(Rule::InternalAttribute, expr.range(), "__builtins__");
            }
            _ => {}
        }
    }

    fn found(&mut self, rule: Rule, range: TextRange, what: &str) {
        self.findings.add(rule, range, message_of(rule, &one_line(what, 80)), hint_of(rule));
    }

    fn import(&mut self, module: &str, range: TextRange) {
        let rule = MODULES.iter().find(|(name, _)| is_within(module, name));
        if let Some((_, rule)) = rule {
            self.found(*rule, range, module);
        }
        let told = if rule.is_some() { Told::Already } else { Told::NotYet };
        self.modules.judge(module, range, told, self.findings);
    }

    /// `from module import names`
    fn names_of(&mut self, module: &str, names: &[Alias]) {
        let first = first_part(module);
        if !has_known_modules(first) && !has_known_functions(first) {
            return;
        }
        for alias in names {
            let whole = format!("{module}.{}", alias.name.as_str());
            match MODULES.iter().any(|(known, _)| *known == whole) {
                // `from http import client`
                true => self.import(&whole, alias.range()),
                false => self.named(&whole, alias.range()),
            }
        }
    }

    /// A function or a value by its whole name.
    fn named(&mut self, whole: &str, range: TextRange) {
        let function = FUNCTIONS.iter().find(|(name, _)| is_within(whole, name));
        let family = || FUNCTION_STARTS.iter().find(|(start, _)| whole.starts_with(start));
        if let Some((_, rule)) = function.or_else(family) {
            self.found(*rule, range, whole);
        }
    }

    fn attribute(&mut self, expr: &Expr, attribute: &Identifier) {
        let attr = attribute.as_str();
        if is_perhaps_internal(attr) {
            if INTERNALS.contains(&attr) {
                self.found(Rule::InternalAttribute, attribute.range(), attr);
            } else if FRAMES.contains(&attr) {
                self.found(Rule::Frames, attribute.range(), attr);
            }
        }
        if let Some(whole) = self.bindings.resolved_if(expr, has_known_functions) {
            self.named(&whole, expr.range());
        }
    }

    fn string(&mut self, text: &str, range: TextRange) {
        if let Some(name) = internal_name_in(text) {
            self.found(Rule::InternalName, range, name);
        }
        if is_perhaps_of_the_system(text) && SYSTEM_FILES.iter().any(|start| text.starts_with(start)) {
            self.found(Rule::SystemFiles, range, text);
        }
    }

    fn call(&mut self, call: &ExprCall) {
        let is_wanted = |first: &str| {
            matches!(first, "builtins" | "eval" | "exec" | "compile" | "__import__" | "importlib" | "yaml")
        };
        let Some(function) = self.bindings.resolved_if(&call.func, is_wanted) else {
            return;
        };
        let function = function.strip_prefix("builtins.").unwrap_or(&function);
        let first = call.arguments.args.first();
        match function {
            "eval" | "exec" | "compile" => {
                let Some(first) = first else { return };
                let rule = match text_of(first) {
                    Some(_) => Rule::LiteralCode,
                    None if decodes(first) => Rule::HiddenCode,
                    None => Rule::ComputedCode,
                };
                self.found(rule, call.range(), function);
            }
            "__import__" | "importlib.import_module" => match first.and_then(text_of) {
                Some(module) => self.import(module, call.range()),
                None => self.found(Rule::ImportMachinery, call.range(), function),
            },
            "yaml.load" if !has_loader(call) => self.found(Rule::ForeignData, call.range(), function),
            _ => {}
        }
    }
}

/// The first of the internal names that a text is or, as a format, asks for.
fn internal_name_in(text: &str) -> Option<&'static str> {
    let known = || INTERNALS.iter().chain(&FRAMES);
    let place_of = |is_it: &dyn Fn(&str) -> bool| known().position(|name| is_it(name));
    let whole = is_perhaps_internal(text).then(|| place_of(&|name| text == name)).flatten();
    let format = if text.contains('{') { text } else { "" };
    let asked_for = format
        .match_indices('.')
        .map(|(dot, _)| &format[dot + 1..])
        .filter(|rest| is_perhaps_internal(rest))
        .filter_map(|rest| place_of(&|name| rest.starts_with(name)));
    whole.into_iter().chain(asked_for).min().and_then(|place| known().nth(place)).copied()
}

/// Whether `name` is `known`, or something of it.
fn is_within(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn has_loader(call: &ExprCall) -> bool {
    call.arguments.args.len() > 1
        || call
            .arguments
            .keywords
            .iter()
            .any(|keyword| keyword.arg.as_ref().is_none_or(|arg| arg.as_str() == "Loader"))
}

/// Whether the text comes out of a decoder, or is a long one that looks like base64.
fn decodes(expr: &Expr) -> bool {
    struct Finder(bool);
    impl<'a> Visitor<'a> for Finder {
        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= match expr {
                Expr::Attribute(attribute) => DECODERS.contains(&attribute.attr.as_str()),
                Expr::Name(name) => DECODERS.contains(&name.id.as_str()),
                Expr::StringLiteral(literal) => is_encoded(literal.value.to_str()),
                _ => false,
            };
            visitor::walk_expr(self, expr);
        }
    }
    let mut finder = Finder(false);
    finder.visit_expr(expr);
    finder.0
}

pub(crate) fn is_encoded(text: &str) -> bool {
    text.len() >= ENCODED_CHARS_MIN
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-'))
}

pub(crate) fn message_of(rule: Rule, what: &str) -> String {
    match rule {
        Rule::InternalAttribute => format!("`{what}` leads into Python's internals"),
        Rule::InternalName => format!("a string names `{what}`, which leads into Python's internals"),
        Rule::Frames => format!("`{what}` reaches for stack frames"),
        Rule::ComputedCode => format!("`{what}` runs text that is put together at run time"),
        Rule::LiteralCode => format!("`{what}` runs literal text"),
        Rule::HiddenCode => format!("`{what}` runs text that is decoded first"),
        Rule::NativeCode => format!("`{what}` is for native code"),
        Rule::Processes => format!("`{what}` starts or ends processes"),
        Rule::ImportMachinery => format!("`{what}` gets around the usual imports"),
        Rule::ObjectsInMemory => format!("`{what}` looks through the interpreter's memory"),
        Rule::ForeignData => format!("`{what}` runs code if the data says so"),
        Rule::CodeObjects => format!("`{what}` makes code by hand"),
        Rule::Tracing => format!("`{what}` watches the interpreter"),
        Rule::Network => format!("`{what}` is for the network"),
        Rule::SystemFiles => format!("\"{what}\" is a file of the system"),
        _ => format!("`{what}`: {}", rule.title()),
    }
}

fn hint_of(rule: Rule) -> Option<String> {
    let hint = match rule {
        Rule::ComputedCode | Rule::LiteralCode => {
            "for data, use json.loads or ast.literal_eval; for code, write it out"
        }
        Rule::NativeCode => "the sandbox has no native code; use the standard library",
        Rule::Processes => "the sandbox has no processes; use asyncio.gather for parallel tool calls",
        Rule::ForeignData => "use json, or yaml.safe_load",
        Rule::Network => "the sandbox has no network; call a tool, or have the user set `allowed_hosts`",
        Rule::SystemFiles => "a program sees /workspace and /tmp",
        _ => return None,
    };
    Some(hint.to_owned())
}
