//! `gristmill bench sandbox`: every figure that we claim, measured on this machine in one run, with
//! what it is compared to beside it.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::domain::{Level, LimitName, Limits};
use gristmill_gateway::{
    EngineId, ExecuteRequest, Folders, Gateway, LatestVariables, PoolSettings, Report, Variables,
    WorkerCommand,
};
use gristmill_worker::direct::DirectEngine;

use super::figures::{Bar, Figures, Percentiles};
use super::{machine, workloads};
use crate::arguments::Bench;

/// Children that wait while a forked-ahead worker is measured.
const WAITING: usize = 8;

/// How long the sustained rate is measured.
const SUSTAINED: Duration = Duration::from_secs(4);

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let rounds = arguments.rounds.clamp(20, 100_000);
    let say = |step: &str| eprintln!("measuring {step}");
    let mut figures = Figures::new(machine::describe());

    say("cold python3 -c");
    figures.cold_python = machine::cold_python(rounds.min(40));
    say("a fresh WebAssembly instance in process");
    figures.fresh_instance = Some(fresh_instance(rounds)?);
    say("a worker forked on demand");
    figures.forked_on_demand = Some(one_after_another(0, rounds).await?);
    say("a worker forked ahead");
    figures.forked_ahead = Some(one_after_another(WAITING, rounds).await?);
    say("a call into a kept interpreter, and a fresh one beside it");
    let (kept, beside, kept_mb) = kept_interpreter(rounds).await?;
    (figures.kept, figures.kept_ratio, figures.kept_mb) =
        (Some(kept), Some(beside.p50_us / kept.p50_us), kept_mb);
    say("executions per second on all cores");
    figures.per_second = Some(sustained().await?);
    say("tool calls");
    figures.tool_call_us = Some(tool_calls().await?);
    figures.gather_ms = Some(gather().await?);
    say("memory of waiting workers");
    figures.private_kb = waiting_memory().await?;
    say("computing against python3");
    figures.workloads = workloads().await?;

    let bars = Bar::all(&figures);
    match arguments.json {
        true => println!("{}", serde_json::to_string_pretty(&figures.json(&bars))?),
        false => figures.print(&bars),
    }
    Ok(ExitCode::SUCCESS)
}

fn fresh_instance(rounds: usize) -> anyhow::Result<Percentiles> {
    let cache = Folders::from_environment()?.cache.join("engines");
    let engine = DirectEngine::load(EngineId::Python, &cache).map_err(|error| anyhow!(error))?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        let started = Instant::now();
        engine.run_fresh("1 + 1").map_err(|error| anyhow!(error))?;
        times.push(started.elapsed());
    }
    Ok(Percentiles::of(times))
}

async fn gateway(waiting: usize) -> anyhow::Result<Gateway> {
    let gateway = gateway_of(EngineId::Python, waiting).await?;
    gateway.ready().await.map_err(|reason| anyhow!(reason))?;
    Ok(gateway)
}

/// A gateway where so many workers of one language wait, or come up.
pub async fn gateway_of(engine: EngineId, waiting: usize) -> anyhow::Result<Gateway> {
    let folders = Folders::from_environment()?;
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 120_000)?;
    limits.set(LimitName::CpuTime, 120_000)?;
    limits.set(LimitName::ToolCalls, 100_000)?;
    let tools = Arc::new(ExampleTools::new(&folders.cache)?);
    let pool = PoolSettings { waiting, ..PoolSettings::default() };
    let gateway = Gateway::builder(WorkerCommand::this_executable()?)
        .limits(limits)
        .tools(tools)
        .pool(pool)
        .warm_engines([engine])
        .build()
        .await?;
    Ok(gateway)
}

/// One request at a time, each when the pool has settled: what a caller waits for.
async fn one_after_another(waiting: usize, rounds: usize) -> anyhow::Result<Percentiles> {
    let gateway = gateway(waiting).await?;
    let mut times = Vec::new();
    for _ in 0..rounds {
        times.push(settled_execution(&gateway, waiting, ExecuteRequest::python("1 + 1")).await?.0);
    }
    gateway.shutdown().await;
    Ok(Percentiles::of(times))
}

/// How long a program that gives 2 takes when the pool has settled, and its report.
pub async fn settled_execution(
    gateway: &Gateway,
    waiting: usize,
    request: ExecuteRequest,
) -> anyhow::Result<(Duration, Report)> {
    settle(gateway, waiting).await;
    let started = Instant::now();
    let report = gateway.execute(request).finish().await;
    let took = started.elapsed();
    if report.result != Some(serde_json::json!(2)) {
        bail!("1 + 1 gave {:?} ({:?})", report.result, report.error);
    }
    Ok((took, report))
}

