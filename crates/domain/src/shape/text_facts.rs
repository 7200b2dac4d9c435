//! What is known of a text after one pass over its lines.
//!
//! Lines that repeat the one before are folded. Of the rest the first, the last and the key lines
//! (headings, errors) are noted, bounded in number.

use std::borrow::Cow;
use std::collections::hash_map::{DefaultHasher, Entry};
use std::collections::{HashMap, VecDeque};
use std::hash::{Hash, Hasher};

use super::log_level::{LogLevel, begins_traceback, joins_tracebacks, level_of};
use super::rows;

/// A line that might be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Its place, from 0 on.
    pub number: usize,
    pub start: usize,
    pub end: usize,
    /// How many lines right after it say the same.
    pub repeats: usize,
    /// How many later lines differ from it in numbers only; counted for errors.
    pub alike: usize,
}

/// What kind of text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    Plain,
    /// Records, one a line.
    Rows,
    /// With headings, as Markdown has them.
    Headed,
    Log,
}

pub(super) struct TextFacts<'a> {
    pub text: Cow<'a, str>,
    pub nature: Nature,
    pub lines: usize,
    pub characters: usize,
    pub head: Vec<Line>,
    /// The last ones; those of `head` are not in it.
    pub tail: VecDeque<Line>,
    pub headings: Vec<Line>,
    /// Those that were not noted included.
    pub headings_count: usize,
    /// One of each kind.
    pub errors: Vec<Line>,
    /// Lines of each level, in the order of [`LogLevel::ALL`].
    pub levels: [usize; 4],
}

/// Lines noted at each end of a text.
const ENDS_MAX: usize = 4096;
/// Headings noted, and kinds of errors.
const KEY_LINES_MAX: usize = 1024;
/// After so many lines without a level a text is no log.
const UNDECIDED_LINES: usize = 1000;
/// One line in so many has a level in a log: traces and wrapped lines have none.
const LEVELS_ONE_IN: usize = 5;

impl<'a> TextFacts<'a> {
    pub fn of(text: Cow<'a, str>) -> Self {
        let mut pass = Pass::default();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let end = start + line.trim_end_matches(['\n', '\r']).len();
            pass.take(&text, start, end);
            start += line.len();
        }
        pass.finish();
        let leveled: usize = pass.levels.iter().sum();
        let is_log = leveled >= 3 && leveled >= (pass.lines - pass.trace_lines) / LEVELS_ONE_IN;
        // Records may name a level, and logs may be lines of JSON.
        let nature = if rows::are_separated(&text) {
            Nature::Rows
        } else if is_log {
            Nature::Log
        } else if rows::are_json(&text) {
            Nature::Rows
        } else if pass.headings.len() >= 2 {
            Nature::Headed
        } else {
            Nature::Plain
        };
        let Pass { lines, head, tail, headings, headings_count, errors, levels, .. } = pass;
        let characters = text.chars().count();
        Self { text, nature, lines, characters, head, tail, headings, headings_count, errors, levels }
    }

    pub fn line(&self, line: &Line) -> &str {
        self.text.get(line.start..line.end).unwrap_or_default()
    }
}

#[derive(Default)]
struct Pass {
    lines: usize,
    /// The line that may repeat.
    last: Option<Line>,
    head: Vec<Line>,
    tail: VecDeque<Line>,
    headings: Vec<Line>,
    headings_count: usize,
    errors: Vec<Line>,
    kinds: HashMap<u64, usize>,
    levels: [usize; 4],
    is_in_fence: bool,
    /// A traceback that comes now belongs to an error that is counted already.
    is_after_error: bool,
    is_in_trace: bool,
    trace_lines: usize,
}

impl Pass {
    fn take(&mut self, text: &str, start: usize, end: usize) {
        let words = text.get(start..end).unwrap_or_default();
        let number = self.lines;
        self.lines += 1;
        let level = self.level(words);
        if let Some(level) = level {
            self.levels[level as usize] += 1;
        }
        if let Some(last) = &mut self.last
            && text.get(last.start..last.end) == Some(words)
        {
            last.repeats += 1;
            return;
        }
        self.put_last();
        let line = Line { number, start, end, repeats: 0, alike: 0 };
        self.last = Some(line);
        if level == Some(LogLevel::Error) {
            self.note_error(line, words);
        }
        if words.starts_with("```") || words.starts_with("~~~") {
            self.is_in_fence = !self.is_in_fence;
        }
        if is_heading(words) && !self.is_in_fence {
            self.headings_count += 1;
            if self.headings.len() < KEY_LINES_MAX {
                self.headings.push(line);
            }
        }
    }

