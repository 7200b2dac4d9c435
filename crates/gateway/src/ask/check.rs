//! Check: what is wrong with a program before it runs, and what it would call.

use gristmill_checks::{CheckReport, Finding, NamedTools, Severity};
use gristmill_domain::one_line;
use gristmill_domain::policy::Decision;
use gristmill_protocol::EngineId;

use super::course::Course;
use super::event::{AskEvent, AskedProgram, Preview, PreviewedTool};
use super::limits::TOLD_MAX;
use super::pick::Picked;
use super::words::is_request;
use super::write::Draft;
use crate::execute::{Types, check_only};

/// A program that may run as far as checks and rules go, and what it would call.
pub(super) struct Checked {
    pub program: AskedProgram,
    pub preview: Preview,
}

/// A program that may not.
pub(super) struct Unfit {
    pub program: AskedProgram,
    /// The words for whoever wrote it.
    pub why: String,
    /// The same for a person.
    pub told: String,
}

/// Looks at a program without running it.
pub(super) async fn check(course: &mut Course, picked: &Picked, draft: Draft) -> Result<Checked, Unfit> {
    let program = draft.program;
    let core = &course.world.core;
    let tools = std::sync::Arc::clone(&picked.tools);
    let report = check_only(core, program.engine, program.code.clone(), tools, Types::Checked).await;
    let (guardrails, level) = (std::sync::Arc::clone(&core.guardrails), course.level());
    let is_refused = |finding: &&Finding| guardrails.refuses(level, finding);
    let refused: Vec<Finding> = report.findings.iter().filter(is_refused).cloned().collect();
    let CheckReport { findings, more } = report;
    course.last.findings.clone_from(&findings);
    let is_strange = findings.iter().any(|finding| finding.severity >= Severity::High);
    course.tell(AskEvent::Checked { findings, more, is_refused: !refused.is_empty() }).await;
    if !refused.is_empty() {
        return Err(Unfit { program, why: words_of(&refused), told: told_of(&refused) });
    }
    let preview = preview(course, picked, &program, is_strange).await;
    let denied: Vec<&str> = preview
        .tools
        .iter()
        .filter(|tool| tool.decision == Some(Decision::Deny))
        .map(|tool| tool.name.as_str())
        .collect();
    if !denied.is_empty() {
        let why = format!(
            "The program was refused before it ran: the user's policy denies {}. Do the task without, or say in one \
             sentence that it can't be done.",
            denied.join(", ")
        );
        let told = format!("your policy denies {}", denied.join(", "));
        return Err(Unfit { program, told, why });
    }
    Ok(Checked { program, preview })
}

/// What a program would call, each with what the policy says.
async fn preview(course: &mut Course, picked: &Picked, program: &AskedProgram, is_strange: bool) -> Preview {
    let named = named_tools(program.engine, program.code.clone()).await;
    let caller = &course.request.caller;
    let look = |name: &String| match picked.find(name) {
        Some((server, tool)) => PreviewedTool {
            name: format!("{}.{}", server.offer.name, tool.definition.name),
            decision: Some(picked.tools.decision_about(caller, server, tool)),
            // What a request tells a host has left this machine, whatever comes back.
            is_read_only: tool.definition.read_only == Some(true) && !is_request(&server.offer.name),
            hosts: hosts_of(&named, name),
        },
        None => PreviewedTool { name: name.clone(), decision: None, is_read_only: false, hosts: Vec::new() },
    };
    let mut tools: Vec<PreviewedTool> = named.names.iter().map(look).collect();
    tools.dedup();
    let may_call_others = named.may_call_others || is_strange;
    let reads = |tool: &PreviewedTool| tool.is_read_only && tool.decision == Some(Decision::Allow);
    // What passes no door can't be held to it, and a session's files and state are the user's.
    let only_reads = (course.request.session.is_none() || course.request.session_is_open)
        && !may_call_others
        && picked.tools.holds_writes()
        && tools.iter().all(reads);
    let preview = Preview { tools, may_call_others, only_reads };
    course.last.preview = Some(preview.clone());
    course.tell(AskEvent::Preview(preview.clone())).await;
    preview
}

/// Where the requests of a tool go.
fn hosts_of(named: &NamedTools, tool: &str) -> Vec<String> {
    named.hosts.get(tool).into_iter().flatten().take(TOLD_MAX).map(|host| one_line(host, 253)).collect()
}

/// Off the runtime: a hostile text may take a while.
async fn named_tools(engine: EngineId, code: String) -> NamedTools {
    let named = tokio::task::spawn_blocking(move || match engine {
        EngineId::Python | EngineId::Native => gristmill_checks::named_tools(&code),
        EngineId::TypeScript => gristmill_checks::typescript::named_tools(&code),
    });
    named.await.unwrap_or(NamedTools { may_call_others: true, ..NamedTools::default() })
}

/// The first of them; all were shown when they were found.
fn told_of(refused: &[Finding]) -> String {
    match refused.first() {
        Some(Finding { line, rule, message, .. }) => {
            format!("line {line}: {rule}: {}", one_line(message, 300))
        }
        None => "a check refused it".to_owned(),
    }
}

fn words_of(refused: &[Finding]) -> String {
    let mut words = String::from("The program was refused before it ran:");
    for Finding { line, rule, message, hint, .. } in refused.iter().take(TOLD_MAX) {
        let hint = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        words.push_str(&format!("\nline {line}: {rule}: {message}{hint}"));
    }
    words
}
