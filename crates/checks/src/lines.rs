//! Lines and columns of a text.

use std::sync::OnceLock;

use ruff_text_size::{TextRange, TextSize};

/// Where every line of a text begins, from when somebody asks.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: OnceLock<Vec<usize>>,
}

/// A place as people count it, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub line: usize,
    /// In characters.
    pub column: usize,
    /// How much of the line it takes.
    pub width: usize,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        Self { text, starts: OnceLock::new() }
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let starts =
                self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(starts).collect()
        })
    }

    pub fn line_of(&self, at: TextSize) -> usize {
        self.starts().partition_point(|start| *start <= at.to_usize()).max(1)
    }

    pub fn place(&self, range: TextRange) -> Place {
        let line = self.line_of(range.start());
        let begin = self.starts()[line - 1];
        let start = range.start().to_usize().min(self.text.len());
        let end = range.end().to_usize().min(begin + self.text(line).len()).max(start);
        let chars = |from: usize, to: usize| self.text.get(from..to).map_or(0, |text| text.chars().count());
        Place { line, column: chars(begin, start) + 1, width: chars(start, end).max(1) }
    }

    /// Where a line begins.
    pub fn start(&self, line: usize) -> Option<usize> {
        self.starts().get(line.checked_sub(1)?).copied()
    }

    /// A line without its end; empty if there is none.
    pub fn text(&self, line: usize) -> &'a str {
        let Some(begin) = line.checked_sub(1).and_then(|index| self.starts().get(index)) else { return "" };
        let end = self.starts().get(line).map_or(self.text.len(), |next| next - 1);
        &self.text[*begin..end]
    }
}
