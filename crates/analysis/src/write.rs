//! Writing: the outcome as one JSON text, row by row.
//!
//! Whole numbers stay whole, nested columns become objects again, lists are written as they came in.

use std::io::{self, Write};

use serde_json::Value;

use crate::column::Column;
use crate::outcome::{Notes, Problem};
use crate::table::{NESTED, Table, display_name};
use crate::values::Values;

/// Bytes that are collected before they go out.
const BUFFER_BYTES: usize = 256 * 1024;

/// A table as a list of row objects.
pub(crate) fn write_table(table: &Table, output: &mut dyn Write, notes: &mut Notes) -> Result<(), Problem> {
    let columns: Vec<Field<'_>> = table.columns().iter().map(|column| Field::of(column, table)).collect();
    let tree = Tree::of(&columns);
    let non_finite = columns.iter().map(Field::non_finite).collect::<Vec<_>>();
    for (field, count) in columns.iter().zip(non_finite).filter(|(_, count)| *count > 0) {
        notes.add(format!(
            "field {:?}: {count} NaN or infinite values are written as null",
            display_name(field.name)
        ));
    }
    let mut buffer = Vec::with_capacity(BUFFER_BYTES + 4096);
    buffer.push(b'[');
    for row in 0..table.rows() {
        if row > 0 {
            buffer.extend_from_slice(b",\n");
        }
        tree.write(&columns, row, &mut buffer);
        if buffer.len() >= BUFFER_BYTES {
            flush(&mut buffer, output)?;
        }
    }
    buffer.push(b']');
    flush(&mut buffer, output)?;
    output.flush().map_err(|error| cannot_write(&error))
}

/// A report as one object.
pub(crate) fn write_report(report: &Value, output: &mut dyn Write) -> Result<(), Problem> {
    let text = report.to_string();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(|error| cannot_write(&error))
}

fn flush(buffer: &mut Vec<u8>, output: &mut dyn Write) -> Result<(), Problem> {
    output.write_all(buffer).map_err(|error| cannot_write(&error))?;
    buffer.clear();
    Ok(())
}

fn cannot_write(error: &io::Error) -> Problem {
    Problem::new(format!("can't write the output: {error}"))
        .hint("limit or aggregate the result, or raise the limit on its size")
}

/// One column, ready to be written.
struct Field<'a> {
    name: &'a str,
    values: &'a Values,
    is_list: bool,
}

impl<'a> Field<'a> {
    fn of(column: &'a Column, table: &Table) -> Self {
        let name = column.name();
        Self { values: column.values(), is_list: table.lists.contains(name), name }
    }

    fn non_finite(&self) -> usize {
        match self.values {
            Values::Numbers(list) => list.iter().flatten().filter(|value| !value.is_finite()).count(),
            Values::Booleans(_)
            | Values::Integers(_)
            | Values::Texts(_)
            | Values::Dates(_)
            | Values::Datetimes(_)
            | Values::Null(_) => 0,
        }
    }

    fn write(&self, row: usize, buffer: &mut Vec<u8>) {
        // Writing to memory cannot fail.
        match self.values {
            Values::Booleans(list) => match list.get(row).copied().flatten() {
                Some(value) => buffer.extend_from_slice(if value { b"true" } else { b"false" }),
                None => buffer.extend_from_slice(b"null"),
            },
            Values::Integers(list) => match list.get(row).copied().flatten() {
                Some(value) => drop(write!(buffer, "{value}")),
                None => buffer.extend_from_slice(b"null"),
            },
            Values::Numbers(list) => match list.get(row).copied().flatten().filter(|value| value.is_finite())
            {
                Some(value) => drop(write!(buffer, "{value:?}")),
                None => buffer.extend_from_slice(b"null"),
            },
            Values::Texts(texts) => match texts.get(row) {
                Some(text) if self.is_list => buffer.extend_from_slice(text.as_bytes()),
                Some(text) => write_text(text, buffer),
                None => buffer.extend_from_slice(b"null"),
            },
            Values::Dates(_) | Values::Datetimes(_) => match self.values.cell(row).text() {
                Some(text) => write_text(&text, buffer),
                None => buffer.extend_from_slice(b"null"),
            },
            Values::Null(_) => buffer.extend_from_slice(b"null"),
        }
    }
}

