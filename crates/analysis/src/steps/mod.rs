//! The steps, one file for each. A step takes a table and gives a table, or a report that ends the chain.

mod aggregate;
mod aggregate_functions;
mod cast;
mod columns;
mod comparison;
mod condition;
mod correlate;
mod describe;
mod distinct;
mod filter;
mod groups;
mod interval;
mod join;
mod outliers;
mod resample;
mod rolling;
mod sort;
mod test;
mod time_field;
mod timeseries;
mod transform;
mod unnest;
mod validate;
mod validate_rules;

use std::collections::HashMap;

use serde_json::Value;

use crate::input::Input;
use crate::outcome::{Notes, Problem, listed};
use crate::read::read;
use crate::table::Table;

/// Every step by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepName {
    Filter,
    Aggregate,
    Transform,
    Validate,
    Describe,
    Correlate,
    Timeseries,
    Test,
    Outliers,
    Select,
    Drop,
    Rename,
    Compute,
    Cast,
    Sort,
    Limit,
    Distinct,
    Unnest,
    Join,
}

/// Names as they are documented, then other spellings that are understood.
const NAMES: [(StepName, &str, &[&str]); 19] = [
    (StepName::Filter, "filter", &["where"]),
    (StepName::Aggregate, "aggregate", &["aggregation", "group", "group_by"]),
    (StepName::Transform, "transform", &["transformation"]),
    (StepName::Validate, "validate", &["validation"]),
    (StepName::Describe, "describe", &["summary", "statistics"]),
    (StepName::Correlate, "correlate", &["correlation", "covariance"]),
    (StepName::Timeseries, "timeseries", &["time_series"]),
    (StepName::Test, "test", &["hypothesis_test", "statistical_test"]),
    (StepName::Outliers, "outliers", &["outlier", "outlier_detection"]),
    (StepName::Select, "select", &[]),
    (StepName::Drop, "drop", &[]),
    (StepName::Rename, "rename", &[]),
    (StepName::Compute, "compute", &["with_columns", "derive"]),
    (StepName::Cast, "cast", &[]),
    (StepName::Sort, "sort", &["order_by", "sort_by"]),
    (StepName::Limit, "limit", &["head"]),
    (StepName::Distinct, "distinct", &["unique"]),
    (StepName::Unnest, "unnest", &["explode", "flatten"]),
    (StepName::Join, "join", &["merge"]),
];

impl StepName {
    pub(crate) fn parse(name: &str) -> Result<Self, Problem> {
        let wanted = name.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let found = NAMES.iter().find(|(_, own, others)| *own == wanted || others.contains(&wanted.as_str()));
        found.map(|(step, ..)| *step).ok_or_else(|| Self::unknown(name))
    }

    /// A name that no step has.
    pub(crate) fn unknown(name: &str) -> Problem {
        Problem::unknown_spelling("step", name, NAMES.iter().map(|(_, own, others)| (*own, *others)))
    }

    pub(crate) fn as_str(self) -> &'static str {
        NAMES.iter().find(|(step, ..)| *step == self).map_or("", |(_, name, _)| name)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name, _)| *name)
    }

    pub(crate) fn all_listed() -> String {
        format!("steps: {}", listed(&Self::names().collect::<Vec<_>>()))
    }
}

/// What a step gives.
pub(crate) enum Outcome {
    Table(Table),
    Report(Value),
}

/// What a step can reach besides its own table.
pub(crate) struct Context {
    pub(crate) notes: Notes,
    others: HashMap<String, Other>,
}

/// A further input: read when a step first asks for it.
enum Other {
    Waiting(Input),
    Read(Table),
}

impl Context {
    pub(crate) fn new(others: Vec<Input>) -> Self {
        let others = others.into_iter().map(|input| (input.name.clone(), Other::Waiting(input))).collect();
        Self { notes: Notes::default(), others }
    }

    /// A further input by its name.
    pub(crate) fn other(&mut self, name: &str) -> Result<Table, Problem> {
        let Some((key, other)) = self.others.remove_entry(name) else {
            if self.others.is_empty() {
                return Err(Problem::new(format!(
                    "there is no input {name:?}: the request has no further inputs"
                ))
                .hint("give the second table as a further input with this name"));
            }
            return Err(Problem::unknown("input", name, self.others.keys().map(String::as_str)));
        };
        let table = match other {
            Other::Read(table) => table,
            Other::Waiting(input) => read(input, None, &mut self.notes)?,
        };
        self.others.insert(key, Other::Read(table.clone()));
        Ok(table)
    }
}

pub(crate) fn run(
    name: StepName,
    body: &Value,
    table: Table,
    context: &mut Context,
) -> Result<Outcome, Problem> {
    let table = match name {
        StepName::Filter => filter::filter(body, &table, context)?,
        StepName::Aggregate => aggregate::aggregate(body, &table, context)?,
        StepName::Transform => transform::transform(body, table, context)?,
        StepName::Select => columns::select(body, &table)?,
        StepName::Drop => columns::drop(body, &table)?,
        StepName::Rename => columns::rename(body, &table)?,
        StepName::Compute => columns::compute(body, table, context)?,
        StepName::Cast => cast::cast(body, table, context)?,
        StepName::Sort => sort::sort(body, &table)?,
        StepName::Limit => sort::limit(body, &table)?,
        StepName::Distinct => distinct::distinct(body, &table)?,
        StepName::Unnest => unnest::unnest(body, &table, context)?,
        StepName::Join => join::join(body, &table, context)?,
        StepName::Outliers => outliers::outliers(body, table, context)?,
        StepName::Timeseries => return timeseries::timeseries(body, &table, context),
        StepName::Validate => return validate::validate(body, &table, context).map(Outcome::Report),
        StepName::Describe => return describe::describe(body, &table).map(Outcome::Report),
        StepName::Correlate => return correlate::correlate(body, &table).map(Outcome::Report),
        StepName::Test => return test::test(body, &table).map(Outcome::Report),
    };
    Ok(Outcome::Table(table))
}
