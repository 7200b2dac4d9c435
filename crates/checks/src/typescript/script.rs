//! The script that a worker runs: one async function, with what the program imports before its first line and
//! every line of the program where it was. A comment behind it has the author's text of rewritten lines.

use std::collections::HashMap;

use oxc_ast::ast::{
    Class, Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, Expression, Function,
    Program, Statement, VariableDeclaration, VariableDeclarationKind,
};
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

use super::enums::{self, quoted};
use super::erased::is_erased;
use super::imports::{Import, Needed, exported_name, loaded};
use super::names::{values_of, word_counts};
use super::namespaces::{self, Declared, declared_by};
use super::parse::{Trouble, range};
use super::strip::Strip;
use crate::lines::Lines;

/// What becomes of what stands at the top of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Top {
    /// It ends with the program.
    Forgotten,
    /// It becomes properties of the global object, for the programs that follow.
    Kept,
    /// What is exported is given back: a module's.
    Exported,
}

pub(super) fn script(text: &str, program: &Program<'_>, top: Top) -> Result<String, Trouble> {
    let lines = Lines::of(text);
    let mut made = Script {
        text,
        lines: &lines,
        top,
        strip: Strip::new(text),
        names: Names::default(),
        exports: Vec::new(),
    };
    made.statements(program);
    if let Some(trouble) = made.strip.trouble.take() {
        return Err(trouble);
    }
    let head = format!("\"use strict\";(async () => {{ {}", made.head(program));
    made.end(program);
    let (body, columns) = made.strip.edits.apply_behind(&head, text);
    Ok(format!("{body}\n}}) // {}", columns.written()))
}

#[derive(Default)]
struct Names<'a> {
    /// Variables and classes at the top.
    variables: Vec<&'a str>,
    /// Functions, which are there before the first line.
    functions: Vec<&'a str>,
    /// The function that is the default export.
    default: Option<&'a str>,
}

struct Script<'a, 's> {
    text: &'s str,
    lines: &'s Lines<'s>,
    top: Top,
    strip: Strip<'s>,
    names: Names<'a>,
    /// What a module gives back: names, and what they stand for.
    exports: Vec<(String, String)>,
}

