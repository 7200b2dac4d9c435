//! One check of one program, part by part.

use gristmill_domain::format_bytes;
use ruff_python_ast::visitor::Visitor;
use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseError, ParseOptions, parse_unchecked};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::bindings::Bindings;
use crate::dangers::{Dangers, hidden_text};
use crate::finding::{CheckReport, Findings};
use crate::flow::judge_tools;
use crate::guardrails::Guardrails;
use crate::lines::Lines;
use crate::modules::Modules;
use crate::nesting::is_too_deep;
use crate::repaired::repaired;
use crate::rules::{Rule, Severity};
use crate::syntax::certain_mistake;
use crate::tools::{ToolNames, ToolUse};

/// Longer programs are mostly data, and their trees take many times their length in memory.
pub const CODE_BYTES_MAX: usize = 256 * 1024;

/// Everything that can be said about a program before it runs. Never fails: of what can't be read, nothing is
/// said but that.
pub fn check(code: &str, tools: &dyn ToolNames, guardrails: &Guardrails) -> CheckReport {
    let repaired = repaired(code);
    let text = repaired.text.as_ref();
    let lines = Lines::of(text);
    let mut findings = Findings::new(&lines);
    if text.len() > CODE_BYTES_MAX {
        let message = format!(
            "the program is {} long; at most {} are checked",
            format_bytes(text.len() as u64),
            format_bytes(CODE_BYTES_MAX as u64)
        );
        not_checked(message, "pass data in the context or in a file", &mut findings);
        return findings.finish();
    }
    hidden_text(text, &mut findings);
    if is_too_deep(text) {
        not_checked(
            "the program is nested too deeply to be checked".to_owned(),
            "split long expressions",
            &mut findings,
        );
        return findings.finish();
    }
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    if !parsed.errors().is_empty() {
        let mistake = certain_mistake(text, &lines, parsed.tokens(), parsed.errors());
        match mistake.filter(|_| !repaired.is_guess) {
            Some(mistake) => findings.add(Rule::Syntax, mistake.range, mistake.message, None),
            None => perhaps_a_mistake(&parsed.errors()[0], &mut findings),
        }
        // What stands around a mistake says little about what was meant.
        return findings.finish();
    }
    if let Mod::Module(module) = parsed.syntax() {
        judge(&module.body, tools, guardrails, &mut findings);
    }
    findings.finish()
}

/// What only Python decides: its words are better, and it runs into the mistake by itself.
fn perhaps_a_mistake(error: &ParseError, findings: &mut Findings<'_>) {
    let message = format!("this doesn't look like Python: {}", error.error);
    findings.add_as(Rule::Syntax, Severity::Medium, error.range(), message, None);
}

fn judge(body: &[Stmt], tools: &dyn ToolNames, guardrails: &Guardrails, findings: &mut Findings<'_>) {
    let bindings = Bindings::of(body);
    let modules = Modules { guardrails };
    Dangers { bindings: &bindings, modules: &modules, findings }.visit_body(body);
    if let Some(lookup) = tools.lookup() {
        judge_tools(body, &mut ToolUse { tools, lookup, bindings: &bindings, findings });
    }
}

fn not_checked(message: String, hint: &str, findings: &mut Findings<'_>) {
    let range = TextRange::at(TextSize::new(0), TextSize::new(0));
    findings.add(Rule::NotChecked, range, message, Some(hint.to_owned()));
}
