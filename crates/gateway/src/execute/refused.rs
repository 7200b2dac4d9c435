//! Refused: a program that a check ends before it runs, as its language would tell it.

use gristmill_checks::{Finding, Rule};
use gristmill_domain::{Code, Level};
use gristmill_protocol::EngineId;

use super::admit::Admitted;
use crate::report::Refusal;

/// Longer programs are checked beside everything else that the runtime does.
pub(super) const AT_ONCE_BYTES_MAX: usize = 16 * 1024;

/// What a program is called that has no name of its own; the guests call it so, too.
fn filename_of(engine: EngineId) -> &'static str {
    match engine {
        EngineId::Python | EngineId::Native => "program.py",
        EngineId::TypeScript => "program.ts",
    }
}

/// A program that can't become what its engine takes.
pub(super) fn syntax_refusal(finding: &Finding, admitted: &Admitted) -> Refusal {
    let findings = vec![finding.clone()];
    refusal(finding, (admitted.engine, &admitted.filename), findings, admitted.limits.level())
}

pub(super) fn refusal(
    finding: &Finding,
    (engine, filename): (EngineId, &str),
    findings: Vec<Finding>,
    level: Level,
) -> Refusal {
    let code = code_of(finding.rule);
    let filename = if filename.is_empty() { filename_of(engine) } else { filename };
    let kind = match (code, engine) {
        (Code::Guardrail, _) => None,
        (Code::Syntax, _) => Some("SyntaxError"),
        (Code::MissingModule, EngineId::Python | EngineId::Native) => Some("ModuleNotFoundError"),
        (Code::MissingModule, EngineId::TypeScript) => Some("Error"),
        _ => Some("ToolError"),
    };
    let traceback = kind.map(|kind| traceback(finding, (engine, filename), kind));
    let mut told = finding.clone();
    if code == Code::Guardrail {
        told.message = format!("{} ({} {}); nothing ran", finding.message, finding.rule, finding.severity);
        let why = match finding.rule {
            Rule::DeniedModule | Rule::ModuleNotAllowed => None,
            _ => Some(format!(
                "refused at level {level}; rewrite the line, or ask the user, who can change `guardrails`"
            )),
        };
        told.hint = told.hint.or(why);
    }
    Refusal::by_check(code, &told, traceback, findings)
}

/// As the language writes it.
fn traceback(finding: &Finding, (engine, filename): (EngineId, &str), kind: &str) -> String {
    let marked = finding.marked("    ");
    let gap = if marked.is_empty() { "" } else { "\n" };
    let place = match engine {
        EngineId::Python | EngineId::Native => format!("  File \"{filename}\", line {}", finding.line),
        EngineId::TypeScript => format!("{filename}:{}:{}", finding.line, finding.column),
    };
    format!("{place}\n{marked}{gap}{kind}: {}", finding.message)
}

fn code_of(rule: Rule) -> Code {
    match rule {
        Rule::Syntax => Code::Syntax,
        // Only an import names a server alone.
        Rule::UnknownServer => Code::MissingModule,
        Rule::UnknownTool => Code::UnknownTool,
        Rule::BadArguments | Rule::WrongType => Code::BadCall,
        _ => Code::Guardrail,
    }
}
