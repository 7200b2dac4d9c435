//! Front matter: what stands between two `---` lines at the top of a `SKILL.md`.
//!
//! A small part of YAML, read with bounds: one map of plain keys, no aliases, little depth. What we do
//! not know is kept and written back.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// Nesting: a list of maps of lists is more than anyone writes here.
const DEPTH_MAX: usize = 8;
const VALUES_MAX: usize = 2_000;

/// Keys and values, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrontMatter(Vec<(String, Value)>);

/// Front matter that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the front matter can't be read: {message} (line {line})")]
pub struct FrontMatterError {
    pub message: String,
    pub line: usize,
}

impl FrontMatter {
    /// From the text between the lines.
    pub fn parse(text: &str) -> Result<Self, FrontMatterError> {
        let mut builder = Builder::default();
        for event in Parser::new_from_str(text) {
            // The first `---` is line 1.
            let (event, span) = event.map_err(|error| FrontMatterError {
                message: error.info().to_owned(),
                line: error.marker().line() + 1,
            })?;
            let line = span.start.line() + 1;
            builder.take(event).map_err(|message| FrontMatterError { message: message.to_owned(), line })?;
        }
        match builder.root {
            None | Some(Root::Value(Value::Null)) => Ok(Self::default()),
            Some(Root::Members(members)) => Ok(Self(members)),
            Some(Root::Value(_)) => {
                Err(FrontMatterError { message: "it isn't a list of `key: value`".to_owned(), line: 2 })
            }
        }
    }

    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// A text, or a number as it was written.
    pub fn text(&self, key: &str) -> Option<String> {
        match self.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// A list of texts; one text is such a list too, with commas between.
    pub fn texts(&self, key: &str) -> Vec<String> {
        match self.get(key) {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(text)) => {
                text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
        }
    }

    /// Puts a value where the key stands, or at the end. An empty list takes the key away.
    pub fn set(&mut self, key: &str, value: Value) {
        let is_nothing = value.as_array().is_some_and(Vec::is_empty);
        match self.0.iter().position(|(known, _)| known == key) {
            Some(at) if is_nothing => {
                self.0.remove(at);
            }
            Some(at) => self.0[at].1 = value,
            None if is_nothing => {}
            None => self.0.push((key.to_owned(), value)),
        }
    }

    /// As text, without the lines around it.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (key, value) in &self.0 {
            text.push_str(&scalar(key));
            match value {
                Value::Array(items) if items.iter().all(Value::is_string) => {
                    text.push_str(":\n");
                    for item in items.iter().filter_map(Value::as_str) {
                        text.push_str(&format!("  - {}\n", scalar(item)));
                    }
                }
                Value::String(words) => text.push_str(&format!(": {}\n", scalar(words))),
                // JSON is YAML, too.
                other => text.push_str(&format!(": {other}\n")),
            }
        }
        text
    }
}

/// Plain where nothing else could be meant, otherwise in quotes.
fn scalar(text: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '.' | '/' | '(' | ')' | '-');
    let is_word = matches!(
        text.to_ascii_lowercase().as_str(),
        "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
    );
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(is_plain)
        && !text.ends_with(' ')
        && !is_word;
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    root: Option<Root>,
    values: usize,
}

/// The whole of it. The outermost map keeps its order.
enum Root {
    Members(Vec<(String, Value)>),
    Value(Value),
}

/// A list or a map that is not finished.
enum Open {
    List(Vec<Value>),
    Map(Vec<(String, Value)>, Option<String>),
}

