//! Which names a program binds, and how often: only a name that is bound once means what it was bound to.
//!
//! Names are kept in their order, and not in a table of hashes: a program has few of them, and whoever writes one
//! can't choose names that make it slow.

use ruff_python_ast::name::Name;
use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Alias, ExceptHandler, Expr, ExprContext, Parameter, Pattern, Stmt, TypeParam};

use crate::paths::{first_name_of, first_part, path_of};

/// What there is room for from the beginning.
const NAMES_USUAL: usize = 64;
const NOTED_USUAL: usize = 128;

/// Every name that is bound anywhere in the program.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    /// In their order.
    names: Vec<Bound>,
    /// What each import of a module or of a name of one brings, in the order of the names that they have here.
    imports: Vec<Import>,
    /// Whether names may be bound in ways that can't be seen, or the program may end anywhere: `exec`,
    /// `globals()`, `import *`, `sys.exit()`.
    pub is_hidden: bool,
}

#[derive(Debug)]
struct Bound {
    key: u64,
    name: Name,
    count: usize,
}

#[derive(Debug)]
struct Import {
    key: u64,
    name: Name,
    meant: String,
    /// Whether nothing else binds the name.
    is_only: bool,
}

/// What a program has that may be dangerous: what it comes to is known when all names are.
#[derive(Clone, Copy)]
pub(crate) enum Noted<'a> {
    /// An import.
    Stmt(&'a Stmt),
    /// An attribute, a call, a text, or a name of the interpreter's.
    Expr(&'a Expr),
}

impl Bindings {
    pub fn of(body: &[Stmt]) -> Self {
        Self::with_noted(body).0
    }

    /// With what else was met on the same way through the program, in its order.
    pub fn with_noted(body: &[Stmt]) -> (Self, Vec<Noted<'_>>) {
        let mut binder = Binder {
            names: Vec::with_capacity(NAMES_USUAL),
            noted: Vec::with_capacity(NOTED_USUAL),
            ..Binder::default()
        };
        binder.visit_body(body);
        let noted = std::mem::take(&mut binder.noted);
        (binder.settled(), noted)
    }

    /// Whether nothing in the program binds it: then it is a builtin, or something of an earlier program.
    pub fn is_free(&self, name: &str) -> bool {
        self.count(name) == 0
    }

    pub fn is_imported(&self, name: &str) -> bool {
        self.import(name).is_some()
    }

    pub fn is_bound_once(&self, name: &str) -> bool {
        self.count(name) == 1
    }

    /// `os.path.join` for `join` after `from os.path import join`; the path itself otherwise. `None` if its first
    /// name means something else.
    pub fn resolved(&self, path: &[&str]) -> Option<String> {
        let (first, rest) = path.split_first()?;
        let meant = match self.import(first) {
            Some(import) if import.is_only => import.meant.as_str(),
            Some(_) => return None,
            // Modules of the library are there without an import.
            None if self.is_free(first) => first,
            None => return None,
        };
        let mut whole = meant.to_owned();
        for part in rest {
            whole.push('.');
            whole.push_str(part);
        }
        Some(whole)
    }

    /// The first name of what `a.b.c` stands for, if it stands for anything.
    pub fn first_meant<'e>(&'e self, expr: &'e Expr) -> Option<&'e str> {
        let first = first_name_of(expr)?;
        Some(self.import(first).map_or(first, |import| first_part(&import.meant)))
    }

    /// What `a.b.c` stands for, if that begins with a name that is wanted. Most don't, and cost little.
    pub fn resolved_if(&self, expr: &Expr, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        self.first_meant(expr).filter(|first| is_wanted(first))?;
        self.resolved(&path_of(expr)?)
    }

    fn count(&self, name: &str) -> usize {
        let key = key_of(name);
        let found = self.names.binary_search_by(|bound| (bound.key, bound.name.as_str()).cmp(&(key, name)));
        found.map_or(0, |at| self.names[at].count)
    }

    fn import(&self, name: &str) -> Option<&Import> {
        let key = key_of(name);
        let found =
            self.imports.binary_search_by(|import| (import.key, import.name.as_str()).cmp(&(key, name)));
        found.ok().map(|at| &self.imports[at])
    }
}

/// How a name begins, as a number: most names differ there.
fn key_of(name: &str) -> u64 {
    match name.as_bytes().first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => name.bytes().fold(0, |key, byte| key << 8 | u64::from(byte)),
    }
}

/// The way through a program.
#[derive(Default)]
struct Binder<'a> {
    /// As often as they are bound.
    names: Vec<(u64, &'a str)>,
    /// In the order of the program.
    imports: Vec<(u64, &'a str, Meant<'a>)>,
    noted: Vec<Noted<'a>>,
    is_hidden: bool,
}

