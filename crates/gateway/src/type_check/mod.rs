//! Types before a run: a TypeScript program is shown to a type checker with the declarations of all tools. The
//! checker is another's program, found on the machine or installed by `gristmill setup --typescript`; without one,
//! and whenever it is late, programs run unchecked.
//!
//! One checker serves all programs, one at a time. It starts with the first program that needs it and ends when
//! nobody has for a while. What it is shown is hostile: it can't reach a file ([`type_text`] sees to that, and a
//! sandbox around it), it has limits, and whoever keeps it busy costs others a check, never a run.

mod checker_process;
mod wire;

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gristmill_checks::typescript::{TypeReport, type_text};
use gristmill_domain::catalogue::Lookup;
use gristmill_domain::stubs::declarations;
use gristmill_protocol::{SandboxedAccess, SandboxedNetwork, SandboxedPath, ServerSandbox};
use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::ports::Tools;
use crate::spans::EXECUTION;
use checker_process::{CheckerProcess, Declarations};

/// How long a program waits for its types to be checked.
pub const TYPE_CHECK_BUDGET: Duration = Duration::from_millis(150);

/// How long whoever only asks for a check waits.
pub const PATIENT_TYPE_CHECK_BUDGET: Duration = Duration::from_secs(5);

/// How long a check may take beside what nobody waits for any more. Then the checker is ended.
const WORK_MAX: Duration = Duration::from_secs(5);

/// How long a checker that nobody needs stays.
const IDLE: Duration = Duration::from_secs(5 * 60);

/// After a failure it isn't started again for a while, which grows.
const PAUSE: Duration = Duration::from_secs(2);
const PAUSE_MAX: Duration = Duration::from_secs(10 * 60);

/// How the checker is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeCheckCommand {
    /// What is started: the checker itself, or what confines it.
    pub program: PathBuf,
    /// The checker, and its own folder, which it reads.
    pub checker: PathBuf,
    /// How it is confined, if it is.
    pub confined: Option<ConfinedBy>,
}

/// The words under which `program` supervises another, and puts it behind walls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfinedBy {
    pub supervise: OsString,
    pub sandbox: OsString,
}

impl TypeCheckCommand {
    /// The checker as it is, which dies with its input.
    pub fn unconfined(checker: PathBuf) -> Self {
        Self { program: checker.clone(), checker, confined: None }
    }

    fn arguments(&self, folder: &Path) -> Vec<OsString> {
        let mut made = Vec::new();
        if let Some(confined) = &self.confined {
            made.push(confined.supervise.clone());
            // Elsewhere there are no walls to put it behind.
            if cfg!(target_os = "linux") {
                made.push(self.program.clone().into_os_string());
                made.push(confined.sandbox.clone());
                made.extend(self.sandbox(folder).to_words());
            }
            made.push(self.checker.clone().into_os_string());
        }
        made.extend(["--lsp", "--stdio"].map(OsString::from));
        made
    }

    /// It reads its own folder and the project's, and has no network.
    fn sandbox(&self, folder: &Path) -> ServerSandbox {
        let read = |path: &Path| SandboxedPath { path: path.to_owned(), access: SandboxedAccess::Read };
        ServerSandbox {
            paths: self.checker.parent().into_iter().chain([folder]).map(read).collect(),
            links: Vec::new(),
            hidden: Vec::new(),
            scratch: folder.with_extension("sandbox"),
            network: SandboxedNetwork::Closed,
            required: false,
        }
    }
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypesChecked {
    Done(TypeReport),
    /// There was nothing to show it.
    NotShown,
    /// It wasn't done in time.
    Late,
    /// There is no checker now.
    Failed,
}

impl TypesChecked {
    /// As it is logged.
    pub fn as_str(&self) -> &'static str {
        match self {
            TypesChecked::Done(_) => "done",
            TypesChecked::NotShown => "not shown",
            TypesChecked::Late => "late",
            TypesChecked::Failed => "failed",
        }
    }
}

/// See the module.
pub struct TypeChecker {
    command: TypeCheckCommand,
    /// Its own, below the gateway's scratch space.
    folder: PathBuf,
    idle: Duration,
    work_max: Duration,
    state: Mutex<State>,
    closed: CancellationToken,
}

#[derive(Default)]
struct State {
    running: Option<CheckerProcess>,
    /// Of the tools that were declared last.
    declared: Option<(u64, Arc<str>)>,
    failures: u32,
    not_before: Option<Instant>,
    last_used: Option<Instant>,
}

impl TypeChecker {
    /// Nothing is started yet.
    pub fn new(command: TypeCheckCommand, folder: PathBuf) -> Arc<Self> {
        Self::with_times(command, folder, IDLE, WORK_MAX)
    }

    /// With other times than the usual ones: how long an idle one stays, and how long a check may take.
    pub fn with_times(
        command: TypeCheckCommand,
        folder: PathBuf,
        idle: Duration,
        work_max: Duration,
    ) -> Arc<Self> {
        let (state, closed) = (Mutex::default(), CancellationToken::new());
        Arc::new(Self { command, folder, idle, work_max, state, closed })
    }

