//! Whether a text is certainly not nested too deeply, by its bytes: a program that will be parsed need not be cut
//! into tokens twice.
//!
//! Counts what `nesting` counts, or more, and gives up where bytes alone don't say what the tokens are.

use crate::nesting::{BRACKET_LEVELS, INDENT_LEVELS};

/// Brackets that are open at a time, and lines that are set in: with more, there are too many levels anyway.
const OPEN_MAX: usize = 160;
const INDENTS_MAX: usize = 80;

/// `false` if it is too deep, or may be.
pub(crate) fn is_certainly_shallow(text: &str, levels_max: usize) -> bool {
    let scan = Scan {
        text: text.as_bytes(),
        at: 0,
        levels_max,
        open: [0; OPEN_MAX],
        depth: 0,
        below: 0,
        widths: [0; INDENTS_MAX],
        indents: 0,
    };
    scan.text().is_some()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Space,
    /// What isn't looked at any closer.
    Other,
    /// A token of its own, or a part of one.
    Mark,
    Open,
    Close,
    Comma,
    Quote,
    Comment,
    Backslash,
    LineBreak,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = class_of(byte as u8);
        byte += 1;
    }
    classes
};

const fn class_of(byte: u8) -> Class {
    match byte {
        b' ' | b'\t' => Class::Space,
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b'+' | b'-' | b'*' | b'/' | b'%' | b'|' | b'^' | b'&' | b'@' | b'~' | b'<' | b'>' | b'=' | b'!'
        | b':' | b'.' => Class::Mark,
        b'(' | b'[' | b'{' => Class::Open,
        b')' | b']' | b'}' => Class::Close,
        b',' | b';' => Class::Comma,
        b'\'' | b'"' => Class::Quote,
        b'#' => Class::Comment,
        b'\\' => Class::Backslash,
        b'\n' => Class::LineBreak,
        _ => Class::Other,
    }
}

/// What a word is that stands right before a quote.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefix {
    None,
    /// Of a text without values in it.
    Plain,
    /// Of a text with values in it.
    Format,
    /// Of one whose pieces count as well.
    Template,
}

/// Every method gives `None` where it gives up.
struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    levels_max: usize,
    /// The levels in each open bracket since its last comma, the innermost at `depth`.
    open: [usize; OPEN_MAX],
    depth: usize,
    /// The sum of them.
    below: usize,
    /// How far lines are set in, level by level.
    widths: [usize; INDENTS_MAX],
    indents: usize,
}

