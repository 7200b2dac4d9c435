//! CSV: the separator, the columns' names, and what each column holds.
//!
//! An empty field is a missing value, and nothing else is. What a column holds is found in all of its rows.

use std::borrow::Cow;
use std::io::Cursor;

use polars_core::prelude::*;
use polars_io::SerReader;
use polars_io::prelude::{CsvEncoding, CsvReadOptions};

use super::typed_text::typed;
use crate::bounds::COLUMNS_MAX;
use crate::outcome::{Notes, Problem};
use crate::table::{NESTED, Table};

/// Separators that are looked for, the usual one first.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Rows by which a column's type is guessed first; if a later row says otherwise, all are looked at.
const GUESSED_ROWS: usize = 10_000;

pub(super) fn read_csv(bytes: &[u8], notes: &mut Notes) -> Result<Table, Problem> {
    let content = as_utf8(super::without_mark(bytes), notes);
    let (separator, columns) = header_of(&content);
    // Before it is read: each column takes memory, however short its rows are.
    if columns > COLUMNS_MAX {
        return Err(Problem::new(format!(
            "the data has {columns} columns; at most {COLUMNS_MAX} can be read"
        ))
        .hint("leave out columns first, or turn rows and columns around"));
    }
    if separator != b',' {
        notes.add(format!("the fields are separated by {:?}", char::from(separator)));
    }
    let frame = match attempt(&content, separator, Some(GUESSED_ROWS)) {
        Ok(frame) => frame,
        // A later row did not fit the guess: take everything as text, and look at all of it.
        Err(_) => typed(attempt(&content, separator, Some(0)).map_err(csv_problem)?, notes)?,
    };
    let rows = frame.height();
    let mut columns = with_plain_names(frame, notes);
    for column in columns.iter_mut().filter(|column| column.dtype() == &DataType::String) {
        if column.null_count() == rows {
            // Without a value nobody knows what a column would hold.
            *column = Column::full_null(column.name().clone(), rows, &DataType::Null);
        } else if separator != b',' {
            remark_decimal_comma(column, notes);
        }
    }
    Table::new(rows, columns)
}

/// Says so where all texts of a column are numbers with a comma before the fraction.
fn remark_decimal_comma(column: &Column, notes: &mut Notes) {
    let Ok(texts) = column.str() else { return };
    if !texts.iter().flatten().all(is_number_with_comma) {
        return;
    }
    let Some(example) = texts.iter().flatten().find(|text| text.contains(',')) else { return };
    let name = column.name();
    notes.add(format!(
        "field {:?} has numbers with a decimal comma, such as {example:?}, and is kept as text; cast does not read them; to calculate: {{\"compute\": {{\"{name}\": \"number(replace(`{name}`, ',', '.'))\"}}}}",
        name.as_str()
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

fn attempt(content: &[u8], separator: u8, infer: Option<usize>) -> PolarsResult<DataFrame> {
    let options = CsvReadOptions::default()
        .with_has_header(true)
        .with_infer_schema_length(infer)
        .with_raise_if_empty(false)
        .map_parse_options(|options| options.with_separator(separator).with_encoding(CsvEncoding::Utf8));
    options.into_reader_with_file_handle(Cursor::new(content)).finish()
}

fn as_utf8<'a>(content: &'a [u8], notes: &mut Notes) -> Cow<'a, [u8]> {
    match String::from_utf8_lossy(content) {
        Cow::Borrowed(_) => Cow::Borrowed(content),
        Cow::Owned(text) => {
            notes.add("the data is not UTF-8 throughout; what could not be read became \u{fffd}");
            Cow::Owned(text.into_bytes())
        }
    }
}

/// The separator that the first line has most of, outside of quotes, and how many columns that makes.
fn header_of(content: &[u8]) -> (u8, usize) {
    let mut counts = [0_usize; SEPARATORS.len()];
    let mut is_quoted = false;
    // Empty lines come before no header.
    for byte in content.iter().skip_while(|byte| matches!(byte, b'\r' | b'\n')) {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            byte if !is_quoted => {
                if let Some(index) = SEPARATORS.iter().position(|separator| separator == byte) {
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

/// Columns with the names of the header; a name that comes again gets a number.
fn with_plain_names(frame: DataFrame, notes: &mut Notes) -> Vec<Column> {
    const MARK: &str = "_duplicated_";
    let mut columns = frame.into_columns();
    for column in &mut columns {
        let name = column.name().to_string();
        let clean = name.replace(NESTED, " ");
        if let Some((base, count)) = clean.rsplit_once(MARK)
            && let Ok(count) = count.parse::<usize>()
        {
            let numbered = format!("{base}_{}", count.saturating_add(2));
            notes
                .add(format!("the column {base:?} comes more than once; one of them is called {numbered:?}"));
            column.rename(numbered.into());
        } else if clean != name {
            column.rename(clean.into());
        }
    }
    columns
}

fn csv_problem(error: PolarsError) -> Problem {
    let text = error.to_string();
    let short: String = text.lines().next().unwrap_or_default().chars().take(300).collect();
    Problem::new(format!("the CSV data could not be read: {short}"))
        .hint("every line needs as many fields as the first; fields with separators or line breaks in them need double quotes")
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
        assert_eq!((table.rows(), table.frame.width()), (1, COLUMNS_MAX));
        // Separators inside of quotes separate nothing.
        let table = read(format!("\"{}\",b\n1,2\n", ";".repeat(COLUMNS_MAX + 1))).expect("two columns");
        assert_eq!(table.frame.width(), 2);
    }
}
