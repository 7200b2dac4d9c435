//! `join`: rows of the table beside rows of another input with the same key.
//!
//! Missing keys match nothing, not even each other. A column that both have gets the other input's name
//! behind it on the right side.

use serde_json::Value;

use super::Context;
use crate::arguments::Arguments;
use crate::bounds::{COLUMNS_MAX, ROWS_MAX};
use crate::column::{Column, Row, row_index};
use crate::factorize::factorize_keys;
use crate::kind::Kind;
use crate::outcome::Problem;
use crate::spellings::plain;
use crate::table::{Table, display_name};
use crate::values::{Cell, Values};

/// Which rows are in the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Inner,
    Left,
    Right,
    Full,
    /// Rows of the left that have a partner, without its columns.
    Semi,
    /// Rows of the left that have none.
    Anti,
}

const WAYS: [(&str, How); 7] = [
    ("inner", How::Inner),
    ("left", How::Left),
    ("right", How::Right),
    ("full", How::Full),
    ("outer", How::Full),
    ("semi", How::Semi),
    ("anti", How::Anti),
];

/// Rows of both sides that belong together; `None` has no partner.
#[derive(Default)]
struct Pairs {
    left: Vec<Option<Row>>,
    right: Vec<Option<Row>>,
}

impl Pairs {
    fn push(&mut self, left: Option<Row>, right: Option<Row>) {
        self.left.push(left);
        self.right.push(right);
    }
}

pub(super) fn join(body: &Value, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let known = ["with", "on", "left_on", "right_on", "how"];
    let arguments = Arguments::new("join", body, &known, &["input", "right", "type", "kind"])?;
    let name = arguments.required_text(&["with", "input", "right"])?;
    let way = arguments.text(&["how", "type", "kind"])?.unwrap_or("inner");
    let plain_way = plain(way);
    let wanted = plain_way.trim_end_matches("_join").trim_end_matches("_outer");
    let how = WAYS.iter().find(|(own, _)| *own == wanted).map(|(_, how)| *how);
    let how = how.ok_or_else(|| Problem::unknown("kind of join", way, WAYS.map(|(name, _)| name)))?;
    let on = arguments.texts(&["on"])?;
    let (left_on, right_on) = if on.is_empty() {
        (arguments.required_texts(&["left_on", "on"])?, arguments.required_texts(&["right_on", "on"])?)
    } else {
        (on.clone(), on)
    };
    if left_on.len() != right_on.len() {
        return Err(Problem::new(format!(
            "\"left_on\" has {} fields, but \"right_on\" has {}",
            left_on.len(),
            right_on.len()
        )));
    }
    let other = context.other(name)?;
    let in_other =
        |problem: Problem| Problem { message: format!("input {name:?}: {}", problem.message), ..problem };
    let right_columns =
        right_on.iter().map(|field| other.column(field)).collect::<Result<Vec<_>, _>>().map_err(in_other)?;
    let left_columns = left_on.iter().map(|field| table.column(field)).collect::<Result<Vec<_>, _>>()?;
    for (left, right) in left_columns.iter().zip(&right_columns) {
        check_comparable(left, right, name)?;
    }
    let [left_keys, right_keys] = factorize_keys(&values_of(&left_columns), &values_of(&right_columns));
    let pairs = pair_rows(&left_keys, &right_keys, how)?;
    let keys: Vec<(&Column, &Column)> = left_columns.into_iter().zip(right_columns).collect();
    if matches!(how, How::Semi | How::Anti) {
        return Ok(table.take_or_missing(&pairs.left));
    }
    join_columns(table, &other, name, &pairs, how, &keys)
}

fn values_of<'a>(columns: &[&'a Column]) -> Vec<&'a Values> {
    columns.iter().map(|column| column.values()).collect()
}

fn check_comparable(left: &Column, right: &Column, name: &str) -> Result<(), Problem> {
    let (left_kind, right_kind) = (left.kind(), right.kind());
    let is_same = left_kind == right_kind || (left_kind.is_numeric() && right_kind.is_numeric());
    if is_same || left_kind == Kind::Null || right_kind == Kind::Null {
        return Ok(());
    }
    let field = display_name(left.name());
    let message = format!(
        "field {field:?} has type {}, but field {:?} of input {name:?} has type {}: they never match",
        left_kind.as_str(),
        display_name(right.name()),
        right_kind.as_str()
    );
    Err(Problem::new(message)
        .hint(format!("cast one of them first: {{\"cast\": {{\"{field}\": \"{}\"}}}}", right_kind.as_str()))
        .field(field))
}