/// Programs of one session that keep their variables, and by turns programs in fresh workers; and the
/// memory of the kept interpreter, in MB.
async fn kept_interpreter(rounds: usize) -> anyhow::Result<(Percentiles, Percentiles, Option<f64>)> {
    let gateway = gateway(WAITING).await?;
    let variables = Variables::Keep { session: "bench".to_owned(), latest: LatestVariables::Here };
    let keep = |code: &str| ExecuteRequest { variables: variables.clone(), ..ExecuteRequest::python(code) };
    let begun = gateway.execute(keep("n = 1")).finish().await;
    if !begun.success {
        bail!("n = 1 failed: {:?}", begun.error);
    }
    let (mut kept, mut fresh) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        for (request, times) in [(keep("n + 1"), &mut kept), (ExecuteRequest::python("1 + 1"), &mut fresh)] {
            times.push(settled_execution(&gateway, WAITING, request).await?.0);
        }
    }
    let memory = gateway.kept_interpreters().resident_bytes.map(|bytes| bytes as f64 / (1024.0 * 1024.0));
    gateway.shutdown().await;
    Ok((Percentiles::of(kept), Percentiles::of(fresh), memory))
}

/// Waits until all children wait and have warmed up.
pub async fn settle(gateway: &Gateway, waiting: usize) {
    settle_engine(gateway, EngineId::Python, waiting).await;
}

/// The same for the children of one engine.
pub async fn settle_engine(gateway: &Gateway, engine: EngineId, waiting: usize) {
    for _ in 0..1000 {
        if gateway.pool_of(engine).waiting() >= waiting {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(8)).await;
}

/// As many as go through, from several callers at once.
async fn sustained() -> anyhow::Result<f64> {
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    let gateway = gateway(cores * 4).await?;
    settle(&gateway, cores * 4).await;
    let started = Instant::now();
    let callers: Vec<_> = (0..cores * 3)
        .map(|_| {
            let gateway = gateway.clone();
            tokio::spawn(async move {
                let mut count = 0u64;
                while started.elapsed() < SUSTAINED {
                    let report = gateway.execute(ExecuteRequest::python("1 + 1")).finish().await;
                    if !report.success {
                        return Err(anyhow!("{:?}", report.error));
                    }
                    count += 1;
                }
                Ok(count)
            })
        })
        .collect();
    let mut count = 0;
    for caller in callers {
        count += caller.await??;
    }
    let per_second = count as f64 / started.elapsed().as_secs_f64();
    gateway.shutdown().await;
    Ok(per_second)
}

/// Microseconds of single calls, one after another, as the program itself sees them.
async fn tool_calls() -> anyhow::Result<Percentiles> {
    const PROGRAM: &str = "
import time
clock = time.perf_counter
times = []
for i in range(3000):
    start = clock()
    await callMCPTool('echo', {'value': i})
    times.append(clock() - start)
result = [round(t * 1e9) for t in times[200:]]
";
    let gateway = gateway(2).await?;
    let report = gateway.execute(ExecuteRequest::python(PROGRAM)).finish().await;
    gateway.shutdown().await;
    let times: Vec<u64> =
        serde_json::from_value(report.result.ok_or_else(|| anyhow!("{:?}", report.error))?)?;
    Ok(Percentiles::of(times.into_iter().map(Duration::from_nanos).collect()))
}

/// Ten tools of 100 ms together.
async fn gather() -> anyhow::Result<f64> {
    const PROGRAM: &str = "
import time
start = time.perf_counter()
await asyncio.gather(*(callMCPTool('sleep', {'ms': 100}) for _ in range(10)))
result = (time.perf_counter() - start) * 1000
";
    let gateway = gateway(2).await?;
    let report = gateway.execute(ExecuteRequest::python(PROGRAM)).finish().await;
    gateway.shutdown().await;
    report.result.and_then(|result| result.as_f64()).ok_or_else(|| anyhow!("{:?}", report.error))
}

/// Private memory of each waiting child, where the system lets us look.
async fn waiting_memory() -> anyhow::Result<Option<u64>> {
    let gateway = gateway(WAITING).await?;
    settle(&gateway, WAITING).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let memory = gateway.pool().supervisor_pid().and_then(machine::private_kb_of_grandchildren);
    gateway.shutdown().await;
    Ok(memory)
}

async fn workloads() -> anyhow::Result<Vec<workloads::Compared>> {
    let gateway = gateway(1).await?;
    let mut compared = Vec::new();
    for (name, code) in workloads::ALL {
        let mut best = None::<f64>;
        for _ in 0..3 {
            let report = gateway.execute(ExecuteRequest::python(code)).finish().await;
            let ms = report
                .result
                .and_then(|result| result.as_f64())
                .ok_or_else(|| anyhow!("{name}: {:?}", report.error))?;
            best = Some(best.map_or(ms, |best| best.min(ms)));
        }
        let native = (0..3).filter_map(|_| machine::native_result(code)).reduce(f64::min);
        compared.push(workloads::Compared { name, ours_ms: best.unwrap_or_default(), native_ms: native });
    }
    gateway.shutdown().await;
    Ok(compared)
}
