//! `gristmill bench ratios`: each of our figures as a share of what it is held against. Everything is measured by
//! turns, so that whatever else the machine does meets all, and of all times the fastest tenth counts. What
//! `ci/bench_guard.py` compares with the ratios that are committed.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use gristmill_gateway::upstream::Refresh;
use gristmill_gateway::{EngineId, ExecuteRequest, Gateway, PoolSettings, WorkerCommand};
use gristmill_mcp::direct::DirectClient;
use serde_json::{Map, Value, json};

use super::calculator::{SERVER, TOOL, calculator};
use super::machine;
use super::place::Place;
use super::sandbox::{gateway_of, settled_execution};
use super::serve::Listening;
use super::serve_client::{Call, Client};
use super::serve_profile::{PAUSE, WAITING};
use super::temporary::Temporary;
use crate::arguments::Bench;

/// Of each turn: cold starts, executions of each way, and calls.
const COLD: usize = 3;
const EXECUTIONS: usize = 10;
const CALLS: usize = 100;

/// Turns at most; `--rounds` asks for fewer.
const TURNS_MAX: usize = 10;

/// The share of times that counts: the slow ones tell of the machine.
const FASTEST: f64 = 0.1;

/// Times of one kind, from all turns.
#[derive(Default)]
struct Times(Vec<Duration>);

impl Times {
    fn us(&self) -> anyhow::Result<f64> {
        let mut times = self.0.clone();
        times.sort_unstable();
        let index = ((times.len() as f64 - 1.0) * FASTEST).round() as usize;
        times.get(index).map(|time| time.as_secs_f64() * 1e6).context("nothing was measured")
    }
}

/// Whoever is measured, all of them up from the first turn to the last.
struct Everyone {
    library: Gateway,
    pipes: Client,
    listening: Listening,
    http: Client,
    direct: DirectClient,
    callers: Gateway,
    _folder: Temporary,
    _place: Place,
}

#[derive(Default)]
struct Figures {
    cold: Times,
    library: Times,
    pipes: Times,
    http: Times,
    direct_call: Times,
    program_call: Times,
}

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let turns = arguments.rounds.clamp(1, TURNS_MAX);
    let mut everyone = Everyone::start().await?;
    // What is done once is done before.
    everyone.turn(&mut Figures::default()).await?;
    let mut figures = Figures::default();
    for turn in 1..=turns {
        eprintln!("measuring turn {turn} of {turns}");
        everyone.turn(&mut figures).await?;
    }
    everyone.end().await?;
    figures.print(arguments.json)?;
    Ok(ExitCode::SUCCESS)
}

impl Everyone {
    async fn start() -> anyhow::Result<Self> {
        let library = gateway_of(EngineId::Python, WAITING).await?;
        library.ready().await.map_err(|reason| anyhow!(reason))?;
        let place = Place::new(&json!({}))?;
        let pipes = Client::over_pipes(place.command(&[])?)?;
        let listening = Listening::start(&place).await?;
        let http = Client::over_http(&listening.address, &listening.token).await?;
        let direct = DirectClient::start(&std::env::current_exe()?, &["example-server", SERVER]).await;
        let folder = Temporary::new()?;
        let callers = Gateway::builder(WorkerCommand::this_executable()?)
            .tool_source(Arc::new(calculator(&folder, Refresh::InBackground)?))
            .pool(PoolSettings { waiting: 1, ..PoolSettings::default() })
            .build()
            .await?;
        Ok(Self {
            library,
            pipes,
            listening,
            http,
            direct: direct.map_err(|error| anyhow!(error))?,
            callers,
            _folder: folder,
            _place: place,
        })
    }

