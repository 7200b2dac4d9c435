//! The functions of `aggregate`, each over one column and all groups.
//!
//! Missing values are left out everywhere; so is NaN, with a note. Sums of integers are exact.

use std::collections::HashSet;

use polars_core::prelude::*;

use super::groups::Groups;
use crate::outcome::{Notes, Problem};
use crate::statistics::summary;
use crate::statistics::whole::{self, Figure};
use crate::table::{Kind, engine_problem, shown};
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
        let wanted = name.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        if wanted == "quartiles" || wanted == "quartile" {
            return Ok([("q1", 25.0), ("q2", 50.0), ("q3", 75.0)]
                .map(|(name, at)| (name.to_owned(), Function::Percentile(at)))
                .to_vec());
        }
        if matches!(wanted.as_str(), "percentiles" | "percentile" | "quantiles" | "quantile") {
            return Err(Problem::new(format!("{name:?} needs to know which ones")).hint(
                r#"write "p95" for one, "quartiles" for three, or {"field": "price", "percentiles": [5, 50, 95]}"#,
            ));
        }
        if let Some(found) =
            NAMES.iter().find(|(own, _, others)| *own == wanted || others.contains(&wanted.as_str()))
        {
            return Ok(vec![(found.0.to_owned(), found.1)]);
        }
        let percentile = wanted
            .strip_prefix("percentile_")
            .or_else(|| wanted.strip_prefix('p'))
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
            return Err(Problem::new(format!("a percentile is from 0 to 100, not {at}")));
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
    let kind = Kind::of(column);
    let field = shown(column.name());
    if function.needs_numbers() && !kind.is_numeric() && kind != Kind::Boolean {
        let hint = format!(
            "use count, distinct, min, max, first or last, or cast first: {{\"cast\": {{\"{field}\": \"number\"}}}}"
        );
        return Err(Problem::new(format!(
            "field {field:?} holds {}, and this function needs numbers",
            kind.as_str()
        ))
        .hint(hint)
        .field(field));
    }
    remark_nan(column, &field, notes);
    match function {
        Function::Count => counted(column, groups, true).into_column(name),
        Function::Missing => counted(column, groups, false).into_column(name),
        Function::Distinct => distinct(column, groups)?.into_column(name),
        Function::First | Function::Last => picked(column, groups, name, function),
        Function::Min | Function::Max => extreme(column, groups, name, function),
        Function::Sum if kind != Kind::Number => whole_sums(column, groups, &field, notes)?.into_column(name),
        Function::Mean
        | Function::Median
        | Function::Deviation
        | Function::Variance
        | Function::Percentile(_)
            if kind == Kind::Integer =>
        {
            let integers: Vec<Option<i64>> = column.i64().map_err(engine_problem)?.iter().collect();
            column_of(whole_figures(function, &integers, groups), &field, notes).into_column(name)
        }
        Function::Sum
        | Function::Mean
        | Function::Median
        | Function::Deviation
        | Function::Variance
        | Function::Percentile(_) => {
            let numbers = present(column)?;
            measured(function, &numbers, groups).into_column(name)
        }
    }
}

/// How many rows each group has.
pub(super) fn sizes(groups: &Groups) -> Values {
    Values::Integers(groups.iter().map(|rows| i64::try_from(rows.len()).ok()).collect())
}

/// In which rows there is a value. NaN is none here: no function takes it for one.
fn presence(column: &Column) -> Vec<bool> {
    match column.f64() {
        Ok(numbers) => numbers.iter().map(|number| number.is_some_and(|number| !number.is_nan())).collect(),
        Err(_) => column.is_null().iter().map(|missing| missing == Some(false)).collect(),
    }
}

fn remark_nan(column: &Column, field: &str, notes: &mut Notes) {
    let Ok(numbers) = column.f64() else { return };
    let strange = numbers.iter().flatten().filter(|number| number.is_nan()).count();
    if strange > 0 {
        notes.add(format!("field {field:?}: {strange} NaN values were left out"));
    }
}

