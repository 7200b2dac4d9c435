//! What must always hold, written down apart from what acts: whoever acts says what it did, and the ledger compares.

use std::collections::{HashMap, VecDeque};

use super::timeline::{Micros, SECOND};

/// Whatever a failure hit must be known to somebody within this time. The slowest that the design permits is a gateway
/// that was cut off itself, and then gives a silent node its full time.
const KNOWN_WITHIN_US: Micros = 20 * SECOND;

/// How an execution is recorded, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran to its end.
    Answered,
    /// Its node was lost after it had written: an error that lists its calls.
    FailedWithNode,
    /// Its gateway was lost.
    LostWithGateway,
    /// A queue was full, or the wait too long.
    Refused,
}

impl Outcome {
    pub const ALL: [Self; 4] = [Self::Answered, Self::FailedWithNode, Self::LostWithGateway, Self::Refused];
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariant {
    OneFinalRecord,
    WritersRunOnce,
    SessionsRunAlone,
    NothingLostSilently,
    WorkIsConserved,
}

impl Invariant {
    pub const ALL: [Self; 5] = [
        Self::OneFinalRecord,
        Self::WritersRunOnce,
        Self::SessionsRunAlone,
        Self::NothingLostSilently,
        Self::WorkIsConserved,
    ];

    pub fn sentence(self) -> &'static str {
        match self {
            Self::OneFinalRecord => "every execution has exactly one final record",
            Self::WritersRunOnce => "no execution that wrote runs twice",
            Self::SessionsRunAlone => "no session runs two programs at a time",
            Self::NothingLostSilently => "what a failure hits is known to somebody within 20 s",
            Self::WorkIsConserved => "arrived = answered + failed + lost + refused + in flight",
        }
    }
}

/// How often one was broken, and the first time.
#[derive(Clone, Debug, Default)]
pub struct Broken {
    pub times: u64,
    pub first: Option<String>,
}

const FINAL: u8 = 1;
const WROTE: u8 = 2;

pub struct Ledger {
    /// Of each execution, by its number.
    marks: Vec<u8>,
    /// Programs that run now, by session.
    running: Vec<u8>,
    /// Executions that a failure hit, and until when that must be known; nobody knows yet of the open ones.
    hit: VecDeque<(Micros, u32)>,
    open: HashMap<u32, Micros>,
    outcomes: [u64; Outcome::ALL.len()],
    broken: [Broken; Invariant::ALL.len()],
}

impl Ledger {
    pub fn new(sessions: usize) -> Self {
        Self {
            marks: Vec::new(),
            running: vec![0; sessions],
            hit: VecDeque::new(),
            open: HashMap::new(),
            outcomes: [0; Outcome::ALL.len()],
            broken: Default::default(),
        }
    }

    /// Its number.
    pub fn arrived(&mut self) -> u32 {
        self.marks.push(0);
        (self.marks.len() - 1) as u32
    }

    /// A program runs on a node.
    pub fn started(&mut self, now: Micros, execution: u32, session: Option<u32>) {
        if self.has(execution, WROTE) {
            self.breaks(Invariant::WritersRunOnce, now, || format!("execution {execution}"));
        }
        if let Some(session) = session {
            self.running[session as usize] += 1;
            if self.running[session as usize] > 1 {
                self.breaks(Invariant::SessionsRunAlone, now, || format!("session {session}"));
            }
        }
    }

    /// A program runs no longer, for whatever reason.
    pub fn stopped(&mut self, session: Option<u32>) {
        if let Some(session) = session {
            self.running[session as usize] -= 1;
        }
    }

    /// A call that writes goes to a server.
    pub fn wrote(&mut self, execution: u32) {
        self.marks[execution as usize] |= WROTE;
    }

    /// The machine under it is gone, and nobody knows yet.
    pub fn hit(&mut self, now: Micros, execution: u32) {
        let until = now + KNOWN_WITHIN_US;
        self.hit.push_back((until, execution));
        self.open.insert(execution, until);
    }

    /// Somebody knows, and acts.
    pub fn noticed(&mut self, execution: u32) {
        self.open.remove(&execution);
    }

    pub fn final_record(&mut self, now: Micros, execution: u32, outcome: Outcome) {
        if self.has(execution, FINAL) {
            self.breaks(Invariant::OneFinalRecord, now, || format!("execution {execution} has a second one"));
        }
        self.marks[execution as usize] |= FINAL;
        self.noticed(execution);
        self.outcomes[outcome as usize] += 1;
    }

