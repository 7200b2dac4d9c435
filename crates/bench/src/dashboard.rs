//! `gristmill bench dashboard`: how long pages of the dashboard take while the database has very many executions.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use gristmill_gateway::store::{Store, sample_id};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::machine;
use super::place::Place;
use super::row::Row;
use super::serve::Listening;
use crate::arguments::Bench;

/// Every page, and what makes some of them work hardest. `{execution}` is one of the middle.
const PAGES: [&str; 24] = [
    "/dashboard",
    "/dashboard?period=7d",
    "/dashboard?period=30d",
    "/dashboard/executions",
    "/dashboard/executions?outcome=failed",
    "/dashboard/executions?q=nothing-has-this",
    "/dashboard/executions?tool=nothing.has_this",
    "/dashboard/executions?session=work-5",
    "/dashboard/executions?gateway=nobody",
    "/dashboard/executions?before={execution}",
    "/dashboard/executions/{execution}",
    "/dashboard/approvals",
    "/dashboard/audit",
    "/dashboard/audit?kind=login",
    "/dashboard/audit?q=nothing-has-this",
    "/dashboard/servers",
    "/dashboard/servers/calculator",
    "/dashboard/sessions",
    "/dashboard/skills",
    "/dashboard/results",
    "/dashboard/policy",
    "/dashboard/privacy",
    "/dashboard/playground",
    "/dashboard/settings",
];

/// In the database.
const EXECUTIONS: usize = 100_000;

const ANSWER_MS_MAX: f64 = 200.0;
const ROUNDS_MAX: usize = 20;

/// Figures of a period are kept for five seconds: each look is a new one.
const PAUSE: Duration = Duration::from_millis(5_100);

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let count = u32::try_from(arguments.executions.unwrap_or(EXECUTIONS).clamp(1, 5_000_000))?;
    let rounds = arguments.rounds.clamp(1, ROUNDS_MAX);
    let place = Place::new(&json!({}))?;
    eprintln!("filling a database with {count} executions");
    std::fs::create_dir_all(place.data())?;
    let store = Store::open(&place.data())?;
    store.fill_with_samples(count).await?;
    store.close().await;
    let listening = Listening::start(&place).await?;
    let browser = Browser::log_in(&listening).await?;
    eprintln!("measuring {} pages {rounds} times", PAGES.len());
    let (mut rows, mut slowest) = (Vec::new(), 0_f64);
    let middle = sample_id(count / 2);
    for page in PAGES {
        let path = page.replace("{execution}", &middle);
        let mut times = Vec::new();
        for round in 0..rounds {
            if round > 0 && page.contains("period") {
                tokio::time::sleep(PAUSE).await;
            }
            times.push(browser.get(&path).await?.as_secs_f64() * 1_000.0);
        }
        times.sort_by(f64::total_cmp);
        let (p50, most) = (times[times.len() / 2], times[times.len() - 1]);
        slowest = slowest.max(most);
        rows.push(Row::plain(page, format!("{p50:.1} ({most:.1}) ms")));
    }
    listening.stop().await?;
    rows.push(Row::at_most("the slowest answer of all", slowest, ANSWER_MS_MAX, "ms"));
    print(arguments.json, count, &rows);
    Ok(ExitCode::SUCCESS)
}

fn print(as_json: bool, count: u32, rows: &[Row]) {
    let machine = machine::describe();
    if as_json {
        let figures: Vec<Value> = rows.iter().map(Row::json).collect();
        println!("{:#}", json!({ "machine": machine, "executions": count, "figures": figures }));
        return;
    }
    println!("{machine}\n\npages with {count} executions in the database: p50 (slowest)");
    for row in rows {
        println!("{}", row.line());
    }
}

/// A browser that is logged in.
struct Browser<'a> {
    address: &'a str,
    cookie: String,
}

impl<'a> Browser<'a> {
    async fn log_in(listening: &'a Listening) -> anyhow::Result<Self> {
        let address = listening.address.as_str();
        let token = format!("Authorization: Bearer {}\r\n", listening.token.reveal());
        let (_, link) = exchange(address, "POST /dashboard/link", &token, "").await?;
        let link: Value = serde_json::from_str(&link)?;
        let code = link["path"].as_str().and_then(|path| path.split_once("code=")).context("no link")?.1;
        let from = format!("Origin: http://{address}\r\n");
        let (head, _) = exchange(address, "POST /dashboard/login", &from, &format!("code={code}")).await?;
        let cookie = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("set-cookie").then(|| value.split(';').next())?
        });
        Ok(Self { address, cookie: cookie.context("not logged in")?.to_owned() })
    }

    /// How long a page took.
    async fn get(&self, path: &str) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let cookie = format!("Cookie: {}\r\n", self.cookie);
        let (head, _) = exchange(self.address, &format!("GET {path}"), &cookie, "").await?;
        let took = began.elapsed();
        match head.split(' ').nth(1) {
            Some("200") => Ok(took),
            status => bail!("{path} answered {status:?}"),
        }
    }
}

/// One request, one answer: its head and its body.
async fn exchange(
    address: &str,
    request: &str,
    headers: &str,
    body: &str,
) -> anyhow::Result<(String, String)> {
    let mut stream = TcpStream::connect(address).await?;
    let length = body.len();
    let text = format!(
        "{request} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    Ok((head.to_owned(), body.to_owned()))
}
