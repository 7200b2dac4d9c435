//! From JSON to a table: a list of objects, a list of values, one object, or one of these on each line.

use std::collections::{BTreeSet, HashMap};

use super::column_builder::ColumnBuilder;
use crate::bounds::{COLUMNS_MAX, DEPTH_MAX, ROWS_MAX};
use crate::json_keys::find_key;
use crate::json_scanner::{Scalar, Scanner};
use crate::outcome::{Notes, Problem};
use crate::table::{NESTED, Table};

/// The column of values that are no objects.
const VALUE: &str = "value";

/// Reads one JSON text; `path` leads to the list inside it.
pub(super) fn read_json(text: &str, path: Option<&str>, notes: &mut Notes) -> Result<Table, Problem> {
    let mut scanner = Scanner::new(text);
    if let Some(path) = path {
        let parts: Vec<&str> = path.split('.').filter(|part| !part.is_empty()).collect();
        descend(&mut scanner, &parts, path)?;
    }
    let mut rows = Rows::default();
    let is_list = scanner.peek() == Some(b'[');
    if is_list {
        scanner.take(b'[');
        if !scanner.take(b']') {
            loop {
                rows.read_row(&mut scanner)?;
                if !scanner.has_next(b']')? {
                    break;
                }
            }
        }
    } else {
        rows.read_row(&mut scanner)?;
    }
    if path.is_none() && scanner.peek().is_some() {
        return Err(scanner.problem("the end of the data"));
    }
    let table = rows.finish(notes)?;
    if !is_list && !table.lists.is_empty() {
        let lists: Vec<String> = table.lists.iter().map(|name| crate::table::display_name(name)).collect();
        notes.add(format!(
            "the data is one object, read as one row; to use a list inside it, set data_field: {}",
            lists.join(", ")
        ));
    }
    Ok(table)
}

/// Reads one JSON value from each line.
pub(super) fn read_json_lines(text: &str, notes: &mut Notes) -> Result<Table, Problem> {
    let mut scanner = Scanner::new(text);
    let mut rows = Rows::default();
    while scanner.peek().is_some() {
        rows.read_row(&mut scanner)?;
    }
    rows.finish(notes)
}

/// The items of lists in cells as one table, and for each item the row that its list stood in.
pub(crate) fn read_lists<'a>(
    lists: impl Iterator<Item = (u32, &'a str)>,
    notes: &mut Notes,
) -> Result<(Table, Vec<u32>), Problem> {
    let mut rows = Rows::default();
    let mut parents = Vec::new();
    for (parent, text) in lists {
        let mut scanner = Scanner::new(text);
        scanner.expect(b'[', "a list")?;
        if scanner.take(b']') {
            continue;
        }
        loop {
            rows.read_row(&mut scanner)?;
            parents.push(parent);
            if !scanner.has_next(b']')? {
                break;
            }
        }
    }
    Ok((rows.finish(notes)?, parents))
}

/// Whether more than one value stands in the text.
pub(super) fn has_several_values(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.skip(0).is_ok() && scanner.peek().is_some()
}

/// Goes down to the value that the path leads to.
fn descend(scanner: &mut Scanner<'_>, parts: &[&str], path: &str) -> Result<(), Problem> {
    for part in parts {
        if !scanner.take(b'{') {
            let message = format!(
                "data_field {path:?} not found: {part:?} is looked up in something that isn't an object"
            );
            return Err(Problem::new(message)
                .hint("data_field is a path of object keys to the list; use unnest for lists inside rows")
                .field(path));
        }
        let mut keys = Vec::new();
        let is_found = !scanner.take(b'}') && find_key(scanner, part, &mut keys)?;
        if !is_found {
            let problem = Problem::unknown("key", part, keys.iter().map(String::as_str)).field(path);
            return Err(Problem {
                message: format!("data_field {path:?} doesn't exist: {}", problem.message),
                ..problem
            });
        }
    }
    Ok(())
}

/// A place among nested objects: its column if values came there, its members if objects did.
#[derive(Default)]
struct Place {
    name: String,
    column: Option<usize>,
    members: Vec<(String, usize)>,
    by_key: HashMap<String, usize>,
    /// The member that most likely comes next.
    next: usize,
}

