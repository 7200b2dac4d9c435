//! The analysis of tables: a list of declarative steps over JSON, JSON Lines, CSV or Parquet.
//!
//! It computes and nothing else: no network, no environment, no file but the descriptors that it was given.
//! It runs in a worker that is thrown away afterwards, so that odd data can only end that worker.

mod arguments;
mod bounds;
mod column;
mod expression;
mod factorize;
mod input;
mod json_keys;
mod json_scanner;
mod kind;
mod nearest;
mod outcome;
mod read;
mod request;
mod row_order;
mod spellings;
mod statistics;
mod steps;
mod table;
mod text_dates;
mod texts;
mod timestamp;
mod values;
mod write;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use input::{Format, Input, Source, UnknownFormat};
pub use outcome::{Analyzed, Problem};

use request::Request;
use steps::{Context, Outcome};

/// Runs the steps of `request` over `inputs` and writes one JSON text to `output`: a list of row objects for
/// a table, one object for a report.
///
/// # Errors
/// A [`Problem`] that names the step and the field. The output may hold a part by then.
pub fn analyze(request: &str, inputs: Vec<Input>, output: &mut dyn Write) -> Result<Analyzed, Problem> {
    // A panic below is a bug or data that the Parquet reader does not bear; the process ends soon either way.
    catch_unwind(AssertUnwindSafe(|| run(request, inputs, output))).unwrap_or_else(|_| {
        Err(Problem::new("the analysis engine failed on this data")
            .hint("run fewer steps to find the one that fails; a Parquet file may use an unsupported type"))
    })
}

fn run(request: &str, mut inputs: Vec<Input>, output: &mut dyn Write) -> Result<Analyzed, Problem> {
    let request = Request::parse(request)?;
    if inputs.is_empty() {
        return Err(Problem::new("no data given").hint("pass the data inline, as a handle or as a file"));
    }
    let data = inputs.remove(0);
    let mut context = Context::new(inputs);
    let mut table = read::read(data, request.data_field.as_deref(), &mut context.notes)
        .map_err(|problem| problem.with_notes(&context.notes))?;
    let last = request.steps.len();
    for (index, step) in request.steps.iter().enumerate() {
        let number = index + 1;
        let outcome = steps::run(step.name, &step.body, table, &mut context)
            .map_err(|problem| problem.in_step(number).with_notes(&context.notes))?;
        table = match outcome {
            Outcome::Table(table) => table,
            Outcome::Report(report) if number == last => return finish_report(&report, output, context),
            Outcome::Report(_) => return Err(not_last(step.name.as_str(), number)),
        };
    }
    write::write_table(&table, output, &mut context.notes)?;
    let rows = u64::try_from(table.rows()).unwrap_or(u64::MAX);
    Ok(Analyzed { rows: Some(rows), columns: table.names(), notes: context.notes.into_list() })
}

fn finish_report(
    report: &serde_json::Value,
    output: &mut dyn Write,
    context: Context,
) -> Result<Analyzed, Problem> {
    write::write_report(report, output)?;
    let columns = report.as_object().map(|report| report.keys().cloned().collect()).unwrap_or_default();
    Ok(Analyzed { rows: None, columns, notes: context.notes.into_list() })
}

fn not_last(name: &str, number: usize) -> Problem {
    Problem::new(format!("{name} returns a report, so it must be the last step"))
        .hint("move it to the end, or make two calls")
        .in_step(number)
}
