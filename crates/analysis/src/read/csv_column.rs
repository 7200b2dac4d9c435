//! A column of CSV on its way in: what its fields hold is found in all of them.
//!
//! Values are parsed as they come, as narrow as they can be. Where a later field does not fit, what was read
//! cannot be turned back into text as it was written: the column is then read a second time.

use crate::texts::TextsBuilder;
use crate::values::Values;

/// What a field looks like, with its value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Inferred {
    Boolean(bool),
    Integer(i64),
    /// An integer that 64 bits cannot hold.
    Big,
    Number(f64),
    Text,
}

/// What has come so far.
enum Storage {
    Empty,
    Booleans(Vec<Option<bool>>),
    Integers(Vec<Option<i64>>),
    Numbers(Vec<Option<f64>>),
    Texts(TextsBuilder),
    /// Integers, and some beyond 64 bits: to be read again, as text or, if a fraction comes, as numbers.
    BigIntegers,
    /// To be read again as numbers.
    RereadAsNumbers,
    /// To be read again as text.
    RereadAsTexts,
}

/// What came of a column.
pub(super) enum Finished {
    Values(Values),
    /// It has to be read once more.
    Reread {
        has_big_integers: bool,
        column: CsvColumn,
    },
}

/// Collects the fields of one column.
pub(super) struct CsvColumn {
    storage: Storage,
    rows: usize,
}

impl CsvColumn {
    pub(super) fn new() -> Self {
        Self { storage: Storage::Empty, rows: 0 }
    }

    pub(super) fn push(&mut self, content: Option<&str>) {
        match content {
            Some(text) => self.push_text(text),
            None => self.push_missing(),
        }
        self.rows += 1;
    }

    pub(super) fn finish(self) -> Finished {
        let again = |storage: Storage, has_big_integers: bool| Finished::Reread {
            has_big_integers,
            column: CsvColumn { storage, rows: 0 },
        };
        match self.storage {
            Storage::Empty => Finished::Values(Values::Null(self.rows)),
            Storage::Booleans(list) => Finished::Values(Values::Booleans(list)),
            Storage::Integers(list) => Finished::Values(Values::Integers(list)),
            Storage::Numbers(list) => Finished::Values(Values::Numbers(list)),
            Storage::Texts(builder) => Finished::Values(Values::Texts(builder.finish())),
            Storage::RereadAsNumbers => again(Storage::Numbers(Vec::new()), false),
            Storage::RereadAsTexts => again(Storage::Texts(TextsBuilder::default()), false),
            Storage::BigIntegers => again(Storage::Texts(TextsBuilder::default()), true),
        }
    }

    fn push_missing(&mut self) {
        match &mut self.storage {
            Storage::Booleans(list) => list.push(None),
            Storage::Integers(list) => list.push(None),
            Storage::Numbers(list) => list.push(None),
            Storage::Texts(builder) => builder.push(None),
            Storage::Empty | Storage::BigIntegers | Storage::RereadAsNumbers | Storage::RereadAsTexts => {}
        }
    }

    fn push_text(&mut self, text: &str) {
        match &mut self.storage {
            Storage::Texts(builder) => builder.push(Some(text)),
            Storage::RereadAsTexts => {}
            Storage::Integers(list) => match short_integer(text.as_bytes()) {
                Some(value) => list.push(Some(value)),
                None => self.widen(infer(text)),
            },
            Storage::Numbers(list) => match number(text.as_bytes()) {
                Some(value) => list.push(Some(value)),
                None => self.storage = Storage::RereadAsTexts,
            },
            Storage::Empty => self.begin(text),
            Storage::Booleans(_) | Storage::BigIntegers | Storage::RereadAsNumbers => self.widen(infer(text)),
        }
    }

    fn begin(&mut self, text: &str) {
        fn after<T: Clone>(rows: usize, value: T) -> Vec<Option<T>> {
            let mut list = vec![None; rows];
            list.push(Some(value));
            list
        }
        self.storage = match infer(text) {
            Inferred::Boolean(value) => Storage::Booleans(after(self.rows, value)),
            Inferred::Integer(value) => Storage::Integers(after(self.rows, value)),
            Inferred::Number(value) => Storage::Numbers(after(self.rows, value)),
            Inferred::Big => Storage::BigIntegers,
            Inferred::Text => {
                let mut builder = TextsBuilder::after_missing(self.rows);
                builder.push(Some(text));
                Storage::Texts(builder)
            }
        };
    }

    fn widen(&mut self, inferred: Inferred) {
        match (&mut self.storage, inferred) {
            (Storage::Booleans(list), Inferred::Boolean(value)) => list.push(Some(value)),
            (Storage::Integers(list), Inferred::Integer(value)) => list.push(Some(value)),
            (Storage::Integers(list), Inferred::Number(value)) => {
                let mut numbers: Vec<Option<f64>> =
                    list.iter().map(|value| value.map(|value| value as f64)).collect();
                numbers.push(Some(value));
                self.storage = Storage::Numbers(numbers);
            }
            (Storage::Integers(_), Inferred::Big) => self.storage = Storage::BigIntegers,
            (Storage::BigIntegers, Inferred::Integer(_) | Inferred::Big) => {}
            (Storage::BigIntegers, Inferred::Number(_)) => self.storage = Storage::RereadAsNumbers,
            (Storage::RereadAsNumbers, Inferred::Integer(_) | Inferred::Big | Inferred::Number(_)) => {}
            (
                _,
                Inferred::Boolean(_)
                | Inferred::Integer(_)
                | Inferred::Big
                | Inferred::Number(_)
                | Inferred::Text,
            ) => self.storage = Storage::RereadAsTexts,
        }
    }
}

