//! `gristmill bench serve --profile`: where the time of `1 + 1` goes, stage by stage, in the library, over pipes and
//! over HTTP. Stages are those that the gateway records of every execution; what the client waits for before and
//! after them is one line.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use gristmill_gateway::history::{ExecutionQuery, Found, History, HistorySettings};
use gristmill_gateway::store::Store;
use gristmill_gateway::{EngineId, ExecuteRequest, Gateway};
use serde_json::{Value, json};

use super::figures::Percentiles;
use super::machine;
use super::place::Place;
use super::sandbox::{gateway_of, settled_execution};
use super::serve::Listening;
use super::serve_client::{Call, Client};
use crate::arguments::Bench;

/// Executions before anything counts.
const WARM_UP: usize = 20;

const ROUNDS_MAX: usize = 1_000;

/// Children that wait for the library.
pub const WAITING: usize = 2;

/// Agents leave more between two calls. The gateway ends one process and readies the next meanwhile.
pub const PAUSE: Duration = Duration::from_millis(12);

/// Beginning and length of each stage of one execution, in milliseconds.
type Stages = Vec<(String, f64, f64)>;

/// One way to have a program run.
struct Way {
    name: &'static str,
    whole: Percentiles,
    /// Of each stage, in their order: its name and what it takes in the median.
    stages: Vec<(String, f64)>,
    /// From the first stage's beginning to the last one's end, in the median.
    inside_ms: f64,
}

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let rounds = arguments.rounds.clamp(1, ROUNDS_MAX);
    eprintln!("measuring the library");
    let library = in_library(rounds).await?;
    eprintln!("measuring stdio");
    let place = Place::new(&json!({}))?;
    let client = Client::over_pipes(place.command(&[])?)?;
    let pipes = of_server("stdio", &place, client, None, rounds).await?;
    eprintln!("measuring HTTP");
    let place = Place::new(&json!({}))?;
    let listening = Listening::start(&place).await?;
    let client = Client::over_http(&listening.address, &listening.token).await?;
    let http = of_server("HTTP", &place, client, Some(listening), rounds).await?;
    let ways = [library, pipes, http];
    match arguments.json {
        true => {
            let ways: Vec<Value> = ways.iter().map(Way::json).collect();
            println!("{:#}", json!({"machine": machine::describe(), "ways": ways}));
        }
        false => print(&ways),
    }
    Ok(ExitCode::SUCCESS)
}

async fn in_library(rounds: usize) -> anyhow::Result<Way> {
    let gateway = gateway_of(EngineId::Python, WAITING).await?;
    gateway.ready().await.map_err(|reason| anyhow!(reason))?;
    let (mut whole, mut all) = (Vec::new(), Vec::new());
    for round in 0..WARM_UP + rounds {
        let (took, stages) = execute(&gateway).await?;
        if round >= WARM_UP {
            whole.push(took);
            all.push(stages);
        }
        tokio::time::sleep(PAUSE).await;
    }
    gateway.shutdown().await;
    Way::of("library", whole, &all)
}

async fn execute(gateway: &Gateway) -> anyhow::Result<(Duration, Stages)> {
    let (took, report) = settled_execution(gateway, WAITING, ExecuteRequest::python("1 + 1")).await?;
    let zero = report.timing.zero().context("an execution without stages")?;
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let stages = report.timing.stages().iter();
    let stages =
        stages.map(|stage| (stage.name.to_owned(), ms(stage.began.duration_since(zero)), ms(stage.took)));
    Ok((took, stages.collect()))
}

