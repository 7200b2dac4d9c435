//! Drive: one loop over everything that can happen to a running program.
//!
//! The worker is hostile here: it may flood, stall, lie or vanish. Each of its messages is met by
//! one arm of a closed match; everything it can make us hold has a bound.

use std::collections::{BTreeMap, HashMap};
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::FuturesUnordered;
use gristmill_domain::catalogue::Resolved;
use gristmill_domain::{LimitName, Limits};
use gristmill_protocol::{CallKind, Completion, FromWorker, RunStats, Stream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::asking::asker_of_execution;
use super::call_room::CallRoom;
use super::elsewhere::counts_files_here;
use super::ending::Ending;
use super::large_result::LargeResultParts;
use super::outgoing::Outgoing;
use super::prepare::Prepared;
use super::program_call::{Call, CallTarget, ProgramRequest, parse};
use super::server_starts::{Sent, ServerStarts};
use super::standing::{CallAt, Standing};
use super::state_call::{Flood, StateCalls};
use super::token_meter::{Of, TokenMeter};
use super::tool_call::{Answered, Listeners, Reachable, answer, search};
use super::{Event, room};
use crate::pool::{Attention, LineError, LineEvent, Worker, WorkerEnd};
use crate::ports::{Asker, ProgressSink, Tools};
use crate::report::ToolCalled;
use crate::spans::step;
use crate::time_limit::TimeLimit;

/// Calls that wait for their turn. Beyond this the worker is not listened to.
const UNBEGUN_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Searches for tools at a time; one takes milliseconds.
const SEARCHES_MAX: usize = 16;

/// The length of what was looked for, and what was found.
type Searches = FuturesUnordered<Pin<Box<dyn Future<Output = (usize, Completion)> + Send>>>;

type Calls = FuturesUnordered<Pin<Box<dyn Future<Output = Over> + Send>>>;

/// A call of which nothing is left here.
struct Over {
    weight_bytes: usize,
    /// None if it was cancelled.
    answered: Option<Answered>,
}

/// A call under way.
struct Begun {
    abort: AbortHandle,
    /// Its place in the list of calls.
    place: usize,
    target: CallTarget,
    at: Instant,
    sent: Sent,
}

struct Drive<'a> {
    reachable: &'a Reachable,
    limits: &'a Limits,
    events: mpsc::Sender<Event>,
    asker: Asker,
    starts: ServerStarts,
    state: StateCalls,
    large_result: LargeResultParts,
    /// The last call that was answered, and when.
    last_answered: Option<(usize, Instant)>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    stats: RunStats,
    calls_begun: u64,
    /// By number, which is by age.
    unbegun: BTreeMap<u64, Call>,
    unbegun_bytes: usize,
    /// What those in `running` take, cancelled ones too.
    call_room: CallRoom,
    running: Calls,
    searching: Searches,
    begun: HashMap<u64, Begun>,
    outgoing: Outgoing,
    tools_called: Vec<ToolCalled>,
    /// When each of them began.
    calls_began: Vec<Instant>,
    /// Places of calls that may change something, if they are sent.
    changing: Vec<usize>,
    tokens: TokenMeter,
}

/// What one run of a program comes to.
pub(super) struct Run {
    pub ending: Ending,
    pub standing: Standing,
    pub large_result: LargeResultParts,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub stats: RunStats,
    pub tools_called: Vec<ToolCalled>,
    /// When each of them began.
    pub calls_began: Vec<Instant>,
    pub tokens: TokenMeter,
    /// Whether no half of an answer is left that its worker has not read.
    pub is_answered: bool,
    /// Whether it may have changed anything outside of its worker.
    pub has_changed: bool,
}

