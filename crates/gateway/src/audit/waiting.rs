//! Events on their way to the database: kept in their order, within bounds, written many at a time, and made
//! into text by whoever writes them. Held by the jobs of the database's thread, and so without the database
//! itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gristmill_domain::utc_text_ms;
use parking_lot::Mutex;

use super::call_event::call_event;
use super::chain::hex;
use super::keys::Keys;
use crate::clock::Clock;
use crate::ids::ExecutionId;
use crate::ports::{AuditEffect, AuditEvent, AuditKind, CallFacts};
use crate::store::{AuditBatch, AuditHash, AuditHead, AuditRow, AuditSigner, RowEffect, Safe, SignedHead};

/// Events that wait while nothing can be written. What comes then is counted and not kept: a full disk must
/// not fill the memory as well.
const EVENTS_MAX: usize = 20_000;

/// Bad tokens that are noted one by one in a minute; the rest are counted. Anyone can send them.
const REFUSED_TOKENS_MAX: u32 = 30;

/// Events of one execution that whoever ends it makes into text himself.
const TAKEN_AT_ONCE_MAX: usize = 32;

const MINUTE: Duration = Duration::from_secs(60);

/// Something to write down, before it is a text.
pub(super) enum Noted {
    Event(AuditEvent),
    Call(Arc<CallFacts>),
}

impl Noted {
    /// The one that it is about.
    fn about(&self) -> Option<&ExecutionId> {
        match self {
            Noted::Event(event) => event.execution(),
            Noted::Call(facts) => facts.caller.execution.as_ref(),
        }
    }

    fn execution(&self) -> Option<&str> {
        self.about().map(ExecutionId::as_str)
    }
}

impl From<AuditEvent> for Noted {
    fn from(event: AuditEvent) -> Self {
        Self::Event(event)
    }
}

pub(super) struct Waiting {
    pub keys: Keys,
    /// Whether calls are kept with their arguments.
    keeps_arguments: bool,
    clock: Clock,
    events: Mutex<Events>,
    /// The number of the last event that this process has written.
    written: AtomicU64,
    /// This process, as executions that it leaves open are told from others.
    gateway: OnceLock<String>,
    /// When the chain was signed last, and up to where, as far as this process knows.
    signed: Mutex<Option<(Instant, u64)>>,
}

#[derive(Default)]
struct Events {
    /// Those that were texts before, and could not be written.
    texts: Vec<AuditRow>,
    /// The others, after them.
    noted: Vec<(SystemTime, Noted)>,
    /// What those are about that were taken, and are not written yet.
    in_flight: Vec<ExecutionId>,
    /// When the oldest of them came.
    since: Option<Instant>,
    /// Events that found no room.
    dropped: u64,
    /// Since when bad tokens are counted, how many, and how many of them were not noted.
    refused: Option<(Instant, u32, u64)>,
}

impl Waiting {
    pub fn new(keys: Keys, clock: Clock, keeps_arguments: bool) -> Self {
        let (events, written, gateway, signed) = Default::default();
        Self { keys, keeps_arguments, clock, events, written, gateway, signed }
    }

    pub fn is_gateway(&self, name: &str) {
        let _ = self.gateway.set(name.to_owned());
    }

    /// Puts an event at the end; how many wait then.
    pub fn put(&self, noted: Noted) -> usize {
        let mut events = self.events.lock();
        let noted = match noted {
            Noted::Event(event) if event.kind() == AuditKind::TokenRefused => {
                events.thinned(event).map(Noted::Event)
            }
            noted => Some(noted),
        };
        let Some(noted) = noted else { return events.count() };
        // The first and the final event of an execution belong together; there are as many as programs.
        let is_paired = matches!(&noted, Noted::Event(event) if *event.effect() != AuditEffect::None);
        if events.count() >= EVENTS_MAX && !is_paired {
            events.dropped += 1;
            return events.count();
        }
        // Its moment is taken under the lock: later events have later moments.
        events.noted.push((self.clock.now(), noted));
        events.since.get_or_insert_with(Instant::now);
        events.count()
    }

    /// How many wait.
    pub fn count(&self) -> usize {
        self.events.lock().count()
    }

    /// How long the oldest of them has waited.
    pub fn lag(&self) -> Duration {
        self.events.lock().since.map(|since| since.elapsed()).unwrap_or_default()
    }

    /// Whether what was written should be signed, as far as this process knows.
    pub fn is_written_due(&self, every: Duration, events: u64) -> bool {
        self.is_due(self.written.load(Ordering::Relaxed), every, events)
    }

    /// The same of an event with this number.
    pub fn is_due(&self, number: u64, every: Duration, events: u64) -> bool {
        match *self.signed.lock() {
            None => true,
            Some((at, last)) => {
                number > last && (at.elapsed() >= every || number.saturating_sub(last) >= events)
            }
        }
    }

    /// What a call is kept as.
    pub fn event(&self, facts: &CallFacts) -> AuditEvent {
        call_event(facts, &self.keys, self.keeps_arguments)
    }

    /// What was noted, as it is kept.
    fn text(&self, at: SystemTime, noted: Noted) -> AuditRow {
        let event = match noted {
            Noted::Event(event) => event,
            Noted::Call(facts) => self.event(&facts),
        };
        let effect = match event.effect() {
            AuditEffect::None => RowEffect::None,
            AuditEffect::Opens(execution) => RowEffect::Opens {
                execution: execution.as_str().to_owned(),
                gateway: self.gateway.get().cloned().unwrap_or_default(),
            },
            AuditEffect::Closes(execution) => RowEffect::Closes { execution: execution.as_str().to_owned() },
        };
        AuditRow { text: event.text(&utc_text_ms(at)), effect }
    }

