//! Which modules a program imports, as far as its text says: for whoever picks an engine for it.

use std::collections::BTreeSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};

use crate::check::CODE_BYTES_MAX;
use crate::nesting::is_too_deep;
use crate::repaired::repaired;

/// Names of one program; more are no program that anybody reads.
const NAMES_MAX: usize = 500;

/// The package of saved code, and the function that loads some.
const SKILLS: &str = "skills";
const LOAD: &str = "load_skill";

/// What a program imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Modules, by their first names.
    pub modules: BTreeSet<String>,
    /// Saved code, by the names that are written.
    pub skills: BTreeSet<String>,
}

/// The first names of what it imports, wherever in it. Of a text that can't be read: none.
pub fn imported_modules(code: &str) -> BTreeSet<String> {
    imported(code).modules
}

/// The same, with the skills that it imports or loads.
pub fn imported(code: &str) -> Imported {
    // Most short programs do neither, and need not be parsed to know.
    if !code.contains("import") && !code.contains(LOAD) {
        return Imported::default();
    }
    let text = repaired(code).text;
    if text.len() > CODE_BYTES_MAX || is_too_deep(&text) {
        return Imported::default();
    }
    let parsed = parse_unchecked(&text, ParseOptions::from(Mode::Module));
    let Mod::Module(module) = parsed.syntax() else { return Imported::default() };
    let mut found = Imported::default();
    found.visit_body(&module.body);
    found
}

/// The same, where only these modules matter, and skills: a program that names none of them needs no parsing.
pub fn imported_of(code: &str, matters: impl Fn(&str) -> bool) -> Imported {
    if !may_import(code, &matters) {
        return Imported::default();
    }
    let mut found = imported(code);
    found.modules.retain(|module| matters(module));
    found
}

/// Whether a line that may be an import has the name of one of these modules, or of a skill.
fn may_import(code: &str, matters: impl Fn(&str) -> bool) -> bool {
    // A name may be written in other letters, and a line in several.
    if !code.is_ascii() || code.contains("\\\n") || code.contains("\\\r") || code.contains(LOAD) {
        return true;
    }
    code.split(['\n', '\r']).any(|line| {
        let words = || line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        words().any(|word| matches!(word, "import" | "from"))
            && words().any(|word| word == SKILLS || matters(word))
    })
}

impl Imported {
    fn add(&mut self, module: &str) {
        let mut parts = module.split('.');
        let top = parts.next().unwrap_or(module);
        if !top.is_empty() && self.modules.len() < NAMES_MAX {
            self.modules.insert(top.to_owned());
        }
        if let (SKILLS, Some(skill)) = (top, parts.next()) {
            self.add_skill(skill);
        }
    }

    fn add_skill(&mut self, name: &str) {
        if self.skills.len() < NAMES_MAX {
            self.skills.insert(name.to_owned());
        }
    }
}

impl Visitor<'_> for Imported {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.add(alias.name.as_str())),
            Stmt::ImportFrom(import) if import.level == 0 => {
                let Some(module) = &import.module else { return };
                self.add(module.as_str());
                if module.as_str() == SKILLS {
                    import.names.iter().for_each(|alias| self.add_skill(alias.name.as_str()));
                }
            }
            _ => visitor::walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &Expr) {
        if let Expr::Call(call) = expression
            && call.func.as_name_expr().is_some_and(|name| name.id.as_str() == LOAD)
            && let Some(Expr::StringLiteral(skill)) = call.arguments.args.first()
        {
            self.add_skill(skill.value.to_str());
        }
        visitor::walk_expr(self, expression);
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

    #[test]
    fn only_what_matters_is_looked_for_and_nothing_of_that_is_missed() {
        let matters = |module: &str| module == "numpy" || module == "pandas";
        for code in [
            "import json, re\nnumpy = 1\nresult = 'import json'",
            "import json; import numpy.linalg as la",
            "from numpy import (\n    array,\n)",
            "from \\\n    numpy import array",
            "import json, \\\r\n    pandas",
            "if x:\r\timport pandas\r",
            "import ｎｕｍｐｙ",
            "import numpy_financial",
            "x = 'numpy'",
            "```python\nimport pandas\n```",
            "from skills import dates",
            "f = load_skill(\n'monthly')",
            "",
        ] {
            let mut expected = imported(code);
            expected.modules.retain(|module| matters(module));
            assert_eq!(imported_of(code, matters), expected, "{code}");
        }
        assert!(!may_import("import json\nfrom re import sub\nnumpy = 1", matters));
    }

    #[test]
    fn skills_are_found_however_they_are_named() {
        let code = "from skills.totals import total\nimport skills.rates as r\nfrom skills import dates, names\n\
                    f = load_skill('monthly')\nload_skill(name)\nx = 'skills.not_this'\n";
        let found: Vec<String> = imported(code).skills.into_iter().collect();
        assert_eq!(found, ["dates", "monthly", "names", "rates", "totals"]);
    }
}