impl Scan<'_> {
    fn text(mut self) -> Option<()> {
        while self.at < self.text.len() {
            self.indentation()?;
            self.line()?;
        }
        (self.depth == 0).then_some(())
    }

    fn class(&self, at: usize) -> Option<Class> {
        self.text.get(at).map(|byte| CLASSES[usize::from(*byte)])
    }

    fn add(&mut self, levels: usize) -> Option<()> {
        self.open[self.depth] += levels;
        self.below += levels;
        self.is_within(0)
    }

    /// Whether so many levels more are few enough.
    fn is_within(&self, more: usize) -> Option<()> {
        (self.below + more + INDENT_LEVELS * self.indents <= self.levels_max).then_some(())
    }

    /// The beginning of a line that is in no bracket.
    fn indentation(&mut self) -> Option<()> {
        let begin = self.at;
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        let width = self.at - begin;
        match self.class(self.at) {
            // Nothing but a comment, or nothing.
            None | Some(Class::LineBreak | Class::Comment) => return Some(()),
            // A tab is wider than a space, and who knows how much.
            Some(Class::Space | Class::Backslash) => return None,
            Some(_) => {}
        }
        let before = |indents: usize| if indents == 0 { 0 } else { self.widths[indents - 1] };
        let mut kept = self.indents;
        while before(kept) > width {
            kept -= 1;
        }
        let is_deeper = before(kept) < width;
        let ended = self.indents - kept;
        match (is_deeper, ended) {
            (false, ended) => {
                self.indents = kept;
                self.add(ended)
            }
            (true, 0) => {
                *self.widths.get_mut(self.indents)? = width;
                self.indents += 1;
                self.add(1)
            }
            // Set in less than what stands before, and like nothing before that.
            (true, _) => None,
        }
    }

    /// One line, with all that its brackets hold.
    fn line(&mut self) -> Option<()> {
        while let Some(class) = self.class(self.at) {
            match class {
                Class::Space => self.at += 1,
                Class::Letter => self.word()?,
                Class::Digit => {
                    let levels = self.number()?;
                    self.add(levels)?;
                }
                Class::Mark => {
                    self.at += 1;
                    self.add(1)?;
                }
                Class::Open => {
                    self.at += 1;
                    self.depth += 1;
                    *self.open.get_mut(self.depth)? = 0;
                    self.add(BRACKET_LEVELS)?;
                }
                Class::Close => {
                    self.at += 1;
                    self.below -= self.open[self.depth];
                    self.depth = self.depth.checked_sub(1)?;
                    self.add(1)?;
                }
                Class::Comma => {
                    self.at += 1;
                    self.begin_anew();
                }
                Class::Quote => self.plain_string()?,
                Class::Comment => self.comment()?,
                Class::Backslash => {
                    // The line goes on, if there is more of it.
                    let is_joined =
                        self.text.get(self.at + 1) == Some(&b'\n') && self.at + 2 < self.text.len();
                    self.at += 2;
                    is_joined.then_some(())?;
                }
                Class::LineBreak => {
                    self.at += 1;
                    if self.depth == 0 {
                        self.begin_anew();
                        return Some(());
                    }
                }
                Class::Other => return None,
            }
        }
        Some(())
    }

    /// What holds the comma stays open.
    fn begin_anew(&mut self) {
        let kept = if self.depth > 0 { BRACKET_LEVELS } else { 0 };
        self.below = self.below - self.open[self.depth] + kept;
        self.open[self.depth] = kept;
    }

    fn comment(&mut self) -> Option<()> {
        while let Some(byte) = self.text.get(self.at).filter(|byte| **byte != b'\n') {
            (*byte != b'\r').then_some(())?;
            self.at += 1;
        }
        Some(())
    }

    /// The end of a run of letters and digits.
    fn run_from(&self, at: usize) -> usize {
        let mut end = at;
        while let Some(Class::Letter | Class::Digit) = self.class(end) {
            end += 1;
        }
        end
    }

    fn word(&mut self) -> Option<()> {
        let begin = self.at;
        self.at = self.run_from(begin);
        if self.class(self.at) != Some(Class::Quote) {
            return self.add(1);
        }
        match prefix_of(&self.text[begin..self.at]) {
            Prefix::None => self.add(1),
            Prefix::Plain => self.plain_string(),
            Prefix::Format => self.format_string(),
            Prefix::Template => None,
        }
    }

    /// A number, as so many levels at most: letters in it may begin another token.
    fn number(&mut self) -> Option<usize> {
        let begin = self.at;
        self.at = self.run_from(begin);
        (self.class(self.at) != Some(Class::Quote)).then_some(())?;
        let run = &self.text[begin..self.at];
        Some(if run.iter().all(u8::is_ascii_digit) { 1 } else { run.len() })
    }

    /// Steps over the quotes that begin a text; whether there are three.
    fn opening(&mut self) -> (u8, bool) {
        let quote = self.text[self.at];
        let is_triple = self.text[self.at..].starts_with(&[quote; 3]);
        self.at += if is_triple { 3 } else { 1 };
        (quote, is_triple)
    }

    /// Steps over the quotes that end a text, if these do.
    fn closing(&mut self, quote: u8, is_triple: bool) -> bool {
        let is_end = !is_triple || self.text[self.at..].starts_with(&[quote; 3]);
        self.at += if is_triple && is_end { 3 } else { 1 };
        is_end
    }

    fn plain_string(&mut self) -> Option<()> {
        let (quote, is_triple) = self.opening();
        loop {
            match *self.text.get(self.at)? {
                b'\\' => self.at += 2,
                byte if byte == quote => {
                    if self.closing(quote, is_triple) {
                        return Some(());
                    }
                }
                b'\r' => return None,
                b'\n' if !is_triple => return None,
                _ => self.at += 1,
            }
        }
    }

    /// Its own levels, and those of the value that has the most.
    fn format_string(&mut self) -> Option<()> {
        let (quote, is_triple) = self.opening();
        let mut levels = BRACKET_LEVELS;
        self.is_within(levels)?;
        loop {
            let next = self.text.get(self.at + 1).copied();
            match *self.text.get(self.at)? {
                b'\\' => match next? {
                    b'{' | b'}' | b'N' | b'\n' | b'\r' => return None,
                    _ => self.at += 2,
                },
                byte if byte == quote => {
                    if self.closing(quote, is_triple) {
                        return self.add(1);
                    }
                }
                b'{' | b'}' if next == Some(self.text[self.at]) => self.at += 2,
                b'{' => {
                    let most = self.value_in_string(quote)?;
                    self.is_within(levels + most)?;
                    levels += 1;
                }
                b'}' | b'\r' => return None,
                b'\n' if !is_triple => return None,
                _ => self.at += 1,
            }
        }
    }

    /// `{...}` in a text: the levels of all that is in it. What follows a colon isn't told apart.
    fn value_in_string(&mut self, quote: u8) -> Option<usize> {
        let (mut levels, mut depth) = (0, 0usize);
        loop {
            match self.class(self.at)? {
                Class::Space => self.at += 1,
                Class::Letter => {
                    self.at = self.run_from(self.at);
                    (self.class(self.at) != Some(Class::Quote)).then_some(())?;
                    levels += 1;
                }
                Class::Digit => levels += self.number()?,
                Class::Mark | Class::Comma => {
                    self.at += 1;
                    levels += 1;
                }
                Class::Open => {
                    self.at += 1;
                    depth += 1;
                    levels += BRACKET_LEVELS;
                }
                Class::Close => {
                    let byte = self.text[self.at];
                    self.at += 1;
                    depth -= 1;
                    levels += 1;
                    if depth == 0 {
                        return (byte == b'}').then_some(levels);
                    }
                }
                Class::Quote => self.string_in_value(quote)?,
                Class::Other | Class::Comment | Class::Backslash | Class::LineBreak => return None,
            }
        }
    }

    /// A text in a value in a text: a short one, in the other quotes.
    fn string_in_value(&mut self, around: u8) -> Option<()> {
        let quote = self.text[self.at];
        (quote != around).then_some(())?;
        self.at += 1;
        loop {
            let byte = *self.text.get(self.at)?;
            self.at += 1;
            match byte {
                byte if byte == quote => break,
                b'{' | b'}' | b'\\' | b'\n' | b'\r' => return None,
                byte if byte == around => return None,
                _ => {}
            }
        }
        // Three quotes are another thing.
        (self.text.get(self.at) != Some(&quote)).then_some(())
    }
}

fn prefix_of(word: &[u8]) -> Prefix {
    let lower = |at: usize| word[at].to_ascii_lowercase();
    let letters = match word.len() {
        1 => (lower(0), b'r'),
        2 if lower(0) == b'r' => (lower(1), b'r'),
        2 => (lower(0), lower(1)),
        _ => return Prefix::None,
    };
    match (letters, word.len()) {
        ((b'f', b'r'), _) => Prefix::Format,
        ((b't', b'r'), _) => Prefix::Template,
        ((b'b', b'r'), _) | ((b'u' | b'r', b'r'), 1) => Prefix::Plain,
        _ => Prefix::None,
    }
}

#[cfg(test)]
mod tests;
