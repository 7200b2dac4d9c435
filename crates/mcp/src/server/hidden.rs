//! What leaves towards a client, without what is personal in it.

use gristmill_gateway::ids::Caller;
use gristmill_gateway::privacy::{Source, Veil};
use gristmill_gateway::upstream::Blobs;
use rmcp::model::ErrorData;

use super::GatewayServer;
use super::answer::Answer;

impl GatewayServer {
    /// Hides what is personal in an answer of ours.
    pub(super) async fn hide(&self, caller: &Caller, answer: &mut Answer) {
        if let Some(veil) = self.veil(caller) {
            veil.text(&mut answer.text).await;
            veil.value(&mut answer.structured, Source::default()).await;
        }
    }

    /// The same for a resource or a prompt of a server.
    pub(super) async fn hide_json(&self, caller: &Caller, json: &mut String) {
        if let Some(veil) = self.veil(caller) {
            let blobs = Blobs::take(json);
            veil.json(json, Source::default()).await;
            blobs.put_back(json, &veil, Source::default()).await;
        }
    }

    /// The same for why there is none.
    pub(super) async fn hide_error(&self, caller: &Caller, mut error: ErrorData) -> ErrorData {
        if let Some(veil) = self.veil(caller) {
            let mut message = error.message.into_owned();
            veil.text(&mut message).await;
            error.message = message.into();
        }
        error
    }

    /// The name of something that was listed with tokens in it. Only what a server has by that name is reached.
    pub(super) async fn restored_name(&self, caller: &Caller, name: &str) -> String {
        let Some(privacy) = self.parts.gateway.privacy() else { return name.to_owned() };
        match privacy.restore_text(caller, name, |_| true).await {
            Ok((restored, _)) => restored,
            Err(_) => name.to_owned(),
        }
    }

    pub(super) fn veil(&self, caller: &Caller) -> Option<Veil> {
        self.parts.gateway.privacy()?.veil(caller)
    }
}