/// Runs a program on a worker that waits for it, to its end there.
pub(super) async fn drive(
    reachable: &Reachable,
    prepared: &Prepared,
    worker: &mut Worker,
    folders: &[OwnedFd],
    (events, cancelled): (&mpsc::Sender<Event>, &CancellationToken),
) -> Run {
    let Prepared { limits, capabilities, .. } = prepared;
    let deadline = TimeLimit::new(Duration::from_millis(limits.get(LimitName::WallTime)));
    let asker = asker_of_execution(&capabilities.asker, &deadline);
    let state = StateCalls::new(Arc::clone(&capabilities.state));
    let starts = ServerStarts::new(deadline.clone(), events.clone());
    let mut drive = Drive::new(reachable, limits, events.clone(), asker, starts, state);
    drive.tokens = TokenMeter::new(capabilities.count_tokens);
    drive.large_result = LargeResultParts::new(capabilities.large_results.clone());
    let counts_files = counts_files_here(prepared.elsewhere.as_ref(), prepared.engine);
    let ending = tokio::select! {
        biased;
        () = cancelled.cancelled() => Ending::Cancelled,
        // Before the worker: one that floods us must not keep the deadline from being looked at.
        () = deadline.passed() => Ending::Limit(LimitName::WallTime),
        limit = room::overfilled(limits, folders), if counts_files => Ending::Limit(limit),
        ending = drive.run(worker, &prepared.frame) => ending,
    };
    let standing = drive.standing();
    let is_answered = drive.outgoing.finish_answer(worker).await;
    // One that has said all it had to say is held later: its end can wait, and the answer can't.
    if !matches!(ending, Ending::Done(_)) {
        worker.kill();
    }
    let (ending, stats) = account(worker, ending, std::mem::take(&mut drive.stats)).await;
    let has_changed_state = drive.state.has_changed();
    let Drive { stdout, stderr, tools_called, calls_began, tokens, large_result, changing, .. } =
        drive.give_up();
    let has_changed = has_changed_state || changing.iter().any(|place| tools_called[*place].sent);
    Run {
        ending,
        standing,
        large_result,
        stdout,
        stderr,
        stats,
        tools_called,
        calls_began,
        tokens,
        is_answered,
        has_changed,
    }
}

/// What a program used: its worker's word, or the kernel's if the worker had no time for one.
async fn account(worker: &mut Worker, ending: Ending, mut stats: RunStats) -> (Ending, RunStats) {
    if matches!(ending, Ending::Done(_)) {
        worker.program_used(stats.cpu_us);
        return (ending, stats);
    }
    let node = worker.node().map(str::to_owned);
    let end = worker.end().await;
    if let WorkerEnd::Told(end) | WorkerEnd::Overfilled(_, end) = &end {
        stats.cpu_us = end.used.cpu_us;
        stats.memory_peak_bytes = end.used.resident_peak_bytes;
    }
    let ending = match (ending, end) {
        (Ending::Lost(_), WorkerEnd::Told(end)) => Ending::Lost(Some(end.exit)),
        (Ending::Lost(_), WorkerEnd::Overfilled(limit, _)) => Ending::Limit(limit),
        (Ending::Lost(_), WorkerEnd::NodeLost) => Ending::NodeLost { node: node.unwrap_or_default() },
        (Ending::Lost(_), WorkerEnd::Unknown) => Ending::Lost(None),
        (ending, _) => ending,
    };
    (ending, stats)
}

impl<'a> Drive<'a> {
    fn new(
        reachable: &'a Reachable,
        limits: &'a Limits,
        events: mpsc::Sender<Event>,
        asker: Asker,
        starts: ServerStarts,
        state: StateCalls,
    ) -> Self {
        Self {
            reachable,
            limits,
            events,
            asker,
            starts,
            state,
            large_result: LargeResultParts::new(None),
            last_answered: None,
            stdout: Vec::new(),
            stderr: Vec::new(),
            stats: RunStats::default(),
            calls_begun: 0,
            unbegun: BTreeMap::new(),
            unbegun_bytes: 0,
            call_room: CallRoom::default(),
            running: FuturesUnordered::new(),
            searching: FuturesUnordered::new(),
            begun: HashMap::new(),
            outgoing: Outgoing::default(),
            tools_called: Vec::new(),
            calls_began: Vec::new(),
            changing: Vec::new(),
            tokens: TokenMeter::default(),
        }
    }

