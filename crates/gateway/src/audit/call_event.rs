//! A request that came to the door of the servers, as an event.

use gristmill_domain::policy::Decided;

use super::keys::Keys;
use crate::ports::{ArgumentRecord, AuditEvent, AuditKind, CallEnd, CallFacts, RequestKind};

/// `keeps_arguments`: in their own words, and names that say what was looked at, too.
pub(super) fn call_event(facts: &CallFacts, keys: &Keys, keeps_arguments: bool) -> AuditEvent {
    let CallFacts { caller, kind, server, name, request_bytes, answer_bytes, took, .. } = facts;
    let request = match kind {
        RequestKind::CallTool => "tool",
        RequestKind::ReadResource => "resource",
        RequestKind::GetPrompt => "prompt",
    };
    let event = AuditEvent::new(AuditKind::Call).by(caller).some("line", facts.line).name("request", request);
    let event = event.some_name("server", server.as_deref());
    // A URI says what was looked at, and a name that nobody knows may be anything.
    let is_known = server.is_some() && *kind != RequestKind::ReadResource;
    let event = match is_known || keeps_arguments {
        true => event.name("tool", name),
        false => event.name("name_digest", &keys.digest(name.as_bytes())),
    };
    let (outcome, code, was_sent) = match facts.end {
        CallEnd::Answered => ("answered", None, true),
        CallEnd::Held => ("held", None, false),
        CallEnd::Failed { code, was_sent } => ("failed", Some(code), was_sent),
        CallEnd::Cancelled { was_sent } => ("cancelled", None, was_sent),
    };
    let event = event.name("outcome", outcome).some("code", code).value("sent", &was_sent);
    let ms = (took.as_secs_f64() * 1_000_000.0).round() / 1_000.0;
    let event = event.value("took_ms", &ms);
    let event = event.value("request_bytes", request_bytes).value("answer_bytes", answer_bytes);
    let event = match &facts.arguments {
        Some(ArgumentRecord { digest, text }) => {
            event.name("arguments_digest", digest).some("arguments", text.as_ref())
        }
        None => event,
    };
    let event = match &facts.web {
        Some(web) => {
            let event = event.name("host", &web.host).some("status", web.status);
            // Like a resource's URI, it says what was looked at.
            match keeps_arguments {
                true => event.name("path", &web.path),
                false => event.name("path_digest", &keys.digest(web.path.as_bytes())),
            }
        }
        None => event,
    };
    let event = event.some("restored", (!facts.restored.is_empty()).then_some(&facts.restored));
    match &facts.decision {
        Some(Decided { decision, rule, origin, why: _, answer }) => event
            .name("decision", if facts.end == CallEnd::Held { "held" } else { decision.as_str() })
            .name("rule", rule)
            .name("rule_origin", origin)
            .some("answer", answer.as_ref()),
        None => event,
    }
}