    /// Checks a program against these tools. Returns within the budget, whatever the checker does.
    pub async fn check(
        self: &Arc<Self>,
        code: String,
        tools: Arc<dyn Tools>,
        budget: Duration,
    ) -> TypesChecked {
        let (answer, answered) = oneshot::channel();
        let (checker, began) = (Arc::clone(self), Instant::now());
        tokio::spawn(async move {
            let outcome = checker.work(&code, tools, &answer).await;
            tracing::debug!(
                target: EXECUTION, outcome = outcome.as_str(), took_us = began.elapsed().as_micros() as u64,
                "types checked"
            );
            // Whoever asked may have gone on.
            let _ = answer.send(outcome);
        });
        match timeout(budget, answered).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => TypesChecked::Failed,
            Err(_) => TypesChecked::Late,
        }
    }

    async fn work(
        self: &Arc<Self>,
        code: &str,
        tools: Arc<dyn Tools>,
        answer: &oneshot::Sender<TypesChecked>,
    ) -> TypesChecked {
        let Some(lookup) = tools.lookup() else { return TypesChecked::NotShown };
        let Some(text) = type_text(code, lookup) else { return TypesChecked::NotShown };
        // Declarations are everybody's. A caller who isn't shown all tools must not read theirs in an error.
        let servers = &lookup.catalogue().servers;
        if !servers.iter().all(|server| server.tools.iter().all(|tool| tools.is_shown(server, tool))) {
            return TypesChecked::NotShown;
        }
        let mut state = self.state.lock().await;
        // Its turn came too late: nobody is to wait behind a check that nobody wants.
        if answer.is_closed() {
            return TypesChecked::Late;
        }
        if self.closed.is_cancelled() || state.not_before.is_some_and(|moment| Instant::now() < moment) {
            return TypesChecked::Failed;
        }
        let Some((fingerprint, declared)) = state.declarations(&tools).await else {
            return TypesChecked::NotShown;
        };
        let declared = Declarations { fingerprint, text: &declared };
        let asked = tokio::select! {
            biased;
            () = self.closed.cancelled() => return TypesChecked::Failed,
            asked = timeout(self.work_max, self.ask(&mut state, &text, declared)) => asked,
        };
        match asked {
            Ok(Ok(errors)) => {
                (state.failures, state.last_used) = (0, Some(Instant::now()));
                TypesChecked::Done(TypeReport { text, errors })
            }
            Ok(Err(error)) => {
                tracing::debug!(target: EXECUTION, kind = ?error.kind(), "the type checker failed");
                state.failed();
                TypesChecked::Failed
            }
            Err(_) => {
                state.failed();
                TypesChecked::Late
            }
        }
    }

    async fn ask(
        self: &Arc<Self>,
        state: &mut State,
        text: &str,
        declared: Declarations<'_>,
    ) -> io::Result<Vec<gristmill_checks::typescript::TypeError>> {
        // Taken out: what is dropped half-way is ended, and not asked again.
        let mut running = match state.running.take() {
            Some(running) => running,
            None => {
                let started = CheckerProcess::start(&self.command, &self.folder).await?;
                tokio::spawn(end_when_idle(Arc::downgrade(self), self.idle));
                started
            }
        };
        let errors = running.check(text, declared).await?;
        state.running = Some(running);
        Ok(errors)
    }

    /// Whether a process of it runs.
    pub async fn is_running(&self) -> bool {
        self.state.lock().await.running.is_some()
    }

    /// Ends it for good.
    pub async fn close(&self) {
        // A check that is under way ends here, and its process with it.
        self.closed.cancel();
        let running = self.state.lock().await.running.take();
        if let Some(running) = running {
            running.end().await;
        }
    }
}

impl State {
    /// The declarations of these tools; made once as long as they stay the same.
    async fn declarations(&mut self, tools: &Arc<dyn Tools>) -> Option<(u64, Arc<str>)> {
        let fingerprint = fingerprint(tools.lookup()?);
        if let Some((known, text)) = self.declared.as_ref().filter(|(known, _)| *known == fingerprint) {
            return Some((*known, Arc::clone(text)));
        }
        let tools = Arc::clone(tools);
        let making = move || tools.lookup().map(|lookup| declarations(lookup.catalogue()));
        let text: Arc<str> = tokio::task::spawn_blocking(making).await.ok()??.into();
        self.declared = Some((fingerprint, Arc::clone(&text)));
        Some((fingerprint, text))
    }

    fn failed(&mut self) {
        self.running = None;
        let pause = PAUSE.saturating_mul(1 << self.failures.min(12)).min(PAUSE_MAX);
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(Instant::now() + pause);
    }
}

fn fingerprint(lookup: &Lookup) -> u64 {
    let mut hasher = DefaultHasher::new();
    for server in &lookup.catalogue().servers {
        (&server.identifier, &server.offer.name, server.tools.len()).hash(&mut hasher);
        for tool in &server.tools {
            (&tool.identifier, tool.definition.hash).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Ends the process once nobody has needed it for so long.
async fn end_when_idle(checker: Weak<TypeChecker>, idle: Duration) {
    loop {
        tokio::time::sleep(idle).await;
        let Some(checker) = checker.upgrade() else { return };
        let mut state = checker.state.lock().await;
        if state.last_used.is_some_and(|used| used.elapsed() < idle) {
            continue;
        }
        if let Some(running) = state.running.take() {
            running.end().await;
        }
        return;
    }
}
