//! `gristmill bench sandbox --engine native`: the machine's own Python in the jail, with what it has preloaded, beside
//! a cold start that imports the same.

use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::domain::{Level, LimitName, Limits};
use gristmill_gateway::{
    EngineId, ExecuteRequest, Folders, Gateway, NativeEngine, PoolSettings, WorkerCommand,
};
use serde_json::{Value, json};

use super::figures::Percentiles;
use super::row::Row;
use super::sandbox::settle_engine;
use super::{machine, row};
use crate::arguments::Bench;

/// Children that wait while a forked-ahead worker is measured.
const WAITING: usize = 8;

/// Cold starts, which take their time.
const COLD_ROUNDS: usize = 15;

pub async fn measure(arguments: Bench, native: NativeEngine) -> anyhow::Result<ExitCode> {
    let rounds = arguments.rounds.clamp(20, 100_000);
    let say = |step: &str| eprintln!("measuring {step}");
    let imports = match native.start.preload.as_slice() {
        [] => "pass".to_owned(),
        preload => format!("import {}", preload.join(", ")),
    };
    say("cold starts with the same imports");
    let cold = cold(&native, &imports)?;
    say("a worker forked on demand, and one forked ahead");
    let on_demand = one_after_another(&native, 0, rounds, &imports).await?;
    let ahead = one_after_another(&native, WAITING, rounds, &imports).await?;
    say("memory of waiting workers");
    let private_kb = waiting_memory(&native).await?;
    let ms = |times: Percentiles| format!("{:.2} ms", times.p50_us / 1000.0);
    let rows = [
        Row::plain(format!("cold python3 -c '{imports}', p50"), ms(cold)),
        Row::plain("a worker forked on demand, p50", ms(on_demand)),
        Row::at_most_exactly("a worker forked ahead, p50", ahead.p50_us / 1000.0, 1.5, "ms"),
        Row::plain("a worker forked ahead, p99", format!("{:.2} ms", ahead.p99_us / 1000.0)),
        match native.start.preload.iter().any(|name| name == "pandas") {
            true => {
                Row::at_least("against the cold start", cold.p50_us / ahead.p50_us, 300.0, "times faster")
            }
            false => Row::plain(
                "against the cold start",
                format!("{:.0} times faster", cold.p50_us / ahead.p50_us),
            ),
        },
        Row::plain(
            "private memory of a waiting worker",
            private_kb.map_or(row::ONLY_ROOT.to_owned(), |kb| format!("{:.2} MB", kb as f64 / 1024.0)),
        ),
    ];
    if arguments.json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        let all = json!({ "machine": machine::describe(), "engine": "native", "figures": rows });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(ExitCode::SUCCESS);
    }
    println!("{}\n", machine::describe());
    rows.iter().for_each(|row| println!("{}", row.line()));
    Ok(ExitCode::SUCCESS)
}

/// The same interpreter from nothing, with the same packages.
fn cold(native: &NativeEngine, imports: &str) -> anyhow::Result<Percentiles> {
    let mut times = Vec::new();
    for _ in 0..COLD_ROUNDS {
        let mut command = Command::new(&native.start.python);
        command.args(["-c", imports]).stdin(Stdio::null()).stdout(Stdio::null());
        let folders = native.start.packages.iter().chain(&native.start.path);
        command.env("PYTHONPATH", std::env::join_paths(folders)?);
        let started = Instant::now();
        let status = command.status()?;
        times.push(started.elapsed());
        if !status.success() {
            bail!("{} -c '{imports}' failed", native.start.python);
        }
    }
    Ok(Percentiles::of(times))
}

async fn gateway(native: &NativeEngine, waiting: usize) -> anyhow::Result<Gateway> {
    let folders = Folders::from_environment()?;
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 120_000)?;
    limits.set(LimitName::CpuTime, 120_000)?;
    let gateway = Gateway::builder(WorkerCommand::this_executable()?)
        .limits(limits)
        .tools(Arc::new(ExampleTools::new(&folders.cache)?))
        .pool(PoolSettings { waiting, ..PoolSettings::default() })
        .native(native.clone())
        .warm_engines([EngineId::Native])
        .build()
        .await?;
    let first = gateway.execute(ExecuteRequest::of(EngineId::Native, "1 + 1")).finish().await;
    match first.error {
        None => Ok(gateway),
        Some(error) => Err(anyhow!("1 + 1 failed: {}", error.message)),
    }
}

/// One request at a time, each when the pool has settled: what a caller waits for.
async fn one_after_another(
    native: &NativeEngine,
    waiting: usize,
    rounds: usize,
    imports: &str,
) -> anyhow::Result<Percentiles> {
    let gateway = gateway(native, waiting).await?;
    let code = format!("{imports}\n1 + 1");
    let mut times = Vec::new();
    for _ in 0..rounds {
        settle_engine(&gateway, EngineId::Native, waiting).await;
        let started = Instant::now();
        let report = gateway.execute(ExecuteRequest::of(EngineId::Native, code.clone())).finish().await;
        times.push(started.elapsed());
        if report.result != Some(json!(2)) {
            bail!("1 + 1 gave {:?} ({:?})", report.result, report.error);
        }
    }
    gateway.shutdown().await;
    Ok(Percentiles::of(times))
}

async fn waiting_memory(native: &NativeEngine) -> anyhow::Result<Option<u64>> {
    let gateway = gateway(native, WAITING).await?;
    settle_engine(&gateway, EngineId::Native, WAITING).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let supervisor = gateway.pool_of(EngineId::Native).supervisor_pid();
    let memory = supervisor.and_then(machine::private_kb_of_grandchildren);
    gateway.shutdown().await;
    Ok(memory)
}
