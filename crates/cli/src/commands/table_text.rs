//! Rows of JSON as an aligned table, for people at a terminal.

use gristmill_gateway::domain::{cut_chars, grouped};
use serde_json::Value;

use crate::terminal::one_line;

/// Wider values are cut: a table is to be looked over.
const CELL_CHARS_MAX: usize = 40;

/// The first rows, each the JSON of an object; of `total`.
pub fn table<'a>(columns: &[String], rows: impl Iterator<Item = &'a str>, total: u64) -> String {
    let head: Vec<Cell> = columns.iter().map(|name| Cell { text: short(name), is_number: false }).collect();
    let mut lines = vec![head];
    for row in rows {
        let row: Value = serde_json::from_str(row).unwrap_or_default();
        lines.push(columns.iter().map(|name| Cell::of(member(&row, name))).collect());
    }
    let width =
        |column: usize| lines.iter().filter_map(|line| line.get(column)).map(Cell::width).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut text = String::new();
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| cell.padded(*width)).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    let shown = lines.len() as u64 - 1;
    if total > shown {
        text.push_str(&format!(
            "… {} of {} rows shown; use --output FILE to save them all\n",
            grouped(shown),
            grouped(total)
        ));
    }
    text
}

/// By its name, or by the way to it through objects: `customer.name`.
pub(super) fn member<'a>(row: &'a Value, name: &str) -> Option<&'a Value> {
    row.get(name).or_else(|| name.split('.').try_fold(row, |inside, part| inside.get(part)))
}

struct Cell {
    text: String,
    is_number: bool,
}

impl Cell {
    fn of(value: Option<&Value>) -> Self {
        match value {
            None | Some(Value::Null) => Cell { text: "-".to_owned(), is_number: false },
            Some(Value::String(text)) => Cell { text: short(text), is_number: false },
            Some(number @ Value::Number(_)) => Cell { text: number.to_string(), is_number: true },
            Some(value) => Cell { text: short(&value.to_string()), is_number: false },
        }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }

    fn padded(&self, width: usize) -> String {
        match self.is_number {
            true => format!("{:>width$}", self.text),
            false => format!("{:<width$}", self.text),
        }
    }
}

fn short(text: &str) -> String {
    cut_chars(&one_line(text), CELL_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_what_is_missing_is_a_dash() {
        let rows = [
            r#"{"city": "Oslo", "total": 7, "x": {"y": true}}"#,
            r#"{"city": "Trondheim\n", "total": 1200, "x": null}"#,
        ];
        let columns = ["city", "total", "x.y"].map(str::to_owned);
        assert_eq!(
            table(&columns, rows.into_iter(), 9_000),
            "city       total  x.y\n\
             Oslo           7  true\n\
             Trondheim   1200  -\n\
             … 2 of 9,000 rows shown; use --output FILE to save them all\n"
        );
    }
}
