//! Text from outside as it may stand in a source file: in a comment, a docstring or a string
//! literal, and never anything else than text.

use serde_json::Value;

use super::Language;
use crate::visible_text::hides_text;

/// Whether a character shows. What does not (controls, direction marks, invisible characters) can
/// hide text from a reader or reorder it.
fn is_visible(c: char) -> bool {
    !c.is_control() && !hides_text(c)
}

/// Whether a character ends a line in either language or merely parts words.
fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{85}')
}

/// On one line, at most so many characters.
pub(crate) fn one_line(text: &str, chars_max: usize) -> String {
    let mut made = String::new();
    let mut count = 0;
    let mut is_parted = false;
    for c in text.chars() {
        if is_gap(c) {
            is_parted = count > 0;
            continue;
        }
        if !is_visible(c) {
            continue;
        }
        count += 1 + usize::from(is_parted);
        if count > chars_max {
            if chars_max > 0 {
                made.push('…');
            }
            break;
        }
        if is_parted {
            made.push(' ');
            is_parted = false;
        }
        made.push(c);
    }
    made
}

/// In its own lines, at most so many characters; whether something was cut.
pub(super) fn lines(text: &str, chars_max: usize) -> (Vec<String>, bool) {
    let mut made: Vec<String> = Vec::new();
    let mut left = chars_max;
    let is_line_end = |c: char| matches!(c, '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    for line in text.trim().split(is_line_end) {
        let indent = line.chars().take_while(|c| matches!(c, ' ' | '\t')).count().min(8);
        let words: String =
            line.trim().chars().map(|c| if is_gap(c) { ' ' } else { c }).filter(|c| is_visible(*c)).collect();
        let words = words.trim();
        if words.is_empty() {
            if made.last().is_some_and(|last| !last.is_empty()) {
                made.push(String::new());
            }
            continue;
        }
        let count = indent + words.chars().count() + 1;
        if count > left {
            let kept = one_line(words, left.saturating_sub(indent + 1));
            if !kept.is_empty() {
                made.push(format!("{:indent$}{kept}", ""));
            }
            return (made, true);
        }
        left -= count;
        made.push(format!("{:indent$}{words}", ""));
    }
    while made.last().is_some_and(String::is_empty) {
        made.pop();
    }
    (made, false)
}

/// A line of `one_line` or `lines` inside a docstring of three double quotes.
pub(super) fn in_docstring(line: &str) -> String {
    let mut made = String::with_capacity(line.len());
    let mut quotes = 0;
    for c in line.chars() {
        quotes = if c == '"' { quotes + 1 } else { 0 };
        if c == '\\' || quotes == 3 {
            made.push('\\');
            quotes = 0;
        }
        made.push(c);
    }
    made
}

/// A line of `one_line` or `lines` inside a block comment.
pub(super) fn in_block_comment(line: &str) -> String {
    without_directives(line).replace("*/", "*\\/")
}

/// A line of `one_line` behind a `#` or a `//`.
pub(super) fn in_line_comment(line: &str) -> String {
    // `# type:` and its kind speak to checkers; with a capital they are only words.
    const DIRECTIVES: [&str; 5] = ["type:", "mypy:", "pyright:", "noqa", "fmt:"];
    let mut made = without_directives(line);
    if DIRECTIVES.iter().any(|word| made.starts_with(word)) {
        made[..1].make_ascii_uppercase();
    }
    made
}

/// Without the words that make TypeScript's compiler look away.
fn without_directives(line: &str) -> String {
    line.replace("@ts-", "@ ts-")
}

/// A string literal with the value `text`.
pub fn string(language: Language, text: &str) -> String {
    let mut made = String::with_capacity(text.len() + 2);
    made.push('"');
    for c in text.chars() {
        match c {
            '"' => made.push_str("\\\""),
            '\\' => made.push_str("\\\\"),
            '\n' => made.push_str("\\n"),
            '\r' => made.push_str("\\r"),
            '\t' => made.push_str("\\t"),
            ' '..='~' => made.push(c),
            _ if c.is_alphanumeric() && is_visible(c) => made.push(c),
            _ => {
                let code = u32::from(c);
                made.push_str(&match (code, language) {
                    (..=0xff, _) => format!("\\x{code:02x}"),
                    (..=0xffff, _) => format!("\\u{code:04x}"),
                    (_, Language::Python) => format!("\\U{code:08x}"),
                    (_, Language::TypeScript) => format!("\\u{{{code:x}}}"),
                });
            }
        }
    }
    made.push('"');
    made
}

/// A literal with this value.
pub(super) fn literal(language: Language, value: &Value) -> String {
    let is_python = language == Language::Python;
    match value {
        Value::Null => if is_python { "None" } else { "null" }.to_owned(),
        Value::Bool(true) => if is_python { "True" } else { "true" }.to_owned(),
        Value::Bool(false) => if is_python { "False" } else { "false" }.to_owned(),
        Value::Number(number) => match (number.as_i64(), number.as_f64().filter(|float| float.is_finite())) {
            (Some(int), _) => int.to_string(),
            (None, Some(float)) => format!("{float:?}"),
            (None, None) => "0".to_owned(),
        },
        Value::String(text) => string(language, text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| literal(language, item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(name, member)| format!("{}: {}", key(language, name), literal(language, member)))
                .collect();
            let members = members.join(", ");
            if is_python { format!("{{{members}}}") } else { format!("{{ {members} }}") }
        }
    }
}

/// The key of an object as it is written in a literal of the language.
pub(super) fn key(language: Language, name: &str) -> String {
    if language == Language::TypeScript && is_plain_name(name) {
        return name.to_owned();
    }
    string(language, name)
}

/// Whether it reads as one word in both languages.
pub(super) fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_and_line_ends_do_not_reach_a_line() {
        assert_eq!(one_line(" a\u{202e}b\0 \n\u{2028} c\u{e0041}\u{feff} ", 100), "ab c");
        assert_eq!(one_line("one two three", 7), "one two…");
        assert_eq!(one_line("one", 0), "");
        let (made, is_cut) = lines("a\r\n\n\n  b\u{2029}c\n\n", 100);
        assert_eq!(
            (made, is_cut),
            (vec!["a".to_owned(), String::new(), "  b".to_owned(), "c".to_owned()], false)
        );
        assert_eq!(lines("one\ntwo three", 9), (vec!["one".to_owned(), "two…".to_owned()], true));
    }

    #[test]
    fn nothing_closes_a_docstring_or_a_comment() {
        assert_eq!(in_docstring(r#"a""""""" \"#), r#"a""\"""\"" \\"#);
        assert_eq!(in_block_comment("**/ @ts-ignore"), "**\\/ @ ts-ignore");
        assert_eq!(in_line_comment("type: ignore"), "Type: ignore");
        assert_eq!(in_line_comment("typed"), "typed");
    }

    #[test]
    fn a_string_literal_keeps_its_value_and_shows_what_is_hidden() {
        let text = "a\"\\\n\0\u{202e}é\u{1f600}";
        assert_eq!(string(Language::Python, text), r#""a\"\\\n\x00\u202eé\U0001f600""#);
        assert_eq!(string(Language::TypeScript, text), r#""a\"\\\n\x00\u202eé\u{1f600}""#);
    }
}
