//! Whole analyses: a request and data in, the whole output compared.

mod dates;
mod errors;
mod expressions;
mod numbers;
mod odd_data;
mod reading;
mod rows_and_columns;
mod spellings;

use gristmill_analysis::{Analyzed, Format, Input, Problem, Source, analyze};
use serde_json::{Value, json};

/// A table as JSON text.
fn input(name: &str, format: Option<Format>, content: &[u8]) -> Input {
    Input { name: name.to_owned(), format, source: Source::Bytes(content.to_vec()) }
}

fn run_all(request: &Value, inputs: Vec<Input>) -> Result<(Value, Analyzed), Problem> {
    let mut output = Vec::new();
    let analyzed = analyze(&request.to_string(), inputs, &mut output)?;
    let value = serde_json::from_slice(&output)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output)));
    Ok((value, analyzed))
}

/// Steps over JSON text.
fn run(steps: Value, data: &str) -> Result<(Value, Analyzed), Problem> {
    run_all(&json!({ "steps": steps }), vec![input("data", None, data.as_bytes())])
}

/// The whole output of steps over JSON data.
#[track_caller]
fn check(steps: Value, data: Value, expected: Value) {
    let (found, analyzed) = run(steps, &data.to_string()).unwrap();
    assert_eq!(found, expected);
    let rows = found.as_array().map(|rows| rows.len() as u64);
    assert_eq!(analyzed.rows, rows);
}

/// The problem of steps over JSON data.
#[track_caller]
fn problem(steps: Value, data: Value) -> Problem {
    run(steps, &data.to_string()).expect_err("this has to fail")
}
