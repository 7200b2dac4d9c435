//! What is said of writes: those that a dry run held, and what became of a plan's.

use serde::Serialize;

use crate::ports::{Write, Writes};

/// What a program would have written. Nothing was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DryRunReport {
    /// Under which it can be approved and run; `None` if no plan is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// When the plan is forgotten, as UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// In the order in which the program wrote.
    pub writes: Vec<WriteReport>,
    /// Held writes that are not listed: there were too many, or they were too large.
    #[serde(skip_serializing_if = "is_zero")]
    pub unlisted: usize,
}

/// One write that was held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WriteReport {
    pub server: String,
    pub tool: String,
    /// As JSON with sorted keys, on one line, cut.
    pub arguments: String,
    /// What the policy would do: `allow` or `ask`.
    pub decision: String,
    /// What its server says of the tool.
    pub effect: String,
}

/// What became of the writes of an approved plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlanReport {
    pub id: String,
    pub writes: Vec<PlannedWriteReport>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlannedWriteReport {
    pub server: String,
    pub tool: String,
    /// As JSON with sorted keys, on one line, cut.
    pub arguments: String,
    /// Whether it was sent, or may have been.
    pub made: bool,
}

impl DryRunReport {
    /// `None` where nothing is held.
    pub(crate) fn of(writes: &Writes) -> Option<Self> {
        let Writes::Held(held) = writes else { return None };
        let (writes, unlisted) = held.listed();
        let writes = writes.iter().map(WriteReport::of).collect();
        Some(Self { plan: None, expires: None, writes, unlisted })
    }

    /// How many writes there were.
    pub fn count(&self) -> usize {
        self.writes.len() + self.unlisted
    }
}

impl WriteReport {
    fn of(write: &Write) -> Self {
        let Write { server, tool, decision, effect, .. } = write.clone();
        Self { server, tool, arguments: write.shown_arguments(), decision, effect }
    }

    /// For a person or a model, on one line.
    pub fn line(&self) -> String {
        let Self { server, tool, arguments, decision, effect } = self;
        let name = gristmill_domain::one_line(&format!("{server}.{tool}"), 200);
        format!("{name} {arguments} ({effect}; policy: {decision})")
    }
}

impl PlanReport {
    /// `None` where no plan was carried out.
    pub(crate) fn of(writes: &Writes) -> Option<Self> {
        let Writes::Planned(planned) = writes else { return None };
        let writes = planned.outcome().into_iter().map(|(write, made)| PlannedWriteReport {
            arguments: write.shown_arguments(),
            server: write.server,
            tool: write.tool,
            made,
        });
        Some(Self { id: planned.id().to_owned(), writes: writes.collect() })
    }

    /// How many were made.
    pub fn made(&self) -> usize {
        self.writes.iter().filter(|write| write.made).count()
    }

    /// For a person or a model: how many were made, and which were not.
    pub fn note(&self) -> String {
        const NAMED_MAX: usize = 5;
        let (made, all) = (self.made(), self.writes.len());
        let left: Vec<String> = self
            .writes
            .iter()
            .filter(|write| !write.made)
            .take(NAMED_MAX)
            .map(|write| format!("{}.{} {}", write.server, write.tool, write.arguments))
            .collect();
        let more = match all - made - left.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        match left.is_empty() {
            true if all == 1 => format!("plan {}: its write was made", self.id),
            true => format!("plan {}: all {all} writes were made", self.id),
            false => {
                format!(
                    "plan {}: {made} of {all} writes were made; not made: {}{more}",
                    self.id,
                    left.join(", ")
                )
            }
        }
    }
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
