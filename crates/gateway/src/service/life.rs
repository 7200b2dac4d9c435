//! The life of one execution: place → execute → record → answer. Each stage takes what the one before
//! returns. There is no other way through the gateway.

use std::sync::Arc;
use std::time::Instant;

use gristmill_domain::{Code, Level, Limits};
use tokio::sync::mpsc;

use super::entry::{self, Entry};
use super::questions::Questions;
use super::start::{PlaceChoice, StartRequest};
use crate::answer::{self, Answer, AnswerBudget, Keeping};
use crate::audit::{Audit, AuditedExecution};
use crate::execute::{self, Core, Event, Purpose};
use crate::history::{Beginning, History, Recording};
use crate::ids::{Caller, ExecutionId, Owner, SessionId};
use crate::ports::Asker;
use crate::report::{Refusal, Report};
use crate::request::ExecuteRequest;
use crate::results::{Origin, Results};
use crate::session::{Place, Sessions};

/// What executions need while they run. What is missing is not kept: without sessions nothing is left
/// for the next program, without a history nothing is recorded, without an audit nothing can be proven,
/// without results nothing is stored.
pub(crate) struct World {
    pub core: Arc<Core>,
    pub sessions: Option<Sessions>,
    pub history: Option<History>,
    pub audit: Option<Audit>,
    pub results: Option<Results>,
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
    pub fn asked(start: StartRequest, purpose: Purpose) -> Self {
        Self { start, purpose, live: None, note: None, is_recorded: true }
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
}

/// One program, from its place to its report, and what is said about it if anybody wants that.
pub(super) async fn carry_out(
    entry: &Arc<Entry>,
    world: &World,
    order: Order,
    asked: Instant,
) -> (Report, Option<Answer>) {
    let budget = order.start.answer;
    let caller = order.start.caller.clone();
    match place(entry, world, order).await {
        Ok(placed) => placed.execute(entry, world).await.record(world).await.answer().await,
        Err(refusal) => {
            let report = refusal.report(asked);
            note_refusal(world, &caller, &entry.id, &report);
            let answer = answer_within(&report, budget, None).await;
            (report, answer)
        }
    }
}

/// Nothing ran, which an auditor may ask about all the same.
fn note_refusal(world: &World, caller: &Caller, id: &ExecutionId, report: &Report) {
    if let (Some(audit), Some(error)) = (&world.audit, &report.error) {
        audit.refused(caller, id, error.code);
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
    budget: Option<AnswerBudget>,
    live: Option<mpsc::Sender<Event>>,
    note: Option<String>,
    is_recorded: bool,
}

/// A program that has ended, and whose session is free again.
struct Executed {
    id: ExecutionId,
    owner: Owner,
    report: Report,
    recording: Option<Recording>,
    audited: Option<AuditedExecution>,
    budget: Option<AnswerBudget>,
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
    let Order { start, purpose, live, note, is_recorded } = order;
    let StartRequest { caller, mut request, place, answers, answer: mut budget, budget_is_explicit, level } =
        start;
    let (place, keep_variables) = tokio::select! {
        biased;
        () = entry.cancelled() => return Err(Refusal::cancelled()),
        found = find_place(world, &caller.owner, place, level) => found?,
    };
    if let Some(place) = &place {
        place.takes(level)?;
        place.equip(&mut request, &world.core.limits, keep_variables);
        if let (Some(budget), Some(tokens_max), false) =
            (&mut budget, place.answer_tokens_max(), budget_is_explicit)
        {
            budget.tokens_max = tokens_max;
        }
    }
    if let (Purpose::Asked(_), Some(results)) = (&purpose, &world.results) {
        let session = place.as_ref().and_then(Place::session).map(|session| session.as_str().to_owned());
        let origin = Origin { session, execution: Some(entry.id.as_str().to_owned()) };
        results.offer_to(&mut request.capabilities, &caller.owner, origin);
    }
    if let (Purpose::Asked(_), Some(history)) = (&purpose, &world.history) {
        history.offer_to(&mut request.capabilities, &caller.owner, &world.core.pool);
    }
    if answers.any() {
        request.capabilities.asker = Asker::new(Arc::new(Questions::new(entry, answers)));
    }
    let (id, owner) = (entry.id.clone(), caller.owner.clone());
    let session = place.as_ref().and_then(Place::session).cloned();
    let session_name = place.as_ref().and_then(Place::session_name).map(str::to_owned);
    let level = request.limits.as_ref().map(Limits::level);
    request.capabilities.caller = Caller { session_name, level, ..caller.in_execution(id.clone(), session) };
    Ok(Placed { id, owner, request, purpose, place, budget, live, note, is_recorded })
}

async fn find_place(
    world: &World,
    owner: &Owner,
    choice: PlaceChoice,
    level: Option<Level>,
) -> Result<(Option<Place>, bool), Refusal> {
    match choice {
        PlaceChoice::AsRequested => Ok((None, false)),
        PlaceChoice::Held(held) => Ok((Some(Place::Held(held)), false)),
        PlaceChoice::Session { session, patience, keep_variables } => {
            let Some(sessions) = &world.sessions else {
                let message = "this gateway keeps no sessions; nothing ran";
                return Err(Refusal::new(Code::BadRequest, message, "run it without a session"));
            };
            let place = sessions.place(owner, &session, patience, keep_variables, level).await?;
            Ok((Some(place), keep_variables))
        }
    }
}

impl Placed {
    /// Runs it to its end, and lets go of its session: the next program may come at once.
    async fn execute(self, entry: &Entry, world: &World) -> Executed {
        let Self { id, owner, mut request, purpose, place, budget, live, note, is_recorded } = self;
        let history = world.history.as_ref().filter(|_| is_recorded);
        let level = request.limits.as_ref().map_or(world.core.limits.level(), Limits::level);
        let beginning = history.map(|history| {
            let session = place.as_ref().and_then(Place::session).map(SessionId::as_str);
            history.about_to_run(&id, &owner, &mut request, level).in_session(session)
        });
        let audit = world.audit.as_ref().filter(|_| is_recorded);
        let audited = audit.map(|audit| audit.begin(&request.capabilities.caller, &id, &request.code, level));
        let core = Arc::clone(&world.core);
        let (mut report, recording) = match live {
            Some(events) => {
                let running = execute::start_telling(core, request, purpose, events);
                // Beside the program, which runs already.
                let recording = beginning.map(Beginning::begin);
                (entry::wait_for(entry, running).await, recording)
            }
            None => {
                let execution = execute::start(core, request, purpose);
                let recording = beginning.map(Beginning::begin);
                (entry::follow(entry, execution).await, recording)
            }
        };
        report.notes.extend(note);
        if let Some(place) = place {
            place.leave(&owner, &mut report).await;
        }
        Executed { id, owner, report, recording, audited, budget }
    }
}

impl Executed {
    /// Before anybody hears of the end: what was answered is known, whatever happens next.
    async fn record(self, world: &World) -> Recorded {
        let Self { id, owner, mut report, recording, audited, budget } = self;
        let keep = keeping(world.results.as_ref(), &owner, &id, &report);
        let answer = answer_within(&report, budget, keep.as_ref()).await;
        let mut is_outdated = false;
        if let Some(audited) = audited
            && let Err(error) = audited.end(&report, &world.core.guardrails).await
        {
            report.notes.push(format!("the audit of this execution couldn't be written yet: {error}"));
            is_outdated = true;
        }
        if let Some(recording) = recording {
            let session = report.session.as_ref().map(|session| session.id.clone()).unwrap_or_default();
            recording.end(&mut report, &session, answer.as_ref().map(|answer| answer.tokens)).await;
            // The report has one more note now.
            is_outdated |= !report.is_recorded;
        }
        Recorded { report, budget, keep, answer, is_outdated }
    }
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
) -> Option<Keeping> {
    let session = report.session.as_ref().map(|session| session.id.clone());
    let origin = Origin { session, execution: Some(id.as_str().to_owned()) };
    results.map(|results| Keeping { results: results.clone(), owner: owner.clone(), origin })
}
