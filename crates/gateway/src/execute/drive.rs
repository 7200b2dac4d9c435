//! Drive: one loop over everything that can happen to a running program.
//!
//! The worker is hostile here: it may flood, stall, lie or vanish. Each of its messages is met by
//! one arm of a closed match; everything it can make us hold has a bound.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, Abortable};
use futures_util::stream::FuturesUnordered;
use gristmill_domain::{LimitName, Limits};
use gristmill_protocol::{
    ChildExit, Completion, FromWorker, Outcome, RunStats, Stream, ToWorker, encode_frame,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::asking::asker_of_execution;
use super::report::{CallTokens, ToolCalled};
use super::state_call::{self, Flood, StateCalls};
use super::token_meter::{Of, TokenMeter};
use super::tool_call::{Answered, Asked, Call, Reachable, Reaches, answer, failure, search, understand};
use super::variables::{Left, ended_by};
use super::{Event, Ready};
use crate::analysis::ProgramAnalyses;
use crate::builder::Core;
use crate::pool::{Attention, Interpreter, LineError, LineEvent, Room, Worker};
use crate::ports::{Asker, ProgressSink, Tools};
use crate::skills::ProgramSkills;
use crate::time_limit::TimeLimit;
use gristmill_domain::Code;

/// Answers that the worker has not read. Beyond this no further call is begun.
const UNREAD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// Calls that wait for their turn. Beyond this the worker is not listened to.
const UNBEGUN_BYTES_MAX: usize = 32 * 1024 * 1024;

/// What calls under way may take in memory together; one alone may take more.
const BEGUN_BYTES_MAX: usize = 256 * 1024 * 1024;

/// For the rest of an answer to a worker that has nothing to do but to read it.
const FINISH_TIMEOUT: Duration = Duration::from_secs(1);

/// How a program came to its end.
pub(super) enum Ending {
    /// The worker said so.
    Done(Outcome),
    /// A limit that the gateway keeps.
    Limit(LimitName),
    /// The caller took it back.
    Cancelled,
    /// The worker is gone.
    Lost(Option<ChildExit>),
    /// The worker broke the protocol.
    Misbehaved(String),
}

/// Everything that is known of a program that ended.
pub(super) struct Finished {
    pub ending: Ending,
    pub limits: Limits,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub stats: RunStats,
    pub tools_called: Vec<ToolCalled>,
    pub call_tokens: CallTokens,
    pub ran_for: Duration,
    pub took: Duration,
}

type Calls = FuturesUnordered<Pin<Box<dyn Future<Output = Option<Answered>> + Send>>>;

/// A call under way.
struct Begun {
    abort: AbortHandle,
    /// Its place in the list of calls.
    place: usize,
    reaches: Reaches,
    weight_bytes: usize,
    at: Instant,
}

/// What a program has while it runs.
struct Given<'a> {
    tools: &'a Arc<dyn Tools>,
    skills: &'a Arc<ProgramSkills>,
    analyses: &'a Arc<ProgramAnalyses>,
    limits: &'a Limits,
}

struct Drive<'a> {
    tools: &'a Arc<dyn Tools>,
    skills: &'a Arc<ProgramSkills>,
    analyses: &'a Arc<ProgramAnalyses>,
    limits: &'a Limits,
    events: mpsc::Sender<Event>,
    asker: Asker,
    state: StateCalls,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    stats: RunStats,
    calls_begun: u64,
    /// By number, which is by age.
    unbegun: BTreeMap<u64, Call>,
    unbegun_bytes: usize,
    begun_bytes: usize,
    deaf: bool,
    running: Calls,
    begun: HashMap<u64, Begun>,
    outgoing: VecDeque<Vec<u8>>,
    outgoing_used: usize,
    outgoing_bytes: usize,
    tools_called: Vec<ToolCalled>,
    tokens: TokenMeter,
}