/// What an import brings.
#[derive(Clone, Copy)]
enum Meant<'a> {
    Module(&'a str),
    /// Something of a module, which is so many levels up.
    From {
        level: u32,
        module: &'a str,
        name: &'a str,
    },
}

impl Meant<'_> {
    fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Meant::Module(one), Meant::Module(other)) => one == other,
            (
                Meant::From { level, module, name },
                Meant::From { level: other_level, module: other_module, name: other_name },
            ) => (level, module, name) == (other_level, other_module, other_name),
            // `import a.b as c` and `from a import b as c`
            (Meant::Module(_), Meant::From { .. }) | (Meant::From { .. }, Meant::Module(_)) => {
                self.written() == other.written()
            }
        }
    }

    fn written(self) -> String {
        match self {
            Meant::Module(module) => module.to_owned(),
            Meant::From { level, module, name } => {
                format!("{}{module}.{name}", ".".repeat(level as usize))
            }
        }
    }
}

impl<'a> Binder<'a> {
    fn bind(&mut self, name: &'a str) {
        self.names.push((key_of(name), name));
    }

    fn import(&mut self, name: &'a str, meant: Meant<'a>) {
        self.imports.push((key_of(name), name, meant));
    }

    fn alias(&mut self, alias: &'a Alias) {
        let name = alias.name.as_str();
        match &alias.asname {
            Some(asname) => self.import(asname.as_str(), Meant::Module(name)),
            None => {
                let top = first_part(name);
                self.import(top, Meant::Module(top));
            }
        }
    }

    fn settled(mut self) -> Bindings {
        // In the order of the program where names are the same: the last one counts.
        self.imports.sort_by_key(|(key, name, _)| (*key, *name));
        for same in self.imports.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1)) {
            // `import servers.a` and `import servers.b` both bind the same thing.
            let kinds = same.chunk_by(|one, next| one.2.is_same(next.2)).count();
            self.names.extend(std::iter::repeat_n((same[0].0, same[0].1), kinds));
        }
        self.names.sort_unstable();
        let same = self.names.chunk_by(|one, next| one == next);
        let names = same.map(|same| Bound { key: same[0].0, name: Name::new(same[0].1), count: same.len() });
        let mut made = Bindings { names: names.collect(), imports: Vec::new(), is_hidden: self.is_hidden };
        let same = self.imports.chunk_by(|one, next| (one.0, one.1) == (next.0, next.1));
        let imports = same.filter_map(|same| same.last()).map(|(key, name, meant)| Import {
            key: *key,
            name: Name::new(name),
            meant: meant.written(),
            is_only: made.is_bound_once(name),
        });
        made.imports = imports.collect();
        made
    }
}

/// What ends a program without a failure.
fn ends(name: &str) -> bool {
    matches!(name, "exit" | "_exit" | "quit" | "abort" | "SystemExit")
}

/// What may bind names that can't be seen.
fn hides(name: &str) -> bool {
    matches!(name, "exec" | "eval" | "globals" | "locals" | "vars" | "setattr")
}

impl<'a> Visitor<'a> for Binder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.bind(def.name.as_str()),
            Stmt::ClassDef(class) => self.bind(class.name.as_str()),
            Stmt::Import(import) => {
                self.noted.push(Noted::Stmt(stmt));
                import.names.iter().for_each(|alias| self.alias(alias));
            }
            Stmt::ImportFrom(import) => {
                self.noted.push(Noted::Stmt(stmt));
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                for alias in &import.names {
                    let name = alias.name.as_str();
                    if name == "*" {
                        self.is_hidden = true;
                        continue;
                    }
                    let here = alias.asname.as_ref().map_or(name, |asname| asname.as_str());
                    self.import(here, Meant::From { level: import.level, module, name });
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
            Expr::Name(name) => {
                let id = name.id.as_str();
                if id == "__builtins__" {
                    self.noted.push(Noted::Expr(expr));
                }
                match name.ctx {
                    ExprContext::Load => self.is_hidden |= ends(id),
                    _ => self.bind(id),
                }
                return;
            }
            Expr::Attribute(attribute) => {
                self.noted.push(Noted::Expr(expr));
                self.is_hidden |= ends(attribute.attr.as_str());
            }
            Expr::Call(call) => {
                self.noted.push(Noted::Expr(expr));
                self.is_hidden |= matches!(&*call.func, Expr::Name(name) if hides(name.id.as_str()));
            }
            Expr::StringLiteral(_) => self.noted.push(Noted::Expr(expr)),
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

#[cfg(test)]
mod tests;
