//! A tool's or a server's calls that fail more often than they used to.

use serde::{Deserialize, Serialize};

use super::{Look, count, percent, time};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, argument};
use crate::event::{CallOutcome, Called};
use crate::history::{HOUR_MS, Sample, Trail, TrailRule, hash};

/// Calls, of a tool or of a server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CallFailures {
    trail: Trail,
}

impl CallFailures {
    /// A program that calls a tool wrongly in a loop is one execution, which counts three times at most.
    pub fn see(
        &mut self,
        look: Look<'_>,
        event: &Called,
        subject: impl FnOnce() -> Subject,
    ) -> Option<Anomaly> {
        if event.outcome == CallOutcome::Denied {
            return None;
        }
        let rule = TrailRule {
            within_ms: HOUR_MS,
            share_min: 0.1,
            share_cold: 0.25,
            chance: look.settings.chance,
            bad_min: 6,
            who_min: 4,
            of_one_max: 3,
        };
        let is_bad = event.outcome == CallOutcome::Failed;
        let sample = Sample { who: hash(&event.execution), id: &event.execution, is_bad };
        let streak = self.trail.add(look.now, sample, &rule, None)?;
        let subject = subject();
        let words = format!(
            "{} of the last {} calls of {subject} failed within {}; usually {} do.",
            streak.bad,
            streak.all,
            time(streak.since_ms),
            percent(streak.usual),
        );
        Some(
            Anomaly::new(Kind::CallFailures, Severity::Warning, subject, words)
                .fact("failed", count(streak.bad))
                .fact("calls", count(streak.all))
                .fact("usual_share", streak.usual)
                .executions(self.trail.bad_ids().iter())
                .action(format!("gristmill logs{}", argument(&event.server))),
        )
    }
}
