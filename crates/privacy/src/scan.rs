//! One pass over a text.
//!
//! Two readers go through it side by side: a table of byte classes finds words, digits and signs; an automaton
//! finds keywords. The automaton runs ahead just as far as a candidate needs to know what was said before it.

use std::iter::Peekable;

use crate::bytes::{BEYOND_HEX, CLASS, DIGIT, LETTER, TRIGGER, WIDE};
use crate::context::{Context, Topics};
use crate::encoded::{base64_at, percent_around};
use crate::finding::{Encoding, Finding};
use crate::keywords::{Keyword, Keywords, Lead, Topic};
use crate::kind::Kind;
use crate::phone::Phones;
use crate::sink::Sink;
use crate::{documents, email, letters, network, numbers, people, postal, secrets};

/// From this length on a word may be base64.
const BASE64_WORD_BYTES: usize = 16;

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
    let keywords = Keywords::of(text).peekable();
    Scan { text, keywords, context: Context::new(field), rules, sink, depth }.run();
}

struct Scan<'t, 'd, 's> {
    text: &'t str,
    keywords: Peekable<Keywords<'t>>,
    context: Context,
    rules: Rules<'d>,
    sink: &'s mut Sink<'d>,
    depth: Depth,
}

impl Scan<'_, '_, '_> {
    fn run(mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let class = CLASS[bytes[at] as usize];
            at = match class {
                0 => at + 1,
                TRIGGER => self.sign(at),
                _ => self.word(at),
            };
        }
        self.read_keywords(usize::MAX);
    }

    /// A word from `start`, and where to go on.
    fn word(&mut self, start: usize) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = start;
        let mut classes = 0;
        // Characters beyond ASCII are words of their own.
        let belongs = if CLASS[bytes[start] as usize] & WIDE == 0 { DIGIT | LETTER } else { WIDE };
        while end < bytes.len() {
            let class = CLASS[bytes[end] as usize];
            if class & belongs == 0 {
                break;
            }
            classes |= class;
            end += 1;
        }
        if classes & DIGIT != 0 {
            return self.candidate(start, end, classes);
        }
        let length = end - start;
        if length <= 4 && classes & BEYOND_HEX == 0 && matches!(bytes.get(end), Some(b':' | b'-' | b'.')) {
            return self.machine_address(start, end).unwrap_or(end);
        }
        if length >= BASE64_WORD_BYTES && classes & WIDE == 0 {
            self.base64(start);
        }
        end
    }

    /// A word with digits.
    fn candidate(&mut self, start: usize, end: usize, classes: u8) -> usize {
        let bytes = self.text.as_bytes();
        self.read_keywords(start);
        let length = end - start;
        if length <= 4
            && classes & BEYOND_HEX == 0
            && matches!(bytes.get(end), Some(b':' | b'-' | b'.'))
            && let Some(end) = self.machine_address(start, end)
        {
            return end;
        }
        if classes & LETTER == 0 {
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
        let is_joined = matches!(bytes.get(end), Some(b'+' | b'/' | b'='));
        if length >= BASE64_WORD_BYTES || length >= 8 && is_joined {
            self.base64(start);
        }
        end
    }

    /// An IPv6 or MAC address from a short hexadecimal word on; its end.
    fn machine_address(&mut self, start: usize, end: usize) -> Option<usize> {
        let found = match self.text.as_bytes().get(end) {
            Some(b':') => network::with_colons(self.text, start, &self.context),
            _ => network::mac_without_colons(self.text, start, &self.context),
        }?;
        let after = found.span.end;
        self.sink.take(found).then_some(after)
    }

    /// A sign that something stands around.
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
            b':' if bytes.get(at + 1) == Some(&b':')
                && bytes.get(at + 2).is_some_and(u8::is_ascii_hexdigit) =>
            {
                self.read_keywords(at);
                let found = network::with_colons(self.text, at, &self.context);
                let after = found.as_ref().map_or(at + 2, |found| found.span.end);
                if found.is_some_and(|found| self.sink.take(found)) { after } else { at + 2 }
            }
            _ => at + 1,
        }
    }

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
        sink.into_findings()
    }

    /// Reads keywords that start before `limit`.
    fn read_keywords(&mut self, limit: usize) {
        while let Some(keyword) = self.keywords.next_if(|keyword| keyword.start < limit) {
            if let Some(found) = self.lead(keyword) {
                self.sink.take(found);
            }
        }
    }

    /// What a keyword leads to.
    fn lead(&mut self, Keyword { lead, start, end }: Keyword) -> Option<Finding> {
        let topic = match lead {
            Lead::Prefix(prefix) => return secrets::after_prefix(self.text, prefix, start, end),
            Lead::Word(topic) => topic,
        };
        self.context.name(topic, end);
        match topic {
            Topic::Birth | Topic::Passport | Topic::License | Topic::Account => {
                documents::after(self.text, topic, end)
            }
            Topic::Address => postal::after(self.text, end),
            Topic::Street => postal::street(self.text, start, end),
            Topic::Password => secrets::password(self.text, end),
            Topic::Key => secrets::key(self.text, end),
            Topic::Url => secrets::credentials(self.text, end),
            Topic::Title | Topic::Greeting | Topic::Named | Topic::Labeled | Topic::Closing => {
                people::after(self.text, topic, start, end)
            }
            _ => None,
        }
    }
}
