//! A JSON text whose parts are found when they are asked for, and remembered.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::parse::{end_of_string, parse_at, parse_string};
use super::parts::{NotJson, Parts, Span, end_of_member};
use super::sample::spread;
use super::text_facts::TextFacts;
use super::words::{Notes, Path};
use crate::quantity::counted_grouped;

/// What a value is, told by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Text,
    Number,
    Word,
}

/// One member of an array or object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    /// Its place, from 0 on.
    pub number: usize,
    /// Its name with quotes; none in an array.
    pub name: Option<Span>,
    pub value: Span,
}

/// Spans that are this long are not searched for their end twice.
const REMEMBERED_BYTES: usize = 4096;

pub(super) struct Document<'a> {
    pub text: &'a str,
    begins_max: usize,
    parts: RefCell<HashMap<usize, Rc<Parts>>>,
    ends: RefCell<HashMap<usize, usize>>,
    texts: RefCell<HashMap<usize, Rc<TextFacts<'a>>>>,
}

impl<'a> Document<'a> {
    /// Of a text of which nothing is known yet; `shown_max` is how many members of one part might
    /// be shown.
    pub fn new(text: &'a str, shown_max: usize) -> Self {
        const BEGINS_MIN: usize = 1024;
        const BEGINS_MAX: usize = 65_536;
        Self {
            text,
            begins_max: (shown_max * 2).clamp(BEGINS_MIN, BEGINS_MAX),
            parts: RefCell::default(),
            ends: RefCell::default(),
            texts: RefCell::default(),
        }
    }

    /// The whole, without the space around it, if it is one value from end to end.
    pub fn root(&self) -> Result<Span, NotJson> {
        let span = self.trimmed(Span { start: 0, end: self.text.len() });
        let end = match self.kind(span)? {
            Kind::Array | Kind::Object => self.parts(span)?.end + 1,
            Kind::Text => end_of_string(self.text, span.start)?,
            Kind::Number | Kind::Word => {
                parse_at(span.of(self.text)?, 0)?;
                span.end
            }
        };
        if end == span.end { Ok(span) } else { Err(NotJson) }
    }

    pub fn kind(&self, span: Span) -> Result<Kind, NotJson> {
        Ok(match self.text.as_bytes().get(span.start..span.end).and_then(<[u8]>::first).ok_or(NotJson)? {
            b'{' => Kind::Object,
            b'[' => Kind::Array,
            b'"' => Kind::Text,
            b'0'..=b'9' | b'-' => Kind::Number,
            b't' | b'f' | b'n' => Kind::Word,
            _ => return Err(NotJson),
        })
    }

    /// What is in an array or object.
    pub fn parts(&self, span: Span) -> Result<Rc<Parts>, NotJson> {
        if let Some(known) = self.parts.borrow().get(&span.start) {
            return Ok(Rc::clone(known));
        }
        let found = Rc::new(Parts::of(self.text, span.start, self.begins_max)?);
        self.parts.borrow_mut().insert(span.start, Rc::clone(&found));
        Ok(found)
    }

    /// The members from a number on, at most so many.
    pub fn members(&self, parts: &Parts, from: usize, count: usize) -> Result<Vec<Member>, NotJson> {
        let until = from.saturating_add(count).min(parts.count);
        let (mut at, mut number) = parts.begin_before(from);
        let mut members = Vec::new();
        while number < until {
            let end = match parts.end_of(number) {
                Some(end) => end,
                None => self.end_of(at)?,
            };
            if number >= from {
                members.push(self.member(parts, number, Span { start: at, end })?);
            }
            at = end + 1;
            number += 1;
        }
        Ok(members)
    }

    fn end_of(&self, from: usize) -> Result<usize, NotJson> {
        if let Some(known) = self.ends.borrow().get(&from) {
            return Ok(*known);
        }
        let end = end_of_member(self.text, from)?;
        if end - from >= REMEMBERED_BYTES {
            self.ends.borrow_mut().insert(from, end);
        }
        Ok(end)
    }

    fn member(&self, parts: &Parts, number: usize, span: Span) -> Result<Member, NotJson> {
        let span = self.trimmed(span);
        if !parts.is_object {
            return Ok(Member { number, name: None, value: span });
        }
        let name_end = end_of_string(self.text, span.start)?;
        let colon = self.trimmed(Span { start: name_end, end: span.end });
        if self.text.as_bytes().get(colon.start) != Some(&b':') {
            return Err(NotJson);
        }
        let value = self.trimmed(Span { start: colon.start + 1, end: span.end });
        Ok(Member { number, name: Some(Span { start: span.start, end: name_end }), value })
    }

