//! What is said in an alert: in words, and as JSON.

use gristmill_domain::{counted, format_ms, utc_text_ms};
use gristmill_watch::Anomaly;
use gristmill_watch::alerts::Alert;
use serde_json::{Map, Value, json};

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::ports::AlertNotice;

pub(super) fn of(alert: &Alert) -> AlertNotice {
    match alert {
        Alert::Send { anomaly, withheld } => {
            let also = match withheld {
                0 => String::new(),
                count => format!(" {} before it weren't sent.", counted(u64::from(*count), "alert")),
            };
            let json = finding("found", anomaly, json!({ "withheld": withheld }));
            AlertNotice { words: words(anomaly, "", &also), json }
        }
        Alert::Repeat { anomaly, since_ms, findings } => {
            let json =
                finding("goes-on", anomaly, json!({ "since": moment(*since_ms), "findings": findings }));
            AlertNotice { words: words(anomaly, " goes on", ""), json }
        }
        Alert::Recovered { key, kind, subject, since_ms, until_ms, findings } => {
            let lasted = format_ms(until_ms.saturating_sub(*since_ms));
            let found = counted(u64::from(*findings), "finding");
            let words = format!("alert over: {}, {subject}: {found} in {lasted}", kind.name());
            let json = json!({
                "alert": "over", "kind": kind, "subject": subject.to_string(), "key": key,
                "since": moment(*since_ms), "until": moment(*until_ms), "findings": findings,
            });
            AlertNotice { words, json: json.to_string() }
        }
    }
}

/// One that only says that alerts arrive.
pub fn test_notice(now: SystemTime) -> AlertNotice {
    let words = "alert test: alerts of this gateway arrive here";
    let json = json!({ "alert": "test", "words": words, "at": utc_text_ms(now) });
    AlertNotice { words: words.to_owned(), json: json.to_string() }
}

fn words(anomaly: &Anomaly, state: &str, also: &str) -> String {
    let (severity, kind) = (anomaly.severity.name(), anomaly.kind.name());
    format!("alert: {severity} {kind}{state}: {}{also}\nhint: {}", anomaly.words, anomaly.action)
}

fn finding(alert: &str, anomaly: &Anomaly, more: Value) -> String {
    let facts: Map<String, Value> =
        anomaly.facts.iter().map(|fact| (fact.name.clone(), json!(fact.value))).collect();
    let mut said = json!({
        "alert": alert,
        "severity": anomaly.severity,
        "kind": anomaly.kind,
        "subject": anomaly.subject.to_string(),
        "words": anomaly.words,
        "facts": facts,
        "executions": anomaly.executions,
        "action": anomaly.action,
        "key": anomaly.key,
        "at": moment(anomaly.at_ms),
    });
    if let (Value::Object(said), Value::Object(more)) = (&mut said, more) {
        said.extend(more);
    }
    said.to_string()
}

fn moment(ms: u64) -> String {
    utc_text_ms(UNIX_EPOCH.checked_add(Duration::from_millis(ms)).unwrap_or(UNIX_EPOCH))
}
