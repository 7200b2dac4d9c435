//! JSON-RPC as it stands on the wire. Messages are taken apart without being parsed whole: what a
//! tool answers is passed on as it was written.

use std::borrow::Cow;

use gristmill_json_text::{after_space, end_of_member, end_of_string, has_reserved_key};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// A message from a server.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// The answer to a request of ours.
    Response { id: u64, outcome: Result<&'a RawValue, NoResult> },
    /// It wants something from us.
    Request { id: &'a RawValue, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// It tells us something.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
}

/// An answer that is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoResult {
    Error(RpcError),
    /// Neither a result nor an error.
    Empty,
}

/// An error of the protocol, in the server's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RpcError {
    pub code: i64,
    pub message: String,
}

impl RpcError {
    /// An answer that cannot be read safely.
    fn unreadable() -> Self {
        let message = "its answer has a key that begins with `$serde_json::private::`";
        Self { code: 0, message: message.to_owned() }
    }

    /// Some servers write errors in their own ways: whatever it is, the request is over.
    fn of(raw: &RawValue) -> Self {
        let written: Value = match has_reserved_key(raw.get().as_bytes()) {
            true => Value::Null,
            false => serde_json::from_str(raw.get()).unwrap_or_default(),
        };
        let message = match (&written, &written["message"]) {
            (Value::String(text), _) | (_, Value::String(text)) => text.clone(),
            _ => String::new(),
        };
        Self { code: written["code"].as_i64().unwrap_or(0), message }
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// Reads one message; `None` if it is none.
pub(crate) fn read(text: &str) -> Option<Incoming<'_>> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    // Nothing that we use has such keys.
    if envelope.params.is_some_and(|params| has_reserved_key(params.get().as_bytes())) {
        return None;
    }
    match envelope {
        Envelope { id: Some(id), method: Some(method), params, .. } => {
            Some(Incoming::Request { id, method, params })
        }
        Envelope { id: None, method: Some(method), params, .. } => {
            Some(Incoming::Notification { method, params })
        }
        Envelope { id: Some(id), error: Some(error), .. } => {
            let outcome = Err(NoResult::Error(RpcError::of(error)));
            Some(Incoming::Response { id: our_id(id.get())?, outcome })
        }
        Envelope { id: Some(id), result: Some(result), .. } => {
            let outcome = match has_reserved_key(result.get().as_bytes()) {
                true => Err(NoResult::Error(RpcError::unreadable())),
                false => Ok(result),
            };
            Some(Incoming::Response { id: our_id(id.get())?, outcome })
        }
        Envelope { id: Some(id), .. } => {
            Some(Incoming::Response { id: our_id(id.get())?, outcome: Err(NoResult::Empty) })
        }
        Envelope { .. } => None,
    }
}

/// The error of a message that does not say to which request it belongs.
pub(crate) fn read_error(text: &str) -> Option<RpcError> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    envelope.error.filter(|error| error.get().starts_with('{')).map(RpcError::of)
}

/// Our ids are numbers; some servers give them back as text.
fn our_id(text: &str) -> Option<u64> {
    text.trim_matches('"').parse().ok()
}

