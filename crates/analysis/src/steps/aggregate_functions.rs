//! The functions of `aggregate`, each over one column and all groups.
//!
//! Missing values are left out everywhere; so is NaN, with a note. Sums of integers are exact.

use std::borrow::Cow;

use super::groups::Groups;
use crate::column::{Column, Row};
use crate::factorize::factorize;
use crate::kind::Kind;
use crate::outcome::{Notes, Problem};
use crate::spellings::plain;
use crate::statistics::integers::{self, Figure};
use crate::statistics::summary;
use crate::table::display_name;
use crate::text_dates;
use crate::values::Values;

/// What is computed of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Function {
    Count,
    Sum,
    Mean,
    Median,
    Min,
    Max,
    Deviation,
    Variance,
    First,
    Last,
    Distinct,
    Missing,
    /// From 0 to 100.
    Percentile(f64),
}

const NAMES: [(&str, Function, &[&str]); 12] = [
    ("count", Function::Count, &["size", "n"]),
    ("sum", Function::Sum, &["total"]),
    ("mean", Function::Mean, &["avg", "average"]),
    ("median", Function::Median, &[]),
    ("min", Function::Min, &["minimum"]),
    ("max", Function::Max, &["maximum"]),
    ("std", Function::Deviation, &["stddev", "stdev", "standard_deviation"]),
    ("var", Function::Variance, &["variance"]),
    ("first", Function::First, &[]),
    ("last", Function::Last, &[]),
    ("distinct", Function::Distinct, &["nunique", "n_unique", "count_distinct", "distinct_count", "unique"]),
    ("missing", Function::Missing, &["null_count", "nulls"]),
];

impl Function {
    /// A function by its name, with the ending that its column gets. `quartiles` are three.
    pub(super) fn parse(name: &str) -> Result<Vec<(String, Function)>, Problem> {
        let wanted = plain(name);
        let quartile = |name: &str, at: f64| (name.to_owned(), Function::Percentile(at));
        match wanted.as_str() {
            "quartiles" | "quartile" => {
                return Ok(vec![quartile("q1", 25.0), quartile("q2", 50.0), quartile("q3", 75.0)]);
            }
            "q1" => return Ok(vec![quartile("q1", 25.0)]),
            "q2" => return Ok(vec![quartile("q2", 50.0)]),
            "q3" => return Ok(vec![quartile("q3", 75.0)]),
            "percentiles" | "percentile" | "quantiles" | "quantile" => {
                return Err(Problem::new(format!("{name:?} doesn't say which ones")).hint(
                    r#"write "p95" for one, "quartiles" for three, or {"field": "price", "percentiles": [5, 50, 95]}"#,
                ));
            }
            _ => {}
        }
        if let Some(found) =
            NAMES.iter().find(|(own, _, others)| *own == wanted || others.contains(&wanted.as_str()))
        {
            return Ok(vec![(found.0.to_owned(), found.1)]);
        }
        let percentile = wanted
            .strip_prefix("percentile_")
            .or_else(|| wanted.strip_prefix('p'))
            .or_else(|| wanted.strip_suffix("th_percentile"))
            .and_then(|rest| rest.parse().ok());
        match percentile {
            Some(at) => Ok(vec![Self::percentile(at)?]),
            None => {
                let more: [(&str, &[&str]); 3] = [("percentiles", &[]), ("p95", &[]), ("quartiles", &[])];
                let known = NAMES.iter().map(|(name, _, others)| (*name, *others)).chain(more);
                Err(Problem::unknown_spelling("function", name, known))
            }
        }
    }

    /// A percentile with its column's ending, such as `p95`.
    pub(super) fn percentile(at: f64) -> Result<(String, Function), Problem> {
        if !(0.0..=100.0).contains(&at) {
            return Err(Problem::new(format!("a percentile must be from 0 to 100, not {at}")));
        }
        Ok((format!("p{at}"), Function::Percentile(at)))
    }

    /// Whether it is about numbers alone.
    pub(super) fn needs_numbers(self) -> bool {
        match self {
            Function::Sum
            | Function::Mean
            | Function::Median
            | Function::Deviation
            | Function::Variance
            | Function::Percentile(_) => true,
            Function::Count
            | Function::Min
            | Function::Max
            | Function::First
            | Function::Last
            | Function::Distinct
            | Function::Missing => false,
        }
    }
}

/// One column over all groups.
pub(super) fn apply(
    function: Function,
    column: &Column,
    groups: &Groups,
    name: &str,
    notes: &mut Notes,
) -> Result<Column, Problem> {
    let kind = column.kind();
    let field = display_name(column.name());
    if function.needs_numbers() && !kind.is_numeric() && kind != Kind::Boolean {
        let hint = format!(
            "use count, distinct, min, max, first or last, or cast it first: {{\"cast\": {{\"{field}\": \"number\"}}}}"
        );
        return Err(Problem::new(format!(
            "field {field:?} has type {}, but this function needs numbers",
            kind.as_str()
        ))
        .hint(hint)
        .field(field));
    }
    note_nan(column, &field, notes);
    let values = match function {
        Function::First | Function::Last => return Ok(first_or_last(column, groups, function).renamed(name)),
        Function::Min | Function::Max => return Ok(min_or_max(column, groups, function).renamed(name)),
        Function::Count => value_counts(column, groups, true),
        Function::Missing => value_counts(column, groups, false),
        Function::Distinct => distinct(column, groups),
        Function::Sum if kind != Kind::Number => integer_sums(column, groups, &field, notes),
        Function::Sum
        | Function::Mean
        | Function::Median
        | Function::Deviation
        | Function::Variance
        | Function::Percentile(_) => match column.values() {
            Values::Integers(list) => {
                values_of_figures(integer_figures(function, list, groups), &field, notes)
            }
            values => float_figures(function, &or_nan(values), groups),
        },
    };
    Ok(Column::new(name, values))
}

