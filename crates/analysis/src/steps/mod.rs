//! The steps, one file for each. A step takes a table and gives a table, or a report that ends the chain.

mod aggregate;
mod aggregate_functions;
mod anova;
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
mod samples;
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
use crate::spellings::plain;
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
    (StepName::Filter, "filter", &["where", "query", "filter_rows"]),
    (
        StepName::Aggregate,
        "aggregate",
        &["aggregation", "agg", "group", "group_by", "groupby", "group_and_aggregate", "summarize"],
    ),
    (StepName::Transform, "transform", &["transformation"]),
    (StepName::Validate, "validate", &["validation", "check"]),
    (StepName::Describe, "describe", &["summary", "statistics", "stats", "profile"]),
    (StepName::Correlate, "correlate", &["correlation", "corr", "correlation_matrix"]),
    (StepName::Timeseries, "timeseries", &["time_series"]),
    (StepName::Test, "test", &["hypothesis_test", "statistical_test"]),
    (StepName::Outliers, "outliers", &["outlier", "outlier_detection", "detect_outliers"]),
    (StepName::Select, "select", &["project", "select_columns", "select_fields"]),
    (StepName::Drop, "drop", &["drop_columns", "drop_fields", "remove_columns", "remove_fields"]),
    (StepName::Rename, "rename", &["rename_columns", "rename_fields"]),
    (
        StepName::Compute,
        "compute",
        &["with_columns", "derive", "assign", "mutate", "add_column", "add_columns", "calculate"],
    ),
    (StepName::Cast, "cast", &["convert", "convert_types", "astype"]),
    (StepName::Sort, "sort", &["order_by", "orderby", "sort_by", "sortby", "sort_values", "order"]),
    (StepName::Limit, "limit", &["head", "take"]),
    (StepName::Distinct, "distinct", &["unique", "dedupe", "deduplicate", "drop_duplicates"]),
    (StepName::Unnest, "unnest", &["explode", "flatten", "unwind"]),
    (StepName::Join, "join", &["merge"]),
];

/// What names of methods mean in the place of a step: the step, and the setting that they are the value of.
const METHODS: [(&str, StepName, &str, &str); 36] = [
    ("covariance", StepName::Correlate, "method", "covariance"),
    ("cov", StepName::Correlate, "method", "covariance"),
    ("covariance_matrix", StepName::Correlate, "method", "covariance"),
    ("pearson", StepName::Correlate, "method", "pearson"),
    ("spearman", StepName::Correlate, "method", "spearman"),
    ("anova", StepName::Test, "test", "anova"),
    ("one_way_anova", StepName::Test, "test", "anova"),
    ("oneway_anova", StepName::Test, "test", "anova"),
    ("f_oneway", StepName::Test, "test", "anova"),
    ("t_test", StepName::Test, "test", "t_test"),
    ("ttest", StepName::Test, "test", "t_test"),
    ("chi_square", StepName::Test, "test", "chi_square"),
    ("chi2", StepName::Test, "test", "chi_square"),
    ("mann_whitney", StepName::Test, "test", "mann_whitney"),
    ("mann_whitney_u", StepName::Test, "test", "mann_whitney"),
    ("normality", StepName::Test, "test", "normality"),
    ("resample", StepName::Timeseries, "operation", "resample"),
    ("rolling", StepName::Timeseries, "operation", "rolling"),
    ("trend", StepName::Timeseries, "operation", "trend"),
    ("gaps", StepName::Timeseries, "operation", "gaps"),
    ("percentile", StepName::Aggregate, "function", "percentile"),
    ("percentiles", StepName::Aggregate, "function", "percentile"),
    ("quantile", StepName::Aggregate, "function", "quantile"),
    ("quantiles", StepName::Aggregate, "function", "quantile"),
    ("quartile", StepName::Aggregate, "function", "quartiles"),
    ("quartiles", StepName::Aggregate, "function", "quartiles"),
    ("count", StepName::Aggregate, "function", "count"),
    ("sum", StepName::Aggregate, "function", "sum"),
    ("mean", StepName::Aggregate, "function", "mean"),
    ("average", StepName::Aggregate, "function", "mean"),
    ("median", StepName::Aggregate, "function", "median"),
    ("min", StepName::Aggregate, "function", "min"),
    ("max", StepName::Aggregate, "function", "max"),
    ("std", StepName::Aggregate, "function", "std"),
    ("variance", StepName::Aggregate, "function", "var"),
    ("var", StepName::Aggregate, "function", "var"),
];

/// A step as it was asked for: its name, and a setting that the name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AskedStep {
    pub(crate) name: StepName,
    /// Such as `method` and `covariance`.
    pub(crate) implied: Option<(&'static str, &'static str)>,
}

impl StepName {
    pub(crate) fn parse(name: &str) -> Result<Self, Problem> {
        Self::asked(name).map(|asked| asked.name)
    }

    /// A step by its name, by another spelling, or by one of its methods.
    pub(crate) fn asked(name: &str) -> Result<AskedStep, Problem> {
        let wanted = plain(name);
        let step = NAMES.iter().find(|(_, own, others)| *own == wanted || others.contains(&wanted.as_str()));
        if let Some((name, ..)) = step {
            return Ok(AskedStep { name: *name, implied: None });
        }
        match METHODS.iter().find(|(method, ..)| *method == wanted) {
            Some((_, name, setting, value)) => {
                Ok(AskedStep { name: *name, implied: Some((*setting, *value)) })
            }
            None => Err(Self::unknown(name)),
        }
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
                return Err(Problem::new(format!("unknown input {name:?}: the request has only one table"))
                    .hint("pass the second table as an input with this name"));
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
