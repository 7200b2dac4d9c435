//! Changes of a text that leave every line where it is: what goes becomes blanks, and what comes has no line end.

use std::collections::BTreeMap;

use oxc_span::Span;

use super::columns::Columns;
use super::tokens::is_line_end;

#[derive(Debug, Default)]
pub(super) struct Edits {
    blanks: Vec<(usize, usize)>,
    /// Characters that take the place of one.
    covers: BTreeMap<usize, char>,
    /// What comes before a place, in the order in which it was said.
    inserts: BTreeMap<usize, String>,
}

impl Edits {
    /// Nothing but blanks remain of it.
    pub fn blank(&mut self, from: usize, to: usize) {
        if from < to {
            self.blanks.push((from, to));
        }
    }

    pub fn blank_span(&mut self, span: Span) {
        self.blank(span.start as usize, span.end as usize);
    }

    /// The same, with a sign where it begins.
    pub fn blank_as(&mut self, from: usize, to: usize, sign: char) {
        self.blank(from, to);
        self.covers.insert(from, sign);
    }

    /// A sign in place of the one that stands there.
    pub fn cover(&mut self, at: usize, sign: char) {
        self.covers.insert(at, sign);
    }

    /// Comes before what stands at `at`, after what was inserted there before.
    pub fn insert(&mut self, at: usize, text: &str) {
        self.inserts.entry(at).or_default().push_str(text);
    }

    /// Takes the place of what stands there, whose lines stay.
    pub fn replace(&mut self, from: usize, to: usize, text: &str) {
        self.insert(from, text);
        self.blank(from, to);
    }

    pub fn apply(self, text: &str) -> String {
        self.apply_behind("", text).0
    }

    /// The same, with something before the first line, and what becomes of columns.
    pub fn apply_behind<'t>(mut self, head: &str, text: &'t str) -> (String, Columns<'t>) {
        self.blanks.sort_unstable();
        let mut made = String::with_capacity(head.len() + text.len() + 256);
        let mut columns = Columns::of(text);
        made.push_str(head);
        columns.insert(head);
        let mut blanks = self.blanks.iter().peekable();
        let mut blank_until = 0;
        let has_changes = !self.inserts.is_empty() || !self.covers.is_empty();
        for (at, c) in text.char_indices() {
            while let Some((_, to)) = blanks.next_if(|(from, _)| *from <= at) {
                blank_until = blank_until.max(*to);
            }
            if has_changes && let Some(inserted) = self.inserts.get(&at) {
                made.push_str(inserted);
                columns.insert(inserted);
            }
            let shown = match self.covers.get(&at) {
                Some(cover) => *cover,
                None if at < blank_until && !is_line_end(c) => ' ',
                None => c,
            };
            made.push(shown);
            columns.pass(c, shown);
        }
        if let Some(inserted) = self.inserts.get(&text.len()) {
            made.push_str(inserted);
            columns.insert(inserted);
        }
        (made, columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_stay() {
        let text = "let é: Ünion\n | string = 1;";
        let mut edits = Edits::default();
        let colon = text.find(':').expect("a colon");
        edits.blank(colon, text.find('=').expect("a sign"));
        edits.insert(text.len(), "x");
        assert_eq!(edits.apply(text), "let é       \n          = 1;x");
    }

    #[test]
    fn overlapping_blanks_and_inserts_come_in_order() {
        let mut edits = Edits::default();
        edits.blank(0, 4);
        edits.blank(1, 2);
        edits.insert(2, "a");
        edits.insert(2, "b");
        edits.blank_as(4, 6, ';');
        assert_eq!(edits.apply("12345678"), "  ab  ; 78");
    }
}
