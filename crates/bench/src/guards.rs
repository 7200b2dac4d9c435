//! What policy, audit and static checks cost together, and what privacy costs: gateways of this process, with
//! and without, take turns, so that whatever else the machine does meets both.
//!
//! The difference is taken within each turn, and the median of these differences is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use gristmill_gateway::audit::{Audit, AuditSettings};
use gristmill_gateway::domain::policy::{Budgets, Condition, Decision, Policy, PolicySettings, Rule};
use gristmill_gateway::domain::{Level, LimitName, Limits, PrivacyMode};
use gristmill_gateway::history::HistorySettings;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::privacy::{Privacy, PrivacySettings, Vault};
use gristmill_gateway::service::StartRequest;
use gristmill_gateway::store::Store;
use gristmill_gateway::upstream::{Guard, GuardSettings, Refresh, Startup};
use gristmill_gateway::{
    DataSettings, ExecuteRequest, Folders, Gateway, PoolSettings, Report, Settings, WorkerCommand,
};
use serde_json::Value;

use super::calculator::{SERVER, TOOL, calculator};
use super::row::Row;
use super::sandbox::settle;
use super::temporary::Temporary;

/// Calls of each program that makes any.
const CALLS: usize = 500;

/// Turns that don't count.
const WARM_UP: usize = 3;

/// Children that wait on each side.
const WAITING: usize = 2;

/// A program as agents write them, which makes no call.
const PROGRAM: &str = r#"
import json
import re
from collections import Counter
from servers.calculator import evaluate

ORDERS = [{"id": n, "status": "open" if n % 3 else "paid", "total": n * 1.5} for n in range(40)]

def by_status(orders):
    counts = Counter(order["status"] for order in orders)
    return dict(counts.most_common())

def largest(orders, count=3):
    return sorted(orders, key=lambda order: order["total"], reverse=True)[:count]

async def in_euros(order):
    return await evaluate(expression=f"{order['total']} * 0.92")

numbers = [int(text) for text in re.findall(r"\d+", json.dumps(ORDERS[:5]))]
if len(numbers) < 5:
    raise ValueError("too few numbers")
result = {"by_status": by_status(ORDERS), "largest": largest(ORDERS), "numbers": sum(numbers)}
"#;

pub async fn rows(turns: usize) -> anyhow::Result<Vec<Row>> {
    let (off, on) = (Side::start(Guards::Off).await?, Side::start(Guards::On).await?);
    let calls = Turns::measure(Work::Calls, (turns / 10).max(10), &off, &on).await?;
    let executions = Turns::measure(Work::Execution, turns, &off, &on).await?;
    on.end().await;
    let private = Side::start(Guards::Private).await?;
    let private_calls = Turns::measure(Work::Calls, (turns / 10).max(10), &off, &private).await?;
    let private_executions = Turns::measure(Work::Execution, turns, &off, &private).await?;
    off.end().await;
    private.end().await;
    Ok(vec![
        calls.plain("a call from a program, guards off (on), median of turns"),
        Row::at_most("added by policy, audit and checks to a call", calls.added_us(), 30.0, "us"),
        executions.plain("an execution without calls, guards off (on), p50"),
        Row::at_most("added by policy, audit and checks to an execution", executions.added_us(), 300.0, "us"),
        private_calls.plain("a call, privacy off (boundary), median of turns"),
        Row::plain("added by privacy to a call", format!("{:.1} us", private_calls.added_us())),
        private_executions.plain("an execution without calls, privacy off (boundary), p50"),
        Row::plain("added by privacy to an execution", format!("{:.1} us", private_executions.added_us())),
    ])
}

/// What is timed in a turn.
#[derive(Clone, Copy)]
enum Work {
    /// One call, in the mean of a program that makes many.
    Calls,
    /// A program that makes none, from its request to its report.
    Execution,
}

/// What both sides took, turn by turn.
struct Turns {
    off: Vec<f64>,
    on: Vec<f64>,
}

impl Turns {
    async fn measure(work: Work, turns: usize, off: &Side, on: &Side) -> anyhow::Result<Self> {
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let mut all = Self { off: Vec::new(), on: Vec::new() };
        for turn in 0..WARM_UP + turns {
            let (without, with) = (off.time(work).await?, on.time(work).await?);
            if turn >= WARM_UP {
                all.off.push(us(without));
                all.on.push(us(with));
            }
        }
        Ok(all)
    }

    fn added_us(&self) -> f64 {
        median(self.on.iter().zip(&self.off).map(|(on, off)| on - off).collect())
    }

