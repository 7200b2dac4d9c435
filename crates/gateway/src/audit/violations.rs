//! What was tried that may not be done, counted every way that somebody may ask.

use std::collections::BTreeMap;

use gristmill_domain::Code;
use serde::Serialize;
use serde_json::Value;

use crate::store::AuditRecord;

/// The most frequent of each are told.
const TOLD_MAX: usize = 20;

/// Executions with lines that are told.
const PLACES_MAX: usize = 50;

/// Violations, findings and refusals, counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditReport {
    pub executions: u64,
    pub calls: u64,
    pub violations: u64,
    /// `limit wall_time`, `system_call SIGSYS`, `call GM-3005` …
    pub by_kind: Vec<Count>,
    pub by_caller: Vec<Count>,
    pub by_session: Vec<Count>,
    /// Of calls that were refused or failed.
    pub by_tool: Vec<Count>,
    pub by_day: Vec<Count>,
    /// Where in programs, the newest first.
    pub places: Vec<Place>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Count {
    pub name: String,
    pub count: u64,
}

/// One violation, in a program's line where that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    pub number: u64,
    pub at: String,
    pub kind: String,
    pub execution: Option<String>,
    pub line: Option<u64>,
}

#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, name: &str) {
        *self.0.entry(name.to_owned()).or_default() += 1;
    }

    fn most(self) -> Vec<Count> {
        let mut counts: Vec<Count> = self.0.into_iter().map(|(name, count)| Count { name, count }).collect();
        counts.sort_by_key(|count| std::cmp::Reverse(count.count));
        counts.truncate(TOLD_MAX);
        counts
    }

    fn in_order(self) -> Vec<Count> {
        self.0.into_iter().map(|(name, count)| Count { name, count }).collect()
    }
}

/// Of events, the newest first.
pub(super) fn report(records: &[AuditRecord]) -> AuditReport {
    let mut report = AuditReport::default();
    let [mut kinds, mut callers, mut sessions, mut tools, mut days] =
        std::array::from_fn(|_| Counts::default());
    for record in records {
        let event: Value = serde_json::from_str(&record.text).unwrap_or_default();
        let said = |key: &str| event[key].as_str();
        match said("kind") {
            Some("execution.ended") => report.executions += 1,
            Some("call") => report.calls += 1,
            Some(_) | None => {}
        }
        let Some(kind) = kind_of(&event) else { continue };
        report.violations += 1;
        kinds.add(&kind);
        if let Some(caller) = said("token").or(said("caller")) {
            callers.add(caller);
        }
        if let Some(session) = said("session") {
            sessions.add(session);
        }
        if let (Some(server), Some(tool)) = (said("server"), said("tool")) {
            tools.add(&format!("{server}.{tool}"));
        }
        let at = said("at").unwrap_or_default().to_owned();
        days.add(at.get(..10).unwrap_or_default());
        if report.places.len() < PLACES_MAX {
            let (execution, line) = (said("execution").map(str::to_owned), event["line"].as_u64());
            report.places.push(Place { number: record.number, at, kind, execution, line });
        }
    }
    (report.by_kind, report.by_caller, report.by_session) = (kinds.most(), callers.most(), sessions.most());
    (report.by_tool, report.by_day) = (tools.most(), days.in_order());
    report
}

/// The calls that may not be made, or not so many of them. A server that is down or wants a login is no
/// violation, and a name or an argument that is wrong is a mistake.
const REFUSALS: [Code; 9] = [
    Code::ToolHeldBack,
    Code::CallRate,
    Code::PolicyDenied,
    Code::ApprovalNeeded,
    Code::PolicyBudget,
    Code::PlanDiffers,
    Code::PrivacyRefused,
    Code::OnlyReads,
    Code::HostNotAllowed,
];

fn is_refusal(code: &str) -> bool {
    REFUSALS.iter().any(|refusal| refusal.as_str() == code)
}

/// The name under which an event counts; `None` for what is as it should be.
fn kind_of(event: &Value) -> Option<String> {
    let said = |key: &str| event[key].as_str().unwrap_or_default();
    match said("kind") {
        "violation" => Some(format!("{} {}", said("what"), said("detail"))),
        // The other two are an author's mistake, and what is merely worth knowing.
        "finding" if matches!(said("severity"), "high" | "medium") => {
            Some(format!("finding {}", said("rule")))
        }
        "token.refused" => Some(format!("token {}", said("why"))),
        "call" if said("decision") == "deny" => Some("call denied".to_owned()),
        "call" if said("outcome") == "failed" && is_refusal(said("code")) && event["sent"] == false => {
            Some(format!("call {}", said("code")))
        }
        "audit" if said("what") != "retention" => Some(format!("audit {}", said("what"))),
        _ => None,
    }
}
