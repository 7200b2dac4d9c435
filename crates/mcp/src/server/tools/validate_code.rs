//! `validate_code`: what can be said about a program without running it.

use gristmill_gateway::checks::{CheckReport, Finding, Rule};
use gristmill_gateway::domain::Code;
use gristmill_gateway::{engine_for, is_javascript};
use serde::Deserialize;
use serde_json::json;

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, objects, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

/// Findings of one answer; the rest is counted.
const SHOWN_MAX: usize = 20;

pub(super) static VALIDATE_CODE: OwnTool = OwnTool {
    name: "validate_code",
    title: "Check a program",
    description: include_str!("validate_code.md"),
    input: Input {
        properties: |_| json!({"code": text(), "language": text()}),
        required: &["code"],
        shown_in_full_only: &[],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || json!({"valid": {"type": "boolean"}, "findings": objects()}),
        required: &["valid", "findings"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Full,
    scopes: &[],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(validate_code(server, call))),
};

#[derive(Debug, Deserialize)]
struct Arguments {
    code: String,
    #[serde(default)]
    language: Option<String>,
}

async fn validate_code(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let arguments: Arguments = read_arguments(call.arguments)?;
    let (gateway, caller) = (&server.parts.gateway, &call.requester.caller);
    let engine = engine_for(arguments.language.as_deref(), &arguments.code)
        .map_err(|error| Answer::refused(Code::BadRequest, &error.to_string(), None))?;
    let report = match arguments.language.as_deref().is_some_and(is_javascript) {
        true => gateway.check_without_types(Some(caller), engine, &arguments.code).await,
        false => gateway.check(Some(caller), engine, &arguments.code).await,
    };
    let (guardrails, level) = (gateway.guardrails(), gateway.limits().level());
    let is_refused = |finding: &Finding| finding.rule == Rule::Syntax || guardrails.refuses(level, finding);
    let is_valid = !report.findings.iter().any(is_refused);
    let shown: Vec<&Finding> = report.findings.iter().take(SHOWN_MAX).collect();
    let structured = json!({"valid": is_valid, "findings": shown});
    Ok(Answer { text: told(&report, is_valid), structured, is_error: false })
}

fn told(report: &CheckReport, is_valid: bool) -> String {
    let mut text = String::from(if is_valid { "valid" } else { "not valid" });
    for Finding { rule, severity, line, message, hint, .. } in report.findings.iter().take(SHOWN_MAX) {
        text.push_str(&format!("\nline {line}: {rule} {severity}: {message}"));
        if let Some(hint) = hint {
            text.push_str(&format!("; {hint}"));
        }
    }
    let more = report.findings.len().saturating_sub(SHOWN_MAX) + report.more;
    if more > 0 {
        text.push_str(&format!("\nand {more} more"));
    }
    text
}
