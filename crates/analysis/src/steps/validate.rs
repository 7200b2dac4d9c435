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
const EXAMPLE: &str = r#"for example {"rules": [{"field": "email", "required": true, "pattern": "^[^@]+@[^@]+$"}, {"field": "age", "type": "integer", "min": 0}]}"#;

pub(super) fn validate(body: &Value, table: &Table, context: &mut Context) -> Result<Value, Problem> {
    let arguments = Arguments::new("validate", body, &["rules", "fields", "unique", "examples"])?;
    let examples = arguments.count(&["examples"])?.unwrap_or(EXAMPLES).min(EXAMPLES_MAX);
    let mut checks = Vec::new();
    let mut invalid = BTreeSet::new();
    for (field, rule_body) in field_rules(&arguments)? {
        for rule in rules_of(rule_body, &field)? {
            if let Some(name) = table.find(&field) {
                check_limit(&rule, table.column(name)?.kind(), &field)?;
            }
            let broken = rule.broken(table, &field, context)?;
            checks.push(check(table, &field, &rule.name(), &broken, examples));
            invalid.extend(broken);
        }
    }
    if let Some(unique) = arguments.first_of(&["unique"]) {
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

fn field_rules<'a>(arguments: &Arguments<'a>) -> Result<Vec<(String, &'a Value)>, Problem> {
    match arguments.first_of(&["rules", "fields"]) {
        None => Ok(Vec::new()),
        Some(Value::Array(rules)) => {
            let named = |rule: &'a Value| match rule.get("field") {
                Some(Value::String(field)) => Ok((field.clone(), rule)),
                Some(_) | None => Err(Problem::new("a rule needs a \"field\"").hint(EXAMPLE)),
            };
            rules.iter().map(named).collect()
        }
        Some(Value::Object(rules)) => Ok(rules.iter().map(|(field, rule)| (field.clone(), rule)).collect()),
        Some(other) => {
            Err(arguments.wrong(&["rules", "fields"], "a list or an object of rules", other).hint(EXAMPLE))
        }
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
        .ok_or_else(|| Problem::new("\"unique\" has to be a list of fields that make a key together"))
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
