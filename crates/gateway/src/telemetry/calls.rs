//! Every request that came to the door of the servers.

use std::sync::Arc;

use gristmill_domain::Code;
use gristmill_watch::{CallOutcome, Called};

use super::Telemetry;
use super::busiest::CallLabel;
use super::executions::{caller_name, unix_now_ms};
use crate::ids::ExecutionId;
use crate::ports::{ArgumentRecord, CallEnd, CallFacts, CallObserver, RequestKind};
use crate::store::WatchEvent;

/// In the place of a URI or a name that is no tool's, which may be anything.
const RESOURCE: &str = "(resource)";
const PROMPT: &str = "(prompt)";
const UNKNOWN: &str = "(unknown)";

/// Tells the telemetry and the audit.
pub(super) struct Observed {
    pub telemetry: Telemetry,
    pub audit: Option<Arc<dyn CallObserver>>,
}

impl CallObserver for Observed {
    fn passed(&self, facts: &Arc<CallFacts>) {
        if let Some(audit) = &self.audit {
            audit.passed(facts);
        }
        self.telemetry.count(facts);
        if let Some(called) = self.telemetry.is_watching().then(|| watched(facts)).flatten() {
            self.telemetry.tell(WatchEvent::Called(called));
        }
    }

    fn arguments(&self, json: &str) -> Option<ArgumentRecord> {
        self.audit.as_ref()?.arguments(json)
    }

    fn wants_shapes(&self) -> bool {
        self.telemetry.is_watching()
    }
}

impl Telemetry {
    fn count(&self, facts: &CallFacts) {
        let metrics = self.metrics();
        let tool = match (&facts.server, facts.kind) {
            (None, _) => UNKNOWN,
            (Some(_), RequestKind::CallTool) => &facts.name,
            (Some(_), RequestKind::ReadResource) => RESOURCE,
            (Some(_), RequestKind::GetPrompt) => PROMPT,
        };
        let label = match facts.end {
            CallEnd::Answered => CallLabel::Answered,
            CallEnd::Held => CallLabel::Held,
            CallEnd::Cancelled { .. } => CallLabel::Canceled,
            CallEnd::Failed { code, .. } if is_denial(code) => CallLabel::Denied,
            CallEnd::Failed { .. } => CallLabel::Failed,
        };
        metrics.tools.count(facts.server.as_deref().unwrap_or(UNKNOWN), tool, label, facts.took);
        if let CallEnd::Failed { code, .. } = facts.end {
            metrics.call_failed(code);
        }
        if let Some(decided) = &facts.decision {
            metrics.decided(decided);
        }
        if !facts.restored.is_empty() {
            metrics.restored.inc_by(facts.restored.len() as u64);
        }
    }
}

fn is_denial(code: Code) -> bool {
    matches!(
        code,
        Code::PolicyDenied
            | Code::ApprovalNeeded
            | Code::PolicyBudget
            | Code::PlanDiffers
            | Code::PrivacyRefused
            | Code::OnlyReads
            | Code::HostNotAllowed
    )
}

/// What the watch hears: calls of tools that say something about their server or about the policy. What a program
/// got wrong, and what nobody waited for, does not.
fn watched(facts: &CallFacts) -> Option<Called> {
    let outcome = match facts.end {
        CallEnd::Answered => CallOutcome::Answered,
        CallEnd::Held | CallEnd::Cancelled { .. } => return None,
        CallEnd::Failed { code, .. } if is_denial(code) => CallOutcome::Denied,
        CallEnd::Failed { code: Code::UnknownTool | Code::BadCall | Code::CallRate, .. } => return None,
        CallEnd::Failed { .. } => CallOutcome::Failed,
    };
    let server = facts.server.clone().filter(|_| facts.kind == RequestKind::CallTool)?;
    Some(Called {
        execution: facts.caller.execution.as_ref().map(ExecutionId::as_str).unwrap_or_default().to_owned(),
        caller: caller_name(&facts.caller),
        server,
        tool: facts.name.clone(),
        at_ms: unix_now_ms(),
        outcome,
        took_ms: u64::try_from(facts.took.as_millis()).unwrap_or(u64::MAX),
        answer_bytes: facts.answer_bytes,
        shape: facts.answer_shape,
    })
}
