//! `join`: rows of the table beside rows of another input with the same key.
//!
//! Missing keys match nothing, not even each other. A column that both have gets the other input's name
//! behind it on the right side.

use std::collections::HashMap;

use polars_core::prelude::*;
use serde_json::Value;

use super::Context;
use super::groups::index;
use crate::arguments::Arguments;
use crate::bounds::{COLUMNS_MAX, ROWS_MAX};
use crate::outcome::Problem;
use crate::table::{Kind, Table, engine_problem, shown};
use crate::values::Values;

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

/// A row of each side; `None` has no partner.
type Pair = (Option<IdxSize>, Option<IdxSize>);

pub(super) fn join(body: &Value, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let known = ["with", "input", "right", "on", "left_on", "right_on", "how", "type"];
    let arguments = Arguments::new("join", body, &known)?;
    let name = arguments.required_text(&["with", "input", "right"])?;
    let way = arguments.text(&["how", "type"])?.unwrap_or("inner");
    let how = WAYS.iter().find(|(own, _)| way.eq_ignore_ascii_case(own)).map(|(_, how)| *how);
    let how = how.ok_or_else(|| Problem::unknown("kind of join", way, WAYS.map(|(name, _)| name)))?;
    let on = arguments.texts(&["on"])?;
    let (left_on, right_on) = if on.is_empty() {
        (arguments.required_texts(&["left_on", "on"])?, arguments.required_texts(&["right_on", "on"])?)
    } else {
        (on.clone(), on)
    };
    if left_on.len() != right_on.len() {
        return Err(Problem::new(format!(
            "left_on has {} fields and right_on {}",
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
        comparable(left, right, name)?;
    }
    let pairs = paired(&keys(&left_columns)?, &keys(&right_columns)?, how)?;
    let right_keys: Vec<String> = right_columns.iter().map(|column| column.name().to_string()).collect();
    let left_keys: Vec<String> = left_columns.iter().map(|column| column.name().to_string()).collect();
    assembled(table, &other, name, &pairs, how, &left_keys, &right_keys)
}

fn comparable(left: &Column, right: &Column, name: &str) -> Result<(), Problem> {
    let (left_kind, right_kind) = (Kind::of(left), Kind::of(right));
    let is_same = left_kind == right_kind || (left_kind.is_numeric() && right_kind.is_numeric());
    if is_same || left_kind == Kind::Nothing || right_kind == Kind::Nothing {
        return Ok(());
    }
    let field = shown(left.name());
    let message = format!(
        "field {field:?} holds {}, and field {:?} of input {name:?} holds {}: they never match",
        left_kind.as_str(),
        shown(right.name()),
        right_kind.as_str()
    );
    Err(Problem::new(message)
        .hint(format!("cast one of them first: {{\"cast\": {{\"{field}\": \"{}\"}}}}", right_kind.as_str()))
        .field(field))
}

/// The key of each row as text; `None` where a part is missing.
fn keys(columns: &[&Column]) -> Result<Vec<Option<String>>, Problem> {
    let lists = columns.iter().map(|column| Values::of(column)).collect::<Result<Vec<_>, _>>()?;
    let rows = lists.first().map_or(0, Values::len);
    let key = |row: usize| {
        let mut key = String::new();
        for list in &lists {
            let text = match list {
                // Whole numbers match equal fractions.
                Values::Numbers(numbers) => {
                    numbers.get(row).copied().flatten().filter(|number| !number.is_nan()).map(whole_text)
                }
                Values::Booleans(_) | Values::Integers(_) | Values::Texts(_) => list.cell(row).text(),
                Values::Dates(_) | Values::Datetimes(_) | Values::Nothing(_) => list.cell(row).text(),
            }?;
            key.push_str(&format!("{}:{text}", text.len()));
        }
        Some(key)
    };
    Ok((0..rows).map(key).collect())
}

fn whole_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 9.0e15 {
        (number as i64).to_string()
    } else {
        number.to_string()
    }
}

fn paired(left: &[Option<String>], right: &[Option<String>], how: How) -> Result<Vec<Pair>, Problem> {
    let mut by_key: HashMap<&str, Vec<IdxSize>> = HashMap::new();
    for (row, key) in right.iter().enumerate() {
        if let Some(key) = key {
            by_key.entry(key).or_default().push(index(row));
        }
    }
    let mut pairs: Vec<Pair> = Vec::new();
    let mut is_used = vec![false; right.len()];
    for (row, key) in left.iter().enumerate() {
        let partners = key.as_ref().and_then(|key| by_key.get(key.as_str())).map_or(&[][..], Vec::as_slice);
        match how {
            How::Semi if !partners.is_empty() => pairs.push((Some(index(row)), None)),
            How::Anti | How::Left | How::Full if partners.is_empty() => pairs.push((Some(index(row)), None)),
            How::Semi | How::Anti => {}
            How::Inner | How::Left | How::Right | How::Full => {
                for partner in partners {
                    pairs.push((Some(index(row)), Some(*partner)));
                    if let Some(used) = is_used.get_mut(*partner as usize) {
                        *used = true;
                    }
                }
            }
        }
        if pairs.len() > ROWS_MAX {
            return Err(Problem::new(format!("the join would have more than {ROWS_MAX} rows"))
                .hint("one of the keys comes very often on both sides; aggregate or filter first"));
        }
    }
    if matches!(how, How::Right | How::Full) {
        pairs.extend(
            is_used.iter().enumerate().filter(|(_, used)| !**used).map(|(row, _)| (None, Some(index(row)))),
        );
    }
    Ok(pairs)
}

fn assembled(
    table: &Table,
    other: &Table,
    name: &str,
    pairs: &[Pair],
    how: How,
    left_keys: &[String],
    right_keys: &[String],
) -> Result<Table, Problem> {
    let left_rows = IdxCa::from_iter_options(PlSmallStr::EMPTY, pairs.iter().map(|(left, _)| *left));
    let right_rows = IdxCa::from_iter_options(PlSmallStr::EMPTY, pairs.iter().map(|(_, right)| *right));
    let left = table.frame.take(&left_rows).map_err(engine_problem)?;
    let mut joined = table.with_frame(left);
    if matches!(how, How::Semi | How::Anti) {
        return Ok(joined);
    }
    // Rows from the right alone have their key only there.
    if matches!(how, How::Right | How::Full) {
        for (left_key, right_key) in left_keys.iter().zip(right_keys) {
            let filled = filled(table.frame.column(left_key), other.frame.column(right_key), pairs)?;
            joined.frame.with_column(filled.into_column(left_key)?).map_err(engine_problem)?;
        }
    }
    for column in other.frame.columns() {
        let own = column.name().to_string();
        if right_keys.contains(&own) && left_keys.contains(&own) {
            continue;
        }
        let mut full = own.clone();
        if joined.frame.get_column_index(&full).is_some() {
            full = format!("{own}_{name}");
        }
        if joined.frame.get_column_index(&full).is_some() || joined.frame.width() >= COLUMNS_MAX {
            return Err(Problem::new(format!(
                "the column {:?} cannot be added beside another of that name, or there are too many",
                shown(&full)
            ))
            .hint("rename or drop columns first"));
        }
        if other.lists.contains(&own) {
            joined.lists.insert(full.clone());
        }
        let taken = column.take(&right_rows).map_err(engine_problem)?.with_name(full.into());
        joined.frame.with_column(taken).map_err(engine_problem)?;
    }
    Ok(joined)
}

/// The left key, or the right one where there is no left row.
fn filled(
    left: PolarsResult<&Column>,
    right: PolarsResult<&Column>,
    pairs: &[Pair],
) -> Result<Values, Problem> {
    let left = Values::of(left.map_err(engine_problem)?)?;
    let right = Values::of(right.map_err(engine_problem)?)?;
    let cells = pairs.iter().map(|pair| match pair {
        (Some(row), _) => left.cell(*row as usize),
        (None, Some(row)) => right.cell(*row as usize),
        (None, None) => crate::values::Cell::Missing,
    });
    crate::expression::values_of(cells.collect())
}
