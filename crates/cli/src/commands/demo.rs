//! `gristmill demo`: a small but real program against the example tools, and what it saved.

use std::sync::Arc;
use std::time::Instant;

use anyhow::anyhow;
use gristmill_gateway::{Event, ExecuteRequest, Folders, Gateway, Report, WorkerCommand};
use serde_json::json;

use super::{Failure, Outcome};
use crate::arguments::Demo;
use crate::example_tools::ExampleTools;
use gristmill_gateway::tokens;

use crate::{engine_progress, exit_codes};

/// The question that a person might ask.
const QUESTION: &str = "Which customers lost us most through failed payments, and what should we do first?";

/// The program that an agent would write for it.
const PROGRAM: &str = include_str!("demo_program.py");

pub async fn demo(arguments: Demo) -> Outcome {
    engine_progress::prepare().map_err(Failure::Ours)?;
    run(arguments).await.map_err(Failure::Ours)
}

async fn run(arguments: Demo) -> anyhow::Result<std::process::ExitCode> {
    let folders = Folders::from_environment()?;
    let tools = Arc::new(ExampleTools::new(&folders.cache)?.keep_answers());
    let gateway =
        Gateway::builder(WorkerCommand::this_executable()?).tools(Arc::clone(&tools) as _).build().await?;
    gateway.ready().await.map_err(|reason| anyhow!(reason))?;
    if !arguments.json {
        println!("An agent is asked: {QUESTION}");
        println!("It writes this program:\n");
        for line in PROGRAM.trim_end().lines() {
            println!("  │ {line}");
        }
        println!("\nGristmill runs it in a fresh, jailed process:\n");
    }
    let started = Instant::now();
    let mut execution = gateway.execute(ExecuteRequest::python(PROGRAM));
    while let Some(event) = execution.next_event().await {
        if let (Event::Output { bytes, .. }, false) = (event, arguments.json) {
            print!("{}", String::from_utf8_lossy(&bytes));
        }
    }
    let report = execution.finish().await;
    let took = started.elapsed();
    gateway.shutdown().await;
    let table = TokenTable::of(&report, &tools);
    match arguments.json {
        true => println!("{:#}", json!({ "report": report, "tokens": table.json() })),
        false => print(&report, &table, took),
    }
    Ok(exit_codes::of(&report))
}

fn print(report: &Report, table: &TokenTable, took: std::time::Duration) {
    if let Some(result) = &report.result {
        println!("\nresult: {result:#}");
    }
    if let Some(error) = &report.error {
        println!("\nerror[{}]: {}", error.code, error.message);
    }
    println!("\ntools called:");
    for (name, calls, time_ms) in by_tool(report) {
        println!("  {name:<20} {calls:>4} times {time_ms:>9.1} ms together");
    }
    println!(
        "\ntime: {:.1} ms in all, of which the program ran {:.1} ms; {} MB memory",
        took.as_secs_f64() * 1000.0,
        report.execution_time_ms,
        report.memory_peak_bytes >> 20
    );
    println!("\ntokens (o200k)                      called directly   through gristmill");
    println!("  tool definitions                  {:>15}   {:>17}", grouped(table.definitions), "-");
    println!("  tool results                      {:>15}   {:>17}", grouped(table.results), "-");
    println!("  the program                       {:>15}   {:>17}", "-", grouped(table.program));
    println!("  what came back                    {:>15}   {:>17}", "-", grouped(table.returned));
    println!(
        "  together                          {:>15}   {:>17}",
        grouped(table.direct()),
        grouped(table.milled())
    );
    println!("  saved                             {:>35}", format!("{:.1} %", table.saved_percent()));
    println!("\nnext: gristmill run -c 'print(1 + 1)', gristmill doctor, gristmill bench sandbox");
}

/// What the same calls would cost in a model's context, and what they cost this way.
struct TokenTable {
    definitions: usize,
    results: usize,
    program: usize,
    returned: usize,
}

impl TokenTable {
    fn of(report: &Report, tools: &ExampleTools) -> Self {
        let result = report.result.as_ref().map(|result| result.to_string()).unwrap_or_default();
        Self {
            definitions: tokens::count(&ExampleTools::definitions_text()),
            results: tools.tokens_answered(),
            program: tokens::count(PROGRAM),
            returned: tokens::count(&report.stdout) + tokens::count(&result),
        }
    }

    fn direct(&self) -> usize {
        self.definitions + self.results
    }

    fn milled(&self) -> usize {
        self.program + self.returned
    }

    fn saved_percent(&self) -> f64 {
        100.0 * (1.0 - self.milled() as f64 / self.direct().max(1) as f64)
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "definitions": self.definitions,
            "results": self.results,
            "program": self.program,
            "returned": self.returned,
            "direct": self.direct(),
            "milled": self.milled(),
            "saved_percent": self.saved_percent(),
        })
    }
}

/// Calls and time of each tool, in the order of first use.
fn by_tool(report: &Report) -> Vec<(String, usize, f64)> {
    let mut tools: Vec<(String, usize, f64)> = Vec::new();
    for call in &report.tools_called {
        match tools.iter_mut().find(|(name, ..)| *name == call.name) {
            Some((_, calls, time_ms)) => {
                *calls += 1;
                *time_ms += call.time_ms;
            }
            None => tools.push((call.name.clone(), 1, call.time_ms)),
        }
    }
    tools
}

/// `150,000`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([7, 1234, 150_000, 1_000_000].map(grouped), ["7", "1,234", "150,000", "1,000,000"]);
    }
}