/// Messages that came together in one batch, as one protocol version allowed.
pub(crate) fn read_batch(text: &str) -> Option<Vec<&RawValue>> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// The id of a response of which only the beginning and the end were kept.
pub(crate) fn id_of_fragments(beginning: &str, end: &str) -> Option<u64> {
    let after = |text: &str, at: usize| {
        let rest = text[at + 4..].trim_start().strip_prefix(':')?.trim_start().trim_start_matches('"');
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..digits].parse().ok()
    };
    // Before the result it is ours; inside of it, it could be anything.
    let inside = [r#""result""#, r#""error""#, r#""params""#, r#""method""#];
    let before = inside.iter().filter_map(|name| beginning.find(name)).min().unwrap_or(beginning.len());
    if [r#""params""#, r#""method""#].iter().any(|name| beginning.find(name) == Some(before)) {
        return None;
    }
    let first = beginning.find(r#""id""#).filter(|at| *at < before).and_then(|at| after(beginning, at));
    first.or_else(|| end.rfind(r#""id""#).and_then(|at| after(end, at)))
}

/// An answer that can't be read: to which request, and what is wrong with it. `None` if it is no answer.
pub(crate) fn broken_answer(line: &[u8]) -> Option<(u64, String)> {
    let id = id_of_broken(line)?;
    let text = match std::str::from_utf8(line) {
        Ok(text) => text,
        Err(error) => {
            return Some((id, format!("its answer isn't UTF-8 at byte {}", error.valid_up_to() + 1)));
        }
    };
    let error = serde_json::from_str::<Envelope<'_>>(text).err()?;
    let why = match foreign_number(text, &error) {
        Some(number) => {
            let (line, column) = (error.line(), error.column());
            format!("its answer isn't JSON: {number} at line {line} column {column}")
        }
        None if error.is_data() => format!("its answer isn't a message: {error}"),
        None => format!("its answer isn't JSON: {error}"),
    };
    Some((id, why))
}

/// The id of an answer that isn't JSON: its members are told apart by quotes, brackets and commas alone.
fn id_of_broken(line: &[u8]) -> Option<u64> {
    let (mut id, mut is_answer) = (None, false);
    let (mut at, mut before) = (after_space(line, 0), b'{');
    while line.get(at) == Some(&before) {
        let key = after_space(line, at + 1);
        let Some(key_end) = end_of_string(line, key) else { break };
        let colon = after_space(line, key_end);
        if line.get(colon) != Some(&b':') {
            break;
        }
        let value = after_space(line, colon + 1);
        let end = end_of_member(line, value);
        match &line[key..key_end] {
            b"\"id\"" => {
                let written = end.and_then(|end| std::str::from_utf8(line.get(value..end)?).ok());
                id = written.and_then(|written| our_id(written.trim_end()));
            }
            b"\"result\"" | b"\"error\"" => is_answer = true,
            b"\"method\"" => return None,
            _ => {}
        }
        let Some(end) = end else { break };
        (at, before) = (end, b',');
    }
    id.filter(|_| is_answer)
}

/// What stands where a text stops being JSON, if it is a number as only some languages write it. Python
/// does, unless it is told not to.
fn foreign_number(text: &str, error: &serde_json::Error) -> Option<&'static str> {
    let line = text.split('\n').nth(error.line().checked_sub(1)?)?;
    let rest = line.as_bytes().get(error.column().checked_sub(1)?..)?;
    ["NaN", "Infinity"].into_iter().find(|number| rest.starts_with(number.as_bytes()))
}

/// A request of ours. `params` is JSON.
pub(crate) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

/// A notification of ours.
pub(crate) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#)
}

/// Tells that nobody waits any more.
pub(crate) const CANCELLED: &str = "notifications/cancelled";

/// Tells that nobody waits for that request any more.
pub(crate) fn cancelled(id: u64) -> String {
    notification(CANCELLED, &format!(r#"{{"requestId":{id},"reason":"no longer wanted"}}"#))
}

/// Our answer to a request. Both are JSON.
pub(crate) fn response(id: &str, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// Our refusal of a request.
pub(crate) fn refusal(id: &str, code: i64, message: &str) -> String {
    let message = serde_json::Value::from(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        let shown = |text: &str| match read(text) {
            Some(Incoming::Response { id, outcome: Ok(result) }) => format!("{id} is {}", result.get()),
            Some(Incoming::Response { id, outcome: Err(error) }) => format!("{id} failed {error:?}"),
            Some(Incoming::Request { id, method, .. }) => format!("{} asks {method}", id.get()),
            Some(Incoming::Notification { method, .. }) => format!("tells {method}"),
            None => "nothing".to_owned(),
        };
        assert_eq!(shown(r#"{"jsonrpc":"2.0","id":7,"result":{"a": 1.50}}"#), r#"7 is {"a": 1.50}"#);
        assert_eq!(shown(r#"{"result":null,"id":"7"}"#), "7 failed Empty");
        assert_eq!(shown(r#"{"id":7}"#), "7 failed Empty");
        assert_eq!(shown(r#"{"result":{},"id":"7"}"#), "7 is {}");
        let failed =
            |code, message| format!(r#"7 failed Error(RpcError {{ code: {code}, message: "{message}" }})"#);
        assert_eq!(shown(r#"{"id":7,"error":{"code":-32601,"message":"no"}}"#), failed(-32601, "no"));
        assert_eq!(shown(r#"{"id":7,"error":{"code":"E","message":["no"]}}"#), failed(0, ""));
        assert_eq!(shown(r#"{"id":7,"error":"no"}"#), failed(0, "no"));
        assert_eq!(shown(r#"{"id":"x","method":"ping"}"#), r#""x" asks ping"#);
        assert_eq!(
            shown(r#"{"method":"notifications/progress","params":{}}"#),
            "tells notifications/progress"
        );
        for text in ["", "Listening on port 3000", "3", "[]", r#"{"id":-1,"result":{}}"#] {
            assert_eq!(shown(text), "nothing", "{text}");
        }
    }

    #[test]
    fn the_id_of_an_answer_too_long_to_keep_is_found() {
        assert_eq!(id_of_fragments(r#"{"jsonrpc":"2.0","id":12,"result":{"#, "}}"), Some(12));
        assert_eq!(
            id_of_fragments(r#"{"result":{"content":[{"id": 99"#, r#""}]},"jsonrpc":"2.0","id": 12}"#),
            Some(12)
        );
        assert_eq!(id_of_fragments(r#"{"error":{"data":{"id": 99"#, r#"}},"id":12}"#), Some(12));
        assert_eq!(id_of_fragments(r#"{"method":"x","params":{"id":12"#, r#"{"id":12}}}"#), None);
        assert_eq!(id_of_fragments(r#"{"id":3,"method":"x","params":{"#, r#"}}"#), None);
        assert_eq!(id_of_fragments("garbage", "garbage"), None);
    }

    #[test]
    fn an_answer_that_cannot_be_read_ends_its_request_and_says_why() {
        let check = |line: &[u8], why: &str| {
            let shown = String::from_utf8_lossy(line);
            let (id, told) = broken_answer(line).unwrap_or_else(|| panic!("no answer: {shown}"));
            assert_eq!(id, 12, "{shown}");
            assert!(told.starts_with(why), "{shown}: {told}");
        };
        check(
            br#"{"jsonrpc":"2.0","id":12,"result":{"x":NaN}}"#,
            "its answer isn't JSON: NaN at line 1 column 40",
        );
        check(
            br#"{"result": {"x": [-Infinity, {"id": 3}]}, "jsonrpc": "2.0", "id": "12"}"#,
            "its answer isn't JSON: Infinity at line 1 column 20",
        );
        check(
            br#"{"error":{"message":nan},"id":12 }"#,
            "its answer isn't JSON: expected ident at line 1 column ",
        );
        // A line break inside of a string.
        check(
            br#"{"id":12,"result":{"text":"first"#,
            "its answer isn't JSON: EOF while parsing a string at line 1 column ",
        );
        check(b"{\"id\":12,\"result\":{\"x\":\"\xff\"}}", "its answer isn't UTF-8 at byte 25");
        check(
            br#"{"id":12,"result":{},"result":{}}"#,
            "its answer isn't a message: duplicate field `result`",
        );
    }

    #[test]
    fn what_does_not_begin_as_an_answer_ends_no_request() {
        for line in [
            "",
            "Loading {\"id\":12,\"result\":NaN}",
            r#"{"id":12,"value":NaN}"#,
            r#"{"id":12,"method":"x","params":{"result":NaN}}"#,
            r#"{"result":{"id":12,"x":NaN}}"#,
            r#"{"result":{"id":12,"x":"cut"#,
            r#"{"id":-1,"result":NaN}"#,
            r#"[{"id":12,"result":NaN}]"#,
            r#"{"id":12,"result":{}}"#,
            r#"{id:12,"result":NaN}"#,
            r#"{"id"#,
        ] {
            assert_eq!(broken_answer(line.as_bytes()), None, "{line}");
        }
    }
}
