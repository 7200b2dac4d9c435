//! `gristmill bench shape`: how fast large JSON is shaped, beside the time in which Python's json
//! loads the same file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use gristmill_gateway::domain::shape::{Strategy, shape_json};
use gristmill_gateway::tokens;
use serde_json::{Value, json};

use super::machine;
use super::row::Row;
use super::temporary::Temporary;
use crate::arguments::Bench;

/// The goal is for this much.
const FILE_BYTES: usize = 50_000_000;

const TOKENS_MAX: usize = 1_000;

/// Of each the best counts: whatever else the machine does only adds to a time.
const ROUNDS: usize = 5;

/// How many times as fast as Python's json at least.
const TIMES_FASTER: f64 = 5.0;

struct Measured {
    strategy: Strategy,
    ms: f64,
    tokens: usize,
}

pub fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let folder = Temporary::new()?;
    let path = folder.0.join("orders.json");
    eprintln!("writing {} MB of JSON", FILE_BYTES / 1_000_000);
    write_orders(&path)?;
    let text = std::fs::read_to_string(&path)?;
    // The tokenizer makes its tables once, for whatever is counted first.
    tokens::count("");
    eprintln!("measuring python3 -c 'json.loads(…)'");
    let python_ms = python_ms(&path);
    let mut all = Vec::new();
    for strategy in Strategy::ALL {
        eprintln!("measuring {strategy}");
        all.push(shaping(&text, strategy)?);
    }
    let rows = rows(&all, python_ms);
    match arguments.json {
        true => println!("{:#}", as_json(&all, python_ms, &rows, text.len())),
        false => print(&all, python_ms, &rows, text.len()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Orders as a server might list them: numbers, words, a nested list, a field that not all have.
fn write_orders(path: &Path) -> anyhow::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(b"{\"page\": 1, \"orders\": [")?;
    let mut bytes = 0;
    let mut number = 0u64;
    while bytes < FILE_BYTES {
        let separator = if number == 0 { "" } else { ", " };
        let note = if number.is_multiple_of(7) { ", \"note\": \"call before \\\"noon\\\"\"" } else { "" };
        let order = format!(
            "{separator}{{\"id\": {number}, \"customer\": \"Customer {} & Søn\", \"state\": \"{}\", \"total\": {}.{:02}, \
             \"items\": [{{\"sku\": \"A-{}\", \"count\": {}}}, {{\"sku\": \"B-{}\", \"count\": 1}}]{note}}}",
            number % 977,
            ["open", "paid", "sent", "returned"][(number % 4) as usize],
            number % 5_000,
            number % 100,
            number % 211,
            number % 9 + 1,
            number % 57,
        );
        file.write_all(order.as_bytes())?;
        bytes += order.len();
        number += 1;
    }
    file.write_all(b"], \"next\": null}")?;
    file.flush().context("the file cannot be written")
}

/// The best time of loading the file, its reading left out. `None` where there is no Python.
fn python_ms(path: &Path) -> Option<f64> {
    let path = serde_json::to_string(path.to_str()?).ok()?;
    machine::native_result(&format!(
        "import json, time\n\
         text = open({path}, encoding='utf-8').read()\n\
         times = []\n\
         for _ in range({ROUNDS}):\n    \
             began = time.perf_counter()\n    \
             value = json.loads(text)\n    \
             times.append(time.perf_counter() - began)\n    \
             del value\n\
         result = min(times) * 1000"
    ))
}

fn shaping(text: &str, strategy: Strategy) -> anyhow::Result<Measured> {
    let mut best = Measured { strategy, ms: f64::MAX, tokens: 0 };
    for _ in 0..ROUNDS {
        let began = Instant::now();
        let shaped = shape_json(text, strategy, TOKENS_MAX, &tokens::count);
        best.ms = best.ms.min(began.elapsed().as_secs_f64() * 1000.0);
        best.tokens = shaped.tokens;
    }
    if best.tokens == 0 || best.tokens > TOKENS_MAX {
        bail!("{strategy} gave {} tokens for a budget of {TOKENS_MAX}", best.tokens);
    }
    Ok(best)
}

/// What is held against a goal.
fn rows(all: &[Measured], python_ms: Option<f64>) -> Vec<Row> {
    let auto = all.iter().find(|one| one.strategy == Strategy::Auto);
    match auto.zip(python_ms) {
        Some((auto, python_ms)) => vec![Row::at_least(
            "auto against Python's json loading it",
            python_ms / auto.ms,
            TIMES_FASTER,
            "times faster",
        )],
        None => vec![Row::plain("auto against Python's json loading it", "no python3 here".to_owned())],
    }
}

fn megabytes_per_second(bytes: usize, ms: f64) -> f64 {
    bytes as f64 / 1000.0 / ms
}

fn as_json(all: &[Measured], python_ms: Option<f64>, rows: &[Row], bytes: usize) -> Value {
    let strategies: Vec<Value> = all
        .iter()
        .map(|one| {
            json!({
                "strategy": one.strategy.as_str(),
                "ms": one.ms,
                "mb_per_second": megabytes_per_second(bytes, one.ms),
                "tokens": one.tokens,
                "times_faster_than_python": python_ms.map(|python_ms| python_ms / one.ms),
            })
        })
        .collect();
    json!({
        "machine": machine::describe(),
        "bytes": bytes,
        "tokens_max": TOKENS_MAX,
        "rounds": ROUNDS,
        "python_json_loads_ms": python_ms,
        "strategies": strategies,
        "figures": rows.iter().map(Row::json).collect::<Vec<_>>(),
    })
}

fn print(all: &[Measured], python_ms: Option<f64>, rows: &[Row], bytes: usize) {
    println!("{}", machine::describe());
    println!("{} MB of JSON to at most {TOKENS_MAX} tokens, best of {ROUNDS}\n", bytes / 1_000_000);
    println!("{:<22} {:>10} {:>10} {:>8} {:>16}", "", "ms", "MB/s", "tokens", "against Python");
    if let Some(ms) = python_ms {
        let speed = megabytes_per_second(bytes, ms);
        println!("{:<22} {ms:>10.1} {speed:>10.0} {:>8} {:>16}", "python3 json.loads", "-", "1.0x");
    }
    for one in all {
        let ratio = python_ms.map_or("-".to_owned(), |python_ms| format!("{:.1}x", python_ms / one.ms));
        println!(
            "{:<22} {:>10.1} {:>10.0} {:>8} {ratio:>16}",
            one.strategy.as_str(),
            one.ms,
            megabytes_per_second(bytes, one.ms),
            one.tokens
        );
    }
    println!();
    rows.iter().for_each(|row| println!("{}", row.line()));
}
