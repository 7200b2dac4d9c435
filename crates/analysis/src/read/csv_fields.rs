//! CSV text as lines of fields.
//!
//! Written by hand because a quoted empty field is an empty text and an unquoted one a missing value, which
//! must be told apart.

use std::borrow::Cow;

/// A field as it stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field<'a> {
    raw: &'a str,
    is_quoted: bool,
    /// Whether the line ends with it.
    pub(super) ends_line: bool,
}

/// A field that begins with a quote and ends without one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotClosed;

impl<'a> Field<'a> {
    /// What is in the field; `None` where it is empty and not even quoted.
    pub(super) fn content(&self) -> Result<Option<Cow<'a, str>>, NotClosed> {
        if !self.is_quoted {
            return Ok(Some(self.raw).filter(|raw| !raw.is_empty()).map(Cow::Borrowed));
        }
        let inner = self.raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or(NotClosed)?;
        Ok(Some(if inner.contains('"') { inner.replace("\"\"", "\"").into() } else { inner.into() }))
    }
}

/// Walks over the fields of a text.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    text: &'a str,
    position: usize,
    separator: u8,
    /// The line of `position`, counted from 1.
    line: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn new(text: &'a str, separator: u8) -> Self {
        let mut fields = Self { text, position: 0, separator, line: 1 };
        // Empty lines come before no header.
        while let Some(byte @ (b'\r' | b'\n')) = fields.byte() {
            fields.line += usize::from(byte == b'\n');
            fields.position += 1;
        }
        fields
    }

    /// Whether there is another line.
    pub(super) fn has_line(&self) -> bool {
        self.position < self.text.len()
    }

    /// Whether the text goes on behind the last field.
    pub(super) fn is_at_end(&self) -> bool {
        self.position >= self.text.len()
    }

    /// The line that comes next, or in which the last field ended.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// The next field, which may be an empty one at the end of the text.
    pub(super) fn next_field(&mut self) -> Field<'a> {
        let start = self.position;
        let is_quoted = self.byte() == Some(b'"');
        let end = if is_quoted { self.end_of_quoted() } else { self.end_of_plain() };
        let ends_line = self.text.as_bytes().get(end) != Some(&self.separator);
        self.line += usize::from(ends_line && end < self.text.len());
        self.position = end + 1;
        let raw = self.text.get(start..end).unwrap_or_default();
        Field { raw: raw.strip_suffix('\r').unwrap_or(raw), is_quoted, ends_line }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    fn end_of_plain(&self) -> usize {
        let rest = self.text.as_bytes().get(self.position..).unwrap_or_default();
        let mut length = 0;
        // Eight bytes at once.
        let (words, _) = rest.as_chunks();
        for word in words {
            let word = u64::from_le_bytes(*word);
            let found = zero_bytes(word ^ repeated(self.separator)) | zero_bytes(word ^ repeated(b'\n'));
            if found != 0 {
                return self.position + length + found.trailing_zeros() as usize / 8;
            }
            length += 8;
        }
        let tail = rest.get(length..).unwrap_or_default();
        let end = tail.iter().position(|byte| *byte == self.separator || *byte == b'\n');
        self.position + length + end.unwrap_or(tail.len())
    }

    /// A doubled quote closes the field and opens it again.
    fn end_of_quoted(&mut self) -> usize {
        let rest = self.text.as_bytes().get(self.position..).unwrap_or_default();
        let mut is_open = false;
        for (length, byte) in rest.iter().enumerate() {
            match byte {
                b'"' => is_open = !is_open,
                b'\n' if is_open => self.line += 1,
                byte if !is_open && (*byte == self.separator || *byte == b'\n') => {
                    return self.position + length;
                }
                _ => {}
            }
        }
        self.text.len()
    }
}

fn repeated(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

/// The highest bit of each byte that is zero. Behind the lowest such byte others may be marked too.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(repeated(0x01)) & !word & repeated(0x80)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hide_separators_and_line_breaks_and_tell_empty_from_missing() {
        let mut fields = Fields::new("\r\n\"a,\"\"b\"\"\nc\",\"\",,x\"y\r\nlast", b',');
        let mut next = || {
            let field = fields.next_field();
            (field.content().unwrap().map(Cow::into_owned), field.ends_line, fields.line())
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(next(), (text("a,\"b\"\nc"), false, 3));
        assert_eq!(next(), (text(""), false, 3));
        assert_eq!(next(), (None, false, 3));
        assert_eq!(next(), (text("x\"y"), true, 4));
        assert_eq!(next(), (text("last"), true, 4));
        assert!(fields.is_at_end());
    }

    #[test]
    fn a_quote_that_is_not_closed_is_no_field() {
        for text in ["\"", "\"a", "\"a\"b", "\"a,1\nb,2\n"] {
            assert_eq!(Fields::new(text, b',').next_field().content(), Err(NotClosed), "{text:?}");
        }
    }
}
