//! The life of one execution: place → execute → record → answer. Each stage takes what the one before
//! returns. There is no other way through the gateway.

use std::sync::Arc;
use std::time::Instant;

use gristmill_domain::{Code, Limits};
use tokio::sync::mpsc;
use tracing::{Instrument, Span};

use super::engine::{self, OtherEngine};
use super::entry::{self, Entry};
use super::hidden::{HiddenEvents, hide_report};
use super::planning::{self, DryRun};
use super::questions::Questions;
use super::start::{PlaceChoice, StartRequest};
use crate::answer::{self, Answer, AnswerBudget, Keeping};
use crate::audit::{Audit, AuditedExecution};
use crate::execute::{self, Core, Event, Purpose};
use crate::history::{Beginning, History, Recording};
use crate::ids::{Caller, ExecutionId, Owner, SessionId};
use crate::marks::{MarkLedger, Reading};
use crate::plans::Plans;
use crate::ports::Asker;
use crate::privacy::{Privacy, Veil};
use crate::report::{Refusal, Report, StageTime};
use crate::request::{Capabilities, ExecuteRequest};
use crate::results::{Origin, Results};
use crate::session::{Place, SessionChoice, SessionWishes, Sessions};
use crate::spans::{self, stage};
use crate::telemetry::{Measured, Telemetry};

/// What executions need while they run. What is missing is not kept: without sessions nothing is left
/// for the next program, without a history nothing is recorded, without an audit nothing can be proven,
/// without results nothing is stored, without plans a dry run cannot be carried out later.
pub(crate) struct World {
    pub core: Arc<Core>,
    pub sessions: Option<Sessions>,
    pub history: Option<History>,
    pub audit: Option<Audit>,
    pub results: Option<Results>,
    /// None if no server has a mark.
    pub marks: Option<MarkLedger>,
    pub plans: Option<Plans>,
    /// What becomes of personal data; `None` if it goes as it is.
    pub privacy: Option<Privacy>,
    /// Who counts and watches; `None` if nobody does.
    pub telemetry: Option<Telemetry>,
}

impl World {
    /// The same one, for a task of its own.
    pub fn share(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            sessions: self.sessions.clone(),
            history: self.history.clone(),
            audit: self.audit.clone(),
            results: self.results.clone(),
            marks: self.marks.clone(),
            plans: self.plans.clone(),
            privacy: self.privacy.clone(),
            telemetry: self.telemetry.clone(),
        }
    }
}

/// One execution to be.
pub(super) struct Order {
    start: StartRequest,
    purpose: Purpose,
    /// Who sees what happens; the entry, if nobody is named.
    live: Option<mpsc::Sender<Event>>,
    /// What its report says beside everything else.
    note: Option<String>,
    is_recorded: bool,
}

impl Order {
    pub fn asked(mut start: StartRequest, purpose: Purpose) -> Self {
        let note = start.note.take();
        Self { start, purpose, live: None, note, is_recorded: true }
    }

    pub fn owner(&self) -> &Owner {
        &self.start.caller.owner
    }

    pub fn live(start: StartRequest, purpose: Purpose, events: mpsc::Sender<Event>) -> Self {
        Self { live: Some(events), ..Self::asked(start, purpose) }
    }

    /// For ourselves: in the history if there is something to say about it.
    pub fn internal(start: StartRequest, purpose: Purpose, note: Option<String>) -> Self {
        Self { is_recorded: note.is_some(), note, ..Self::asked(start, purpose) }
    }

    /// Gives the execution its own place in its caller's trace.
    fn begin_trace(&mut self, id: &ExecutionId) -> Span {
        let StartRequest { caller, request, .. } = &mut self.start;
        let parent = caller.trace.take();
        caller.trace = spans::begin_trace(parent.as_ref());
        spans::execution(id, caller, request.engine, request.code.len(), parent.as_ref())
    }
}

