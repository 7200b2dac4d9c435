//! `calculator`: expressions, statistics and units. Nothing is kept between calls.

mod definitions;
mod expression;
mod units;

use serde_json::{Map, Number, Value, json};

use super::definition::check_call;
use super::{Answer, ExampleServer, arguments};

/// Numbers in one call of `statistics`.
const NUMBERS_MAX: usize = 100_000;

pub struct Calculator {
    tools: Vec<Value>,
}

impl Calculator {
    pub fn new() -> Self {
        Self { tools: definitions::definitions() }
    }
}

impl ExampleServer for Calculator {
    fn name(&self) -> &'static str {
        "calculator"
    }

    fn title(&self) -> &'static str {
        "Calculator"
    }

    fn instructions(&self) -> &'static str {
        "Exact answers to arithmetic: expressions, statistics over a list of numbers, and units."
    }

    fn tools(&self) -> Vec<Value> {
        self.tools.clone()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, String> {
        check_call(&self.tools, tool, arguments)?;
        match tool {
            "evaluate" => evaluate(arguments::text(arguments, "expression")?),
            "statistics" => statistics(arguments),
            _ => convert(arguments),
        }
        .map(Answer::Structured)
    }

    fn answers_at_once(&self) -> bool {
        true
    }
}

fn evaluate(text: &str) -> Result<Value, String> {
    let value = expression::evaluate(text)?;
    Ok(json!({ "expression": text, "value": plain(value)? }))
}

fn statistics(arguments: &Map<String, Value>) -> Result<Value, String> {
    let Some(Value::Array(given)) = arguments.get("numbers") else {
        return Err("`numbers` must be a list of numbers".to_owned());
    };
    if given.is_empty() || given.len() > NUMBERS_MAX {
        return Err(format!("`numbers` must hold 1 to {NUMBERS_MAX} numbers, not {}", given.len()));
    }
    let mut numbers = Vec::with_capacity(given.len());
    for (index, value) in given.iter().enumerate() {
        let number = arguments::finite(value)
            .ok_or_else(|| format!("`numbers[{index}]` must be a number, not {}", arguments::kind(value)))?;
        numbers.push(number);
    }
    numbers.sort_by(f64::total_cmp);
    let count = numbers.len();
    let sum: f64 = numbers.iter().sum();
    let mean = sum / count as f64;
    let middle = count / 2;
    let median = match count % 2 {
        0 => numbers[middle - 1] / 2.0 + numbers[middle] / 2.0,
        _ => numbers[middle],
    };
    let stdev = match count {
        1 => Value::Null,
        _ => {
            let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
            plain((squares / (count - 1) as f64).sqrt())?
        }
    };
    Ok(json!({
        "count": count,
        "sum": plain(sum)?,
        "mean": plain(mean)?,
        "median": plain(median)?,
        "stdev": stdev,
        "min": plain(numbers[0])?,
        "max": plain(numbers[count - 1])?,
    }))
}

fn convert(arguments: &Map<String, Value>) -> Result<Value, String> {
    let value = arguments::number(arguments, "value")?;
    let from = units::find(arguments::text(arguments, "from")?)?;
    let to = units::find(arguments::text(arguments, "to")?)?;
    let converted = units::convert(value, from, to)?;
    Ok(json!({ "value": plain(converted)?, "from": from.name, "to": to.name, "kind": from.kind.word() }))
}

/// A number as people write it: whole numbers without a point.
fn plain(value: f64) -> Result<Value, String> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT_MAX {
        return Ok(Value::from(value as i64));
    }
    Number::from_f64(value)
        .map(Value::Number)
        .ok_or_else(|| "the result is too large for a number; use smaller values".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, arguments: Value) -> Result<Value, String> {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        match Calculator::new().call(tool, &arguments)? {
            Answer::Structured(value) => Ok(value),
            Answer::Text(_) | Answer::Image { .. } => Err("not structured".to_owned()),
        }
    }

    #[test]
    fn whole_results_are_written_without_a_point() {
        assert_eq!(
            call("evaluate", json!({"expression": "10 / 4 * 2"})),
            Ok(json!({"expression": "10 / 4 * 2", "value": 5}))
        );
        assert_eq!(
            call("evaluate", json!({"expression": "1/4"})),
            Ok(json!({"expression": "1/4", "value": 0.25}))
        );
    }

    #[test]
    fn statistics_describe_a_list() {
        assert_eq!(
            call("statistics", json!({"numbers": [4, 2, 8, 2.0]})),
            Ok(
                json!({"count": 4, "sum": 16, "mean": 4, "median": 3, "stdev": 8f64.sqrt(), "min": 2, "max": 8})
            )
        );
        assert_eq!(
            call("statistics", json!({"numbers": [7]})),
            Ok(json!({"count": 1, "sum": 7, "mean": 7, "median": 7, "stdev": null, "min": 7, "max": 7}))
        );
        assert_eq!(
            call("statistics", json!({"numbers": [1, "2"]})),
            Err("`numbers[1]` must be a number, not a text".to_owned())
        );
        assert_eq!(
            call("statistics", json!({"numbers": []})),
            Err("`numbers` must hold 1 to 100000 numbers, not 0".to_owned())
        );
        assert_eq!(
            call("statistics", json!({"numbers": [1e308, 1e308]})),
            Err("the result is too large for a number; use smaller values".to_owned())
        );
    }

    #[test]
    fn units_are_told_by_their_full_names() {
        assert_eq!(
            call("convert_units", json!({"value": 26.2, "from": "mi", "to": "km"}))
                .map(|it| it["to"].clone()),
            Ok(json!("kilometre"))
        );
        assert_eq!(
            call("convert_units", json!({"value": 212, "from": "F", "to": "celsius"})),
            Ok(json!({"value": 100, "from": "fahrenheit", "to": "celsius", "kind": "temperature"}))
        );
    }
}
