//! Whether the chain is whole: every event as it was written, none missing, none moved, and as far as it was
//! signed. What is wrong is said with the event where it shows.

use serde_json::Value;

use super::chain::{BEGINNING, link};
use super::keys::Keys;
use super::waiting::moment;
use crate::store::{AuditHash, AuditRecord, SignedHead};

/// More than this many faults say no more than these do.
const FAULTS_MAX: usize = 20;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// How many events there are.
    pub events: u64,
    pub first: u64,
    pub last: u64,
    /// Events after the last signature: linked, but not signed yet.
    pub unsigned: u64,
    /// How many signatures were good.
    pub checkpoints: u64,
    /// When the chain was signed last.
    pub signed_at: Option<String>,
    /// The key that it was checked with.
    pub key: String,
    /// Nothing, as a rule.
    pub faults: Vec<Fault>,
}

/// Something is wrong with the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The event where it shows.
    pub number: u64,
    /// When that was written, as far as anything says.
    pub at: Option<String>,
    pub what: String,
}

/// One walk along the chain.
pub(super) struct Walk {
    /// What was signed, in its order.
    signed: Vec<SignedHead>,
    next_signed: usize,
    /// What the next event is linked to; `None` after a fault, when the next one's own hash is taken.
    previous: Option<AuditHash>,
    expected: u64,
    found: Verification,
    last_signed: u64,
    mark: Option<SignedHead>,
    mark_is_met: bool,
}

impl Walk {
    /// `signed` as the database has it, `mark` as the file beside the key says.
    pub fn begin(signed: Vec<SignedHead>, mark: Option<SignedHead>, keys: &Keys) -> Self {
        let found = Verification {
            events: 0,
            first: 0,
            last: 0,
            unsigned: 0,
            checkpoints: 0,
            signed_at: None,
            key: keys.id(),
            faults: Vec::new(),
        };
        let mut walk = Self {
            signed: Vec::new(),
            next_signed: 0,
            previous: Some(BEGINNING),
            expected: 1,
            found,
            last_signed: 0,
            mark_is_met: mark.as_ref().is_none_or(|mark| mark.number == 0),
            mark: None,
        };
        walk.take_mark(mark, keys);
        walk.take_signed(signed, keys);
        walk
    }

    fn take_mark(&mut self, mark: Option<SignedHead>, keys: &Keys) {
        match mark {
            None => self.fault(0, None, "the mark beside the key (audit.mark) is missing or can't be read, so a chain that was cut at its end would look whole"),
            Some(mark) if !keys.has_signed(&mark) => {
                self.fault(mark.number, Some(moment(mark.at_ms)), "the mark beside the key (audit.mark) isn't signed with this key");
                self.mark_is_met = true;
            }
            Some(mark) => self.mark = Some(mark),
        }
    }

    fn take_signed(&mut self, signed: Vec<SignedHead>, keys: &Keys) {
        for head in signed {
            if !keys.has_signed(&head) {
                let what =
                    "the checkpoint here isn't signed with this key: it was forged, or the key was replaced";
                self.fault(head.number, Some(moment(head.at_ms)), what);
                continue;
            }
            if head.is_anchor {
                // What came before was let go of.
                self.previous = AuditHash::try_from(&head.hash[..]).ok();
                self.expected = head.number + 1;
                self.mark_is_met |= self.mark.as_ref().is_some_and(|mark| mark.number <= head.number);
            }
            (self.last_signed, self.found.signed_at) = (head.number, Some(moment(head.at_ms)));
            self.found.checkpoints += 1;
            self.signed.push(head);
        }
        let first = self.expected;
        self.signed.retain(|head| head.number >= first);
    }

    /// The next event.
    pub fn visit(&mut self, record: &AuditRecord) {
        let AuditRecord { number, hash, text } = record;
        let event: Value = serde_json::from_str(text).unwrap_or_default();
        let at = event["at"].as_str().map(str::to_owned);
        if self.found.events == 0 {
            self.found.first = *number;
        }
        self.found.events += 1;
        self.found.last = *number;
        if *number != self.expected {
            let missing = match number.saturating_sub(self.expected) {
                0 => format!("event {number} is out of order"),
                1 => format!("event {} is missing before this one", self.expected),
                _ => format!("events {} to {} are missing before this one", self.expected, number - 1),
            };
            self.fault(*number, at.clone(), &missing);
            self.previous = None;
        }
        let stored = AuditHash::try_from(&hash[..]).ok();
        if let Some(previous) = &self.previous
            && stored != Some(link(previous, *number, text))
        {
            let what = "the hash doesn't fit: this event was changed or moved, or the one before it was";
            self.fault(*number, at.clone(), what);
        }
        // Judged by its own hash from here on, so that one fault is told once.
        self.previous = stored;
        self.expected = number + 1;
        self.compare_signed(*number, hash, &at);
        if event["kind"] == "audit" && event["what"] == "broken" {
            let what = match event["signed_number"].as_u64() {
                Some(signed) => {
                    format!("at this moment the chain no longer led to event {signed}, which had been signed")
                }
                None => "at this moment the mark beside the key was missing or not ours".to_owned(),
            };
            self.fault(*number, at, &what);
        }
    }

    fn compare_signed(&mut self, number: u64, hash: &[u8], at: &Option<String>) {
        while let Some(head) = self.signed.get(self.next_signed).filter(|head| head.number <= number) {
            let (is_here, is_same) = (head.number == number, head.hash == hash);
            let before =
                self.signed[..self.next_signed].last().map_or(self.found.first, |head| head.number + 1);
            self.next_signed += 1;
            if is_here && !is_same {
                let what =
                    format!("events {before} to {number} aren't those that were signed: they were rewritten");
                self.fault(number, at.clone(), &what);
            }
        }
        if let Some(mark) = self.mark.as_ref().filter(|mark| mark.number == number) {
            self.mark_is_met = true;
            if mark.hash != hash {
                self.fault(
                    number,
                    at.clone(),
                    "this event isn't the one that the mark beside the key was signed for",
                );
            }
        }
    }

    /// What all of it comes to.
    pub fn end(mut self) -> Verification {
        let last = self.expected - 1;
        let farthest = self.signed.last().cloned().into_iter().chain(self.mark.clone());
        if let Some(signed) = farthest.max_by_key(|head| head.number).filter(|head| head.number > last) {
            let what = format!(
                "the chain was cut: events {} to {} are missing, which had been signed at {}",
                last + 1,
                signed.number,
                moment(signed.at_ms)
            );
            self.fault(last, None, &what);
        } else if !self.mark_is_met {
            let number = self.mark.as_ref().map_or(0, |mark| mark.number);
            self.fault(number, None, "the event that the mark beside the key was signed for is missing");
        }
        self.found.unsigned = last.saturating_sub(self.last_signed);
        self.found
    }

    fn fault(&mut self, number: u64, at: Option<String>, what: &str) {
        if self.found.faults.len() < FAULTS_MAX {
            self.found.faults.push(Fault { number, at, what: what.to_owned() });
        }
    }
}

impl Verification {
    pub fn is_whole(&self) -> bool {
        self.faults.is_empty()
    }
}