    pub fn name(&self, member: &Member) -> Result<String, NotJson> {
        member.name.map_or(Ok(String::new()), |span| Ok(parse_string(span.of(self.text)?)?.into_owned()))
    }

    /// A part as a value, whole, at a depth; what cannot be kept of it is noted.
    pub fn parse(&self, span: Span, depth: usize, path: &Path, notes: &mut Notes) -> Result<Value, NotJson> {
        let parsed = parse_at(span.of(self.text)?, depth)?;
        note_lost(&parsed, path, notes);
        Ok(parsed.value)
    }

    /// A string's text, and what its lines are.
    pub fn text_facts(&self, span: Span) -> Result<Rc<TextFacts<'a>>, NotJson> {
        if let Some(known) = self.texts.borrow().get(&span.start) {
            return Ok(Rc::clone(known));
        }
        let facts = Rc::new(TextFacts::of(parse_string(span.of(self.text)?)?));
        if span.bytes() >= REMEMBERED_BYTES {
            self.texts.borrow_mut().insert(span.start, Rc::clone(&facts));
        }
        Ok(facts)
    }

    /// What a part is, such as `array of 10,000 items`.
    pub fn what(&self, span: Span) -> Result<String, NotJson> {
        Ok(match self.kind(span)? {
            Kind::Array => format!("array of {}", counted_grouped(self.parts(span)?.count, "item")),
            Kind::Object => format!("object of {}", counted_grouped(self.parts(span)?.count, "member")),
            Kind::Text => {
                format!("text of {}", counted_grouped(self.text_facts(span)?.characters, "character"))
            }
            Kind::Number => format!("number of {}", counted_grouped(span.bytes(), "digit")),
            Kind::Word => span.of(self.text)?.to_owned(),
        })
    }

    /// Hands the first members to `take`, at most `count`, in pieces of bounded size.
    pub fn each(
        &self,
        parts: &Parts,
        count: usize,
        take: &mut dyn FnMut(&Member) -> Result<(), NotJson>,
    ) -> Result<(), NotJson> {
        let count = count.min(parts.count);
        let piece = parts.stride.max(1024);
        for from in (0..count).step_by(piece) {
            for member in self.members(parts, from, piece.min(count - from))? {
                take(&member)?;
            }
        }
        Ok(())
    }

    /// One member of a stretch: see [`Parts::sample`].
    pub fn sampled(&self, parts: &Parts, stretch: usize) -> Result<Member, NotJson> {
        let (start, number) = parts.sample(stretch);
        let end = match parts.end_of(number) {
            Some(end) => end,
            None => self.end_of(start)?,
        };
        self.member(parts, number, Span { start, end })
    }

    /// Some members from everywhere, at most `count`, without those that are longer than `bytes_max`.
    pub fn spread(&self, parts: &Parts, count: usize, bytes_max: usize) -> Result<Vec<Member>, NotJson> {
        let mut members = Vec::new();
        for stretch in spread(parts.stretches(), count) {
            members.push(self.sampled(parts, stretch)?);
        }
        members.retain(|member| member.value.bytes() <= bytes_max);
        Ok(members)
    }

    fn trimmed(&self, span: Span) -> Span {
        let bytes = self.text.as_bytes().get(span.start..span.end).unwrap_or_default();
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        let before = bytes.iter().take_while(|byte| is_space(byte)).count();
        let after = bytes.iter().rev().take_while(|byte| is_space(byte)).count();
        let start = span.start + before;
        Span { start, end: span.end.saturating_sub(after).max(start) }
    }
}

/// Says what of a parsed value is not in it.
pub(super) fn note_lost(parsed: &super::parse::Parsed, path: &Path, notes: &mut Notes) {
    if parsed.too_deep > 0 {
        let what = format!(
            "{} nested more than 100 levels deep not shown",
            counted_grouped(parsed.too_deep, "part")
        );
        notes.add(path, &what);
    }
    if parsed.repeated > 0 {
        let what = format!("{} not shown: the name is repeated", counted_grouped(parsed.repeated, "member"));
        notes.add(path, &what);
    }
}
