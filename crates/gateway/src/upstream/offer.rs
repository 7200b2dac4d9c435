//! What one server offers, as it lists it: each definition as it came.

use super::ServerLog;
use crate::ports::{Upstream, UpstreamFailure};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawOffer {
    pub tools: Vec<String>,
    pub resources: Vec<String>,
    pub resource_templates: Vec<String>,
    pub prompts: Vec<String>,
}

/// Has a server list everything. Without its tools it is of no use; the rest may fail, which is
/// written into its log.
pub(super) async fn look(upstream: &dyn Upstream, log: &ServerLog) -> Result<RawOffer, UpstreamFailure> {
    let unless = |things: &str, outcome: Result<Vec<String>, UpstreamFailure>| {
        outcome.unwrap_or_else(|failure| {
            log.line(&format!("[its {things} could not be listed: {failure}]"));
            Vec::new()
        })
    };
    let (tools, resources, resource_templates, prompts) = tokio::join!(
        upstream.list_tools(),
        upstream.list_resources(),
        upstream.list_resource_templates(),
        upstream.list_prompts(),
    );
    Ok(RawOffer {
        tools: tools?,
        resources: unless("resources", resources),
        resource_templates: unless("resource templates", resource_templates),
        prompts: unless("prompts", prompts),
    })
}
