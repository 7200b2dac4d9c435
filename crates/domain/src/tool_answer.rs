//! What a tool answered, as the plain value that a program gets.
//!
//! A server answers with blocks: texts, images, links, and perhaps one structured value. A program
//! wants a value. The structured one is taken if there is one; text that is a JSON object or list
//! becomes that; other text stays text. Images, sounds and other bytes become files. Numbers and
//! everything else inside a value are passed on as they were written.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    Value(ToolAnswer),
    /// The tool ran and failed; what it says about that.
    ToolError(String),
}

/// A value and the files that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolAnswer {
    /// JSON. Where a file belongs it has an object `{"$file": n}`.
    pub json: String,
    /// The files by number.
    pub files: Vec<AnswerFile>,
}

/// Bytes in an answer.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct AnswerFile {
    /// Such as `image/png`; in the server's words.
    pub mime: String,
    /// The bytes, as the protocol writes them.
    pub base64: String,
    /// A name to go by, if the server gave one; in the server's words.
    pub name: Option<String>,
}

/// The answer does not have the form that the protocol gives it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    #[error("the server's answer isn't a tool result: it is not an object")]
    NotAnObject,
    #[error("the server's answer isn't a tool result: {0}")]
    Unreadable(String),
    #[error("the server's answer isn't a tool result: a block is not an object")]
    BlockNotAnObject,
    #[error("the server's answer isn't a tool result: a block: {0}")]
    UnreadableBlock(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawAnswer<'a> {
    #[serde(borrow, default)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    #[serde(default)]
    is_error: Option<bool>,
}

impl ToolAnswer {
    /// A value without files.
    pub fn of(value: &Value) -> Self {
        Self { json: value.to_string(), files: Vec::new() }
    }

    /// How much of it there is.
    pub fn bytes(&self) -> usize {
        self.json.len() + self.files.iter().map(|file| file.base64.len()).sum::<usize>()
    }
}

impl From<Value> for ToolAnswer {
    fn from(value: Value) -> Self {
        Self::of(&value)
    }
}

/// Reads the result of `tools/call`. `output_schema` is the tool's, if it has one.
pub fn read_answer(raw: &str, output_schema: Option<&Value>) -> Result<CallOutcome, AnswerError> {
    // A list would be read as the fields in their order.
    if !raw.trim_start().starts_with('{') {
        return Err(AnswerError::NotAnObject);
    }
    let answer: RawAnswer<'_> =
        serde_json::from_str(raw).map_err(|error| AnswerError::Unreadable(error.to_string()))?;
    let blocks = answer.content.unwrap_or_default();
    let structured = answer.structured_content.filter(|value| value.get() != "null");
    let mut files = Vec::new();
    let mut parts = Vec::with_capacity(blocks.len());
    for block in blocks {
        parts.push(part(block, &mut files)?);
    }
    if answer.is_error == Some(true) {
        return Ok(CallOutcome::ToolError(words(&parts, structured)));
    }
    let rich = parts.iter().any(|part| matches!(part, PartValue::Rich(_)));
    let json = match (structured, rich) {
        (Some(value), false) => unwrapped(value, output_schema),
        (Some(value), true) => format!(
            r#"{{"structuredContent":{},"content":[{}]}}"#,
            unwrapped(value, output_schema),
            parts.iter().map(PartValue::json).collect::<Vec<_>>().join(",")
        ),
        (None, false) => of_texts(&parts),
        (None, true) => match parts.as_slice() {
            [only] => only.json(),
            several => {
                format!("[{}]", several.iter().map(PartValue::json).collect::<Vec<_>>().join(","))
            }
        },
    };
    Ok(CallOutcome::Value(ToolAnswer { json, files }))
}

enum PartValue {
    Text(String),
    /// Not text: already JSON.
    Rich(String),
}