    /// Hands the program over, and listens to the end.
    async fn run(&mut self, worker: &mut Worker, frame: &[u8]) -> Ending {
        match worker.send(frame, &[]).await {
            Ok(()) => self.listen(worker).await,
            Err(error) => ending_of(error),
        }
    }

    async fn listen(&mut self, worker: &mut Worker) -> Ending {
        loop {
            // Gives way now and then, so that the deadline is looked at however much there is to do.
            tokio::task::coop::consume_budget().await;
            // Most answers go out at once; only a worker that does not read makes us wait.
            if self.outgoing.try_send(worker) {
                continue;
            }
            // Whose calls or unread answers pile up, or whose output nobody takes, is not listened to for
            // the moment.
            let events_full = self.events.capacity() == 0 && !self.events.is_closed();
            let waiting_bytes = self.unbegun_bytes + self.state.waiting_bytes();
            let may_answer = !self.outgoing.is_full();
            let may_search = self.searching.len() < SEARCHES_MAX;
            let may_listen = waiting_bytes < UNBEGUN_BYTES_MAX && may_answer && may_search && !events_full;
            let attention = Attention { to_messages: may_listen, to_room: !self.outgoing.is_empty() };
            let events = self.events.clone();
            let room_for_events = async { drop(events.reserve().await) };
            tokio::select! {
                biased;
                event = worker.next(attention) => match event {
                    Ok(LineEvent::Message(message)) => {
                        if let Some(ending) = self.heard(message) {
                            return ending;
                        }
                    }
                    Ok(LineEvent::Room) => {}
                    Err(error) => return ending_of(error),
                },
                () = room_for_events, if events_full => {}
                answer = self.state.next(), if may_answer => self.outgoing.push(answer),
                answer = self.large_result.next(), if may_answer => self.outgoing.push(answer),
                Some((query_bytes, found)) = self.searching.next(), if may_answer => {
                    self.found(query_bytes, found);
                }
                Some(Over { weight_bytes, answered }) = self.running.next() => {
                    self.call_room.give_back(weight_bytes);
                    if let Some(answered) = answered {
                        self.answered(answered);
                    }
                }
            }
            self.begin_calls();
        }
    }

    fn heard(&mut self, message: FromWorker) -> Option<Ending> {
        match message {
            FromWorker::Output { stream, bytes } => self.printed(stream, bytes),
            FromWorker::Call { id, kind: CallKind::Result, payload } => self.handed_over(id, payload),
            FromWorker::Call { id, kind, payload } => self.called(id, kind, &payload),
            FromWorker::CancelCall { id } => {
                self.cancel(id);
                None
            }
            FromWorker::Done { outcome, stats } => {
                self.stats = stats;
                Some(Ending::Done(outcome))
            }
            FromWorker::Hello { .. } => Some(Ending::Misbehaved("a second hello".to_owned())),
        }
    }

    fn printed(&mut self, stream: Stream, mut bytes: Vec<u8>) -> Option<Ending> {
        let room = self.limits.get(LimitName::OutputBytes) as usize - self.stdout.len() - self.stderr.len();
        let over = bytes.len() > room;
        bytes.truncate(room);
        match stream {
            Stream::Stdout => self.stdout.extend_from_slice(&bytes),
            Stream::Stderr => self.stderr.extend_from_slice(&bytes),
        }
        if !bytes.is_empty() {
            self.tell(Event::Output { stream, bytes });
        }
        over.then_some(Ending::Limit(LimitName::OutputBytes))
    }

