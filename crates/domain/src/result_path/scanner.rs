//! Reads JSON text in pieces and knows where a value begins and ends. It builds nothing.

use std::io::{self, Read};

use super::PathError;

/// What is held of the text at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Where the bytes of a value go that is passed over.
pub(super) trait Sink {
    fn take(&mut self, bytes: &[u8]);
}

/// Nowhere.
pub(super) struct Discard;

impl Sink for Discard {
    fn take(&mut self, _bytes: &[u8]) {}
}

/// Into memory, up to a bound; beyond it they are counted.
pub(super) struct Bounded {
    pub bytes: Vec<u8>,
    /// All that came, kept or not.
    pub seen: u64,
    room: usize,
}

impl Bounded {
    pub fn of(room: usize) -> Self {
        Self { bytes: Vec::new(), seen: 0, room }
    }

    /// Whether all that came was kept.
    pub fn is_whole(&self) -> bool {
        self.seen == self.bytes.len() as u64
    }
}

impl Sink for Bounded {
    fn take(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        if self.seen <= self.room as u64 {
            self.bytes.extend_from_slice(bytes);
        } else {
            // It will not be used: the memory goes back at once.
            self.bytes = Vec::new();
        }
    }
}

/// One character of a text, or half of one that is written as two escapes.
pub(super) enum Letter {
    End,
    Char(char),
    High(u32),
    Low(u32),
}

/// See the module.
pub(super) struct Scanner<R> {
    reader: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes that came before the buffer.
    before: u64,
}

impl<R: Read> Scanner<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, before: 0 }
    }

    /// What is read and not yet used; empty only at the end of the text.
    fn chunk(&mut self) -> Result<&[u8], PathError> {
        if self.start >= self.end {
            self.before += self.end as u64;
            (self.start, self.end) = (0, 0);
            loop {
                match self.reader.read(&mut self.buffer) {
                    Ok(count) => {
                        self.end = count.min(self.buffer.len());
                        break;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(self.buffer.get(self.start..self.end).unwrap_or_default())
    }

    pub fn damaged(&self) -> PathError {
        PathError::Damaged { at: self.before + self.start as u64 }
    }

    /// The next byte, which stays; `None` at the end of the text.
    pub fn peek_or_end(&mut self) -> Result<Option<u8>, PathError> {
        Ok(self.chunk()?.first().copied())
    }

    pub fn peek(&mut self) -> Result<u8, PathError> {
        match self.peek_or_end()? {
            Some(byte) => Ok(byte),
            None => Err(self.damaged()),
        }
    }

    fn next(&mut self) -> Result<u8, PathError> {
        let byte = self.peek()?;
        self.start += 1;
        Ok(byte)
    }

    /// The next byte that is no white space, which stays.
    pub fn peek_solid(&mut self) -> Result<u8, PathError> {
        loop {
            match self.peek()? {
                b' ' | b'\t' | b'\n' | b'\r' => self.start += 1,
                byte => return Ok(byte),
            }
        }
    }

    /// The next byte that is no white space; it must be this one.
    pub fn expect(&mut self, expected: u8) -> Result<(), PathError> {
        if self.peek_solid()? != expected {
            return Err(self.damaged());
        }
        self.start += 1;
        Ok(())
    }

    /// Whether another element follows in an array or object whose end is `close`, which is passed.
    pub fn has_next(&mut self, close: u8, is_first: bool) -> Result<bool, PathError> {
        let byte = self.peek_solid()?;
        if byte == close {
            self.start += 1;
            return Ok(false);
        }
        if !is_first {
            self.expect(b',')?;
        }
        Ok(true)
    }

    /// Passes over one value.
    pub fn value(&mut self, sink: &mut impl Sink) -> Result<(), PathError> {
        match self.peek_solid()? {
            b'"' => self.string(sink),
            b'{' | b'[' => self.container(sink),
            _ => self.scalar(sink),
        }
    }

    /// Passes over as many bytes as `is_plain` permits; whether something else follows at all.
    fn pass(&mut self, sink: &mut impl Sink, is_plain: impl Fn(u8) -> bool) -> Result<bool, PathError> {
        loop {
            let chunk = self.chunk()?;
            if chunk.is_empty() {
                return Ok(false);
            }
            let stop = chunk.iter().position(|byte| !is_plain(*byte));
            let count = stop.unwrap_or(chunk.len());
            sink.take(&chunk[..count]);
            self.start += count;
            if stop.is_some() {
                return Ok(true);
            }
        }
    }

    fn pass_one(&mut self, sink: &mut impl Sink) -> Result<u8, PathError> {
        let byte = self.next()?;
        sink.take(&[byte]);
        Ok(byte)
    }

    pub fn string(&mut self, sink: &mut impl Sink) -> Result<(), PathError> {
        self.pass_one(sink)?;
        loop {
            if !self.pass(sink, |byte| byte != b'"' && byte != b'\\')? {
                return Err(self.damaged());
            }
            if self.pass_one(sink)? == b'"' {
                return Ok(());
            }
            // After a backslash anything may come, a quote as well.
            self.pass_one(sink)?;
        }
    }

    /// No recursion: however deep it is, only the depth is counted.
    fn container(&mut self, sink: &mut impl Sink) -> Result<(), PathError> {
        let mut depth = 0_u64;
        loop {
            if !self.pass(sink, |byte| !matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))? {
                return Err(self.damaged());
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

    fn scalar(&mut self, sink: &mut impl Sink) -> Result<(), PathError> {
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if !is_letter(self.peek()?) {
            return Err(self.damaged());
        }
        self.pass(sink, is_letter).map(drop)
    }

    /// The next character of a string whose quote has been passed.
    pub fn letter(&mut self) -> Result<Letter, PathError> {
        match self.next()? {
            b'"' => Ok(Letter::End),
            b'\\' => self.escape(),
            byte if byte.is_ascii() => Ok(Letter::Char(char::from(byte))),
            first => {
                let length = match first {
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    _ => 4,
                };
                let mut bytes = vec![first];
                while bytes.len() < length {
                    bytes.push(self.next()?);
                }
                let text = std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next());
                text.map(Letter::Char).ok_or_else(|| self.damaged())
            }
        }
    }

    fn escape(&mut self) -> Result<Letter, PathError> {
        Ok(Letter::Char(match self.next()? {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let mut number = 0;
                for _ in 0..4 {
                    let digit = char::from(self.next()?).to_digit(16).ok_or_else(|| self.damaged())?;
                    number = number * 16 + digit;
                }
                return Ok(match number {
                    0xd800..=0xdbff => Letter::High(number),
                    0xdc00..=0xdfff => Letter::Low(number),
                    number => Letter::Char(char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)),
                });
            }
            byte @ (b'"' | b'\\' | b'/') => char::from(byte),
            _ => return Err(self.damaged()),
        }))
    }
}
