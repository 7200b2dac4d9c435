//! A caller whose programs used to save tokens, and now cost some.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Look, count, percent};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, plain};
use crate::event::Executed;
use crate::history::{DAY_MS, Sample, Trail, TrailRule, hash};
use crate::limits::SAVINGS_MAX;

/// Losses below it are not worth a word.
const LOST_MIN: i64 = 1000;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Savings {
    losses: Trail,
    recent: VecDeque<i64>,
    /// Of all before the recent ones.
    before: i64,
}

impl Savings {
    pub fn see(&mut self, look: Look<'_>, event: &Executed) -> Option<Anomaly> {
        let saved = event.tokens_saved?;
        self.recent.push_back(saved);
        if self.recent.len() > SAVINGS_MAX {
            let old = self.recent.pop_front().unwrap_or(0);
            self.before = self.before.saturating_add(old);
        }
        let rule = TrailRule {
            within_ms: DAY_MS,
            share_min: 0.2,
            share_cold: 0.5,
            chance: look.settings.chance,
            bad_min: 10,
            who_min: 1,
            of_one_max: usize::MAX,
        };
        let sample = Sample { who: hash(&event.id), id: &event.id, is_bad: saved < 0 };
        let streak = self.losses.add(look.now, sample, &rule, None)?;
        let total = self.recent.iter().fold(0_i64, |total, saved| total.saturating_add(*saved));
        if total > -LOST_MIN || self.before <= 0 {
            return None;
        }
        let words = format!(
            "{} of the last {} programs of caller {} took more tokens than direct calls would have, {} tokens over \
             the last {}; usually {} do.",
            streak.bad,
            streak.all,
            plain(&event.caller),
            total.unsigned_abs(),
            self.recent.len(),
            percent(streak.usual),
        );
        Some(
            Anomaly::new(Kind::SavingsLost, Severity::Warning, Subject::Caller(event.caller.clone()), words)
                .fact("losses", count(streak.bad))
                .fact("executions", count(streak.all))
                .fact("usual_share", streak.usual)
                .executions(self.losses.bad_ids().iter())
                .action("gristmill stats --since 1d".to_owned()),
        )
    }

    pub fn trim(&mut self) {
        self.recent.truncate(SAVINGS_MAX);
    }
}
