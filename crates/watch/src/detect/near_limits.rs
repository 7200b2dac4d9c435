//! A caller whose programs come near their memory or time limit, one after the other.

use serde::{Deserialize, Serialize};

use super::{Look, count, number, percent, time};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, argument, plain};
use crate::event::{Executed, Outcome};
use crate::history::{HOUR_MS, Sample, Trail, TrailRule, hash};

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct NearLimits {
    memory: Trail,
    time: Trail,
}

impl NearLimits {
    pub fn see(&mut self, look: Look<'_>, event: &Executed) -> Vec<Anomaly> {
        if event.outcome == Outcome::Canceled {
            return Vec::new();
        }
        let memory = share(event.memory_peak_bytes, event.memory_limit_bytes);
        let time = share(event.duration_ms, event.duration_limit_ms);
        [
            see_one(&mut self.memory, look, event, memory, Kind::MemoryNearLimit),
            see_one(&mut self.time, look, event, time, Kind::TimeNearLimit),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// `None` without a limit.
fn share(used: u64, limit: u64) -> Option<f64> {
    (limit > 0).then(|| number(used) / number(limit))
}

fn see_one(
    trail: &mut Trail,
    look: Look<'_>,
    event: &Executed,
    used: Option<f64>,
    kind: Kind,
) -> Option<Anomaly> {
    let used = used?;
    let rule = TrailRule {
        within_ms: 2 * HOUR_MS,
        share_min: 0.03,
        share_cold: 0.1,
        chance: look.settings.chance,
        bad_min: 5,
        who_min: 1,
        of_one_max: usize::MAX,
    };
    let is_bad = used >= look.settings.near_limit;
    let streak = trail.add(look.now, Sample { who: hash(&event.id), id: &event.id, is_bad }, &rule, None)?;
    let limit = if kind == Kind::MemoryNearLimit { "memory" } else { "time" };
    let words = format!(
        "{} of the last {} programs of caller {} used {} or more of their {limit} limit within {}; usually {} do.",
        streak.bad,
        streak.all,
        plain(&event.caller),
        percent(look.settings.near_limit),
        time(streak.since_ms),
        percent(streak.usual),
    );
    Some(
        Anomaly::new(kind, Severity::Warning, Subject::Caller(event.caller.clone()), words)
            .fact("near", count(streak.bad))
            .fact("executions", count(streak.all))
            .fact("latest_share", used)
            .fact("usual_share", streak.usual)
            .executions(trail.bad_ids().iter())
            .action(format!("gristmill show{}", argument(&event.id))),
    )
}