/// How many rows each group has.
pub(super) fn group_sizes(groups: &Groups) -> Values {
    Values::Integers(groups.iter().map(|rows| i64::try_from(rows.len()).ok()).collect())
}

/// In which rows there is a value. NaN is none here: no function takes it for one.
fn present_rows(column: &Column) -> Vec<bool> {
    match column.floats() {
        Some(numbers) => numbers.iter().map(|number| number.is_some_and(|number| !number.is_nan())).collect(),
        None => (0..column.len()).map(|row| !column.values().is_missing(row)).collect(),
    }
}

fn note_nan(column: &Column, field: &str, notes: &mut Notes) {
    let Some(numbers) = column.floats() else { return };
    let non_finite = numbers.iter().flatten().filter(|number| number.is_nan()).count();
    if non_finite > 0 {
        notes.add(format!("field {field:?}: {non_finite} NaN values left out"));
    }
}

pub(super) fn value_counts(column: &Column, groups: &Groups, wants_present: bool) -> Values {
    let there = present_rows(column);
    let counts = groups.iter().map(|rows| {
        let count = rows.iter().filter(|row| there.get(**row as usize) == Some(&wants_present)).count();
        i64::try_from(count).ok()
    });
    Values::Integers(counts.collect())
}

/// Numbers with NaN for whatever is missing, which measuring leaves out.
fn or_nan(values: &Values) -> Vec<f64> {
    values.numbers().into_iter().map(|value| value.unwrap_or(f64::NAN)).collect()
}

fn float_figures(function: Function, numbers: &[f64], groups: &Groups) -> Values {
    let mut list = Vec::with_capacity(groups.len());
    let mut own: Vec<f64> = Vec::new();
    for rows in groups.iter() {
        let values =
            rows.iter().filter_map(|row| numbers.get(*row as usize).copied()).filter(|value| !value.is_nan());
        own.clear();
        own.extend(values);
        list.push(match function {
            Function::Sum => Some(summary::sum(own.iter().copied())),
            Function::Mean => summary::mean(&own),
            Function::Variance => summary::variance(&own),
            Function::Deviation => summary::variance(&own).map(f64::sqrt),
            Function::Median => quantile_of(&mut own, 0.5),
            Function::Percentile(at) => quantile_of(&mut own, at / 100.0),
            Function::Count
            | Function::Min
            | Function::Max
            | Function::First
            | Function::Last
            | Function::Distinct
            | Function::Missing => None,
        });
    }
    Values::Numbers(list)
}

/// What is measured of whole numbers, without a detour through fractions.
fn integer_figures(function: Function, integers: &[Option<i64>], groups: &Groups) -> Vec<Option<Figure>> {
    let mut list = Vec::with_capacity(groups.len());
    let mut own: Vec<i64> = Vec::new();
    for rows in groups.iter() {
        own.clear();
        own.extend(rows.iter().filter_map(|row| integers.get(*row as usize).copied().flatten()));
        list.push(match function {
            Function::Mean => integers::mean(&own).map(Figure::Float),
            Function::Variance => integers::variance(&own).map(Figure::Float),
            Function::Deviation => integers::variance(&own).map(f64::sqrt).map(Figure::Float),
            Function::Median => integer_quantile_of(&mut own, 0.5),
            Function::Percentile(at) => integer_quantile_of(&mut own, at / 100.0),
            Function::Sum
            | Function::Count
            | Function::Min
            | Function::Max
            | Function::First
            | Function::Last
            | Function::Distinct
            | Function::Missing => None,
        });
    }
    list
}

fn integer_quantile_of(values: &mut [i64], share: f64) -> Option<Figure> {
    values.sort_unstable();
    integers::quantile(values, share)
}

/// Says so where a sum or a difference of whole numbers is a fraction, because 64 bits cannot hold it.
pub(super) fn note_overflow(figures: &[Option<Figure>], field: &str, notes: &mut Notes) {
    if figures.iter().flatten().any(|figure| matches!(figure, Figure::Float(_))) {
        notes.add(format!("results for {field:?} don't fit in 64 bits; they're rounded to about 16 digits"));
    }
}