    fn called(&mut self, id: u64, kind: CallKind, payload: &str) -> Option<Ending> {
        if kind == CallKind::State {
            return self.asked_of_state(id, payload);
        }
        self.calls_begun += 1;
        if self.calls_begun > self.limits.get(LimitName::ToolCalls) {
            return Some(Ending::Limit(LimitName::ToolCalls));
        }
        match parse(id, kind, payload) {
            Ok(ProgramRequest::Search(asked)) => {
                let reachable = self.reachable.clone();
                self.searching
                    .push(Box::pin(async move { (asked.query.len(), search(&reachable, id, &asked).await) }));
            }
            Ok(ProgramRequest::Call(call)) => {
                self.unbegun_bytes += call.payload_bytes;
                if self.begun.contains_key(&id) || self.unbegun.insert(id, call).is_some() {
                    return Some(Ending::Misbehaved("two calls of one number".to_owned()));
                }
            }
            Err(refusal) => self.outgoing.push(refusal),
        }
        None
    }

    fn asked_of_state(&mut self, id: u64, payload: &str) -> Option<Ending> {
        match self.state.ask(id, payload) {
            Ok(refusal) => {
                if let Some(refusal) = refusal {
                    self.outgoing.push(refusal);
                }
                None
            }
            Err(Flood) => Some(Ending::Misbehaved("a flood of requests for state".to_owned())),
        }
    }

    fn handed_over(&mut self, id: u64, part: String) -> Option<Ending> {
        match self.large_result.take(id, part) {
            Ok(refusal) => {
                if let Some(refusal) = refusal {
                    self.outgoing.push(refusal);
                }
                None
            }
            Err(Flood) => Some(Ending::Misbehaved("a flood of parts of a result".to_owned())),
        }
    }

    /// Where the program is, as far as its calls tell.
    fn standing(&self) -> Standing {
        let call_at = |place: usize, at: Instant| {
            let called = &self.tools_called[place];
            CallAt { name: called.name.clone(), line: called.line, ago: at.elapsed() }
        };
        let waiting = self.begun.len() + self.unbegun.len();
        match (self.begun.values().min_by_key(|begun| begun.place), self.last_answered) {
            (Some(oldest), _) => {
                Standing::Waiting { call: call_at(oldest.place, oldest.at), others: waiting - 1 }
            }
            (None, Some((place, at))) => Standing::Computing { last: call_at(place, at) },
            (None, None) => Standing::Unknown,
        }
    }

    /// Begins as many waiting calls as may run at once, the oldest first.
    fn begin_calls(&mut self) {
        let parallel = self.limits.get(LimitName::ParallelCalls) as usize;
        while self.running.len() < parallel && !self.outgoing.is_full() {
            let Some(next) = self.unbegun.first_entry() else { return };
            let weight_bytes = next.get().weight_bytes;
            if !self.call_room.take(weight_bytes) {
                return;
            }
            let call = next.remove();
            self.unbegun_bytes -= call.payload_bytes;
            self.tell(Event::ToolStarted { name: call.name.clone() });
            let (abort, registration) = AbortHandle::new_pair();
            let place = self.tools_called.len();
            let (arguments, target) = (call.arguments_text(), call.target());
            let called = ToolCalled::unanswered(&call.name, call.line, arguments.len() as u64);
            self.tools_called.push(ToolCalled { sent: call.leaves_gateway(), ..called });
            if may_change(self.reachable.tools.as_ref(), &call) {
                self.changing.push(place);
            }
            if target == CallTarget::Tool {
                self.tokens.calls_tool(place);
            }
            self.tokens.count(Of::Arguments(place), arguments);
            let (watcher, sent) = self.starts.watch_call(call.line);
            let at = Instant::now();
            self.calls_began.push(at);
            let begun = Begun { abort, place, target, at, sent };
            self.begun.insert(call.id, begun);
            let listeners =
                Listeners { progress: self.progress_of(&call.name), asker: self.asker.clone(), watcher };
            let call = answer(self.reachable.clone(), call, listeners);
            let call = Abortable::new(call, registration);
            self.running.push(Box::pin(async move { Over { weight_bytes, answered: call.await.ok() } }));
        }
    }

