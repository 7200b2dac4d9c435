//! `gristmill bench sandbox --language typescript`: the same promises for the other engine, beside cold `node -e`;
//! and what comes before a run: types out, checks.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use gristmill_gateway::checks::typescript::{TopLevel, prepare};
use gristmill_gateway::{EngineId, ExecuteRequest, Gateway};
use serde_json::{Value, json};

use super::beside_javascript::{DENO, NODE};
use super::figures::Percentiles;
use super::row::Row;
use super::sandbox::{gateway_of, settle_engine};
use super::workloads::{self, TYPESCRIPT};
use super::{machine, row};
use crate::arguments::Bench;

/// Children that wait while a forked-ahead worker is measured.
const WAITING: usize = 8;

/// Starts of `node`, which takes its time.
const COLD_ROUNDS: usize = 40;

/// A program as agents write them, with types.
const PROGRAM: &str = r#"
import { echo } from "./servers/test";

interface Order { id: number; status: "open" | "paid"; total: number }
enum Size { Small = 10, Large = 100 }

const orders: Order[] = Array.from({ length: 40 }, (_, id) => ({ id, status: id % 3 ? "open" : "paid", total: id * 1.5 }));

function byStatus<T extends Order>(rows: readonly T[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) counts[row.status] = (counts[row.status] ?? 0) + 1;
  return counts;
}

const largest = [...orders].sort((one, other) => other.total - one.total).slice(0, 3) as Order[];
const answered = await Promise.all(largest.map((order) => echo({ value: order.total })));
export default { byStatus: byStatus(orders), large: orders.filter((order) => order.total > Size.Small).length, answered };
"#;

/// Of a program that is as long as they get.
const FUNCTION: &str = r"
async function total_NUMBER<T extends Order>(rows: readonly T[], least: number = 10): Promise<Record<string, number>> {
  const sums: Record<string, number> = {};
  for (const row of rows as readonly Order[]) {
    if (row.total < least) continue;
    sums[row.status] = (sums[row.status] ?? 0) + (row.total as number);
  }
  return sums satisfies Record<string, number>;
}
";

const CALLS: &str = r#"
const times: number[] = [];
for (let i = 0; i < 3000; i++) {
  const start = performance.now();
  await callMCPTool("echo", { value: i });
  times.push(Math.round((performance.now() - start) * 1e6));
}
export default times.slice(200);
"#;

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let rounds = arguments.rounds.clamp(20, 100_000);
    let say = |step: &str| eprintln!("measuring {step}");
    say("cold starts of node and deno");
    let cold = NODE.cold(rounds.min(COLD_ROUNDS));
    let deno = DENO.cold(rounds.min(COLD_ROUNDS));
    say("a worker forked on demand, and one forked ahead");
    let on_demand = one_after_another(0, rounds).await?;
    let ahead = one_after_another(WAITING, rounds).await?;
    let mut rows = start_rows(cold, deno, on_demand, ahead);
    say("tool calls");
    rows.extend(call_rows(tool_calls().await?));
    say("memory of waiting workers, and of both languages together");
    rows.push(memory_row(waiting_memory().await?));
    rows.extend(memory_of_languages().await?);
    say("stripping and checking");
    rows.extend(reading_rows(rounds).await?);
    say("computing against node, deno and Python here");
    rows.extend(workload_rows().await?);
    print(&rows, arguments.json)?;
    Ok(ExitCode::SUCCESS)
}

fn print(rows: &[Row], json: bool) -> anyhow::Result<()> {
    if json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        let all = json!({ "machine": machine::describe(), "language": "typescript", "figures": rows });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{}\n", machine::describe());
    rows.iter().for_each(|row| println!("{}", row.line()));
    Ok(())
}

fn start_rows(
    cold: Option<Percentiles>,
    deno: Option<Percentiles>,
    on_demand: Percentiles,
    ahead: Percentiles,
) -> Vec<Row> {
    let ms = |times: Percentiles| format!("{:.2} ms", times.p50_us / 1000.0);
    let mut rows = vec![
        Row::plain("cold node -e '1 + 1', p50", cold.map_or("no node here".to_owned(), ms)),
        Row::plain("cold deno eval '1 + 1', p50", deno.map_or("no deno here".to_owned(), ms)),
        Row::plain("a worker forked on demand, p50", ms(on_demand)),
        Row::at_most_exactly("a worker forked ahead, p50", ahead.p50_us / 1000.0, 1.0, "ms"),
        Row::plain("a worker forked ahead, p99", format!("{:.2} ms", ahead.p99_us / 1000.0)),
    ];
    if let Some(cold) = cold {
        rows.push(Row::at_least("against cold node -e", cold.p50_us / ahead.p50_us, 20.0, "times faster"));
    }
    rows
}

fn call_rows(calls: Percentiles) -> [Row; 2] {
    [
        Row::at_most("tool-call round trip, p50", calls.p50_us, 80.0, "us"),
        Row::plain("tool-call round trip, p99", format!("{:.1} us", calls.p99_us)),
    ]
}

fn memory_row(private_kb: Option<u64>) -> Row {
    const NAME: &str = "private memory of a waiting worker";
    match private_kb {
        Some(kb) => Row::at_most_exactly(NAME, kb as f64 / 1024.0, 2.0, "MB"),
        None => Row::plain(NAME, row::ONLY_ROOT.to_owned()),
    }
}

/// A gateway that has run its first TypeScript program.
async fn gateway(waiting: usize) -> anyhow::Result<Gateway> {
    let gateway = gateway_of(EngineId::TypeScript, waiting).await?;
    first_program(&gateway, EngineId::TypeScript).await?;
    Ok(gateway)
}

