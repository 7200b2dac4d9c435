//! What a program imports, as statements before its first line.

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::{ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, ModuleExportName};

use super::enums::quoted;

/// One import, with the names that it binds.
pub(super) struct Import<'a> {
    pub module: &'a str,
    pub line: usize,
    /// What is imported and what it is called here.
    pub names: Vec<(&'a str, &'a str)>,
    /// `* as name`
    pub whole: Option<&'a str>,
    /// Whether it named anything, types included.
    pub is_named: bool,
}

/// Which names of an import are values.
pub(super) enum Needed<'n> {
    /// Those that the program uses.
    Used(&'n HashSet<&'n str>),
    /// Those that the next program may use: all but those that are used as types alone.
    Kept(&'n HashSet<&'n str>, &'n HashMap<&'n str, usize>),
    /// All that aren't said to be types.
    All,
}

impl Needed<'_> {
    fn has(&self, name: &str) -> bool {
        match self {
            Needed::Used(values) => values.contains(name),
            Needed::Kept(values, counts) => {
                values.contains(name) || counts.get(name).is_none_or(|count| *count < 2)
            }
            Needed::All => true,
        }
    }
}

impl<'a> Import<'a> {
    pub fn of(import: &ImportDeclaration<'a>, line: usize, needed: &Needed<'_>) -> Self {
        let mut made = Self {
            module: import.source.value.as_str(),
            line,
            names: Vec::new(),
            whole: None,
            is_named: false,
        };
        for specifier in import.specifiers.iter().flatten() {
            made.is_named = true;
            match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    let here = one.local.name.as_str();
                    if one.import_kind != ImportOrExportKind::Type && needed.has(here) {
                        made.names.push((exported_name(&one.imported), here));
                    }
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
                    let here = one.local.name.as_str();
                    if needed.has(here) {
                        made.names.push(("default", here));
                    }
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => {
                    let here = one.local.name.as_str();
                    if needed.has(here) {
                        made.whole = Some(here);
                    }
                }
            }
        }
        made
    }

    /// The names that it binds.
    pub fn bound(&self) -> impl Iterator<Item = &'a str> {
        self.names.iter().map(|(_, here)| *here).chain(self.whole)
    }

    /// As statements; empty if only types were wanted.
    pub fn written(&self, keeps: bool) -> String {
        if self.is_named && self.names.is_empty() && self.whole.is_none() {
            return String::new();
        }
        let module = loaded(self.module, self.line);
        let names: Vec<String> =
            self.names.iter().map(|(name, here)| format!("{}: {here}", quoted(name))).collect();
        let names = names.join(", ");
        let (let_whole, open, close) = if keeps { ("", "({", ");") } else { ("const ", "const {", ";") };
        match (self.whole, names.is_empty()) {
            (None, true) => format!("{module}; "),
            (None, false) => format!("{open}{names}}} = {module}{close} "),
            (Some(whole), true) => format!("{let_whole}{whole} = {module}; "),
            (Some(whole), false) => {
                format!("{let_whole}{whole} = {module}; {open}{names}}} = {whole}{close} ")
            }
        }
    }
}

/// What gives a module.
pub(super) fn loaded(module: &str, line: usize) -> String {
    format!("await __gristmill.module({}, {line})", quoted(module))
}

pub(super) fn exported_name<'a>(name: &ModuleExportName<'a>) -> &'a str {
    match name {
        ModuleExportName::IdentifierName(name) => name.name.as_str(),
        ModuleExportName::IdentifierReference(name) => name.name.as_str(),
        ModuleExportName::StringLiteral(text) => text.value.as_str(),
    }
}