/// A whole number of so few digits that 64 bits surely hold it.
fn short_integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value: i64 = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if digits.len() == text.len() { value } else { -value })
}

fn infer(text: &str) -> Inferred {
    let bytes = text.as_bytes();
    let digits = bytes.strip_prefix(b"-").unwrap_or(bytes);
    if !digits.is_empty() && digits.iter().all(u8::is_ascii_digit) {
        return text.parse().map_or(Inferred::Big, Inferred::Integer);
    }
    match number(bytes) {
        Some(value) => Inferred::Number(value),
        None if text.eq_ignore_ascii_case("true") => Inferred::Boolean(true),
        None if text.eq_ignore_ascii_case("false") => Inferred::Boolean(false),
        None => Inferred::Text,
    }
}

/// Digits that a fraction holds exactly, whichever they are.
const EXACT_DIGITS_MAX: usize = 15;
/// What the first places behind the point stand for, as far as fractions hold it exactly.
const TENS: [f64; EXACT_DIGITS_MAX + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// A number as CSV files have it: digits with at most one point between or beside them, an exponent behind
/// them, or `inf` or `NaN`. A whole number may not have a plus before it, which stands before telephone
/// numbers.
fn number(text: &[u8]) -> Option<f64> {
    let (is_negative, unsigned) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) if !rest.iter().all(u8::is_ascii_digit) => (false, rest),
        Some(_) | None => (false, text),
    };
    let mut digits: u64 = 0;
    let mut places_behind = None;
    let mut count = 0;
    for byte in unsigned {
        match byte {
            b'0'..=b'9' if count < EXACT_DIGITS_MAX => {
                digits = digits * 10 + u64::from(byte - b'0');
                count += 1;
                places_behind = places_behind.map(|places| places + 1);
            }
            b'.' if places_behind.is_none() => places_behind = Some(0_usize),
            _ => return long_number(text, unsigned),
        }
    }
    if count == 0 {
        return None;
    }
    // Both are exact, so that their quotient is the nearest there is.
    let size = digits as f64 / TENS.get(places_behind.unwrap_or(0))?;
    Some(if is_negative { -size } else { size })
}

/// The same for more digits, exponents and words.
fn long_number(text: &[u8], unsigned: &[u8]) -> Option<f64> {
    let is_digits = |part: &[u8]| part.iter().all(u8::is_ascii_digit);
    let parsed = || std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    if unsigned == b"inf" || unsigned == b"NaN" {
        return parsed();
    }
    let (size, exponent) = match unsigned.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        None => (unsigned, None),
        Some(at) => (unsigned.get(..at)?, unsigned.get(at + 1..)),
    };
    let (whole, behind) = match size.iter().position(|byte| *byte == b'.') {
        None => (size, None),
        Some(at) => (size.get(..at)?, size.get(at + 1..)),
    };
    let is_size = is_digits(whole)
        && match behind {
            None => !whole.is_empty(),
            Some([]) => !whole.is_empty() && exponent.is_none(),
            Some(behind) => is_digits(behind),
        };
    let is_exponent = exponent.is_none_or(|exponent| {
        let plain = exponent.strip_prefix(b"-").or_else(|| exponent.strip_prefix(b"+")).unwrap_or(exponent);
        !plain.is_empty() && is_digits(plain)
    });
    if is_size && is_exponent { parsed() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_the_standard_library_reads() {
        for text in [
            "0",
            "-0",
            "12",
            "1.5",
            "-1.50",
            ".5",
            "5.",
            "0.1",
            "123456789.123456",
            "999999999999999",
            "0.000000000000001",
            "12345678901234567890",
            "1.7976931348623157e308",
            "1e5",
            "-2.5E-10",
            "+7e+05",
            "+0.5",
            "inf",
            "-inf",
            "3.14159265358979323846",
            "9007199254740993",
            "0.30000000000000004",
        ] {
            let expected: f64 = text.parse().unwrap();
            assert_eq!(number(text.as_bytes()).map(f64::to_bits), Some(expected.to_bits()), "{text}");
        }
        assert!(number(b"NaN").is_some_and(f64::is_nan));
    }

    #[test]
    fn what_only_resembles_a_number_is_none() {
        for text in [
            "", "-", "+", ".", "-.", "+5", "e5", "1e", "1e+", "1.e5", "1.2.3", "1-2", "--1", " 1", "1 ",
            "0x10", "1_000", "nan", "Infinity", "infinity", "1,5", "12a", "²",
        ] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
    }
}
