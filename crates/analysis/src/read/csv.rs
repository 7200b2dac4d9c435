//! CSV: the separator, the columns' names, and what each column holds.
//!
//! An empty field is a missing value, and nothing else is. What a column holds is found in all of its rows.

use std::borrow::Cow;
use std::collections::HashSet;

use super::csv_column::{CsvColumn, Finished};
use super::csv_fields::{Fields, NotClosed};
use crate::bounds::COLUMNS_MAX;
use crate::column::Column;
use crate::outcome::{Notes, Problem};
use crate::table::{NESTED, Table};
use crate::values::Values;

/// Separators that are looked for, the usual one first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

pub(super) fn read_csv(bytes: &[u8], notes: &mut Notes) -> Result<Table, Problem> {
    let content = as_utf8(super::without_mark(bytes), notes);
    let (separator, columns) = header_of(&content);
    // Before it is read: each column takes memory, however short its rows are.
    if columns > COLUMNS_MAX {
        return Err(Problem::new(format!(
            "the data has {columns} columns; at most {COLUMNS_MAX} can be read"
        ))
        .hint("drop columns first, or swap rows and columns"));
    }
    if separator != b',' {
        notes.add(format!("fields are separated by {:?}", char::from(separator)));
    }
    let mut fields = Fields::new(&content, separator);
    let names = names_of(&mut fields, notes)?;
    let (rows, values) = read_values(&fields, &names, notes)?;
    let columns: Vec<Column> =
        names.into_iter().zip(values).map(|(name, values)| Column::new(name, values)).collect();
    if separator != b',' {
        columns.iter().for_each(|column| note_decimal_comma(column, notes));
    }
    Table::new(rows, columns)
}

/// The header's names; one that comes again gets a number.
fn names_of(fields: &mut Fields<'_>, notes: &mut Notes) -> Result<Vec<String>, Problem> {
    let mut names = Vec::new();
    loop {
        let field = fields.next_field();
        let name = field.content().map_err(|NotClosed| not_closed(fields.line()))?;
        names.push(name.unwrap_or_default().replace(NESTED, " "));
        if field.ends_line || names.len() > COLUMNS_MAX {
            break;
        }
    }
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen = HashSet::new();
    for name in &mut names {
        if seen.insert(name.clone()) {
            continue;
        }
        let numbered =
            (2..).map(|number: usize| format!("{name}_{number}")).find(|name| !taken.contains(name));
        let numbered = numbered.unwrap_or_default();
        notes.add(format!("the column {name:?} appears more than once; one of them is named {numbered:?}"));
        taken.insert(numbered.clone());
        *name = numbered;
    }
    Ok(names)
}

/// How many rows there are, and the values of each column.
fn read_values(
    fields: &Fields<'_>,
    names: &[String],
    notes: &mut Notes,
) -> Result<(usize, Vec<Values>), Problem> {
    let mut columns: Vec<CsvColumn> = names.iter().map(|_| CsvColumn::new()).collect();
    let rows = read_rows(fields.clone(), columns.iter_mut().map(Some).collect())?;
    let mut values = Vec::with_capacity(names.len());
    let mut again = Vec::with_capacity(names.len());
    for (name, column) in names.iter().zip(columns) {
        match column.finish() {
            Finished::Values(own) => {
                values.push(own);
                again.push(None);
            }
            Finished::Reread { has_big_integers, column } => {
                if has_big_integers {
                    notes.add(format!("field {name:?} has integers too large for 64 bits; it's read as text, so == and in are exact; cast it to number to calculate (about 16 digits)"));
                }
                values.push(Values::Null(rows));
                again.push(Some(column));
            }
        }
    }
    if again.iter().any(Option::is_some) {
        read_rows(fields.clone(), again.iter_mut().map(Option::as_mut).collect())?;
        for (own, column) in values.iter_mut().zip(again) {
            if let Some(Finished::Values(read)) = column.map(CsvColumn::finish) {
                *own = read;
            }
        }
    }
    Ok((rows, values))
}

