//! What a server sends for a resource or a prompt, held against the protocol, in the protocol's words.
//!
//! The answer goes on as it was written. Nothing is built of it here: members are looked at where they
//! stand, one after the other, up to the first that is wrong.

use gristmill_gateway::domain::one_line;
use gristmill_gateway::upstream::UpstreamFailure;
use gristmill_json_text::end_of_member;
use serde::Deserialize;
use serde_json::value::RawValue;

/// How much of a foreign word is repeated.
const WORD_CHARS_MAX: usize = 40;

/// An answer to `resources/read`.
pub(crate) fn check_resource(raw: &str) -> Result<(), UpstreamFailure> {
    contents_of(raw).map_err(|why| unfit("resources/read", &why))
}

/// An answer to `prompts/get`.
pub(crate) fn check_prompt(raw: &str) -> Result<(), UpstreamFailure> {
    messages_of(raw).map_err(|why| unfit("prompts/get", &why))
}

fn unfit(method: &str, why: &str) -> UpstreamFailure {
    UpstreamFailure::BadAnswer(format!("its answer to {method} doesn't match the protocol: {why}"))
}

/// The members that are looked at, of whatever object.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Members<'a> {
    #[serde(borrow)]
    contents: Option<&'a RawValue>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    role: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    blob: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    mime_type: Option<&'a RawValue>,
    #[serde(borrow)]
    resource: Option<&'a RawValue>,
    #[serde(borrow)]
    uri: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
}

/// What a value must be.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Object,
    Array,
}

fn contents_of(raw: &str) -> Result<(), String> {
    let Some(answer) = whole(raw) else { return Ok(()) };
    let contents = must("contents", answer.contents, Form::Array)?;
    items(contents).enumerate().try_for_each(|(index, item)| resource(&format!("contents[{index}]"), item))
}

fn messages_of(raw: &str) -> Result<(), String> {
    let Some(answer) = whole(raw) else { return Ok(()) };
    let messages = must("messages", answer.messages, Form::Array)?;
    items(messages).enumerate().try_for_each(|(index, item)| message(&format!("messages[{index}]"), item))
}

/// An answer that is an object. What is none is told by whoever reads it next.
fn whole(raw: &str) -> Option<Members<'_>> {
    raw.trim_start().starts_with('{').then(|| serde_json::from_str(raw).ok()).flatten()
}

fn message(place: &str, raw: &str) -> Result<(), String> {
    let found = members(place, raw)?;
    let role = must(&format!("{place}.role"), found.role, Form::Text)?;
    match string(role).as_str() {
        "user" | "assistant" => {}
        other => return Err(format!("`{place}.role` must be user or assistant, not {}", word(other))),
    }
    let content = format!("{place}.content");
    block(&content, must(&content, found.content, Form::Object)?)
}

/// A block of content.
fn block(place: &str, raw: &str) -> Result<(), String> {
    let found = members(place, raw)?;
    let text = |name: &str, value| must(&format!("{place}.{name}"), value, Form::Text).map(drop);
    let kind = must(&format!("{place}.type"), found.kind, Form::Text)?;
    match string(kind).as_str() {
        "text" => text("text", found.text),
        "image" | "audio" => {
            text("data", found.data)?;
            text("mimeType", found.mime_type)
        }
        "resource_link" => {
            text("uri", found.uri)?;
            text("name", found.name)
        }
        "resource" => {
            let inner = format!("{place}.resource");
            resource(&inner, must(&inner, found.resource, Form::Object)?)
        }
        other => Err(format!(
            "`{place}.type` must be text, image, audio, resource_link or resource, not {}",
            word(other)
        )),
    }
}

/// The content of a resource.
fn resource(place: &str, raw: &str) -> Result<(), String> {
    let found = members(place, raw)?;
    must(&format!("{place}.uri"), found.uri, Form::Text)?;
    match (found.text, found.blob) {
        (Some(text), _) if is(text.get(), Form::Text) => Ok(()),
        (_, Some(blob)) => must(&format!("{place}.blob"), Some(blob), Form::Text).map(drop),
        (Some(text), None) => must(&format!("{place}.text"), Some(text), Form::Text).map(drop),
        (None, None) => Err(format!("`{place}` must have `text` or `blob`")),
    }
}

/// The members of what must be an object.
fn members<'a>(place: &str, raw: &'a str) -> Result<Members<'a>, String> {
    if !is(raw, Form::Object) {
        return Err(format!("`{place}` must be an object, not {}", kind_of(raw)));
    }
    serde_json::from_str(raw).map_err(|error| format!("`{place}` can't be read: {error}"))
}