async fn first_program(gateway: &Gateway, engine: EngineId) -> anyhow::Result<()> {
    let first = gateway.execute(ExecuteRequest::of(engine, "1 + 1")).finish().await;
    match first.error {
        None => Ok(()),
        Some(error) => Err(anyhow!("1 + 1 failed: {}", error.message)),
    }
}

async fn one_after_another(waiting: usize, rounds: usize) -> anyhow::Result<Percentiles> {
    let gateway = gateway(waiting).await?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        settle_engine(&gateway, EngineId::TypeScript, waiting).await;
        let started = Instant::now();
        let report = gateway.execute(ExecuteRequest::typescript("1 + 1")).finish().await;
        times.push(started.elapsed());
        if report.result != Some(json!(2)) {
            bail!("1 + 1 gave {:?} ({:?})", report.result, report.error);
        }
    }
    gateway.shutdown().await;
    Ok(Percentiles::of(times))
}

async fn tool_calls() -> anyhow::Result<Percentiles> {
    let gateway = gateway(2).await?;
    let report = gateway.execute(ExecuteRequest::typescript(CALLS)).finish().await;
    gateway.shutdown().await;
    let times: Vec<u64> =
        serde_json::from_value(report.result.ok_or_else(|| anyhow!("{:?}", report.error))?)?;
    Ok(Percentiles::of(times.into_iter().map(Duration::from_nanos).collect()))
}

async fn waiting_memory() -> anyhow::Result<Option<u64>> {
    let gateway = gateway(WAITING).await?;
    settle_engine(&gateway, EngineId::TypeScript, WAITING).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let supervisor = gateway.pool_of(EngineId::TypeScript).supervisor_pid();
    let memory = supervisor.and_then(machine::private_kb_of_grandchildren);
    gateway.shutdown().await;
    Ok(memory)
}

/// What the processes of each language take, with as many workers waiting as by default.
async fn memory_of_languages() -> anyhow::Result<Vec<Row>> {
    let python = workers_mb(&[EngineId::Python]).await?;
    let typescript = workers_mb(&[EngineId::TypeScript]).await?;
    let both = workers_mb(&[EngineId::Python, EngineId::TypeScript]).await?;
    let row = |name: &str, mb: Option<f64>| {
        Row::plain(name, mb.map_or(row::ONLY_ROOT.to_owned(), |mb| format!("{mb:.1} MB")))
    };
    Ok(vec![
        row("all processes of Python alone", python),
        row("all processes of TypeScript alone", typescript),
        row("all processes of both", both),
    ])
}

async fn workers_mb(engines: &[EngineId]) -> anyhow::Result<Option<f64>> {
    let waiting = gristmill_gateway::PoolSettings::default().waiting;
    let first = engines.first().copied().unwrap_or(EngineId::Python);
    let gateway = gateway_of(first, waiting).await?;
    for engine in engines {
        first_program(&gateway, *engine).await?;
        settle_engine(&gateway, *engine, waiting).await;
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let each = engines.iter().map(|engine| gateway.pool_of(*engine).supervisor_pid());
    let all: Option<Vec<f64>> = each.map(|pid| pid.and_then(machine::proportional_mb)).collect();
    gateway.shutdown().await;
    Ok(all.map(|all| all.into_iter().sum()))
}

/// What is done with a program before it runs.
async fn reading_rows(rounds: usize) -> anyhow::Result<Vec<Row>> {
    let functions = (0..30).map(|number| FUNCTION.replace("NUMBER", &number.to_string()));
    let long: String = std::iter::once(PROGRAM.to_owned()).chain(functions).collect();
    let gateway = gateway_of(EngineId::TypeScript, 1).await?;
    let mut rows = Vec::new();
    for code in [PROGRAM, &long] {
        let (mut stripped, mut checked) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let started = Instant::now();
            prepare(code, TopLevel::Forget).map_err(|finding| anyhow!("{finding:?}"))?;
            stripped.push(started.elapsed());
            let started = Instant::now();
            gateway.check(None, EngineId::TypeScript, code).await;
            checked.push(started.elapsed());
        }
        let lines = code.lines().count();
        let row = |what: &str, times| {
            Row::plain(
                format!("{lines} lines {what}, p50"),
                format!("{:.0} us", Percentiles::of(times).p50_us),
            )
        };
        rows.extend([row("stripped of types", stripped), row("checked against the tools", checked)]);
    }
    gateway.shutdown().await;
    Ok(rows)
}

/// CPU milliseconds, best of three: here, in node and deno, and the same work in Python here.
async fn workload_rows() -> anyhow::Result<Vec<Row>> {
    let gateway = gateway(1).await?;
    let mut rows = Vec::new();
    for ((name, code), (_, python)) in TYPESCRIPT.into_iter().zip(workloads::ALL) {
        let ours = best_of_three(&gateway, || ExecuteRequest::typescript(code)).await?;
        let beside = best_of_three(&gateway, || ExecuteRequest::python(python)).await?;
        let others = [NODE, DENO]
            .map(|runtime| runtime.best_of_three(code).map_or("-".to_owned(), |ms| format!("{ms:.0}")));
        let [node, deno] = others;
        let measured = format!("{ours:.0} / {node} / {deno} / {beside:.0} ms");
        rows.push(Row::plain(format!("{name}: here / node / deno / Python here"), measured));
    }
    gateway.shutdown().await;
    Ok(rows)
}

async fn best_of_three(gateway: &Gateway, request: impl Fn() -> ExecuteRequest) -> anyhow::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let report = gateway.execute(request()).finish().await;
        let ms = report.result.and_then(|result| result.as_f64());
        best = best.min(ms.ok_or_else(|| anyhow!("{:?}", report.error))?);
    }
    Ok(best)
}
