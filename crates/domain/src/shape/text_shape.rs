//! A text within some room: which lines are shown, and what stands in the place of the others.

use std::collections::BTreeMap;

use super::log_level::LogLevel;
use super::sample::spread;
use super::strategy::Strategy;
use super::text_facts::{Line, Nature, TextFacts};
use super::words::{Notes, Path, mark, not_shown};
use crate::quantity::{counted_grouped, grouped};
use crate::short_text::{cut_bytes, first_bytes, last_bytes};

/// What a mark takes, about.
const MARK_BYTES: usize = 40;

/// A text in about `room` bytes.
pub(super) fn shaped(
    facts: &TextFacts,
    strategy: Strategy,
    room: usize,
    path: &Path,
    notes: &mut Notes,
) -> String {
    let text = facts.text.as_ref();
    if text.len() <= room {
        return text.to_owned();
    }
    match strategy {
        Strategy::Truncate => return first_only(facts, room, path, notes),
        Strategy::Summarize => return summary(facts, room, path, notes),
        Strategy::Auto | Strategy::Sample | Strategy::HeadTail => {}
        Strategy::Schema | Strategy::Table | Strategy::Text => {}
    }
    if facts.nature == Nature::Rows
        && let Some(made) = whole_rows(facts, strategy, room, path, notes)
    {
        return made;
    }
    // Long lines are cut rather than left out: there are not enough of them to choose from.
    let has_short_lines = facts.lines >= 4 && text.len() / facts.lines <= room / 6;
    if !has_short_lines {
        return ends(facts, room, path, notes);
    }
    let mut chosen = Chosen::new(facts, room);
    match strategy {
        Strategy::Sample => chosen.add_spread(),
        Strategy::HeadTail => chosen.add_ends(),
        Strategy::Auto | Strategy::Schema | Strategy::Table | Strategy::Text => {
            chosen.add_key_lines();
            chosen.add_ends();
        }
        Strategy::Summarize | Strategy::Truncate => {}
    }
    chosen.into_text(path, notes)
}

/// Records, none of them cut, and the first line, which may have the names of the columns. None if
/// there is no room for two of them.
fn whole_rows(
    facts: &TextFacts,
    strategy: Strategy,
    room: usize,
    path: &Path,
    notes: &mut Notes,
) -> Option<String> {
    let mut chosen = Chosen::new(facts, room);
    chosen.line_max = usize::MAX;
    if !chosen.add(facts.head.first()?, 0) {
        return None;
    }
    match strategy {
        Strategy::Sample => chosen.add_spread(),
        Strategy::Auto | Strategy::HeadTail | Strategy::Schema | Strategy::Table => chosen.add_ends(),
        Strategy::Text | Strategy::Summarize | Strategy::Truncate => chosen.add_ends(),
    }
    (chosen.lines.len() > 1).then(|| chosen.into_text(path, notes))
}

fn first_only(facts: &TextFacts, room: usize, path: &Path, notes: &mut Notes) -> String {
    let text = facts.text.as_ref();
    let shown = first_bytes(text, room.saturating_sub(MARK_BYTES));
    let missing = note_characters(facts, shown.chars().count(), path, notes);
    format!("{shown}{}", mark(&missing))
}

/// The beginning and the end, wherever they are cut.
fn ends(facts: &TextFacts, room: usize, path: &Path, notes: &mut Notes) -> String {
    let text = facts.text.as_ref();
    let room = room.saturating_sub(MARK_BYTES);
    let first = first_bytes(text, room * 2 / 3);
    let last = last_bytes(text.get(first.len()..).unwrap_or_default(), room / 3);
    let missing = note_characters(facts, first.chars().count() + last.chars().count(), path, notes);
    format!("{first}{}{last}", mark(&missing))
}

fn note_characters(facts: &TextFacts, shown: usize, path: &Path, notes: &mut Notes) -> String {
    let all = facts.characters;
    let missing = not_shown(all - shown.min(all), all, "character");
    notes.add(path, &missing);
    missing
}

/// What it is, how many, first and last.
fn summary(facts: &TextFacts, room: usize, path: &Path, notes: &mut Notes) -> String {
    let what = format!(
        "{}, {}{}",
        counted_grouped(facts.lines, "line"),
        counted_grouped(facts.characters, "character"),
        levels(facts).map(|levels| format!(": {levels}")).unwrap_or_default()
    );
    notes.add(path, &format!("only a summary of {what} is shown"));
    let room = room.saturating_sub(what.len() + MARK_BYTES) / 2;
    let first = facts.head.first().map(|line| facts.line(line)).unwrap_or_default();
    let last = facts.tail.back().or(facts.head.last()).map(|line| facts.line(line)).unwrap_or_default();
    match room < 8 {
        true => mark(&format!("text of {what}")),
        false => {
            format!("text of {what}\nfirst: {}\nlast: {}", cut_bytes(first, room), cut_bytes(last, room))
        }
    }
}

/// `12 error, 340 warning, 119,648 info`.
fn levels(facts: &TextFacts) -> Option<String> {
    if facts.nature != Nature::Log {
        return None;
    }
    let counts = LogLevel::ALL.iter().zip(facts.levels).filter(|(_, count)| *count > 0);
    let words: Vec<String> =
        counts.map(|(level, count)| format!("{} {}", grouped(count as u64), level.as_str())).collect();
    Some(words.join(", "))
}

/// The lines that will be shown.
struct Chosen<'a> {
    facts: &'a TextFacts<'a>,
    lines: BTreeMap<usize, Line>,
    heading: Option<String>,
    /// Headings or errors are wanted, so that those that find no place are counted.
    has_key_lines: bool,
    room: usize,
    /// Longer lines are cut.
    line_max: usize,
}

