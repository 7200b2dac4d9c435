//! One pass over a text.
//!
//! A table of byte classes finds words, digits and signs. Letters are looked up among the keywords, whose
//! places are the context of what follows; words with digits are candidates.

use crate::bytes::{BEYOND_HEX, CLASS, DIGIT, LETTER, TRIGGER, UPPER, WIDE};
use crate::context::{Context, Topics};
use crate::encoded::{base64_at, other_at_sign, other_at_sign_around, percent_around};
use crate::finding::{Encoding, Finding};
use crate::keywords::{self, Keyword};
use crate::kind::Kind;
use crate::phone::Phones;
use crate::sink::Sink;
use crate::token::{is_within, outside_tokens};
use crate::topic::Topic;
use crate::{documents, email, letters, network, numbers, people, postal, secrets};

/// From this length on a word may be base64.
const BASE64_WORD_BYTES: usize = 16;

/// The same of a word that one of its signs joins to the next.
const BASE64_JOINED_BYTES: usize = 8;

/// Longer names in programs are read up to here.
const NAME_BYTES_MAX: usize = 64;

/// What a scan needs to know beside the text.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'d> {
    pub phones: &'d Phones,
    pub off: &'d [Kind],
    pub confidence_min: u8,
}

impl<'d> Rules<'d> {
    pub fn sink(&self) -> Sink<'d> {
        Sink::new(self.off, self.confidence_min)
    }
}

/// Whether encoded text is looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Outer,
    /// The text was encoded itself.
    Inner,
}

/// Adds everything that is found in a text, which is the value of a field with these topics.
pub fn scan<'d>(text: &str, field: Topics, rules: Rules<'d>, sink: &mut Sink<'d>, depth: Depth) {
    Scan { text, keyword_end: 0, context: Context::new(field), rules, sink, depth }.run();
}

struct Scan<'t, 'd, 's> {
    text: &'t str,
    /// Where the last keyword ended, which may have had several words.
    keyword_end: usize,
    context: Context,
    rules: Rules<'d>,
    sink: &'s mut Sink<'d>,
    depth: Depth,
}

