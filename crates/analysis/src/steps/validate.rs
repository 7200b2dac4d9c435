//! `validate`: a report of which rules the data keeps, with counts and examples.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Context;
use super::groups::Groups;
use super::validate_rules::{check_limit, rules_of};
use crate::arguments::{Arguments, texts_of};
use crate::bounds::EXAMPLES_MAX;
use crate::outcome::Problem;
use crate::table::Table;

/// Examples for each rule, unless asked for otherwise.
const EXAMPLES: usize = 3;
const EXAMPLE: &str = r#"example: {"rules": [{"field": "email", "required": true, "pattern": "^[^@]+@[^@]+$"}, {"field": "age", "type": "integer", "min": 0}]}"#;

/// Rules in other forms: names of fields that must be there, and types by field.
const ACCEPTED: [&str; 8] = [
    "fields",
    "schema",
    "required_fields",
    "required",
    "types",
    "field_types",
    "unique_fields",
    "max_examples",
];

pub(super) fn validate(body: &Value, table: &Table, context: &mut Context) -> Result<Value, Problem> {
    // One rule without a list around it.
    let alone = json!({"rules": [body]});
    let is_alone = body.get("rules").is_none() && body.get("field").is_some_and(Value::is_string);
    let body = if is_alone { &alone } else { body };
    let arguments = Arguments::new("validate", body, &["rules", "unique", "examples"], &ACCEPTED)?;
    let examples = arguments.count(&["examples", "max_examples"])?.unwrap_or(EXAMPLES).min(EXAMPLES_MAX);
    let mut checks = Vec::new();
    let mut invalid = BTreeSet::new();
    let required = arguments.texts(&["required_fields", "required"])?;
    let required = required.into_iter().map(|field| (field, json!({"required": true})));
    let types = match arguments.first_of(&["types", "field_types"]) {
        None => Vec::new(),
        Some(Value::Object(types)) => {
            types.iter().map(|(field, name)| (field.clone(), json!({"type": name}))).collect()
        }
        Some(other) => {
            let names = ["types", "field_types"];
            return Err(arguments.wrong(&names, "an object of fields and types", other).hint(EXAMPLE));
        }
    };
    for (field, rule_body) in field_rules(&arguments)?.into_iter().chain(required).chain(types) {
        for rule in rules_of(&rule_body, &field)? {
            if let Some(name) = table.find(&field) {
                check_limit(&rule, table.column(name)?.kind(), &field)?;
            }
            let broken = rule.broken(table, &field, context)?;
            checks.push(check(table, &field, &rule.name(), &broken, examples));
            invalid.extend(broken);
        }
    }
    if let Some(unique) = arguments.first_of(&["unique", "unique_fields"]) {
        for fields in unique_keys(unique)? {
            let broken = repeated(table, &fields)?;
            checks.push(check(table, &fields.join(", "), "unique", &broken, examples));
            invalid.extend(broken);
        }
    }
    if checks.is_empty() {
        return Err(Problem::new("validate needs rules").hint(EXAMPLE));
    }
    Ok(json!({
        "valid": invalid.is_empty(),
        "rows": table.rows(),
        "valid_rows": table.rows() - invalid.len(),
        "invalid_rows": invalid.len(),
        "checks": checks,
    }))
}

fn field_rules(arguments: &Arguments<'_>) -> Result<Vec<(String, Value)>, Problem> {
    let names = ["rules", "fields", "schema"];
    match arguments.first_of(&names) {
        None => Ok(Vec::new()),
        Some(Value::Array(rules)) => {
            let named = |rule: &Value| match rule.get("field").or_else(|| rule.get("column")) {
                Some(Value::String(field)) => Ok((field.clone(), rule.clone())),
                Some(_) | None => Err(Problem::new("a rule needs a \"field\"").hint(EXAMPLE)),
            };
            rules.iter().map(named).collect()
        }
        Some(Value::Object(rules)) => {
            Ok(rules.iter().map(|(field, rule)| (field.clone(), of_short(rule))).collect())
        }
        Some(other) => Err(arguments.wrong(&names, "a list or an object of rules", other).hint(EXAMPLE)),
    }
}

/// `{"age": "integer"}` says the type, `{"age": "required"}` that it must be there.
fn of_short(rule: &Value) -> Value {
    match rule {
        Value::String(word) if word.eq_ignore_ascii_case("required") => json!({"required": true}),
        Value::String(word) if word.eq_ignore_ascii_case("unique") => json!({"unique": true}),
        Value::String(name) => json!({"type": name}),
        other => other.clone(),
    }
}

/// `["a", "b"]` is one key of two fields, `[["a"], ["b", "c"]]` are two keys.
fn unique_keys(value: &Value) -> Result<Vec<Vec<String>>, Problem> {
    let nested = value.as_array().is_some_and(|items| items.iter().any(Value::is_array));
    let keys = if nested {
        value.as_array().into_iter().flatten().map(texts_of).collect()
    } else {
        texts_of(value).map(|key| vec![key])
    };
    keys.filter(|keys: &Vec<Vec<String>>| keys.iter().all(|key| !key.is_empty()))
        .ok_or_else(|| Problem::new("\"unique\" must be a list of fields that form a key together"))
}

/// Rows whose key was there before.
fn repeated(table: &Table, fields: &[String]) -> Result<Vec<usize>, Problem> {
    let groups = Groups::by(table, fields)?;
    let mut rows: Vec<usize> =
        groups.iter().flat_map(|rows| rows.iter().skip(1).map(|row| *row as usize)).collect();
    rows.sort_unstable();
    Ok(rows)
}

fn check(table: &Table, field: &str, rule: &str, broken: &[usize], examples: usize) -> Value {
    let values = table.column(field).ok().map(|column| column.values());
    let shown: Vec<Value> = broken
        .iter()
        .take(examples)
        .map(|row| json!({"row": row + 1, "value": values.map_or(Value::Null, |values| values.cell(*row).json())}))
        .collect();
    json!({"field": field, "rule": rule, "failed": broken.len(), "examples": shown})
}
