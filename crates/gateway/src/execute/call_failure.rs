//! What a program is told about a call that failed.

use gristmill_domain::Code;
use gristmill_protocol::Completion;
use serde::Serialize;

use crate::analysis::AnalysisFailure;
use crate::ports::ToolFailure;
use crate::report::cut;

/// Words of a tool that go to the program; what is kept for the report is shorter.
const MESSAGE_CHARS_MAX: usize = 16 * 1024;
pub(super) const KEPT_MESSAGE_CHARS_MAX: usize = 500;

/// As the guest reads it.
#[derive(Serialize)]
struct FailurePayload<'a> {
    kind: &'a str,
    code: Code,
    message: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_safe: Option<bool>,
    /// In which step of an analysis, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    /// What the engine of analyses would do about it; its words are in the message, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// A failed call, in the guest's words.
pub(super) fn failure(id: u64, kind: &str, code: Code, message: &str, tool: &str) -> Completion {
    completion(id, &FailurePayload { kind, code, message, tool, retry_safe: None, step: None, hint: None })
}

/// A call of a tool that failed.
pub(super) fn tool_failure(id: u64, error: &ToolFailure, tool: &str) -> Completion {
    let (kind, retry_safe) = match error {
        ToolFailure::Unknown { .. } | ToolFailure::Ambiguous { .. } => ("unknown_tool", None),
        ToolFailure::BadArguments(_)
        | ToolFailure::Unfit { .. }
        | ToolFailure::UnknownOffer { .. }
        | ToolFailure::BadUri { .. } => ("bad_arguments", None),
        ToolFailure::Said(_) => ("tool", None),
        ToolFailure::Refused { .. } => ("policy", None),
        ToolFailure::Upstream { retry_safe, .. } => ("upstream", Some(*retry_safe)),
    };
    let code = error.code();
    let message = cut(&error.to_string(), MESSAGE_CHARS_MAX);
    completion(
        id,
        &FailurePayload { kind, code, message: &message, tool, retry_safe, step: None, hint: None },
    )
}

/// An analysis that failed, and its words.
pub(super) fn analysis_failure(id: u64, error: &AnalysisFailure, tool: &str) -> (Completion, String) {
    let words = cut(&words_of(error), MESSAGE_CHARS_MAX);
    let hint = error.hint.as_deref().map(|hint| cut(hint, KEPT_MESSAGE_CHARS_MAX));
    let failed = FailurePayload {
        kind: "analysis",
        code: error.code,
        message: &words,
        tool,
        retry_safe: None,
        step: error.step,
        hint: hint.as_deref(),
    };
    (completion(id, &failed), words)
}

/// What a program reads: where, what, and what to do.
fn words_of(failure: &AnalysisFailure) -> String {
    let step = failure.step.filter(|_| !failure.message.starts_with("step "));
    let step = step.map(|step| format!("step {step}: ")).unwrap_or_default();
    let hint = failure.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{step}{}{hint}", failure.message)
}

fn completion(id: u64, failed: &FailurePayload<'_>) -> Completion {
    let payload = serde_json::to_string(failed).unwrap_or_else(|_| "{}".to_owned());
    Completion { id, ok: false, payload }
}
