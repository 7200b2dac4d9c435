//! Records as programs print them: `{'name': 'Ada Lovelace', 'email': '…'}`, in the middle of any text.
//!
//! What is JSON as a whole is read as that; this is for Python's own way to write it, and for JSON in a line.

use std::ops::Range;

use crate::fields::Field;
use crate::finding::Finding;
use crate::persons::{is_bare_name, is_person};
use crate::scan::Rules;
use crate::sink::Sink;

const KEY_BYTES_MAX: usize = 40;
const VALUE_BYTES_MAX: usize = 256;

/// Further apart they are not of one record.
const GAP_BYTES_MAX: usize = 400;

/// Of one record; further ones begin another.
const PAIRS_MAX: usize = 64;

/// A text in quotes under a key in quotes.
struct Pair<'t> {
    key: &'t str,
    value: Range<usize>,
}

/// Adds what values are because of their keys.
pub fn records<'d>(text: &str, rules: Rules<'d>, sink: &mut Sink<'d>) {
    let mut record: Vec<Pair<'_>> = Vec::new();
    let mut record_end = 0;
    for (colon, _) in text.match_indices(": ") {
        if sink.is_full() {
            return;
        }
        let Some((pair, key_start)) = pair(text, colon) else { continue };
        let is_another = record.len() == PAIRS_MAX || {
            let gap = text.as_bytes().get(record_end..key_start).unwrap_or_default();
            gap.len() > GAP_BYTES_MAX || gap.iter().any(|byte| matches!(byte, b'{' | b'}'))
        };
        if is_another {
            judge(text, &record, rules, sink);
            record.clear();
        }
        record_end = pair.value.end;
        record.push(pair);
    }
    judge(text, &record, rules, sink);
}

/// The pair around a colon, and where its key begins.
fn pair(text: &str, colon: usize) -> Option<(Pair<'_>, usize)> {
    let bytes = text.as_bytes();
    let key_end = colon.checked_sub(1)?;
    let quote = *bytes.get(key_end).filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let before = &bytes[key_end.saturating_sub(KEY_BYTES_MAX)..key_end];
    let length = before.iter().rev().position(|byte| *byte == quote)?;
    let key = text.get(key_end - length..key_end)?;
    let start = colon + 3;
    let closing = *bytes.get(colon + 2).filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let rest = &bytes[start..bytes.len().min(start + VALUE_BYTES_MAX)];
    let value = start..start + rest.iter().position(|byte| *byte == closing)?;
    Some((Pair { key, value }, key_end - length))
}

fn judge<'d>(text: &str, record: &[Pair<'_>], rules: Rules<'d>, sink: &mut Sink<'d>) {
    let mut of_person = None;
    for Pair { key, value } in record {
        let Some(words) = text.get(value.clone()) else { continue };
        let mut field = Field::of(key, None, None);
        if is_bare_name(key)
            && *of_person.get_or_insert_with(|| is_person(record.iter().map(|pair| pair.key)))
        {
            field = field.of_person();
        }
        let mut found = rules.sink();
        field.find(words, &mut found);
        for finding in found.into_findings() {
            let span = value.start + finding.span.start..value.start + finding.span.end;
            sink.take(Finding { span, ..finding });
        }
    }
}
