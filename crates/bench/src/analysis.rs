//! `gristmill bench analysis`: filter and aggregate over a million rows of CSV, from nothing to the
//! answer, beside the same work in plain Python and in pandas.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gristmill_gateway::analysis::{AnalysisData, AnalysisInput, AnalysisRequest};
use gristmill_gateway::domain::{Level, LimitName, Limits};
use gristmill_gateway::{Gateway, WorkerCommand};
use serde::Deserialize;
use serde_json::json;

use super::machine;
use super::row::Row;
use super::temporary::Temporary;
use crate::arguments::Bench;

/// The work: some columns in, one condition on each of two, three figures of each group out.
const STEPS: &str = r#"{"steps": [
    {"filter": {"and": [
        {"field": "amount", "operator": ">", "value": 100},
        {"field": "open", "operator": "==", "value": true}
    ]}},
    {"aggregate": {"group_by": "city", "aggregations": {"amount": ["count", "mean", "max"]}}}
]}"#;

const PLAIN_PYTHON: &str = r#"
import csv, json, statistics, sys
groups = {}
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        amount = float(row["amount"])
        if amount > 100 and row["open"] == "true":
            groups.setdefault(row["city"], []).append(amount)
names = ("city", "amount_count", "amount_mean", "amount_max")
figures = ((city, len(of), statistics.fmean(of), max(of)) for city, of in groups.items())
print(json.dumps([dict(zip(names, one)) for one in figures]))
"#;

const PANDAS: &str = r#"
import json, sys
import pandas
frame = pandas.read_csv(sys.argv[1])
kept = frame[(frame["amount"] > 100) & frame["open"]]
figures = kept.groupby("city")["amount"].agg(["count", "mean", "max"]).add_prefix("amount_").reset_index()
print(figures.to_json(orient="records", double_precision=15))
"#;

const CITIES: [&str; 12] = [
    "Oslo", "Bergen", "Lisbon", "Porto", "Rome", "Turin", "Vienna", "Graz", "Riga", "Tallinn", "Cork",
    "Ghent",
];

/// The same work everywhere, or nothing is compared.
const TOLERANCE: f64 = 1e-9;

/// Rounds of each way, by turns: the slowest takes seconds.
const ROUNDS: usize = 5;

/// What one round may take on a slow machine.
const TIME_MAX_MS: u64 = 120_000;

/// One group, as all ways write it.
#[derive(Deserialize)]
struct Group {
    city: String,
    amount_count: u64,
    amount_mean: f64,
    amount_max: f64,
}

type Figures = BTreeMap<String, (u64, f64, f64)>;

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let folder = Temporary::new()?;
    let table = folder.0.join("orders.csv");
    let rows = arguments.rows.clamp(1_000, 20_000_000);
    eprintln!("writing {rows} rows");
    let bytes = write_table(&table, rows)?;
    let python = arguments.python.unwrap_or_else(|| PathBuf::from("python3"));
    let has_pandas = can_import(&python, "pandas");

    let gateway = Gateway::builder(WorkerCommand::this_executable()?).limits(limits()?).build().await?;
    gateway.ready().await.map_err(|reason| anyhow::anyhow!("no worker: {reason}"))?;
    let expected = figures(&from_nothing(&table)?)?;
    let mut times = Times::default();
    for round in 0..ROUNDS {
        eprintln!("measuring, round {} of {ROUNDS}", round + 1);
        times.ours.push(timed(&expected, || from_nothing(&table))?);
        let (time, text) = served(&gateway, &table).await?;
        same(&expected, &figures(&text)?)?;
        times.served.push(time);
        if has_pandas {
            times.pandas.push(timed(&expected, || in_python(&python, PANDAS, &table))?);
        }
        // It takes many times as long, and varies little.
        if round < 2 {
            times.plain.push(timed(&expected, || in_python(&python, PLAIN_PYTHON, &table))?);
        }
    }
    gateway.shutdown().await;

    let lines = times.rows(rows, bytes);
    if arguments.json {
        let figures: Vec<_> = lines.iter().map(Row::json).collect();
        println!("{:#}", json!({"machine": machine::describe(), "figures": figures}));
    } else {
        println!("{}\n", machine::describe());
        lines.iter().for_each(|row| println!("{}", row.line()));
        if !has_pandas {
            println!(
                "\npandas isn't compared: {} can't import it (pass another Python with --python PATH)",
                python.display()
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Default)]
struct Times {
    ours: Vec<Duration>,
    served: Vec<Duration>,
    pandas: Vec<Duration>,
    plain: Vec<Duration>,
}

impl Times {
    fn rows(self, rows: usize, bytes: u64) -> Vec<Row> {
        let ms = |times: Vec<Duration>| median(times).map(|time| time.as_secs_f64() * 1000.0);
        let (ours, served, pandas, plain) = (ms(self.ours), ms(self.served), ms(self.pandas), ms(self.plain));
        let time = |name: &str, ms: Option<f64>| {
            Row::plain(name, ms.map_or("not there".to_owned(), |ms| format!("{ms:.0} ms")))
        };
        let mut lines = vec![
            Row::plain(format!("the table, {rows} rows"), format!("{:.1} MB", bytes as f64 / 1e6)),
            time("gristmill analyze, from nothing", ours),
            time("execute_analysis of a gateway that is up", served),
            time("pandas, from nothing", pandas),
            time("plain Python (csv, statistics), from nothing", plain),
        ];
        if let Some((ours, plain)) = ours.zip(plain) {
            lines.push(Row::plain("plain Python against gristmill analyze", format!("{:.1}x", plain / ours)));
        }
        if let Some((served, pandas)) = served.zip(pandas) {
            lines.push(Row::plain(
                "a gateway that is up, of pandas' time",
                format!("{:.1} %", 100.0 * served / pandas),
            ));
        }
        if let Some((ours, pandas)) = ours.zip(pandas) {
            let share = 100.0 * ours / pandas;
            lines.push(Row::at_most("gristmill analyze, start included", share, 100.0, "% of pandas' time"));
        }
        lines
    }
}

fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// A table that is the same on every machine. Gives its size.
fn write_table(path: &Path, rows: usize) -> anyhow::Result<u64> {
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "id,city,amount,open,day")?;
    let mut state: u64 = 7;
    for id in 0..rows {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let drawn = state >> 33;
        let city = CITIES[(drawn % CITIES.len() as u64) as usize];
        let (whole, cents) = (drawn / 16 % 1_000, drawn / 16_000 % 100);
        let (is_open, day) = (!drawn.is_multiple_of(3), drawn % 28 + 1);
        writeln!(file, "{id},{city},{whole}.{cents:02},{is_open},2026-03-{day:02}")?;
    }
    file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
    Ok(std::fs::metadata(path)?.len())
}

