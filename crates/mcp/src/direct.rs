//! A plain rmcp client, for measuring what we add to a call: nothing of ours is between it and the
//! server.

use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{RoleClient, RunningService};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Map, Value};
use tokio::process::{Child, Command};

/// See the module.
pub struct DirectClient {
    service: RunningService<RoleClient, ()>,
    _child: Child,
}

impl DirectClient {
    /// Starts a server and shakes hands with it.
    pub async fn start(program: &std::path::Path, arguments: &[&str]) -> Result<Self, String> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| error.to_string())?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".to_owned());
        };
        // As we speak with the same server.
        let lifecycle =
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let service = ().serve_with_lifecycle((output, input), lifecycle).await;
        Ok(Self { service: service.map_err(|error| error.to_string())?, _child: child })
    }

    /// One call.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<(), String> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.service.call_tool(params).await.map(drop).map_err(|error| error.to_string())
    }
}
