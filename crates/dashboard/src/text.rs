//! Text from outside, made harmless to look at.

use std::fmt::Write as _;

use maud::Render;

/// Text that somebody else wrote. On a page it is escaped, and what would be invisible, move the cursor or turn
/// the direction of writing is shown by its number, so that what you read is what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text(String);

impl Text {
    /// As it came: for addresses, and for what a form sends back.
    pub fn raw(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Text(text)
    }
}

impl Render for Text {
    fn render_to(&self, page: &mut String) {
        push_inert(page, &self.0);
    }
}

/// A piece of such a text.
pub(crate) struct Piece<'a>(pub &'a str);

impl Render for Piece<'_> {
    fn render_to(&self, page: &mut String) {
        push_inert(page, self.0);
    }
}

fn push_inert(page: &mut String, text: &str) {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            '\n' | '\t' => page.push(character),
            // The end of a line, as Windows and terminals write it.
            '\r' if characters.peek() == Some(&'\n') => {}
            '\u{1b}' => page.push_str("\u{27e8}ESC\u{27e9}"),
            _ if misleads(character) => {
                // Writing to a string can't fail.
                let _ = write!(page, "\u{27e8}U+{:04X}\u{27e9}", u32::from(character));
            }
            _ => page.push(character),
        }
    }
}

/// Whether it changes how its neighbors read, or hides. Joiners and the selectors of emoji stay: scripts and emoji
/// need them.
fn misleads(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{fffe}'
            | '\u{ffff}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_mislead_is_shown_by_its_number() {
        let shown = Text::from("a\u{202e}b\u{1b}[2J\u{e0041}\u{e0100}\0<i>'\"").render().into_string();
        assert_eq!(shown, "a⟨U+202E⟩b⟨ESC⟩[2J⟨U+E0041⟩⟨U+E0100⟩⟨U+0000⟩&lt;i&gt;&#39;&quot;");
    }

    #[test]
    fn ordinary_text_of_any_script_stays_as_it_is() {
        for text in ["naïve — „Zitat“", "日本語", "👩‍💻 done", "a\n\tb"] {
            assert_eq!(Text::from(text).render().into_string(), text);
        }
    }
}
