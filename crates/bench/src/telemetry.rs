//! `gristmill bench telemetry`: what counting, watching and logging cost, on against off by turns, and whether their
//! memory grows.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use gristmill_gateway::domain::{Level, Limits};
use gristmill_gateway::ids::{Caller, ExecutionId, Owner};
use gristmill_gateway::ports::{CallEnd, CallFacts, CallObserver, RequestKind};
use gristmill_gateway::store::Store;
use gristmill_gateway::telemetry::{Telemetry, WatchSettings};
use gristmill_gateway::{ExecuteRequest, Report};
use gristmill_logs::{Log, LogFilter, LogFormat, LogSettings, LogTarget};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tracing::Dispatch;

use super::machine;
use super::row::Row;
use super::sides::{Fitting, Side, Turns, Work};
use super::temporary::Temporary;
use crate::arguments::Bench;

/// Executions with which everything that is kept reaches its bound, and as many again, which add nothing.
const FILLING: usize = 100_000;
const MORE: usize = 100_000;

/// Calls of each of them.
const CALLS: usize = 3;

/// Events that are told before the watch is waited for.
const AT_ONCE: usize = 500;

/// Callers and tools that come again; every other execution has names that never do.
const CALLERS: usize = 20;
const TOOLS: usize = 50;

/// What is measured alone is the best of so many rounds.
const ROUNDS: usize = 20;

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let turns = arguments.rounds.clamp(20, 5_000);
    let mut rows = Vec::new();
    eprintln!("measuring telemetry on against off");
    let (off, on) = (Apart::start(None, |_| Ok(())).await?, Apart::logged().await?);
    for (work, turns, what, goal) in
        [(Work::Calls, (turns / 5).max(10), "a call", 20.0), (Work::Execution, turns, "an execution", 100.0)]
    {
        let (without, with) = (&off, &on);
        let measured = Turns::measure(turns, move || without.time(work), move || with.time(work)).await?;
        rows.push(measured.plain(&format!("{what}, telemetry off (on), median of turns")));
        let name = format!("added by metrics, watch and log to {what}");
        rows.push(Row::at_most(name, measured.added_us(), goal, "us"));
    }
    let report = off.report().await?;
    off.end().await;
    on.end().await;
    eprintln!("measuring memory over {} executions", FILLING + MORE);
    rows.extend(alone(&report).await?);
    rows.extend(memory(&report).await?);
    match arguments.json {
        true => println!(
            "{:#}",
            json!({ "machine": machine::describe(), "figures": rows.iter().map(Row::json).collect::<Vec<_>>() })
        ),
        false => {
            println!("{}\n", machine::describe());
            rows.iter().for_each(|row| println!("{}", row.line()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A side on threads of its own, so that one is logged and the other isn't.
struct Apart {
    side: Option<Arc<Side>>,
    runtime: Option<Runtime>,
    _log: Option<(Log, Temporary)>,
}

impl Apart {
    /// As `serve` has it.
    async fn logged() -> anyhow::Result<Self> {
        let folder = Temporary::new()?;
        let (log, subscriber) = gristmill_logs::open(LogSettings {
            target: LogTarget::File(folder.0.join("gateway.log")),
            format: LogFormat::Text,
            filter: LogFilter::info(),
            spans: None,
        })?;
        let traced = Dispatch::new(subscriber);
        let mut apart = Self::start(Some(traced), watched).await?;
        apart._log = Some((log, folder));
        Ok(apart)
    }

    async fn start(
        traced: Option<Dispatch>,
        fit: impl FnOnce(Fitting<'_>) -> anyhow::Result<()> + Send + 'static,
    ) -> anyhow::Result<Self> {
        let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(threads).enable_all();
        if let Some(traced) = traced {
            // For as long as the thread lives.
            builder.on_thread_start(move || std::mem::forget(tracing::dispatcher::set_default(&traced)));
        }
        let runtime = builder.build()?;
        let started = runtime.spawn(async move { Side::start(fit).await }).await;
        let mut apart = Self { side: None, runtime: Some(runtime), _log: None };
        apart.side = Some(Arc::new(started??));
        Ok(apart)
    }

    /// Has something done on its threads.
    async fn on_its_own<T: Send + 'static, F: Future<Output = anyhow::Result<T>> + Send + 'static>(
        &self,
        work: impl FnOnce(Arc<Side>) -> F,
    ) -> anyhow::Result<T> {
        let (Some(side), Some(runtime)) = (&self.side, &self.runtime) else {
            return Err(anyhow!("the gateway has ended"));
        };
        runtime.spawn(work(Arc::clone(side))).await?
    }

    async fn time(&self, work: Work) -> anyhow::Result<Duration> {
        self.on_its_own(move |side| async move { side.time(work).await }).await
    }

    async fn report(&self) -> anyhow::Result<Arc<Report>> {
        self.on_its_own(|side| async move { side.report().await }).await
    }

    async fn end(mut self) {
        if let (Some(side), Some(runtime)) = (self.side.take().and_then(Arc::into_inner), &self.runtime) {
            let _ = runtime.spawn(side.end()).await;
        }
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        // To wait for its threads is not permitted on one of ours.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn watched(fitting: Fitting<'_>) -> anyhow::Result<()> {
    let telemetry = telemetry(fitting.store);
    fitting.startup.observer = Some(telemetry.observer(None));
    fitting.settings.telemetry = Some(telemetry);
    Ok(())
}

/// Nobody is told of what is found.
fn telemetry(store: &Store) -> Telemetry {
    let settings = WatchSettings {
        watch: gristmill_gateway::watch::Settings::default(),
        alerts: gristmill_gateway::watch::alerts::AlertSettings::default(),
        ways: Vec::new(),
        told: Arc::new(|_| {}),
    };
    Telemetry::watching(store.clone(), settings)
}

/// What is told to the telemetry, without a gateway around it.
struct Told {
    telemetry: Telemetry,
    observer: Arc<dyn CallObserver>,
    report: Arc<Report>,
    limits: Limits,
}

impl Told {
    fn new(store: &Store, report: &Arc<Report>) -> Self {
        let telemetry = telemetry(store);
        let observer = telemetry.observer(None);
        Self { telemetry, observer, report: Arc::clone(report), limits: Limits::of(Level::Production) }
    }

    fn execution(&self, caller: &Caller, code: &str) -> anyhow::Result<()> {
        let id = ExecutionId::new().map_err(|error| anyhow!("{error}"))?;
        let measured = self.telemetry.begin(caller, &id, &ExecuteRequest::python(code), &self.limits);
        measured.end(&self.report, Duration::from_micros(300));
        Ok(())
    }

    /// Until the watch has seen everything.
    async fn caught_up(&self) {
        while self.telemetry.events_waiting() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Every other one with names that never come again.
    async fn executions(&self, numbers: std::ops::Range<usize>) -> anyhow::Result<()> {
        for number in numbers {
            let (who, what) = match number % 2 {
                0 => (number % CALLERS, number % TOOLS),
                _ => (number, number),
            };
            let session_name = Some(format!("session-{who}"));
            let caller = Caller { session_name, ..Caller::of(Owner(format!("caller-{who}"))) };
            for call in 0..CALLS {
                let facts = call_of(&caller, &format!("server-{}", what % 7), &format!("tool-{what}-{call}"));
                self.observer.passed(&facts);
            }
            self.execution(&caller, &format!("print({what})"))?;
            if number % AT_ONCE == 0 {
                self.caught_up().await;
            }
        }
        self.caught_up().await;
        Ok(())
    }
}

fn call_of(caller: &Caller, server: &str, tool: &str) -> Arc<CallFacts> {
    Arc::new(CallFacts {
        caller: caller.clone(),
        line: None,
        kind: RequestKind::CallTool,
        server: Some(server.to_owned()),
        name: tool.to_owned(),
        decision: None,
        request_bytes: 40,
        arguments: None,
        restored: Vec::new(),
        answer_bytes: 200,
        answer_shape: 7,
        took: Duration::from_millis(3),
        web: None,
        end: CallEnd::Answered,
    })
}

/// What is done for a call and an execution while they wait; the watch works beside them.
async fn alone(report: &Arc<Report>) -> anyhow::Result<Vec<Row>> {
    let folder = Temporary::new()?;
    let store = Store::open(&folder.0)?;
    let told = Told::new(&store, report);
    let (caller, mut of_call, mut of_execution) = (Caller::local(), f64::MAX, f64::MAX);
    let facts = call_of(&caller, "crm", "get");
    for _ in 0..ROUNDS {
        let began = Instant::now();
        (0..AT_ONCE).for_each(|_| told.observer.passed(&facts));
        of_call = of_call.min(began.elapsed().as_secs_f64() * 1e6 / AT_ONCE as f64);
        told.caught_up().await;
        let began = Instant::now();
        for _ in 0..AT_ONCE {
            told.execution(&caller, "print(1)")?;
        }
        of_execution = of_execution.min(began.elapsed().as_secs_f64() * 1e6 / AT_ONCE as f64);
        told.caught_up().await;
    }
    drop(told);
    store.close().await;
    Ok(vec![
        Row::at_most("metrics and watch alone, of a call", of_call, 20.0, "us"),
        Row::at_most("metrics and watch alone, of an execution", of_execution, 100.0, "us"),
    ])
}

async fn memory(report: &Arc<Report>) -> anyhow::Result<Vec<Row>> {
    let folder = Temporary::new()?;
    let store = Store::open(&folder.0)?;
    let told = Told::new(&store, report);
    let before = resident_mb();
    told.executions(0..FILLING).await?;
    let filled = resident_mb();
    told.executions(FILLING..FILLING + MORE).await?;
    let after = resident_mb();
    drop(told);
    store.close().await;
    Ok(vec![
        Row::plain(
            format!("memory before, after {FILLING} and after {} executions", FILLING + MORE),
            format!("{before:.1}, {filled:.1}, {after:.1} MB"),
        ),
        Row::at_most("growth until everything kept is at its bound", filled - before, 20.0, "MB"),
        Row::at_most(format!("growth over the {MORE} after that"), after - filled, 5.0, "MB"),
    ])
}

/// Of this process; 0 where the system does not tell.
fn resident_mb() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or_default().saturating_mul(rustix::param::page_size()) as f64 / 1e6
}
