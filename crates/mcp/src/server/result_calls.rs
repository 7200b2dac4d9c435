//! `read_result`: a part of a whole value that an answer had no room for.

use gristmill_gateway::answer::fit;
use gristmill_gateway::domain::result_path::Slice;
use gristmill_gateway::domain::shape::Strategy;
use gristmill_gateway::domain::{Code, one_line};
use gristmill_gateway::executions::Owner;
use gristmill_gateway::results::{ReadError, ReadPart};
use gristmill_gateway::tokens;
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};

use super::GatewayServer;
use super::answer::Answer;

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
struct Sent {
    handle: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    offset: Option<Number>,
    #[serde(default)]
    limit: Option<Number>,
}

impl GatewayServer {
    /// A part of one of the owner's results.
    pub(super) async fn read_result(&self, arguments: Map<String, Value>, owner: &Owner) -> Answer {
        let sent: Sent = match serde_json::from_value(Value::Object(arguments)) {
            Ok(sent) => sent,
            Err(error) => return Answer::refused(Code::BadRequest, &format!("the arguments: {error}"), None),
        };
        let slice = match slice(&sent) {
            Ok(slice) => slice,
            Err(refused) => return refused,
        };
        let Some(results) = self.parts.executions.results() else {
            let hint = "what a program needs later, it writes into a file in /workspace";
            return Answer::refused(Code::BadRequest, "this gateway keeps no results", Some(hint));
        };
        let path = fit::beginning(&one_line(&sent.path, 200), PATH_TOKENS_MAX).text;
        let frame = FRAME_TOKENS + tokens::count(&json!(path).to_string());
        let budget = (Strategy::Auto, TOKENS_MAX.saturating_sub(frame));
        match results.read(owner, &sent.handle, &sent.path, slice, budget).await {
            Ok(part) => of_part(&part, &path),
            Err(error) => of_error(&error),
        }
    }
}

/// Which items, members or characters are meant.
fn slice(sent: &Sent) -> Result<Slice, Answer> {
    let number = |name: &str, asked: Option<&Number>, least: u64| match asked {
        None => Ok(None),
        Some(asked) => asked.as_u64().filter(|asked| *asked >= least).map(Some).ok_or_else(|| {
            let asked = one_line(&asked.to_string(), 24);
            let message = format!("{name} is {asked}; it is a whole number from {least} on");
            Answer::refused(Code::BadRequest, &message, None)
        }),
    };
    let offset = number("offset", sent.offset.as_ref(), 0)?.unwrap_or(0);
    Ok(Slice { offset, limit: number("limit", sent.limit.as_ref(), 1)? })
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

fn of_error(error: &ReadError) -> Answer {
    Answer::refused(error.code(), &error.to_string(), error.hint().as_deref())
}

/// Properties, and which of them are always there.
pub(super) fn output_schema() -> (Value, Value) {
    let (text, count) = (json!({"type": "string"}), json!({"type": "integer"}));
    let properties = json!({
        "handle": text,
        "path": text,
        "value": {},
        "total": count,
        "counted": text,
        "next_offset": count,
        "notes": {"type": "array", "items": text},
    });
    (properties, json!(["handle", "value", "total"]))
}
