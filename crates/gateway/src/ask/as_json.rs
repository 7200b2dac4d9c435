//! What came of a sentence, as JSON.

use serde_json::{Value, json};

use super::event::{AskEnding, Asked, AskedProgram, Author, Preview, PreviewedTool};
use super::words::is_request;
use crate::answer::without_bytes;

impl Asked {
    /// What `gristmill ask --json` prints.
    pub fn as_json(&self) -> Value {
        let report = self.report.as_deref();
        let value = report.and_then(|report| report.result.as_ref());
        json!({
            "status": self.ending.as_str(),
            "value": value.map(|value| without_bytes(value).into_owned()),
            "program": self.program.as_ref().map(AskedProgram::as_json),
            "findings": self.findings,
            "calls": self.preview.as_ref().map(Preview::as_json),
            "output": report.map(|report| report.stdout.as_str()),
            "error": self.error_as_json(),
            "execution": self.execution.as_ref().map(|id| id.as_str()),
            "attempts": self.attempts,
            "tokens": {"input": self.spent.tokens.input, "output": self.spent.tokens.output},
            "price_usd": self.spent.price,
            "written_at_servers": self.made,
            "notes": self.reasons,
            "nearest_tools": self.nearest,
        })
    }

    /// The program's own error; or why there is none, or why it may not run, which has no code.
    fn error_as_json(&self) -> Value {
        if let Some(error) = self.report.as_deref().and_then(|report| report.error.as_ref()) {
            return json!(error);
        }
        let kind = match self.ending {
            AskEnding::NotWritten => "not_written",
            AskEnding::Failed => "refused",
            AskEnding::Finished | AskEnding::Written | AskEnding::NoConsent | AskEnding::Cancelled => {
                return Value::Null;
            }
        };
        let message = self.failure.as_deref().unwrap_or("nobody wrote a program");
        json!({
            "code": null, "kind": kind, "message": message, "line": null, "traceback": null, "hint": null,
        })
    }
}

impl AskedProgram {
    fn as_json(&self) -> Value {
        let (provider, model) = match &self.author {
            Author::Model(name) => (name.provider.as_str(), Some(name.model.as_str())),
            Author::Rules => ("rules", None),
        };
        json!({
            "language": self.engine.name(),
            "code": self.code,
            "provider": provider,
            "model": model,
            "assumptions": self.assumptions,
        })
    }
}

impl Preview {
    /// As it is written in answers.
    pub fn as_json(&self) -> Value {
        json!({
            "tools": self.tools.iter().map(PreviewedTool::as_json).collect::<Vec<_>>(),
            "may_call_others": self.may_call_others,
            "only_reads": self.only_reads,
        })
    }
}

impl PreviewedTool {
    fn as_json(&self) -> Value {
        json!({
            "tool": self.name,
            "policy": self.decision.map(|decision| decision.as_str()),
            "read_only": self.is_read_only,
            "request": is_request(&self.name),
            "hosts": self.hosts,
        })
    }
}