fn must<'a>(place: &str, value: Option<&'a RawValue>, form: Form) -> Result<&'a str, String> {
    let what = match form {
        Form::Text => "a string",
        Form::Object => "an object",
        Form::Array => "an array",
    };
    match value.map(RawValue::get) {
        Some(value) if is(value, form) => Ok(value),
        Some(value) => Err(format!("`{place}` must be {what}, not {}", kind_of(value))),
        None => Err(format!("`{place}` is missing; it must be {what}")),
    }
}

/// JSON is known by its first character.
fn is(raw: &str, form: Form) -> bool {
    raw.starts_with(match form {
        Form::Text => '"',
        Form::Object => '{',
        Form::Array => '[',
    })
}

fn kind_of(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(_) | None => "a number",
    }
}

/// The items of an array, as they are written.
fn items(array: &str) -> impl Iterator<Item = &str> {
    let mut at = 1;
    std::iter::from_fn(move || {
        let end = end_of_member(array.as_bytes(), at)?;
        let item = array.get(at..end)?.trim();
        at = end + 1;
        // Valid JSON has an empty one only where there is none at all.
        (!item.is_empty()).then_some(item)
    })
}

fn string(raw: &str) -> String {
    serde_json::from_str(raw).unwrap_or_default()
}

fn word(text: &str) -> String {
    format!("`{}`", one_line(text, WORD_CHARS_MAX))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn what_fits_the_protocol_passes() {
        let resources = [
            json!({ "contents": [] }),
            json!({ "contents": [{ "uri": "a:b", "text": "x" }, { "uri": "a:c", "blob": "AA==", "mimeType": "a/b" }] }),
        ];
        for answer in resources {
            assert_eq!(check_resource(&format!("{answer:#}")), Ok(()), "{answer}");
        }
        let blocks = [
            json!({ "type": "text", "text": "],[\"" }),
            json!({ "type": "image", "data": "AA==", "mimeType": "image/png" }),
            json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav" }),
            json!({ "type": "resource_link", "uri": "a:b", "name": "b" }),
            json!({ "type": "resource", "resource": { "uri": "a:b", "text": "x" } }),
        ];
        let said = blocks.map(|content| json!({ "role": "user", "content": content }));
        let answer = json!({ "description": "d", "messages": said });
        assert_eq!(check_prompt(&format!("{answer:#}")), Ok(()));
        assert_eq!(check_prompt(&answer.to_string()), Ok(()));
        // Told by whoever reads it whole.
        assert_eq!(check_resource("[]"), Ok(()));
    }

    #[test]
    fn a_resource_of_another_shape_is_told_in_the_words_of_the_protocol() {
        let check = |answer: Value, why: &str| {
            let why = format!("its answer to resources/read doesn't match the protocol: {why}");
            assert_eq!(check_resource(&answer.to_string()), Err(UpstreamFailure::BadAnswer(why)), "{answer}");
        };
        let of = |content: Value| json!({ "contents": [{ "uri": "a:b", "text": "x" }, content] });
        check(json!({}), "`contents` is missing; it must be an array");
        check(json!({ "contents": "nope" }), "`contents` must be an array, not a string");
        check(of(json!(7)), "`contents[1]` must be an object, not a number");
        check(of(json!({ "text": "x" })), "`contents[1].uri` is missing; it must be a string");
        check(of(json!({ "uri": "a:b" })), "`contents[1]` must have `text` or `blob`");
        check(of(json!({ "uri": "a:b", "text": 1 })), "`contents[1].text` must be a string, not a number");
        check(of(json!({ "uri": "a:b", "blob": [] })), "`contents[1].blob` must be a string, not an array");
    }

    #[test]
    fn a_prompt_of_another_shape_is_told_in_the_words_of_the_protocol() {
        let check = |answer: Value, why: &str| {
            let why = format!("its answer to prompts/get doesn't match the protocol: {why}");
            assert_eq!(check_prompt(&answer.to_string()), Err(UpstreamFailure::BadAnswer(why)), "{answer}");
        };
        let of = |content: Value| json!({ "messages": [{ "role": "user", "content": content }] });
        check(json!({ "messages": "nope" }), "`messages` must be an array, not a string");
        check(json!({ "messages": [[]] }), "`messages[0]` must be an object, not an array");
        let system = json!({ "messages": [{ "role": "system", "content": {} }] });
        check(system, "`messages[0].role` must be user or assistant, not `system`");
        check(of(json!("hi")), "`messages[0].content` must be an object, not a string");
        check(of(json!({ "text": "hi" })), "`messages[0].content.type` is missing; it must be a string");
        check(
            of(json!({ "type": "video" })),
            "`messages[0].content.type` must be text, image, audio, resource_link or resource, not `video`",
        );
        check(
            of(json!({ "type": "image", "data": "AA==" })),
            "`messages[0].content.mimeType` is missing; it must be a string",
        );
        check(
            of(json!({ "type": "resource", "resource": { "uri": "a:b" } })),
            "`messages[0].content.resource` must have `text` or `blob`",
        );
    }
}
