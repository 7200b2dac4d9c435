//! One check of one program, part by part: first what its text says by itself, then what it makes of tools.

use gristmill_domain::format_bytes;
use ruff_python_ast::{Mod, Stmt};
use ruff_python_parser::{Mode, ParseError, ParseOptions, Parsed, parse_unchecked};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::bindings::Bindings;
use crate::dangers::{Dangers, hidden_text};
use crate::finding::{CheckReport, Findings, Found};
use crate::flow::judge_tools;
use crate::guardrails::Guardrails;
use crate::lines::Lines;
use crate::modules::Modules;
use crate::nesting::is_too_deep;
use crate::repaired::repaired;
use crate::rules::{Rule, Severity};
use crate::syntax::certain_mistake;
use crate::tool_judge::{Judge, Words};
use crate::tool_names::ToolNames;
use crate::tools::{ToolPlaces, ToolUse};

/// Longer programs are mostly data, and their trees take many times their length in memory.
pub const CODE_BYTES_MAX: usize = 256 * 1024;

/// Everything that can be said about a program before it runs. Never fails: of what can't be read, nothing is
/// said but that.
pub fn check(code: &str, tools: &dyn ToolNames, guardrails: &Guardrails) -> CheckReport {
    ReadProgram::read(code, guardrails).check(tools)
}

/// A program that was read, and what was found in it whichever tools there are.
pub struct ReadProgram {
    text: String,
    /// `None` if nothing more is said about it.
    parsed: Option<Parsed<Mod>>,
    bindings: Bindings,
    tool_places: ToolPlaces,
    found: Vec<Found>,
}

impl ReadProgram {
    pub fn read(code: &str, guardrails: &Guardrails) -> Self {
        let repaired = repaired(code);
        let (text, is_guess) = (repaired.text.into_owned(), repaired.is_guess);
        let lines = Lines::of(&text);
        let mut findings = Findings::new(&lines);
        let parsed = parsed(&text, &lines, is_guess, &mut findings);
        let (mut bindings, mut tool_places) = Default::default();
        if let Some(body) = parsed.as_ref().and_then(body_of) {
            let (bound, noted) = Bindings::with_noted(body);
            let modules = Modules { guardrails };
            Dangers { bindings: &bound, modules: &modules, findings: &mut findings }.judge(&noted);
            (tool_places, bindings) = (ToolPlaces::of(&noted, &bound), bound);
        }
        let found = findings.into_found();
        Self { text, parsed, bindings, tool_places, found }
    }

    /// With what it makes of these tools.
    pub fn check(self, tools: &dyn ToolNames) -> CheckReport {
        let Self { text, parsed, bindings, tool_places, found } = self;
        let lines = Lines::of(&text);
        let mut findings = Findings::with(&lines, found);
        let body = parsed.as_ref().and_then(body_of).filter(|_| !tool_places.is_empty());
        if let (Some(body), Some(lookup)) = (body, tools.lookup()) {
            let judge = Judge { tools, lookup, words: Words::Python, findings: &mut findings };
            judge_tools(body, &mut ToolUse { judge, bindings: &bindings, places: &tool_places });
        }
        findings.finish()
    }
}

/// The tree of a program, if that says more than its mistakes.
fn parsed(text: &str, lines: &Lines<'_>, is_guess: bool, findings: &mut Findings<'_>) -> Option<Parsed<Mod>> {
    if text.len() > CODE_BYTES_MAX {
        let message = format!(
            "the program is {} long; at most {} are checked",
            format_bytes(text.len() as u64),
            format_bytes(CODE_BYTES_MAX as u64)
        );
        not_checked(message, "pass data in the context or in a file", findings);
        return None;
    }
    hidden_text(text, findings);
    if is_too_deep(text) {
        let message = "the program is nested too deeply to be checked".to_owned();
        not_checked(message, "split long expressions", findings);
        return None;
    }
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    if parsed.errors().is_empty() {
        return Some(parsed);
    }
    let mistake = certain_mistake(text, lines, parsed.tokens(), parsed.errors());
    match mistake.filter(|_| !is_guess) {
        Some(mistake) => findings.add(Rule::Syntax, mistake.range, mistake.message, None),
        None => perhaps_a_mistake(&parsed.errors()[0], findings),
    }
    // What stands around a mistake says little about what was meant.
    None
}

fn body_of(parsed: &Parsed<Mod>) -> Option<&[Stmt]> {
    match parsed.syntax() {
        Mod::Module(module) => Some(&module.body),
        Mod::Expression(_) => None,
    }
}

/// What only Python decides: its words are better, and it runs into the mistake by itself.
fn perhaps_a_mistake(error: &ParseError, findings: &mut Findings<'_>) {
    let message = format!("this doesn't look like Python: {}", error.error);
    findings.add_as(Rule::Syntax, Severity::Medium, error.range(), message, None);
}

pub(crate) fn not_checked(message: String, hint: &str, findings: &mut Findings<'_>) {
    let range = TextRange::at(TextSize::new(0), TextSize::new(0));
    findings.add(Rule::NotChecked, range, message, Some(hint.to_owned()));
}