pub(super) async fn drive(
    core: &Core,
    ready: Ready,
    events: mpsc::Sender<Event>,
    cancelled: CancellationToken,
    asked: Instant,
) -> (Finished, Option<Left>) {
    let Ready { prepared, interpreter, found } = ready;
    let Interpreter { mut worker, belongings, .. } = interpreter;
    let deadline = TimeLimit::new(Duration::from_millis(prepared.limits.get(LimitName::WallTime)));
    let asker = asker_of_execution(&prepared.asker, &deadline);
    let state = StateCalls::new(prepared.state);
    let analyses = Arc::new(ProgramAnalyses {
        analyses: core.analyses.clone(),
        limits: prepared.limits.clone(),
        // The workspace is the first of its folders.
        workspace: belongings.folders.first().and_then(|folder| folder.try_clone().ok()),
        results: prepared.analysis_inputs.clone(),
        scratch: core.scratch_folder().to_owned(),
    });
    let given = Given {
        tools: &belongings.tools,
        skills: &prepared.skills,
        analyses: &analyses,
        limits: &prepared.limits,
    };
    let mut drive = Drive::new(given, events, asker, state);
    drive.tokens = TokenMeter::new(prepared.count_tokens);
    let started = Instant::now();
    let ending = {
        // One that is there already has its folders.
        let folders: &[OwnedFd] = if found { &[] } else { &belongings.folders };
        let folders: Vec<_> = folders.iter().map(AsFd::as_fd).collect();
        let run = async {
            match worker.send(&prepared.frame, &folders).await {
                Ok(()) => drive.listen(&mut worker).await,
                Err(error) => ending_of(error),
            }
        };
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Ending::Cancelled,
            // Before the worker: one that floods us must not keep the deadline from being looked at.
            () = deadline.passed() => Ending::Limit(LimitName::WallTime),
            ending = run => ending,
        }
    };
    let ran_for = started.elapsed();
    let may_stay = prepared.lease.as_ref().is_some_and(|lease| lease.room() == Room::Yes)
        && matches!(ending, Ending::Done(Outcome::Told(_)))
        && drive.finish_answer(&worker).await;
    if !may_stay {
        worker.kill();
    }
    let ending = match ending {
        Ending::Lost(_) => Ending::Lost(worker.exit().await),
        ending => ending,
    };
    let Drive { stdout, stderr, stats, mut tools_called, tokens, .. } = drive.give_up();
    let tools = Arc::clone(&belongings.tools);
    let limits = prepared.limits;
    let interpreter = Interpreter { worker, belongings, memory_bytes: stats.memory_peak_bytes };
    let interpreter = match may_stay {
        true => Some(interpreter),
        false => {
            core.end(interpreter, prepared.leftovers);
            None
        }
    };
    drop(prepared.place);
    let ended_by = ended_by(&ending);
    let left = prepared.lease.map(|lease| Left { lease, interpreter, found, ended_by });
    let took = asked.elapsed();
    // Last: the next program has this one's place by now.
    let call_tokens = tokens.settle(&mut tools_called, tools).await;
    let finished =
        Finished { ending, limits, stdout, stderr, stats, tools_called, call_tokens, ran_for, took };
    (finished, left)
}

impl<'a> Drive<'a> {
    fn new(given: Given<'a>, events: mpsc::Sender<Event>, asker: Asker, state: StateCalls) -> Self {
        Self {
            tools: given.tools,
            skills: given.skills,
            analyses: given.analyses,
            limits: given.limits,
            events,
            asker,
            state,
            stdout: Vec::new(),
            stderr: Vec::new(),
            stats: RunStats::default(),
            calls_begun: 0,
            unbegun: BTreeMap::new(),
            unbegun_bytes: 0,
            begun_bytes: 0,
            deaf: false,
            running: FuturesUnordered::new(),
            begun: HashMap::new(),
            outgoing: VecDeque::new(),
            outgoing_used: 0,
            outgoing_bytes: 0,
            tools_called: Vec::new(),
            tokens: TokenMeter::default(),
        }
    }

