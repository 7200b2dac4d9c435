//! Where the columns of a rewritten line are in its author's. Blanks keep them, and most lines stand as they were
//! written; of the others, the script says what the author has there, so that errors show that.

use serde_json::{Value, json};

/// The lines of a text whose characters or columns aren't their author's any more.
pub(super) struct Columns<'t> {
    text: &'t str,
    rewritten: Vec<Line<'t>>,
    line: usize,
    /// Where the line begins in the text, and how much of it was passed.
    start: usize,
    length: usize,
    /// The same, in characters.
    chars: usize,
    /// The bytes of the line so far, as it is rewritten.
    made: usize,
    is_other: bool,
    stretches: Vec<Stretch>,
}

struct Line<'t> {
    /// Counted from 1.
    number: usize,
    /// As its author wrote it.
    text: &'t str,
    stretches: Vec<Stretch>,
}

/// A part of a rewritten line, up to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stretch {
    /// In bytes: engines count columns so.
    from: usize,
    /// The author's column, in characters, from 0.
    at: usize,
    /// The bytes that each of the author's characters takes; 0 of what was inserted.
    width: usize,
}

impl Stretch {
    const WHOLE_LINE: Self = Self { from: 0, at: 0, width: 1 };
}

impl<'t> Columns<'t> {
    pub fn of(text: &'t str) -> Self {
        Self {
            text,
            rewritten: Vec::new(),
            line: 1,
            start: 0,
            length: 0,
            chars: 0,
            made: 0,
            is_other: false,
            stretches: Vec::new(),
        }
    }

    /// What stands before the next character, and isn't the author's.
    pub fn insert(&mut self, inserted: &str) {
        if !inserted.is_empty() {
            self.stretch(0);
            self.made += inserted.len();
        }
    }

    /// The next character, and what it became.
    pub fn pass(&mut self, c: char, shown: char) {
        if c == '\n' {
            self.end_line();
            self.start += self.length + 1;
            (self.length, self.chars, self.made) = (0, 0, 0);
            self.line += 1;
            return;
        }
        self.stretch(shown.len_utf8());
        self.is_other |= c != shown;
        self.length += c.len_utf8();
        self.chars += 1;
        self.made += shown.len_utf8();
    }

    fn stretch(&mut self, width: usize) {
        if self.stretches.last().is_none_or(|last| last.width != width) {
            self.stretches.push(Stretch { from: self.made, at: self.chars, width });
        }
    }

    fn end_line(&mut self) {
        let stretches = std::mem::take(&mut self.stretches);
        let is_rewritten = stretches.iter().any(|stretch| *stretch != Stretch::WHOLE_LINE);
        if std::mem::take(&mut self.is_other) || is_rewritten {
            let text = &self.text[self.start..self.start + self.length];
            self.rewritten.push(Line { number: self.line, text: text.trim_end_matches('\r'), stretches });
        }
    }

    /// As JSON on one line, which JavaScript takes for one, too: of each line its number, its text, and all numbers
    /// of its stretches.
    pub fn written(mut self) -> String {
        self.end_line();
        let lines = self.rewritten.iter().map(|line| {
            let numbers = line.stretches.iter().flat_map(|one| [one.from, one.at, one.width]);
            json!([line.number, line.text, numbers.collect::<Vec<usize>>()])
        });
        let written = lines.collect::<Value>().to_string();
        written.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of a text with these insertions, and with blanks in a range.
    fn written(text: &str, insert: &[(usize, &str)], blank: std::ops::Range<usize>) -> String {
        let mut columns = Columns::of(text);
        for (at, c) in text.char_indices() {
            for (_, inserted) in insert.iter().filter(|(before, _)| *before == at) {
                columns.insert(inserted);
            }
            columns.pass(c, if blank.contains(&at) { ' ' } else { c });
        }
        columns.written()
    }

    #[test]
    fn lines_that_stand_as_they_were_written_are_left_out() {
        assert_eq!(written("", &[], 0..0), "[]");
        assert_eq!(written("a\nb\r\n\nc", &[], 0..0), "[]");
        assert_eq!(written("a\nbc\r\nd", &[(3, "..")], 0..0), r#"[[2,"bc",[0,0,1,1,1,0,3,1,1]]]"#);
    }

    #[test]
    fn a_blank_keeps_its_column_and_the_authors_text_is_told() {
        assert_eq!(written("x: y", &[], 1..4), r#"[[1,"x: y",[0,0,1]]]"#);
        assert_eq!(written("é: ü=b", &[], 2..5), r#"[[1,"é: ü=b",[0,0,2,2,1,1]]]"#);
    }

    #[test]
    fn columns_are_bytes_in_the_script_and_characters_at_the_author() {
        assert_eq!(written("żół=a", &[], 0..0), r#"[[1,"żół=a",[0,0,2,6,3,1]]]"#);
        assert_eq!(written("a中b", &[(0, "++")], 0..0), r#"[[1,"a中b",[0,0,0,2,0,1,3,1,3,6,2,1]]]"#);
    }

    #[test]
    fn no_character_ends_the_line_that_tells_it() {
        let told = written("\"\u{2028}\u{2029}\" +", &[(0, "(")], 0..0);
        assert!(told.is_ascii() && told.contains("\\u2028\\u2029"), "{told}");
    }
}
