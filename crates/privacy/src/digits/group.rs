//! Runs of digits that may be one number.

use super::checks::{ean_13, isbn_10};
use super::shape::{Separator, Shape};
use crate::bytes::{before, is_name, is_word, run_end};
use crate::context::Context;

/// The longest way to write something that we know has seven runs; a country code makes eight.
const RUNS_MAX: usize = 8;

/// More digits are no number that we know.
const DIGITS_MAX: usize = 19;

/// Shorter numbers behind a dot are versions and parts of names.
const CARD_DIGITS_MIN: usize = 13;

/// Runs of digits from one place on.
#[derive(Debug)]
pub struct Group<'t> {
    bytes: &'t [u8],
    /// Start, end and the separator before it.
    runs: [(usize, usize, Separator); RUNS_MAX],
    count: usize,
    has_plus: bool,
    has_parenthesis: bool,
}

/// One reading of a group: its first runs as one number.
#[derive(Debug)]
pub struct Number {
    /// With a leading plus or parenthesis.
    pub start: usize,
    pub end: usize,
    pub shape: Shape,
    pub has_plus: bool,
    pub has_parenthesis: bool,
    /// How many runs of digits.
    pub runs: usize,
    /// Which separators there are, as a bit each.
    separators: u8,
    digits: [u8; DIGITS_MAX + 1],
    count: usize,
    lengths: [u8; RUNS_MAX],
}

impl<'t> Group<'t> {
    /// The runs from a digit on; nothing if the first is too long for a number.
    pub fn read(bytes: &'t [u8], start: usize) -> Option<Self> {
        let first_end = run_end(bytes, start, DIGITS_MAX + 1, |byte| byte.is_ascii_digit());
        if first_end - start > DIGITS_MAX {
            return None;
        }
        let (has_plus, has_parenthesis) = match before(bytes, start) {
            Some(b'+') => (true, false),
            // `(212) 555-0123`; around a whole number parentheses don't belong to it.
            Some(b'(') => (false, bytes.get(first_end) == Some(&b')')),
            _ => (false, false),
        };
        let mut runs = [(0, 0, Separator::None); RUNS_MAX];
        runs[0] = (start, first_end, Separator::None);
        let mut group = Self { bytes, runs, count: 1, has_plus, has_parenthesis };
        let mut digits = first_end - start;
        while group.count < RUNS_MAX {
            let (_, end, _) = group.runs[group.count - 1];
            let Some((next, separator)) = separator(bytes, end) else { break };
            let next_end = run_end(bytes, next, DIGITS_MAX + 1, |byte| byte.is_ascii_digit());
            digits += next_end - next;
            if digits > DIGITS_MAX {
                break;
            }
            group.runs[group.count] = (next, next_end, separator);
            group.count += 1;
        }
        Some(group)
    }

    /// The first two runs from a digit on; nothing if there is only one, or something before it that counts.
    pub fn head(bytes: &[u8], start: usize) -> Option<Shape> {
        let first_end = run_end(bytes, start, DIGITS_MAX + 1, |byte| byte.is_ascii_digit());
        if matches!(before(bytes, start), Some(b'+' | b'(')) {
            return None;
        }
        let (next, separator) = separator(bytes, first_end)?;
        let next_end = run_end(bytes, next, DIGITS_MAX + 1, |byte| byte.is_ascii_digit());
        Some(Shape::default().with(Separator::None, first_end - start).with(separator, next_end - next))
    }

    /// Whether what stands before makes it a part of something else: a path, a price, a name, a time.
    pub fn is_attached(&self) -> bool {
        let (start, ..) = self.runs[0];
        let start = if self.has_plus || self.has_parenthesis { start - 1 } else { start };
        let Some(byte) = before(self.bytes, start) else { return false };
        let is_after = |belongs: fn(u8) -> bool| before(self.bytes, start - 1).is_some_and(belongs);
        match byte {
            // `people.+44 20 …`: a name has no such part, a number does.
            b'.' if self.is_no_part_of_a_name() => is_after(|byte| byte.is_ascii_digit()),
            b'-' | b'/' | b'.' | b'\\' | b'~' => is_after(is_name) || byte == b'/' && is_after(|b| b == b'/'),
            b':' | b',' => is_after(|byte| byte.is_ascii_digit()) && !self.has_plus && byte == b':',
            b'$' => true,
            _ => is_name(byte) && !self.has_parenthesis,
        }
    }