    /// Tells the caller how far a call has come; what it has no room for is dropped.
    fn progress_of(&self, name: &str) -> ProgressSink {
        let (events, name) = (self.events.clone(), name.to_owned());
        ProgressSink::new(move |progress| {
            // The program's own output must always find room.
            if events.capacity() > events.max_capacity() / 2 {
                let _ = events.try_send(Event::ToolProgress { name: name.clone(), progress });
            }
        })
    }

    fn answered(&mut self, mut answered: Answered) {
        let Some(begun) = self.begun.remove(&answered.completion.id) else { return };
        answered.called.sent &= begun.sent.get();
        self.tell(Event::ToolFinished(answered.called.clone()));
        let of = match begun.target {
            CallTarget::Tool | CallTarget::Resource => Of::Answer(begun.place),
            CallTarget::Internal => Of::LookedUp,
        };
        self.tokens.count(of, answered.answer_text());
        self.tools_called[begun.place] = answered.called;
        self.last_answered = Some((begun.place, Instant::now()));
        self.outgoing.push(answered.completion);
    }

    fn found(&mut self, query_bytes: usize, found: Completion) {
        self.tokens.count(Of::LookedUp, &found.payload);
        let is_debugged = self.reachable.caller.is_debugged;
        step!(is_debugged, query_bytes, answer_bytes = found.payload.len(), ok = found.ok, "search");
        self.outgoing.push(found);
    }

    fn cancel(&mut self, id: u64) {
        if let Some(begun) = self.begun.remove(&id) {
            self.end_unanswered(&begun);
        }
        if let Some(call) = self.unbegun.remove(&id) {
            self.unbegun_bytes -= call.payload_bytes;
        }
    }

    fn end_unanswered(&mut self, begun: &Begun) {
        begun.abort.abort();
        let called = &mut self.tools_called[begun.place];
        called.time_ms = begun.at.elapsed().as_secs_f64() * 1000.0;
        called.sent &= begun.sent.get();
        if !called.sent {
            // Analyses and the like never are.
            let error = match begun.target {
                CallTarget::Tool | CallTarget::Resource => "not sent before the program ended or gave up",
                CallTarget::Internal => "no answer before the program ended or gave up",
            };
            (called.error, called.kept_error) = (Some(error.to_owned()), Some(error.to_owned()));
        }
        let called = called.clone();
        self.tell(Event::ToolFinished(called));
    }

    /// There is room: the worker is not listened to otherwise. What a tool's end adds beyond it is
    /// dropped; the report has it.
    fn tell(&self, event: Event) {
        let _ = self.events.try_send(event);
    }

    /// Drops every call that is still under way, which cancels it.
    fn give_up(mut self) -> Self {
        for begun in std::mem::take(&mut self.begun).into_values() {
            self.end_unanswered(&begun);
        }
        self.running.clear();
        self.searching.clear();
        self.unbegun.clear();
        self
    }
}

fn ending_of(error: LineError) -> Ending {
    match error {
        LineError::Gone => Ending::Lost(None),
        LineError::Frame(error) => Ending::Misbehaved(error.to_string()),
        LineError::OutOfTurn(what) => Ending::Misbehaved(what.to_owned()),
    }
}

/// Whether a call may change something, as far as the servers say.
fn may_change(tools: &dyn Tools, call: &Call) -> bool {
    match call.target() {
        CallTarget::Tool => {
            let found = tools.lookup().and_then(|lookup| lookup.find(&call.name));
            !matches!(found, Some(Resolved::One(_, tool)) if tool.definition.read_only == Some(true))
        }
        CallTarget::Resource => false,
        CallTarget::Internal => call.leaves_gateway(),
    }
}
