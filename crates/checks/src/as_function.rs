//! A program as a function that other programs import.

use std::collections::HashSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprContext, Mod, Stmt};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange};

use crate::check::CODE_BYTES_MAX;
use crate::lines::Lines;
use crate::nesting::is_too_deep;

/// What the function is called, in every language.
pub const FUNCTION_NAME: &str = "run";

/// What is set in within it.
const INDENT: &str = "    ";

/// A program that can't be one function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAFunction {
    #[error("it can't be parsed")]
    Unreadable,
    #[error("line {line}: {what} works only at the top of a program")]
    OnlyAtTop { line: usize, what: &'static str },
}

/// The Python program as `async def run()`, which gives what the program's result would be.
pub fn as_function(code: &str) -> Result<String, NotAFunction> {
    if code.len() > CODE_BYTES_MAX || is_too_deep(code) {
        return Err(NotAFunction::Unreadable);
    }
    let parsed = parse_unchecked(code, ParseOptions::from(Mode::Module));
    let Mod::Module(module) = parsed.syntax() else { return Err(NotAFunction::Unreadable) };
    if !parsed.errors().is_empty() || module.body.is_empty() {
        return Err(NotAFunction::Unreadable);
    }
    let lines = Lines::of(code);
    let mut scan = Scan { lines: &lines, verbatim: HashSet::new(), only_at_top: None };
    scan.visit_body(&module.body);
    if let Some((line, what)) = scan.only_at_top {
        return Err(NotAFunction::OnlyAtTop { line, what });
    }
    let returned = returned(&module.body);
    let mut made = format!("async def {FUNCTION_NAME}():\n");
    let mut at = 0;
    for (index, line) in code.split_inclusive('\n').enumerate() {
        let is_verbatim = scan.verbatim.contains(&(index + 1)) || line.trim().is_empty();
        made.push_str(if is_verbatim { "" } else { INDENT });
        match &returned {
            Returned::Expression(range) if (at..at + line.len()).contains(&range.start().to_usize()) => {
                let (before, after) = line.split_at(range.start().to_usize() - at);
                made.push_str(before);
                made.push_str("return ");
                made.push_str(after);
            }
            Returned::Expression(_) | Returned::Variable | Returned::Nothing => made.push_str(line),
        }
        at += line.len();
    }
    if !made.ends_with('\n') {
        made.push('\n');
    }
    if matches!(returned, Returned::Variable) {
        made.push_str(INDENT);
        made.push_str("return result\n");
    }
    Ok(made)
}

/// What a program's result is.
enum Returned {
    /// The variable `result`.
    Variable,
    /// The value of its last line.
    Expression(TextRange),
    Nothing,
}

fn returned(body: &[Stmt]) -> Returned {
    if body.iter().any(binds_result) {
        return Returned::Variable;
    }
    match body.last() {
        Some(Stmt::Expr(last)) => Returned::Expression(last.range()),
        Some(_) | None => Returned::Nothing,
    }
}

/// Whether a statement at the top binds `result`, in whichever branch.
fn binds_result(stmt: &Stmt) -> bool {
    struct Finder(bool);
    impl<'a> Visitor<'a> for Finder {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            // What is bound in there stays there.
            if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
                visitor::walk_stmt(self, stmt);
            }
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr {
                self.0 |= name.ctx == ExprContext::Store && name.id.as_str() == "result";
            }
            visitor::walk_expr(self, expr);
        }
    }
    let mut finder = Finder(false);
    finder.visit_stmt(stmt);
    finder.0
}

/// Lines that can't be set in, and what can't stand in a function.
struct Scan<'l> {
    lines: &'l Lines<'l>,
    /// Lines that begin within a text.
    verbatim: HashSet<usize>,
    only_at_top: Option<(usize, &'static str)>,
}

impl Scan<'_> {
    fn keep_lines_of(&mut self, range: TextRange) {
        let (first, last) = (self.lines.line_of(range.start()), self.lines.line_of(range.end()));
        self.verbatim.extend(first + 1..=last);
    }
}

impl<'a> Visitor<'a> for Scan<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let what = match stmt {
            Stmt::Global(_) => Some("`global`"),
            Stmt::ImportFrom(import) if import.names.iter().any(|alias| alias.name.as_str() == "*") => {
                Some("`import *`")
            }
            Stmt::ImportFrom(import)
                if import.module.as_ref().is_some_and(|module| module.as_str() == "__future__") =>
            {
                Some("`from __future__`")
            }
            _ => None,
        };
        if let (Some(what), None) = (what, self.only_at_top) {
            self.only_at_top = Some((self.lines.line_of(stmt.range().start()), what));
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if matches!(
            expr,
            Expr::StringLiteral(_) | Expr::BytesLiteral(_) | Expr::FString(_) | Expr::TString(_)
        ) {
            self.keep_lines_of(expr.range());
        }
        visitor::walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(code: &str, expected: &str) {
        assert_eq!(as_function(code).as_deref(), Ok(expected), "{code}");
    }

    #[test]
    fn the_last_value_or_the_variable_result_is_returned() {
        check("1 + 1", "async def run():\n    return 1 + 1\n");
        check("x = 1\nx\n", "async def run():\n    x = 1\n    return x\n");
        check(
            "result = await f()\nprint(1)",
            "async def run():\n    result = await f()\n    print(1)\n    return result\n",
        );
        check(
            "if a:\n    result = 1\nelse:\n    result = 2",
            "async def run():\n    if a:\n        result = 1\n    else:\n        result = 2\n    return result\n",
        );
        check(
            "def f():\n    result = 1\nx = 2",
            "async def run():\n    def f():\n        result = 1\n    x = 2\n",
        );
        check("a = 1; a", "async def run():\n    a = 1; return a\n");
    }

    #[test]
    fn texts_over_several_lines_stay_as_they_are() {
        check("x = '''a\n  b\n'''\n\nx", "async def run():\n    x = '''a\n  b\n'''\n\n    return x\n");
    }

    #[test]
    fn what_works_only_at_the_top_is_refused_with_its_line() {
        let at = |line, what| Err(NotAFunction::OnlyAtTop { line, what });
        assert_eq!(as_function("x = 1\ndef f():\n    global x\n    x = 2"), at(3, "`global`"));
        assert_eq!(as_function("from servers.crm import *\n1"), at(1, "`import *`"));
        assert_eq!(as_function("x ="), Err(NotAFunction::Unreadable));
    }
}
