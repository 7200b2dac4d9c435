//! Times and sizes in a table, within a range.

use gristmill_gateway::domain::{format_bytes, format_ms, parse_bytes, parse_ms};

use super::fields::Fields;
use super::problem::{ProblemKind, Problems};

/// How a kind of quantity is read and told.
pub struct Quantity {
    expected: &'static str,
    expected_with_example: &'static str,
    example: &'static str,
    range: (u64, u64),
    parse: fn(&str) -> Option<u64>,
    format: fn(u64) -> String,
}

impl Quantity {
    pub const fn time(expected_with_example: &'static str, example: &'static str, range: (u64, u64)) -> Self {
        Self { expected: "a time", expected_with_example, example, range, parse: ms, format: format_ms }
    }

    /// Bytes.
    pub const fn size(expected_with_example: &'static str, example: &'static str, range: (u64, u64)) -> Self {
        Self { expected: "a size", expected_with_example, example, range, parse: bytes, format: format_bytes }
    }
}

fn ms(text: &str) -> Option<u64> {
    parse_ms(text).ok()
}

fn bytes(text: &str) -> Option<u64> {
    parse_bytes(text).ok()
}

/// What a key says, and its line; a mistake is told.
pub fn read(
    fields: &mut Fields<'_>,
    key: &str,
    kind: &Quantity,
    problems: &mut Problems,
) -> Option<(u64, usize)> {
    let (text, line) = fields.quantity(key, kind.expected_with_example, problems)?;
    let (min, max) = kind.range;
    let what = match (kind.parse)(text) {
        Some(value) if (min..=max).contains(&value) => return Some((value, line)),
        Some(_) => ProblemKind::QuantityOutOfRange { min: (kind.format)(min), max: (kind.format)(max) },
        None => ProblemKind::BadQuantity { expected: kind.expected, example: kind.example },
    };
    problems.error(&fields.path(key), line, what);
    None
}
