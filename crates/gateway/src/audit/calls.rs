//! Every request that came to the door of the servers, as an event.

use gristmill_domain::policy::Decided;

use crate::audit::Audit;
use crate::ports::{ArgumentRecord, AuditEvent, AuditKind, CallEnd, CallFacts, CallObserver, RequestKind};

/// What is kept of arguments, where they are.
const ARGUMENT_BYTES_MAX: usize = 4 << 10;

impl CallObserver for Audit {
    fn passed(&self, facts: &CallFacts) {
        let CallFacts { caller, kind, server, name, request_bytes, answer_bytes, took, .. } = facts;
        let request = match kind {
            RequestKind::CallTool => "tool",
            RequestKind::ReadResource => "resource",
            RequestKind::GetPrompt => "prompt",
        };
        let event = AuditEvent::new(AuditKind::Call).by(caller).value("request", &request);
        let event = event.some_name("server", server.as_deref());
        // A URI says what was looked at, and a name that nobody knows may be anything.
        let is_known = server.is_some() && *kind != RequestKind::ReadResource;
        let event = match is_known || self.settings().arguments {
            true => event.name("tool", name),
            false => event.value("name_digest", &self.digest(name.as_bytes())),
        };
        let (outcome, code, was_sent) = match facts.end {
            CallEnd::Answered => ("answered", None, true),
            CallEnd::Held => ("held", None, false),
            CallEnd::Failed { code, was_sent } => ("failed", Some(code), was_sent),
            CallEnd::Cancelled => ("cancelled", None, true),
        };
        let event = event.value("outcome", &outcome).some("code", code).value("sent", &was_sent);
        let ms = (took.as_secs_f64() * 1_000_000.0).round() / 1_000.0;
        let event = event.value("took_ms", &ms);
        let event = event.value("request_bytes", request_bytes).value("answer_bytes", answer_bytes);
        let event = match &facts.arguments {
            Some(ArgumentRecord { digest, text }) => {
                event.value("arguments_digest", digest).some("arguments", text.as_ref())
            }
            None => event,
        };
        let event = match &facts.web {
            Some(web) => {
                let event = event.name("host", &web.host).some("status", web.status);
                // Like a resource's URI, it says what was looked at.
                match self.settings().arguments {
                    true => event.name("path", &web.path),
                    false => event.value("path_digest", &self.digest(web.path.as_bytes())),
                }
            }
            None => event,
        };
        let event = event.some("restored", (!facts.restored.is_empty()).then_some(&facts.restored));
        let event = match &facts.decision {
            Some(Decided { decision, rule, origin, why: _, answer }) => event
                .value("decision", &if facts.end == CallEnd::Held { "held" } else { decision.as_str() })
                .name("rule", rule)
                .name("rule_origin", origin)
                .some("answer", answer.as_ref()),
            None => event,
        };
        match caller.execution {
            // With the others of its execution, before the final event of that.
            Some(_) => self.note_soon(event),
            None => self.note_now(event),
        }
    }

    fn arguments(&self, json: &str) -> Option<ArgumentRecord> {
        let digest = self.digest(json.as_bytes());
        let text = self.settings().arguments.then(|| match json.len() <= ARGUMENT_BYTES_MAX {
            true => json.to_owned(),
            false => format!("{}…", &json[..json.floor_char_boundary(ARGUMENT_BYTES_MAX)]),
        });
        Some(ArgumentRecord { digest, text })
    }
}
