//! One check of one program, part by part.

use gristmill_domain::{HTTP_SERVER, format_bytes};
use oxc_ast::ast::Program;
use oxc_ast_visit::VisitJs;

use super::bindings::Bindings;
use super::calls::ToolUse;
use super::dangers::Dangers;
use super::flow::judge_tools;
use super::parse::{Trouble, unfenced, with_program};
use super::script::{Top, script};
use super::type_errors::{self, TypeReport};
use crate::check::{CODE_BYTES_MAX, not_checked};
use crate::dangers::hidden_text;
use crate::finding::{CheckReport, Findings};
use crate::guardrails::Guardrails;
use crate::lines::Lines;
use crate::modules::Modules;
use crate::rules::Rule;
use crate::tool_judge::{Judge, Words};
use crate::tool_names::ToolNames;

/// Everything that can be said about a TypeScript or JavaScript program before it runs.
pub fn check(code: &str, tools: &(dyn ToolNames + Sync), guardrails: &Guardrails) -> CheckReport {
    check_with_types(code, tools, guardrails, None)
}

/// The same, with what a type checker says about it.
pub fn check_with_types(
    code: &str,
    tools: &(dyn ToolNames + Sync),
    guardrails: &Guardrails,
    types: Option<&TypeReport>,
) -> CheckReport {
    let text = unfenced(code);
    let lines = Lines::of(&text);
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
    hidden_text(&text, &mut findings);
    let outcome = with_program(&text, |program| {
        // What can't become JavaScript is told, and what is too deep isn't walked any further.
        script(&text, program, Top::Forgotten)?;
        judge(program, (tools, guardrails), types.map(|types| (types, &lines)), &mut findings);
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(Trouble::Wrong(mistake)) => {
            findings.add(Rule::Syntax, mistake.range, mistake.message, mistake.hint);
        }
        // It can't run either.
        Err(Trouble::TooDeep(range)) => {
            let hint = Some("split long expressions".to_owned());
            findings.add(Rule::Syntax, range, "the program is nested too deeply".to_owned(), hint);
        }
    }
    findings.finish()
}

fn judge(
    program: &Program<'_>,
    (tools, guardrails): (&dyn ToolNames, &Guardrails),
    types: Option<(&TypeReport, &Lines<'_>)>,
    findings: &mut Findings<'_>,
) {
    let bindings = Bindings::of(program);
    let modules = Modules { guardrails };
    let has_hosts = tools.lookup().is_some_and(|lookup| {
        lookup.catalogue().servers.iter().any(|server| server.offer.name == HTTP_SERVER)
    });
    Dangers { bindings: &bindings, modules: &modules, findings, has_hosts }.visit_program(program);
    if let Some(lookup) = tools.lookup() {
        let judge = Judge { tools, lookup, words: Words::TypeScript, findings };
        let mut tool_use = ToolUse { judge, bindings: &bindings, seen: Vec::new() };
        judge_tools(program, &mut tool_use);
        let seen = tool_use.seen;
        if let Some((report, lines)) = types {
            type_errors::judge(report, &seen, lines, findings);
        }
    }
}
