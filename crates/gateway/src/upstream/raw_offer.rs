//! What one server offers, as it lists it: each definition as it came.

use std::time::Duration;

use super::connection::{Upstream, UpstreamFailure};
use super::server_log::ServerLog;
use crate::ports::BoxFuture;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RawOffer {
    pub tools: Vec<String>,
    /// `None` if the server was never asked for it.
    pub resources: Option<Vec<String>>,
    pub resource_templates: Option<Vec<String>>,
    pub prompts: Option<Vec<String>>,
}

/// Programs that want tools do not wait longer for what few of them read.
const BESIDE_TOOLS_WAIT: Duration = Duration::from_secs(5);

/// Has a server list everything. Without its tools it is of no use; the rest may fail, which is
/// written into its log, and is as it was before then.
pub(super) async fn list_offer(
    upstream: &dyn Upstream,
    log: &ServerLog,
    before: RawOffer,
) -> Result<RawOffer, UpstreamFailure> {
    let (tools, resources, resource_templates, prompts) = tokio::join!(
        upstream.list_tools(),
        or_as_before("resources", upstream.list_resources(), before.resources, log),
        or_as_before(
            "resource templates",
            upstream.list_resource_templates(),
            before.resource_templates,
            log
        ),
        or_as_before("prompts", upstream.list_prompts(), before.prompts, log),
    );
    Ok(RawOffer { tools: tools?, resources, resource_templates, prompts })
}

async fn or_as_before(
    things: &str,
    listing: BoxFuture<'_, Result<Vec<String>, UpstreamFailure>>,
    before: Option<Vec<String>>,
    log: &ServerLog,
) -> Option<Vec<String>> {
    let why = match tokio::time::timeout(BESIDE_TOOLS_WAIT, listing).await {
        Ok(Ok(listed)) => return Some(listed),
        Ok(Err(failure)) => failure.to_string(),
        Err(_) => format!("not within {} s", BESIDE_TOOLS_WAIT.as_secs()),
    };
    log.line(&format!("[couldn't list its {things}: {why}]"));
    // It was asked: what it lists later is new, not something that was seen for the first time.
    Some(before.unwrap_or_default())
}
