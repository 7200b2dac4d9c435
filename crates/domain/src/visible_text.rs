//! Foreign text made safe to show: on one line, of bounded length, with nothing hidden in it.
//!
//! Descriptions and values come from outside. A line break could forge a message of ours, and
//! invisible or direction-changing characters could hide words from a person that a model reads.

use std::borrow::Cow;

/// The text on one line, hidden characters written out, cut after `chars_max` characters.
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut made = String::new();
    let mut count = 0;
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            space = !made.is_empty();
            continue;
        }
        if count >= chars_max {
            made.push('…');
            return made;
        }
        if std::mem::take(&mut space) {
            made.push(' ');
            count += 1;
        }
        push_visible(&mut made, c);
        count += 1;
    }
    made
}

/// The text with every hidden character written out; line breaks are hidden characters too.
pub fn visible(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    text.chars().for_each(|c| push_visible(&mut made, c));
    made
}

/// JSON with every hidden character in its texts written as an escape, so that it means the same and moves
/// nothing on a terminal. White space between its values stays: that of its texts is escaped already.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    if json.bytes().all(is_plain) || !json.chars().any(|c| !matches!(c, '\n' | '\t') && is_hidden(c)) {
        return Cow::Borrowed(json);
    }
    let mut made = String::with_capacity(json.len() + 64);
    for c in json.chars() {
        match c {
            '\n' | '\t' => made.push(c),
            '\r' => made.push('\n'),
            c if is_hidden(c) => push_escaped(&mut made, c),
            c => made.push(c),
        }
    }
    Cow::Owned(made)
}

/// As JSON writes characters that it may not contain.
fn push_escaped(made: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        made.push_str(&format!("\\u{unit:04x}"));
    }
}

/// Whether a character shows as nothing, changes the direction of the text around it, or ends a line where no line
/// ends: words can hide in such ones, from a person and not from a model. Tags and variation selectors are among
/// them; gaps and private use, of which something is seen, aren't, nor are control characters.
pub fn hides_text(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'
        | '\u{ffff}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Finds the characters of a text that hide or move something, one after the other. What an emoji or a word is
/// written with, behind the character that it belongs to, is none of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct HiddenText {
    before: Option<char>,
}

impl HiddenText {
    /// Whether the next character is one.
    pub fn hides(&mut self, c: char) -> bool {
        let before = self.before.replace(c);
        hides_text(c) && !before.is_some_and(|before| belongs_to(before, c))
    }
}

/// `before` is the character before `c`.
fn belongs_to(before: char, c: char) -> bool {
    let is_seen = !before.is_control() && !before.is_whitespace() && !hides_text(before);
    match c {
        // Whether it is drawn as a picture.
        '\u{fe0e}' | '\u{fe0f}' => is_seen,
        // Several pictures are drawn as one; letters of some languages aren't joined.
        '\u{200c}' | '\u{200d}' => before == '\u{fe0f}' || is_seen && !before.is_ascii(),
        _ => false,
    }
}

fn push_visible(made: &mut String, c: char) {
    if is_hidden(c) {
        made.extend(c.escape_unicode());
    } else {
        made.push(c);
    }
}

/// Characters that show as nothing, as a space that is none, or that move what is around them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || hides_text(c)
        || matches!(c,
            '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{2800}' | '\u{3000}'
            | '\u{e000}'..='\u{f8ff}' | '\u{e1000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_written_out_and_lines_become_one() {
        let check = |text: &str, chars_max, expected: &str| assert_eq!(one_line(text, chars_max), expected);
        check("  a\n\n  b\tc ", 20, "a b c");
        check("abcdef", 3, "abc…");
        check("abc", 3, "abc");
        check("pay\u{202e}load", 20, "pay\\u{202e}load");
        check("a\u{200b}b\u{e0041}", 20, "a\\u{200b}b\\u{e0041}");
        check("grüße 読む 🙂", 20, "grüße 読む 🙂");
        assert_eq!(visible("a\u{1b}[1m\n"), "a\\u{1b}[1m\\u{a}");
    }

    #[test]
    fn what_hides_text_is_told_from_what_an_emoji_or_a_word_is_written_with() {
        let check = |text: &str, expected: &str| {
            let mut hidden = HiddenText::default();
            let shown: String = text.chars().map(|c| if hidden.hides(c) { '.' } else { c }).collect();
            assert_eq!(shown, expected, "{text:?}");
        };
        check("a\u{200b}b\u{e0041}\u{e007f}\u{e0100}c\u{ad}", "a.b...c.");
        check("pay\u{202e}load\u{2066}\u{200f}\u{feff}", "pay.load...");
        check("\u{2764}\u{fe0f}\u{200d}\u{1f525} 1\u{fe0f}", "\u{2764}\u{fe0f}\u{200d}\u{1f525} 1\u{fe0f}");
        check("\u{645}\u{6cc}\u{200c}\u{62e}", "\u{645}\u{6cc}\u{200c}\u{62e}");
        check("a\u{200d}b\u{fe0f}\u{fe0f}\u{fe01}", "a.b\u{fe0f}..");
        check("grüße\u{a0}読む 🙂\n", "grüße\u{a0}読む 🙂\n");
    }

    #[test]
    fn json_means_the_same_when_its_hidden_characters_are_escapes() {
        let check = |text: &str, expected: &str| {
            let json = serde_json::to_string_pretty(&[text]).unwrap();
            let shown = visible_json(&json);
            assert_eq!(shown, format!("[\n  \"{expected}\"\n]"));
            assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [text]);
        };
        check("plain", "plain");
        check("grüße 🙂", "grüße 🙂");
        check("a\u{9b}2J\u{7f}", "a\\u009b2J\\u007f");
        check("pay\u{202e}load\u{200b}", "pay\\u202eload\\u200b");
        check("\u{e0041}", "\\udb40\\udc41");
        check("line\nbreak\u{2028}", "line\\nbreak\\u2028");
    }
}
