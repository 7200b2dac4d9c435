//! `sanitize_pii`: tokens in the place of personal data, in text or JSON.

use gristmill_gateway::access::Scope;
use gristmill_gateway::domain::Code;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::privacy::{Privacy, Source};
use serde::Deserialize;
use serde_json::{Value, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;

pub(super) static SANITIZE_PII: OwnTool = OwnTool {
    name: "sanitize_pii",
    title: "Hide personal data",
    description: include_str!("sanitize_pii.md"),
    input: INPUT,
    output: OUTPUT,
    annotations: Annotations::READS,
    shown_from: Profile::Full,
    scopes: &[Scope::Execute],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(sanitize(server, call))),
};

/// Of both tools: a text, which may be JSON, and the session that its tokens belong to.
pub(super) const INPUT: Input = Input {
    properties: |_| json!({"text": text(), "session": text()}),
    required: &["text"],
    shown_in_full_only: &[],
    not_in_minimal: &[],
    also_takes: &[],
};

pub(super) const OUTPUT: Output =
    Output { properties: || json!({"text": text(), "count": integer()}), required: &["text", "count"] };

#[derive(Deserialize)]
pub(super) struct Arguments {
    pub text: String,
    #[serde(default)]
    pub session: Option<String>,
}

async fn sanitize(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let caller = call.requester.caller.clone();
    let Arguments { mut text, session } = read_arguments(call.arguments)?;
    let privacy = privacy_of(server)?;
    let caller = server.caller_in(session.as_deref(), caller, &call.requester).await?;
    let veil = privacy.veil_for(&caller);
    match is_document(&text) {
        true => veil.json(&mut text, Source::default()).await,
        false => veil.text(&mut text).await,
    }
    Ok(answer_of(text, veil.count()))
}

pub(super) fn privacy_of(server: &GatewayServer) -> Result<&Privacy, Answer> {
    server
        .parts
        .gateway
        .privacy()
        .ok_or_else(|| Answer::refused(Code::BadRequest, "this gateway doesn't look for personal data", None))
}

/// An object or a list; any other text is text.
pub(super) fn is_document(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_ok()
}

pub(super) fn answer_of(text: String, count: usize) -> Answer {
    let structured = json!({"text": text, "count": count});
    Answer { text, structured, is_error: false }
}

/// Whoever asks, in the session that is meant.
impl GatewayServer {
    pub(super) async fn caller_in(
        &self,
        session: Option<&str>,
        caller: Caller,
        requester: &crate::server::caller::Requester,
    ) -> Result<Caller, Answer> {
        Ok(Caller { session: self.session_meant(session, requester).await?, ..caller })
    }
}