fn limits() -> anyhow::Result<Limits> {
    let mut limits = Limits::of(Level::Production);
    for name in [LimitName::WallTime, LimitName::CpuTime] {
        limits.set(name, TIME_MAX_MS)?;
    }
    Ok(limits)
}

/// A process of ours, from its start to its end.
fn from_nothing(table: &Path) -> anyhow::Result<String> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["analyze", "--json", "--timeout"]).arg(format!("{TIME_MAX_MS}ms")).args(["--steps", STEPS]);
    let text = output_of(command.arg(table))?;
    let told: serde_json::Value = serde_json::from_str(&text)?;
    Ok(told["result"].to_string())
}

/// The same in a gateway whose workers wait.
async fn served(gateway: &Gateway, table: &Path) -> anyhow::Result<(Duration, String)> {
    let began = Instant::now();
    let data = AnalysisData::File(File::open(table)?);
    let input = AnalysisInput { name: "data".to_owned(), format: Some("csv".to_owned()), data };
    let output = gateway.throw_away_file()?;
    let request = AnalysisRequest { request: STEPS.to_owned(), inputs: vec![input], limits: None, output };
    let outcome = gateway.analyze(request).await;
    let mut outcome = outcome.map_err(|failure| anyhow::anyhow!("{}: {}", failure.code, failure.message))?;
    let mut text = String::new();
    outcome.output.rewind()?;
    outcome.output.read_to_string(&mut text)?;
    Ok((began.elapsed(), text))
}

fn in_python(python: &Path, program: &str, table: &Path) -> anyhow::Result<String> {
    output_of(Command::new(python).args(["-c", program]).arg(table))
}

fn can_import(python: &Path, module: &str) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", &format!("import {module}")]).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn output_of(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("can't start {:?}", command.get_program()))?;
    if !output.status.success() {
        bail!("{:?} ended with {}", command.get_program(), output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The time of one way, if it came to the same figures.
fn timed(expected: &Figures, way: impl FnOnce() -> anyhow::Result<String>) -> anyhow::Result<Duration> {
    let began = Instant::now();
    let text = way()?;
    let time = began.elapsed();
    same(expected, &figures(&text)?)?;
    Ok(time)
}

fn figures(text: &str) -> anyhow::Result<Figures> {
    let groups: Vec<Group> = serde_json::from_str(text).context("figures that cannot be read")?;
    Ok(groups
        .into_iter()
        .map(|group| (group.city, (group.amount_count, group.amount_mean, group.amount_max)))
        .collect())
}

fn same(expected: &Figures, found: &Figures) -> anyhow::Result<()> {
    let close = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * a.abs().max(b.abs());
    let is_same = expected.len() == found.len()
        && expected.iter().all(|(city, (count, mean, max))| {
            found.get(city).is_some_and(|of| of.0 == *count && close(of.1, *mean) && close(of.2, *max))
        });
    if !is_same {
        bail!("two ways came to different figures: {expected:?} and {found:?}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_differ_are_not_compared() {
        let text = |mean: f64| {
            json!([{"city": "Oslo", "amount_count": 2, "amount_mean": mean, "amount_max": 3.5}]).to_string()
        };
        let expected = figures(&text(2.25)).unwrap();
        assert!(same(&expected, &figures(&text(2.25 + 1e-12)).unwrap()).is_ok());
        assert!(same(&expected, &figures(&text(2.26)).unwrap()).is_err());
        assert!(same(&expected, &Figures::new()).is_err());
    }
}