/// A column of figures: of whole numbers if all of them are whole, else of numbers.
pub(super) fn values_of_figures(figures: Vec<Option<Figure>>, field: &str, notes: &mut Notes) -> Values {
    let as_whole = |figure: &Option<Figure>| match figure {
        None => Some(None),
        Some(Figure::Integer(value)) => Some(Some(*value)),
        Some(Figure::Float(_)) => None,
    };
    if let Some(list) = figures.iter().map(as_whole).collect::<Option<Vec<Option<i64>>>>() {
        return Values::Integers(list);
    }
    if figures.iter().flatten().any(|figure| figure.is_beyond_floats()) {
        notes.add(format!("results for {field:?} are rounded to about 16 digits"));
    }
    Values::Numbers(figures.into_iter().map(|figure| figure.map(Figure::number)).collect())
}

fn quantile_of(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    summary::quantile(values, share)
}

/// Exact sums of integers; a sum that 64 bits cannot hold makes them all numbers.
fn integer_sums(column: &Column, groups: &Groups, field: &str, notes: &mut Notes) -> Values {
    let integers: Cow<'_, [Option<i64>]> = match column.values() {
        Values::Integers(list) => list.into(),
        Values::Booleans(list) => list.iter().map(|value| value.map(i64::from)).collect(),
        other @ (Values::Numbers(_)
        | Values::Texts(_)
        | Values::Dates(_)
        | Values::Datetimes(_)
        | Values::Null(_)) => vec![None; other.len()].into(),
    };
    let sums: Vec<i128> = groups
        .iter()
        .map(|rows| {
            rows.iter().filter_map(|row| integers.get(*row as usize).copied().flatten()).map(i128::from).sum()
        })
        .collect();
    if let Ok(small) = sums.iter().map(|sum| i64::try_from(*sum)).collect::<Result<Vec<_>, _>>() {
        return Values::Integers(small.into_iter().map(Some).collect());
    }
    notes.add(format!("a sum of {field:?} doesn't fit in 64 bits; the sums are rounded to about 16 digits"));
    Values::Numbers(sums.into_iter().map(|sum| Some(sum as f64)).collect())
}

/// How many different values each group has; NaN is none.
fn distinct(column: &Column, groups: &Groups) -> Values {
    let there = present_rows(column);
    let factorized = factorize(column.values());
    // The group in which each value was last seen, counted from 1.
    let mut seen_in = vec![0_usize; factorized.count];
    let counts = groups.iter().zip(1..).map(|(rows, group)| {
        let mut count = 0;
        for row in rows.iter().map(|row| *row as usize).filter(|row| there.get(*row) == Some(&true)) {
            let code = factorized.codes.get(row).copied().flatten();
            if let Some(last) = code.and_then(|code| seen_in.get_mut(code as usize))
                && *last != group
            {
                *last = group;
                count += 1;
            }
        }
        Some(count)
    });
    Values::Integers(counts.collect())
}

/// Anything but text as whole numbers that are equal and ordered where the values are.
fn ordinals(values: &Values) -> Cow<'_, [Option<i64>]> {
    match values {
        Values::Booleans(list) => list.iter().map(|value| value.map(i64::from)).collect(),
        Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => list.into(),
        // Adding zero makes one zero of both; NaN has no place in an order.
        Values::Numbers(list) => list
            .iter()
            .map(|value| value.filter(|value| !value.is_nan()).map(|value| ordered_bits(value + 0.0)))
            .collect(),
        Values::Texts(texts) => vec![None; texts.len()].into(),
        Values::Null(count) => vec![None; *count].into(),
    }
}

/// The bits of a number as an integer in the same order.
fn ordered_bits(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// The first or the last value of each group that is there.
fn first_or_last(column: &Column, groups: &Groups, function: Function) -> Column {
    let there = present_rows(column);
    let is_there = |row: &&Row| there.get(**row as usize) == Some(&true);
    let rows: Vec<Option<Row>> = groups
        .iter()
        .map(|rows| match function {
            Function::Last => rows.iter().rfind(is_there).copied(),
            _ => rows.iter().find(is_there).copied(),
        })
        .collect();
    column.take_or_missing(&rows)
}

fn min_or_max(column: &Column, groups: &Groups, function: Function) -> Column {
    let rows: Vec<Option<Row>> = if let Some(timestamps) = text_dates::timestamps(column) {
        groups
            .iter()
            .map(|rows| extreme_row(rows, |row| timestamps.get(row).copied().flatten(), function))
            .collect()
    } else if let Some(texts) = column.texts() {
        groups.iter().map(|rows| extreme_row(rows, |row| texts.get(row), function)).collect()
    } else {
        let ordinals = ordinals(column.values());
        groups
            .iter()
            .map(|rows| extreme_row(rows, |row| ordinals.get(row).copied().flatten(), function))
            .collect()
    };
    column.take_or_missing(&rows)
}

/// The row with the least or the greatest value that is there.
fn extreme_row<T: Ord + Copy>(
    rows: &[Row],
    value: impl Fn(usize) -> Option<T>,
    function: Function,
) -> Option<Row> {
    let there = rows.iter().filter_map(|row| value(*row as usize).map(|value| (value, *row)));
    let extreme_row = if function == Function::Max {
        there.max_by_key(|(value, _)| *value)
    } else {
        there.min_by_key(|(value, _)| *value)
    };
    extreme_row.map(|(_, row)| row)
}
