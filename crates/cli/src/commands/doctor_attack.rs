//! `gristmill doctor --attack`: our own hostile programs against this binary on this machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use gristmill_attacks::{
    Attack, Control, OutOfTime, Patience, Range, SECRET_VALUE, SECRET_VARIABLE, Verdict,
};
use gristmill_example_servers::example_tools::ExampleTools;
use gristmill_gateway::domain::{Level, Limits};
use gristmill_gateway::{EngineId, Folders, Gateway, NativeEngine, PoolSettings, WorkerCommand};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::{Failure, Outcome};
use crate::exit_codes;
use crate::spinner::Spinner;
use crate::terminal::{eprint_lines, one_line, print_lines};

/// What an attack that ends by itself gets.
const PATIENCE: Patience = Patience { wall_time_ms: 15_000, out_of_time: OutOfTime::IsStopped };

/// Attacks at the same time: most of them wait for a limit.
const AT_ONCE: usize = 6;

#[derive(Serialize)]
struct Siege {
    level: Level,
    /// Whether what looks at the host sees what it must, tried before the attacks.
    controls: Vec<Control>,
    attacks: Vec<Verdict>,
    withstood: usize,
    time_ms: f64,
}

/// Attacks of these classes; of all, if none is named.
pub async fn attack(level: Level, classes: &[String], native: Option<NativeEngine>, json: bool) -> Outcome {
    let mut attacks = chosen(classes)?;
    if native.is_some() {
        attacks.retain(Attack::is_for_native);
    }
    if std::env::var_os(SECRET_VARIABLE).is_none_or(|value| value != SECRET_VALUE) {
        return again_with_the_secret();
    }
    let siege = lay(level, attacks, native, json).await.map_err(Failure::Internal)?;
    match json {
        true => {
            let text =
                serde_json::to_string_pretty(&siege).map_err(|error| Failure::Internal(error.into()))?;
            println!("{text}");
        }
        false => siege.print_sum(),
    }
    let is_safe =
        siege.withstood == siege.attacks.len() && siege.controls.iter().all(|control| control.fired);
    Ok(if is_safe { exit_codes::OK } else { ExitCode::FAILURE })
}

