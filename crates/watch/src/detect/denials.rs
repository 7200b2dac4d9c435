//! A caller that is refused more than usual: it tries doors, or a rule is wrong.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Look, count, number};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, option, plain};
use crate::event::{CallOutcome, Called};
use crate::history::{Burst, BurstRule, Crossed, MINUTE_MS, hash};
use crate::limits::{DENIED_MAX, cut};

/// How often one execution's calls of one tool count.
const OF_ONE_MAX: u32 = 3;
/// Tools within ten minutes that look like trying doors.
const DOORS: usize = 5;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Denials {
    minute: Burst,
    ten_minutes: Burst,
    recent: VecDeque<Denied>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Denied {
    at_ms: u64,
    execution: String,
    tool: u64,
    times: u32,
}

impl Denials {
    pub fn see(&mut self, look: Look<'_>, event: &Called) -> Option<Anomaly> {
        let is_counted = event.outcome == CallOutcome::Denied && self.is_counted(look, event);
        let floor = look.settings.denials_a_minute;
        let short = BurstRule { length_ms: MINUTE_MS, floor, factor: 2, cold_factor: 2 };
        let long = BurstRule { length_ms: 10 * MINUTE_MS, floor: floor.saturating_mul(2), ..short };
        // Answered calls count as none: days without denials are part of the past.
        let amount = u64::from(is_counted);
        let crossed = self.minute.add(look.now, amount, &short, None).map(|crossed| ("a minute", crossed));
        let slower =
            self.ten_minutes.add(look.now, amount, &long, None).map(|crossed| ("ten minutes", crossed));
        if !is_counted {
            return None;
        }
        crossed.or(slower).map(|(length, crossed)| self.finding(event, length, crossed))
    }

    fn is_counted(&mut self, look: Look<'_>, event: &Called) -> bool {
        self.recent.retain(|denied| look.now.ms.abs_diff(denied.at_ms) <= 10 * MINUTE_MS);
        let tool = hash(&format!("{}.{}", event.server, event.tool));
        let execution = cut(&event.execution);
        if let Some(known) = self.recent.iter_mut().find(|it| it.tool == tool && it.execution == execution) {
            known.times = known.times.saturating_add(1);
            return known.times <= OF_ONE_MAX;
        }
        if self.recent.len() >= DENIED_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(Denied { at_ms: look.now.ms, execution: execution.to_owned(), tool, times: 1 });
        true
    }

    fn finding(&self, event: &Called, length: &str, crossed: Crossed) -> Anomaly {
        let mut tools: Vec<u64> = self.recent.iter().map(|denied| denied.tool).collect();
        tools.sort_unstable();
        tools.dedup();
        let mut executions: Vec<String> = self.recent.iter().map(|denied| denied.execution.clone()).collect();
        executions.dedup();
        let severity = if tools.len() >= DOORS { Severity::Critical } else { Severity::Warning };
        let usual = match crossed.usual {
            Some(usual) => format!("at most {usual} on the {} active days before", crossed.days),
            None => "this caller is new".to_owned(),
        };
        let words = format!(
            "{} calls of caller {} to {} tools were denied within {length}; {usual}.",
            crossed.sum,
            plain(&event.caller),
            tools.len(),
        );
        Anomaly::new(Kind::Denials, severity, Subject::Caller(event.caller.clone()), words)
            .fact("denied", number(crossed.sum))
            .fact("tools", count(tools.len()))
            .fact("threshold", number(crossed.threshold))
            .executions(executions.iter())
            .action(format!("gristmill audit query{} --since 1h", option("--caller", &event.caller)))
    }

    pub fn trim(&mut self) {
        self.recent.truncate(DENIED_MAX);
    }
}