    /// `in_flight`: counted where they are, not from records.
    pub fn check(&mut self, now: Micros, in_flight: usize) {
        let (arrived, recorded) = (self.marks.len() as u64, self.outcomes.iter().sum::<u64>());
        if arrived != recorded + in_flight as u64 {
            self.breaks(Invariant::WorkIsConserved, now, || {
                format!("{arrived} arrived, {recorded} have a record, {in_flight} are in flight")
            });
        }
        while let Some((until, execution)) = self.hit.pop_front_if(|(until, _)| *until <= now) {
            if self.open.get(&execution) == Some(&until) {
                self.breaks(Invariant::NothingLostSilently, now, || format!("execution {execution}"));
            }
        }
    }

    /// Nothing comes any more: whoever has no record now never gets one.
    pub fn close(&mut self, now: Micros) {
        for execution in 0..self.marks.len() as u32 {
            if !self.has(execution, FINAL) {
                self.breaks(Invariant::OneFinalRecord, now, || format!("execution {execution} has none"));
            }
        }
    }

    pub fn arrivals(&self) -> u64 {
        self.marks.len() as u64
    }

    pub fn count(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    pub fn broken(&self, invariant: Invariant) -> &Broken {
        &self.broken[invariant as usize]
    }

    pub fn holds(&self) -> bool {
        self.broken.iter().all(|broken| broken.times == 0)
    }

    fn has(&self, execution: u32, mark: u8) -> bool {
        self.marks[execution as usize] & mark != 0
    }

    fn breaks(&mut self, invariant: Invariant, now: Micros, what: impl FnOnce() -> String) {
        let broken = &mut self.broken[invariant as usize];
        broken.times += 1;
        broken.first.get_or_insert_with(|| format!("at {:.3} s: {}", now as f64 / SECOND as f64, what()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which invariants are broken after this.
    fn broken(act: impl FnOnce(&mut Ledger)) -> Vec<Invariant> {
        let mut ledger = Ledger::new(2);
        act(&mut ledger);
        Invariant::ALL.into_iter().filter(|one| ledger.broken(*one).times > 0).collect()
    }

    #[test]
    fn an_ordinary_life_breaks_nothing() {
        let found = broken(|ledger| {
            let one = ledger.arrived();
            ledger.started(0, one, Some(1));
            ledger.hit(1, one);
            ledger.stopped(Some(1));
            ledger.check(2, 1);
            ledger.noticed(one);
            ledger.started(3, one, Some(1));
            ledger.wrote(one);
            ledger.stopped(Some(1));
            ledger.final_record(4, one, Outcome::Answered);
            ledger.check(100 * SECOND, 0);
            ledger.close(100 * SECOND);
        });
        assert_eq!(found, []);
    }

    #[test]
    fn two_records_or_none_are_noticed() {
        let twice = broken(|ledger| {
            let one = ledger.arrived();
            ledger.final_record(1, one, Outcome::Answered);
            ledger.final_record(2, one, Outcome::LostWithGateway);
        });
        assert_eq!(twice, [Invariant::OneFinalRecord]);
        let never = broken(|ledger| {
            ledger.arrived();
            ledger.close(1);
        });
        assert_eq!(never, [Invariant::OneFinalRecord]);
    }

    #[test]
    fn one_that_wrote_and_runs_again_is_noticed() {
        let found = broken(|ledger| {
            let one = ledger.arrived();
            ledger.started(0, one, None);
            ledger.wrote(one);
            ledger.stopped(None);
            ledger.started(1, one, None);
        });
        assert_eq!(found, [Invariant::WritersRunOnce]);
    }

    #[test]
    fn two_programs_in_one_session_are_noticed() {
        let found = broken(|ledger| {
            let (one, other) = (ledger.arrived(), ledger.arrived());
            ledger.started(0, one, Some(1));
            ledger.started(1, other, Some(1));
        });
        assert_eq!(found, [Invariant::SessionsRunAlone]);
    }

    #[test]
    fn one_that_nobody_misses_is_noticed() {
        let found = broken(|ledger| {
            let one = ledger.arrived();
            ledger.hit(0, one);
            ledger.check(KNOWN_WITHIN_US, 1);
        });
        assert_eq!(found, [Invariant::NothingLostSilently]);
    }

    #[test]
    fn one_that_is_hit_again_has_its_time_again() {
        let found = broken(|ledger| {
            let one = ledger.arrived();
            ledger.hit(0, one);
            ledger.noticed(one);
            ledger.hit(SECOND, one);
            ledger.check(KNOWN_WITHIN_US, 1);
            ledger.noticed(one);
            ledger.check(2 * KNOWN_WITHIN_US, 1);
        });
        assert_eq!(found, []);
    }

    #[test]
    fn work_that_appears_or_disappears_is_noticed() {
        let gone = broken(|ledger| {
            ledger.arrived();
            ledger.check(1, 0);
        });
        assert_eq!(gone, [Invariant::WorkIsConserved]);
        assert_eq!(broken(|ledger| ledger.check(1, 1)), [Invariant::WorkIsConserved]);
    }
}
