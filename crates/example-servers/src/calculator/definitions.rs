//! What the tools of `calculator` take and give.

use serde_json::{Value, json};

use super::{NUMBERS_MAX, expression};
use crate::definition::{Effect, full_object, object, tool};

pub fn definitions() -> Vec<Value> {
    vec![evaluate_tool(), statistics_tool(), convert_units_tool()]
}

fn evaluate_tool() -> Value {
    tool(
        ["evaluate", "Evaluate an expression"],
        "Computes an arithmetic expression. Operators: + - * / % ^ and parentheses. Functions: sqrt, abs, \
         round(x) or round(x, digits), floor, ceil, min, max, ln, log10, exp, sin, cos, tan (radians). \
         Constants: pi, e. There are no variables.",
        Effect::Reads,
        object(
            &["expression"],
            json!({ "expression": {
                "type": "string", "maxLength": expression::CHARS_MAX,
                "description": "Such as 2 * (3 + 4) ^ 2 or round(sqrt(2), 3)",
            }}),
        ),
        full_object(json!({
            "expression": { "type": "string", "description": "The expression as it was given" },
            "value": { "type": "number", "description": "What it comes to" },
        })),
    )
}

fn statistics_tool() -> Value {
    tool(
        ["statistics", "Statistics of numbers"],
        "Computes count, sum, mean, median, sample standard deviation, least and greatest of a list of numbers.",
        Effect::Reads,
        object(
            &["numbers"],
            json!({ "numbers": {
                "type": "array", "items": { "type": "number" }, "minItems": 1, "maxItems": NUMBERS_MAX,
                "description": "The numbers, in any order",
            }}),
        ),
        full_object(json!({
            "count": { "type": "integer", "description": "How many numbers" },
            "sum": { "type": "number", "description": "All of them added" },
            "mean": { "type": "number", "description": "The sum divided by the count" },
            "median": { "type": "number", "description": "The one in the middle, or the mean of the two there" },
            "stdev": {
                "type": ["number", "null"],
                "description": "Sample standard deviation; null for a single number",
            },
            "min": { "type": "number", "description": "The least" },
            "max": { "type": "number", "description": "The greatest" },
        })),
    )
}

fn convert_units_tool() -> Value {
    tool(
        ["convert_units", "Convert units"],
        "Converts a value between units of length, mass, temperature, time or data. Both units must be of one kind.",
        Effect::Reads,
        object(
            &["value", "from", "to"],
            json!({
                "value": { "type": "number", "description": "How many of the unit `from`" },
                "from": { "type": "string", "description": "Name or symbol, such as km, mile, kg, celsius, hour, GiB" },
                "to": { "type": "string", "description": "Name or symbol of the unit wanted" },
            }),
        ),
        full_object(json!({
            "value": { "type": "number", "description": "The value in the unit `to`" },
            "from": { "type": "string", "description": "Full name of the first unit" },
            "to": { "type": "string", "description": "Full name of the second unit" },
            "kind": {
                "type": "string", "enum": ["length", "mass", "temperature", "time", "data"],
                "description": "What the units measure",
            },
        })),
    )
}
