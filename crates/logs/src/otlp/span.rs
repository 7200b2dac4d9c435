//! A span as OpenTelemetry sees it, by its conventions for MCP and GenAI where there are any.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::protobuf::Message;
use crate::fields::Fields;

const INTERNAL: u64 = 1;
const SERVER: u64 = 2;
const CLIENT: u64 = 3;

const OK: u64 = 1;
const ERROR: u64 = 2;

/// One that has ended.
pub(super) struct EndedSpan<'a> {
    pub trace: [u8; 16],
    pub id: [u8; 8],
    pub parent: Option<[u8; 8]>,
    pub name: &'a str,
    pub began: SystemTime,
    pub ended: SystemTime,
    pub fields: Fields,
}

impl EndedSpan<'_> {
    pub fn encode(mut self) -> Vec<u8> {
        // Those say where the span is, and are said already.
        for name in ["trace_id", "span_id", "parent_id", "sampled"] {
            self.fields.take(name);
        }
        let field =
            |name: &str| self.fields.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value);
        let text = |name: &str| field(name).and_then(Value::as_str);
        let (kind, name) = match (self.name, text("method"), text("tool")) {
            ("execution", _, _) => (SERVER, "execution".to_owned()),
            ("call", Some(method), Some(tool)) => (CLIENT, format!("{method} {tool}")),
            ("call", Some(method), None) => (CLIENT, method.to_owned()),
            (other, _, _) => (INTERNAL, other.to_owned()),
        };
        let status = match (text("outcome"), text("refused")) {
            (Some("failed"), _) | (_, Some(_)) => Some(ERROR),
            (Some("ok"), _) => Some(OK),
            (Some(_) | None, _) => None,
        };
        let mut span = Message::default().bytes(1, &self.trace).bytes(2, &self.id);
        if let Some(parent) = &self.parent {
            span = span.bytes(4, parent);
        }
        span = span.text(5, &name).varint(6, kind).fixed(7, nanos(self.began)).fixed(8, nanos(self.ended));
        if kind != INTERNAL {
            span = span.message(9, attribute("gen_ai.operation.name", &"execute_tool".into()));
        }
        if kind == SERVER {
            span = span.message(9, attribute("gen_ai.tool.name", &"execute_code".into()));
        }
        for (name, value) in &self.fields.0 {
            span = span.message(9, attribute(&convention(name), value));
        }
        if let Some(status) = status {
            span = span.message(15, Message::default().varint(3, status));
        }
        span.into_bytes()
    }
}

/// What a field is called there.
fn convention(name: &str) -> String {
    match name {
        "method" => "mcp.method.name".to_owned(),
        "tool" => "gen_ai.tool.name".to_owned(),
        "code" | "refused" => "error.type".to_owned(),
        "execution" | "session" => format!("gristmill.{name}.id"),
        other => format!("gristmill.{other}"),
    }
}

pub(super) fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn attribute(name: &str, value: &Value) -> Message {
    let any = Message::default();
    let any = match value {
        Value::Bool(value) => any.varint(2, u64::from(*value)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => any.varint(3, integer.cast_unsigned()),
            (None, number) => any.fixed(4, number.unwrap_or_default().to_bits()),
        },
        Value::String(text) => any.text(1, text),
        Value::Null | Value::Array(_) | Value::Object(_) => any.text(1, &value.to_string()),
    };
    Message::default().text(1, name).message(2, any)
}