    fn plain(&self, name: &str) -> Row {
        let (off, on) = (median(self.off.clone()), median(self.on.clone()));
        Row::plain(name, format!("{off:.0} ({on:.0}) us"))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Guards {
    On,
    Off,
    /// Off, and personal data is kept from the program.
    Private,
}

/// A gateway with its own server and its own data, as `serve` has them.
struct Side {
    gateway: Gateway,
    store: Store,
    _folder: Temporary,
}

impl Side {
    async fn start(guards: Guards) -> anyhow::Result<Self> {
        let folder = Temporary::new()?;
        let store = Store::open(&folder.0)?;
        let mut limits = Limits::of(Level::Production);
        limits.set(LimitName::WallTime, 120_000)?;
        limits.set(LimitName::CpuTime, 120_000)?;
        limits.set(LimitName::ToolCalls, CALLS as u64)?;
        let mut startup = Startup { refresh: Refresh::InBackground, ..Startup::default() };
        let mut data =
            DataSettings { history: Some(HistorySettings::default()), ..DataSettings::new(store.clone()) };
        let mut settings = Settings::new(WorkerCommand::this_executable()?);
        if guards == Guards::On {
            let audit = Audit::open(&store, AuditSettings::default())?;
            startup.observer = Some(audit.observer());
            data.audit = Some(audit);
            startup.guard = Some(guard(&folder, &store)?);
        }
        if guards == Guards::Private {
            let wanted =
                PrivacySettings { mode: PrivacyMode::Boundary, ..PrivacySettings::of(Level::Production) };
            let privacy = Privacy::new(wanted, Vault::open(Some(store.clone()), None)?)?;
            startup.privacy = Some(privacy.clone());
            settings.privacy = Some(privacy);
        }
        settings.checks_programs = guards == Guards::On;
        settings.data = Some(data);
        settings.limits = limits;
        settings.pool = PoolSettings { waiting: WAITING, ..PoolSettings::default() };
        settings.folders = Some(Folders::from_environment()?);
        settings.tools = Arc::new(calculator(&folder, startup)?);
        let gateway = Gateway::build(settings).await?;
        gateway.ready().await.map_err(|reason| anyhow!(reason))?;
        Ok(Self { gateway, store, _folder: folder })
    }

    async fn time(&self, work: Work) -> anyhow::Result<Duration> {
        match work {
            Work::Calls => self.call().await,
            Work::Execution => Ok(self.run(PROGRAM).await?.1),
        }
    }

    /// Timed inside of the program.
    async fn call(&self) -> anyhow::Result<Duration> {
        let program = format!(
            "
import time
from servers.{SERVER} import {TOOL}
await {TOOL}(expression='1+1')
start = time.perf_counter()
for i in range({count}):
    await {TOOL}(expression='1+1')
result = round((time.perf_counter() - start) * 1e9 / {count})
",
            count = CALLS - 1
        );
        let (report, _) = self.run(&program).await?;
        let ns = report.result.as_ref().and_then(Value::as_u64);
        Ok(Duration::from_nanos(ns.ok_or_else(|| anyhow!("{:?}", report.error))?))
    }

    async fn run(&self, program: &str) -> anyhow::Result<(Arc<Report>, Duration)> {
        settle(&self.gateway, WAITING).await;
        let request = StartRequest::new(Caller::local(), ExecuteRequest::python(program));
        let began = Instant::now();
        let started = self.gateway.service().start(request);
        let report = started.map_err(|report| anyhow!("{:?}", report.error))?.ended().await;
        let took = began.elapsed();
        if !report.success {
            bail!("a program failed: {:?}", report.error);
        }
        Ok((report, took))
    }

    async fn end(self) {
        self.gateway.shutdown().await;
        self.store.close().await;
    }
}

/// The default preset behind some rules as people write them; the call passes all of them.
fn guard(folder: &Temporary, store: &Store) -> anyhow::Result<Arc<Guard>> {
    let named = |server: &str, tool: &str, decision| Rule {
        server: Some(server.to_owned()),
        tool: Some(tool.to_owned()),
        ..Rule::deciding(decision)
    };
    let rules = [
        named("crm", "delete_*", Decision::Deny),
        named("mail", "send_*", Decision::Ask),
        Rule { token: Some("ci-*".to_owned()), ..named("*", "*", Decision::Deny) },
        Rule {
            conditions: vec![Condition::read("expression", "*__*")?],
            ..named(SERVER, TOOL, Decision::Deny)
        },
        Rule {
            server: Some(SERVER.to_owned()),
            budgets: Budgets { calls_per_minute: Some(1_000_000), ..Budgets::default() },
            ..Rule::default()
        },
    ];
    let user = rules.into_iter().map(|rule| (rule, "the benchmark".to_owned())).collect();
    let policy = Policy::new(PolicySettings { user, ..PolicySettings::default() });
    Ok(Arc::new(Guard::new(GuardSettings {
        policy,
        level: Level::Production,
        data: Some(folder.0.clone()),
        store: Some(store.clone()),
        marks: None,
        notify: None,
    })))
}