/// The members of an object: columns, and objects inside.
enum Member {
    Column(usize),
    Inside(Tree),
}

/// How columns make objects.
#[derive(Default)]
struct Tree {
    /// Each key as JSON text with its colon, and the key itself.
    members: Vec<(String, Vec<u8>, Member)>,
}

impl Tree {
    fn of(columns: &[Field<'_>]) -> Self {
        let mut tree = Self::default();
        for (index, column) in columns.iter().enumerate() {
            let parts: Vec<&str> = column.name.split(NESTED).collect();
            tree.add(&parts, index);
        }
        tree
    }

    fn add(&mut self, parts: &[&str], index: usize) {
        let Some((first, rest)) = parts.split_first() else { return };
        if rest.is_empty() {
            self.push(first, Member::Column(index));
            return;
        }
        let known = self
            .members
            .iter_mut()
            .find(|(key, _, member)| key == first && matches!(member, Member::Inside(_)));
        if let Some((_, _, Member::Inside(inside))) = known {
            inside.add(rest, index);
            return;
        }
        // A value and an object under one key cannot both be written there: the object goes under its whole name.
        if self.members.iter().any(|(key, ..)| key == first) {
            self.push(&parts.join("."), Member::Column(index));
            return;
        }
        let mut inside = Tree::default();
        inside.add(rest, index);
        self.push(first, Member::Inside(inside));
    }

    fn push(&mut self, key: &str, member: Member) {
        // Two columns whose written names fall together.
        let mut name = key.to_owned();
        while self.members.iter().any(|(known, ..)| *known == name) {
            name.push('_');
        }
        let mut text = Vec::new();
        write_text(&name, &mut text);
        text.push(b':');
        self.members.push((name, text, member));
    }

    fn write(&self, columns: &[Field<'_>], row: usize, buffer: &mut Vec<u8>) {
        buffer.push(b'{');
        for (position, (_, key, member)) in self.members.iter().enumerate() {
            if position > 0 {
                buffer.push(b',');
            }
            buffer.extend_from_slice(key);
            match member {
                Member::Column(index) => match columns.get(*index) {
                    Some(column) => column.write(row, buffer),
                    None => buffer.extend_from_slice(b"null"),
                },
                Member::Inside(tree) if tree.is_missing(columns, row) => buffer.extend_from_slice(b"null"),
                Member::Inside(tree) => tree.write(columns, row, buffer),
            }
        }
        buffer.push(b'}');
    }

    /// Whether nothing of the object is there.
    fn is_missing(&self, columns: &[Field<'_>], row: usize) -> bool {
        self.members.iter().all(|(_, _, member)| match member {
            Member::Column(index) => columns.get(*index).is_none_or(|column| column.values.is_missing(row)),
            Member::Inside(tree) => tree.is_missing(columns, row),
        })
    }
}

fn write_text(text: &str, buffer: &mut Vec<u8>) {
    buffer.push(b'"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') {
        let (plain, tail) = rest.split_at(at);
        buffer.extend_from_slice(plain.as_bytes());
        let special = tail.as_bytes().first().copied().unwrap_or_default();
        match special {
            b'"' => buffer.extend_from_slice(b"\\\""),
            b'\\' => buffer.extend_from_slice(b"\\\\"),
            b'\n' => buffer.extend_from_slice(b"\\n"),
            b'\r' => buffer.extend_from_slice(b"\\r"),
            b'\t' => buffer.extend_from_slice(b"\\t"),
            other => drop(write!(buffer, "\\u{other:04x}")),
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    buffer.extend_from_slice(rest.as_bytes());
    buffer.push(b'"');
}