    fn is_no_part_of_a_name(&self) -> bool {
        let (start, end, _) = self.runs[0];
        let has_hyphens = self.count > 2 && self.runs[1..3].iter().all(|run| run.2 == Separator::Hyphen);
        let is_address = self.count == 4 && self.runs[1..4].iter().all(|run| run.2 == Separator::Dot);
        self.has_plus || end - start >= CARD_DIGITS_MIN || has_hyphens || is_address || self.is_spaced_card()
    }

    /// `4111 1111 1111 1111`.
    fn is_spaced_card(&self) -> bool {
        let (start, end, _) = self.runs[0];
        let spaced = self.runs[1..self.count].iter().take_while(|run| run.2 == Separator::Space);
        let digits: usize = spaced.map(|(start, end, _)| end - start).sum();
        end - start == 4 && end - start + digits >= CARD_DIGITS_MIN
    }

    /// `4111111111111111.0`: an integer that went through a table.
    fn is_whole_decimal(&self) -> bool {
        let [(start, end, _), (zeros, zeros_end, Separator::Dot), ..] = self.runs else { return false };
        let is_alone = self.bytes.get(zeros_end).is_none_or(|byte| !is_name(*byte) && *byte != b'.');
        let is_zero = self.bytes[zeros..zeros_end].iter().all(|byte| *byte == b'0');
        self.count > 1 && end - start >= CARD_DIGITS_MIN && zeros_end - zeros <= 2 && is_zero && is_alone
    }

    /// Where the runs end that certainly belong together.
    pub fn first_end(&self) -> usize {
        let is_loose = |(_, _, separator): &(usize, usize, Separator)| *separator == Separator::Space;
        let more = self.runs[1..self.count].iter().take_while(|run| !is_loose(run)).count();
        self.runs[more].1
    }

    /// Every reading that can end where it ends, the shortest first.
    pub fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        let start = if self.has_plus || self.has_parenthesis { self.runs[0].0 - 1 } else { self.runs[0].0 };
        let mut number = Number {
            start,
            end: 0,
            shape: Shape::default(),
            has_plus: self.has_plus,
            has_parenthesis: self.has_parenthesis,
            runs: 0,
            separators: 0,
            digits: [0; DIGITS_MAX + 1],
            count: 0,
            lengths: [0; RUNS_MAX],
        };
        (0..self.count).filter_map(move |at| {
            let (start, end, separator) = self.runs[at];
            number.push(&self.bytes[start..end], separator, end);
            (number.may_be_one() && self.can_end(at)).then(|| number.clone_here())
        })
    }

    /// Whether a number can end with this run: the next one isn't joined to it, nor is a word.
    fn can_end(&self, at: usize) -> bool {
        let end = self.runs[at].1;
        let joins_next = |separator: Separator| separator != Separator::Space;
        if at == 0 && self.is_whole_decimal() {
            return true;
        }
        if self.runs[..self.count].get(at + 1).is_some_and(|(_, _, separator)| joins_next(*separator)) {
            return false;
        }
        let next = self.bytes.get(end + 1).copied();
        match self.bytes.get(end) {
            None => true,
            // `0341 8387176-Fax`
            Some(b'-') if is_called_behind(self.bytes, end) => true,
            Some(b'-' | b'/' | b'\\' | b'@') => next.is_none_or(|next| !is_name(next)),
            Some(b'.') => next.is_none_or(|next| !next.is_ascii_digit() && !next.is_ascii_lowercase()),
            Some(b'%') => next.is_some_and(|next| next.is_ascii_digit()),
            // `212-555-0123x45`
            Some(b'x') if at > 0 => next.is_some_and(|next| next.is_ascii_digit()),
            Some(byte) => !is_name(*byte),
        }
    }
}

impl Number {
    fn push(&mut self, run: &[u8], separator: Separator, end: usize) {
        for byte in run.iter().take(DIGITS_MAX - self.count.min(DIGITS_MAX)) {
            self.digits[self.count] = byte - b'0';
            self.count += 1;
        }
        self.shape = self.shape.with(separator, run.len());
        self.separators |= 1 << separator as u8;
        self.lengths[self.runs.min(RUNS_MAX - 1)] = run.len() as u8;
        self.runs += 1;
        self.end = end;
    }

