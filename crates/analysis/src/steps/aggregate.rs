//! `aggregate`: one row for each group, with what was computed of it.

use serde_json::{Map, Value};

use super::Context;
use super::aggregate_functions::{Function, apply, group_sizes, value_counts};
use super::groups::Groups;
use crate::arguments::{Arguments, json_kind, number_of, texts_of};
use crate::column::Column;
use crate::outcome::Problem;
use crate::table::{NESTED, Table};
use crate::values::Cell;

/// One column of the answer.
#[derive(Debug)]
pub(super) struct Aggregation {
    /// `None` where rows are counted, whatever they hold.
    field: Option<String>,
    function: Function,
    name: String,
}

const KNOWN: [&str; 12] = [
    "group_by",
    "by",
    "aggregations",
    "aggregates",
    "metrics",
    "field",
    "function",
    "functions",
    "as",
    "percentiles",
    "percentile",
    "operation",
];
const KNOWN_OF_ONE: [&str; 10] =
    ["field", "function", "functions", "op", "operation", "as", "alias", "name", "percentiles", "percentile"];
const EXAMPLE: &str = r#"for example {"group_by": ["kind"], "aggregations": [{"field": "price", "function": "mean", "as": "average"}, {"function": "count"}]}"#;

pub(super) fn aggregate(body: &Value, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let arguments = Arguments::new("aggregate", body, &KNOWN)?;
    let fields = arguments.texts(&["group_by", "by"])?;
    let aggregations = aggregations(&arguments, body)?;
    let groups = if fields.is_empty() { Groups::all(table.rows()) } else { Groups::by(table, &fields)? };
    let first_rows = groups.first_rows();
    let mut columns = fields
        .iter()
        .map(|field| Ok(table.column(field)?.take(&first_rows)))
        .collect::<Result<Vec<_>, Problem>>()?;
    columns.extend(compute_columns(&aggregations, table, &groups, context)?);
    // The same field grouped by twice, or the same name asked for twice.
    let mut seen = std::collections::HashSet::new();
    if let Some(twice) = columns.iter().find(|column| !seen.insert(column.name())) {
        let name = crate::table::display_name(twice.name());
        return Err(Problem::new(format!("two columns would be called {name:?}"))
            .hint("give one of them another name with \"as\""));
    }
    let outcome = Table::new(groups.len(), columns)?;
    Ok(outcome.with_lists(table.lists.clone()))
}

/// The columns that were asked for, over groups of rows.
pub(super) fn compute_columns(
    aggregations: &[Aggregation],
    table: &Table,
    groups: &Groups,
    context: &mut Context,
) -> Result<Vec<Column>, Problem> {
    let mut columns = Vec::new();
    for aggregation in aggregations {
        if let Some(field) = &aggregation.field
            && aggregation.function.needs_numbers()
            && table.is_list(field)
        {
            return Err(Problem::new(format!(
                "field {field:?} holds lists, and this function needs numbers"
            ))
            .hint(format!("take it apart first: {{\"unnest\": {field:?}}}"))
            .field(field.as_str()));
        }
        columns.push(match &aggregation.field {
            None => Column::new(aggregation.name.as_str(), group_sizes(groups)),
            Some(field) => apply(
                aggregation.function,
                table.column(field)?,
                groups,
                &aggregation.name,
                &mut context.notes,
            )?,
        });
    }
    Ok(columns)
}

/// Columns whose sums are missing where no value went in, instead of 0: there they can be filled.
pub(super) fn without_empty_sums(
    columns: Vec<Column>,
    aggregations: &[Aggregation],
    table: &Table,
    groups: &Groups,
) -> Result<Vec<Column>, Problem> {
    let one = |(column, aggregation): (Column, &Aggregation)| {
        let (Function::Sum, Some(field)) = (aggregation.function, &aggregation.field) else {
            return Ok(column);
        };
        let counts = value_counts(table.column(field)?, groups, true);
        let sums = column.values();
        let cells = (0..sums.len()).map(|row| match counts.cell(row) {
            Cell::Integer(0) => Cell::Missing,
            Cell::Integer(_)
            | Cell::Missing
            | Cell::Boolean(_)
            | Cell::Number(_)
            | Cell::Text(_)
            | Cell::Date(_)
            | Cell::Datetime(_) => sums.cell(row),
        });
        Ok(Column::new(column.name(), crate::expression::values_of(cells)?))
    };
    columns.into_iter().zip(aggregations).map(one).collect()
}

