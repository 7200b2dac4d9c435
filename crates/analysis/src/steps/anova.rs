//! One-way analysis of variance: do the means of several groups differ by more than chance?

use serde_json::{Value, json};

use super::samples::{keys_of, present, sample, values_by_group};
use crate::arguments::Arguments;
use crate::bounds::ANOVA_GROUPS_MAX;
use crate::outcome::Problem;
use crate::statistics::comparisons::{self, Variances};
use crate::table::Table;
use crate::values::json_number;

const EXAMPLE: &str = r#"example: {"test": "anova", "field": "price", "group": "variant"}, or {"test": "anova", "fields": ["a", "b", "c"]}"#;

/// One field in groups, or several fields.
pub(super) fn anova(arguments: &Arguments<'_>, table: &Table) -> Result<Value, Problem> {
    let (names, samples) = match arguments.text(&["group"])? {
        Some(group) => groups_of(arguments, table, group)?,
        None => {
            let fields = arguments.texts(&["fields", "field"])?;
            let lists = fields.iter().map(|field| Ok(present(&table.numbers(field)?)));
            let lists = lists.collect::<Result<Vec<_>, Problem>>()?;
            (fields, lists)
        }
    };
    if names.len() < 2 {
        let message = format!("anova compares two groups or more, and there are {}", names.len());
        return Err(Problem::new(message).hint(EXAMPLE));
    }
    if let Some((name, _)) = names.iter().zip(&samples).find(|(_, values)| values.is_empty()) {
        return Err(Problem::new(format!("anova needs values in every group, and {name:?} has none")));
    }
    let Some(Variances { f, between, within, p_value, eta_squared }) = comparisons::anova(&samples) else {
        return Err(Problem::new("anova needs more values than groups, and values that differ").hint(EXAMPLE));
    };
    let shown: Vec<Value> = names.iter().zip(&samples).map(|(name, values)| sample(name, values)).collect();
    Ok(json!({
        "test": "one-way ANOVA",
        "statistic": json_number(f),
        "degrees_of_freedom": {"between": json_number(between), "within": json_number(within)},
        "p_value": json_number(p_value),
        "significant_at_5_percent": p_value < 0.05,
        "eta_squared": json_number(eta_squared),
        "samples": shown,
    }))
}

fn groups_of(
    arguments: &Arguments<'_>,
    table: &Table,
    group: &str,
) -> Result<(Vec<String>, Vec<Vec<f64>>), Problem> {
    let field = arguments.required_texts(&["field", "fields"])?.remove(0);
    let (numbers, keys) = (table.numbers(&field)?, keys_of(table, group)?);
    let (names, samples) = values_by_group(&numbers, &keys, &arguments.texts(&["groups"])?);
    if names.len() > ANOVA_GROUPS_MAX {
        return Err(Problem::new(format!(
            "field {group:?} has {} values; anova compares up to {ANOVA_GROUPS_MAX} groups",
            names.len()
        ))
        .hint("choose some: \"groups\": [\"a\", \"b\"]")
        .field(group));
    }
    Ok((names, samples))
}
