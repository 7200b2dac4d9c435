//! Goes over JSON text once, from front to back, and knows where a value begins and ends. It builds
//! nothing.

use crate::sink::Sink;
use crate::source::Source;
use crate::string_text::{Unit, code_unit, joined, simple_escape};

/// The text ended too early, is not JSON, or does not come any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanError<E> {
    #[error("not JSON at byte {at}")]
    NotJson { at: u64 },
    #[error(transparent)]
    Source(E),
}

/// A place in a text. A value that is passed over is looked at only as far as to find its end.
pub struct Scanner<S> {
    source: S,
}

/// One character of a string, or half of one that is written as two escapes.
enum Letter {
    End,
    Char(char),
    High(u32),
    Low(u32),
}

impl<S: Source> Scanner<S> {
    pub fn new(source: S) -> Self {
        Self { source }
    }

    /// How many bytes were passed.
    pub fn position(&self) -> u64 {
        self.source.position()
    }

    /// The error for whatever is at this place.
    pub fn not_json(&self) -> ScanError<S::Error> {
        ScanError::NotJson { at: self.source.position() }
    }

    fn chunk(&mut self) -> Result<&[u8], ScanError<S::Error>> {
        self.source.chunk().map_err(ScanError::Source)
    }

    /// The next byte, which stays.
    fn peek(&mut self) -> Result<u8, ScanError<S::Error>> {
        match self.chunk()?.first() {
            Some(byte) => Ok(*byte),
            None => Err(self.not_json()),
        }
    }

    fn next(&mut self) -> Result<u8, ScanError<S::Error>> {
        let byte = self.peek()?;
        self.source.advance(1);
        Ok(byte)
    }

    /// The next byte that is no white space, which stays.
    pub fn peek_past_space(&mut self) -> Result<u8, ScanError<S::Error>> {
        loop {
            let byte = self.peek()?;
            if !is_space(byte) {
                return Ok(byte);
            }
            self.source.advance(1);
        }
    }

    /// Whether nothing but white space follows, which is passed.
    pub fn is_at_end(&mut self) -> Result<bool, ScanError<S::Error>> {
        loop {
            match self.chunk()?.first() {
                Some(byte) if is_space(*byte) => self.source.advance(1),
                Some(_) => return Ok(false),
                None => return Ok(true),
            }
        }
    }

    /// Passes the next byte that is no white space; it must be this one.
    pub fn expect(&mut self, expected: u8) -> Result<(), ScanError<S::Error>> {
        if self.peek_past_space()? != expected {
            return Err(self.not_json());
        }
        self.source.advance(1);
        Ok(())
    }

    /// Whether another element follows in an array or object that ends with `close`, which is passed.
    pub fn has_next(&mut self, close: u8, is_first: bool) -> Result<bool, ScanError<S::Error>> {
        if self.peek_past_space()? == close {
            self.source.advance(1);
            return Ok(false);
        }
        if !is_first {
            self.expect(b',')?;
        }
        Ok(true)
    }

    pub fn value(&mut self, sink: &mut impl Sink) -> Result<(), ScanError<S::Error>> {
        match self.peek_past_space()? {
            b'"' => self.string(sink),
            b'{' | b'[' => self.container(sink),
            _ => self.scalar(sink),
        }
    }

    /// Passes a string that begins here, with its quotes.
    pub fn string(&mut self, sink: &mut impl Sink) -> Result<(), ScanError<S::Error>> {
        self.pass_one(sink)?;
        loop {
            if !self.pass_while(sink, |byte| byte != b'"' && byte != b'\\')? {
                return Err(self.not_json());
            }
            if self.pass_one(sink)? == b'"' {
                return Ok(());
            }
            // After a backslash anything may come, a quote as well.
            self.pass_one(sink)?;
        }
    }

    /// Reads a string, character by character. Half of a surrogate pair is U+FFFD.
    pub fn characters(&mut self, mut each: impl FnMut(char)) -> Result<(), ScanError<S::Error>> {
        self.expect(b'"')?;
        let mut high = None;
        loop {
            let letter = self.letter()?;
            if let Some(high) = high.take() {
                if let Letter::Low(low) = letter
                    && let Some(c) = joined(high, low)
                {
                    each(c);
                    continue;
                }
                each(char::REPLACEMENT_CHARACTER);
            }
            match letter {
                Letter::End => return Ok(()),
                Letter::Char(c) => each(c),
                Letter::High(first) => high = Some(first),
                Letter::Low(_) => each(char::REPLACEMENT_CHARACTER),
            }
        }
    }

    /// Passes as many bytes as `is_plain` permits; whether something else follows at all.
    fn pass_while(
        &mut self,
        sink: &mut impl Sink,
        is_plain: impl Fn(u8) -> bool,
    ) -> Result<bool, ScanError<S::Error>> {
        loop {
            let chunk = self.chunk()?;
            if chunk.is_empty() {
                return Ok(false);
            }
            let stop = chunk.iter().position(|byte| !is_plain(*byte));
            let count = stop.unwrap_or(chunk.len());
            sink.take(&chunk[..count]);
            self.source.advance(count);
            if stop.is_some() {
                return Ok(true);
            }
        }
    }

    fn pass_one(&mut self, sink: &mut impl Sink) -> Result<u8, ScanError<S::Error>> {
        let byte = self.next()?;
        sink.take(&[byte]);
        Ok(byte)
    }

    /// No recursion: however deep it is, only the depth is counted.
    fn container(&mut self, sink: &mut impl Sink) -> Result<(), ScanError<S::Error>> {
        let mut depth = 0_u64;
        loop {
            if !self.pass_while(sink, |byte| !matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))? {
                return Err(self.not_json());
            }
            match self.peek()? {
                b'"' => self.string(sink)?,
                b'{' | b'[' => {
                    self.pass_one(sink)?;
                    depth += 1;
                }
                _ => {
                    self.pass_one(sink)?;
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn scalar(&mut self, sink: &mut impl Sink) -> Result<(), ScanError<S::Error>> {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if !is_letter(self.peek()?) {
            return Err(self.not_json());
        }
        self.pass_while(sink, is_letter).map(drop)
    }

    /// The next character of a string whose opening quote was passed.
    fn letter(&mut self) -> Result<Letter, ScanError<S::Error>> {
        match self.next()? {
            b'"' => Ok(Letter::End),
            b'\\' => self.escape(),
            byte if byte.is_ascii() => Ok(Letter::Char(char::from(byte))),
            first => self.beyond_ascii(first),
        }
    }

    fn beyond_ascii(&mut self, first: u8) -> Result<Letter, ScanError<S::Error>> {
        let length = match first {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            _ => 4,
        };
        let mut bytes = [first, 0, 0, 0];
        for byte in &mut bytes[1..length] {
            *byte = self.next()?;
        }
        let text = std::str::from_utf8(&bytes[..length]).ok();
        text.and_then(|text| text.chars().next()).map(Letter::Char).ok_or_else(|| self.not_json())
    }

    fn escape(&mut self) -> Result<Letter, ScanError<S::Error>> {
        let letter = self.next()?;
        if letter != b'u' {
            return simple_escape(letter).map(Letter::Char).ok_or_else(|| self.not_json());
        }
        let mut digits = [0; 4];
        for digit in &mut digits {
            *digit = self.next()?;
        }
        let unit = code_unit(&digits).ok_or_else(|| self.not_json())?;
        Ok(match Unit::of(unit) {
            Unit::Char(c) => Letter::Char(c),
            Unit::High(high) => Letter::High(high),
            Unit::Low => Letter::Low(unit),
        })
    }
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}
