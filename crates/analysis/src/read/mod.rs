//! Reading: from bytes to a table, by the format that was named or that the content shows.

mod arrow_schema;
mod column_builder;
mod csv;
mod csv_column;
mod csv_fields;
mod json_rows;
mod parquet;
mod parquet_leaf;
mod parquet_tree;

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use crate::bounds::{COLUMNS_MAX, ROWS_MAX};
use crate::input::{Format, Input, Source};
use crate::outcome::{Notes, Problem};
use crate::table::Table;

pub(crate) use json_rows::read_lists;

/// Reads one input; `path` leads to a list inside JSON.
pub(crate) fn read(input: Input, path: Option<&str>, notes: &mut Notes) -> Result<Table, Problem> {
    let name = input.name.clone();
    let bytes = bytes_of(input.source).map_err(|error| {
        Problem::new(format!("can't read input {name:?}: {error}"))
            .hint("check that the file exists and is readable")
    })?;
    let format = input.format.unwrap_or_else(|| format_of(&bytes));
    if format != Format::Parquet && without_mark(&bytes).trim_ascii().is_empty() {
        notes.add("the data is empty: no rows and no columns");
        return Table::new(0, Vec::new());
    }
    if path.is_some() && format != Format::Json {
        let message =
            format!("data_field is for JSON with a list inside; input {name:?} is {}", format.as_str());
        return Err(Problem::new(message).hint("leave out data_field: every row is used"));
    }
    let table = match format {
        Format::Json => json_rows::read_json(utf8(&bytes)?, path, notes)?,
        Format::JsonLines => json_rows::read_json_lines(utf8(&bytes)?, notes)?,
        Format::Csv => csv::read_csv(&bytes, notes)?,
        Format::Parquet => parquet::read_parquet(bytes, notes)?,
    };
    within_bounds(&table)?;
    Ok(table)
}

fn within_bounds(table: &Table) -> Result<(), Problem> {
    if table.rows() > ROWS_MAX {
        return Err(Problem::new(format!("the data has more than {ROWS_MAX} rows"))
            .hint("split it and analyze the parts"));
    }
    if table.width() > COLUMNS_MAX {
        return Err(
            Problem::new(format!("the data has more than {COLUMNS_MAX} columns")).hint("drop columns first")
        );
    }
    Ok(())
}

/// The whole content. It is read rather than mapped: a file that shrinks under a map ends the process.
fn bytes_of(source: Source) -> std::io::Result<Vec<u8>> {
    match source {
        Source::Bytes(bytes) => Ok(bytes),
        Source::File(mut file) => {
            let mut bytes = Vec::new();
            // By its end: behind the walls there is no other way to ask for a size.
            let size = file.seek(SeekFrom::End(0)).unwrap_or(0);
            bytes
                .try_reserve_exact(usize::try_from(size).unwrap_or(0))
                .map_err(|_| ErrorKind::OutOfMemory)?;
            // What cannot seek, such as a pipe, is at its beginning already.
            let _ = file.rewind();
            file.read_to_end(&mut bytes)?;
            Ok(bytes)
        }
    }
}

fn format_of(bytes: &[u8]) -> Format {
    if bytes.starts_with(b"PAR1") {
        return Format::Parquet;
    }
    let content = without_mark(bytes).trim_ascii_start();
    match content.first() {
        Some(b'[') => Format::Json,
        Some(b'{') => match std::str::from_utf8(content) {
            Ok(text) if json_rows::has_several_values(text) => Format::JsonLines,
            Ok(_) | Err(_) => Format::Json,
        },
        Some(_) | None => Format::Csv,
    }
}

/// Without the mark that some programs put before UTF-8.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn utf8(bytes: &[u8]) -> Result<&str, Problem> {
    let bytes = without_mark(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        Problem::new(format!("the data isn't UTF-8 text: byte {} is invalid", error.valid_up_to()))
            .hint("convert it to UTF-8, or set the format")
    })
}
