//! What the tests compare: the values of fields, in groups or by themselves.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::outcome::Problem;
use crate::statistics::summary;
use crate::table::Table;
use crate::values::json_number;

/// Values as text, `None` where missing.
pub(super) fn keys_of(table: &Table, field: &str) -> Result<Vec<Option<String>>, Problem> {
    let values = table.column(field)?.values();
    Ok((0..values.len()).map(|row| values.cell(row).text()).collect())
}

/// Values in the order in which they first came, with their counts.
pub(super) fn count_keys<'a>(keys: impl Iterator<Item = &'a String>) -> (Vec<String>, Vec<f64>) {
    let mut names = Vec::new();
    let mut counts = Vec::new();
    let mut places: HashMap<&String, usize> = HashMap::new();
    for key in keys {
        let place = *places.entry(key).or_insert_with(|| {
            names.push(key.clone());
            counts.push(0.0);
            names.len() - 1
        });
        counts[place] += 1.0;
    }
    (names, counts)
}

/// The numbers of each group, by the values of its key: those that are named, or all in the order in which
/// they first come.
pub(super) fn values_by_group(
    numbers: &[Option<f64>],
    keys: &[Option<String>],
    named: &[String],
) -> (Vec<String>, Vec<Vec<f64>>) {
    let names = if named.is_empty() { count_keys(keys.iter().flatten()).0 } else { named.to_vec() };
    let places: HashMap<&String, usize> = names.iter().zip(0..).collect();
    let mut samples = vec![Vec::new(); names.len()];
    for (number, key) in numbers.iter().zip(keys) {
        let place = key.as_ref().and_then(|key| places.get(key));
        if let (Some(place), Some(number)) = (place, number.filter(|number| !number.is_nan())) {
            samples[*place].push(number);
        }
    }
    drop(places);
    (names, samples)
}

/// The values that are there; NaN is none.
pub(super) fn present(values: &[Option<f64>]) -> Vec<f64> {
    values.iter().flatten().copied().filter(|value| !value.is_nan()).collect()
}

/// A sample as a report shows it.
pub(super) fn sample(name: &str, values: &[f64]) -> Value {
    let number = |value: Option<f64>| value.map_or(Value::Null, json_number);
    json!({
        "name": name,
        "count": values.len(),
        "mean": number(summary::mean(values)),
        "median": number(summary::median(values)),
        "std": number(summary::variance(values).map(f64::sqrt)),
    })
}