/// One program, from its place to its report, and what is said about it if anybody wants that.
pub(super) async fn carry_out(
    entry: &Arc<Entry>,
    world: &World,
    mut order: Order,
    asked: Instant,
) -> CarriedOut {
    let span = order.begin_trace(&entry.id);
    // In a box: it is large, and is moved with every layer around it.
    let carried = Box::pin(carry_through(entry, world, order, asked));
    let (report, answer) = carried.instrument(span.clone()).await;
    CarriedOut { report, answer, span }
}

/// A program that has ended, of which its followers, logs and traces know nothing yet.
pub(super) struct CarriedOut {
    report: Report,
    answer: Option<Answer>,
    span: Span,
}

/// What logs and traces hear in the end, however that comes: a runtime that ends drops its tasks.
struct LastWords {
    span: Span,
    report: Arc<Report>,
    tokens: Option<u64>,
}

impl Drop for LastWords {
    fn drop(&mut self) {
        spans::ended(&self.span, &self.report, self.tokens);
    }
}

impl CarriedOut {
    /// Tells its followers. They go first: logs and traces have time.
    pub async fn tell(self, entry: &Entry) {
        let Self { report, answer, span } = self;
        let tokens = answer.as_ref().map(|answer| answer.tokens);
        let report = entry.end(report, answer);
        let _last = LastWords { span, report, tokens };
        tokio::task::yield_now().await;
    }

    /// Nobody follows it.
    pub fn report(self) -> Report {
        spans::ended(&self.span, &self.report, self.answer.map(|answer| answer.tokens));
        self.report
    }
}

async fn carry_through(
    entry: &Arc<Entry>,
    world: &World,
    order: Order,
    asked: Instant,
) -> (Report, Option<Answer>) {
    let budget = order.start.answer;
    let caller = order.start.caller.clone();
    let span = stage!(caller, "place", in_session, variables_kept);
    match place(entry, world, order).instrument(span).await {
        Ok(placed) => {
            let place = StageTime { name: "place", began: asked, took: asked.elapsed() };
            let caller = placed.request.capabilities.caller.clone();
            let mut executed = placed.execute(entry, world).await;
            executed.report.timing.preceded_by(place);
            let span = stage!(caller, "record", tokens, audit_events);
            let answered = executed.record(world).instrument(span).await.answer().await;
            match settle(world).await {
                Ok(()) => answered,
                Err(refusal) => {
                    let report = refusal.report(asked);
                    let answer = answer_within(&report, budget, None).await;
                    (report, answer)
                }
            }
        }
        Err(refusal) => {
            let report = refusal.report(asked);
            note_refusal(world, &caller, &entry.id, &report);
            let answer = answer_within(&report, budget, None).await;
            (report, answer)
        }
    }
}

/// Waits until another gateway could go on from here, where the state is shared: what is answered isn't taken back.
async fn settle(world: &World) -> Result<(), Refusal> {
    let Some(store) = world.history.as_ref().map(History::store) else { return Ok(()) };
    store.settle().await.map_err(|error| {
        let message = format!("the program has ended, and its outcome isn't safe: {error}");
        let hint = "check which of its calls were made before you run it again; another gateway answers from here on";
        Refusal::new(Code::NotShared, message, hint)
    })
}

/// Nothing ran, which an auditor may ask about all the same.
fn note_refusal(world: &World, caller: &Caller, id: &ExecutionId, report: &Report) {
    if let (Some(audit), Some(error)) = (&world.audit, &report.error) {
        audit.refused(caller, id, error.code);
    }
    if let Some(telemetry) = &world.telemetry {
        telemetry.refused(caller, Some(id), report);
    }
}

/// A program that has its place.
struct Placed {
    id: ExecutionId,
    owner: Owner,
    request: ExecuteRequest,
    purpose: Purpose,
    /// `None` where it works as its request says.
    place: Option<Place>,
    /// What it reads of stored results counts meanwhile.
    reading: Option<Reading>,
    budget: Option<AnswerBudget>,
    live: Option<mpsc::Sender<Event>>,
    note: Option<String>,
    is_recorded: bool,
    dry_run: Option<DryRun>,
    /// What it hears of should it lack what another engine has.
    other_engine: Option<OtherEngine>,
}

