//! The same names as in tables, which is how they were kept once.

use std::collections::{BTreeSet, HashMap};

use ruff_python_ast::Mod;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use super::*;

#[derive(Default)]
struct Tables<'a> {
    counts: HashMap<&'a str, usize>,
    imports: HashMap<&'a str, String>,
    is_hidden: bool,
    /// Whatever may be asked for.
    met: BTreeSet<&'a str>,
}

const ENDING: [&str; 5] = ["exit", "_exit", "quit", "abort", "SystemExit"];
const HIDING: [&str; 6] = ["exec", "eval", "globals", "locals", "vars", "setattr"];

impl<'a> Tables<'a> {
    fn resolved(&self, path: &[&str]) -> Option<String> {
        let (first, rest) = path.split_first()?;
        let meant = match self.imports.get(first) {
            Some(import) if self.counts.get(first) == Some(&1) => import.as_str(),
            Some(_) => return None,
            None if !self.counts.contains_key(first) => first,
            None => return None,
        };
        Some(std::iter::once(meant).chain(rest.iter().copied()).collect::<Vec<_>>().join("."))
    }

    fn bind(&mut self, name: &'a str) {
        self.met.insert(name);
        *self.counts.entry(name).or_default() += 1;
    }

    fn import(&mut self, name: &'a str, meant: String) {
        if self.imports.get(name) == Some(&meant) {
            return;
        }
        self.bind(name);
        self.imports.insert(name, meant);
    }
}

impl<'a> Visitor<'a> for Tables<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.bind(def.name.as_str()),
            Stmt::ClassDef(class) => self.bind(class.name.as_str()),
            Stmt::Import(import) => {
                for alias in &import.names {
                    let name = alias.name.as_str();
                    let top = name.split('.').next().unwrap_or(name);
                    match &alias.asname {
                        Some(asname) => self.import(asname.as_str(), name.to_owned()),
                        None => self.import(top, top.to_owned()),
                    }
                }
            }
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
            Stmt::Global(global) => global.names.iter().for_each(|name| self.bind(name.as_str())),
            Stmt::Nonlocal(nonlocal) => nonlocal.names.iter().for_each(|name| self.bind(name.as_str())),
            _ => {}
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                self.met.insert(name.id.as_str());
                match name.ctx {
                    ExprContext::Load => self.is_hidden |= ENDING.contains(&name.id.as_str()),
                    _ => self.bind(name.id.as_str()),
                }
            }
            Expr::Attribute(attribute) => self.is_hidden |= ENDING.contains(&attribute.attr.as_str()),
            Expr::Call(call) => {
                self.is_hidden |=
                    call.func.as_name_expr().is_some_and(|name| HIDING.contains(&name.id.as_str()));
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
        inner.name.iter().for_each(|name| self.bind(name.as_str()));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(inner) => inner.name.as_ref(),
            Pattern::MatchStar(inner) => inner.name.as_ref(),
            Pattern::MatchMapping(inner) => inner.rest.as_ref(),
            _ => None,
        };
        name.into_iter().for_each(|name| self.bind(name.as_str()));
        visitor::walk_pattern(self, pattern);
    }

    fn visit_type_param(&mut self, param: &'a TypeParam) {
        self.bind(param.name().as_str());
        visitor::walk_type_param(self, param);
    }
}

/// How many names were compared.
fn check(code: &str) -> usize {
    let parsed = parse_unchecked(code, ParseOptions::from(Mode::Module));
    let Mod::Module(module) = parsed.syntax() else { panic!("no module") };
    let mut tables = Tables::default();
    tables.visit_body(&module.body);
    let bindings = Bindings::of(&module.body);
    assert_eq!(bindings.is_hidden, tables.is_hidden, "{code}");
    assert_eq!(bindings.names.len(), tables.counts.len(), "{code}");
    tables.met.insert("never_met");
    for name in &tables.met {
        let count = tables.counts.get(name).copied().unwrap_or_default();
        assert_eq!(
            (bindings.is_free(name), bindings.is_bound_once(name)),
            (count == 0, count == 1),
            "{name}: {code}"
        );
        assert_eq!(bindings.is_imported(name), tables.imports.contains_key(name), "{name}: {code}");
        let path = [*name, "path", "join"];
        assert_eq!(bindings.resolved(&path), tables.resolved(&path), "{name}: {code}");
    }
    tables.met.len()
}

#[test]
fn names_are_bound_as_in_tables() {
    for code in [
        "import servers.a\nimport servers.b\nservers.a.x()",
        "import a.b as x\nfrom a import b as x\nx()",
        "import a as x\nimport b as x\nimport a as x",
        "from a import x\nx = 1",
        "from . import x\nfrom .. import y\nfrom .m import z as x",
        "from os import *\nimport os.path as os, sys",
        "import longer_than_eight_1, longer_than_eight_2\nlonger_than_eight_1 = longer_than_eight_3 = 1",
        "def f(a, *b, c=1, **d):\n    global g\n    try:\n        pass\n    except E as e:\n        del a",
        "match x:\n    case {'a': b, **c}: pass\n    case [d, *e]: pass\n    case f: pass",
        "type A[T] = list[T]\nclass B[U]: pass\n[x for x in y if (z := x)]",
        "ｓｙｓ = 1\nsys.exit()",
        "exec('x')",
        "",
    ] {
        check(code);
    }
}

#[test]
fn the_names_of_every_program_here_are_bound_as_in_tables() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/programs");
    let paths = std::fs::read_dir(folder).expect("programs").flatten().map(|entry| entry.path());
    let programs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "py"));
    let compared: usize =
        programs.map(|path| check(&std::fs::read_to_string(path).expect("a program"))).sum();
    assert!(compared > 500, "{compared}");
}
