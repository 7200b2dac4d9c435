//! Paths as models and people write them: `rows[3].name`, `rows.3.name`, `["a.b"][0]`.

use super::PathError;
use crate::one_line;

/// Longer paths lead nowhere that anybody has seen.
const PATH_BYTES_MAX: usize = 4_096;

/// Deeper than any value that a program may give back.
const STEPS_MAX: usize = 256;

/// A path, taken apart. The empty one is the whole value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The key, or the digits of an index.
    pub text: String,
    /// What it means in an array.
    pub index: Option<u64>,
}

impl ResultPath {
    /// Reads a path. A leading `$` is the value itself, as in JSONPath.
    pub fn read(text: &str) -> Result<Self, PathError> {
        let wrong = |why| PathError::NotAPath { path: one_line(text, 80), why };
        if text.len() > PATH_BYTES_MAX {
            return Err(wrong("it is too long"));
        }
        let mut rest = text.trim();
        if rest == "$" || rest.starts_with("$.") || rest.starts_with("$[") {
            rest = &rest[1..];
        }
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = next_step(rest, steps.is_empty()).map_err(wrong)?;
            steps.push(step);
            if steps.len() > STEPS_MAX {
                return Err(wrong("it has too many parts"));
            }
            rest = after;
        }
        Ok(Self { steps })
    }

    /// The names of fields on the way, without positions in lists.
    pub fn keys(&self) -> Vec<String> {
        self.steps.iter().filter(|step| step.index.is_none()).map(|step| step.text.clone()).collect()
    }

    /// The path of the object that the last key belongs to.
    pub fn parent(&self) -> Option<Self> {
        let (last, before) = self.steps.split_last()?;
        last.index.is_none().then(|| Self { steps: before.to_vec() })
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The first `count` steps as text, for a message; the whole value has a name of its own.
    pub(super) fn shown(&self, count: usize) -> String {
        let mut text = String::new();
        for step in self.steps.iter().take(count) {
            push_step(&mut text, step);
        }
        if text.is_empty() { "the result".to_owned() } else { one_line(&text, 200) }
    }

    /// This path with the first item of an array after `count` steps, for a message.
    pub(super) fn with_item(&self, count: usize) -> String {
        let first = Step { text: "0".to_owned(), index: Some(0) };
        let (before, after) = self.steps.split_at(count.min(self.steps.len()));
        let mut text = String::new();
        for step in before.iter().chain([&first]).chain(after) {
            push_step(&mut text, step);
        }
        one_line(&text, 200)
    }

    /// The path of something inside what this one leads to.
    pub(super) fn child(&self, key: &str, index: Option<u64>) -> String {
        let mut text = String::new();
        for step in &self.steps {
            push_step(&mut text, step);
        }
        push_step(&mut text, &Step { text: key.to_owned(), index });
        text
    }
}

/// As it can be written again. An index that was written as a key reads the same.
fn push_step(text: &mut String, step: &Step) {
    let is_plain =
        |key: &str| !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    match step.index {
        Some(index) => text.push_str(&format!("[{index}]")),
        None if is_plain(&step.text) => {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(&step.text);
        }
        None => text.push_str(&format!("[{}]", serde_json::Value::from(step.text.as_str()))),
    }
}

/// The next step, and what follows it.
fn next_step(text: &str, is_first: bool) -> Result<(Step, &str), &'static str> {
    if let Some(inside) = text.strip_prefix('[') {
        return bracketed(inside);
    }
    let name = match text.strip_prefix('.') {
        Some(name) => name,
        None if is_first => text,
        None => return Err("a `.` or `[` is missing after a `]`"),
    };
    let end = name.find(['.', '[']).unwrap_or(name.len());
    let (key, after) = name.split_at(end);
    if key.is_empty() {
        return Err("a name is missing beside a `.`");
    }
    Ok((Step { text: key.to_owned(), index: index_of(key) }, after))
}

/// What stands in brackets, and what follows them.
fn bracketed(inside: &str) -> Result<(Step, &str), &'static str> {
    if inside.starts_with(['"', '\'']) {
        let (key, after) = quoted(inside)?;
        let after = after.strip_prefix(']').ok_or("a `]` is missing")?;
        return Ok((Step { text: key, index: None }, after));
    }
    let (index, after) = inside.split_once(']').ok_or("a `]` is missing")?;
    let number = index_of(index.trim()).ok_or("brackets take an index from 0, or a key in quotes")?;
    Ok((Step { text: index.trim().to_owned(), index: Some(number) }, after))
}

/// A key in quotes, as JSON or Python would write it.
fn quoted(text: &str) -> Result<(String, &str), &'static str> {
    let quote = if text.starts_with('\'') { '\'' } else { '"' };
    let mut key = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some((_, 'n')) => key.push('\n'),
                Some((_, 't')) => key.push('\t'),
                Some((_, escaped)) => key.push(escaped),
                None => break,
            },
            letter if letter == quote => return Ok((key, &text[at + 1..])),
            letter => key.push(letter),
        }
    }
    Err("a quote isn't closed")
}

fn index_of(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}
