//! Foreign text made safe to show: on one line, of bounded length, with nothing hidden in it.
//!
//! Descriptions and values come from outside. A line break could forge a message of ours, and
//! invisible or direction-changing characters could hide words from a person that a model reads.

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
        || matches!(c,
            '\u{00a0}' | '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{1680}'
            | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}'
            | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}'
            | '\u{e000}'..='\u{f8ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{10ffff}')
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
}
