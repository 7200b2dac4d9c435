//! `aggregate`: one row for each group, with what was computed of it.

use serde_json::Value;

use super::Context;
use super::aggregate_functions::{Function, apply, group_sizes, value_counts};
use super::groups::Groups;
use crate::arguments::{Arguments, json_kind, number_or_text, texts_of};
use crate::column::Column;
use crate::outcome::Problem;
use crate::spellings::plain;
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

const KNOWN: [&str; 6] = ["group_by", "aggregations", "field", "function", "as", "percentiles"];
const KNOWN_OF_ONE: [&str; 4] = ["field", "function", "as", "percentiles"];
/// Where else people put which percentiles they want.
const ACCEPTED: [&str; 5] = ["quantiles", "value", "values", "q", "name"];
const EXAMPLE: &str = r#"example: {"group_by": ["kind"], "aggregations": [{"field": "price", "function": "mean", "as": "average"}, {"function": "count"}]}"#;

pub(super) fn aggregate(body: &Value, table: &Table, context: &mut Context) -> Result<Table, Problem> {
    let arguments = Arguments::new("aggregate", body, &KNOWN, &ACCEPTED)?;
    let fields = arguments.texts(&["group_by"])?;
    let aggregations = aggregations(&arguments)?;
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
        return Err(Problem::new(format!("two columns would be named {name:?}"))
            .hint("rename one of them with \"as\""));
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
                "field {field:?} holds lists, but this function needs numbers"
            ))
            .hint(format!("unnest it first: {{\"unnest\": {field:?}}}"))
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
pub(super) fn aggregations(arguments: &Arguments<'_>) -> Result<Vec<Aggregation>, Problem> {
    let has_fields = arguments.first_of(&["field"]).is_some();
    let mut list = Vec::new();
    let mut single = arguments.only(&[&KNOWN_OF_ONE[..], &ACCEPTED].concat());
    match arguments.first_of(&["aggregations"]) {
        None => {}
        // Functions of the field beside them.
        Some(names @ (Value::String(_) | Value::Array(_)))
            if has_fields && !single.contains_key("function") && texts_of(names).is_some() =>
        {
            single.insert("function".to_owned(), names.clone());
        }
        Some(name @ Value::String(_)) => list.extend(of_item(name)?),
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
                "\"aggregations\" must be a list or an object, not {}",
                json_kind(other)
            ))
            .hint(EXAMPLE));
        }
    }
    if ["function", "field", "percentiles", "quantiles"].iter().any(|name| single.contains_key(*name)) {
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
    let arguments = Arguments::new("an aggregation", item, &KNOWN_OF_ONE, &ACCEPTED)?;
    let functions = functions_of(&arguments)?;
    if functions.is_empty() {
        return Err(arguments.missing(&["function"]).hint(EXAMPLE));
    }
    let name = arguments.text(&["as", "name"])?;
    let fields = arguments.texts(&["field"])?;
    match (fields.as_slice(), name) {
        ([], _) => named(None, &functions, name),
        ([field], _) => named(Some(field.as_str()).filter(|field| *field != "*"), &functions, name),
        (_, Some(_)) => Err(Problem::new("\"as\" names one column, and there are several fields")
            .hint("leave it out, or write an aggregation for each field")),
        (fields, None) => {
            let lists = fields.iter().map(|field| named(Some(field), &functions, None));
            Ok(lists.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        }
    }
}

/// The functions of one aggregation, with the endings that their columns get.
fn functions_of(arguments: &Arguments<'_>) -> Result<Vec<(String, Function)>, Problem> {
    let which = |names: &[&str]| arguments.first_of(names);
    let (mut percent, mut shares) = (which(&["percentiles"]), which(&["quantiles"]));
    let beside = which(&["value", "values", "q"]);
    let mut functions = Vec::new();
    for name in arguments.texts(&["function"])? {
        match plain(&name).as_str() {
            "percentile" | "percentiles" => percent = percent.or(beside),
            "quantile" | "quantiles" => shares = shares.or(beside),
            _ => {
                functions.extend(Function::parse(&name)?);
                continue;
            }
        }
        if percent.is_none() && shares.is_none() {
            return Err(Problem::new(format!("{name:?} needs \"percentiles\""))
                .hint("example: \"percentiles\": [5, 50, 95]"));
        }
    }
    if let Some(value) = percent {
        functions.extend(percentiles(value, 1.0)?);
    }
    if let Some(value) = shares {
        functions.extend(percentiles(value, 100.0)?);
    }
    Ok(functions)
}

/// `"price": "sum"`, `"price": ["sum", {"percentiles": 95}]`, or `"total": {"field": "price", "function": "sum"}`.
fn of_member(key: &str, value: &Value) -> Result<Vec<Aggregation>, Problem> {
    let field = Some(key).filter(|key| *key != "*");
    match value {
        Value::Object(object) => {
            let mut object = object.clone();
            let has_field = ["field", "column"].iter().any(|name| object.contains_key(*name));
            let naming = if has_field { "as" } else { "field" };
            object.entry(naming).or_insert_with(|| key.into());
            of_item(&Value::Object(object))
        }
        Value::String(name) => named(field, &Function::parse(name)?, None),
        Value::Array(items) => {
            let lists = items.iter().map(|item| match item {
                Value::String(_) | Value::Object(_) => of_member(key, item),
                other => Err(no_function(key, other)),
            });
            Ok(lists.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => Err(no_function(key, value)),
    }
}

fn no_function(key: &str, found: &Value) -> Problem {
    let message = format!(
        "the aggregation of {key:?} must be a function or a list of functions, not {}",
        json_kind(found)
    );
    Problem::new(message).hint(EXAMPLE)
}

/// One percentile or a list of them; `scale` makes percents of shares.
fn percentiles(value: &Value, scale: f64) -> Result<Vec<(String, Function)>, Problem> {
    let one = |value: &Value| match number_or_text(value) {
        // Without the rounding errors of the multiplication: 0.29 is 29.
        Some(at) => Function::percentile((at * scale * 1e9).round() / 1e9),
        None => Err(Problem::new(format!(
            "a percentile must be a number from 0 to {}, not {}",
            100.0 / scale,
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
