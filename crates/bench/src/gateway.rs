//! `gristmill bench gateway`: what lies between a program and its servers, and what it costs.

use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use gristmill_gateway::domain::catalogue::ServerOffer;
use gristmill_gateway::domain::search::recall::Queries;
use gristmill_gateway::domain::{Level, LimitName, Limits, ServerSettings};
use gristmill_gateway::ids::TraceContext;
use gristmill_gateway::ports::{Asker, BoxFuture, Needed, ToolSource};
use gristmill_gateway::upstream::{
    ConnectRequest, Connection, Connector, Refresh, ServerFacts, Upstream, UpstreamCall, UpstreamFailure,
    UpstreamFolders, Upstreams,
};
use gristmill_gateway::{ExecuteRequest, Gateway, PoolSettings, WorkerCommand};
use gristmill_mcp::direct::DirectClient;
use serde_json::{Map, Value, json};

use super::calculator::{SERVER, TOOL, calculator};
use super::figures::Percentiles;
use super::row::Row;
use super::temporary::Temporary;
use super::{catalogues, guards, machine, search};
use crate::arguments::Bench;

/// Calls before anything is measured.
const WARM_UP: usize = 200;

const STARTS: usize = 15;

/// Programs that import a tool.
const IMPORTS: usize = 40;

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let rounds = arguments.rounds.clamp(100, 100_000) * 10;
    let mut rows: Vec<Row> = Vec::new();

    say("a call made directly by a plain rmcp client");
    let before = direct_calls(rounds / 2).await?;
    say("the same call from a program");
    let ours = calls_from_code(rounds).await?;
    say("the direct call again");
    let after = direct_calls(rounds / 2).await?;
    let direct = (before.p50_us + after.p50_us) / 2.0;
    rows.push(Row::plain(
        "a call over stdio, plain rmcp client, p50 (before, after)",
        format!("{:.0}, {:.0} us", before.p50_us, after.p50_us),
    ));
    rows.push(Row::plain(
        "the same call from a program, p50 (p95)",
        format!("{:.0} ({:.0}) us", ours.p50_us, ours.p95_us),
    ));
    rows.push(Row::at_most("added by gristmill, p50", ours.p50_us - direct, 120.0, "us"));

    say("policy, audit and checks on against off");
    rows.extend(guards::rows(arguments.rounds.clamp(100, 1_000)).await?);

    match &arguments.catalogues {
        Some(folder) => rows.extend(of_catalogues(folder, arguments.queries.as_deref()).await?),
        None => eprintln!("hint: add --catalogues DIR to measure trees, start-up and search too"),
    }
    match arguments.json {
        true => println!(
            "{:#}",
            json!({ "machine": machine::describe(), "figures": rows.iter().map(Row::json).collect::<Vec<_>>() })
        ),
        false => {
            println!("{}\n", machine::describe());
            for row in &rows {
                println!("{}", row.line());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn say(step: &str) {
    eprintln!("measuring {step}");
}

/// What the size of a catalogue matters for.
async fn of_catalogues(folder: &Path, queries_file: Option<&Path>) -> anyhow::Result<Vec<Row>> {
    let offers = catalogues::load(folder)?;
    say("trees of the catalogues");
    let temporary = Temporary::new()?;
    let (files, tree_ms) = tree(&offers, &temporary.0).await?;
    say("imports of a tool");
    let imports = imports(&offers, &temporary.0).await?;
    say("start to first search");
    let started = start_to_search(&offers, &temporary.0)?;
    let mut rows = vec![
        Row::at_most("trees written for all catalogues, from nothing", tree_ms, 1000.0, "ms"),
        Row::plain("files in the tree", files.to_string()),
        Row::at_most("a program's first import of a tool, p50", imports.p50_us / 1000.0, 2.0, "ms"),
        Row::at_most(
            "process start to first search answer, kept catalogues, p50",
            started.p50_us / 1000.0,
            150.0,
            "ms",
        ),
    ];
    if let Some(queries) = queries(queries_file) {
        say("search over 10,000 tools");
        let took_ms = search::many_tools(&offers, &queries).time(0.5).as_secs_f64() * 1000.0;
        rows.push(Row::at_most("search over 10,000 tools, p50", took_ms, 2.0, "ms"));
    }
    Ok(rows)
}

fn arguments_of_a_call() -> Map<String, Value> {
    Map::from_iter([("expression".to_owned(), Value::from("1+1"))])
}

async fn direct_calls(rounds: usize) -> anyhow::Result<Percentiles> {
    let binary = std::env::current_exe()?;
    let client =
        DirectClient::start(&binary, &["example-server", SERVER]).await.map_err(|error| anyhow!(error))?;
    let mut times = Vec::with_capacity(rounds);
    for round in 0..WARM_UP + rounds {
        let started = Instant::now();
        client.call(TOOL, arguments_of_a_call()).await.map_err(|error| anyhow!(error))?;
        if round >= WARM_UP {
            times.push(started.elapsed());
        }
    }
    Ok(Percentiles::of(times))
}

async fn calls_from_code(rounds: usize) -> anyhow::Result<Percentiles> {
    let temporary = Temporary::new()?;
    let upstreams = calculator(&temporary, Refresh::InBackground)?;
    let mut limits = Limits::of(Level::Development);
    limits.set(LimitName::WallTime, 300_000)?;
    limits.set(LimitName::CpuTime, 300_000)?;
    limits.set(LimitName::ToolCalls, 100_000)?;
    let gateway = Gateway::builder(WorkerCommand::this_executable()?)
        .limits(limits)
        .tool_source(Arc::new(upstreams))
        .pool(PoolSettings { waiting: 1, ..PoolSettings::default() })
        .build()
        .await?;
    let program = format!(
        "
import time
from servers.{SERVER} import {TOOL}
clock = time.perf_counter
times = []
for i in range({total}):
    start = clock()
    await {TOOL}(expression='1+1')
    times.append(clock() - start)
result = [round(t * 1e9) for t in times[{WARM_UP}:]]
",
        total = rounds + WARM_UP
    );
    let report = gateway.execute(ExecuteRequest::python(program)).finish().await;
    gateway.shutdown().await;
    let times: Vec<u64> =
        serde_json::from_value(report.result.ok_or_else(|| anyhow!("{:?}", report.error))?)?;
    Ok(Percentiles::of(times.into_iter().map(Duration::from_nanos).collect()))
}

/// Hears the catalogues once, which keeps them on disk, and writes the tree.
async fn tree(offers: &[ServerOffer], folder: &Path) -> anyhow::Result<(usize, f64)> {
    let upstreams = from_files(offers, folder).await;
    let started = Instant::now();
    let tools = upstreams.freeze(None, Needed::Every).await;
    let took = started.elapsed();
    let written = tools.tree().context("the tree was not written")?;
    let files = std::fs::read_dir(written)?
        .flatten()
        .map(|entry| std::fs::read_dir(entry.path()).map_or(1, Iterator::count))
        .sum();
    upstreams.close().await;
    Ok((files, took.as_secs_f64() * 1000.0))
}

async fn from_files(offers: &[ServerOffer], folder: &Path) -> Upstreams {
    let settings =
        offers.iter().map(|offer| ServerSettings::program(&offer.name, "false", &[&offer.name])).collect();
    let connector = Arc::new(FromFiles(
        offers.iter().map(|offer| (offer.name.clone(), Arc::new(offer.clone()))).collect(),
    ));
    let folders = UpstreamFolders { data: folder.to_owned(), cache: folder.to_owned() };
    let upstreams = Upstreams::start(settings, connector, &folders, Refresh::InBackground);
    upstreams.known().await;
    if upstreams.snapshot().catalogue().servers.iter().any(|server| server.tools.is_empty()) {
        upstreams.check().await;
    }
    upstreams
}

/// What `from servers.… import …` takes in a fresh program, as the program sees it.
async fn imports(offers: &[ServerOffer], folder: &Path) -> anyhow::Result<Percentiles> {
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let plain = offers.iter().filter(|offer| is_plain(&offer.name)).find_map(|offer| {
        let tool = offer.tools.iter().find(|tool| is_plain(&tool.name))?;
        Some((&offer.name, &tool.name))
    });
    let (server, tool) = plain.context("no server of the catalogs has a name without hyphens")?;
    let gateway = Gateway::builder(WorkerCommand::this_executable()?)
        .tool_source(Arc::new(from_files(offers, folder).await))
        .pool(PoolSettings { waiting: 1, ..PoolSettings::default() })
        .build()
        .await?;
    let program = format!(
        "
import time
began = time.perf_counter()
from servers.{server} import {tool}
result = round((time.perf_counter() - began) * 1e9)
"
    );
    let mut times = Vec::with_capacity(IMPORTS);
    for _ in 0..IMPORTS {
        let report = gateway.execute(ExecuteRequest::python(program.as_str())).finish().await;
        let result = report.result.ok_or_else(|| anyhow!("{:?}", report.error))?;
        times.push(Duration::from_nanos(result.as_u64().context("a time")?));
    }
    gateway.shutdown().await;
    Ok(Percentiles::of(times))
}

/// A whole process each time, as a person or an agent would start it.
fn start_to_search(offers: &[ServerOffer], folder: &Path) -> anyhow::Result<Percentiles> {
    let servers: Map<String, Value> = offers
        .iter()
        .map(|offer| (offer.name.clone(), json!({ "command": "false", "args": [offer.name] })))
        .collect();
    let config = folder.join("bench.json");
    std::fs::write(&config, json!({ "servers": servers }).to_string())?;
    let mut times = Vec::new();
    for _ in 0..STARTS {
        let started = Instant::now();
        let output = Command::new(std::env::current_exe()?)
            .args(["tools", "--config"])
            .arg(&config)
            .args(["search", "send", "a", "message", "to", "a", "channel"])
            .env("GRISTMILL_CACHE_DIR", folder)
            .env("GRISTMILL_DATA_DIR", folder)
            .stdin(Stdio::null())
            .output()?;
        times.push(started.elapsed());
        if !output.status.success() || !String::from_utf8_lossy(&output.stdout).contains(" shown") {
            bail!("the search failed: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    Ok(Percentiles::of(times))
}

fn queries(path: Option<&Path>) -> Option<Queries> {
    let path = path.unwrap_or(Path::new("benches/search/queries.json"));
    Queries::parse(&std::fs::read_to_string(path).ok()?).ok()
}

/// Servers that exist as files only.
struct FromFiles(HashMap<String, Arc<ServerOffer>>);

impl Connector for FromFiles {
    fn connect(&self, request: ConnectRequest) -> BoxFuture<'_, Result<Connection, UpstreamFailure>> {
        Box::pin(async move {
            let offer = self.0.get(&request.settings.name).cloned();
            let offer = offer.ok_or_else(|| UpstreamFailure::Down("no such file".to_owned()))?;
            let facts = ServerFacts { protocol: "2025-06-18".to_owned(), ..ServerFacts::default() };
            Ok(Connection::new(FromFile { offer, facts }))
        })
    }
}

fn is_a_file() -> UpstreamFailure {
    UpstreamFailure::Down("it is a file".to_owned())
}

struct FromFile {
    offer: Arc<ServerOffer>,
    facts: ServerFacts,
}

impl Upstream for FromFile {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        let tools = self.offer.tools.iter().map(|tool| tool.raw.clone()).collect();
        Box::pin(async move { Ok(tools) })
    }

    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn list_resource_templates(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn call(&self, _call: UpstreamCall) -> BoxFuture<'_, Result<String, UpstreamFailure>> {
        Box::pin(async { Err(is_a_file()) })
    }

    fn read_resource<'a>(
        &'a self,
        _uri: &'a str,
        _trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        Box::pin(async { Err(is_a_file()) })
    }

    fn get_prompt<'a>(
        &'a self,
        _name: &'a str,
        _arguments: &'a str,
        _asker: Asker,
        _trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        Box::pin(async { Err(is_a_file()) })
    }

    fn lost(&self) -> BoxFuture<'_, String> {
        Box::pin(std::future::pending())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}
