//! `read_result`: a part of a whole value that an answer had no room for.

use gristmill_gateway::access::Scope;
use gristmill_gateway::answer::fit;
use gristmill_gateway::domain::result_path::Slice;
use gristmill_gateway::domain::shape::Strategy;
use gristmill_gateway::domain::{Code, one_line};
use gristmill_gateway::results::ReadPart;
use gristmill_gateway::tokens;
use serde::Deserialize;
use serde_json::{Number, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text, texts};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

pub(super) static READ_RESULT: OwnTool = OwnTool {
    name: "read_result",
    title: "Read a result",
    description: include_str!("read_result.md"),
    input: Input {
        properties: |_| {
            json!({
                "handle": text(),
                "path": {"type": "string", "description": "rows[3].name"},
                "offset": integer(),
                "limit": integer(),
            })
        },
        required: &["handle"],
        shown_in_full_only: &[],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || {
            json!({
                "handle": text(),
                "path": text(),
                "value": {},
                "total": integer(),
                "counted": text(),
                "next_offset": integer(),
                "notes": texts(),
            })
        },
        required: &["handle", "value", "total"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Standard,
    scopes: &[Scope::Execute],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(read_result(server, call))),
};

/// What a part may take of a model's context, as an answer may.
const TOKENS_MAX: usize = 1_000;

/// What everything beside the value and the path takes: the handle, numbers, names of members, and the
/// note that says which part it is.
const FRAME_TOKENS: usize = 110;

/// What is said again of a path.
const PATH_TOKENS_MAX: usize = 80;

/// Notes about what was left out; the value itself is marked at every place.
const NOTES_MAX: usize = 5;

#[derive(Deserialize)]
struct Arguments {
    handle: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    offset: Option<Number>,
    #[serde(default)]
    limit: Option<Number>,
}

/// A part of one of the caller's results.
async fn read_result(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let arguments: Arguments = read_arguments(call.arguments)?;
    let slice = slice(&arguments)?;
    let Some(results) = server.parts.gateway.results() else {
        let hint = "write what you need later to a file in /workspace";
        return Err(Answer::refused(Code::BadRequest, "this gateway doesn't keep results", Some(hint)));
    };
    let path = fit::beginning(&one_line(&arguments.path, 200), PATH_TOKENS_MAX).text;
    let frame = FRAME_TOKENS + tokens::count(&json!(path).to_string());
    let budget = (Strategy::Auto, TOKENS_MAX.saturating_sub(frame));
    let owner = &call.requester.owner;
    let veil = server.veil(&call.requester.caller);
    match results.read(owner, &arguments.handle, &arguments.path, slice, budget, veil.as_ref()).await {
        Ok(part) => {
            results.note_read(&server.reader(&call.requester).await, &part.stored).await;
            Ok(of_part(&part, &path))
        }
        Err(error) => Err(Answer::refused(error.code(), &error.to_string(), error.hint().as_deref())),
    }
}

/// Which items, members or characters are meant.
fn slice(arguments: &Arguments) -> Result<Slice, Answer> {
    let number = |name: &str, asked: Option<&Number>, least: u64| match asked {
        None => Ok(None),
        Some(asked) => asked.as_u64().filter(|asked| *asked >= least).map(Some).ok_or_else(|| {
            let asked = one_line(&asked.to_string(), 24);
            let message = format!("{name} is {asked}; it must be a whole number, {least} or more");
            Answer::refused(Code::BadRequest, &message, None)
        }),
    };
    let offset = number("offset", arguments.offset.as_ref(), 0)?.unwrap_or(0);
    Ok(Slice { offset, limit: number("limit", arguments.limit.as_ref(), 1)? })
}

fn of_part(part: &ReadPart, path: &str) -> Answer {
    let mut structured = json!({
        "handle": part.stored.handle,
        "value": part.shaped.value,
        "total": part.total,
        "counted": format!("{}s", part.kind.unit()),
    });
    if !path.is_empty() {
        structured["path"] = json!(path);
    }
    if let Some(next) = part.next_offset() {
        structured["next_offset"] = json!(next);
    }
    let mut answer = Answer { text: part.shaped.text.clone(), structured, is_error: false };
    let left_out = part.shaped.left_out.iter().take(NOTES_MAX).cloned();
    let mut notes = Vec::new();
    for note in part.range_text().into_iter().chain(left_out) {
        notes.push(note);
        let text = format!("{}\n[{}]", part.shaped.text, notes.join("; "));
        let mut structured = answer.structured.clone();
        structured["notes"] = json!(notes);
        if tokens::count(&text).max(tokens::count(&structured.to_string())) > TOKENS_MAX {
            break;
        }
        answer = Answer { text, structured, ..answer };
    }
    answer
}