    async fn turn(&mut self, figures: &mut Figures) -> anyhow::Result<()> {
        let cold = machine::cold_times(COLD).context("there is no python3 to compare with")?;
        figures.cold.0.extend(cold);
        let call = Call::new("execute_code", &json!({"code": "1 + 1"}));
        for _ in 0..EXECUTIONS {
            let request = ExecuteRequest::python("1 + 1");
            figures.library.0.push(settled_execution(&self.library, WAITING, request).await?.0);
            tokio::time::sleep(PAUSE).await;
            figures.pipes.0.push(self.pipes.call(&call).await?);
            tokio::time::sleep(PAUSE).await;
            figures.http.0.push(self.http.call(&call).await?);
        }
        for _ in 0..CALLS {
            figures.direct_call.0.push(self.direct_call().await?);
        }
        figures.program_call.0.extend(self.program_calls().await?);
        Ok(())
    }

    async fn direct_call(&self) -> anyhow::Result<Duration> {
        let arguments = Map::from_iter([("expression".to_owned(), Value::from("1+1"))]);
        let began = Instant::now();
        self.direct.call(TOOL, arguments).await.map_err(|error| anyhow!(error))?;
        Ok(began.elapsed())
    }

    /// Timed inside of the program, without its first call.
    async fn program_calls(&self) -> anyhow::Result<Vec<Duration>> {
        let program = format!(
            "
import time
from servers.{SERVER} import {TOOL}
clock = time.perf_counter
await {TOOL}(expression='1+1')
times = []
for i in range({CALLS}):
    start = clock()
    await {TOOL}(expression='1+1')
    times.append(clock() - start)
result = [round(t * 1e9) for t in times]
"
        );
        let report = self.callers.execute(ExecuteRequest::python(program)).finish().await;
        let times: Vec<u64> =
            serde_json::from_value(report.result.ok_or_else(|| anyhow!("{:?}", report.error))?)?;
        Ok(times.into_iter().map(Duration::from_nanos).collect())
    }

    async fn end(self) -> anyhow::Result<()> {
        self.library.shutdown().await;
        self.callers.shutdown().await;
        self.pipes.close().await?;
        self.http.close().await?;
        self.listening.stop().await
    }
}

impl Figures {
    fn print(&self, as_json: bool) -> anyhow::Result<()> {
        let (cold, library) = (self.cold.us()?, self.library.us()?);
        let (pipes, http) = (self.pipes.us()?, self.http.us()?);
        let (direct, program) = (self.direct_call.us()?, self.program_call.us()?);
        let ratios = [
            ("library / cold python3", library / cold),
            ("stdio / library", pipes / library),
            ("http / library", http / library),
            ("call from a program / direct call", program / direct),
        ];
        let figures = [
            ("cold `python3 -c`, no sandbox", cold),
            ("library, worker forked ahead", library),
            ("`serve` over stdio", pipes),
            ("`serve` over HTTP", http),
            ("a call made directly, plain rmcp client", direct),
            ("the same call from a program", program),
        ];
        let build = if cfg!(debug_assertions) { "debug" } else { "release" };
        if as_json {
            let us: Map<String, Value> =
                figures.into_iter().map(|(name, us)| (name.to_owned(), json!(us))).collect();
            let ratios: Map<String, Value> =
                ratios.into_iter().map(|(name, ratio)| (name.to_owned(), json!(ratio))).collect();
            let all =
                json!({ "machine": machine::describe(), "build": build, "figures_us": us, "ratios": ratios });
            println!("{all:#}");
            return Ok(());
        }
        println!("{}, {build} build\n", machine::describe());
        println!("| the fastest tenth of times | us |\n|---|---|");
        figures.iter().for_each(|(name, us)| println!("| {name} | {us:.0} |"));
        println!("\n| ratio | |\n|---|---|");
        ratios.iter().for_each(|(name, ratio)| println!("| {name} | {ratio:.3} |"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_times_do_not_count() {
        let mut times = Times((1..=20).map(Duration::from_micros).collect());
        let quiet = times.us().unwrap();
        times.0.iter_mut().skip(10).for_each(|time| *time *= 100);
        assert_eq!((quiet, times.us().unwrap()), (3.0, 3.0));
        assert!(Times::default().us().is_err());
    }
}