    /// Whether it has enough digits; addresses of machines may have fewer.
    fn may_be_one(&self) -> bool {
        self.count > 5 || self.runs == 4 && self.is_joined_by(Separator::Dot)
    }

    fn clone_here(&self) -> Self {
        Self { ..*self }
    }

    pub fn digits(&self) -> &[u8] {
        &self.digits[..self.count]
    }

    /// The lengths of its runs.
    pub fn lengths(&self) -> &[u8] {
        &self.lengths[..self.runs.min(RUNS_MAX)]
    }

    /// Whether every separator is this one.
    pub fn is_joined_by(&self, separator: Separator) -> bool {
        self.separators & !1 == 1 << separator as u8
    }

    /// Whether dots stand between all runs, and a slash before the last one.
    pub fn ends_with_slash(&self) -> bool {
        let both = 1 << Separator::Dot as u8 | 1 << Separator::Slash as u8;
        self.separators & !1 == both && self.shape.ends_with(Separator::Slash)
    }

    pub fn has(&self, separator: Separator) -> bool {
        self.separators & (1 << separator as u8) != 0
    }

    /// Whether it is an ISBN or the like, by its check digit and the way it is written.
    pub fn is_book(&self, context: &Context) -> bool {
        let digits = self.digits();
        let is_13 = digits.starts_with(&[9, 7]) && matches!(digits.get(2), Some(8 | 9)) && ean_13(digits);
        let is_10 =
            self.is_joined_by(Separator::Hyphen) && self.runs == 4 && self.lengths[3] == 1 && isbn_10(digits);
        (is_13 || is_10) && !self.has_plus && (self.runs > 1 || context.is_other(self.start) || is_13)
    }
}

/// Words that stand behind phone numbers.
const CALLED: [&[u8]; 8] = [b"fax", b"mobile", b"cell", b"office", b"home", b"work", b"phone", b"tel"];

/// Whether a word behind a number says that somebody is called there: `0341 8387176-Fax`, `888-3058 (office)`.
pub fn is_called_behind(bytes: &[u8], end: usize) -> bool {
    let start = run_end(bytes, end, 2, |byte| matches!(byte, b' ' | b'(' | b'-'));
    let word_end = run_end(bytes, start, 8, |byte| byte.is_ascii_alphabetic());
    let is_known = || CALLED.iter().any(|word| bytes[start..word_end].eq_ignore_ascii_case(word));
    start > end && !bytes.get(word_end).is_some_and(|byte| is_name(*byte) || *byte == b'.') && is_known()
}

/// What stands between two runs: where the next one starts, and what it is.
fn separator(bytes: &[u8], end: usize) -> Option<(usize, Separator)> {
    let mut at = end;
    let mut separator = None;
    while at < end + 4 {
        let (found, length) = match bytes.get(at..)? {
            [b'0'..=b'9', ..] => return separator.map(|separator| (at, separator)),
            [byte @ (b' ' | b'-' | b'.' | b'/'), ..] => (Separator::from_byte(*byte), 1),
            [b'(' | b')', ..] => (Separator::Mixed, 1),
            // Spaces of any width or none, and the hyphens that typesetters use.
            [0xC2, 0xA0, ..] => (Separator::Space, 2),
            [0xE2, 0x80, 0x80..=0x8B | 0xAF, ..] | [0xE2, 0x81, 0x9F | 0xA0, ..] => (Separator::Space, 3),
            [0xE2, 0x80, 0x90..=0x93, ..] => (Separator::Hyphen, 3),
            _ => return None,
        };
        separator = match separator {
            None => Some(found),
            // Around a hyphen spaces may stand; two numbers are further apart than that.
            Some(Separator::Space) if found == Separator::Space => return None,
            Some(_) => Some(Separator::Mixed),
        };
        at += length;
    }
    let is_digit = bytes.get(at).is_some_and(|byte| is_word(*byte) && byte.is_ascii_digit());
    separator.filter(|_| is_digit).map(|separator| (at, separator))
}
