//! `gristmill bench serve`: what clients of the gateway get, over pipes and over HTTP, and whether it
//! grows while it serves.

use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gristmill_gateway::access::{LocalToken, TokenText};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use super::figures::Percentiles;
use super::machine::{self, Memory};
use super::place::Place;
use super::row::Row;
use super::serve_client::{Call, Client};
use crate::arguments::Bench;

const CLIENTS: [usize; 3] = [1, 8, 32];

/// Requests of each client before anything is measured: its gateway has started, its server is connected.
const WARM_UP: usize = 20;

/// Of each measurement.
const SECONDS: u64 = 3;

/// Executions after which a gateway has what it needs.
const SETTLED_AFTER: usize = 100;

/// Until the workers that wait are as many as before.
const SETTLE: Duration = Duration::from_secs(2);

/// Before memory is measured again.
const EXECUTIONS: usize = 10_000;

const GROWTH_MAX_PERCENT: f64 = 10.0;

/// A name, and what is sent.
struct Work {
    name: &'static str,
    call: Call,
}

fn works() -> [Work; 3] {
    let ten = "from servers.calculator import evaluate\n\
        for number in range(10):\n    await evaluate(expression='1+1')\n";
    [
        Work {
            name: "no program (search_tools)",
            call: Call::new("search_tools", &json!({"query": "evaluate", "detail_level": "names"})),
        },
        Work { name: "1 + 1", call: Call::new("execute_code", &json!({"code": "1 + 1"})) },
        Work {
            name: "ten tool calls",
            call: Call::new("execute_code", &json!({"code": ten, "timeout_s": 60})),
        },
    ]
}

struct Cell {
    transport: &'static str,
    clients: usize,
    work: &'static str,
    per_second: f64,
    times: Percentiles,
}

impl Cell {
    fn line(&self) -> String {
        format!(
            "{:<6} {:>7}  {:<26} {:>10.1} {:>10.2} {:>10.2}",
            self.transport,
            self.clients,
            self.work,
            self.per_second,
            self.times.p50_us / 1000.0,
            self.times.p99_us / 1000.0
        )
    }

