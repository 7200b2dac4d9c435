//! `correlate`: how numeric fields go together, over the rows in which both are there.

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::bounds::CORRELATED_FIELDS_MAX;
use crate::kind::Kind;
use crate::outcome::Problem;
use crate::spellings::plain;
use crate::statistics::relation::{correlation_p_value, covariance, pearson, spearman};
use crate::table::{Table, display_name};
use crate::values::json_number;

/// What is computed of each pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Pearson,
    Spearman,
    Covariance,
}

const METHODS: [(&str, Method); 3] =
    [("pearson", Method::Pearson), ("spearman", Method::Spearman), ("covariance", Method::Covariance)];

/// Other spellings of methods.
const OTHERS: [(&str, &str); 6] = [
    ("cov", "covariance"),
    ("covariance_matrix", "covariance"),
    ("sample_covariance", "covariance"),
    ("correlation", "pearson"),
    ("pearsonr", "pearson"),
    ("spearmanr", "spearman"),
];

pub(super) fn correlate(body: &Value, table: &Table) -> Result<Value, Problem> {
    let arguments = Arguments::new("correlate", body, &["fields", "method"], &["type", "x", "y"])?;
    let written = arguments.text(&["method", "type"])?.unwrap_or("pearson");
    let name = plain(written);
    let wanted = OTHERS.iter().find(|(other, _)| *other == name).map_or(name.as_str(), |(_, own)| own);
    let method = METHODS.iter().find(|(own, _)| *own == wanted).map(|(_, method)| *method);
    let method = method.ok_or_else(|| Problem::unknown("method", written, METHODS.map(|(name, _)| name)))?;
    let mut fields = arguments.texts(&["fields"])?;
    if fields.is_empty()
        && let (Some(x), Some(y)) = (arguments.text(&["x"])?, arguments.text(&["y"])?)
    {
        fields = vec![x.to_owned(), y.to_owned()];
    }
    if fields.is_empty() {
        let numeric =
            table.columns().iter().filter(|column| matches!(column.kind(), Kind::Integer | Kind::Number));
        fields = numeric.map(|column| display_name(column.name())).collect();
    }
    // The covariance of one field is its variance.
    let least = if method == Method::Covariance { 1 } else { 2 };
    if !(least..=CORRELATED_FIELDS_MAX).contains(&fields.len()) {
        let message =
            format!("{wanted} needs {least} to {CORRELATED_FIELDS_MAX} numeric fields, not {}", fields.len());
        return Err(
            Problem::new(message).hint("name them: {\"correlate\": {\"fields\": [\"price\", \"quantity\"]}}")
        );
    }
    let lists = fields.iter().map(|field| table.numbers(field)).collect::<Result<Vec<_>, _>>()?;
    Ok(report(wanted, method, &fields, &lists))
}

fn report(name: &str, method: Method, fields: &[String], lists: &[Vec<Option<f64>>]) -> Value {
    let mut matrix = vec![vec![Value::Null; fields.len()]; fields.len()];
    let mut pairs = Vec::new();
    for (i, left) in lists.iter().enumerate() {
        for (j, right) in lists.iter().enumerate().skip(i) {
            let (x, y) = complete_pairs(left, right);
            let value = match method {
                Method::Pearson => pearson(&x, &y),
                Method::Spearman => spearman(&x, &y),
                Method::Covariance => covariance(&x, &y),
            };
            let shown = value.map_or(Value::Null, json_number);
            matrix[i][j] = shown.clone();
            matrix[j][i] = shown.clone();
            if i == j {
                continue;
            }
            let mut pair = json!({"fields": [fields[i], fields[j]], "value": shown, "rows": x.len()});
            if method != Method::Covariance
                && let Value::Object(pair) = &mut pair
            {
                let p_value = value.and_then(|value| correlation_p_value(value, x.len()));
                pair.insert("p_value".to_owned(), p_value.map_or(Value::Null, json_number));
            }
            pairs.push(pair);
        }
    }
    json!({"method": name, "fields": fields, "matrix": matrix, "pairs": pairs})
}

/// The values of the rows in which both are numbers.
pub(super) fn complete_pairs(left: &[Option<f64>], right: &[Option<f64>]) -> (Vec<f64>, Vec<f64>) {
    let is_number = |value: &f64| !value.is_nan();
    left.iter()
        .zip(right)
        .filter_map(|(left, right)| left.filter(is_number).zip(right.filter(is_number)))
        .unzip()
}
