//! `test`: is a difference more than chance? A report with the statistic and its p-value.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::anova::anova;
use super::correlate::complete_pairs;
use super::samples::{count_keys, keys_of, present, sample, values_by_group};
use crate::arguments::{Arguments, number_of};
use crate::bounds::CONTINGENCY_CELLS_MAX;
use crate::outcome::Problem;
use crate::spellings::plain;
use crate::statistics::comparisons::{self, Tested};
use crate::statistics::summary;
use crate::table::Table;
use crate::values::json_number;

const TESTS: [&str; 5] = ["t_test", "anova", "chi_square", "mann_whitney", "normality"];
const KNOWN: [&str; 9] =
    ["test", "field", "fields", "group", "groups", "paired", "equal_variance", "mean", "expected"];
const ACCEPTED: [&str; 3] = ["method", "kind", "type"];

/// Two lists of values, with what they are called.
struct Samples {
    names: [String; 2],
    left: Vec<f64>,
    right: Vec<f64>,
}

pub(super) fn test(body: &Value, table: &Table) -> Result<Value, Problem> {
    let arguments = Arguments::new("test", body, &KNOWN, &ACCEPTED)?;
    let name = arguments
        .text(&["test", "method", "kind", "type"])?
        .ok_or_else(|| arguments.missing(&["test"]).hint(format!("tests: {}", TESTS.join(", "))))?;
    match plain(name).as_str() {
        "t_test" | "ttest" | "t" | "welch" => t_test(&arguments, table),
        "anova" | "one_way_anova" | "oneway_anova" | "anova_one_way" | "f_oneway" | "f_test" | "f" => {
            anova(&arguments, table)
        }
        "chi_square" | "chi2" | "chi_squared" => chi_square(&arguments, table),
        "mann_whitney" | "mann_whitney_u" | "mannwhitney" => mann_whitney(&arguments, table),
        "normality" | "normal" | "dagostino" | "jarque_bera" => normality(&arguments, table),
        _ => Err(Problem::unknown("test", name, TESTS)),
    }
}

fn t_test(arguments: &Arguments<'_>, table: &Table) -> Result<Value, Problem> {
    let is_one_sample = arguments.first_of(&["group"]).is_none() && arguments.texts(&["fields"])?.len() < 2;
    if is_one_sample {
        let field = arguments.required_texts(&["field", "fields"])?.remove(0);
        let expected = arguments.number(&["mean"])?.unwrap_or(0.0);
        let values = present(&table.numbers(&field)?);
        let tested = comparisons::t_one_sample(&values, expected).ok_or_else(|| too_few(&field, 2))?;
        let mut report = reported("one-sample t-test", tested);
        report.insert("samples".to_owned(), json!([sample(&field, &values)]));
        report.insert("expected_mean".to_owned(), json_number(expected));
        return Ok(Value::Object(report));
    }
    if arguments.flag(&["paired"])? {
        let fields = arguments.required_texts(&["fields"])?;
        let [left, right] = fields.as_slice() else {
            return Err(Problem::new(
                "a paired t-test needs two fields: {\"fields\": [\"before\", \"after\"]}",
            ));
        };
        let (x, y) = complete_pairs(&table.numbers(left)?, &table.numbers(right)?);
        let differences: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
        let tested = comparisons::t_one_sample(&differences, 0.0).ok_or_else(|| too_few(left, 2))?;
        let mut report = reported("paired t-test", tested);
        report.insert("samples".to_owned(), json!([sample(left, &x), sample(right, &y)]));
        return Ok(Value::Object(report));
    }
    let samples = two_samples(arguments, table)?;
    let equal_variance = arguments.flag(&["equal_variance"])?;
    let tested = comparisons::t_two_samples(&samples.left, &samples.right, equal_variance)
        .ok_or_else(|| too_few(&samples.names[0], 2))?;
    let name = if equal_variance { "Student's t-test" } else { "Welch's t-test" };
    Ok(with_samples(reported(name, tested), &samples))
}

