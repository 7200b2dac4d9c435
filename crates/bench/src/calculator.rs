//! The example server that calls are measured with.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_gateway::domain::ServerSettings;
use gristmill_gateway::upstream::{Startup, Upstreams};
use gristmill_mcp::{McpConnector, SupervisorCommand};
use gristmill_worker::{SERVER_SANDBOX_COMMAND, UPSTREAM_SUPERVISOR_COMMAND};

use super::temporary::Temporary;

/// The cheapest tool of the example servers: what is measured is the way to it.
pub const SERVER: &str = "calculator";
pub const TOOL: &str = "evaluate";

/// The example server behind the door, with what is known of it in this folder.
pub fn calculator(folder: &Temporary, startup: impl Into<Startup>) -> anyhow::Result<Upstreams> {
    let binary = std::env::current_exe()?;
    let settings = ServerSettings::program(SERVER, binary.to_string_lossy(), &["example-server", SERVER]);
    let supervisor = SupervisorCommand {
        program: binary,
        argument: UPSTREAM_SUPERVISOR_COMMAND.into(),
        sandbox: SERVER_SANDBOX_COMMAND.into(),
    };
    let connector = McpConnector::new(supervisor, HashMap::new(), folder.0.clone());
    Ok(Upstreams::start(vec![settings], Arc::new(connector), &folder.folders(), startup))
}