    fn level(&mut self, words: &str) -> Option<LogLevel> {
        let leveled: usize = self.levels.iter().sum();
        let lines = self.lines - self.trace_lines;
        let may_be_log = lines <= UNDECIDED_LINES || leveled >= UNDECIDED_LINES / LEVELS_ONE_IN;
        if !may_be_log {
            return None;
        }
        if begins_traceback(words) {
            self.is_in_trace = true;
            self.trace_lines += 1;
            let is_of_its_own = !std::mem::replace(&mut self.is_after_error, true);
            return is_of_its_own.then_some(LogLevel::Error);
        }
        if self.is_in_trace && (words.is_empty() || words.starts_with([' ', '\t'])) {
            self.trace_lines += 1;
            return None;
        }
        let level = level_of(words);
        let ends_trace = std::mem::take(&mut self.is_in_trace);
        match level {
            Some(level) => self.is_after_error = matches!(level, LogLevel::Error | LogLevel::Warning),
            None if ends_trace => {
                self.trace_lines += 1;
                self.is_after_error = false;
            }
            None => self.is_after_error |= joins_tracebacks(words),
        }
        level
    }

    fn note_error(&mut self, line: Line, words: &str) {
        const COMPARED_CHARS: usize = 200;
        let mut hasher = DefaultHasher::new();
        for c in words.chars().take(COMPARED_CHARS).filter(|c| !c.is_ascii_digit()) {
            c.hash(&mut hasher);
        }
        match self.kinds.entry(hasher.finish()) {
            Entry::Occupied(known) => {
                if let Some(first) = self.errors.get_mut(*known.get()) {
                    first.alike += 1;
                }
            }
            Entry::Vacant(new) if self.errors.len() < KEY_LINES_MAX => {
                new.insert(self.errors.len());
                self.errors.push(line);
            }
            Entry::Vacant(_) => {}
        }
    }

    fn put_last(&mut self) {
        let Some(line) = self.last.take() else { return };
        if self.head.len() < ENDS_MAX {
            self.head.push(line);
            return;
        }
        if self.tail.len() >= ENDS_MAX {
            self.tail.pop_front();
        }
        self.tail.push_back(line);
    }

    fn finish(&mut self) {
        self.put_last();
    }
}

fn is_heading(words: &str) -> bool {
    let level = words.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && words.as_bytes().get(level) == Some(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_folded_and_told_apart() {
        let mut log = String::from("2026-01-01 INFO begin\n");
        for number in 0..50 {
            log.push_str("2026-01-01 INFO waiting\r\n");
            log.push_str("2026-01-01 INFO waiting\r\n");
            log.push_str(&format!("2026-01-01 ERROR no answer from host {number}\n"));
        }
        let facts = TextFacts::of(Cow::Owned(log));
        assert_eq!((facts.nature, facts.lines, facts.levels), (Nature::Log, 151, [50, 0, 101, 0]));
        assert_eq!(facts.errors.len(), 1);
        assert_eq!(facts.errors.first().map(|error| (error.number, error.alike)), Some((3, 49)));
        assert_eq!(facts.head.get(1).map(|line| (line.number, line.repeats)), Some((1, 1)));
    }

    #[test]
    fn a_traceback_belongs_to_the_error_before_it() {
        let trace = |error: &str| {
            let called = "  File \"a.py\", line 1, in <module>\n    log(level=ERROR)\n".repeat(4);
            format!("Traceback (most recent call last):\n{called}{error}: gone\n")
        };
        let joined = "\nDuring handling of the above exception, another exception occurred:\n\n";
        let one = format!("2026 ERROR request lost\n{}{joined}{}", trace("KeyError"), trace("ValueError"));
        let facts = TextFacts::of(Cow::Owned(one.repeat(50)));
        assert_eq!((facts.nature, facts.levels), (Nature::Log, [50, 0, 0, 0]));

        let alone = format!("2026 INFO begin\n{}", trace("KeyError")).repeat(50);
        let facts = TextFacts::of(Cow::Owned(alone));
        assert_eq!((facts.nature, facts.levels), (Nature::Log, [50, 0, 50, 0]));
    }

    #[test]
    fn headings_in_a_fence_are_no_headings() {
        let text = "# One\n```\n# a comment\n```\n## Two\n#three\n";
        let facts = TextFacts::of(Cow::Borrowed(text));
        let headings: Vec<&str> = facts.headings.iter().map(|line| facts.line(line)).collect();
        assert_eq!((facts.nature, headings), (Nature::Headed, vec!["# One", "## Two"]));
    }
}