    fn json(&self) -> Value {
        json!({
            "transport": self.transport,
            "clients": self.clients,
            "work": self.work,
            "per_second": self.per_second,
            "p50_ms": self.times.p50_us / 1000.0,
            "p99_ms": self.times.p99_us / 1000.0,
            "requests": self.times.rounds,
        })
    }
}

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let place = Place::new(&json!({}))?;
    let span = Duration::from_secs(arguments.seconds.unwrap_or(SECONDS).clamp(1, 600));
    let executions = arguments.executions.unwrap_or(EXECUTIONS).clamp(SETTLED_AFTER + 1, 1_000_000);
    let (mut cells, mut rows, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for clients in CLIENTS {
        if let Some(why) = no_room_for(&place, clients).await? {
            eprintln!("skipped: {why}");
            left_out.push(why);
            continue;
        }
        eprintln!("measuring {clients} over stdio");
        cells.extend(over_pipes(&place, clients, span).await?);
    }
    let listening = Listening::start(&place).await?;
    for clients in CLIENTS {
        eprintln!("measuring {clients} over HTTP");
        cells.extend(over_http(&listening, clients, span).await?);
    }
    listening.stop().await?;
    eprintln!("measuring memory over {executions} executions");
    rows.extend(memory(&place, executions).await?);

    match arguments.json {
        true => println!(
            "{:#}",
            json!({
                "machine": machine::describe(),
                "cells": cells.iter().map(Cell::json).collect::<Vec<_>>(),
                "figures": rows.iter().map(Row::json).collect::<Vec<_>>(),
                "left_out": left_out,
            })
        ),
        false => {
            println!("{}\n", machine::describe());
            println!(
                "{:<6} {:>7}  {:<26} {:>10} {:>10} {:>10}",
                "", "clients", "", "per second", "p50 ms", "p99 ms"
            );
            for cell in &cells {
                println!("{}", cell.line());
            }
            println!();
            for row in &rows {
                println!("{}", row.line());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Every client has a gateway of its own, as with clients that start their servers.
async fn over_pipes(place: &Place, count: usize, span: Duration) -> anyhow::Result<Vec<Cell>> {
    let clients =
        (0..count).map(|_| Client::over_pipes(place.command(&[])?)).collect::<anyhow::Result<_>>()?;
    let (clients, cells) = measured("stdio", clients, span).await?;
    for client in clients {
        client.close().await?;
    }
    Ok(cells)
}

/// All clients have the same gateway.
async fn over_http(listening: &Listening, count: usize, span: Duration) -> anyhow::Result<Vec<Cell>> {
    let mut clients = Vec::new();
    for _ in 0..count {
        clients.push(Client::over_http(&listening.address, &listening.token).await?);
    }
    Ok(measured("HTTP", clients, span).await?.1)
}

async fn measured(
    transport: &'static str,
    mut clients: Vec<Client>,
    span: Duration,
) -> anyhow::Result<(Vec<Client>, Vec<Cell>)> {
    let mut cells = Vec::new();
    for work in works() {
        let count = clients.len();
        let warm = |mut client: Client, call: Call| async move {
            for _ in 0..WARM_UP {
                client.call(&call).await?;
            }
            Ok((client, ()))
        };
        clients = all(clients, &work.call, warm).await?.into_iter().map(|(client, ())| client).collect();
        let started = Instant::now();
        let end = started + span;
        let timed = move |mut client: Client, call: Call| async move {
            let times = client.call_until(&call, end).await?;
            Ok((client, times))
        };
        let (back, times): (Vec<Client>, Vec<Vec<Duration>>) =
            all(clients, &work.call, timed).await?.into_iter().unzip();
        let took = started.elapsed();
        clients = back;
        let times = times.concat();
        let per_second = times.len() as f64 / took.as_secs_f64();
        cells.push(Cell {
            transport,
            clients: count,
            work: work.name,
            per_second,
            times: Percentiles::of(times),
        });
    }
    Ok((clients, cells))
}

/// All clients at the same time.
async fn all<T, F>(
    clients: Vec<Client>,
    call: &Call,
    act: impl Fn(Client, Call) -> F,
) -> anyhow::Result<Vec<(Client, T)>>
where
    T: Send + 'static,
    F: Future<Output = anyhow::Result<(Client, T)>> + Send + 'static,
{
    let acting: Vec<_> = clients.into_iter().map(|client| tokio::spawn(act(client, call.clone()))).collect();
    let mut done = Vec::new();
    for one in acting {
        done.push(one.await??);
    }
    Ok(done)
}

/// What one gateway and all its processes have, early and late.
async fn memory(place: &Place, executions: usize) -> anyhow::Result<Vec<Row>> {
    let mut client = Client::over_pipes(place.command(&[])?)?;
    let pid = client.gateway_pid().context("the gateway's process")?;
    let [_, trivial, ten] = works();
    let mut early = None;
    for number in 1..=executions {
        // Mostly small programs, and some that call tools.
        client.call(if number % 10 == 0 { &ten.call } else { &trivial.call }).await?;
        if number == SETTLED_AFTER {
            tokio::time::sleep(SETTLE).await;
            early = Some(Memory::of_tree(pid));
        }
    }
    tokio::time::sleep(SETTLE).await;
    let late = Memory::of_tree(pid);
    client.close().await?;
    let early = early.context("a first look")?;
    let mut rows = vec![
        Row::plain(
            format!("memory after {SETTLED_AFTER} executions, {}", early.what()),
            format!("{:.1} MB", early.mb()),
        ),
        Row::plain(
            format!("memory after {executions} executions, {}", late.what()),
            format!("{:.1} MB", late.mb()),
        ),
    ];
    let growth = |early: f64, late: f64| if early > 0.0 { (late / early - 1.0) * 100.0 } else { 0.0 };
    rows.push(Row::at_most(
        "growth of all processes",
        growth(early.mb(), late.mb()),
        GROWTH_MAX_PERCENT,
        "%",
    ));
    rows.push(Row::plain(
        "growth of the gateway's own process",
        format!("{:.1} %", growth(early.first_mb(), late.first_mb())),
    ));
    Ok(rows)
}

/// Why so many gateways do not fit into this machine's memory, if they do not.
async fn no_room_for(place: &Place, count: usize) -> anyhow::Result<Option<String>> {
    if count == 1 {
        return Ok(None);
    }
    let mut client = Client::over_pipes(place.command(&[])?)?;
    let [_, _, ten] = works();
    client.call(&ten.call).await?;
    let one = client.gateway_pid().map(Memory::of_tree);
    client.close().await?;
    let (Some(one), Some(free_mb)) = (one, machine::available_mb()) else { return Ok(None) };
    let wanted = one.mb() * count as f64;
    Ok((wanted > free_mb * 0.7)
        .then(|| format!("{count} gateways over stdio: {:.0} MB each, {free_mb:.0} MB are free", one.mb())))
}

/// A gateway that listens.
pub(crate) struct Listening {
    gateway: Child,
    pub address: String,
    /// The local owner's, which it made at its start.
    pub token: TokenText,
}

impl Listening {
    pub async fn start(place: &Place) -> anyhow::Result<Self> {
        let mut command = place.command(&["--http", "127.0.0.1:0"])?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut gateway = command.spawn()?;
        let said = gateway.stderr.take().context("the gateway's words")?;
        let mut lines = BufReader::new(said).lines();
        while let Some(line) = lines.next_line().await? {
            let Some((_, address)) = line.split_once("http://") else { continue };
            let address = address.split('/').next().unwrap_or(address).to_owned();
            // Whatever else it says must not fill the pipe.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            // It makes its token before it says where it listens.
            let token = LocalToken::open(&place.data()).read()?.context("the gateway's token")?;
            return Ok(Self { gateway, address, token });
        }
        bail!("the gateway does not listen")
    }

    pub async fn stop(mut self) -> anyhow::Result<()> {
        if let Some(pid) = self.gateway.id().and_then(|pid| rustix::process::Pid::from_raw(pid as i32)) {
            rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
        }
        tokio::time::timeout(Duration::from_secs(30), self.gateway.wait())
            .await
            .context("the gateway did not end")??;
        Ok(())
    }
}
