//! What `gristmill doctor` finds out about the native engine.

use gristmill_gateway::domain::{Level, Limits, counted_grouped};
use gristmill_gateway::{
    EngineId, ExecuteRequest, Gateway, NativeEngine, Settings, Wall, WallState, WallStatus, WorkerCommand,
};
use serde::Serialize;

use super::doctor_servers::words;
use crate::arguments::ConfigFile;
use crate::native_engine;
use crate::terminal::print_after;

/// Says which Python it is.
const PROGRAM: &str = "import sys\nresult = sys.version.split()[0]";

/// How the native engine is.
#[derive(Serialize)]
pub struct NativeFinding {
    /// `ok`, `off`, `wrong`, or `refused` where the level has none.
    state: &'static str,
    /// The version of its Python.
    python: Option<String>,
    /// What holds its programs: `a`, namespaces and everything behind them, or `b`, everything but namespaces.
    tier: Option<&'static str>,
    /// How many modules its environment brings.
    modules: usize,
    /// A program that was really run.
    trial_ms: Option<f64>,
    /// What is wrong, and what to do.
    problem: Option<String>,
}

impl NativeFinding {
    /// Starts it and runs a program in it, if it is on.
    pub async fn look(config: &ConfigFile, level: Level) -> Self {
        let native = match native_engine::of_command(config) {
            Ok(Some(native)) => native,
            Ok(None) => return Self::of("off", 0),
            Err(failure) => return Self { problem: Some(words(&failure)), ..Self::of("wrong", 0) },
        };
        let modules = native.modules.len();
        if level == Level::Hardened && !native.in_hardened {
            return Self::of("refused", modules);
        }
        match trial(native, level).await {
            Ok(Trial { python, tier, time_ms }) => Self {
                python: Some(python),
                tier: Some(tier),
                trial_ms: Some(time_ms),
                ..Self::of("ok", modules)
            },
            Err(problem) => Self { problem: Some(problem), ..Self::of("wrong", modules) },
        }
    }

    fn of(state: &'static str, modules: usize) -> Self {
        Self { state, python: None, tier: None, modules, trial_ms: None, problem: None }
    }

    /// In a few words, what to look at.
    pub fn trouble(&self) -> Option<&'static str> {
        self.problem.is_some().then_some("the native engine doesn't start")
    }

    /// As a person reads it.
    pub fn print(&self) {
        let modules = counted_grouped(self.modules, "module");
        let detail = match (&self.problem, &self.python, self.state) {
            (Some(problem), _, _) => problem.clone(),
            (None, Some(python), _) => {
                let held = match self.tier {
                    Some("b") => "tier B: landlock, seccomp and limits, without namespaces",
                    _ => "tier A: namespaces, landlock, seccomp and limits",
                };
                format!("CPython {python}, {modules} added; {held}")
            }
            (None, None, "refused") => {
                "not used at level hardened; `hardened = true` in [engines.native] allows it".to_owned()
            }
            (None, None, _) => "the default; `gristmill help native` tells how to turn it on".to_owned(),
        };
        println!("\nnative engine:");
        print_after(&format!("  {:<7} ", self.state), &detail);
    }
}

/// A program that was really run, and what held it.
struct Trial {
    python: String,
    tier: &'static str,
    time_ms: f64,
}

/// Its walls were tried when its workers started.
fn tier_of(walls: &[WallStatus]) -> &'static str {
    let stands =
        |status: &WallStatus| status.wall == Wall::MountNamespace && status.state == WallState::Stands;
    if walls.iter().any(stands) { "a" } else { "b" }
}

async fn trial(native: NativeEngine, level: Level) -> Result<Trial, String> {
    let mut settings = Settings::new(WorkerCommand::this_executable().map_err(|error| error.to_string())?);
    settings.limits = Limits::of(level);
    settings.native = Some(native);
    settings.pool.waiting = 0;
    settings.warm_engines = vec![EngineId::Native];
    let gateway = Gateway::build(settings).await.map_err(|error| error.to_string())?;
    let report = gateway.execute(ExecuteRequest::of(EngineId::Native, PROGRAM)).finish().await;
    let walls = gateway.ready().await;
    gateway.shutdown().await;
    match (report.error, report.result) {
        (None, Some(serde_json::Value::String(python))) => {
            let tier = tier_of(&walls.map_err(|error| error.to_string())?);
            Ok(Trial { python, tier, time_ms: report.execution_time_ms })
        }
        (Some(error), _) => Err(error.message),
        (None, other) => Err(format!("its version is {other:?}")),
    }
}
