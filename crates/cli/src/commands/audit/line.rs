//! One event as people and machines read it.

use std::time::{Duration, UNIX_EPOCH};

use gristmill_gateway::audit::AuditRecord;
use gristmill_gateway::domain::{one_line, unix_of_date};
use serde_json::{Map, Value};

use crate::local_time::TimeArguments;

/// Longer values say no more on a screen.
const VALUE_CHARS_MAX: usize = 120;

/// For people: number, moment, kind, and the rest by name.
pub fn shown(record: &AuditRecord, times: TimeArguments) -> String {
    let event = event(record);
    let said = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default();
    let at = moment(said("at")).map_or_else(|| one_line(said("at"), 30), |at| times.second(at));
    let kind = one_line(said("kind"), 20);
    let rest = event.iter().filter(|(key, _)| !matches!(key.as_str(), "at" | "kind"));
    let rest: Vec<String> =
        rest.map(|(key, value)| format!("{}={}", one_line(key, 40), value_text(value))).collect();
    format!("{:>6}  {at}  {kind:<17}  {}", record.number, rest.join(" "))
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() || text.contains([' ', '=', '"']) => {
            format!("\"{}\"", one_line(text, VALUE_CHARS_MAX).replace('"', "\\\""))
        }
        Value::String(text) => one_line(text, VALUE_CHARS_MAX),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            one_line(&value.to_string(), VALUE_CHARS_MAX)
        }
    }
}

/// For machines: the event exactly as it was hashed.
pub fn exported(record: &AuditRecord) -> String {
    format!("{{\"number\":{},\"hash\":\"{}\",\"event\":{}}}", record.number, hash(record), record.text)
}

/// The same as one object.
pub fn as_value(record: &AuditRecord) -> Value {
    let mut value = Map::new();
    value.insert("number".to_owned(), record.number.into());
    value.insert("hash".to_owned(), hash(record).into());
    value.extend(event(record));
    Value::Object(value)
}

pub fn is_since(record: &AuditRecord, since: Option<&str>) -> bool {
    since.is_none_or(|since| event(record).get("at").and_then(Value::as_str).is_some_and(|at| at >= since))
}

/// Empty if somebody wrote something else over it, which `verify` tells.
pub fn event(record: &AuditRecord) -> Map<String, Value> {
    serde_json::from_str(&record.text).unwrap_or_default()
}

/// `2026-07-28T09:30:00.123Z`.
pub fn moment(text: &str) -> Option<std::time::SystemTime> {
    let (date, time) = text.split_once('T')?;
    let number = |from: usize, to: usize| time.get(from..to)?.parse::<u64>().ok();
    let seconds = unix_of_date(date)? + number(0, 2)? * 3_600 + number(3, 5)? * 60 + number(6, 8)?;
    Some(UNIX_EPOCH + Duration::from_millis(seconds * 1_000 + number(9, 12)?))
}

fn hash(record: &AuditRecord) -> String {
    record.hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_and_obeys_nobody() {
        let record = AuditRecord {
            number: 7,
            hash: vec![0xab; 32],
            text: "{\"at\":\"2026-07-28T09:30:00.250Z\",\"kind\":\"call\",\"client\":\"a b\\n\\u001b[2J\\u202e\",\
                   \"line\":3,\"tools\":[\"x\"]}"
                .to_owned(),
        };
        assert_eq!(
            shown(&record, TimeArguments { utc: true }),
            "     7  2026-07-28 09:30:00 UTC  call               client=\"a b \\u{1b}[2J\\u{202e}\" line=3 tools=[\"x\"]"
        );
        assert!(exported(&record).ends_with(&format!("\"event\":{}}}", record.text)));
        assert!(is_since(&record, Some("2026-07-28T09:30:00.250Z")));
        assert!(!is_since(&record, Some("2026-07-28T09:30:00.251Z")));
        let broken = AuditRecord { text: "not json".to_owned(), ..record };
        assert_eq!(shown(&broken, TimeArguments { utc: true }).trim(), "7");
    }
}