impl Builder {
    fn take(&mut self, event: Event<'_>) -> Result<(), &'static str> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) if self.root.is_some() => Err("it ends in the middle"),
            Event::DocumentStart(_) => Ok(()),
            Event::Alias(_) => Err("aliases (`*name`) aren't supported; write the value out"),
            Event::Scalar(text, style, _, tag) => {
                if let Some(Open::Map(_, key @ None)) = self.open.last_mut() {
                    *key = Some(text.into_owned());
                    return Ok(());
                }
                let is_plain = style == ScalarStyle::Plain && tag.is_none();
                self.put(if is_plain { plain_value(&text) } else { Value::String(text.into_owned()) })
            }
            Event::SequenceStart(..) => self.begin(Open::List(Vec::new())),
            Event::MappingStart(..) => self.begin(Open::Map(Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => self.put(Value::Array(items)),
                Some(Open::Map(members, _)) if self.open.is_empty() => {
                    self.root = Some(Root::Members(members));
                    Ok(())
                }
                Some(Open::Map(members, _)) => self.put(Value::Object(Map::from_iter(members))),
                None => Err("something ends that never started"),
            },
        }
    }

    fn begin(&mut self, open: Open) -> Result<(), &'static str> {
        if let Some(Open::Map(_, None)) = self.open.last() {
            return Err("a key must be a plain word");
        }
        if self.open.len() >= DEPTH_MAX {
            return Err("it's nested too deep");
        }
        self.open.push(open);
        Ok(())
    }

    fn put(&mut self, value: Value) -> Result<(), &'static str> {
        self.values += 1;
        if self.values > VALUES_MAX {
            return Err("it has too many values");
        }
        match self.open.last_mut() {
            None => self.root = Some(Root::Value(value)),
            Some(Open::List(items)) => items.push(value),
            Some(Open::Map(members, key)) => {
                let key = key.take().ok_or("a key must be a plain word")?;
                if members.iter().any(|(known, _)| *known == key) {
                    return Err("a key appears twice");
                }
                members.push((key, value));
            }
        }
        Ok(())
    }
}

fn plain_value(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        text => match text.parse::<serde_json::Number>() {
            Ok(number) => Value::Number(number),
            Err(_) => Value::String(text.to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_known_is_kept_in_its_place() {
        let text = "name: report\nlicense: MIT\nversion: 1.10\nallowed: [a, {b: 1}]\ntags:\n  - one\n  - \"two: 2\"\n";
        let mut front = FrontMatter::parse(text).expect("front matter");
        assert_eq!(front.text("version").as_deref(), Some("1.10"));
        assert_eq!(front.texts("tags"), ["one", "two: 2"]);
        front.set("description", json!("Says: \"hi\"\nand more"));
        front.set("version", json!(2));
        let written = front.render();
        assert!(written.starts_with("name: report\nlicense: MIT\nversion: 2\n"), "{written}");
        assert_eq!(FrontMatter::parse(&written).expect("its own text"), front);
    }

    #[test]
    fn bombs_are_refused() {
        let refused = |text: &str| FrontMatter::parse(text).expect_err("a bomb").to_string();
        assert!(refused("a: &x [1]\nb: *x\n").contains("aliases"));
        assert!(refused(&format!("a: {}", "[".repeat(20))).contains("nested too deep"));
        assert!(FrontMatter::parse(&format!("a: {}", "[".repeat(5_000))).is_err());
        assert!(refused(&format!("a: [{}]", "1,".repeat(5_000))).contains("too many values"));
        assert!(refused("a: 1\na: 2\n").contains("twice"));
        assert!(refused("- a\n").contains("key: value"));
        assert!(refused("? [a]\n: 1\n").contains("plain word"));
        assert!(FrontMatter::parse("a: \"").is_err());
    }

    #[test]
    fn any_text_comes_back_as_it_was() {
        for text in [
            "yes",
            "true",
            "12",
            "- a",
            "a: b",
            "# no",
            "'",
            "\"",
            "\\",
            "tab\tline\n",
            "\u{1b}[1m",
            "größe",
            " a ",
            "",
        ] {
            let mut front = FrontMatter::default();
            front.set("k", json!(text));
            let read = FrontMatter::parse(&front.render()).expect(text);
            assert_eq!(read.text("k").as_deref(), Some(text), "{}", front.render());
        }
    }
}