/// A program that has ended, and whose session is free again.
struct Executed {
    id: ExecutionId,
    owner: Owner,
    report: Report,
    recording: Option<Recording>,
    audited: Option<AuditedExecution>,
    measured: Option<Measured>,
    budget: Option<AnswerBudget>,
    veil: Option<Arc<Veil>>,
}

/// One that is in the history, or says why it is not.
struct Recorded {
    report: Report,
    budget: Option<AnswerBudget>,
    keep: Option<Keeping>,
    answer: Option<Answer>,
    /// Whether the report has changed since the answer was worded.
    is_outdated: bool,
}

/// Waits for the session, and gives the program what it finds there.
async fn place(entry: &Arc<Entry>, world: &World, order: Order) -> Result<Placed, Refusal> {
    let Order { start, purpose, live, mut note, is_recorded } = order;
    let asker = match start.answers.any() {
        true => Asker::new(Arc::new(Questions::new(entry, start.answers))),
        false => Asker::none(),
    };
    let wishes = SessionWishes { level: start.level, engine: start.engine };
    let is_plan = start.plan.is_some();
    let planned = async {
        let start = planning::take_plan(world.plans.as_ref(), &world.core.limits, start, &asker).await?;
        let kept = engine::kept_wishes(&world.core, &start);
        let found = find_place(world, &start.caller, start.place, kept).await?;
        Ok::<_, Refusal>((start.caller, start.request, start.answer, start.budget_is_explicit, found))
    };
    let (caller, mut request, mut budget, budget_is_explicit, (place, keep_variables)) = tokio::select! {
        biased;
        () = entry.cancelled() => return Err(Refusal::cancelled()),
        planned = planned => planned?,
    };
    if let Some(place) = &place {
        place.takes(wishes.level)?;
        place.equip(&mut request, &world.core.limits, keep_variables);
        if let (Some(budget), Some(tokens_max), false) =
            (&mut budget, place.answer_tokens_max(), budget_is_explicit)
        {
            budget.tokens_max = tokens_max;
        }
    }
    let (id, owner) = (entry.id.clone(), caller.owner.clone());
    let (session, session_name) = match &place {
        Some(place) => (place.session().cloned(), place.session_name().map(str::to_owned)),
        // A skill's test isn't in its saver's session, but goes by its rules and marks.
        None => (caller.session.clone(), caller.session_name.clone()),
    };
    let level = request.limits.as_ref().map(Limits::level);
    let is_debugged = caller.is_debugged || place.as_ref().is_some_and(Place::is_debugged);
    spans::say(|span| {
        span.record("in_session", session.is_some()).record("variables_kept", keep_variables);
    });
    let caller = Caller { session_name, level, is_debugged, ..caller.in_execution(id.clone(), session) };
    let mut other_engine = None;
    // A plan has the engine that it was dry-run in.
    if !is_plan {
        let choice = wishes.engine.or_else(|| place.as_ref().and_then(Place::engine));
        let level = level.unwrap_or(world.core.limits.level());
        let chosen = engine::choose(&world.core, &request, &purpose, choice, (&caller, level)).await;
        request.engine = chosen.engine;
        note = note.or(chosen.note);
        other_engine = chosen.other;
    }
    let dry_run = DryRun::begin(&mut request, &world.core.limits);
    let veil = world.privacy.as_ref().and_then(|privacy| privacy.veil(&caller)).map(Arc::new);
    entry.shown_through(veil.clone());
    let mut reading = None;
    if let (Purpose::Asked(_), Some(results)) = (&purpose, &world.results) {
        let session = caller.session.as_ref().map(|session| session.as_str().to_owned());
        let origin = Origin { session, execution: Some(id.as_str().to_owned()), ..Origin::default() };
        results.offer_to(&mut request.capabilities, &caller, origin, veil);
        reading = results.follow_reads(&id, &owner);
    }
    if let (Purpose::Asked(_), Some(history)) = (&purpose, &world.history) {
        let pool = world.core.pools.of(request.engine);
        history.offer_to(&mut request.capabilities, &owner, pool);
    }
    request.capabilities.privacy = world.privacy.clone();
    if asker.is_some() {
        request.capabilities.asker = asker;
    }
    request.capabilities.caller = caller;
    Ok(Placed {
        id,
        owner,
        request,
        purpose,
        place,
        reading,
        budget,
        live,
        note,
        is_recorded,
        dry_run,
        other_engine,
    })
}

