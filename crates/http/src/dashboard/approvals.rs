//! Approvals: calls that wait for a person, and what was said to others.

use axum::extract::Path;
use axum::response::Response;
use gristmill_dashboard::pages::{self, AnsweredApproval, Approval, ApprovalVerdict, Approvals, Argument};
use gristmill_dashboard::{Frame, Moment, Text, routes};
use gristmill_gateway::domain::policy::Answered;
use gristmill_gateway::ports::AnswerWay;
use gristmill_gateway::session::SessionId;
use gristmill_gateway::store::{ApprovalRecord, ApprovalState};
use gristmill_gateway::upstream::{AlwaysApproval, note_answer};
use serde_json::Value;

use super::live::{OFTEN, Part, stream_of_approvals};
use super::notices::Done;
use super::visit::{Visit, done, is_open, now};

/// Nobody could be asked; a yes counts for the next try.
const REFUSED: &str = "refused already: allow it, then ask your agent to try again";

/// Answers that are shown.
const ANSWERED_MAX: usize = 50;

pub(super) async fn approvals(visit: Visit) -> Response {
    let Ok(all) = visit.parts().store.list_approvals().await else { return visit.unreadable().await };
    let view = Approvals {
        waiting: visit.open_questions().await.iter().map(approval).collect(),
        answered: all.iter().filter_map(answered).take(ANSWERED_MAX).collect(),
    };
    visit.page(pages::approvals, view).await
}

pub(super) async fn live(visit: Visit) -> Response {
    let (began, looking) = (now(), visit.clone());
    stream_of_approvals(
        visit,
        OFTEN,
        Box::new(move || {
            let visit = looking.clone();
            Box::pin(async move {
                let waiting: Vec<Approval> = visit.open_questions().await.iter().map(approval).collect();
                let frame = Frame { now: began, ..visit.frame_with(0) };
                Part::Now(pages::approvals_live(&frame, &waiting).into_string())
            })
        }),
    )
}

/// A button was pressed.
pub(super) async fn answer(visit: Visit, Path(id): Path<String>) -> Response {
    let answered = match visit.form.value("answer") {
        Some("once") => Answered::Once,
        Some("session") => Answered::Session,
        Some("always") => Answered::Always,
        Some("deny") => Answered::No,
        _ => return done(routes::APPROVALS, Done::AnsweredAlready),
    };
    done(routes::APPROVALS, say(&visit, &id, answered).await)
}

/// As `gristmill approvals` does.
async fn say(visit: &Visit, id: &str, answered: Answered) -> Done {
    let parts = visit.parts();
    let record = match parts.store.find_approval(id).await {
        Ok(Some(record)) if is_open(&record) => record,
        Ok(_) => return Done::AnsweredAlready,
        Err(_) => return Done::NotStored,
    };
    if answered == Answered::Always {
        let ApprovalRecord { owner, rule, server, tool, .. } = record.clone();
        let kept =
            parts.always.as_ref().map(|always| always.allow(AlwaysApproval { owner, rule, server, tool }));
        if !matches!(kept, Some(Ok(()))) {
            return Done::NotStored;
        }
    }
    let reason = visit.form.filled("reason").filter(|_| answered == Answered::No).map(str::to_owned);
    let noted = match &reason {
        Some(reason) => parts.store.deny_approval(id, reason).await,
        None => parts.store.answer_approval(id, answered).await,
    };
    let record = ApprovalRecord { reason, ..record };
    match noted {
        Ok(true) => note_answer(&parts.store, &record, answered, AnswerWay::Dashboard),
        Ok(false) => return Done::AnsweredAlready,
        Err(_) => return Done::NotStored,
    }
    match answered {
        Answered::Once => Done::AllowedOnce,
        Answered::Session => Done::AllowedSession,
        Answered::Always => Done::AllowedAlways,
        Answered::No | Answered::Timeout | Answered::Nobody => Done::Denied,
    }
}

pub(super) fn approval(record: &ApprovalRecord) -> Approval {
    let scope = match SessionId::read(&record.scope) {
        Some(_) => "this tool until the session ends",
        None => "this tool for this client, until the gateway ends",
    };
    Approval {
        id: record.id.as_str().into(),
        server: record.server.as_str().into(),
        tool: record.tool.as_str().into(),
        rule: record.rule.as_str().into(),
        why: record.why.as_str().into(),
        caller: record.caller.as_str().into(),
        asked: Moment(record.asked_ms),
        until: (record.state == ApprovalState::Waiting).then(|| Moment(record.gives_up_ms())),
        scope: scope.into(),
        marks: if record.state == ApprovalState::Refused { vec![REFUSED.into()] } else { Vec::new() },
        arguments: arguments(&record.arguments),
        execution: record.execution.as_deref().map(Into::into),
        can_always: true,
    }
}

/// One by one if they are whole, and as they are otherwise.
fn arguments(text: &str) -> Vec<Argument> {
    let value = |value: &Value| match value {
        Value::String(text) => Text::from(text.as_str()),
        _ => Text::from(value.to_string()),
    };
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(members)) => members
            .iter()
            .map(|(name, it)| Argument { name: name.as_str().into(), value: value(it) })
            .collect(),
        Ok(_) | Err(_) => vec![Argument { name: "arguments".into(), value: text.into() }],
    }
}

fn answered(record: &ApprovalRecord) -> Option<AnsweredApproval> {
    let verdict = match record.state {
        ApprovalState::Waiting | ApprovalState::Refused => return None,
        ApprovalState::Answered(Answered::Once) | ApprovalState::Used => ApprovalVerdict::Once,
        ApprovalState::Answered(Answered::Session) => ApprovalVerdict::Session,
        ApprovalState::Answered(Answered::Always) => ApprovalVerdict::Always,
        ApprovalState::Answered(Answered::No) => ApprovalVerdict::Denied,
        ApprovalState::Answered(Answered::Timeout | Answered::Nobody)
        | ApprovalState::Over
        | ApprovalState::Gone => ApprovalVerdict::Over,
    };
    Some(AnsweredApproval {
        server: record.server.as_str().into(),
        tool: record.tool.as_str().into(),
        verdict,
        reason: record.reason.as_deref().unwrap_or_default().into(),
        why: record.why.as_str().into(),
        caller: record.caller.as_str().into(),
        asked: Moment(record.asked_ms),
    })
}
