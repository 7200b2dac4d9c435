//! More calls or more output within a minute than ever.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Look, bytes, number};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, option, plain};
use crate::event::{Called, Executed};
use crate::history::{Burst, BurstRule, Crossed, MINUTE_MS, Peaks};
use crate::limits::{EXECUTIONS_MAX, cut};

/// What all callers together have had: newcomers are measured by it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Pools {
    calls: Peaks,
    tool_calls: Peaks,
    output: Peaks,
}

fn rule(floor: u64, factor: u64) -> BurstRule {
    BurstRule { length_ms: MINUTE_MS, floor, factor, cold_factor: 4 }
}

/// Calls of a caller, or of a tool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct CallVolume {
    burst: Burst,
    executions: VecDeque<String>,
}

impl CallVolume {
    pub fn see_caller(&mut self, look: Look<'_>, event: &Called, pools: &mut Pools) -> Option<Anomaly> {
        note(&mut self.executions, &event.execution);
        let rule = rule(look.settings.calls_a_minute, 2);
        let crossed = self.burst.add(look.now, 1, &rule, Some(&mut pools.calls))?;
        let action =
            format!("gristmill audit query --kind call{} --since 1h", option("--caller", &event.caller));
        Some(self.finding(Subject::Caller(event.caller.clone()), crossed, action))
    }

    pub fn see_tool(&mut self, look: Look<'_>, event: &Called, pools: &mut Pools) -> Option<Anomaly> {
        note(&mut self.executions, &event.execution);
        let rule = rule(look.settings.tool_calls_a_minute, 2);
        let crossed = self.burst.add(look.now, 1, &rule, Some(&mut pools.tool_calls))?;
        let options = option("--server", &event.server) + &option("--tool", &event.tool);
        let action = format!("gristmill audit query --kind call{options} --since 1h");
        let subject = Subject::Tool { server: event.server.clone(), tool: event.tool.clone() };
        Some(self.finding(subject, crossed, action))
    }

    fn finding(&self, subject: Subject, crossed: Crossed, action: String) -> Anomaly {
        let words = format!(
            "{} calls of {subject} within a minute; {}.",
            crossed.sum,
            usual(crossed, u64::to_string)
        );
        Anomaly::new(Kind::Calls, Severity::Warning, subject, words)
            .fact("calls", number(crossed.sum))
            .fact("threshold", number(crossed.threshold))
            .executions(self.executions.iter())
            .action(action)
    }

    pub fn trim(&mut self) {
        self.executions.truncate(EXECUTIONS_MAX);
    }
}

/// Output of a caller's programs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct OutputVolume {
    burst: Burst,
    executions: VecDeque<String>,
}

impl OutputVolume {
    pub fn see(&mut self, look: Look<'_>, event: &Executed, pools: &mut Pools) -> Option<Anomaly> {
        if event.output_bytes > 0 {
            note(&mut self.executions, &event.id);
        }
        let rule = rule(look.settings.output_bytes_a_minute, 3);
        let crossed = self.burst.add(look.now, event.output_bytes, &rule, Some(&mut pools.output))?;
        let words = format!(
            "Programs of caller {} wrote {} within a minute; {}.",
            plain(&event.caller),
            bytes(crossed.sum),
            usual(crossed, |size| bytes(*size)),
        );
        Some(
            Anomaly::new(Kind::Output, Severity::Warning, Subject::Caller(event.caller.clone()), words)
                .fact("output_bytes", number(crossed.sum))
                .fact("threshold", number(crossed.threshold))
                .executions(self.executions.iter())
                .action("gristmill history --since 1h".to_owned()),
        )
    }

    pub fn trim(&mut self) {
        self.executions.truncate(EXECUTIONS_MAX);
    }
}

fn usual(crossed: Crossed, show: impl Fn(&u64) -> String) -> String {
    match crossed.usual {
        Some(usual) => {
            format!("the busiest minute of the {} active days before had {}", crossed.days, show(&usual))
        }
        None => format!(
            "there's no history to compare with yet, so the threshold is {}",
            show(&crossed.threshold)
        ),
    }
}

fn note(executions: &mut VecDeque<String>, id: &str) {
    if executions.back().map(String::as_str) == Some(cut(id)) {
        return;
    }
    if executions.len() >= EXECUTIONS_MAX {
        executions.pop_front();
    }
    executions.push_back(cut(id).to_owned());
}
