//! A JSON value part by part: what is small stays whole, what is large gets a fair share.

use serde_json::{Map, Value};

use super::document::{Document, Kind, Member};
use super::fit::compact_bytes;
use super::measured::Measured;
use super::parts::{NotJson, Parts, Span};
use super::sample::spread;
use super::strategy::Strategy;
use super::text_shape;
use super::words::{Notes, Path, mark, not_shown};
use crate::quantity::counted_grouped;
use crate::short_text::{cut_bytes, first_bytes};

/// Levels that are looked into one by one. Each costs a pass over what is in it, so hostile nesting
/// must come to an end; what is small is parsed whole, however deep.
const LEVELS_MAX: usize = 24;

/// JSON that is laid out for reading is up to so many times as long as without the space.
const SPACE_FACTOR: usize = 4;

/// Room below which nothing of an array or object can be shown.
const PARTS_ROOM_MIN: usize = 40;

/// Below this a text is cut without a mark that counts: the mark would take most of the room.
const TEXT_ROOM_MIN: usize = 64;

/// Below this no word of a text can be shown.
const WORD_ROOM_MIN: usize = 12;

/// What an item gets at least that does not fit whole: fewer of them, but something of each.
const ITEM_ROOM_MIN: usize = 160;

/// What a mark takes, about.
pub(super) const MARK_BYTES: usize = 44;

/// Members of one array or object that are shown at most.
const SHOWN_MAX: usize = 65_536;

/// Longer names are cut.
const NAME_BYTES_MAX: usize = 200;

/// What a member of an object gets at least.
const MEMBER_BYTES_MIN: usize = 32;

/// Where a part is.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub path: &'a Path<'a>,
    pub depth: usize,
}

/// The room for the items of one array.
struct ItemRoom {
    all: usize,
    /// What an item gets that does not fit whole.
    each: usize,
}

impl ItemRoom {
    fn new(all: usize, parts: &Parts) -> Self {
        Self { all, each: (all / parts.count.clamp(1, 4)).max(ITEM_ROOM_MIN) }
    }
}

pub(super) struct Shaper<'a> {
    pub document: &'a Document<'a>,
    pub strategy: Strategy,
    pub measured: Measured,
}

