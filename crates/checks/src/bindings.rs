//! Which names a program binds, and how often: only a name that is bound once means what it was bound to.

use std::collections::HashMap;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameter, Pattern, Stmt, TypeParam};

/// Every name that is bound anywhere in the program.
#[derive(Debug, Default)]
pub(crate) struct Bindings<'a> {
    counts: HashMap<&'a str, usize>,
    /// What each import of a module or of a name of one brings, by the name that it has here.
    imports: HashMap<&'a str, String>,
    /// Whether names may be bound in ways that can't be seen, or the program may end anywhere: `exec`,
    /// `globals()`, `import *`, `sys.exit()`.
    pub is_hidden: bool,
}

/// What ends a program without a failure.
const ENDING: [&str; 5] = ["exit", "_exit", "quit", "abort", "SystemExit"];

impl<'a> Bindings<'a> {
    pub fn of(body: &'a [Stmt]) -> Self {
        let mut made = Self::default();
        made.visit_body(body);
        made
    }

    /// Whether nothing in the program binds it: then it is a builtin, or something of an earlier program.
    pub fn is_free(&self, name: &str) -> bool {
        !self.counts.contains_key(name)
    }

    pub fn is_imported(&self, name: &str) -> bool {
        self.imports.contains_key(name)
    }

    pub fn is_bound_once(&self, name: &str) -> bool {
        self.counts.get(name) == Some(&1)
    }

    /// `os.path.join` for `join` after `from os.path import join`; the path itself otherwise. `None` if its first
    /// name means something else.
    pub fn resolved(&self, path: &[&str]) -> Option<String> {
        let (first, rest) = path.split_first()?;
        let meant = match self.imports.get(first) {
            Some(import) if self.is_bound_once(first) => import.as_str(),
            Some(_) => return None,
            // Modules of the library are there without an import.
            None if self.is_free(first) => first,
            None => return None,
        };
        Some(std::iter::once(meant).chain(rest.iter().copied()).collect::<Vec<_>>().join("."))
    }

    fn bind(&mut self, name: &'a str) {
        *self.counts.entry(name).or_default() += 1;
    }

    fn import(&mut self, name: &'a str, meant: String) {
        // `import servers.a` and `import servers.b` both bind the same thing.
        if self.imports.get(name) == Some(&meant) {
            return;
        }
        self.bind(name);
        self.imports.insert(name, meant);
    }

    fn alias(&mut self, alias: &'a Alias) {
        let name = alias.name.as_str();
        match &alias.asname {
            Some(asname) => self.import(asname.as_str(), name.to_owned()),
            None => {
                let top = name.split('.').next().unwrap_or(name);
                self.import(top, top.to_owned());
            }
        }
    }
}

impl<'a> Visitor<'a> for Bindings<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.bind(def.name.as_str()),
            Stmt::ClassDef(class) => self.bind(class.name.as_str()),
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.alias(alias)),
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                for alias in &import.names {
                    let name = alias.name.as_str();
                    if name == "*" {
                        self.is_hidden = true;
                        continue;
                    }
                    let here = alias.asname.as_ref().map_or(name, |asname| asname.as_str());
                    self.import(here, format!("{}{module}.{name}", ".".repeat(import.level as usize)));
                }
            }
            // Bound elsewhere as well, whatever it is.
            Stmt::Global(global) => global.names.iter().for_each(|name| self.bind(name.as_str())),
            Stmt::Nonlocal(nonlocal) => nonlocal.names.iter().for_each(|name| self.bind(name.as_str())),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx != ExprContext::Load => self.bind(name.id.as_str()),
            Expr::Name(name) if ENDING.contains(&name.id.as_str()) => self.is_hidden = true,
            Expr::Attribute(attribute) if ENDING.contains(&attribute.attr.as_str()) => self.is_hidden = true,
            Expr::Call(call) => {
                const HIDING: [&str; 6] = ["exec", "eval", "globals", "locals", "vars", "setattr"];
                if matches!(&*call.func, Expr::Name(name) if HIDING.contains(&name.id.as_str())) {
                    self.is_hidden = true;
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.bind(parameter.name.as_str());
        visitor::walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name.as_str());
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(inner) => inner.name.as_ref(),
            Pattern::MatchStar(inner) => inner.name.as_ref(),
            Pattern::MatchMapping(inner) => inner.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name.as_str());
        }
        visitor::walk_pattern(self, pattern);
    }

    fn visit_type_param(&mut self, param: &'a TypeParam) {
        self.bind(param.name().as_str());
        visitor::walk_type_param(self, param);
    }
}
