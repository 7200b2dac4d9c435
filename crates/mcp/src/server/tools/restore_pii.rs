//! `restore_pii`: values in the place of tokens, where the user allows that.

use gristmill_gateway::access::Scope;
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::domain::{Code, Level};
use gristmill_gateway::ports::AuditLog;
use gristmill_gateway::privacy::{Kept, has_token};
use serde_json::Value;

use super::own_tool::{Annotations, OwnTool, Run};
use super::sanitize_pii::{Arguments, INPUT, OUTPUT, answer_of, is_document, privacy_of};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

pub(super) static RESTORE_PII: OwnTool = OwnTool {
    name: "restore_pii",
    title: "Restore personal data",
    description: include_str!("restore_pii.md"),
    input: INPUT,
    output: OUTPUT,
    annotations: Annotations::READS,
    shown_from: Profile::Full,
    scopes: &[Scope::Execute],
    errors_are_structured: false,
    run: Run::Values(|server, call| Box::pin(restore(server, call))),
};

async fn restore(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let caller = call.requester.caller.clone();
    let Arguments { text, session } = read_arguments(call.arguments)?;
    let privacy = privacy_of(server)?;
    let caller = server.caller_in(session.as_deref(), caller, &call.requester).await?;
    let is_free = server.parts.gateway.limits().level() == Level::Development;
    let kinds = &privacy.settings().restore_to_model;
    let refuse = |message: &str, hint: &str| Err(Answer::refused(Code::PrivacyRefused, message, Some(hint)));
    let may = |kept: &Kept| is_free || kinds.contains(&kept.kind);
    let restored = match is_document(&text) {
        true => {
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            privacy.restore_value(&caller, value, may).await.map(|(value, count)| (value.to_string(), count))
        }
        false => privacy.restore_text(&caller, &text, may).await,
    };
    let (restored, count) = match restored {
        Ok(restored) => restored,
        Err(error) => return refuse(&error.to_string(), "try again"),
    };
    if let Some(audit) = server.parts.gateway.audit() {
        audit.note(AuditEvent::restored(&caller, count));
    }
    match (count, has_token(&text)) {
        (0, true) => refuse(
            "no value was restored: a model doesn't get personal data back here, or these tokens belong to another session",
            "pass tokens to tools as they are; the user can allow kinds with `restore_to_model` in `[privacy]`",
        ),
        (_, _) => Ok(answer_of(restored, count)),
    }
}
