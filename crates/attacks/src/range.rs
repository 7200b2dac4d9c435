//! What the attacks are after, and one attack from its first line to the verdict.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io};

use gristmill_gateway::domain::{LimitName, Limits};
use gristmill_gateway::{EngineId, ExecuteRequest, Gateway, LatestVariables, Report, Variables};

use crate::attack::{Attack, Language};
use crate::oracles;
use crate::verdict::{Problem, Verdict, ending_of, stopped_by};

pub(crate) const CANARY: &str = "CANARY-7f3a";
pub(crate) const OTHER: &str = "OTHER-55d1";

/// The variable of the gateway's environment that attacks are after. Whoever makes a [`Range`] has set it.
pub const SECRET_VARIABLE: &str = "GRISTMILL_TEST_SECRET";
pub const SECRET_VALUE: &str = "SECRET-91bc";

/// What a program may take beyond its deadline until it is gone, on a machine that is busy.
const GRACE: Duration = Duration::from_secs(20);

/// What the gateway's memory may grow by over all attacks: it holds answers, and the allocator keeps some.
pub(crate) const GROWTH_BYTES_MAX: u64 = 512 << 20;

/// What a program that is to end by itself gets.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub wall_time_ms: u64,
    /// What to make of one that does not.
    pub out_of_time: OutOfTime,
}

/// A program that ran out of time although its header names other endings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfTime {
    /// It was stopped, which is what counts: on a slow machine it gets no further.
    IsStopped,
    /// It did not end as it must.
    IsWrong,
}

/// Canaries in a folder, a listener for each attack, and the state of the host before.
pub struct Range {
    folder: PathBuf,
    /// What workers are called among the system's processes.
    worker_name: String,
    patience: Patience,
    memory_before: Option<u64>,
    attacks: AtomicU64,
    /// What runs attacks in Python.
    python: EngineId,
}