/// Rows by the number of their key, from the numbers of all rows.
struct Partners {
    rows: Vec<Row>,
    /// Where the rows of each key begin; the last is where all end.
    starts: Vec<usize>,
}

impl Partners {
    fn of(keys: &[Option<u32>]) -> Self {
        let count = keys.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        let mut starts = vec![0; count + 1];
        for key in keys.iter().flatten() {
            starts[*key as usize + 1] += 1;
        }
        for key in 0..count {
            starts[key + 1] += starts[key];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[count]];
        for (row, key) in keys.iter().enumerate() {
            if let Some(key) = key {
                let place = &mut next[*key as usize];
                rows[*place] = row_index(row);
                *place += 1;
            }
        }
        Self { rows, starts }
    }

    fn with(&self, key: Option<u32>) -> &[Row] {
        let place = key.map(|key| key as usize);
        let ends = place.and_then(|place| self.starts.get(place).zip(self.starts.get(place + 1)));
        ends.and_then(|(start, end)| self.rows.get(*start..*end)).unwrap_or_default()
    }
}

fn pair_rows(left: &[Option<u32>], right: &[Option<u32>], how: How) -> Result<Pairs, Problem> {
    let partners_of = Partners::of(right);
    let mut pairs = Pairs::default();
    let mut is_used = vec![false; right.len()];
    for (row, key) in left.iter().enumerate() {
        let partners = partners_of.with(*key);
        let row = Some(row_index(row));
        match how {
            How::Semi if !partners.is_empty() => pairs.push(row, None),
            How::Anti | How::Left | How::Full if partners.is_empty() => pairs.push(row, None),
            How::Semi | How::Anti => {}
            How::Inner | How::Left | How::Right | How::Full => {
                for partner in partners {
                    pairs.push(row, Some(*partner));
                    if let Some(used) = is_used.get_mut(*partner as usize) {
                        *used = true;
                    }
                }
            }
        }
        if pairs.left.len() > ROWS_MAX {
            return Err(Problem::new(format!("the join would make more than {ROWS_MAX} rows"))
                .hint("a key repeats many times on both sides; aggregate or filter first"));
        }
    }
    if matches!(how, How::Right | How::Full) {
        for (row, _) in is_used.iter().enumerate().filter(|(_, used)| !**used) {
            pairs.push(None, Some(row_index(row)));
        }
    }
    Ok(pairs)
}

/// The columns of both sides; `keys` are the columns that were compared.
fn join_columns(
    table: &Table,
    other: &Table,
    name: &str,
    pairs: &Pairs,
    how: How,
    keys: &[(&Column, &Column)],
) -> Result<Table, Problem> {
    let mut joined = table.take_or_missing(&pairs.left);
    // Rows from the right alone have their key only there.
    if matches!(how, How::Right | How::Full) {
        for (left, right) in keys {
            joined.set_column(Column::new(left.name(), fill_keys(left.values(), right.values(), pairs)?));
        }
    }
    for column in other.columns() {
        let own = column.name();
        let is_key = |is_own: &dyn Fn(&(&Column, &Column)) -> bool| keys.iter().any(is_own);
        if is_key(&|(left, _)| left.name() == own) && is_key(&|(_, right)| right.name() == own) {
            continue;
        }
        let mut full = own.to_owned();
        if joined.by_name(&full).is_some() {
            full = format!("{own}_{name}");
        }
        if joined.by_name(&full).is_some() || joined.width() >= COLUMNS_MAX {
            return Err(Problem::new(format!(
                "can't add the column {:?}: the name is taken, or there are too many columns",
                display_name(&full)
            ))
            .hint("rename or drop columns first"));
        }
        if other.lists.contains(own) {
            joined.lists.insert(full.clone());
        }
        joined.set_column(column.take_or_missing(&pairs.right).renamed(full));
    }
    Ok(joined)
}

/// The left key, or the right one where there is no left row.
fn fill_keys(left: &Values, right: &Values, pairs: &Pairs) -> Result<Values, Problem> {
    let cells = pairs.left.iter().zip(&pairs.right).map(|pair| match pair {
        (Some(row), _) => left.cell(*row as usize),
        (None, Some(row)) => right.cell(*row as usize),
        (None, None) => Cell::Missing,
    });
    crate::expression::values_of(cells)
}
