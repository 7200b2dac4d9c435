//! `filter`: the rows in which a condition holds, and a note of how many they are.

use serde_json::Value;

use super::Context;
use super::condition::Condition;
use crate::outcome::Problem;
use crate::statistics::{integers, summary};
use crate::table::Table;
use crate::values::{Values, number_text};

/// Numeric fields that a note has figures of.
const DESCRIBED_MAX: usize = 3;

pub(super) fn filter(body: &Value, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let condition = Condition::parse(body, table)?;
    let kept = table.filter(&condition.holds(table, &mut context.notes)?);
    context.notes.add_kept(note_of(&condition, table, &kept));
    Ok(kept)
}

/// `filter kept 40 of 100 rows; price: min 10, mean 12.5, max 30`.
fn note_of(condition: &Condition, all: &Table, kept: &Table) -> String {
    let mut note = format!("filter kept {} of {}", grouped(kept.rows()), rows_words(all.rows()));
    let mut seen: Vec<&str> = Vec::new();
    for field in condition.fields() {
        if seen.len() == DESCRIBED_MAX || seen.contains(&field) {
            continue;
        }
        if let Some(figures) = figures_of(kept, field) {
            seen.push(field);
            note.push_str(&format!("; {field}: {figures}"));
        }
    }
    note
}

/// The least, the mean and the greatest of a numeric field; `None` where they say nothing.
fn figures_of(table: &Table, field: &str) -> Option<String> {
    let column = table.column(field).ok()?;
    if let Values::Integers(list) = column.values() {
        let values: Vec<i64> = list.iter().flatten().copied().collect();
        let (least, greatest) = (values.iter().min()?, values.iter().max()?);
        let mean = rounded(integers::mean(&values)?);
        return (least != greatest).then(|| format!("min {least}, mean {mean}, max {greatest}"));
    }
    let values: Vec<f64> =
        column.floats()?.iter().flatten().copied().filter(|number| number.is_finite()).collect();
    let least = values.iter().copied().reduce(f64::min)?;
    let greatest = values.iter().copied().reduce(f64::max)?;
    let mean = rounded(summary::mean(&values)?);
    (least < greatest)
        .then(|| format!("min {}, mean {mean}, max {}", number_text(least), number_text(greatest)))
}

/// Six digits, without a fraction where there is none.
fn rounded(number: f64) -> String {
    let whole_digits = number.abs().max(1.0).log10().floor() as i32;
    let scale = 10_f64.powi((5 - whole_digits).clamp(0, 5));
    let shown = (number * scale).round() / scale;
    format!("{shown}")
}

fn rows_words(count: usize) -> String {
    if count == 1 { "1 row".to_owned() } else { format!("{} rows", grouped(count)) }
}

/// `12,345`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!(
            (grouped(7), grouped(1_234), grouped(1_234_567)),
            ("7".into(), "1,234".into(), "1,234,567".into())
        );
        assert_eq!((rounded(21.0), rounded(27.333_333_3)), ("21".to_owned(), "27.3333".to_owned()));
        assert_eq!((rounded(1_234_567.891), rounded(0.000_12)), ("1234568".to_owned(), "0.00012".to_owned()));
        assert_eq!(rounded(-0.5), "-0.5");
    }
}
