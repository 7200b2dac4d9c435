//! How a text marks its beginning and its line ends, so that an edit keeps both.

/// A text to be edited.
pub struct Layout {
    /// The text, with line feeds only if it had nothing but pairs.
    pub lines: String,
    has_mark: bool,
    has_crlf: bool,
}

impl Layout {
    /// Of a text without its mark.
    pub fn of(text: &str, has_mark: bool) -> Self {
        let crlf = text.matches("\r\n").count();
        let has_crlf = crlf > 0 && crlf == text.matches('\n').count();
        let lines = if has_crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
        Self { lines, has_mark, has_crlf }
    }

    /// A changed text, marked as the first one was.
    pub fn restore(&self, text: &str) -> Vec<u8> {
        let text = if self.has_crlf { text.replace('\n', "\r\n") } else { text.to_owned() };
        let mark: &[u8] = if self.has_mark { b"\xef\xbb\xbf" } else { b"" };
        [mark, text.as_bytes()].concat()
    }
}
