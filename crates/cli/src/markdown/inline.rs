//! Words of a text, without the marks of Markdown: bold ones keep their weight, links become their words.

use crate::color::{self, Paint};

/// The words of a text, which are never broken.
#[derive(Default)]
pub struct Words(Vec<Word>);

/// One word of a line: pieces, bold or not.
#[derive(Clone, Default)]
struct Word(Vec<(String, bool)>);

/// Words of one line.
pub struct Line<'a>(&'a [Word]);

/// Reads a text.
pub fn words(text: &str) -> Words {
    let mut reader = Reader { done: Vec::new(), word: Word::default(), is_bold: false };
    reader.read(text);
    reader.end_word();
    Words(reader.done)
}

impl Words {
    /// All of them bold.
    pub fn in_bold(mut self) -> Self {
        let pieces = self.0.iter_mut().flat_map(|word| word.0.iter_mut());
        pieces.for_each(|(_, is_bold)| *is_bold = true);
        self
    }

    /// How wide they are on one line.
    pub fn width(&self) -> usize {
        Line(&self.0).width()
    }

    /// The same with no word wider than this.
    pub fn broken(self, width: usize) -> Self {
        let mut words = Vec::new();
        for word in self.0 {
            if word.width() <= width {
                words.push(word);
                continue;
            }
            let characters: Vec<(char, bool)> = word
                .0
                .iter()
                .flat_map(|(text, is_bold)| text.chars().map(|character| (character, *is_bold)))
                .collect();
            for part in characters.chunks(width.max(1)) {
                let mut word = Word::default();
                part.iter().for_each(|(character, is_bold)| word.push(*character, *is_bold));
                words.push(word);
            }
        }
        Words(words)
    }

    /// On lines of a width. A wider word has a line of its own.
    pub fn lines(&self, width: usize) -> Vec<Line<'_>> {
        let mut lines = Vec::new();
        let (mut start, mut used) = (0, 0);
        for (at, word) in self.0.iter().enumerate() {
            let word = word.width();
            if at > start && used + 1 + word > width {
                lines.push(Line(&self.0[start..at]));
                (start, used) = (at, word);
            } else {
                used += word + usize::from(at > start);
            }
        }
        if start < self.0.len() {
            lines.push(Line(&self.0[start..]));
        }
        lines
    }
}

impl Line<'_> {
    pub fn width(&self) -> usize {
        self.0.iter().map(Word::width).sum::<usize>() + self.0.len().saturating_sub(1)
    }

    /// As it is printed.
    pub fn painted(&self, is_colored: bool) -> String {
        let word = |word: &Word| {
            let pieces = word.0.iter();
            pieces
                .map(|(text, is_bold)| color::painted(text, Paint::Heading, is_colored && *is_bold))
                .collect::<String>()
        };
        self.0.iter().map(word).collect::<Vec<_>>().join(" ")
    }
}

impl Word {
    fn width(&self) -> usize {
        self.0.iter().map(|(text, _)| text.chars().count()).sum()
    }

    fn push(&mut self, character: char, is_bold: bool) {
        match self.0.last_mut().filter(|(_, known)| *known == is_bold) {
            Some((text, _)) => text.push(character),
            None => self.0.push((character.to_string(), is_bold)),
        }
    }
}

struct Reader {
    done: Vec<Word>,
    word: Word,
    is_bold: bool,
}

impl Reader {
    fn read(&mut self, text: &str) {
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let used = self.mark(rest).unwrap_or_else(|| {
                self.put(first);
                first.len_utf8()
            });
            rest = &rest[used..];
        }
    }

    /// Takes a mark at the beginning of a text; how long it is, or none if there is no mark.
    fn mark(&mut self, text: &str) -> Option<usize> {
        match text.as_bytes()[0] {
            b'`' => self.code(text),
            b'\\' => {
                let next = text[1..].chars().next().filter(char::is_ascii_punctuation)?;
                self.put(next);
                Some(2)
            }
            b'!' if text.starts_with("![") => self.link(&text[1..]).map(|used| used + 1),
            b'[' => self.link(text),
            b'*' if text.starts_with("**") => {
                self.is_bold = !self.is_bold;
                Some(2)
            }
            b'*' => self.soft(text),
            b'<' if text.starts_with("<br>") => {
                self.end_word();
                Some("<br>".len())
            }
            _ => None,
        }
    }

    /// Code keeps its marks: they say where it begins and ends.
    fn code(&mut self, text: &str) -> Option<usize> {
        let ticks = text.bytes().take_while(|byte| *byte == b'`').count();
        let end = text[ticks..].find(&text[..ticks])? + 2 * ticks;
        text[..end].chars().for_each(|character| self.put(character));
        Some(end)
    }

    /// `[words](address)`; the address is told if it is on another site and the words aren't it.
    fn link(&mut self, text: &str) -> Option<usize> {
        let close = closing(text)?;
        let address = text[close + 1..].strip_prefix('(')?;
        let end = address.find(')')?;
        let (words, address) = (&text[1..close], &address[..end]);
        self.read(words);
        if address.contains("://") && !address.contains(words) {
            self.read(&format!(" <{address}>"));
        }
        Some(close + 2 + end + 1)
    }

    /// `*words*`: without weight. A star that stands alone is a star.
    fn soft(&mut self, text: &str) -> Option<usize> {
        let end = text[1..].find('*')? + 1;
        let inside = &text[1..end];
        if inside.is_empty() || inside.starts_with(' ') || inside.ends_with(' ') || inside.contains('`') {
            return None;
        }
        self.read(inside);
        Some(end + 1)
    }

    fn put(&mut self, character: char) {
        match character.is_whitespace() {
            true => self.end_word(),
            false => self.word.push(character, self.is_bold),
        }
    }

    fn end_word(&mut self) {
        if !self.word.0.is_empty() {
            self.done.push(std::mem::take(&mut self.word));
        }
    }
}

/// Where the bracket at the beginning is closed; brackets in code don't count.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut is_code) = (0_usize, false);
    for (at, character) in text.char_indices() {
        match character {
            '`' => is_code = !is_code,
            '[' if !is_code => depth += 1,
            ']' if !is_code => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let words = words(text);
        let lines = words.lines(usize::MAX);
        assert_eq!(lines.first().map(|line| line.painted(false)).unwrap_or_default(), expected, "{text}");
    }

    #[test]
    fn marks_are_taken_away_and_words_stay() {
        check("a **b** c", "a b c");
        check("see [the page](a.md#b), or `x[0](y)`", "see the page, or `x[0](y)`");
        check("[`a[0]`](b.md)", "`a[0]`");
        check("[here](https://example.com/a)", "here <https://example.com/a>");
        check("[example.com](https://example.com)", "example.com");
        check("![a picture](a.png) of it", "a picture of it");
        check("2 * 3 * 4 and *soft*", "2 * 3 * 4 and soft");
        check("`**not bold**` and \\*", "`**not bold**` and *");
        check("5 s<br>(1 s)", "5 s (1 s)");
        check("`a", "`a");
        check("[a", "[a");
        check("[a](b", "[a](b");
        check("", "");
    }

    #[test]
    fn a_word_may_be_broken_where_there_is_no_room() {
        let broken = words("abcdef **gh**").broken(4);
        let lines: Vec<String> = broken.lines(4).iter().map(|line| line.painted(false)).collect();
        assert_eq!(lines, ["abcd", "ef", "gh"]);
        assert_eq!(words("ab cd").width(), 5);
    }
}