fn mann_whitney(arguments: &Arguments<'_>, table: &Table) -> Result<Value, Problem> {
    let samples = two_samples(arguments, table)?;
    let tested = comparisons::mann_whitney(&samples.left, &samples.right)
        .ok_or_else(|| too_few(&samples.names[0], 1))?;
    Ok(with_samples(reported("Mann-Whitney U test", tested), &samples))
}

fn normality(arguments: &Arguments<'_>, table: &Table) -> Result<Value, Problem> {
    let field = arguments.required_texts(&["field", "fields"])?.remove(0);
    let values = present(&table.numbers(&field)?);
    let jarque_bera = comparisons::jarque_bera(&values).ok_or_else(|| too_few(&field, 2))?;
    // D'Agostino's is the better one from 20 values on; below 8 it does not exist.
    let (name, tested) = match comparisons::dagostino(&values) {
        Some(tested) => ("D'Agostino and Pearson's normality test", tested),
        None => ("Jarque-Bera normality test", jarque_bera),
    };
    let mut report = reported(name, tested);
    report.insert(
        "jarque_bera".to_owned(),
        json!({"statistic": json_number(jarque_bera.statistic), "p_value": json_number(jarque_bera.p_value)}),
    );
    report.insert("samples".to_owned(), json!([sample(&field, &values)]));
    if values.len() < 20 {
        report.insert("warning".to_owned(), "fewer than 20 values: this says little".into());
    }
    Ok(Value::Object(report))
}

fn chi_square(arguments: &Arguments<'_>, table: &Table) -> Result<Value, Problem> {
    let fields = arguments.required_texts(&["fields", "field"])?;
    match fields.as_slice() {
        [field] => goodness_of_fit(arguments, table, field),
        [left, right] => independence(table, left, right),
        _ => Err(Problem::new(
            "chi_square needs one field (to compare with expected counts) or two (to test independence)",
        )),
    }
}

fn goodness_of_fit(arguments: &Arguments<'_>, table: &Table, field: &str) -> Result<Value, Problem> {
    let keys = keys_of(table, field)?;
    let (names, counts) = count_keys(keys.iter().flatten());
    let total = summary::sum(counts.iter().copied());
    let expected: Vec<f64> = match arguments.first_of(&["expected"]) {
        None => vec![total / summary::count_of(&counts); counts.len()],
        Some(Value::Object(shares)) => {
            let listed =
                names.iter().map(|name| shares.get(name).and_then(number_of)).collect::<Option<Vec<f64>>>();
            let listed = listed.filter(|listed| listed.len() == shares.len());
            let listed = listed.ok_or_else(|| {
                Problem::new("\"expected\" must have a number for each value of the field")
                    .hint(format!("values: {}", names.join(", ")))
            })?;
            let all = summary::sum(listed.iter().copied());
            listed.into_iter().map(|share| share / all * total).collect()
        }
        Some(other) => {
            return Err(arguments.wrong(
                &["expected"],
                "an object of values and their shares or counts",
                other,
            ));
        }
    };
    let tested = comparisons::chi_square_fit(&counts, &expected).ok_or_else(|| {
        Problem::new(format!(
            "chi_square needs at least two different values of {field:?}, each with an expected count above 0"
        ))
        .field(field)
    })?;
    let mut report = reported("chi-square test of fit", tested);
    let rows: Vec<Value> = names.iter().zip(counts.iter().zip(&expected)).map(|(name, (count, expected))| json!({"value": name, "count": count, "expected": json_number(*expected)})).collect();
    report.insert("counts".to_owned(), rows.into());
    warn_of_few(&mut report, expected.into_iter());
    Ok(Value::Object(report))
}