async fn find_place(
    world: &World,
    caller: &Caller,
    choice: PlaceChoice,
    wishes: SessionWishes,
) -> Result<(Option<Place>, bool), Refusal> {
    match choice {
        PlaceChoice::AsRequested => Ok((None, false)),
        PlaceChoice::Held(held) => Ok((Some(Place::Held(held)), false)),
        PlaceChoice::Session { session, patience, keep_variables } => {
            let Some(sessions) = &world.sessions else {
                let message = "this gateway keeps no sessions; nothing ran";
                return Err(Refusal::new(Code::BadRequest, message, "run it without a session"));
            };
            let before = match &session {
                SessionChoice::OfConnection(connection) => Some(connection.id().await),
                SessionChoice::Alone | SessionChoice::Named(_) => None,
            };
            let place = sessions.place(&caller.owner, &session, patience, keep_variables, wishes).await?;
            if let (Some(ledger), Some(before), Some(now)) = (&world.marks, before, place.session())
                && before.as_ref() != Some(now)
            {
                // The connection went on without a session until now.
                ledger.note_session(now, &ledger.seen(caller).await).await;
            }
            Ok((Some(place), keep_variables))
        }
    }
}

impl Placed {
    /// Runs it to its end, and lets go of its session: the next program may come at once.
    async fn execute(self, entry: &Entry, world: &World) -> Executed {
        let Self {
            id,
            owner,
            mut request,
            purpose,
            place,
            reading,
            budget,
            live,
            note,
            is_recorded,
            dry_run,
            other_engine,
        } = self;
        spans::placed(&request.capabilities.caller, request.engine);
        let is_asked = matches!(purpose, Purpose::Asked(_));
        let history = world.history.as_ref().filter(|_| is_recorded);
        let level = request.limits.as_ref().map_or(world.core.limits.level(), Limits::level);
        let beginning = history.map(|history| {
            let session = place.as_ref().and_then(Place::session).map(SessionId::as_str);
            history.about_to_run(&id, &owner, &mut request, level).in_session(session)
        });
        let privacy = world.privacy.as_ref();
        let beginning =
            match (beginning, privacy.and_then(|privacy| privacy.veil(&request.capabilities.caller))) {
                (Some(beginning), Some(veil)) => Some(beginning.hidden_by(&veil).await),
                (beginning, _) => beginning,
            };
        let audit = world.audit.as_ref().filter(|_| is_recorded);
        let audited = audit.map(|audit| {
            let Capabilities { caller, writes, .. } = &request.capabilities;
            audit.begin(caller, &id, (request.engine, &request.code), level, writes)
        });
        if let (None, Some(audited)) = (&beginning, &audited) {
            audited.write_beginning();
        }
        let caller = request.capabilities.caller.clone();
        let measured = world.telemetry.as_ref().filter(|_| is_recorded).map(|telemetry| {
            let limits = request.limits.as_ref().unwrap_or(&world.core.limits);
            telemetry.begin(&caller, &id, &request, limits)
        });
        let hidden = HiddenEvents::of(privacy, &caller);
        let core = Arc::clone(&world.core);
        // Beside the program, which runs already.
        let begin = || {
            let recording = beginning.map(Beginning::begin);
            entry.begins();
            recording
        };
        let (mut report, recording) = match live {
            Some(events) => {
                let events = match hidden {
                    Some(hidden) => hidden.before(events),
                    None => events,
                };
                let running = execute::start_telling(core, request, purpose, events);
                let recording = begin();
                (entry::wait_for(entry, running).await, recording)
            }
            None => {
                let execution = execute::start(core, request, purpose);
                let recording = begin();
                (entry::follow(entry, execution, hidden).await, recording)
            }
        };
        let settling = Instant::now();
        report.notes.extend(note);
        if let Some(other) = other_engine {
            other.tell(&mut report);
        }
        if let Some(ledger) = world.marks.as_ref().filter(|_| is_asked) {
            report.seen = ledger.settle(&caller).await;
        }
        drop(reading);
        if let Some(dry_run) = dry_run {
            dry_run.end(world.plans.as_ref(), &caller, &mut report).await;
        }
        if let Some(place) = place {
            let seen = report.seen.clone();
            place.leave(&owner, &seen, &mut report).await;
        }
        hide_report(entry.veil().as_deref(), &mut report).await;
        report.timing.ended("settle", settling);
        Executed { id, owner, report, recording, audited, measured, budget, veil: entry.veil() }
    }
}