    async fn listen(&mut self, worker: &mut Worker) -> Ending {
        loop {
            // Whose calls pile up, or whose output nobody takes, is not listened to for the moment.
            let events_full = self.events.capacity() == 0 && !self.events.is_closed();
            let waiting_bytes = self.unbegun_bytes + self.state.waiting_bytes();
            let may_listen = waiting_bytes < UNBEGUN_BYTES_MAX && !events_full;
            let may_answer = self.outgoing_bytes < UNREAD_BYTES_MAX;
            // Gives way now and then, so that the deadline is looked at however much there is to do.
            tokio::task::coop::consume_budget().await;
            if let Some(front) = self.outgoing.front() {
                // Most answers go out at once; only a worker that does not read makes us wait.
                match worker.try_send(&front[self.outgoing_used..]) {
                    Ok(0) => {}
                    Ok(count) => {
                        self.sent(count);
                        continue;
                    }
                    // It takes no more answers, but its last words may still be unread.
                    Err(_) => self.stop_answering(),
                }
            }
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
                answer = self.state.next(), if may_answer => self.send_back(answer),
                Some(answered) = self.running.next() => {
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
            FromWorker::Call { id, kind, payload } => self.called(id, &kind, &payload),
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

    fn called(&mut self, id: u64, kind: &str, payload: &str) -> Option<Ending> {
        if kind == state_call::KIND {
            return self.asked_of_state(id, payload);
        }
        self.calls_begun += 1;
        if self.calls_begun > self.limits.get(LimitName::ToolCalls) {
            return Some(Ending::Limit(LimitName::ToolCalls));
        }
        match understand(id, kind, payload) {
            Ok(Asked::Search(asked)) => {
                let found = search(self.tools.as_ref(), id, &asked, &self.skills.offer());
                self.tokens.count(Of::LookedUp, &found.payload);
                self.send_back(found);
            }
            Ok(Asked::Call(call)) => {
                self.unbegun_bytes += call.payload_bytes;
                if self.begun.contains_key(&id) || self.unbegun.insert(id, call).is_some() {
                    return Some(Ending::Misbehaved("two calls of one number".to_owned()));
                }
            }
            Err(refusal) => self.send_back(refusal),
        }
        None
    }

    fn asked_of_state(&mut self, id: u64, payload: &str) -> Option<Ending> {
        match self.state.ask(id, payload) {
            Ok(refusal) => {
                if let Some(refusal) = refusal {
                    self.send_back(refusal);
                }
                None
            }
            Err(Flood) => Some(Ending::Misbehaved("a flood of requests for state".to_owned())),
        }
    }

    /// Begins as many waiting calls as may run at once, the oldest first.
    fn begin_calls(&mut self) {
        let parallel = self.limits.get(LimitName::ParallelCalls) as usize;
        while self.running.len() < parallel && self.outgoing_bytes < UNREAD_BYTES_MAX {
            let Some(next) = self.unbegun.first_entry() else { return };
            let weight_bytes = next.get().weight_bytes;
            if self.begun_bytes + weight_bytes > BEGUN_BYTES_MAX && !self.begun.is_empty() {
                return;
            }
            let call = next.remove();
            self.unbegun_bytes -= call.payload_bytes;
            self.begun_bytes += weight_bytes;
            self.tell(Event::ToolStarted { name: call.name.clone() });
            let (abort, registration) = AbortHandle::new_pair();
            let place = self.tools_called.len();
            let (arguments, reaches) = (call.arguments_text(), call.reaches());
            let called = ToolCalled::unanswered(&call.name, call.line, arguments.len() as u64);
            self.tools_called.push(ToolCalled { sent: call.leaves_us(), ..called });
            if reaches == Reaches::Tool {
                self.tokens.calls_tool(place);
            }
            self.tokens.count(Of::Arguments(place), arguments);
            self.begun.insert(call.id, Begun { abort, place, reaches, weight_bytes, at: Instant::now() });
            let progress = self.progress_of(&call.name);
            let given = Reachable {
                tools: Arc::clone(self.tools),
                skills: Arc::clone(self.skills),
                analyses: Arc::clone(self.analyses),
            };
            let call = answer(given, call, progress, self.asker.clone());
            self.running.push(Box::pin(async { Abortable::new(call, registration).await.ok() }));
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

    fn answered(&mut self, answered: Answered) {
        let Some(begun) = self.begun.remove(&answered.completion.id) else { return };
        self.begun_bytes -= begun.weight_bytes;
        self.tell(Event::ToolFinished(answered.called.clone()));
        let of = match begun.reaches {
            Reaches::Tool | Reaches::Resource => Of::Answer(begun.place),
            Reaches::Us => Of::LookedUp,
        };
        self.tokens.count(of, answered.answer_text());
        self.tools_called[begun.place] = answered.called;
        self.send_back(answered.completion);
    }

    fn send_back(&mut self, completion: Completion) {
        let id = completion.id;
        let frame = encode_frame(&ToWorker::Completed(completion)).or_else(|error| {
            let refusal = failure(id, "limit", Code::CallBytes, &error.to_string(), "");
            encode_frame(&ToWorker::Completed(refusal))
        });
        if let (Ok(frame), false) = (frame, self.deaf) {
            self.outgoing_bytes += frame.len();
            self.outgoing.push_back(frame);
        }
    }

    fn sent(&mut self, count: usize) {
        self.outgoing_used += count;
        self.outgoing_bytes -= count;
        if self.outgoing.front().is_some_and(|front| front.len() == self.outgoing_used) {
            self.outgoing.pop_front();
            self.outgoing_used = 0;
        }
    }

    /// An answer that is half sent must go out whole, or the next message could not be read. Whether
    /// it did.
    async fn finish_answer(&mut self, worker: &Worker) -> bool {
        match self.outgoing.front().filter(|_| self.outgoing_used > 0) {
            None => true,
            Some(front) => {
                let rest = worker.send(&front[self.outgoing_used..], &[]);
                matches!(tokio::time::timeout(FINISH_TIMEOUT, rest).await, Ok(Ok(())))
            }
        }
    }

    fn cancel(&mut self, id: u64) {
        if let Some(begun) = self.begun.remove(&id) {
            self.begun_bytes -= begun.weight_bytes;
            self.end_unanswered(&begun);
        }
        if let Some(call) = self.unbegun.remove(&id) {
            self.unbegun_bytes -= call.payload_bytes;
        }
    }

    /// The worker has closed its side, as one that is done does.
    fn stop_answering(&mut self) {
        self.deaf = true;
        self.outgoing.clear();
        (self.outgoing_used, self.outgoing_bytes) = (0, 0);
    }

    fn end_unanswered(&mut self, begun: &Begun) {
        begun.abort.abort();
        let called = &mut self.tools_called[begun.place];
        called.time_ms = begun.at.elapsed().as_secs_f64() * 1000.0;
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
