//! The way of one program, stage by stage. Each stage takes what the one before returns, so that
//! none can be left out:
//!
//! [`admit`] (limits, a place among the running) → [`prepare`] (folders, the program's frame) → [`checkout`] (a waiting
//! worker, which walls itself in, or the one that the session has) → [`check`] (what is wrong with the program for
//! certain) → [`drive`] (one loop over the worker's messages) → [`shape`] (the report) → [`variables`] (whether the
//! interpreter stays).
//!
//! To wall itself in takes a worker about as long as a check takes us, on another core. No program is handed over before
//! it was checked; the worker of one that is refused ends without having seen it. Where no worker waits, and for the
//! interpreter of a session, the check comes first.

mod admit;
mod answer_payload;
mod asking;
mod call_failure;
mod call_room;
mod check;
mod course;
mod drive;
mod dry_run;
mod elsewhere;
mod ending;
mod housekeeping;
mod large_result;
mod level_guardrails;
mod outgoing;
mod prepare;
mod privacy_call;
mod program_call;
mod refused;
mod room;
mod server_starts;
mod shape;
mod shared;
mod standing;
mod state_call;
mod token_meter;
mod tool_call;
mod typed;
mod variables;

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Instant;

use gristmill_checks::Finding;
use gristmill_domain::Code;
use gristmill_protocol::EngineId;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

pub(crate) use check::{Types, check_only};
pub use check::{check_program, check_program_with_types};
pub(crate) use room::overfilled;
pub(crate) use shared::{Core, CoreSettings, QueueSettings};

use crate::at_length::at_length;
use crate::pool::{self, CheckoutError, Worker};
use crate::ports::{Progress, Tools};
use crate::report::{DryRunReport, PlanReport, Refusal, Report, Timing, ToolCalled};
use crate::request::ExecuteRequest;
use crate::skills::{FrozenSkills, SkillSandbox};
use crate::spans::{say, stage};
use check::{Checked, Reading};
use prepare::{Home, NewHome, Prepared, TakenHome};
use typed::Typed;

/// Events that nobody has taken. Beyond this the program waits for its reader.
const EVENTS_MAX: usize = 4096;

/// Something that happens while a program runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The program printed something.
    Output {
        stream: gristmill_protocol::Stream,
        /// What, as it was written; a character may be split over two events.
        bytes: Vec<u8>,
    },
    /// The program called a tool.
    ToolStarted {
        name: String,
    },
    /// A tool said how far it has come.
    ToolProgress {
        name: String,
        progress: Progress,
    },
    ToolFinished(ToolCalled),
    /// A call waits for a server that is being started, and has waited for a while.
    ServerStarting {
        server: String,
    },
    /// Its machine was lost: it begins once more, and what was printed and called before doesn't count.
    RunsAgain,
}

/// For whom a program runs.
pub(crate) enum Purpose {
    /// A caller asked for it. The skills that it saves are checked here.
    Asked(Arc<dyn SkillSandbox>),
    /// We did, perhaps for a program that holds a place already: it has places of its own, finds
    /// these skills, and can change none.
    Internal(FrozenSkills),
}

/// What an interpreter's programs find beside its folders, for its whole life.
pub(crate) struct Given {
    /// What runs them.
    engine: EngineId,
    tools: Arc<dyn Tools>,
    /// Held, so that nobody takes its folder away.
    skills: FrozenSkills,
}

type Interpreter = pool::Interpreter<Given>;
type Belongings = pool::Belongings<Given>;
type Lease = pool::Lease<Given>;

/// A program under way. Dropping it cancels it.
pub struct Execution {
    events: mpsc::Receiver<Event>,
    running: Running,
}

impl Execution {
    /// The next thing that happens; `None` when nothing more will. A program whose events are not
    /// taken is held up after some thousand of them; [`Execution::finish`] lets it go on.
    pub async fn next_event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Ends the program at once. The report says what had been done.
    pub fn cancel(&self) {
        self.running.cancel();
    }

    /// How it ended. Events that were not taken are dropped; the report has them all.
    pub async fn finish(mut self) -> Report {
        self.events.close();
        self.running.report().await
    }
}

/// A program under way whose events go to somebody else. Dropping it cancels it.
pub(crate) struct Running {
    report: oneshot::Receiver<Report>,
    cancel: CancellationToken,
}