impl Shaper<'_> {
    /// A part in about `room` bytes; a mark if there is no room for anything of it.
    pub fn value(&self, span: Span, room: usize, place: Place, notes: &mut Notes) -> Result<Value, NotJson> {
        if let Some(value) = self.something(span, room, place, notes)? {
            return Ok(value);
        }
        let what = format!("{} not shown", self.document.what(span)?);
        notes.add(place.path, &what);
        Ok(Value::String(mark(&what)))
    }

    /// A part in about `room` bytes, with something of its content; none if there is no room for that.
    pub fn something(
        &self,
        span: Span,
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        // What is no longer than the mark in its place stays whole.
        let room_whole = if place.depth == 0 { room } else { room.max(MARK_BYTES) };
        if let Some(value) = self.whole(span, room_whole, place, notes)? {
            return Ok(Some(value));
        }
        match self.document.kind(span)? {
            Kind::Word => self.document.parse(span, place.depth, place.path, notes).map(Some),
            Kind::Number => self.number(span, room, place, notes),
            Kind::Text => self.text(span, room, place, notes),
            Kind::Array | Kind::Object if room < PARTS_ROOM_MIN || place.depth >= LEVELS_MAX => Ok(None),
            Kind::Array => self.array(span, room, place, notes),
            Kind::Object => self.object(span, room, place, notes),
        }
    }

    /// Which fields the items of an array have, in one line; none if most of them are no objects.
    pub fn fields_line(&self, parts: &Parts, room: usize) -> Result<Option<String>, NotJson> {
        self.measured.fields_line(self.document, parts, room)
    }

    /// All of a part, if it takes at most `room` bytes.
    pub fn whole(
        &self,
        span: Span,
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        if span.bytes() / SPACE_FACTOR > room {
            return Ok(None);
        }
        let mut lost = Notes::default();
        let value = self.document.parse(span, place.depth, place.path, &mut lost)?;
        if compact_bytes(&value) > room {
            return Ok(None);
        }
        notes.append(lost);
        Ok(Some(value))
    }

    /// Too long a number is no number anymore.
    fn number(
        &self,
        span: Span,
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        let digits = span.of(self.document.text)?;
        let shown = first_bytes(digits, room.saturating_sub(MARK_BYTES));
        if shown.is_empty() {
            return Ok(None);
        }
        let missing = not_shown(digits.len() - shown.len(), digits.len(), "digit");
        notes.add(place.path, &missing);
        Ok(Some(Value::String(format!("{shown}{}", mark(&missing)))))
    }

    fn text(
        &self,
        span: Span,
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        if room < WORD_ROOM_MIN {
            return Ok(None);
        }
        let facts = self.document.text_facts(span)?;
        let room = room.saturating_sub(2);
        if room >= TEXT_ROOM_MIN || facts.text.len() <= room {
            let text = text_shape::shaped(&facts, self.strategy, room, place.path, notes);
            return Ok(Some(Value::String(text)));
        }
        let shown = cut_bytes(&facts.text, room.saturating_sub('…'.len_utf8()));
        let missing = facts.characters.saturating_sub(shown.chars().count() - 1);
        notes.add(place.path, &not_shown(missing, facts.characters, "character"));
        Ok(Some(Value::String(shown)))
    }

    fn array(
        &self,
        span: Span,
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        let parts = self.document.parts(span)?;
        match self.strategy {
            Strategy::Table => {
                if let Some((table, missing)) = self.measured.table_of_records(self.document, &parts, room)? {
                    let measured = format!("{} shown as a table", counted_grouped(parts.count, "item"));
                    notes.add(place.path, &measured);
                    missing.iter().for_each(|missing| notes.add(place.path, missing));
                    return Ok(Some(table));
                }
                self.first_and_last(&parts, room, place, notes)
            }
            Strategy::Sample => self.sample(&parts, room, place, notes),
            Strategy::Auto
            | Strategy::Summarize
            | Strategy::HeadTail
            | Strategy::Schema
            | Strategy::Text
            | Strategy::Truncate => self.first_and_last(&parts, room, place, notes),
        }
    }

    /// As many of the first and last items as there is room for, two of the first for each of the last.
    fn first_and_last(
        &self,
        parts: &Parts,
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        let fields = match self.strategy {
            Strategy::Auto => self.fields_line(parts, room / 4)?,
            Strategy::Summarize
            | Strategy::Sample
            | Strategy::HeadTail
            | Strategy::Schema
            | Strategy::Table
            | Strategy::Text
            | Strategy::Truncate => None,
        };
        let room_items = room.saturating_sub(MARK_BYTES + fields.as_ref().map_or(0, String::len));
        let items = ItemRoom::new(room_items, parts);
        let mut left = items.all;
        // An item takes two bytes at least.
        let candidates = (room / 2 + 1).min(SHOWN_MAX).min(parts.count);
        let first = self.document.members(parts, 0, candidates)?;
        let last = self.document.members(parts, (parts.count - candidates).max(first.len()), candidates)?;
        let (mut head, mut tail) = (Vec::new(), Vec::new());
        let mut from_start = first.iter();
        let mut from_end = last.iter().rev();
        loop {
            let is_of_tail = tail.len() * 2 < head.len();
            let next = match (is_of_tail, last.is_empty()) {
                (true, true) => from_start.next_back(),
                (true, false) => from_end.next(),
                (false, true | false) => from_start.next(),
            };
            let Some(member) = next else { break };
            let mut of_item = Notes::default();
            let Some(value) = self.item(member, left, &items, place, &mut of_item)? else { break };
            let bytes = compact_bytes(&value) + 1;
            if bytes > left {
                break;
            }
            left -= bytes;
            notes.append(of_item);
            if is_of_tail { tail.push(value) } else { head.push(value) }
        }
        if head.is_empty() && fields.is_none() && parts.count > 0 {
            return Ok(None);
        }
        Ok(Some(self.with_gap(parts, head, tail, fields, place, notes)))
    }

    /// An item in the room that is `left`: whole if it fits. One that does not fit is cut if it is the
    /// first, or if it would not even fit alone.
    fn item(
        &self,
        member: &Member,
        left: usize,
        room: &ItemRoom,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        let path = Path::Item(place.path, member.number);
        let place = Place { path: &path, depth: place.depth + 1 };
        if let Some(value) = self.whole(member.value, left, place, notes)? {
            return Ok(Some(value));
        }
        let is_first = left == room.all;
        if !is_first && self.whole(member.value, room.all, place, &mut Notes::default())?.is_some() {
            return Ok(None);
        }
        self.something(member.value, room.each.min(left), place, notes)
    }

    fn with_gap(
        &self,
        parts: &Parts,
        mut head: Vec<Value>,
        tail: Vec<Value>,
        fields: Option<String>,
        place: Place,
        notes: &mut Notes,
    ) -> Value {
        let missing = parts.count - (head.len() + tail.len()).min(parts.count);
        if missing > 0 {
            let what = not_shown(missing, parts.count, "item");
            notes.add(place.path, &what);
            head.push(Value::String(mark(&match fields {
                Some(fields) => format!("{what}; {fields}"),
                None => what,
            })));
        }
        head.extend(tail.into_iter().rev());
        Value::Array(head)
    }

    /// Items from everywhere, as many as there is room for.
    fn sample(
        &self,
        parts: &Parts,
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        const ATTEMPTS: usize = 4;
        let room = ItemRoom::new(room.saturating_sub(MARK_BYTES), parts);
        let left = room.all;
        let reachable = parts.stretches();
        let mut wanted = (left / 8).clamp(1, reachable.clamp(1, SHOWN_MAX));
        for attempt in 0..ATTEMPTS {
            let mut of_items = Notes::default();
            let mut items = Vec::new();
            let mut bytes = 0;
            for stretch in spread(reachable, wanted) {
                let member = self.document.sampled(parts, stretch)?;
                let Some(item) = self.item(&member, left, &room, place, &mut of_items)? else { continue };
                bytes += compact_bytes(&item) + 1;
                items.push(item);
                // Far too many: what was seen tells how many there is room for.
                if bytes > left.saturating_mul(2) {
                    break;
                }
            }
            if bytes <= left || wanted == 1 || attempt + 1 == ATTEMPTS {
                if items.is_empty() && parts.count > 0 {
                    return Ok(None);
                }
                notes.append(of_items);
                return Ok(Some(self.with_sample_mark(parts, items, place, notes)));
            }
            wanted = (items.len() * left / bytes.max(1)).clamp(1, wanted - 1);
        }
        Err(NotJson)
    }

    fn with_sample_mark(
        &self,
        parts: &Parts,
        mut items: Vec<Value>,
        place: Place,
        notes: &mut Notes,
    ) -> Value {
        let missing = parts.count - items.len().min(parts.count);
        if missing > 0 {
            let what = not_shown(missing, parts.count, "item");
            notes.add(place.path, &what);
            items.insert(0, Value::String(mark(&format!("{what}; these are spread evenly"))));
        }
        Value::Array(items)
    }

    fn object(
        &self,
        span: Span,
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Option<Value>, NotJson> {
        let parts = self.document.parts(span)?;
        let (head, tail) = self.members_with_room(&parts, room)?;
        let shown: Vec<&Member> = head.iter().chain(&tail).collect();
        if shown.is_empty() && parts.count > 0 {
            return Ok(None);
        }
        let mark_bytes = if shown.len() < parts.count { MARK_BYTES } else { 0 };
        let values = self.shared(&shown, room.saturating_sub(mark_bytes + 2), place, notes)?;
        let mut made = Map::new();
        let mut repeated = 0;
        for (at, (name, value)) in values.into_iter().enumerate() {
            if at == head.len() {
                self.mark_missing(&parts, shown.len(), &mut made, place, notes);
            }
            repeated += usize::from(made.insert(name, value).is_some());
        }
        if tail.is_empty() {
            self.mark_missing(&parts, shown.len(), &mut made, place, notes);
        }
        if repeated > 0 {
            notes.add(
                place.path,
                &format!("{} not shown: the name is repeated", counted_grouped(repeated, "member")),
            );
        }
        Ok(Some(Value::Object(made)))
    }

    fn mark_missing(
        &self,
        parts: &Parts,
        shown: usize,
        made: &mut Map<String, Value>,
        place: Place,
        notes: &mut Notes,
    ) {
        let missing = parts.count - shown.min(parts.count);
        if missing == 0 {
            return;
        }
        let what = not_shown(missing, parts.count, "member");
        notes.add(place.path, &what);
        let mut name = "…".to_owned();
        while made.contains_key(&name) {
            name.push('…');
        }
        made.insert(name, Value::String(what));
    }

    /// The first and last members of an object, of which each gets room for something.
    fn members_with_room(&self, parts: &Parts, room: usize) -> Result<(Vec<Member>, Vec<Member>), NotJson> {
        let candidates = (room / 6 + 2).min(SHOWN_MAX).min(parts.count);
        let mut head = self.document.members(parts, 0, candidates)?;
        let least = |member: &Member| name_bytes(member) + member.value.bytes().min(MEMBER_BYTES_MIN) + 4;
        let all: usize = head.iter().map(least).sum();
        if candidates == parts.count && all <= room {
            return Ok((head, Vec::new()));
        }
        let mut left = room.saturating_sub(MARK_BYTES);
        let kept_for_tail = left / 3;
        let mut taken = 0;
        for member in &head {
            let bytes = least(member);
            if left < bytes + kept_for_tail {
                break;
            }
            left -= bytes;
            taken += 1;
        }
        head.truncate(taken);
        let from = (parts.count - candidates).max(taken);
        let mut tail = self.document.members(parts, from, candidates)?;
        let mut first_kept = tail.len();
        for (at, member) in tail.iter().enumerate().rev() {
            let bytes = least(member);
            if left < bytes {
                break;
            }
            left -= bytes;
            first_kept = at;
        }
        tail.drain(..first_kept);
        Ok((head, tail))
    }

    /// The values of some members: the smallest first, and each gets an equal share of what is left, so
    /// that what the small ones do not need goes to the large ones.
    fn shared(
        &self,
        members: &[&Member],
        room: usize,
        place: Place,
        notes: &mut Notes,
    ) -> Result<Vec<(String, Value)>, NotJson> {
        let names: usize = members.iter().map(|member| name_bytes(member) + 2).sum();
        let mut left = room.saturating_sub(names);
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|at| members.get(*at).map_or(0, |member| member.value.bytes()));
        let mut values: Vec<Option<(String, Value, Notes)>> = members.iter().map(|_| None).collect();
        for (done, at) in order.into_iter().enumerate() {
            let (Some(member), Some(slot)) = (members.get(at), values.get_mut(at)) else { continue };
            let share = left / (members.len() - done).max(1);
            let name = self.document.name(member)?;
            let path = Path::Member(place.path, &name);
            let mut of_member = Notes::default();
            let below = Place { path: &path, depth: place.depth + 1 };
            let value = self.value(member.value, share, below, &mut of_member)?;
            left = left.saturating_sub(compact_bytes(&value));
            let shown = cut_bytes(&name, NAME_BYTES_MAX);
            if shown.len() != name.len() {
                of_member.add(&path, &format!("name cut from {}", counted_grouped(name.len(), "byte")));
            }
            *slot = Some((shown, value, of_member));
        }
        Ok(values
            .into_iter()
            .flatten()
            .map(|(name, value, of_member)| {
                notes.append(of_member);
                (name, value)
            })
            .collect())
    }
}

fn name_bytes(member: &Member) -> usize {
    member.name.map_or(0, |name| name.bytes().min(NAME_BYTES_MAX))
}
