//! `outliers`: rows whose value lies far from the others, to be shown, removed or flagged.

use serde_json::Value;

use super::Context;
use crate::arguments::Arguments;
use crate::column::Column;
use crate::outcome::Problem;
use crate::statistics::summary;
use crate::table::Table;
use crate::values::Values;

/// How far is far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    /// Beyond the quartiles by so many distances between them.
    Quartiles,
    /// So many standard deviations from the mean.
    Deviations,
    /// So many scaled median deviations from the median.
    MedianDeviations,
}

const METHODS: [(&str, Method, f64); 3] = [
    ("iqr", Method::Quartiles, 1.5),
    ("zscore", Method::Deviations, 3.0),
    ("mad", Method::MedianDeviations, 3.5),
];
/// Makes the median deviation of normal data its standard deviation.
const MEDIAN_DEVIATION_SCALE: f64 = 1.482_602_218_505_602;

pub(super) fn outliers(body: &Value, table: Table, context: &mut Context) -> Result<Table, Problem> {
    let arguments =
        Arguments::new("outliers", body, &["field", "method", "threshold", "action"], &["fields"])?;
    let fields = arguments.required_texts(&["field", "fields"])?;
    let wanted =
        arguments.text(&["method"])?.unwrap_or("iqr").to_ascii_lowercase().replace(['-', '_', ' '], "");
    let found = METHODS.iter().find(|(name, ..)| *name == wanted);
    let Some((name, method, usual)) = found else {
        return Err(Problem::unknown("method", &wanted, METHODS.map(|(name, ..)| name)));
    };
    let threshold = arguments.number(&["threshold"])?.unwrap_or(*usual);
    if threshold <= 0.0 {
        return Err(Problem::new(format!("\"threshold\" must be greater than 0, not {threshold}")));
    }
    let mut mask = vec![false; table.rows()];
    for field in &fields {
        let numbers = table.numbers(field)?;
        let Some((low, high)) = bounds_of(&numbers, *method, threshold) else {
            context.notes.add(format!("outliers of {field:?} by {name}: too few different values"));
            continue;
        };
        let mut count = 0;
        for (is_outlier, number) in mask.iter_mut().zip(&numbers) {
            if number.is_some_and(|number| number < low || number > high) {
                *is_outlier = true;
                count += 1;
            }
        }
        context.notes.add(format!(
            "outliers of {field:?} by {name} {threshold}: {count} of {} rows, below {low} or above {high}",
            table.rows()
        ));
    }
    apply_action(arguments.text(&["action"])?.unwrap_or("show"), table, &mask)
}

fn apply_action(action: &str, mut table: Table, mask: &[bool]) -> Result<Table, Problem> {
    match action.to_ascii_lowercase().as_str() {
        "show" | "keep" | "select" => Ok(table.filter(mask)),
        "remove" | "drop" => Ok(table.filter(&mask.iter().map(|is_outlier| !is_outlier).collect::<Vec<_>>())),
        "flag" | "mark" => {
            let flags = Values::Booleans(mask.iter().map(|is_outlier| Some(*is_outlier)).collect());
            table.set_column(Column::new("is_outlier", flags));
            Ok(table)
        }
        _ => Err(Problem::unknown("action", action, ["show", "remove", "flag"])),
    }
}

/// Below and above which a value is an outlier; `None` where nothing can be said.
fn bounds_of(numbers: &[Option<f64>], method: Method, threshold: f64) -> Option<(f64, f64)> {
    let sorted =
        summary::sorted(numbers.iter().flatten().copied().filter(|number| !number.is_nan()).collect());
    let (middle, deviation) = match method {
        Method::Quartiles => {
            let (low, high) = (summary::quantile(&sorted, 0.25)?, summary::quantile(&sorted, 0.75)?);
            return Some((low - threshold * (high - low), high + threshold * (high - low)));
        }
        Method::Deviations => {
            let deviation = summary::variance(&sorted)?.sqrt();
            (summary::mean(&sorted)?, deviation)
        }
        Method::MedianDeviations => {
            let median = summary::quantile(&sorted, 0.5)?;
            let distances: Vec<f64> = sorted.iter().map(|number| (number - median).abs()).collect();
            let deviation = summary::median(&distances)? * MEDIAN_DEVIATION_SCALE;
            (median, deviation)
        }
    };
    (deviation > 0.0).then_some((middle - threshold * deviation, middle + threshold * deviation))
}
