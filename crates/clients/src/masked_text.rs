//! A client's file as it may be shown: every text in it hidden but for how servers are reached.
//!
//! What a file holds beside servers is none of our business, and what is in `env` and `headers` is
//! nobody's. Lines stay lines, so that the difference of two masked texts is that of the texts.

use std::ops::Range;

use gristmill_config::format::Format;
use gristmill_config::read_json;
use gristmill_config::written::MASK;
use jsonc_parser::ast::Value as JsonValue;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, parse_to_ast};
use toml_edit::{Document, Item, TableLike, Value as TomlValue};

use super::secret_shapes::is_secret;
use super::secret_values::masked;

/// The keys whose texts are shown, as far as they are no secrets.
const SHOWN: [&str; 8] = ["type", "transport", "command", "args", "cwd", "url", "httpUrl", "serverUrl"];
/// Nothing below these is.
const HIDDEN: [&str; 5] = ["env", "headers", "http_headers", "env_http_headers", "oauth"];

/// Masks a text of this format. One that cannot be read is not shown at all.
pub fn mask(text: &str, format: Format) -> String {
    let mut masking = Masking::default();
    match format {
        Format::Json => match parse_to_ast(text, &CollectOptions::default(), &read_json::options()) {
            Ok(parsed) => {
                if let Some(value) = &parsed.value {
                    masking.json(value, Key::default(), &mut None);
                }
            }
            Err(_) => return MASK.to_owned(),
        },
        Format::Toml => match Document::parse(text) {
            Ok(document) => masking.toml_table(document.as_table(), Key::default()),
            Err(_) => return MASK.to_owned(),
        },
        Format::Yaml => return MASK.to_owned(),
    }
    masking.comments(text, format);
    let mut pieces = masking.pieces;
    pieces.sort_by_key(|(range, _)| range.start);
    let mut shown = String::new();
    let mut at = 0;
    for (range, replacement) in pieces {
        // A piece inside another is hidden with it.
        if range.start < at {
            continue;
        }
        shown.push_str(&text[at..range.start]);
        shown.push_str(&replacement);
        at = range.end;
    }
    shown.push_str(&text[at..]);
    shown
}

/// People comment servers out, with everything in them: what follows a name that promises a secret
/// is hidden up to the end of the line.
fn masked_comment(line: &str) -> String {
    let is_telling = |at: &usize| {
        let name = line[..*at].trim_end_matches([' ', '"', '\'']);
        let name = name.rsplit([' ', '"', '\'', ',', '{', '/']).next().unwrap_or_default();
        is_secret(name) || HIDDEN.contains(&name)
    };
    match line.match_indices([':', '=']).map(|(at, _)| at).find(is_telling) {
        Some(at) => format!("{} {MASK}", &line[..=at]),
        None => masked(line),
    }
}

/// What a value is called, and whether anything above it is hidden.
#[derive(Clone, Copy, Default)]
struct Key<'a> {
    name: &'a str,
    is_hidden: bool,
}

impl<'a> Key<'a> {
    fn below(self, name: &'a str) -> Self {
        Self { name, is_hidden: self.is_hidden || HIDDEN.contains(&name) || HIDDEN.contains(&self.name) }
    }
}

#[derive(Default)]
struct Masking {
    pieces: Vec<(Range<usize>, String)>,
    /// Where texts are: nothing in them is a comment.
    texts: Vec<Range<usize>>,
}

impl Masking {
    /// Everything outside of texts that begins as a comment does.
    fn comments(&mut self, text: &str, format: Format) {
        self.texts.sort_by_key(|range| range.start);
        let marks: &[(&str, &str)] =
            if format == Format::Toml { &[("#", "\n")] } else { &[("//", "\n"), ("/*", "*/")] };
        let mut texts = self.texts.iter().peekable();
        let mut at = 0;
        while at < text.len() {
            while texts.next_if(|range| range.end <= at).is_some() {}
            let next_text = texts.peek().map_or(text.len(), |range| range.start.max(at));
            let gap = &text[at..next_text];
            let found = marks.iter().filter_map(|(mark, end)| Some((gap.find(mark)?, *end))).min();
            let Some((start, end)) = found else {
                at = texts.next().map_or(text.len(), |range| range.end.max(at));
                continue;
            };
            let start = at + start;
            let end = text[start..].find(end).map_or(text.len(), |length| start + length);
            let lines: Vec<String> = text[start..end].split('\n').map(masked_comment).collect();
            self.pieces.push((start..end, lines.join("\n")));
            at = end.max(start + 1);
        }
    }