fn independence(table: &Table, left: &str, right: &str) -> Result<Value, Problem> {
    let (left_keys, right_keys) = (keys_of(table, left)?, keys_of(table, right)?);
    let pairs: Vec<(&String, &String)> = left_keys
        .iter()
        .zip(&right_keys)
        .filter_map(|(left, right)| left.as_ref().zip(right.as_ref()))
        .collect();
    let (rows, row_sums) = count_keys(pairs.iter().map(|(left, _)| *left));
    let (columns, column_sums) = count_keys(pairs.iter().map(|(_, right)| *right));
    if rows.len() * columns.len() > CONTINGENCY_CELLS_MAX {
        return Err(Problem::new(format!(
            "chi_square can't take {} values of {left:?} times {} of {right:?}",
            rows.len(),
            columns.len()
        )));
    }
    let place = |names: &[String]| -> HashMap<String, usize> { names.iter().cloned().zip(0..).collect() };
    let (row_places, column_places) = (place(&rows), place(&columns));
    let mut counts = vec![vec![0.0; columns.len()]; rows.len()];
    for (left, right) in &pairs {
        if let (Some(row), Some(column)) = (row_places.get(*left), column_places.get(*right)) {
            counts[*row][*column] += 1.0;
        }
    }
    let tested = comparisons::chi_square_table(&counts).ok_or_else(|| {
        Problem::new(format!("chi_square needs at least two different values of {left:?} and of {right:?}"))
    })?;
    let mut report = reported("chi-square test of independence", tested);
    let total = summary::sum(row_sums.iter().copied());
    let expected: Vec<f64> =
        row_sums.iter().flat_map(|row| column_sums.iter().map(move |column| row * column / total)).collect();
    report.insert("rows".to_owned(), pairs.len().into());
    report.insert("fields".to_owned(), json!([left, right]));
    report.insert("values".to_owned(), json!([rows, columns]));
    report.insert("counts".to_owned(), json!(counts));
    warn_of_few(&mut report, expected.into_iter());
    Ok(Value::Object(report))
}

fn warn_of_few(report: &mut Map<String, Value>, mut expected: impl Iterator<Item = f64>) {
    if expected.any(|count| count < 5.0) {
        report.insert(
            "warning".to_owned(),
            "some expected counts are below 5: the p-value is approximate".into(),
        );
    }
}

/// One field in two groups, or two fields.
fn two_samples(arguments: &Arguments<'_>, table: &Table) -> Result<Samples, Problem> {
    let Some(group) = arguments.text(&["group"])? else {
        let fields = arguments.texts(&["fields"])?;
        let [left, right] = fields.as_slice() else {
            return Err(Problem::new("the test needs two fields, or one field and a group").hint(
                r#"example: {"field": "price", "group": "variant"}, or {"fields": ["before", "after"]}"#,
            ));
        };
        return Ok(Samples {
            names: [left.clone(), right.clone()],
            left: present(&table.numbers(left)?),
            right: present(&table.numbers(right)?),
        });
    };
    let field = arguments.required_texts(&["field", "fields"])?.remove(0);
    let numbers = table.numbers(&field)?;
    let keys = keys_of(table, group)?;
    let (names, mut samples) = values_by_group(&numbers, &keys, &arguments.texts(&["groups"])?);
    let [left, right] = names.as_slice() else {
        let shown = names.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
        return Err(Problem::new(format!(
            "field {group:?} has {}, but this test compares two groups",
            values_words(names.len())
        ))
        .hint(format!(
            "choose two: \"groups\": [\"a\", \"b\"], or compare all of them with anova; values: {shown}"
        ))
        .field(group));
    };
    let (right_values, left_values) = (samples.pop(), samples.pop());
    Ok(Samples {
        left: left_values.unwrap_or_default(),
        right: right_values.unwrap_or_default(),
        names: [left.clone(), right.clone()],
    })
}

fn values_words(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}

fn too_few(field: &str, least: usize) -> Problem {
    Problem::new(format!("the test needs at least {least} values in each sample, and they must differ"))
        .field(field)
}

fn reported(name: &str, tested: Tested) -> Map<String, Value> {
    let mut report = Map::new();
    report.insert("test".to_owned(), name.into());
    report.insert("statistic".to_owned(), json_number(tested.statistic));
    if let Some(degrees) = tested.degrees {
        report.insert("degrees_of_freedom".to_owned(), json_number(degrees));
    }
    report.insert("p_value".to_owned(), json_number(tested.p_value));
    report.insert("significant_at_5_percent".to_owned(), (tested.p_value < 0.05).into());
    report
}

fn with_samples(mut report: Map<String, Value>, samples: &Samples) -> Value {
    let [left, right] = &samples.names;
    report.insert("samples".to_owned(), json!([sample(left, &samples.left), sample(right, &samples.right)]));
    Value::Object(report)
}