/// The secret that attacks are after is in the environment of the process that holds the gateway, from its start.
fn again_with_the_secret() -> Outcome {
    let again = || -> anyhow::Result<Option<i32>> {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(std::env::args_os().skip(1)).env(SECRET_VARIABLE, SECRET_VALUE);
        Ok(command.status()?.code())
    };
    let code = again().context("can't start again to attack").map_err(Failure::Internal)?;
    Ok(code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

fn chosen(classes: &[String]) -> Result<Vec<Attack>, Failure> {
    let mut attacks = gristmill_attacks::all().map_err(|error| Failure::Internal(error.into()))?;
    let known: BTreeSet<&str> = attacks.iter().map(|attack| attack.class).collect();
    if let Some(unknown) = classes.iter().find(|class| !known.contains(class.as_str())) {
        let known: Vec<&str> = known.into_iter().collect();
        let why = format!("no attacks of kind `{}`; there are {}", one_line(unknown), known.join(", "));
        return Err(Failure::Usage(anyhow!(why)));
    }
    attacks.retain(|attack| classes.is_empty() || classes.iter().any(|class| class == attack.class));
    Ok(attacks)
}

async fn lay(
    level: Level,
    attacks: Vec<Attack>,
    native: Option<NativeEngine>,
    json: bool,
) -> anyhow::Result<Siege> {
    let started = Instant::now();
    let executable = std::env::current_exe()?;
    let range = Range::new(&std::env::temp_dir(), &executable, PATIENCE)?;
    let range = Arc::new(if native.is_some() { range.native() } else { range });
    // Before any attack: each of them would see what the controls do.
    let controls = range.controls();
    if !json {
        print_controls(level, &controls);
    }
    let gateway = gateway_at(level, native).await?;
    gateway.ready().await.map_err(|error| {
        anyhow!("no sandbox at isolation level {level}: {error}\nhint: `gristmill doctor --level {level}` says what is missing")
    })?;
    let verdicts = attack_all(&range, &gateway, attacks, json).await;
    gateway.shutdown().await;
    let withstood = verdicts.iter().filter(|verdict| verdict.problem.is_none()).count();
    let time_ms = started.elapsed().as_secs_f64() * 1000.0;
    Ok(Siege { level, controls, attacks: verdicts, withstood, time_ms })
}

async fn gateway_at(level: Level, native: Option<NativeEngine>) -> anyhow::Result<Gateway> {
    let cache = Folders::from_environment()?.cache;
    let pool = PoolSettings { waiting: AT_ONCE, ..PoolSettings::default() };
    let gateway = Gateway::builder(WorkerCommand::this_executable()?)
        .limits(Range::limits(Limits::of(level)))
        // At `hardened` they'd refuse many attacks before any wall could: a reading of the program is no wall.
        .without_checks()
        .tools(Arc::new(ExampleTools::new(Path::new(&cache))?))
        .concurrent_executions(AT_ONCE * 2)
        .queue(256, Duration::from_secs(120))
        .pool(pool);
    let gateway = match native {
        Some(native) => gateway.native(native).warm_engines([EngineId::Native]),
        None => gateway,
    };
    Ok(gateway.build().await?)
}

/// All of them, some at a time, in the order of their names.
async fn attack_all(range: &Arc<Range>, gateway: &Gateway, attacks: Vec<Attack>, json: bool) -> Vec<Verdict> {
    let total = attacks.len();
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for attack in attacks {
        let (range, gateway, places) = (Arc::clone(range), gateway.clone(), Arc::clone(&places));
        running.spawn(async move {
            let _place = places.acquire_owned().await;
            range.withstand(&gateway, &attack).await
        });
    }
    let spinner = Spinner::start(format!("0 of {total} attacks"));
    let mut verdicts = Vec::with_capacity(total);
    while let Some(ended) = running.join_next().await {
        verdicts.extend(ended);
        if let Some(text) = spinner.text() {
            text.set(format!("{} of {total} attacks", verdicts.len()));
        }
    }
    drop(spinner);
    verdicts.sort_by_key(|verdict: &Verdict| (verdict.language, verdict.class, verdict.name));
    if !json {
        verdicts.iter().for_each(print_verdict);
    }
    verdicts
}

fn print_controls(level: Level, controls: &[Control]) {
    println!("isolation level {level}");
    println!("\nseen when nothing stands in the way:");
    for control in controls {
        println!("  {} {}", if control.fired { "ok  " } else { "NOT " }, control.oracle);
    }
    println!("\nattacks:");
}

fn print_verdict(verdict: &Verdict) {
    let mark = if verdict.problem.is_none() { "ok  " } else { "FAIL" };
    let name = verdict.full_name();
    let time_s = verdict.time_ms / 1000.0;
    print_lines(&format!("  {mark} {name:<45} {time_s:>5.1} s  {}", one_line(&verdict.stopped_by)));
}

impl Siege {
    fn print_sum(&self) {
        for verdict in &self.attacks {
            if let Some(problem) = &verdict.problem {
                print_lines(&format!("\n{}: {}", verdict.full_name(), verdict.tried));
                print_lines(&format!("  {}", one_line(&problem.words())));
            }
        }
        let total = self.attacks.len();
        println!("\n{} of {total} attacks stopped in {:.0} s", self.withstood, self.time_ms / 1000.0);
        if self.controls.iter().any(|control| !control.fired) {
            eprint_lines(
                "error: what looks at the host doesn't see everything here (NOT above), so this proves less",
            );
        }
        if self.withstood < total {
            eprint_lines("hint: SECURITY.md says how to report this");
        }
    }
}
