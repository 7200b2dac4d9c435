//! Check: what is wrong with the program for certain is told before a worker is spent on it, and what is
//! suspicious in it is noted.

use std::sync::Arc;

use gristmill_checks::{CheckReport, Finding, Guardrails, Rule, ToolNames};
use gristmill_domain::catalogue::{Lookup, Server, Tool};
use gristmill_domain::validate::ArgumentCheck;
use gristmill_domain::{Code, Level};

use super::prepare::{CheckedFor, Prepared};
use super::{Core, Lease};
use crate::ports::Tools;
use crate::report::Refusal;

/// What a program is called that has no name of its own; the guest calls it so, too.
const FILENAME: &str = "program.py";

/// Longer programs are checked beside everything else that the runtime does.
const AT_ONCE_BYTES_MAX: usize = 16 * 1024;

/// A program that may have a worker.
pub(super) struct Checked {
    pub prepared: Prepared,
    /// What is recorded about it.
    pub findings: Vec<Finding>,
}

pub(super) async fn check(core: &Core, mut prepared: Prepared) -> Result<Checked, Refusal> {
    if !core.checks_programs || prepared.checked_for == CheckedFor::Nobody {
        return Ok(Checked { prepared, findings: Vec::new() });
    }
    let code = std::mem::take(&mut prepared.code);
    let tools = tools_of(&prepared);
    let report = checked(code, tools, Arc::clone(&core.guardrails)).await;
    let level = prepared.limits.level();
    let refused = report.findings.iter().find(|finding| core.guardrails.refuses(level, finding)).cloned();
    let findings: Vec<Finding> =
        report.findings.into_iter().filter(|finding| core.guardrails.records(level, finding)).collect();
    match refused {
        None => Ok(Checked { prepared, findings }),
        Some(finding) => Err(refusal(&finding, &prepared.filename, findings, level)),
    }
}

/// What can be said about a program without running it, with these tools.
pub fn check_program(code: &str, tools: &dyn Tools, guardrails: &Guardrails) -> CheckReport {
    gristmill_checks::check(code, &Named(tools), guardrails)
}

/// The check of a program that nobody runs.
pub(crate) async fn check_only(core: &Core, code: String, tools: Arc<dyn Tools>) -> CheckReport {
    checked(code, Some(tools), Arc::clone(&core.guardrails)).await
}

async fn checked(code: String, tools: Option<Arc<dyn Tools>>, guardrails: Arc<Guardrails>) -> CheckReport {
    let is_short = code.len() <= AT_ONCE_BYTES_MAX;
    let work = move || match &tools {
        Some(tools) => gristmill_checks::check(&code, &Named(tools.as_ref()), &guardrails),
        None => gristmill_checks::check(&code, &gristmill_checks::NoTools, &guardrails),
    };
    match is_short {
        true => work(),
        // A check that fails altogether has found nothing: it is a help, and no wall.
        false => tokio::task::spawn_blocking(work).await.unwrap_or_default(),
    }
}

/// The tools that the program will find.
fn tools_of(prepared: &Prepared) -> Option<Arc<dyn Tools>> {
    let kept = prepared.lease.as_ref().and_then(Lease::kept).map(|kept| &kept.belongings);
    prepared.home.belongings().or(kept).map(|belongings| Arc::clone(&belongings.given.tools))
}

struct Named<'a>(&'a dyn Tools);

impl ToolNames for Named<'_> {
    fn lookup(&self) -> Option<&Lookup> {
        self.0.lookup()
    }

    fn is_certainly_unknown(&self, server: Option<&str>, tool: Option<&str>) -> bool {
        self.0.is_certainly_unknown(server, tool)
    }

    fn argument_check(&self, server: &Server, tool: &Tool) -> Option<Arc<ArgumentCheck>> {
        self.0.argument_check(server, tool)
    }
}

fn refusal(finding: &Finding, filename: &str, findings: Vec<Finding>, level: Level) -> Refusal {
    let code = code_of(finding.rule);
    let filename = if filename.is_empty() { FILENAME } else { filename };
    let traceback = match code {
        Code::Guardrail => None,
        Code::Syntax => Some(traceback(finding, filename, "SyntaxError")),
        Code::MissingModule => Some(traceback(finding, filename, "ModuleNotFoundError")),
        _ => Some(traceback(finding, filename, "ToolError")),
    };
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

/// As Python writes it.
fn traceback(finding: &Finding, filename: &str, kind: &str) -> String {
    let marked = finding.marked("    ");
    let gap = if marked.is_empty() { "" } else { "\n" };
    format!("  File \"{filename}\", line {}\n{marked}{gap}{kind}: {}", finding.line, finding.message)
}

fn code_of(rule: Rule) -> Code {
    match rule {
        Rule::Syntax => Code::Syntax,
        // Only an import names a server alone.
        Rule::UnknownServer => Code::MissingModule,
        Rule::UnknownTool => Code::UnknownTool,
        Rule::BadArguments => Code::BadCall,
        _ => Code::Guardrail,
    }
}
