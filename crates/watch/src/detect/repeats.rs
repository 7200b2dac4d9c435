//! The same program again and again: an agent that is stuck.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Look, number};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, option};
use crate::event::{Executed, Outcome};
use crate::history::{MINUTE_MS, Peaks};
use crate::limits::{PROGRAMS_MAX, cut};

const WITHIN_MS: u64 = 10 * MINUTE_MS;

/// How often the programs of a caller are repeated.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CallerRepeats {
    all: Peaks,
    failed: Peaks,
}

/// The last programs of a session, or of a caller without one.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Repeats {
    programs: VecDeque<Ran>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Ran {
    at_ms: u64,
    program: u64,
    has_failed: bool,
    id: String,
}

impl Repeats {
    pub fn see(&mut self, look: Look<'_>, event: &Executed, past: &mut CallerRepeats) -> Option<Anomaly> {
        let has_failed = match event.outcome {
            Outcome::Succeeded => false,
            Outcome::ProgramFailed | Outcome::LimitReached | Outcome::SystemFailed => true,
            Outcome::Canceled => return None,
        };
        self.programs.retain(|ran| look.now.ms.abs_diff(ran.at_ms) <= WITHIN_MS);
        if self.programs.len() >= PROGRAMS_MAX {
            self.programs.pop_front();
        }
        let id = cut(&event.id).to_owned();
        self.programs.push_back(Ran { at_ms: look.now.ms, program: event.program, has_failed, id });
        let same = || self.programs.iter().filter(|ran| ran.program == event.program);
        let all = same().count() as u64;
        let failed = same().filter(|ran| ran.has_failed).count() as u64;
        let (all_max, failed_max) = past.thresholds(look, all, failed);
        if failed <= failed_max && all <= all_max {
            return None;
        }
        let subject = match &event.session {
            Some(session) => Subject::Session { caller: event.caller.clone(), session: session.clone() },
            None => Subject::Caller(event.caller.clone()),
        };
        let words = format!(
            "One program ran {all} times unchanged within ten minutes for {subject}, and failed {failed} times; \
             more than {} is unusual here.",
            if failed > failed_max { format!("{failed_max} failures") } else { format!("{all_max} runs") },
        );
        let session =
            event.session.as_deref().map(|session| option("--session", session)).unwrap_or_default();
        Some(
            Anomaly::new(Kind::RepeatedProgram, Severity::Warning, subject, words)
                .fact("runs", number(all))
                .fact("failed", number(failed))
                .executions(same().map(|ran| &ran.id))
                .action(format!("gristmill history{session} --since 1h")),
        )
    }

    pub fn trim(&mut self) {
        self.programs.truncate(PROGRAMS_MAX);
    }
}

impl CallerRepeats {
    /// How many runs, and how many failures, are not unusual; then today's are noted.
    fn thresholds(&mut self, look: Look<'_>, all: u64, failed: u64) -> (u64, u64) {
        let day = look.now.day;
        self.all.note(day, 0);
        self.failed.note(day, 0);
        // A newcomer may be a service that does one thing: only its failures are judged.
        let all_max = match self.all.highest() {
            Some(highest) => look.settings.repeats.max(highest.saturating_mul(3)),
            None => u64::MAX,
        };
        let failed_max =
            look.settings.failed_repeats.max(self.failed.highest().unwrap_or(0).saturating_mul(2));
        self.all.note(day, all.min(all_max));
        self.failed.note(day, failed.min(failed_max));
        (all_max, failed_max)
    }
}