/// Rows that become columns.
struct Rows {
    places: Vec<Place>,
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

impl Default for Rows {
    fn default() -> Self {
        Self { places: vec![Place::default()], columns: Vec::new(), rows: 0 }
    }
}

impl Rows {
    fn read_row(&mut self, scanner: &mut Scanner<'_>) -> Result<(), Problem> {
        if self.rows >= ROWS_MAX {
            return Err(Problem::new(format!("the data has more than {ROWS_MAX} rows"))
                .hint("split it and analyze the parts"));
        }
        if scanner.peek() == Some(b'{') {
            self.read_object(scanner, 0, 0)?;
        } else {
            let value = scanner.scalar()?;
            let place = self.member(0, VALUE)?;
            self.put(place, value)?;
        }
        self.rows += 1;
        Ok(())
    }

    fn read_object(&mut self, scanner: &mut Scanner<'_>, place: usize, depth: usize) -> Result<(), Problem> {
        if depth > DEPTH_MAX {
            return Err(scanner.too_deep());
        }
        scanner.expect(b'{', "an object")?;
        if scanner.take(b'}') {
            return Ok(());
        }
        loop {
            let key = scanner.key()?;
            let member = self.member(place, &key)?;
            if scanner.peek() == Some(b'{') {
                self.read_object(scanner, member, depth + 1)?;
            } else {
                let value = scanner.scalar()?;
                self.put(member, value)?;
            }
            if !scanner.has_next(b'}')? {
                return Ok(());
            }
        }
    }

    /// The place of a key. Objects mostly have the same keys in the same order: that is tried first.
    fn member(&mut self, place: usize, key: &str) -> Result<usize, Problem> {
        let parent = &mut self.places[place];
        for guess in [parent.next, 0] {
            if let Some((known, member)) = parent.members.get(guess)
                && known == key
            {
                parent.next = guess + 1;
                return Ok(*member);
            }
        }
        if let Some(index) = parent.by_key.get(key) {
            parent.next = index + 1;
            return Ok(parent.members[*index].1);
        }
        let clean = key.replace(NESTED, " ");
        let name = if place == 0 { clean } else { format!("{}{NESTED}{clean}", parent.name) };
        let index = parent.members.len();
        parent.by_key.insert(key.to_owned(), index);
        parent.next = index + 1;
        let member = self.places.len();
        if member > COLUMNS_MAX * 2 {
            return Err(too_many_columns());
        }
        self.places[place].members.push((key.to_owned(), member));
        self.places.push(Place { name, ..Place::default() });
        Ok(member)
    }

    fn put(&mut self, place: usize, value: Scalar<'_>) -> Result<(), Problem> {
        let column = match self.places[place].column {
            Some(column) => column,
            None => {
                let column = self.columns.len();
                if column >= COLUMNS_MAX {
                    return Err(too_many_columns());
                }
                self.columns.push(ColumnBuilder::new(self.places[place].name.clone()));
                self.places[place].column = Some(column);
                column
            }
        };
        self.columns[column].put(self.rows, value);
        Ok(())
    }

    fn finish(self, notes: &mut Notes) -> Result<Table, Problem> {
        let rows = self.rows;
        let mut lists = BTreeSet::new();
        let mut columns = Vec::with_capacity(self.columns.len());
        // A key that is an object wherever it is not null needs no column of its own.
        let is_object_or_null = |column: usize| {
            self.places.iter().any(|place| place.column == Some(column) && !place.members.is_empty())
        };
        let shadows: Vec<bool> = (0..self.columns.len()).map(is_object_or_null).collect();
        for (builder, is_shadow) in self.columns.into_iter().zip(shadows) {
            let (column, is_list) = builder.finish(rows, notes);
            if is_shadow && column.is_all_missing() {
                continue;
            }
            if is_list {
                lists.insert(column.name().to_owned());
            }
            columns.push(column);
        }
        Ok(Table::new(rows, columns)?.with_lists(lists))
    }
}

fn too_many_columns() -> Problem {
    Problem::new(format!("the data has more than {COLUMNS_MAX} columns"))
        .hint("objects with data as keys (ids, dates) become one column per key; turn them into rows first")
}
