//! Two gateways of this process, with something and without it, which take turns, so that whatever else the
//! machine does meets both. The difference is taken within each turn, and the median of these differences is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use gristmill_gateway::domain::{Level, LimitName, Limits};
use gristmill_gateway::history::HistorySettings;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::service::StartRequest;
use gristmill_gateway::store::Store;
use gristmill_gateway::upstream::{Refresh, Startup};
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

/// What is timed in a turn.
#[derive(Clone, Copy)]
pub enum Work {
    /// One call, in the mean of a program that makes many.
    Calls,
    /// A program that makes none, from its request to its report.
    Execution,
}

/// What both sides took, turn by turn.
#[derive(Default)]
pub struct Turns {
    off: Vec<f64>,
    on: Vec<f64>,
}

impl Turns {
    /// Each side goes first every other time.
    pub async fn measure<Off, On>(
        turns: usize,
        off: impl Fn() -> Off,
        on: impl Fn() -> On,
    ) -> anyhow::Result<Self>
    where
        Off: Future<Output = anyhow::Result<Duration>>,
        On: Future<Output = anyhow::Result<Duration>>,
    {
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        let turns = turns.max(10);
        let mut all = Self { off: Vec::new(), on: Vec::new() };
        for turn in 0..WARM_UP + turns {
            let (without, with) = match turn % 2 {
                0 => {
                    let without = off().await?;
                    (without, on().await?)
                }
                _ => {
                    let with = on().await?;
                    (off().await?, with)
                }
            };
            if turn >= WARM_UP {
                all.off.push(us(without));
                all.on.push(us(with));
            }
        }
        Ok(all)
    }

    /// The same of one more pair of sides.
    pub fn and(mut self, other: Self) -> Self {
        self.off.extend(other.off);
        self.on.extend(other.on);
        self
    }

    pub fn added_us(&self) -> f64 {
        median(self.differences())
    }

    /// Where the median of many more turns would be, nineteen times of twenty.
    pub fn range_us(&self) -> String {
        let (low, high) = median_between(self.differences());
        format!("{low:.0} to {high:.0} us")
    }

    fn differences(&self) -> Vec<f64> {
        self.on.iter().zip(&self.off).map(|(on, off)| on - off).collect()
    }

    pub fn plain(&self, name: &str) -> Row {
        let (off, on) = (median(self.off.clone()), median(self.on.clone()));
        Row::plain(name, format!("{off:.0} ({on:.0}) us"))
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The values between which the median lies with 95 %, however they are spread: as many stand below it as heads come
/// of so many tosses.
fn median_between(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let half = values.len() as f64 / 2.0;
    let off_by = 1.96 * (values.len() as f64).sqrt() / 2.0;
    let at = |place: f64| values.get(place.max(0.0) as usize).or(values.last()).copied().unwrap_or_default();
    (at((half - off_by).floor()), at((half + off_by).ceil()))
}

/// What a side is built of, for whoever changes it.
pub struct Fitting<'a> {
    pub folder: &'a Temporary,
    pub store: &'a Store,
    pub startup: &'a mut Startup,
    pub data: &'a mut DataSettings,
    pub settings: &'a mut Settings,
}

/// A gateway with its own server and its own data, as `serve` has them, and with nothing but the history.
pub struct Side {
    gateway: Gateway,
    store: Store,
    _folder: Temporary,
}

impl Side {
    pub async fn start(fit: impl FnOnce(Fitting<'_>) -> anyhow::Result<()>) -> anyhow::Result<Self> {
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
        settings.checks_programs = false;
        settings.limits = limits;
        settings.pool = PoolSettings { waiting: WAITING, ..PoolSettings::default() };
        settings.folders = Some(Folders::from_environment()?);
        fit(Fitting {
            folder: &folder,
            store: &store,
            startup: &mut startup,
            data: &mut data,
            settings: &mut settings,
        })?;
        settings.data = Some(data);
        settings.tools = Arc::new(calculator(&folder, startup)?);
        let gateway = Gateway::build(settings).await?;
        gateway.ready().await.map_err(|reason| anyhow!(reason))?;
        Ok(Self { gateway, store, _folder: folder })
    }

    pub async fn time(&self, work: Work) -> anyhow::Result<Duration> {
        match work {
            Work::Calls => self.call().await,
            Work::Execution => Ok(self.run(PROGRAM).await?.1),
        }
    }

    /// What is reported of a program that makes no call.
    pub async fn report(&self) -> anyhow::Result<Arc<Report>> {
        Ok(self.run(PROGRAM).await?.0)
    }

    /// Timed inside of the program, call by call: the median doesn't mind what the machine does in between.
    async fn call(&self) -> anyhow::Result<Duration> {
        let program = format!(
            "
import time
from servers.{SERVER} import {TOOL}
took = []
for i in range({CALLS}):
    start = time.perf_counter()
    await {TOOL}(expression='1+1')
    took.append(time.perf_counter() - start)
result = round(sorted(took)[len(took) // 2] * 1e9)
"
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

    pub async fn end(self) {
        self.gateway.shutdown().await;
        self.store.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_surer_of_many_values_than_of_few() {
        let check = |count: i32, expected| {
            assert_eq!(median_between((0..count).rev().map(f64::from).collect()), expected, "{count}");
        };
        check(0, (0.0, 0.0));
        check(1, (0.0, 0.0));
        check(5, (0.0, 4.0));
        check(100, (40.0, 60.0));
        check(10_000, (4_902.0, 5_098.0));
    }
}