/// What is to be computed, in any of the forms that people write.
pub(super) fn aggregations(arguments: &Arguments<'_>, body: &Value) -> Result<Vec<Aggregation>, Problem> {
    let mut list = Vec::new();
    match arguments.first_of(&["aggregations", "aggregates", "metrics"]) {
        None => {}
        Some(Value::Array(items)) => {
            for item in items {
                list.extend(of_item(item)?);
            }
        }
        Some(Value::Object(by_field)) => {
            for (key, value) in by_field {
                list.extend(of_member(key, value)?);
            }
        }
        Some(other) => {
            return Err(Problem::new(format!(
                "\"aggregations\" has to be a list or an object, not {}",
                json_kind(other)
            ))
            .hint(EXAMPLE));
        }
    }
    let is_single = arguments
        .first_of(&["function", "functions", "field", "percentiles", "percentile", "operation"])
        .is_some();
    if is_single && let Value::Object(object) = body {
        let single: Map<String, Value> = object
            .iter()
            .filter(|(key, _)| KNOWN_OF_ONE.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        list.extend(of_item(&Value::Object(single))?);
    }
    if list.is_empty() {
        list.push(Aggregation { field: None, function: Function::Count, name: "count".to_owned() });
    }
    Ok(list)
}

/// `{"field": "price", "function": "sum", "as": "total"}`, or `"count"`.
fn of_item(item: &Value) -> Result<Vec<Aggregation>, Problem> {
    if let Value::String(name) = item {
        return named(None, &Function::parse(name)?, None);
    }
    let arguments = Arguments::new("an aggregation", item, &KNOWN_OF_ONE)?;
    let field = arguments.text(&["field"])?;
    let mut functions = Vec::new();
    for name in arguments.texts(&["functions", "function", "op", "operation"])? {
        let lower = name.to_ascii_lowercase();
        if !matches!(lower.as_str(), "percentiles" | "percentile" | "quantile") {
            functions.extend(Function::parse(&name)?);
        } else if arguments.first_of(&["percentiles", "percentile"]).is_none() {
            return Err(Problem::new(format!("{name:?} needs \"percentiles\""))
                .hint("for example \"percentiles\": [5, 50, 95]"));
        }
    }
    if let Some(value) = arguments.first_of(&["percentiles", "percentile"]) {
        functions.extend(percentiles(value)?);
    }
    if functions.is_empty() {
        return Err(arguments.missing(&["function"]).hint(EXAMPLE));
    }
    named(field, &functions, arguments.text(&["as", "alias", "name"])?)
}

/// `"price": "sum"`, `"price": ["sum", "mean"]`, or `"total": {"field": "price", "function": "sum"}`.
fn of_member(key: &str, value: &Value) -> Result<Vec<Aggregation>, Problem> {
    if let Value::Object(object) = value {
        let mut object = object.clone();
        let naming = if object.contains_key("field") { "as" } else { "field" };
        object.entry(naming).or_insert_with(|| key.into());
        return of_item(&Value::Object(object));
    }
    let Some(names) = texts_of(value) else {
        return Err(Problem::new(format!(
            "the aggregation of {key:?} has to be a function or a list of functions, not {}",
            json_kind(value)
        ))
        .hint(EXAMPLE));
    };
    let mut functions = Vec::new();
    for name in names {
        functions.extend(Function::parse(&name)?);
    }
    named(Some(key).filter(|key| *key != "*"), &functions, None)
}

fn percentiles(value: &Value) -> Result<Vec<(String, Function)>, Problem> {
    let one = |value: &Value| match number_of(value) {
        Some(at) => Function::percentile(at),
        None => Err(Problem::new(format!(
            "a percentile has to be a number from 0 to 100, not {}",
            json_kind(value)
        ))),
    };
    match value {
        Value::Array(items) => items.iter().map(one).collect(),
        single => Ok(vec![one(single)?]),
    }
}

fn named(
    field: Option<&str>,
    functions: &[(String, Function)],
    name: Option<&str>,
) -> Result<Vec<Aggregation>, Problem> {
    let mut list = Vec::new();
    for (ending, function) in functions {
        let name = match (name, field) {
            (Some(name), _) if functions.len() == 1 => name.to_owned(),
            (Some(name), _) => format!("{name}_{ending}"),
            (None, Some(field)) => format!("{field}_{ending}"),
            (None, None) => ending.clone(),
        };
        if field.is_none() && *function != Function::Count {
            return Err(
                Problem::new(format!("{ending} needs a field; only count works without one")).hint(EXAMPLE)
            );
        }
        list.push(Aggregation {
            field: field.map(str::to_owned),
            function: *function,
            name: name.replace(NESTED, " "),
        });
    }
    Ok(list)
}