impl Executed {
    /// Before anybody hears of the end: what was answered is known, whatever happens next.
    async fn record(self, world: &World) -> Recorded {
        let Self { id, owner, mut report, recording, audited, measured, budget, veil } = self;
        let ended = Instant::now();
        let keep = keeping(world.results.as_ref(), &owner, &id, &report, veil);
        let answer = answer_within(&report, budget, keep.as_ref()).await;
        report.timing.ended("answer", ended);
        let mut is_outdated = false;
        // Both in one transaction.
        let audit = audited.map(|audited| audited.note_end(&report, &world.core.guardrails));
        if let Some(recording) = recording {
            let session = report.session.as_ref().map(|session| session.id.clone()).unwrap_or_default();
            recording.end(&mut report, &session, answer.as_ref().map(|answer| answer.tokens)).await;
            // The report has one more note now.
            is_outdated |= !report.is_recorded;
        }
        match audit {
            Some(audit) if report.is_recorded && goes_along(&audit, world.history.as_ref()) => {
                audit.sign_if_due();
            }
            Some(audit) => {
                if let Err(error) = audit.settle().await {
                    report
                        .notes
                        .push(format!("the audit of this execution couldn't be written yet: {error}"));
                    is_outdated = true;
                }
            }
            None => {}
        }
        spans::say(|span| {
            let tokens = report.tokens.as_ref().map_or(0, |tokens| tokens.returned);
            let waiting = world.audit.as_ref().map_or(0, Audit::events_waiting);
            span.record("tokens", tokens).record("audit_events", waiting);
        });
        if let Some(measured) = measured {
            measured.end(&report, ended.elapsed());
        }
        Recorded { report, budget, keep, answer, is_outdated }
    }
}

/// Whether the audit is on the disk once the history is.
fn goes_along(audit: &Audit, history: Option<&History>) -> bool {
    history.is_some_and(|history| audit.goes_along(history.store()))
}

impl Recorded {
    async fn answer(self) -> (Report, Option<Answer>) {
        let Self { report, budget, keep, answer, is_outdated } = self;
        let answer = match is_outdated {
            true => answer_within(&report, budget, keep.as_ref()).await,
            false => answer,
        };
        (report, answer)
    }
}

async fn answer_within(
    report: &Report,
    budget: Option<AnswerBudget>,
    keep: Option<&Keeping>,
) -> Option<Answer> {
    Some(answer::of_report(report, &budget?, keep, None).await)
}

/// Where what an answer has no room for is kept, and what is noted of it.
pub(super) fn keeping(
    results: Option<&Results>,
    owner: &Owner,
    id: &ExecutionId,
    report: &Report,
    veil: Option<Arc<Veil>>,
) -> Option<Keeping> {
    let session = report.session.as_ref().map(|session| session.id.clone());
    let origin = Origin { session, execution: Some(id.as_str().to_owned()), seen: report.seen.clone() };
    results.map(|results| Keeping { results: results.clone(), owner: owner.clone(), origin, veil })
}
