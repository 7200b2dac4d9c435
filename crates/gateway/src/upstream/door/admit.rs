//! Admit: a place among the calls under way, so many in a minute and so many at once.

use std::time::Instant;

use gristmill_domain::Code;
use tokio::sync::SemaphorePermit;

use super::failure::{down, upstream};
use crate::ports::ToolFailure;
use crate::upstream::server::Server;

/// Counts a call, and waits for its turn among the parallel ones.
pub(super) async fn admit(server: &Server) -> Result<SemaphorePermit<'_>, ToolFailure> {
    server.rate.take(Instant::now()).map_err(|wait| {
        let (name, limit) = (server.name(), server.settings.limits.calls_per_minute);
        let seconds = wait.as_secs() + 1;
        let message = format!("`{name}` is limited to {limit} calls per minute; try again in {seconds} s");
        upstream(Code::CallRate, message, true)
    })?;
    server.permits.acquire().await.map_err(|_| down(server, "the gateway is closing"))
}