impl<'a> Script<'a, '_> {
    fn line_of(&self, span: Span) -> usize {
        self.lines.line_of(range(span.start as usize, span.start as usize).start())
    }

    fn statements(&mut self, program: &Program<'a>) {
        if let Some(hashbang) = &program.hashbang {
            self.strip.edits.blank_span(hashbang.span);
        }
        let is_silent = |statement: &&Statement<'_>| {
            !is_erased(statement) && !matches!(statement, Statement::EmptyStatement(_))
        };
        let last = program.body.iter().rfind(is_silent).map(|statement| statement.span());
        for statement in &program.body {
            let is_last = Some(statement.span()) == last && self.top != Top::Exported;
            match statement {
                Statement::ExpressionStatement(inner) if is_last => self.last_value(&inner.expression),
                _ => self.statement(statement),
            }
        }
        if program.body.is_empty()
            && self.top != Top::Exported
            && let Some(directive) = program.directives.last()
        {
            self.strip.edits.insert(directive.expression.span.start as usize, "__gristmill.last = (");
            self.strip.edits.insert(directive.expression.span.end as usize, ")");
        }
    }

    fn last_value(&mut self, expression: &Expression<'a>) {
        let span = expression.span();
        self.strip.edits.insert(span.start as usize, "__gristmill.last = (");
        self.strip.visit_expression(expression);
        self.strip.edits.insert(span.end as usize, ")");
    }

    fn statement(&mut self, statement: &Statement<'a>) {
        if is_erased(statement) {
            self.strip.erase(statement.span());
            return;
        }
        match statement {
            // Written before the first line.
            Statement::ImportDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_) => self.strip.erase(statement.span()),
            Statement::ExportNamedDeclaration(export) => {
                for one in &export.specifiers {
                    let local = exported_name(&one.local).to_owned();
                    self.exports.push((exported_name(&one.exported).to_owned(), local));
                }
                self.strip.erase(export.span);
            }
            Statement::ExportDeclaration(export) => {
                let start = export.span.start as usize;
                self.strip.edits.blank(start, start + "export".len());
                let exported = declared_by(&export.declaration);
                self.exports.extend(exported.into_iter().map(|name| (name.to_owned(), name.to_owned())));
                self.declaration(&export.declaration);
            }
            Statement::ExportDefaultDeclaration(export) => self.default_export(export),
            Statement::TSExportAssignment(export) => {
                let (from, to) = (export.span.start as usize, export.expression.span().start as usize);
                self.default_value(from, to, export.expression.span());
                self.strip.visit_expression(&export.expression);
            }
            _ => match statement.as_declaration() {
                Some(declaration) => self.declaration(declaration),
                None => self.strip.visit_statement(statement),
            },
        }
    }

    fn declaration(&mut self, declaration: &Declaration<'a>) {
        let names = declared_by(declaration);
        let keeps = self.top == Top::Kept;
        match declaration {
            Declaration::FunctionDeclaration(_) => {
                self.names.functions.extend(names);
                self.strip.visit_declaration(declaration);
            }
            Declaration::VariableDeclaration(variables) if keeps && is_plain(variables) => {
                self.names.variables.extend(names);
                self.keep_variables(variables);
            }
            Declaration::ClassDeclaration(class) if keeps => {
                self.names.variables.extend(names);
                self.keep_class(class);
            }
            Declaration::TSEnumDeclaration(one) if keeps => {
                self.names.variables.extend(names);
                enums::rewrite(&mut self.strip, one, Declared::Already);
            }
            Declaration::TSNamespaceDeclaration(namespace) if keeps => {
                self.names.variables.extend(names);
                namespaces::rewrite(&mut self.strip, namespace, Declared::Already);
            }
            _ => {
                self.names.variables.extend(names);
                self.strip.visit_declaration(declaration);
            }
        }
    }

    /// `const {a} = b, c = 1` becomes `;({a} = b, c = 1)`.
    fn keep_variables(&mut self, variables: &VariableDeclaration<'a>) {
        let start = variables.span.start as usize;
        let Some(first) = variables.declarations.first() else { return };
        self.strip.edits.blank_as(start, first.span.start as usize, ';');
        self.strip.edits.cover(start + 1, '(');
        for declarator in &variables.declarations {
            self.strip.visit_variable_declarator(declarator);
            if declarator.init.is_none() && variables.kind != VariableDeclarationKind::Var {
                self.strip.edits.insert(declarator.span.end as usize, " = undefined");
            }
        }
        if let Some(last) = variables.declarations.last() {
            self.strip.edits.insert(last.span.end as usize, ")");
        }
    }

    fn keep_class(&mut self, class: &Class<'a>) {
        let name = class.id.as_ref().map_or("", |id| id.name.as_str());
        self.strip.edits.insert(class.span.start as usize, &format!(";{name} = "));
        self.strip.visit_class(class);
        self.strip.edits.insert(class.span.end as usize, ";");
    }

    fn default_export(&mut self, export: &ExportDefaultDeclaration<'a>) {
        let (from, to) = (export.span.start as usize, export.declaration.span().start as usize);
        match &export.declaration {
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
                self.default_function(from, to, function);
            }
            ExportDefaultDeclarationKind::ClassDeclaration(class) => self.default_class(from, to, class),
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => {}
            other => {
                self.default_value(from, to, other.span());
                if let Some(expression) = other.as_expression() {
                    self.strip.visit_expression(expression);
                }
            }
        }
    }

    /// What stands there becomes the default.
    fn default_value(&mut self, from: usize, to: usize, value: Span) {
        let before = match self.top {
            Top::Exported => {
                self.exports.push(("default".to_owned(), "__default".to_owned()));
                "const __default = ("
            }
            Top::Forgotten | Top::Kept => "__gristmill.default = (",
        };
        self.strip.edits.replace(from, to, before);
        self.strip.edits.insert(value.end as usize, ");");
    }

    fn default_function(&mut self, from: usize, to: usize, function: &Function<'a>) {
        match &function.id {
            Some(id) => {
                let name = id.name.as_str();
                self.strip.edits.blank(from, to);
                self.names.functions.push(name);
                self.names.default = Some(name);
                self.exports.push(("default".to_owned(), name.to_owned()));
            }
            None => self.default_value(from, to, function.span),
        }
        self.strip.visit_function(function, oxc_syntax::scope::ScopeFlags::Function);
    }

    fn default_class(&mut self, from: usize, to: usize, class: &Class<'a>) {
        let Some(id) = &class.id else {
            self.default_value(from, to, class.span);
            self.strip.visit_class(class);
            return;
        };
        let name = id.name.as_str();
        self.names.variables.push(name);
        self.strip.edits.blank(from, to);
        match self.top {
            Top::Kept => self.keep_class(class),
            Top::Forgotten | Top::Exported => self.strip.visit_class(class),
        }
        match self.top {
            Top::Exported => self.exports.push(("default".to_owned(), name.to_owned())),
            Top::Forgotten | Top::Kept => {
                let set = format!(";__gristmill.default = {name};");
                self.strip.edits.insert(class.span.end as usize, &set);
            }
        }
    }

    /// Everything before the first line.
    fn head(&mut self, program: &Program<'a>) -> String {
        let values = values_of(program);
        let counts = if self.top == Top::Kept { word_counts(self.text) } else { HashMap::new() };
        let needed = match self.top {
            Top::Forgotten => Needed::Used(&values),
            Top::Kept => Needed::Kept(&values, &counts),
            Top::Exported => Needed::All,
        };
        let mut imports = String::new();
        let mut imported: Vec<&str> = Vec::new();
        for statement in program.body.iter().filter(|statement| !is_erased(statement)) {
            let line = self.line_of(statement.span());
            match statement {
                Statement::ImportDeclaration(import) => {
                    let import = Import::of(import, line, &needed);
                    imported.extend(import.bound());
                    imports.push_str(&import.written(self.top == Top::Kept));
                }
                Statement::ExportFromDeclaration(export) => {
                    let module = export.source.value.as_str();
                    let names = export.specifiers.iter();
                    let names = names.map(|one| (exported_name(&one.exported), exported_name(&one.local)));
                    imports.push_str(&self.passed_on(module, line, names.collect()));
                }
                Statement::ExportAllDeclaration(export) => {
                    let module = export.source.value.as_str();
                    let names = export.exported.as_ref().map(|name| (exported_name(name), ""));
                    imports.push_str(&self.passed_on(module, line, names.into_iter().collect()));
                }
                _ => {}
            }
        }
        let mut head = String::new();
        if self.top == Top::Kept {
            head.push_str(&declared_globals(self.names.variables.iter().copied().chain(imported)));
            for name in &self.names.functions {
                head.push_str(&format!("globalThis.{name} = {name}; "));
            }
        }
        if let Some(name) = self.names.default.filter(|_| self.top != Top::Exported) {
            head.push_str(&format!("__gristmill.default = {name}; "));
        }
        head + &imports
    }

    /// `export {a} from "b"`; without names, all of them. An empty name is the module itself.
    fn passed_on(&mut self, module: &str, line: usize, names: Vec<(&str, &str)>) -> String {
        let loaded = loaded(module, line);
        if self.top != Top::Exported {
            return format!("{loaded}; ");
        }
        let here = format!("__from{}", self.exports.len());
        if names.is_empty() {
            self.exports.push((String::new(), here.clone()));
        }
        for (exported, local) in names {
            let value = if local.is_empty() { here.clone() } else { format!("{here}[{}]", quoted(local)) };
            self.exports.push((exported.to_owned(), value));
        }
        format!("const {here} = {loaded}; ")
    }

    /// What follows the last line.
    fn end(&mut self, program: &Program<'a>) {
        let last = program.body.last().map(|statement| statement.span().end);
        let at = last.map_or(self.text.len(), |end| end as usize);
        match self.top {
            Top::Forgotten if self.names.variables.contains(&"result") => {
                self.strip.edits.insert(at, ";__gristmill.result = result;");
            }
            Top::Forgotten | Top::Kept => {}
            Top::Exported => {
                let exports: Vec<String> = self
                    .exports
                    .iter()
                    .map(|(name, value)| match name.is_empty() {
                        true => format!("...{value}"),
                        false => format!("{}: {value}", quoted(name)),
                    })
                    .collect();
                self.strip.edits.insert(at, &format!(";return {{{}}};", exports.join(", ")));
            }
        }
    }
}

/// Variables that are declared without anything that ends with their block.
fn is_plain(variables: &VariableDeclaration<'_>) -> bool {
    !matches!(variables.kind, VariableDeclarationKind::Using | VariableDeclarationKind::AwaitUsing)
}

/// Properties that are there before they are assigned, with the values that they have. `result` always is.
fn declared_globals<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<String> = names.filter(|name| *name != "result").map(quoted).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "for (const name of [{}]) name in globalThis || (globalThis[name] = undefined); ",
        names.join(", ")
    )
}