impl PartValue {
    fn json(&self) -> String {
        match self {
            Self::Text(text) => as_json(text).unwrap_or_else(|| Value::from(text.as_str()).to_string()),
            Self::Rich(json) => json.clone(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    data: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    resource: Option<Resource>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resource {
    #[serde(default)]
    uri: Option<String>,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    blob: Option<String>,
}

fn part(raw: &RawValue, files: &mut Vec<AnswerFile>) -> Result<PartValue, AnswerError> {
    if !raw.get().starts_with('{') {
        return Err(AnswerError::BlockNotAnObject);
    }
    let block: Block =
        serde_json::from_str(raw.get()).map_err(|error| AnswerError::UnreadableBlock(error.to_string()))?;
    let mut file = |mime: Option<String>, base64: String, name: Option<String>| {
        let mime = mime.unwrap_or_else(|| "application/octet-stream".to_owned());
        files.push(AnswerFile { mime, base64, name });
        json!({ "$file": files.len() - 1 })
    };
    match (block.kind.as_str(), block.text, block.data, block.resource) {
        ("text", text, _, _) => Ok(PartValue::Text(text.unwrap_or_default())),
        ("image" | "audio", _, Some(data), _) => {
            Ok(PartValue::Rich(file(block.mime_type, data, None).to_string()))
        }
        ("resource", _, _, Some(resource)) => {
            let name = resource.uri.as_deref().and_then(|uri| uri.rsplit('/').next()).map(str::to_owned);
            let value = match (resource.text, resource.blob) {
                (Some(text), _) => json!({
                    "type": "resource", "uri": resource.uri, "mimeType": resource.mime_type, "text": text,
                }),
                (None, Some(blob)) => json!({
                    "type": "resource",
                    "uri": resource.uri,
                    "mimeType": resource.mime_type.clone(),
                    "file": file(resource.mime_type, blob, name),
                }),
                (None, None) => {
                    json!({ "type": "resource", "uri": resource.uri, "mimeType": resource.mime_type })
                }
            };
            Ok(PartValue::Rich(value.to_string()))
        }
        // Links, and kinds that come after us, arrive as they are.
        _ => Ok(PartValue::Rich(raw.get().to_owned())),
    }
}

/// One library wraps every value that is not an object, and says so in the schema.
fn unwrapped(value: &RawValue, output_schema: Option<&Value>) -> String {
    #[derive(Deserialize)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }
    let wraps =
        output_schema.is_some_and(|schema| schema.get("x-fastmcp-wrap-result") == Some(&Value::Bool(true)));
    match serde_json::from_str::<Wrapped<'_>>(value.get()) {
        Ok(wrapped) if wraps => wrapped.result.get().to_owned(),
        Ok(_) | Err(_) => value.get().to_owned(),
    }
}

/// Texts alone: one is itself; several that are all JSON are a list; otherwise they are one text.
fn of_texts(parts: &[PartValue]) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            PartValue::Text(text) => Some(text.as_str()),
            PartValue::Rich(_) => None,
        })
        .collect();
    if let [only] = texts.as_slice() {
        return as_json(only).unwrap_or_else(|| Value::from(*only).to_string());
    }
    let values: Option<Vec<String>> = texts.iter().map(|text| as_json(text)).collect();
    match values {
        Some(values) if !values.is_empty() => format!("[{}]", values.join(",")),
        Some(_) => "null".to_owned(),
        None => Value::from(texts.join("\n")).to_string(),
    }
}

/// The text as it stands, if it is a JSON object or list.
fn as_json(text: &str) -> Option<String> {
    let trimmed = text.trim();
    if !trimmed.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str::<&RawValue>(trimmed).ok().map(|value| value.get().to_owned())
}

