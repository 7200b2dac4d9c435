//! A piece of JSON text as a value.
//!
//! Of our own, because the text is foreign: nesting ends at a bound instead of the stack, half of a
//! surrogate pair is no reason to give up, and no key means anything to the parser.

use std::borrow::Cow;

use gristmill_json_text::string_at;
use serde_json::{Map, Number, Value};

use super::parts::{NotJson, Parts};
use super::words::mark;
use crate::quantity::counted_grouped;

/// Arrays and objects inside each other that are kept: parsers commonly stop at 128, and whoever
/// wraps a value needs some room.
pub(super) const DEPTH_MAX: usize = 100;

/// A value, and what could not be kept of it.
#[derive(Debug, PartialEq)]
pub(super) struct Parsed {
    pub value: Value,
    /// Members whose name came again in the same object: the last one counts.
    pub repeated: usize,
    /// Arrays and objects that were too deep; a mark stands in their place.
    pub too_deep: usize,
}

/// Parses a text that is one JSON value, with nothing but white space around it.
pub(super) fn parse(text: &str) -> Result<Parsed, NotJson> {
    parse_at(text, 0)
}

/// The same, for a value that is `depth` levels below the root already.
pub(super) fn parse_at(text: &str, depth: usize) -> Result<Parsed, NotJson> {
    let mut parser = Parser { text, at: 0, repeated: 0, too_deep: 0 };
    let value = parser.value(depth)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(NotJson);
    }
    Ok(Parsed { value, repeated: parser.repeated, too_deep: parser.too_deep })
}

/// The text of a string, from its opening to its closing quote.
pub(super) fn parse_string(text: &str) -> Result<Cow<'_, str>, NotJson> {
    let (string, end) = string_at(text, 0).map_err(|_| NotJson)?;
    if end == text.len() { Ok(string) } else { Err(NotJson) }
}

/// Where the string ends that begins at `start`: after its closing quote.
pub(super) fn end_of_string(text: &str, start: usize) -> Result<usize, NotJson> {
    gristmill_json_text::end_of_string(text.as_bytes(), start).ok_or(NotJson)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    repeated: usize,
    too_deep: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, NotJson> {
        self.skip_space();
        match self.peek().ok_or(NotJson)? {
            b'[' | b'{' if depth >= DEPTH_MAX => self.deep(),
            b'[' => self.array(depth),
            b'{' => self.object(depth),
            b'"' => self.string().map(Value::String),
            b't' => self.word("true", Value::Bool(true)),
            b'f' => self.word("false", Value::Bool(false)),
            b'n' => self.word("null", Value::Null),
            _ => self.number(),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, NotJson> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']') {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take(b']') {
                return Ok(Value::Array(items));
            }
            self.expect(b',')?;
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, NotJson> {
        self.at += 1;
        let mut members = Map::new();
        self.skip_space();
        if self.take(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.skip_space();
            let name = self.string()?;
            self.skip_space();
            self.expect(b':')?;
            let value = self.value(depth + 1)?;
            if members.insert(name, value).is_some() {
                self.repeated += 1;
            }
            self.skip_space();
            if self.take(b'}') {
                return Ok(Value::Object(members));
            }
            self.expect(b',')?;
        }
    }

    fn deep(&mut self) -> Result<Value, NotJson> {
        let parts = Parts::of(self.text, self.at, 2)?;
        self.at = parts.end + 1;
        self.too_deep += 1;
        let what = match parts.is_object {
            true => format!("object of {}", counted_grouped(parts.count, "member")),
            false => format!("array of {}", counted_grouped(parts.count, "item")),
        };
        Ok(Value::String(mark(&format!("{what} not shown: nested too deep"))))
    }

    fn string(&mut self) -> Result<String, NotJson> {
        let (string, end) = string_at(self.text, self.at).map_err(|_| NotJson)?;
        self.at = end;
        Ok(string.into_owned())
    }

    fn number(&mut self) -> Result<Value, NotJson> {
        let rest = self.text.get(self.at..).ok_or(NotJson)?;
        let is_of_number =
            |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
        let length = rest.bytes().position(|byte| !is_of_number(byte)).unwrap_or(rest.len());
        let digits = rest.get(..length).ok_or(NotJson)?;
        self.at += length;
        serde_json::from_str::<Number>(digits).map(Value::Number).map_err(|_| NotJson)
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, NotJson> {
        let rest = self.text.get(self.at..).ok_or(NotJson)?;
        if !rest.starts_with(word) {
            return Err(NotJson);
        }
        self.at += word.len();
        Ok(value)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, byte: u8) -> Result<(), NotJson> {
        self.take(byte).then_some(()).ok_or(NotJson)
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_json_is_read_as_serde_reads_it() {
        for text in [
            r#"{"a":[1,-2.5e10,true,false,null],"b":{"c":"é\n\u00e9\ud83c\udf3e\/"},"":[]}"#,
            " [ ] ",
            "123456789012345678901234567890.000",
            r#""text""#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(parse(text), Ok(Parsed { value, repeated: 0, too_deep: 0 }), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            "[1,]",
            "{a:1}",
            "[1 2]",
            "01",
            "\"a",
            "nul",
            "[1]]",
            "{\"a\"}",
            "\"\\x\"",
            "\"\\u12\"",
            "NaN",
            "-",
        ] {
            assert_eq!(parse(text), Err(NotJson), "{text}");
        }
    }

    #[test]
    fn odd_text_is_read_all_the_same() {
        let check = |text: &str, value, repeated| {
            assert_eq!(parse(text), Ok(Parsed { value, repeated, too_deep: 0 }), "{text}");
        };
        check(r#""\ud800 \udc00\ud800\u0041""#, json!("\u{fffd} \u{fffd}\u{fffd}A"), 0);
        check(r#"{"a":1,"a":2}"#, json!({"a": 2}), 1);
        check("\"\u{1}\"", json!("\u{1}"), 0);
        let reserved = parse(r#"{"$serde_json::private::Number":"1"}"#).unwrap();
        assert!(reserved.value.is_object());
    }

    #[test]
    fn nesting_ends_at_a_bound() {
        let depth = 100_000;
        let text = format!("{}1,2{}", "[".repeat(depth), "]".repeat(depth));
        let parsed = parse(&text).unwrap();
        assert_eq!(parsed.too_deep, 1);
        let shown = parsed.value.to_string();
        assert!(shown.contains("array of 1 item not shown: nested too deep"), "{shown}");
        assert!(serde_json::from_str::<Value>(&shown).is_ok());
    }
}
