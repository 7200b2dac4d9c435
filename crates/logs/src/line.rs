//! How a line looks.

use std::str::FromStr;
use std::time::SystemTime;

use chrono::{DateTime, SecondsFormat, Utc};
use gristmill_domain::{hides_text, visible_json};
use serde_json::{Map, Value};
use tracing::Level;

use crate::fields::Fields;

/// Longer texts are cut: names are shorter.
const TEXT_CHARS_MAX: usize = 200;

/// How lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// For people: time, level, area, words, then `name=value`.
    #[default]
    Text,
    /// One object per line.
    Json,
}

impl FromStr for LogFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            _ => Err("use text or json".to_owned()),
        }
    }
}

/// One thing that happened.
pub(crate) struct Line<'a> {
    pub time: SystemTime,
    pub level: Level,
    pub area: &'a str,
    pub message: &'a str,
    pub fields: Fields,
}

impl Line<'_> {
    /// With its end.
    pub fn write(self, format: LogFormat) -> String {
        let mut line = match format {
            LogFormat::Text => self.text(),
            LogFormat::Json => self.json(),
        };
        line.push('\n');
        line
    }

    fn time(&self) -> String {
        DateTime::<Utc>::from(self.time).to_rfc3339_opts(SecondsFormat::Millis, true)
    }

    fn text(self) -> String {
        let mut line = format!("{} {:<5} {}: {}", self.time(), self.level, self.area, word(self.message));
        for (name, value) in &self.fields.0 {
            line.push(' ');
            line.push_str(name);
            line.push('=');
            match value {
                Value::String(text) => line.push_str(&quoted(cut(text))),
                other => line.push_str(&other.to_string()),
            }
        }
        line
    }

    fn json(self) -> String {
        let mut object = Map::new();
        object.insert("time".to_owned(), self.time().into());
        object.insert("level".to_owned(), self.level.as_str().to_ascii_lowercase().into());
        object.insert("area".to_owned(), self.area.into());
        object.insert("message".to_owned(), self.message.into());
        for (name, value) in self.fields.0 {
            let value = match value {
                Value::String(text) => cut(&text).into(),
                other => other,
            };
            object.insert(name.to_owned(), value);
        }
        let json = Value::Object(object).to_string();
        visible_json(&json).into_owned()
    }
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(TEXT_CHARS_MAX).map_or(text, |(end, _)| &text[..end])
}

/// Words of ours; whatever else is in them stays on its line.
fn word(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || hides_text(c) { ' ' } else { c }).collect()
}

/// As it is if nothing in it could be taken for something else; otherwise as a JSON text.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| !c.is_control() && !c.is_whitespace() && !hides_text(c) && !"\"\\=".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => visible_json(text).into_owned(),
        false => visible_json(&Value::from(text).to_string()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn line(server: &str) -> Line<'static> {
        let fields = vec![("server", server.into()), ("took_ms", 1.25.into()), ("calls", 2.into())];
        Line {
            time: UNIX_EPOCH + Duration::from_millis(1_700_000_000_042),
            level: Level::INFO,
            area: "door",
            message: "call",
            fields: Fields(fields),
        }
    }

    #[test]
    fn a_line_is_for_people_or_for_machines() {
        assert_eq!(
            line("crm").write(LogFormat::Text),
            "2023-11-14T22:13:20.042Z INFO  door: call server=crm took_ms=1.25 calls=2\n"
        );
        assert_eq!(
            line("crm").write(LogFormat::Json),
            "{\"time\":\"2023-11-14T22:13:20.042Z\",\"level\":\"info\",\"area\":\"door\",\"message\":\"call\",\
             \"server\":\"crm\",\"took_ms\":1.25,\"calls\":2}\n"
        );
    }

    #[test]
    fn a_name_can_neither_forge_a_line_nor_a_field_nor_move_text() {
        let hostile = "a\n2026 INFO x: forged\u{1b}[2J\u{202e}\u{2028}\u{e0041} execution=e1\"\\";
        for format in [LogFormat::Text, LogFormat::Json] {
            let written = line(hostile).write(format);
            let (line, end) = written.split_at(written.len() - 1);
            assert_eq!(end, "\n");
            assert!(!line.chars().any(|c| c.is_control() || hides_text(c)), "{line:?}");
        }
        let text = line(hostile).write(LogFormat::Text);
        assert!(text.contains(
            r#" server="a\n2026 INFO x: forged\u001b[2J\u202e\u2028\udb40\udc41 execution=e1\"\\" took"#
        ));
        let long = line(&"x".repeat(5000)).write(LogFormat::Text);
        assert!(long.len() < 400, "{}", long.len());
        assert!(line("").write(LogFormat::Text).contains("server=\"\" "));
    }
}
