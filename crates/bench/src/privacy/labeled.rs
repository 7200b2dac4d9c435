//! Texts in which somebody else has said what is where: JSON Lines of
//! `{"text", "spans": [{"start", "end", "kind"}], "kinds", "source"}`.
//!
//! Places count characters, not bytes, as most tools that write such files do. A span without a place says
//! that there is such a value somewhere. `kinds` says which kinds were looked for at all; without it, all.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, bail};
use serde::Deserialize;

/// A text with all that should be found in it.
#[derive(Debug)]
pub struct Labeled {
    pub text: String,
    pub labels: Vec<Place>,
    /// Findings of other kinds say nothing: nobody looked for them.
    pub kinds: Option<BTreeSet<String>>,
    pub source: String,
}

/// A kind, and where it is in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub kind: String,
    /// Anywhere, if there is none.
    pub span: Option<Range<usize>>,
}

#[derive(Deserialize)]
struct Line {
    text: String,
    #[serde(default)]
    spans: Vec<Span>,
    kinds: Option<BTreeSet<String>>,
    #[serde(default)]
    source: String,
}

/// As in a file.
#[derive(Debug, Deserialize)]
pub struct Span {
    kind: String,
    start: Option<usize>,
    end: Option<usize>,
}

/// What another detector found in the same texts, in their order.
#[derive(Debug, Deserialize)]
pub struct Beside {
    pub name: String,
    pub seconds: f64,
    pub findings: Vec<Vec<Span>>,
}

/// Every `.jsonl` file of a folder, in the order of their names.
pub fn load(folder: &Path) -> anyhow::Result<Vec<Labeled>> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))?;
    let mut files: Vec<_> = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut all = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file)?;
        for (at, line) in text.lines().enumerate() {
            let place = || format!("{} line {} isn't a labeled text", file.display(), at + 1);
            let line: Line = serde_json::from_str(line).with_context(place)?;
            all.push(Labeled::of(line).with_context(place)?);
        }
    }
    if all.is_empty() {
        bail!("{} has no labeled texts: .jsonl files with `text` and `spans`", folder.display());
    }
    Ok(all)
}

impl Labeled {
    fn of(line: Line) -> anyhow::Result<Self> {
        let labels = places(&line.text, &line.spans)?;
        Ok(Self { text: line.text, labels, kinds: line.kinds, source: line.source })
    }

    pub fn is_labeled(&self, kind: &str) -> bool {
        self.kinds.as_ref().is_none_or(|kinds| kinds.contains(kind))
    }
}

/// Spans in characters as places in bytes.
pub fn places(text: &str, spans: &[Span]) -> anyhow::Result<Vec<Place>> {
    let byte = |at: usize| {
        let mut starts = text.char_indices().map(|(byte, _)| byte).chain([text.len()]);
        starts.nth(at).with_context(|| format!("there is no character {at} in the text"))
    };
    let place = |span: &Span| {
        let place = match (span.start, span.end) {
            (Some(start), Some(end)) if start < end => Some(byte(start)?..byte(end)?),
            (None, None) => None,
            (start, end) => bail!("a span can't be from {start:?} to {end:?}"),
        };
        Ok(Place { kind: span.kind.clone(), span: place })
    };
    spans.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_become_bytes() {
        let line = r#"{"text": "Größe: a@b.de", "spans": [{"start": 7, "end": 13, "kind": "email"}]}"#;
        let labeled = Labeled::of(serde_json::from_str(line).expect("a line")).expect("places");
        assert_eq!(labeled.labels, [Place { kind: "email".to_owned(), span: Some(9..15) }]);
        assert!(labeled.is_labeled("phone"));
    }

    #[test]
    fn a_place_outside_of_the_text_is_an_error() {
        for span in [r#"{"start": 0, "end": 4, "kind": "x"}"#, r#"{"start": 2, "end": 2, "kind": "x"}"#] {
            let line = format!(r#"{{"text": "abc", "spans": [{span}]}}"#);
            assert!(Labeled::of(serde_json::from_str(&line).expect("a line")).is_err(), "{span}");
        }
    }
}