    /// An event of this moment.
    fn row(&self, event: AuditEvent) -> AuditRow {
        self.text(self.clock.now(), Noted::Event(event))
    }
}

impl Events {
    fn count(&self) -> usize {
        self.texts.len() + self.noted.len()
    }

    /// The event with how many before it were left out; `None` if this one is, too.
    fn thinned(&mut self, event: AuditEvent) -> Option<AuditEvent> {
        let now = Instant::now();
        let (since, count, left_out) = self.refused.unwrap_or((now, 0, 0));
        if now.duration_since(since) < MINUTE && count >= REFUSED_TOKENS_MAX {
            self.refused = Some((since, count, left_out + 1));
            return None;
        }
        let (since, count) = if now.duration_since(since) < MINUTE { (since, count + 1) } else { (now, 1) };
        self.refused = Some((since, count, 0));
        Some(event.some("left_out_before", (left_out > 0).then_some(left_out)))
    }
}

impl AuditBatch for Waiting {
    fn is_empty(&self) -> bool {
        let events = self.events.lock();
        events.count() == 0 && events.dropped == 0
    }

    fn take(&self) -> Vec<AuditRow> {
        let (mut rows, noted, dropped) = {
            let mut events = self.events.lock();
            events.since = None;
            let Events { texts, noted, dropped, in_flight, .. } = &mut *events;
            in_flight.extend(noted.iter().filter_map(|(_, noted)| noted.about().cloned()));
            in_flight.dedup();
            (std::mem::take(texts), std::mem::take(noted), std::mem::take(dropped))
        };
        rows.extend(noted.into_iter().map(|(at, noted)| self.text(at, noted)));
        if dropped > 0 {
            let lost = AuditEvent::new(AuditKind::Audit).name("what", "incomplete").value("lost", &dropped);
            rows.push(self.row(lost));
        }
        rows
    }

    fn take_of(&self, execution: &str) -> Option<Vec<AuditRow>> {
        let own = {
            let mut events = self.events.lock();
            let is_own = |(_, noted): &(SystemTime, Noted)| noted.execution() == Some(execution);
            // Some of them may be texts, or be written at this moment: what comes after them goes their way.
            if !events.texts.is_empty() || events.in_flight.iter().any(|one| one.as_str() == execution) {
                return None;
            }
            match events.noted.iter().filter(|noted| is_own(noted)).count() {
                0 => return Some(Vec::new()),
                1..=TAKEN_AT_ONCE_MAX => {}
                _ => return None,
            }
            let (own, others): (Vec<_>, Vec<_>) =
                std::mem::take(&mut events.noted).into_iter().partition(is_own);
            events.noted = others;
            if events.count() == 0 && events.dropped == 0 {
                events.since = None;
            }
            own
        };
        Some(own.into_iter().map(|(at, noted)| self.text(at, noted)).collect())
    }

    fn is_settled(&self) {
        self.events.lock().in_flight.clear();
    }

    fn put_back(&self, mut rows: Vec<AuditRow>) {
        let mut events = self.events.lock();
        rows.append(&mut events.texts);
        events.texts = rows;
        // As far as is known: they waited before.
        events.since.get_or_insert_with(Instant::now);
    }

    fn written(&self, head: &AuditHead) {
        self.written.store(head.number, Ordering::Relaxed);
    }
}

impl AuditSigner for Waiting {
    fn sign(&self, number: u64, is_anchor: bool, hash: &AuditHash, at_ms: i64) -> SignedHead {
        self.keys.sign(number, is_anchor, hash.to_vec(), at_ms)
    }

    fn has_signed(&self, head: &SignedHead) -> bool {
        self.keys.has_signed(head)
    }

    fn mark(&self) -> Option<SignedHead> {
        let mark = self.keys.mark().ok().flatten()?;
        self.has_signed(&mark).then_some(mark)
    }

    fn signed(&self, head: &SignedHead) {
        *self.signed.lock() = Some((Instant::now(), head.number));
    }

    fn reached_disk(&self, head: &SignedHead, safe: Safe) {
        let is_marked = safe == Safe::Yes && self.keys.advance_mark(head).is_ok();
        if !is_marked {
            // Tried again with the next signature, which is due at once.
            *self.signed.lock() = None;
        }
    }

    fn broken(&self, mark: Option<&SignedHead>, head: &AuditHead) -> AuditRow {
        let event = AuditEvent::new(AuditKind::Audit).name("what", "broken");
        let event = match mark {
            Some(mark) => event
                .value("signed_number", &mark.number)
                .name("signed_hash", &hex(&mark.hash))
                .name("signed_at", &moment(mark.at_ms)),
            None => event.name("detail", "the mark beside the key was missing or not ours"),
        };
        self.row(event.value("found_number", &head.number))
    }

    fn cut(&self, anchor: &SignedHead) -> AuditRow {
        let event = AuditEvent::new(AuditKind::Audit)
            .name("what", "retention")
            .value("through", &anchor.number)
            .name("through_hash", &hex(&anchor.hash));
        self.row(event)
    }
}

/// Milliseconds since 1970 as events have moments.
pub(super) fn moment(ms: i64) -> String {
    utc_text_ms(UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or_default()))
}

/// The text of the final event of an execution whose gateway is gone, with what the first one said.
pub(super) fn lost_text(at: SystemTime, execution: &str, begun: Option<&str>) -> String {
    let begun: serde_json::Value = begun.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let said = |key: &str| begun[key].as_str();
    AuditEvent::new(AuditKind::ExecutionEnded)
        .some_name("caller", said("caller"))
        .some_name("token", said("token"))
        .some_name("client", said("client"))
        .some_name("session", said("session"))
        .name("execution", execution)
        .name("outcome", "lost")
        .text(&utc_text_ms(at))
}
