//! Executions that fail more often than they used to: of a session, of a caller, of everybody.

use serde::{Deserialize, Serialize};

use super::{Look, count, number, percent, time};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, option};
use crate::event::{Executed, Outcome};
use crate::history::{
    Burst, BurstRule, Crossed, HOUR_MS, MINUTE_MS, Rate, Sample, Streak, Trail, TrailRule, hash,
};

/// Agents fix programs by trying: rows of failures are their daily work.
const SHARE_MIN: f64 = 0.3;
/// Failures of a caller within a minute that are never a burst: nobody fixes programs faster.
const A_MINUTE: u64 = 10;

fn rule(look: Look<'_>, who_min: usize) -> TrailRule {
    TrailRule {
        within_ms: HOUR_MS,
        share_min: SHARE_MIN,
        share_cold: 0.35,
        chance: look.settings.chance,
        bad_min: 8,
        who_min,
        of_one_max: usize::MAX,
    }
}

/// `None` for what says nothing about the program.
fn has_failed(event: &Executed) -> Option<bool> {
    match event.outcome {
        Outcome::Succeeded => Some(false),
        Outcome::ProgramFailed | Outcome::LimitReached | Outcome::SystemFailed => Some(true),
        Outcome::Canceled => None,
    }
}

fn finding(severity: Severity, subject: Subject, streak: Streak, trail: &Trail, event: &Executed) -> Anomaly {
    let code = event.code.as_deref().filter(|code| code.len() <= 16 && code.is_ascii());
    let words = format!(
        "{} of the last {} executions of {subject} failed within {}, the latest with {}; usually {} do.",
        streak.bad,
        streak.all,
        time(streak.since_ms),
        code.unwrap_or("no code"),
        percent(streak.usual),
    );
    let session = match &subject {
        Subject::Session { session, .. } => option("--session", session),
        _ => String::new(),
    };
    Anomaly::new(Kind::Failures, severity, subject, words)
        .fact("failed", count(streak.bad))
        .fact("executions", count(streak.all))
        .fact("usual_share", streak.usual)
        .executions(trail.bad_ids().iter())
        .action(format!("gristmill history --failed{session} --since 1h"))
}

/// A session's executions, against its caller's past.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct SessionFailures {
    trail: Trail,
}

impl SessionFailures {
    pub fn see(&mut self, look: Look<'_>, event: &Executed, session: &str, base: &Rate) -> Option<Anomaly> {
        let sample = Sample { who: hash(&event.id), id: &event.id, is_bad: has_failed(event)? };
        let streak = self.trail.add(look.now, sample, &rule(look, 1), Some(base))?;
        let subject = Subject::Session { caller: event.caller.clone(), session: session.to_owned() };
        Some(finding(Severity::Warning, subject, streak, &self.trail, event))
    }
}

/// A caller's executions, against its own past.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CallerFailures {
    trail: Trail,
    burst: Burst,
}

impl CallerFailures {
    /// One failing session is told as that session's.
    pub fn see(&mut self, look: Look<'_>, event: &Executed) -> Option<Anomaly> {
        let has_failed = has_failed(event)?;
        let who = hash(event.session.as_deref().unwrap_or(&event.id));
        let sample = Sample { who, id: &event.id, is_bad: has_failed };
        let streak = self.trail.add(look.now, sample, &rule(look, 2), None);
        let by_minute = BurstRule { length_ms: MINUTE_MS, floor: A_MINUTE, factor: 2, cold_factor: 2 };
        let crossed = self.burst.add(look.now, u64::from(has_failed), &by_minute, None);
        let subject = || Subject::Caller(event.caller.clone());
        let row = streak.map(|streak| finding(Severity::Warning, subject(), streak, &self.trail, event));
        row.or(crossed.filter(|_| has_failed).map(|crossed| self.of_a_minute(crossed, subject())))
    }

    fn of_a_minute(&self, crossed: Crossed, subject: Subject) -> Anomaly {
        let usual = match crossed.usual {
            Some(usual) => format!("at most {usual} on the {} active days before", crossed.days),
            None => "this caller is new".to_owned(),
        };
        let words = format!("{} executions of {subject} failed within a minute; {usual}.", crossed.sum);
        Anomaly::new(Kind::Failures, Severity::Warning, subject, words)
            .fact("failed", number(crossed.sum))
            .fact("threshold", number(crossed.threshold))
            .executions(self.trail.bad_ids().iter())
            .action("gristmill history --failed --since 1h".to_owned())
    }

    pub fn rate(&self) -> &Rate {
        self.trail.rate()
    }
}

/// Everybody's executions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct GatewayFailures {
    trail: Trail,
    system: Trail,
}

impl GatewayFailures {
    pub fn see(&mut self, look: Look<'_>, event: &Executed) -> Vec<Anomaly> {
        [self.of_several(look, event), self.of_ours(look, event)].into_iter().flatten().collect()
    }

    /// Several callers fail at once.
    fn of_several(&mut self, look: Look<'_>, event: &Executed) -> Option<Anomaly> {
        let sample = Sample { who: hash(&event.caller), id: &event.id, is_bad: has_failed(event)? };
        let streak = self.trail.add(look.now, sample, &rule(look, 3), None)?;
        Some(finding(Severity::Critical, Subject::Everything, streak, &self.trail, event))
    }

    /// Failures of ours are rare, and nobody's program explains them.
    fn of_ours(&mut self, look: Look<'_>, event: &Executed) -> Option<Anomaly> {
        has_failed(event)?;
        let rule = TrailRule { share_min: 0.03, share_cold: 0.05, bad_min: 5, ..rule(look, 1) };
        let is_bad = event.outcome == Outcome::SystemFailed;
        let sample = Sample { who: hash(&event.id), id: &event.id, is_bad };
        let streak = self.system.add(look.now, sample, &rule, None)?;
        let words = format!(
            "{} of the last {} executions ended within {} by a fault of the gateway or the machine; usually {} do.",
            streak.bad,
            streak.all,
            time(streak.since_ms),
            percent(streak.usual),
        );
        Some(
            Anomaly::new(Kind::SystemFailures, Severity::Critical, Subject::Everything, words)
                .fact("failed", count(streak.bad))
                .fact("executions", count(streak.all))
                .fact("usual_share", streak.usual)
                .executions(self.system.bad_ids().iter())
                .action("gristmill doctor".to_owned()),
        )
    }
}
