//! The Common Event Format, which most systems that collect events read.

use std::time::UNIX_EPOCH;

use gristmill_gateway::audit::AuditRecord;
use gristmill_gateway::domain::visible;
use serde_json::{Map, Value};

use super::line;

/// One event on one line.
pub fn line(record: &AuditRecord) -> String {
    let event = line::event(record);
    let said = |key: &str| event.get(key).and_then(Value::as_str);
    let kind = said("kind").unwrap_or("unknown");
    let mut fields = vec![("externalId", record.number.to_string())];
    if let Some(at) = said("at").and_then(line::moment) {
        let ms = at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        fields.push(("rt", ms.to_string()));
    }
    let named = [
        ("suser", "caller"),
        ("requestClientApplication", "client"),
        ("destinationServiceName", "server"),
        ("request", "tool"),
        ("outcome", "outcome"),
        ("act", "decision"),
        ("reason", "code"),
    ];
    fields.extend(named.iter().filter_map(|(key, from)| Some((*key, said(from)?.to_owned()))));
    let labelled = [
        ("cs1", "cs1Label", "session"),
        ("cs2", "cs2Label", "execution"),
        ("cs3", "cs3Label", "token"),
        ("cs4", "cs4Label", "rule"),
    ];
    for (key, label, from) in labelled {
        if let Some(value) = said(from) {
            fields.extend([(label, from.to_owned()), (key, value.to_owned())]);
        }
    }
    fields.push(("msg", rest(&event)));
    let fields: Vec<String> =
        fields.iter().map(|(key, value)| format!("{key}={}", escaped(value, '='))).collect();
    format!(
        "CEF:0|Gristmill|gristmill|{}|{}|{}|{}|{}",
        env!("CARGO_PKG_VERSION"),
        escaped(kind, '|'),
        escaped(said("what").or(said("how")).unwrap_or(kind), '|'),
        severity(kind, &event),
        fields.join(" ")
    )
}

/// The whole event, for what has no field of its own.
fn rest(event: &Map<String, Value>) -> String {
    Value::Object(event.clone()).to_string()
}

/// From 0 to 10.
fn severity(kind: &str, event: &Map<String, Value>) -> u8 {
    let is_bad = |key: &str, value: &str| event.get(key).and_then(Value::as_str) == Some(value);
    match kind {
        "violation" if is_bad("what", "limit") => 4,
        "violation" => 9,
        "audit" if is_bad("what", "broken") || is_bad("what", "incomplete") => 10,
        "token.refused" | "finding" => 6,
        "call" if is_bad("decision", "deny") => 6,
        "config.approved" | "config.changed" | "tools.approved" | "token.issued" | "skill.changed"
        | "approval" => 5,
        _ => 1,
    }
}

/// Nothing ends the line or a field early.
fn escaped(text: &str, separator: char) -> String {
    let escape = |made: String, c: char| match c {
        '\\' => made + "\\\\",
        c if c == separator => format!("{made}\\{c}"),
        c => made + c.encode_utf8(&mut [0; 4]),
    };
    visible(text).chars().fold(String::new(), escape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_a_field_or_a_line_early() {
        let record = AuditRecord {
            number: 2,
            hash: Vec::new(),
            text: "{\"at\":\"1970-01-01T00:00:01.500Z\",\"kind\":\"violation\",\"what\":\"a|b\",\
                   \"caller\":\"x\\nsuser=root\\\\\"}"
                .to_owned(),
        };
        let line = line(&record);
        assert!(line.starts_with("CEF:0|Gristmill|gristmill|"), "{line}");
        assert!(
            line.contains("|violation|a\\|b|9|externalId=2 rt=1500 suser=x\\\\u{a}suser\\=root\\\\ msg="),
            "{line}"
        );
        assert_eq!(line.lines().count(), 1);
    }
}
