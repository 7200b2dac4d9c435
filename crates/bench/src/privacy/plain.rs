//! Texts without personal data: whatever is found in them is a false alarm.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use gristmill_privacy::{Detector, Origin};
use serde_json::{Value, json};

/// What was found in all files together.
#[derive(Debug, Default)]
pub struct Plain {
    bytes: usize,
    kinds: BTreeMap<String, usize>,
    alarms: Vec<Alarm>,
}

#[derive(Debug)]
struct Alarm {
    rule: &'static str,
    value: String,
    place: String,
}

/// Files in JSON are read as tools' answers are: with the names of their fields.
pub fn scan(detector: &Detector, files: &[PathBuf]) -> anyhow::Result<Option<Plain>> {
    let mut all = Plain::default();
    for file in files {
        let text = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
        all.bytes += text.len();
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => all.json_text(detector, &value, file),
            Err(_) => all.text(detector, &text, file),
        }
    }
    Ok((!files.is_empty()).then_some(all))
}

impl Plain {
    fn text(&mut self, detector: &Detector, text: &str, file: &std::path::Path) {
        for found in detector.scan(text) {
            let value = text.get(found.span.clone()).unwrap_or_default();
            self.alarm(found.kind.name(), found.rule, value, file.display().to_string());
        }
    }

    fn json_text(&mut self, detector: &Detector, value: &Value, file: &std::path::Path) {
        for found in detector.scan_json(value, &Origin::default()) {
            let text = match value.pointer(&found.pointer) {
                Some(Value::String(text)) if !found.is_in_key => text.clone(),
                Some(other) if !found.is_in_key => other.to_string(),
                _ => found.pointer.clone(),
            };
            let value = text.get(found.finding.span.clone()).unwrap_or(&text);
            let place = format!("{} {}", file.display(), found.pointer);
            self.alarm(found.finding.kind.name(), found.finding.rule, value, place);
        }
    }

    fn alarm(&mut self, kind: &str, rule: &'static str, value: &str, place: String) {
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
        self.alarms.push(Alarm { rule, value: value.to_owned(), place });
    }

    fn per_100_kb(&self) -> f64 {
        self.alarms.len() as f64 * 100_000.0 / self.bytes.max(1) as f64
    }

    pub fn print(&self, is_each_shown: bool) {
        println!(
            "\nplain text: {:.2} MB, {} false alarms, {:.2} in 100 KB (goal: at most 1)",
            self.bytes as f64 / 1e6,
            self.alarms.len(),
            self.per_100_kb()
        );
        self.kinds.iter().for_each(|(kind, count)| println!("  {kind:<16} {count:>7}"));
        if is_each_shown {
            for alarm in &self.alarms {
                println!("  {}: {:?} in {}", alarm.rule, alarm.value, alarm.place);
            }
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "bytes": self.bytes,
            "false_alarms": self.alarms.len(),
            "per_100_kb": self.per_100_kb(),
            "kinds": self.kinds,
        })
    }
}
