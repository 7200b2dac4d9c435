//! Answers as the protocol has them: those about executions that have ended are made by the gateway,
//! those about what still runs, and about everything else, here.

use std::fmt::Write;

use gristmill_gateway::answer::{self, fit};
use gristmill_gateway::domain::Code;
use gristmill_gateway::ids::ExecutionId;
use gristmill_gateway::service::Progress;
use gristmill_gateway::skills::SkillError;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// What of a server's question is shown while it waits for its answer.
const QUESTION_TOKENS_MAX: usize = 200;

/// An answer on its way.
pub(super) struct Answer {
    pub text: String,
    pub structured: Value,
    pub is_error: bool,
}

impl Answer {
    /// Something that was asked for wrongly, in words that say what to do.
    pub fn refused(code: Code, message: &str, hint: Option<&str>) -> Self {
        let answer::Answer { text, structured, is_error, .. } = answer::refused(code, message, hint);
        Self { text, structured, is_error }
    }

    pub fn into_result(self) -> CallToolResult {
        let content = vec![ContentBlock::text(self.text.trim_end())];
        result_of(content, self.structured, self.is_error)
    }
}

impl From<SkillError> for Answer {
    fn from(error: SkillError) -> Self {
        Answer::refused(error.code(), &error.to_string(), None)
    }
}

/// What is said about an execution that has ended, with its images.
pub(super) fn of_execution(answer: &answer::Answer) -> CallToolResult {
    let images = answer.files.iter().map(|file| ContentBlock::image(file.base64.clone(), file.media_type));
    let content = std::iter::once(ContentBlock::text(answer.text.as_str())).chain(images).collect();
    result_of(content, answer.structured.clone(), answer.is_error)
}

fn result_of(content: Vec<ContentBlock>, structured: Value, is_error: bool) -> CallToolResult {
    let mut result = match is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    result.structured_content = Some(structured);
    result
}

/// A program that was started and is not waited for.
pub(super) fn started(id: &ExecutionId) -> Answer {
    let text = format!("Started. {}", follow_up(id));
    let structured = json!({"status": "running", "id": id.as_str(), "notes": [text]});
    Answer { text, structured, is_error: false }
}

fn follow_up(id: &ExecutionId) -> String {
    format!("Call get_execution with id \"{id}\" to wait for it, or add cancel to stop it.")
}

/// A program that still runs.
pub(super) fn of_progress(id: &ExecutionId, progress: &Progress) -> Answer {
    let seconds = progress.elapsed.as_secs_f64();
    let mut text = format!(
        "Still running after {seconds:.1} s, {} of {} tool calls answered{}.\n",
        progress.calls_answered,
        progress.calls_begun,
        if progress.doing.is_empty() { String::new() } else { format!(", last: {}", progress.doing) }
    );
    let mut notes = vec![text.trim_end().to_owned()];
    for pending in &progress.questions {
        let asked = format!(
            "The server {} asks the user: {}",
            pending.question.server,
            fit::beginning(&pending.question.message, QUESTION_TOKENS_MAX).text
        );
        let _ = writeln!(text, "{asked}");
        notes.push(asked);
    }
    let next = follow_up(id);
    let _ = writeln!(text, "{next}");
    notes.push(next);
    let mut structured = json!({"status": progress.status.as_str(), "id": id.as_str(), "notes": notes});
    if !progress.output_tail.is_empty() {
        let _ = writeln!(text, "Printed last:\n{}", progress.output_tail.trim_end());
        structured["output"] = json!(progress.output_tail);
    }
    Answer { text, structured, is_error: false }
}