impl Range {
    /// In a new folder below `parent`, which goes with the range. `worker` is the program whose processes are
    /// expected.
    pub fn new(parent: &Path, worker: &Path, patience: Patience) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("gristmill-attacks-{}-{number}", std::process::id()));
        fs::create_dir_all(folder.join("other"))?;
        fs::write(folder.join("canary.txt"), CANARY)?;
        fs::write(folder.join("other/other.txt"), OTHER)?;
        Ok(Self {
            folder,
            worker_name: oracles::process_name(worker),
            patience,
            memory_before: oracles::own_memory(),
            attacks: AtomicU64::new(0),
            python: EngineId::Python,
        })
    }

    /// The same for the native engine. Headers say how attacks end in WebAssembly; there it counts that they gain
    /// nothing and end at all.
    pub fn native(mut self) -> Self {
        self.python = EngineId::Native;
        self
    }

    /// The limits under which attacks are tried: those of a level, with quotas that are slow to fill and are
    /// reached all the same.
    pub fn limits(level: Limits) -> Limits {
        let mut limits = level;
        let quotas = [(LimitName::WorkspaceBytes, 50 << 20), (LimitName::WorkspaceFiles, 2000)];
        for (name, value) in quotas {
            lower(&mut limits, name, value);
        }
        limits
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn worker_name(&self) -> &str {
        &self.worker_name
    }

    pub(crate) fn listen(&self) -> io::Result<TcpListener> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    /// Gives one attack to a gateway, and looks at the host.
    pub async fn withstand(&self, gateway: &Gateway, attack: &Attack) -> Verdict {
        let started = Instant::now();
        let mut verdict = self.once(gateway, attack).await;
        if attack.twice && verdict.problem.is_none() {
            verdict = self.once(gateway, attack).await;
        }
        verdict.time_ms = started.elapsed().as_secs_f64() * 1000.0;
        verdict
    }

    async fn once(&self, gateway: &Gateway, attack: &Attack) -> Verdict {
        let mut verdict = Verdict {
            language: attack.language,
            class: attack.class,
            name: attack.name,
            tried: attack.what,
            ending: String::new(),
            stopped_by: String::new(),
            time_ms: 0.0,
            problem: None,
        };
        let listener = match self.listen() {
            Ok(listener) => listener,
            Err(error) => {
                verdict.problem = Some(Problem::WrongEnding(format!("there's no listener: {error}")));
                return verdict;
            }
        };
        let nonce = format!("n{}x{}", std::process::id(), self.attacks.fetch_add(1, Ordering::Relaxed));
        let code = self.filled_in(attack, &listener, &nonce);
        let limits = self.limits_of(attack, gateway.limits());
        let time_ms = limits.get(LimitName::WallTime);
        let started = Instant::now();
        let request = ExecuteRequest {
            limits: Some(limits),
            ..ExecuteRequest::of(self.engine_of(attack.language), code)
        };
        let report = gateway.execute(request).finish().await;
        verdict.ending = ending_of(&report);
        verdict.stopped_by = stopped_by(attack.class, &verdict.ending, &report);
        verdict.problem = self
            .escape(attack, &report, &listener, &nonce)
            .map(Problem::Escaped)
            .or_else(|| self.wrong_ending(attack, &verdict.ending, &report))
            .or_else(|| too_late(started.elapsed(), time_ms));
        if verdict.problem.is_none() {
            verdict.problem = harm(gateway, self.engine_of(attack.language)).await;
        }
        verdict
    }

    /// Whether an attack on the next program would be noticed if it went through: in an interpreter that is kept
    /// it does, by design, so the second time it must tell of itself.
    pub async fn sees_what_is_left_behind(&self, gateway: &Gateway, attack: &Attack) -> bool {
        let Ok(listener) = self.listen() else { return false };
        let session =
            format!("control-{}-{}", std::process::id(), self.attacks.fetch_add(1, Ordering::Relaxed));
        let code = self.filled_in(attack, &listener, &session);
        let mut seen = false;
        for _ in 0..2 {
            let variables = Variables::Keep { session: session.clone(), latest: LatestVariables::Here };
            let limits = Some(self.limits_of(attack, gateway.limits()));
            let engine = attack.language.engine();
            let request = ExecuteRequest { variables, limits, ..ExecuteRequest::of(engine, code.clone()) };
            let report = gateway.execute(request).finish().await;
            seen = oracles::came_back(&oracles::texts_of(&report), &attack.forbid).is_some();
        }
        gateway.forget_variables(&session, "the control is over");
        seen
    }

    /// A fresh zygote of the native engine asks the interpreter what it is.
    fn is_interpreter(&self, found: &str) -> bool {
        self.python == EngineId::Native && found.contains("runs `python")
    }

    fn engine_of(&self, language: Language) -> EngineId {
        match language {
            Language::Python => self.python,
            Language::JavaScript => language.engine(),
        }
    }

    fn filled_in(&self, attack: &Attack, listener: &TcpListener, nonce: &str) -> String {
        let port = listener.local_addr().map_or(0, |address| address.port());
        attack
            .code
            .replace("@@CANARY@@", &self.folder.join("canary.txt").display().to_string())
            .replace("@@OTHER_WORKSPACE@@", &self.folder.join("other").display().to_string())
            .replace("@@SECRET_ENV@@", SECRET_VARIABLE)
            .replace("@@PORT@@", &port.to_string())
            .replace("@@NONCE@@", nonce)
    }

    fn limits_of(&self, attack: &Attack, level: &Limits) -> Limits {
        let mut limits = level.clone();
        // What is to end by itself gets all the time that a busy machine may need.
        let time_ms = match attack.may_run_out_of_time() {
            true => attack.timeout_ms.max(1000),
            false => self.patience.wall_time_ms,
        };
        for name in [LimitName::WallTime, LimitName::CpuTime] {
            let _ = limits.set(name, time_ms);
        }
        lower(&mut limits, LimitName::Memory, attack.memory_mb << 20);
        limits
    }

    /// What got through, as the host sees it.
    fn escape(
        &self,
        attack: &Attack,
        report: &Report,
        listener: &TcpListener,
        nonce: &str,
    ) -> Option<String> {
        let words: Vec<&str> = attack.forbid.iter().copied().chain([CANARY, SECRET_VALUE, OTHER]).collect();
        let (other, temporary) = (self.folder.join("other"), std::env::temp_dir());
        let folders = [self.folder(), &other, &temporary, Path::new("/")];
        oracles::came_back(&oracles::texts_of(report), &words)
            .or_else(|| oracles::connected(listener))
            .or_else(|| oracles::appeared(&folders, nonce))
            .or_else(|| {
                oracles::foreign_process(&self.worker_name).filter(|found| !self.is_interpreter(found))
            })
            .or_else(|| self.grown())
    }

    fn wrong_ending(&self, attack: &Attack, ending: &str, report: &Report) -> Option<Problem> {
        let is_stopped = ending.ends_with("_time") && self.patience.out_of_time == OutOfTime::IsStopped;
        // A native program can break its own line to the gateway, which then ends it.
        if is_stopped || self.python == EngineId::Native || attack.expect.contains(&ending) {
            return None;
        }
        let stdout: String = report.stdout.chars().take(600).collect();
        Some(Problem::WrongEnding(format!(
            "{ending}, expected {}\nerror: {:?}\nstdout: {stdout}\nnotes: {:?}",
            attack.expect.join(" | "),
            report.error,
            report.notes
        )))
    }

    /// Whether the gateway's own memory has grown by more than answers account for.
    fn grown(&self) -> Option<String> {
        let grown = oracles::own_memory()?.saturating_sub(self.memory_before?);
        (grown > GROWTH_BYTES_MAX).then(|| format!("the gateway's memory has grown by {} MB", grown >> 20))
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A level's own limit stays where it is the lower one.
fn lower(limits: &mut Limits, name: LimitName, value: u64) {
    if value < limits.get(name) {
        let _ = limits.set(name, value);
    }
}

fn too_late(took: Duration, limit_ms: u64) -> Option<Problem> {
    let is_late = took > Duration::from_millis(limit_ms) + GRACE;
    is_late.then(|| Problem::WrongEnding(format!("it took {} s", took.as_secs())))
}

/// Whether an ordinary program of the same language still runs.
async fn harm(gateway: &Gateway, engine: EngineId) -> Option<Problem> {
    let after = gateway.execute(ExecuteRequest::of(engine, "6 * 7")).finish().await;
    let is_well = after.result == Some(serde_json::json!(42));
    (!is_well).then(|| Problem::GatewayHarmed(format!("6 * 7 failed afterwards: {:?}", after.error)))
}