fn words(parts: &[PartValue], structured: Option<&RawValue>) -> String {
    let texts: Vec<&str> = parts
        .iter()
        .filter_map(|part| match part {
            PartValue::Text(text) if !text.trim().is_empty() => Some(text.as_str()),
            PartValue::Text(_) | PartValue::Rich(_) => None,
        })
        .collect();
    match (texts.as_slice(), structured) {
        ([], Some(value)) => value.get().to_owned(),
        ([], None) => "the tool failed without a message".to_owned(),
        (texts, _) => texts.join("\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(raw: &str, expected: &str) {
        match read_answer(raw, None).expect(raw) {
            CallOutcome::Value(answer) => assert_eq!(answer.json, expected, "{raw}"),
            CallOutcome::ToolError(words) => panic!("{raw} said {words}"),
        }
    }

    #[test]
    fn the_structured_value_is_taken_as_it_was_written() {
        check(
            r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"n": 12345678901234567890123.10}}"#,
            r#"{"n": 12345678901234567890123.10}"#,
        );
        check(r#"{"content":[],"structuredContent":[1]}"#, "[1]");
        check(r#"{"content":[{"type":"text","text":"a"}],"structuredContent":null}"#, r#""a""#);
    }

    #[test]
    fn text_becomes_a_value_if_it_is_an_object_or_a_list() {
        check(r#"{"content":[{"type":"text","text":" {\"a\": [1, 2]} "}]}"#, r#"{"a": [1, 2]}"#);
        check(r#"{"content":[{"type":"text","text":"007"}]}"#, r#""007""#);
        check(r#"{"content":[{"type":"text","text":"{not json"}]}"#, r#""{not json""#);
        check(r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#, r#""a\nb""#);
        check(r#"{"content":[{"type":"text","text":"[1]"},{"type":"text","text":"{}"}]}"#, "[[1],{}]");
        check(r#"{"content":[]}"#, "null");
        check("{}", "null");
    }

    #[test]
    fn bytes_become_files_and_links_stay() {
        let raw = r#"{"content":[{"type":"text","text":"here"},{"type":"image","data":"QUJD","mimeType":"image/png"},{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","resource":{"uri":"demo://x/y.gz","mimeType":"application/gzip","blob":"AAAA"}}]}"#;
        let CallOutcome::Value(answer) = read_answer(raw, None).expect("an answer") else {
            panic!("it said no")
        };
        assert_eq!(
            answer.json,
            r#"["here",{"$file":0},{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","uri":"demo://x/y.gz","mimeType":"application/gzip","file":{"$file":1}}]"#
        );
        let file = |mime: &str, base64: &str, name: Option<&str>| AnswerFile {
            mime: mime.to_owned(),
            base64: base64.to_owned(),
            name: name.map(str::to_owned),
        };
        assert_eq!(
            answer.files,
            [file("image/png", "QUJD", None), file("application/gzip", "AAAA", Some("y.gz"))]
        );
        assert_eq!(answer.bytes(), answer.json.len() + 8);
        let both = r#"{"structuredContent":{"a":1},"content":[{"type":"audio","data":"QQ==","mimeType":"audio/wav"}]}"#;
        check(both, r#"{"structuredContent":{"a":1},"content":[{"$file":0}]}"#);
    }

    #[test]
    fn a_tools_refusal_is_in_its_own_words() {
        let said = |raw: &str| match read_answer(raw, None).expect(raw) {
            CallOutcome::ToolError(words) => words,
            CallOutcome::Value(answer) => panic!("{answer:?}"),
        };
        assert_eq!(
            said(r#"{"isError":true,"content":[{"type":"text","text":"no such file"}]}"#),
            "no such file"
        );
        assert_eq!(said(r#"{"isError":true,"structuredContent":{"code":7}}"#), r#"{"code":7}"#);
        assert_eq!(said(r#"{"isError":true}"#), "the tool failed without a message");
    }

    #[test]
    fn a_wrapped_value_is_unwrapped_if_the_schema_says_so() {
        let raw = r#"{"content":[{"type":"text","text":"3"}],"structuredContent":{"result": 3}}"#;
        let schema = json!({"type": "object", "x-fastmcp-wrap-result": true});
        assert_eq!(
            read_answer(raw, Some(&schema)),
            Ok(CallOutcome::Value(ToolAnswer { json: "3".to_owned(), files: Vec::new() }))
        );
        check(raw, r#"{"result": 3}"#);
    }

    #[test]
    fn what_is_no_answer_is_said_to_be_none() {
        for raw in ["[]", "3", r#"{"content":3}"#, r#"{"content":[3]}"#, r#"{"content":[["text","x"]]}"#] {
            assert!(read_answer(raw, None).is_err(), "{raw}");
        }
    }
}