impl Running {
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// How it ended. To be asked once; safe to drop before that and to ask again.
    pub async fn report(&mut self) -> Report {
        match (&mut self.report).await {
            Ok(report) => report,
            Err(_) => Report::failed_by_us("the execution's task ended without a report"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// Where events go that nobody has taken yet. A program waits when it is full.
pub(crate) fn event_channel() -> (mpsc::Sender<Event>, mpsc::Receiver<Event>) {
    mpsc::channel(EVENTS_MAX)
}

/// Starts a program on a task of its own.
pub(crate) fn start(core: Arc<Core>, request: ExecuteRequest, purpose: Purpose) -> Execution {
    let (sender, events) = event_channel();
    Execution { events, running: start_telling(core, request, purpose, sender) }
}

/// The same, with its events going where they are wanted.
pub(crate) fn start_telling(
    core: Arc<Core>,
    request: ExecuteRequest,
    purpose: Purpose,
    events: mpsc::Sender<Event>,
) -> Running {
    let (report_sender, report) = oneshot::channel();
    let cancel = CancellationToken::new();
    let (cancelled, span) = (cancel.clone(), Span::current());
    let runtime = core.runtime.clone();
    runtime.spawn(async move {
        // In a box: it is large, and is moved with every layer around it.
        let running = Box::pin(run(&core, request, purpose, events, cancelled));
        let report = running.instrument(span).await;
        // Nobody waits any more: the work is done all the same.
        let _ = report_sender.send(report);
    });
    Running { report, cancel }
}

async fn run(
    core: &Core,
    request: ExecuteRequest,
    purpose: Purpose,
    events: mpsc::Sender<Event>,
    cancelled: CancellationToken,
) -> Report {
    let asked = Instant::now();
    let engine = request.engine;
    let mut timing = Timing::default();
    let outcome = tokio::select! {
        biased;
        () = cancelled.cancelled() => Err(Refusal::cancelled()),
        outcome = bring_to_start(core, request, purpose, &mut timing) => outcome,
    };
    let mut ready = match outcome {
        Ok(ready) => ready,
        Err(refusal) => {
            // It may have taken a worker.
            core.refill(engine);
            return Report { timing, ..refusal.report(asked) };
        }
    };
    let (findings, typed) = (std::mem::take(&mut ready.findings), std::mem::take(&mut ready.typed));
    let writes = ready.prepared.capabilities.writes.clone();
    let driving = Instant::now();
    let span = stage!(ready.prepared.capabilities.caller, "run", program_bytes, output_bytes, calls, ending);
    let (mut finished, left) = course::follow(core, ready, events, cancelled, asked).instrument(span).await;
    // What comes after is beside the next program: it counts tokens.
    let ran_until = asked + finished.took;
    timing.took("run", driving, ran_until.saturating_duration_since(driving));
    timing.ended("count", ran_until);
    timing.calls_began = std::mem::take(&mut finished.calls_began);
    let shaping = Instant::now();
    let large = finished.large_result.take();
    let mut shaped =
        if finished.is_large() { at_length(|| shape::shape(finished)) } else { shape::shape(finished) };
    shaped.report.findings = findings;
    typed.explain(&mut shaped.report);
    (shaped.report.dry_run, shaped.report.plan) = (DryRunReport::of(&writes), PlanReport::of(&writes));
    large_result::settle(large, &mut shaped).await;
    if let Some(left) = left {
        variables::settle(core, left, &mut shaped);
    }
    timing.ended("shape", shaping);
    Report { timing, ..shaped.report }
}

/// Everything before the first instruction. Nothing has run if this fails.
async fn bring_to_start(
    core: &Core,
    request: ExecuteRequest,
    purpose: Purpose,
    timing: &mut Timing,
) -> Result<Ready, Refusal> {
    let span = stage!(request.capabilities.caller, "admit", isolation, context_bytes, ahead);
    let admitted = staged(timing, ("admit", span), admit::admit(core, request, &purpose)).await?;
    // Beside what is prepared, as far as there is a core for it.
    let reading = Reading::begin(core, &admitted, &purpose);
    let span = stage!(admitted.capabilities.caller, "prepare", tools, workspace_bytes, frame_bytes);
    let prepared = staged(timing, ("prepare", span), prepare::prepare(core, admitted, purpose)).await?;
    let is_new = matches!(prepared.home, Home::New(_));
    // Otherwise there is nothing to gain, and a program that is refused should not wait for a worker.
    let is_here = prepared.elsewhere.is_none();
    let walls_go_up_meanwhile = is_new && is_here && core.pools.of(prepared.engine).waiting() > 0;
    let mut prepared = match walls_go_up_meanwhile {
        true => checked_out(core, prepared, timing).await?,
        false => prepared,
    };
    let span = stage!(prepared.capabilities.caller, "check", checked_bytes, findings, rule, types);
    let checked = match staged(timing, ("check", span), check::check(core, &prepared, reading)).await {
        Ok(checked) => checked,
        Err(refusal) => {
            give_up(core, prepared);
            return Err(refusal);
        }
    };
    if !walls_go_up_meanwhile {
        prepared = checked_out(core, prepared, timing).await?;
    }
    Ready::new(prepared, checked)
}

async fn checked_out(core: &Core, prepared: Prepared, timing: &mut Timing) -> Result<Prepared, Refusal> {
    let span = stage!(prepared.capabilities.caller, "checkout", kept_interpreter, worker);
    staged(timing, ("checkout", span), checkout(core, prepared)).await
}

/// Nothing ran, and nothing will.
fn give_up(core: &Core, mut prepared: Prepared) {
    if let Home::Taken(home) = std::mem::replace(&mut prepared.home, Home::Kept) {
        core.end(home.interpreter, None);
    }
}

/// A stage within its span, which has the code of a refusal.
async fn staged<T>(
    timing: &mut Timing,
    (name, span): (&'static str, Span),
    stage: impl Future<Output = Result<T, Refusal>>,
) -> Result<T, Refusal> {
    let began = Instant::now();
    let outcome = stage.instrument(span.clone()).await;
    timing.ended(name, began);
    if let Err(refusal) = &outcome {
        span.record("refused", refusal.code().as_str());
    }
    outcome
}

async fn checkout(core: &Core, mut prepared: Prepared) -> Result<Prepared, Refusal> {
    let rule = (prepared.engine, prepared.cpu.percent);
    let taken = match std::mem::replace(&mut prepared.home, Home::Kept) {
        Home::New(home) => {
            let NewHome { belongings, frame } = *home;
            let worker = match &prepared.elsewhere {
                None => confined_worker(core, rule, (&frame, &belongings)).await?,
                Some(elsewhere) => elsewhere::worker(core, elsewhere, (&prepared.frame, &belongings))
                    .await
                    .map_err(elsewhere::refused)?,
            };
            say(|span| {
                span.record("kept_interpreter", false).record("worker", worker.id());
            });
            TakenHome { interpreter: Interpreter { worker, belongings, memory_bytes: 0 }, found: false }
        }
        Home::Kept => {
            let mut interpreter =
                prepared.lease.as_mut().and_then(Lease::take).ok_or_else(interpreter_is_gone)?;
            say(|span| {
                span.record("kept_interpreter", true);
            });
            slow(core, rule, &mut interpreter.worker).await?;
            TakenHome { interpreter, found: true }
        }
        Home::Taken(home) => *home,
    };
    prepared.home = Home::Taken(Box::new(taken));
    Ok(prepared)
}

/// A new worker, which has been told what it is confined to.
async fn confined_worker(
    core: &Core,
    rule: (EngineId, u64),
    (frame, belongings): (&[u8], &Belongings),
) -> Result<Worker, Refusal> {
    let mut worker = core.pools.of(rule.0).checkout().await.map_err(|error| match &error {
        CheckoutError::Unavailable(_) => Refusal::new(
            Code::WorkerUnavailable,
            format!("can't start a worker: {error}"),
            "run `gristmill doctor` to see what's missing",
        ),
        CheckoutError::TimedOut(_) => Refusal::new(
            Code::WorkerUnavailable,
            error.to_string(),
            "try again; `gristmill doctor` shows the state of the workers",
        ),
    })?;
    slow(core, rule, &mut worker).await?;
    let folders: Vec<_> = belongings.folders.iter().map(AsFd::as_fd).collect();
    // One that is gone is missed when its program is handed over.
    let _ = worker.send(frame, &folders).await;
    Ok(worker)
}

fn interpreter_is_gone() -> Refusal {
    let message = "the session's interpreter is gone; nothing ran";
    Refusal::new(Code::WorkerLost, message, "run the program again")
}

/// Holds a worker to the part of a core that its program may have.
async fn slow(core: &Core, (engine, percent): (EngineId, u64), worker: &mut Worker) -> Result<(), Refusal> {
    let slowed = core.pools.of(engine).slow(worker, percent).await;
    slowed.map_err(|error| {
        let message = format!("can't hold the worker to its `cpu_percent`: {error}; nothing ran");
        Refusal::new(Code::WorkerUnavailable, message, "run it again; `gristmill doctor` shows the cgroup")
    })
}

/// A program, and an interpreter that waits for it.
pub(crate) struct Ready {
    prepared: Prepared,
    /// What was found in it.
    findings: Vec<Finding>,
    /// What its types say, should it fail.
    typed: Typed,
    interpreter: Interpreter,
    /// Whether an earlier program left it.
    found: bool,
}

impl Ready {
    fn new(mut prepared: Prepared, checked: Checked) -> Result<Self, Refusal> {
        let Home::Taken(home) = std::mem::replace(&mut prepared.home, Home::Kept) else {
            return Err(interpreter_is_gone());
        };
        let (TakenHome { interpreter, found }, Checked { findings, typed }) = (*home, checked);
        Ok(Self { prepared, findings, typed, interpreter, found })
    }
}