    fn text(&mut self, range: Range<usize>, text: &str, key: Key<'_>, flag: &mut Option<String>) {
        self.texts.push(range.clone());
        let follows_secret_flag = flag.take().is_some() && !text.starts_with('-');
        let is_shown = SHOWN.contains(&key.name) && !key.is_hidden && !follows_secret_flag;
        if key.name == "args" && text.starts_with('-') && !text.contains('=') && is_secret(text) {
            *flag = Some(text.to_owned());
        }
        let shown = if is_shown { masked(text) } else { MASK.to_owned() };
        // As it stands, if nothing in it is hidden: the diff must show the text that is written.
        if shown != text {
            self.pieces.push((range, serde_json::Value::from(shown).to_string()));
        }
    }

    fn json(&mut self, value: &JsonValue<'_>, key: Key<'_>, flag: &mut Option<String>) {
        match value {
            JsonValue::StringLit(text) => {
                let range = value.range();
                self.text(range.start..range.end, &text.value, key, flag);
            }
            JsonValue::Array(array) => {
                let mut flag = None;
                for value in &array.elements {
                    self.json(value, key, &mut flag);
                }
            }
            JsonValue::Object(object) => {
                for property in &object.properties {
                    let name = property.name.range();
                    self.texts.push(name.start..name.end);
                    self.json(&property.value, key.below(property.name.as_str()), &mut None);
                }
            }
            JsonValue::NullKeyword(_) | JsonValue::BooleanLit(_) | JsonValue::NumberLit(_) => {}
        }
    }

    fn toml_table(&mut self, table: &dyn TableLike, key: Key<'_>) {
        for (name, item) in table.iter() {
            self.toml_item(item, key.below(name));
        }
    }

    fn toml_item(&mut self, item: &Item, key: Key<'_>) {
        match item {
            Item::None => {}
            Item::Value(value) => self.toml_value(value, key, &mut None),
            Item::Table(table) => self.toml_table(table, key),
            Item::ArrayOfTables(tables) => {
                for table in tables.iter() {
                    self.toml_table(table, key);
                }
            }
        }
    }

    fn toml_value(&mut self, value: &TomlValue, key: Key<'_>, flag: &mut Option<String>) {
        match value {
            TomlValue::String(text) => {
                if let Some(range) = value.span() {
                    self.text(range, text.value(), key, flag);
                }
            }
            TomlValue::Array(array) => {
                let mut flag = None;
                for value in array.iter() {
                    self.toml_value(value, key, &mut flag);
                }
            }
            TomlValue::InlineTable(table) => self.toml_table(table, key),
            TomlValue::Integer(_) | TomlValue::Float(_) | TomlValue::Boolean(_) | TomlValue::Datetime(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_how_servers_are_reached_is_shown() {
        let json = r#"{
  "account": "someone@example.com", // token: abc
  "site": "https://a.example", /* was
  "headers": {"a": "b"} */
  "mcpServers": {
    // "z": {"env": {"A": "b"}}
    "a": {"command": "npx", "args": ["-y", "x", "--token", "s3cret", "--verbose"], "env": {"command": "hidden"}},
    "b": {"url": "https://x.example/mcp?key=abc", "headers": {"X": "y"}, "n": 1}
  }
}
"#;
        let expected = r#"{
  "account": "…", // token: …
  "site": "…", /* was
  "headers": …*/
  "mcpServers": {
    // "z": {"env": …
    "a": {"command": "npx", "args": ["-y", "x", "--token", "…", "--verbose"], "env": {"command": "…"}},
    "b": {"url": "https://x.example/mcp?key=…", "headers": {"X": "…"}, "n": 1}
  }
}
"#;
        assert_eq!(mask(json, Format::Json), expected);
        let toml = "model = 'o9'\n[mcp_servers.a]\ncommand = 'npx'\nargs = [\"--api-key=abc\"]\nenv = { A = 'b' }\n\
                    # API_KEY = \"abc\"\n# env = { A = 'b' }\n[mcp_servers.a.http_headers]\nurl = 'hidden'\n";
        let expected = "model = \"…\"\n[mcp_servers.a]\ncommand = 'npx'\nargs = [\"--api-key=…\"]\nenv = { A = \"…\" }\n\
                        # API_KEY = …\n# env = …\n[mcp_servers.a.http_headers]\nurl = \"…\"\n";
        assert_eq!(mask(toml, Format::Toml), expected);
    }
}