impl<'a> Chosen<'a> {
    fn new(facts: &'a TextFacts<'a>, room: usize) -> Self {
        let line_max = (room / 8).max(60);
        let room = room.saturating_sub(MARK_BYTES);
        Self { facts, lines: BTreeMap::new(), heading: None, has_key_lines: false, room, line_max }
    }

    /// Takes a line in if there is room for it.
    fn add(&mut self, line: &Line, marks: usize) -> bool {
        if let Some(there) = self.lines.get_mut(&line.number) {
            there.repeats = there.repeats.max(line.repeats);
            return true;
        }
        let folded = usize::from(line.repeats > 0) + usize::from(line.alike > 0);
        let cost = (line.end - line.start).min(self.line_max) + 2 + (folded + marks) * MARK_BYTES;
        if cost > self.room {
            return false;
        }
        self.room -= cost;
        self.lines.insert(line.number, *line);
        true
    }

    /// Headings in most of the room, or errors in half of it; if they are too many, some of them.
    fn add_key_lines(&mut self) {
        let facts = self.facts;
        let (key_lines, ends_part) = match facts.nature {
            Nature::Plain | Nature::Rows => return,
            Nature::Headed => (&facts.headings, 6),
            Nature::Log => (&facts.errors, 2),
        };
        self.has_key_lines = true;
        if let Some(levels) = levels(facts) {
            let heading = format!("log of {}: {levels}", counted_grouped(facts.lines, "line"));
            self.room = self.room.saturating_sub(heading.len() + 1);
            self.heading = Some(heading);
        }
        let bytes: usize = key_lines.iter().map(|line| (line.end - line.start).min(self.line_max)).sum();
        let each = bytes / key_lines.len().max(1) + 2 + MARK_BYTES;
        if each * key_lines.len() > self.room - self.room / ends_part {
            // They will not all be shown, and a line says so.
            self.room = self.room.saturating_sub(MARK_BYTES);
        }
        let kept_for_ends = self.room / ends_part;
        let fitting = (self.room - kept_for_ends) / each;
        for at in spread(key_lines.len(), fitting) {
            if self.room <= kept_for_ends || key_lines.get(at).is_some_and(|line| !self.add(line, 1)) {
                break;
            }
        }
    }

    /// From both ends toward the middle, two lines of the beginning for each of the end.
    fn add_ends(&mut self) {
        let facts = self.facts;
        let mut first = facts.head.iter();
        let mut last = facts.tail.iter().rev().chain(facts.head.iter().rev());
        let folded = facts.head.len() + facts.tail.len();
        for turn in 0..folded.saturating_mul(2) {
            let line = if turn % 3 == 1 { last.next() } else { first.next() };
            if line.is_some_and(|line| !self.add(line, 0)) {
                break;
            }
        }
    }

    fn add_spread(&mut self) {
        let facts = self.facts;
        let text = facts.text.as_ref();
        let fitting = self.room / (text.len() / facts.lines.max(1) + 2 + MARK_BYTES);
        let mut wanted = spread(facts.lines, fitting.max(1)).into_iter().peekable();
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let Some(next) = wanted.peek() else { break };
            if *next == number {
                wanted.next();
                let end = start + line.trim_end_matches(['\n', '\r']).len();
                self.add(&Line { number, start, end, repeats: 0, alike: 0 }, 1);
            }
            start += line.len();
        }
    }

    /// `12 of 30 headings not shown`.
    fn missing_key_lines(&self) -> Option<String> {
        let facts = self.facts;
        let (key_lines, all, one) = match facts.nature {
            Nature::Plain | Nature::Rows => return None,
            Nature::Headed => (&facts.headings, facts.headings_count, "heading"),
            Nature::Log => (&facts.errors, facts.errors.len(), "error kind"),
        };
        let shown = key_lines.iter().filter(|line| self.lines.contains_key(&line.number)).count();
        let is_missing = self.has_key_lines && shown < all;
        is_missing.then(|| not_shown(all - shown, all, one))
    }

    fn into_text(self, path: &Path, notes: &mut Notes) -> String {
        let (mut made, mut shown, mut folded, mut cut_lines) = (Vec::new(), 0, 0, 0);
        made.extend(self.heading.clone());
        let missing_key_lines = self.missing_key_lines();
        made.extend(missing_key_lines.as_deref().map(mark));
        let mut next = 0;
        for line in self.lines.values() {
            if line.number > next {
                made.push(gap(line.number - next));
            }
            let words = self.facts.line(line);
            cut_lines += usize::from(words.len() > self.line_max);
            made.push(cut_bytes(words, self.line_max));
            if line.repeats > 0 {
                made.push(mark(&format!("the line above {}", times_more(line.repeats))));
            }
            if line.alike > 0 {
                made.push(mark(&format!("{} more like it", grouped(line.alike as u64))));
            }
            folded += line.repeats;
            shown += 1 + line.repeats;
            next = line.number + 1 + line.repeats;
        }
        let all = self.facts.lines;
        if next < all {
            made.push(gap(all - next));
        }
        if shown < all {
            notes.add(path, &not_shown(all - shown, all, "line"));
        }
        if let Some(missing) = missing_key_lines {
            notes.add(path, &missing);
        }
        if folded > 0 {
            notes.add(path, &format!("{} folded", counted_grouped(folded, "repeated line")));
        }
        if cut_lines > 0 {
            notes.add(path, &format!("{} cut", counted_grouped(cut_lines, "long line")));
        }
        made.join("\n")
    }
}

fn times_more(count: usize) -> String {
    format!("{} more", counted_grouped(count, "time"))
}

fn gap(lines: usize) -> String {
    mark(&format!("{} not shown", counted_grouped(lines, "line")))
}