pub(super) fn counted(column: &Column, groups: &Groups, wants_present: bool) -> Values {
    let there = presence(column);
    let counts = groups.iter().map(|rows| {
        let count = rows.iter().filter(|row| there.get(**row as usize) == Some(&wants_present)).count();
        i64::try_from(count).ok()
    });
    Values::Integers(counts.collect())
}

/// Numbers with NaN for whatever is missing, which measuring leaves out.
fn present(column: &Column) -> Result<Vec<f64>, Problem> {
    let values = Values::of(column)?.into_numbers();
    Ok(values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect())
}

fn measured(function: Function, numbers: &[f64], groups: &Groups) -> Values {
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
fn whole_figures(function: Function, integers: &[Option<i64>], groups: &Groups) -> Vec<Option<Figure>> {
    let mut list = Vec::with_capacity(groups.len());
    let mut own: Vec<i64> = Vec::new();
    for rows in groups.iter() {
        own.clear();
        own.extend(rows.iter().filter_map(|row| integers.get(*row as usize).copied().flatten()));
        list.push(match function {
            Function::Mean => whole::mean(&own).map(Figure::Fraction),
            Function::Variance => whole::variance(&own).map(Figure::Fraction),
            Function::Deviation => whole::variance(&own).map(f64::sqrt).map(Figure::Fraction),
            Function::Median => whole_quantile_of(&mut own, 0.5),
            Function::Percentile(at) => whole_quantile_of(&mut own, at / 100.0),
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

fn whole_quantile_of(values: &mut [i64], share: f64) -> Option<Figure> {
    values.sort_unstable();
    whole::quantile(values, share)
}

/// Says so where a sum or a difference of whole numbers is a fraction, because 64 bits cannot hold it.
pub(super) fn remark_overflow(figures: &[Option<Figure>], field: &str, notes: &mut Notes) {
    if figures.iter().flatten().any(|figure| matches!(figure, Figure::Fraction(_))) {
        notes.add(format!("figures of {field:?} are beyond 64 bits; they are numbers of about 16 digits"));
    }
}

/// A column of figures: of whole numbers if all of them are whole, else of numbers.
pub(super) fn column_of(figures: Vec<Option<Figure>>, field: &str, notes: &mut Notes) -> Values {
    let as_whole = |figure: &Option<Figure>| match figure {
        None => Some(None),
        Some(Figure::Whole(value)) => Some(Some(*value)),
        Some(Figure::Fraction(_)) => None,
    };
    if let Some(list) = figures.iter().map(as_whole).collect::<Option<Vec<Option<i64>>>>() {
        return Values::Integers(list);
    }
    if figures.iter().flatten().any(|figure| figure.is_beyond_fractions()) {
        notes.add(format!(
            "figures of {field:?} have more digits than a number holds; they are rounded to about 16"
        ));
    }
    Values::Numbers(figures.into_iter().map(|figure| figure.map(Figure::number)).collect())
}

fn quantile_of(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    summary::quantile(values, share)
}

/// Exact sums of integers; a sum that 64 bits cannot hold makes them all numbers.
fn whole_sums(column: &Column, groups: &Groups, field: &str, notes: &mut Notes) -> Result<Values, Problem> {
    let integers: Vec<Option<i64>> = match Values::of(column)? {
        Values::Integers(list) => list,
        Values::Booleans(list) => list.into_iter().map(|value| value.map(i64::from)).collect(),
        other @ (Values::Numbers(_)
        | Values::Texts(_)
        | Values::Dates(_)
        | Values::Datetimes(_)
        | Values::Nothing(_)) => vec![None; other.len()],
    };
    let sums: Vec<i128> = groups
        .iter()
        .map(|rows| {
            rows.iter().filter_map(|row| integers.get(*row as usize).copied().flatten()).map(i128::from).sum()
        })
        .collect();
    if let Ok(small) = sums.iter().map(|sum| i64::try_from(*sum)).collect::<Result<Vec<_>, _>>() {
        return Ok(Values::Integers(small.into_iter().map(Some).collect()));
    }
    notes.add(format!("a sum of {field:?} is beyond 64 bits; the sums are numbers of about 16 digits"));
    Ok(Values::Numbers(sums.into_iter().map(|sum| Some(sum as f64)).collect()))
}

fn distinct(column: &Column, groups: &Groups) -> Result<Values, Problem> {
    let count = |count: usize| i64::try_from(count).ok();
    if let Ok(texts) = column.str() {
        let texts: Vec<Option<&str>> = texts.iter().collect();
        let counts = groups.iter().map(|rows| {
            count(
                rows.iter()
                    .filter_map(|row| texts.get(*row as usize).copied().flatten())
                    .collect::<HashSet<_>>()
                    .len(),
            )
        });
        return Ok(Values::Integers(counts.collect()));
    }
    let keys = keys(column)?;
    let counts = groups.iter().map(|rows| {
        count(
            rows.iter()
                .filter_map(|row| keys.get(*row as usize).copied().flatten())
                .collect::<HashSet<_>>()
                .len(),
        )
    });
    Ok(Values::Integers(counts.collect()))
}

/// Anything but text as whole numbers that are equal and ordered where the values are.
fn keys(column: &Column) -> Result<Vec<Option<i64>>, Problem> {
    Ok(match Values::of(column)? {
        Values::Booleans(list) => list.into_iter().map(|value| value.map(i64::from)).collect(),
        Values::Integers(list) | Values::Dates(list) | Values::Datetimes(list) => list,
        // Adding zero makes one zero of both; NaN has no place in an order.
        Values::Numbers(list) => list
            .into_iter()
            .map(|value| value.filter(|value| !value.is_nan()).map(|value| ordered_bits(value + 0.0)))
            .collect(),
        Values::Texts(list) => vec![None; list.len()],
        Values::Nothing(count) => vec![None; count],
    })
}

/// The bits of a number as an integer in the same order.
fn ordered_bits(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

/// The first or the last value of each group that is there.
fn picked(column: &Column, groups: &Groups, name: &str, function: Function) -> Result<Column, Problem> {
    let there = presence(column);
    let is_there = |row: &&IdxSize| there.get(**row as usize) == Some(&true);
    let rows = groups.iter().map(|rows| {
        if function == Function::Last {
            rows.iter().rfind(is_there).copied()
        } else {
            rows.iter().find(is_there).copied()
        }
    });
    taken(column, rows, name)
}

fn extreme(column: &Column, groups: &Groups, name: &str, function: Function) -> Result<Column, Problem> {
    if let Some(moments) = text_dates::moments(column) {
        return taken(column, groups.iter().map(|rows| best(rows, &moments, function)), name);
    }
    if let Ok(texts) = column.str() {
        let texts: Vec<Option<&str>> = texts.iter().collect();
        return taken(column, groups.iter().map(|rows| best(rows, &texts, function)), name);
    }
    let keys = keys(column)?;
    taken(column, groups.iter().map(|rows| best(rows, &keys, function)), name)
}

/// The row with the least or the greatest value that is there.
fn best<T: Ord + Copy>(rows: &[IdxSize], values: &[Option<T>], function: Function) -> Option<IdxSize> {
    let there =
        rows.iter().filter_map(|row| values.get(*row as usize).copied().flatten().map(|value| (value, *row)));
    let best = if function == Function::Max {
        there.max_by_key(|(value, _)| *value)
    } else {
        there.min_by_key(|(value, _)| *value)
    };
    best.map(|(_, row)| row)
}

fn taken(
    column: &Column,
    rows: impl Iterator<Item = Option<IdxSize>>,
    name: &str,
) -> Result<Column, Problem> {
    let rows = IdxCa::from_iter_options(PlSmallStr::EMPTY, rows);
    Ok(column.take(&rows).map_err(engine_problem)?.with_name(name.into()))
}