/// Gives each field to its column; `None` is not read. Gives how many rows there are.
fn read_rows(mut fields: Fields<'_>, mut columns: Vec<Option<&mut CsvColumn>>) -> Result<usize, Problem> {
    let mut rows = 0;
    while fields.has_line() {
        let line = fields.line();
        let mut is_complete = false;
        for column in &mut columns {
            // A line that ends early has missing values at its end.
            if is_complete {
                column.iter_mut().for_each(|column| column.push(None));
                continue;
            }
            let field = fields.next_field();
            if let Some(column) = column {
                let content = field.content().map_err(|NotClosed| not_closed(line))?;
                column.push(content.as_deref());
            }
            is_complete = field.ends_line;
        }
        // A separator as the very last letter separates nothing.
        if !is_complete && !fields.is_at_end() {
            return Err(csv_problem(&format!("line {line} has more fields than the first line")));
        }
        rows += 1;
    }
    Ok(rows)
}

/// Says so where all texts of a column are numbers with a comma before the fraction.
fn note_decimal_comma(column: &Column, notes: &mut Notes) {
    let Some(texts) = column.texts() else { return };
    if !texts.iter().flatten().all(is_number_with_comma) {
        return;
    }
    let Some(example) = texts.iter().flatten().find(|text| text.contains(',')) else { return };
    let name = column.name();
    notes.add(format!(
        "field {:?} has numbers with a decimal comma, such as {example:?}, so it's read as text; cast can't convert them; to calculate: {{\"compute\": {{\"{name}\": \"number(replace(`{name}`, ',', '.'))\"}}}}",
        name
    ));
}

fn is_number_with_comma(text: &str) -> bool {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    match digits.split_once(',') {
        None => is_digits(digits),
        Some((whole, fraction)) => is_digits(whole) && is_digits(fraction),
    }
}

fn as_utf8<'a>(content: &'a [u8], notes: &mut Notes) -> Cow<'a, str> {
    if let Ok(text) = std::str::from_utf8(content) {
        return Cow::Borrowed(text);
    }
    notes.add("the data isn't all UTF-8; invalid bytes became \u{fffd}");
    String::from_utf8_lossy(content)
}

/// The separator that the first line has most of, outside of quotes, and how many columns that makes.
fn header_of(content: &str) -> (u8, usize) {
    let mut counts = [0_usize; SEPARATORS.len()];
    let mut is_quoted = false;
    // Empty lines come before no header.
    for byte in content.bytes().skip_while(|byte| matches!(byte, b'\r' | b'\n')) {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            byte if !is_quoted => {
                if let Some(index) = SEPARATORS.iter().position(|separator| *separator == byte) {
                    counts[index] += 1;
                }
            }
            _ => {}
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let first = counts.iter().position(|count| *count == most).unwrap_or(0);
    (SEPARATORS[first], most + 1)
}

fn not_closed(line: usize) -> Problem {
    csv_problem(&format!("a quoted field in line {line} isn't closed"))
}

fn csv_problem(reason: &str) -> Problem {
    Problem::new(format!("can't read the CSV data: {reason}"))
        .hint("every line needs as many fields as the first; put fields that contain separators or line breaks in double quotes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_columns_are_refused_before_they_are_read() {
        let header = |columns: usize| (0..columns).map(|at| format!("c{at}")).collect::<Vec<_>>().join(";");
        let read = |text: String| read_csv(text.as_bytes(), &mut Notes::default());
        let problem = read(format!("\n{}\n1", header(1_000_000))).expect_err("too wide");
        assert_eq!(problem.message, "the data has 1000000 columns; at most 2000 can be read");
        let row = vec!["1"; COLUMNS_MAX].join(";");
        let table = read(format!("{}\n{row}\n", header(COLUMNS_MAX))).expect("as wide as may be");
        assert_eq!((table.rows(), table.width()), (1, COLUMNS_MAX));
        // Separators inside of quotes separate nothing.
        let table = read(format!("\"{}\",b\n1,2\n", ";".repeat(COLUMNS_MAX + 1))).expect("two columns");
        assert_eq!(table.width(), 2);
    }
}
