//! Which modules a program imports, as far as its text says: for whoever picks an engine for it.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use crate::check::CODE_BYTES_MAX;
use crate::nesting::is_too_deep;
use crate::repaired::repaired;

/// Names of one program; more are no program that anybody reads.
const NAMES_MAX: usize = 500;

/// The first names of what it imports, wherever in it. Of a text that can't be read: none.
pub fn imported_modules(code: &str) -> BTreeSet<String> {
    let text = repaired(code).text;
    if text.len() > CODE_BYTES_MAX || is_too_deep(&text) {
        return BTreeSet::new();
    }
    let parsed = parse_unchecked(&text, ParseOptions::from(Mode::Module));
    let Mod::Module(module) = parsed.syntax() else { return BTreeSet::new() };
    let mut found = Imports(BTreeSet::new());
    found.visit_body(&module.body);
    found.0
}

struct Imports(BTreeSet<String>);

impl Imports {
    fn add(&mut self, module: &str) {
        let top = module.split('.').next().unwrap_or(module);
        if !top.is_empty() && self.0.len() < NAMES_MAX {
            self.0.insert(top.to_owned());
        }
    }
}

impl Visitor<'_> for Imports {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.add(alias.name.as_str())),
            Stmt::ImportFrom(import) if import.level == 0 => {
                import.module.iter().for_each(|module| self.add(module.as_str()));
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_found_wherever_they_are() {
        let code = "import json, os.path as p\nfrom numpy.linalg import norm\nfrom . import mine\n\
                    async def f():\n    try:\n        import pandas as pd\n    except ImportError:\n        pass\n";
        let found: Vec<String> = imported_modules(code).into_iter().collect();
        assert_eq!(found, ["json", "numpy", "os", "pandas"]);
        assert!(imported_modules("x = 'import pandas'").is_empty());
    }
}