/// Its stages are read from the history, once it has ended.
async fn of_server(
    name: &'static str,
    place: &Place,
    mut client: Client,
    listening: Option<Listening>,
    rounds: usize,
) -> anyhow::Result<Way> {
    let call = Call::new("execute_code", &json!({"code": "1 + 1"}));
    for _ in 0..WARM_UP {
        client.call(&call).await?;
        tokio::time::sleep(PAUSE).await;
    }
    let mut whole = Vec::new();
    for _ in 0..rounds {
        whole.push(client.call(&call).await?);
        tokio::time::sleep(PAUSE).await;
    }
    client.close().await?;
    if let Some(listening) = listening {
        listening.stop().await?;
    }
    let history = History::open(Store::open(&place.data())?, HistorySettings::default()).await?;
    let mut all = Vec::new();
    for summary in history.page(ExecutionQuery::default(), rounds).await?.lines {
        match history.find(&summary.id, None).await? {
            Found::One(record) => {
                let stages = record.stages.into_iter();
                all.push(stages.map(|stage| (stage.name, stage.began_ms, stage.time_ms)).collect());
            }
            Found::Nothing | Found::Several(_) => bail!("{} isn't in the history", summary.id),
        }
    }
    history.close().await;
    Way::of(name, whole, &all)
}

impl Way {
    fn of(name: &'static str, whole: Vec<Duration>, all: &[Stages]) -> anyhow::Result<Self> {
        let names: Vec<&String> =
            all.first().context("no execution")?.iter().map(|(name, ..)| name).collect();
        let took = |wanted: &str| {
            let stages = all.iter().flatten().filter(|(name, ..)| name == wanted);
            median(stages.map(|(_, _, took)| *took).collect())
        };
        let stages = names.into_iter().map(|name| (name.clone(), took(name))).collect();
        let ends = all.iter().filter_map(|stages| stages.last().map(|(_, began, took)| began + took));
        Ok(Self { name, whole: Percentiles::of(whole), stages, inside_ms: median(ends.collect()) })
    }

    fn stage(&self, wanted: &str) -> Option<f64> {
        self.stages.iter().find(|(name, _)| name == wanted).map(|(_, took)| *took)
    }

    fn whole_ms(&self) -> f64 {
        self.whole.p50_us / 1e3
    }

    /// What passes from one stage to the next.
    fn between_ms(&self) -> f64 {
        (self.inside_ms - self.stages.iter().map(|(_, took)| took).sum::<f64>()).max(0.0)
    }

    fn json(&self) -> Value {
        let stages: Vec<Value> =
            self.stages.iter().map(|(name, took)| json!({"name": name, "p50_ms": took})).collect();
        json!({
            "way": self.name,
            "p50_ms": self.whole_ms(),
            "p99_ms": self.whole.p99_us / 1e3,
            "stages": stages,
            "between_ms": self.between_ms(),
            "around_ms": self.whole_ms() - self.inside_ms,
        })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn print(ways: &[Way]) {
    println!("{}\n", machine::describe());
    let line = |name: &str, figures: Vec<Option<f64>>| {
        let cell = |figure: Option<f64>| figure.map_or("-".to_owned(), |ms| format!("{ms:.3}"));
        let cells: String = figures.into_iter().map(|figure| format!("{:>10}", cell(figure))).collect();
        println!("{name:<52}{cells}");
    };
    let heads: String = ways.iter().map(|way| format!("{:>10}", way.name)).collect();
    println!("{:<52}{heads}", "1 + 1, medians in ms");
    // Those of a server are all that there are.
    let stages = ways.iter().max_by_key(|way| way.stages.len()).map_or(&[][..], |way| &way.stages);
    for (name, _) in stages {
        line(name, ways.iter().map(|way| way.stage(name)).collect());
    }
    line("from one stage to the next", ways.iter().map(|way| Some(way.between_ms())).collect());
    let around = "before and after: sent, read, recorded, answered";
    line(around, ways.iter().map(|way| Some(way.whole_ms() - way.inside_ms)).collect());
    line("as the caller sees it, p50", ways.iter().map(|way| Some(way.whole_ms())).collect());
    line("… p99", ways.iter().map(|way| Some(way.whole.p99_us / 1e3)).collect());
    let Some(library) = ways.first() else { return };
    line(
        "… p50 against the library",
        ways.iter().map(|way| Some(way.whole_ms() / library.whole_ms())).collect(),
    );
    line("… p99 against its p50", ways.iter().map(|way| Some(way.whole.p99_us / way.whole.p50_us)).collect());
}
