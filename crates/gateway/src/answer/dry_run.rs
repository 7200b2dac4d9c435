//! What an answer says about a dry run: every write that was held, and how to have them made.

use std::fmt::Write;

use gristmill_domain::counted;
use serde_json::{Map, Value, json};

use crate::report::{DryRunReport, WriteReport};

/// The writes for which there is room, and how many there are.
pub(super) struct DryRun {
    plan: Option<(String, String)>,
    writes: Vec<WriteReport>,
    count: usize,
}

impl DryRun {
    pub fn of(report: &DryRunReport) -> Self {
        let DryRunReport { plan, expires, writes, .. } = report;
        let plan = plan.clone().map(|plan| (plan, expires.clone().unwrap_or_default()));
        Self { plan, writes: writes.clone(), count: report.count() }
    }

    /// Leaves away the last write, which is then only counted. `false` if none is left.
    pub fn say_less(&mut self) -> bool {
        self.writes.pop().is_some()
    }

    fn more(&self) -> usize {
        self.count - self.writes.len()
    }

    pub fn write(&self, text: &mut String) {
        if self.count == 0 {
            return;
        }
        let _ = writeln!(text, "Dry run: {} held, none sent.", counted(self.count, "write"));
        for (number, write) in self.writes.iter().enumerate() {
            let _ = writeln!(text, "{}. {}", number + 1, write.line());
        }
        if self.more() > 0 {
            let _ = writeln!(text, "and {} more", counted(self.more(), "write"));
        }
        if let Some((plan, expires)) = &self.plan {
            let _ = writeln!(
                text,
                "Plan {plan}, until {expires}: show the user the writes; they approve with `gristmill approvals allow {plan}` or when asked. Then run it with plan=\"{plan}\" and no code."
            );
        }
    }

    pub fn value(&self) -> Value {
        let mut members = Map::new();
        if let Some((plan, expires)) = &self.plan {
            members.insert("plan".to_owned(), json!(plan));
            members.insert("expires".to_owned(), json!(expires));
        }
        members.insert("writes".to_owned(), json!(self.writes));
        if self.more() > 0 {
            members.insert("more".to_owned(), json!(self.more()));
        }
        Value::Object(members)
    }
}
