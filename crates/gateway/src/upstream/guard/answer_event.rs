//! What a person said about a call, for the audit.

use gristmill_domain::policy::Answered;

use super::always_file::AlwaysApproval;
use crate::ids::{Caller, ExecutionId, Owner, SessionId};
use crate::ports::{AnswerWay, Approval, AuditEvent};
use crate::store::{ApprovalRecord, Store};

/// Notes what a person said to a question that another process put.
pub fn note_answer(store: &Store, question: &ApprovalRecord, answered: Answered, way: AnswerWay) {
    let ApprovalRecord { owner, scope, rule, server, tool, reason, .. } = question;
    let execution = question.execution.as_deref().and_then(ExecutionId::read);
    let caller = Caller { session: SessionId::read(scope), execution, ..Caller::of(Owner(owner.clone())) };
    let what = AlwaysApproval {
        owner: owner.clone(),
        rule: rule.clone(),
        server: server.clone(),
        tool: tool.clone(),
    };
    if let Some(event) = answer_event(&caller, &what, answered, way, reason.as_deref()) {
        store.note(event);
    }
}

/// `None` if nobody said anything: the call's own event says that.
pub(super) fn answer_event(
    caller: &Caller,
    what: &AlwaysApproval,
    answered: Answered,
    way: AnswerWay,
    reason: Option<&str>,
) -> Option<AuditEvent> {
    let (decision, scope) = match answered {
        Answered::Once | Answered::Session | Answered::Always => ("allow", answered.as_str()),
        Answered::No => ("deny", Answered::Once.as_str()),
        Answered::Timeout | Answered::Nobody => return None,
    };
    // What has a scheme is a resource, whose URI says what was looked at.
    let tool = if what.tool.contains(':') { "(a resource)" } else { &what.tool };
    let (server, by, rule) = (what.server.as_str(), way.as_str(), Some(what.rule.as_str()));
    Some(AuditEvent::approval(caller, &Approval { server, tool, decision, scope, by, rule, reason }))
}
