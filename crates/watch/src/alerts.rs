//! When somebody is told: thresholds by severity, deduplication, hold-off and recovery.
//!
//! A pure state machine: findings and time in, what to send out. Each key is in one of four states:
//!
//! ```text
//! unknown ──finding──► pending ──enough findings──► active ──quiet for a while──► held ──hold-off over──► unknown
//!                                                     ▲                             │
//!                                                     └──────────── worse ──────────┘
//! ```
//!
//! Entering `active` sends, staying there repeats now and then, leaving it says that it is over. While `held`, the
//! same trouble is not sent again unless it is worse. Memory is bounded: 1,024 keys, the longest unseen goes.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::anomaly::{Anomaly, Kind, Severity, Subject};
use crate::history::{Bounded, HOUR_MS, MINUTE_MS};
use crate::limits::TOLD_MAX;

/// When to tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AlertSettings {
    /// How many findings of one key make an alert; 0: never.
    pub notices: u32,
    pub warnings: u32,
    pub criticals: u32,
    /// Within which time they have to come.
    pub within_ms: u64,
    /// How long an alert that goes on isn't repeated.
    pub repeat_after_ms: u64,
    /// How long without a finding until it is over. Longer than [`crate::Settings::again_after_ms`].
    pub recovered_after_ms: u64,
    /// How long after that the same isn't sent again.
    pub hold_off_ms: u64,
    /// Alerts below critical within an hour; the rest is counted.
    pub an_hour_max: usize,
}

impl Default for AlertSettings {
    fn default() -> Self {
        Self {
            notices: 0,
            warnings: 1,
            criticals: 1,
            within_ms: HOUR_MS,
            repeat_after_ms: 6 * HOUR_MS,
            recovered_after_ms: 30 * MINUTE_MS,
            hold_off_ms: HOUR_MS,
            an_hour_max: 20,
        }
    }
}

/// What to tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "what")]
pub enum Alert {
    /// Something new, or worse than it was. `withheld` alerts weren't sent since the one before.
    Send { anomaly: Anomaly, withheld: u32 },
    /// It goes on.
    Repeat { anomaly: Anomaly, since_ms: u64, findings: u32 },
    /// It is over.
    Recovered { key: String, kind: Kind, subject: Subject, since_ms: u64, until_ms: u64, findings: u32 },
}

/// Decides what is told. Serializable, so that a restart repeats nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Alerts {
    keys: Bounded<Option<State>>,
    sent_ms: VecDeque<u64>,
    withheld: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct State {
    key: String,
    kind: Kind,
    subject: Subject,
    severity: Severity,
    findings: u32,
    first_ms: u64,
    last_ms: u64,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum Phase {
    Pending,
    Active { told_ms: u64 },
    Held { until_ms: u64 },
}

impl AlertSettings {
    fn needed(&self, severity: Severity) -> Option<u32> {
        let needed = match severity {
            Severity::Notice => self.notices,
            Severity::Warning => self.warnings,
            Severity::Critical => self.criticals,
        };
        (needed > 0).then_some(needed)
    }
}

impl Alerts {
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes a finding, at its own time.
    pub fn found(&mut self, settings: &AlertSettings, anomaly: &Anomaly) -> Option<Alert> {
        let needed = settings.needed(anomaly.severity)?;
        let now_ms = anomaly.at_ms;
        let may_send = self.may_send(settings, anomaly.severity, now_ms);
        let slot = self.keys.entry(&anomaly.key, now_ms, TOLD_MAX);
        let state = slot.get_or_insert_with(|| State::new(anomaly));
        state.forget(settings, now_ms);
        let is_worse = anomaly.severity > state.severity;
        state.severity = state.severity.max(anomaly.severity);
        state.findings = state.findings.saturating_add(1);
        state.last_ms = now_ms;
        let sends = match state.phase {
            Phase::Pending => state.findings >= needed,
            Phase::Active { told_ms } => {
                if !is_worse && now_ms.saturating_sub(told_ms) >= settings.repeat_after_ms {
                    state.phase = Phase::Active { told_ms: now_ms };
                    let (since_ms, findings) = (state.first_ms, state.findings);
                    return Some(Alert::Repeat { anomaly: anomaly.clone(), since_ms, findings });
                }
                is_worse
            }
            Phase::Held { .. } => is_worse,
        };
        if !sends {
            return None;
        }
        if !may_send {
            self.withheld = self.withheld.saturating_add(1);
            return None;
        }
        state.phase = Phase::Active { told_ms: now_ms };
        self.sent_ms.push_back(now_ms);
        Some(Alert::Send { anomaly: anomaly.clone(), withheld: std::mem::take(&mut self.withheld) })
    }

    /// What is over by now. Call it every minute or so.
    pub fn tick(&mut self, settings: &AlertSettings, now_ms: u64) -> Vec<Alert> {
        let mut over = Vec::new();
        for state in self.keys.values_mut().flatten() {
            let is_quiet = now_ms.saturating_sub(state.last_ms) >= settings.recovered_after_ms;
            if matches!(state.phase, Phase::Active { .. }) && is_quiet {
                state.phase = Phase::Held { until_ms: now_ms.saturating_add(settings.hold_off_ms) };
                // A first use doesn't recover.
                over.extend(state.kind.is_lasting().then(|| state.recovered()));
            }
        }
        self.keys.remove_if(|state| state.as_ref().is_none_or(|state| state.is_past(settings, now_ms)));
        over
    }

    fn may_send(&mut self, settings: &AlertSettings, severity: Severity, now_ms: u64) -> bool {
        self.sent_ms.retain(|sent| now_ms.abs_diff(*sent) < HOUR_MS);
        // Critical ones have a bound of their own.
        let factor = if severity == Severity::Critical { 2 } else { 1 };
        self.sent_ms.len() < settings.an_hour_max.saturating_mul(factor)
    }
}

impl State {
    fn new(anomaly: &Anomaly) -> Self {
        Self {
            key: anomaly.key.clone(),
            kind: anomaly.kind,
            subject: anomaly.subject.clone(),
            severity: anomaly.severity,
            findings: 0,
            first_ms: anomaly.at_ms,
            last_ms: anomaly.at_ms,
            phase: Phase::Pending,
        }
    }

    fn is_past(&self, settings: &AlertSettings, now_ms: u64) -> bool {
        match self.phase {
            Phase::Pending => now_ms.saturating_sub(self.first_ms) > settings.within_ms,
            Phase::Active { .. } => false,
            Phase::Held { until_ms } => now_ms >= until_ms,
        }
    }

    /// Starts anew if what was before is past, also if nobody has ticked since.
    fn forget(&mut self, settings: &AlertSettings, now_ms: u64) {
        if self.is_past(settings, now_ms) {
            self.findings = 0;
            self.first_ms = now_ms;
            self.severity = Severity::Notice;
            self.phase = Phase::Pending;
        }
    }

    fn recovered(&self) -> Alert {
        Alert::Recovered {
            key: self.key.clone(),
            kind: self.kind,
            subject: self.subject.clone(),
            since_ms: self.first_ms,
            until_ms: self.last_ms,
            findings: self.findings,
        }
    }
}

#[cfg(test)]
mod tests;