impl Scan<'_, '_, '_> {
    fn run(mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        // Of a text with too much in it nothing is told: the rest needs no looking at.
        while at < bytes.len() && !self.sink.is_full() {
            let class = CLASS[bytes[at] as usize];
            at = match class {
                0 => at + 1,
                TRIGGER => self.sign(at),
                _ => self.word(at),
            };
        }
    }

    /// A word from `start`, and where to go on.
    fn word(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let first = CLASS[bytes[start] as usize];
        // Characters beyond ASCII are words of their own.
        let belongs = if first & WIDE == 0 { DIGIT | LETTER } else { WIDE };
        let mut end = start + 1;
        let mut rest = 0;
        while end < bytes.len() {
            let class = CLASS[bytes[end] as usize];
            if class & belongs == 0 {
                break;
            }
            rest |= class;
            end += 1;
        }
        let classes = first | rest;
        if secrets::starts_like_one(bytes, start)
            && let Some(found) = secrets::at_word(self.text, start)
        {
            let after = found.span.end.max(end);
            self.sink.take(found);
            return after;
        }
        if classes & DIGIT != 0 {
            return self.candidate(start, end, classes);
        }
        self.keyword(start, end);
        if rest & UPPER != 0 {
            self.parts(start, end);
        } else if classes & WIDE != 0 {
            self.wide_words(start, end);
        }
        let length = end - start;
        if classes & BEYOND_HEX == 0 && may_be_machine(bytes, start, end) {
            return self.machine_address(start, end).unwrap_or(end);
        }
        let is_long = length >= BASE64_WORD_BYTES
            || length >= BASE64_JOINED_BYTES && rest & UPPER != 0 && is_joined(bytes, end);
        if is_long && classes & WIDE == 0 {
            self.base64(start);
        }
        end
    }

    /// A word with digits.
    #[inline(never)]
    fn candidate(&mut self, start: usize, end: usize, classes: u8) -> usize {
        let bytes = self.text.as_bytes();
        let length = end - start;
        if classes & LETTER != 0 {
            self.parts(start, end);
        }
        if classes & BEYOND_HEX == 0
            && may_be_machine(bytes, start, end)
            && let Some(end) = self.machine_address(start, end)
        {
            return end;
        }
        if classes & LETTER == 0 {
            if length < 6 && !goes_on(bytes, end) {
                return end;
            }
            if let Some(found) = letters::with_hyphen(self.text, start, &self.context) {
                let after = found.span.end.max(end);
                self.sink.take(found);
                return after;
            }
            let (found, after) = numbers::at(self.text, start, &self.context, self.rules.phones);
            return if found.is_some_and(|found| self.sink.take(found)) { after } else { end };
        }
        if let Some(found) = letters::at(self.text, start, end, &self.context) {
            let after = found.span.end.max(end);
            if self.sink.take(found) {
                return after;
            }
        }
        if bytes.get(end) == Some(&b'~')
            && let Some(found) = secrets::azure_client_secret(self.text, end)
        {
            let after = found.span.end.max(end);
            self.sink.take(found);
            return after;
        }
        if length >= BASE64_WORD_BYTES || length >= BASE64_JOINED_BYTES && is_joined(bytes, end) {
            self.base64(start);
        }
        end
    }

    /// An IPv6 or MAC address from a short hexadecimal word on; its end.
    #[inline(never)]
    fn machine_address(&mut self, start: usize, end: usize) -> Option<usize> {
        let found = match self.text.as_bytes().get(end) {
            Some(b':') => network::with_colons(self.text, start, &self.context),
            _ => network::mac_without_colons(self.text, start, &self.context),
        }?;
        let after = found.span.end;
        self.sink.take(found).then_some(after)
    }

    /// A sign that something stands around.
    #[inline(never)]
    fn sign(&mut self, at: usize) -> usize {
        let bytes = self.text.as_bytes();
        match bytes[at] {
            b'@' => match email::around(self.text, at) {
                Some(found) => {
                    let after = found.span.end;
                    self.sink.take(found);
                    after
                }
                None => at + 1,
            },
            b'%' if self.depth == Depth::Outer => self.percent(at).unwrap_or(at + 1),
            b'&' => match other_at_sign(&bytes[at..]) {
                Some(length) => {
                    self.other_at_sign(at);
                    at + length
                }
                None => at + 1,
            },
            b':' if bytes.get(at + 1) == Some(&b'/') && bytes.get(at + 2) == Some(&b'/') => {
                if let Some(found) = secrets::credentials(self.text, at + 3) {
                    self.sink.take(found);
                }
                at + 3
            }
            b':' if bytes.get(at + 1) == Some(&b':')
                && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit) =>
            {
                let found = network::with_colons(self.text, at, &self.context);
                let after = found.as_ref().map_or(at + 2, |found| found.span.end);
                if found.is_some_and(|found| self.sink.take(found)) { after } else { at + 2 }
            }
            _ => at + 1,
        }
    }

    #[inline(never)]
    fn base64(&mut self, start: usize) {
        if self.depth == Depth::Inner {
            return;
        }
        let Some(decoded) = base64_at(self.text, start) else { return };
        let surest = self.inner(&decoded.text).into_iter().max_by_key(|found| found.confidence);
        if let Some(found) = surest {
            self.sink.take(Finding { span: decoded.span, encoding: Some(Encoding::Base64), ..found });
        }
    }

    /// An e-mail address whose at sign, at `at`, is written otherwise.
    #[inline(never)]
    fn other_at_sign(&mut self, at: usize) {
        let Some(decoded) = other_at_sign_around(self.text, at) else { return };
        if let Some(found) = email::around(&decoded.text, at - decoded.span.start) {
            let span = decoded.outer(&found.span);
            self.sink.take(Finding { span, ..found });
        }
    }

    /// Where to go on behind percent-encoded text.
    fn percent(&mut self, at: usize) -> Option<usize> {
        let decoded = percent_around(self.text, at)?;
        for found in self.inner(&decoded.text) {
            let span = decoded.outer(&found.span);
            self.sink.take(Finding { span, encoding: Some(Encoding::Percent), ..found });
        }
        Some(decoded.span.end.max(at + 1))
    }

    fn inner(&self, text: &str) -> Vec<Finding> {
        let mut sink = self.rules.sink();
        scan(text, self.context.field(), self.rules, &mut sink, Depth::Inner);
        outside_tokens(text, sink.into_findings())
    }

    /// The letters from `start` to `end` as a keyword.
    #[inline]
    fn keyword(&mut self, start: usize, end: usize) {
        if start >= self.keyword_end
            && let Some(keyword) = keywords::at(self.text.as_bytes(), start, end)
        {
            self.lead(keyword);
        }
    }

    /// A keyword for each part of `camelCase`, and for what stands before digits.
    #[inline(never)]
    fn parts(&mut self, start: usize, end: usize) {
        let bytes = self.text.as_bytes();
        // Names are short.
        let end = end.min(start + NAME_BYTES_MAX);
        let mut at = start;
        while at < end {
            let length = keywords::part(&bytes[at..end]);
            if length == 0 {
                return;
            }
            self.keyword(at, at + length);
            at += length;
        }
    }

    #[inline(never)]
    fn wide_words(&mut self, start: usize, end: usize) {
        let bytes = self.text.as_bytes();
        for at in start..end {
            if !self.text.is_char_boundary(at) {
                continue;
            }
            // Both of them begin so.
            if bytes[at] == 0xEF && other_at_sign(&bytes[at..]).is_some() {
                self.other_at_sign(at);
            }
            if at >= self.keyword_end
                && let Some(keyword) = keywords::wide_at(bytes, at)
            {
                self.lead(keyword);
            }
        }
    }

    /// What a keyword leads to.
    #[inline(never)]
    fn lead(&mut self, Keyword { topic, start, end }: Keyword) {
        self.keyword_end = end;
        // `[PHONE_k3v9q2ab]` says nothing about what follows.
        if is_within(self.text, start) {
            return;
        }
        self.context.name(topic, end);
        if topic == Topic::Labeled && self.text.as_bytes()[start..end].eq_ignore_ascii_case(b"cc") {
            // As short for a credit card.
            self.context.name(Topic::Card, end);
        }
        let found = match topic {
            Topic::Birth | Topic::Passport | Topic::License | Topic::Account => {
                documents::after(self.text, topic, end)
            }
            Topic::Address => postal::after(self.text, end),
            Topic::Street => postal::street(self.text, start, end),
            Topic::Password => secrets::password(self.text, end),
            Topic::Key => secrets::key(self.text, end),
            Topic::Title | Topic::Greeting | Topic::Named | Topic::Labeled | Topic::Closing => {
                people::after(self.text, topic, start, end)
            }
            _ => None,
        };
        if let Some(found) = found {
            self.sink.take(found);
        }
    }
}

/// Whether a hexadecimal word is followed as in an IPv6 or MAC address.
fn may_be_machine(bytes: &[u8], start: usize, end: usize) -> bool {
    let is_followed = || bytes.get(end + 1).is_some_and(|byte| byte.is_ascii_hexdigit() || *byte == b':');
    match (end - start, bytes.get(end)) {
        (1..=4, Some(b':')) | (2, Some(b'-')) | (4, Some(b'.')) => is_followed(),
        _ => false,
    }
}

/// Whether a sign of base64, of either alphabet, follows a word.
fn is_joined(bytes: &[u8], end: usize) -> bool {
    matches!(bytes.get(end), Some(b'+' | b'/' | b'-' | b'_' | b'='))
}

/// Whether more digits may follow behind a separator.
fn goes_on(bytes: &[u8], end: usize) -> bool {
    let is_separator = |byte: &u8| matches!(byte, b' ' | b'-' | b'.' | b'/' | b'(' | b')' | 0x80..);
    bytes.get(end).is_some_and(is_separator)
        && bytes.get(end + 1).is_some_and(|byte| byte.is_ascii_digit() || is_separator(byte))
}
