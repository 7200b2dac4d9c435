//! A plain rmcp client, for measuring what we add to a call: nothing of ours is between it and the
//! server.

use std::process::Stdio;

use rmcp::model::{CallToolRequestParams, ProtocolVersion};
use rmcp::service::{ClientInitializeError, RoleClient, RunningService, ServiceError};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Map, Value};
use tokio::process::{Child, Command};

pub struct DirectClient {
    service: RunningService<RoleClient, ()>,
    _child: Child,
}

#[derive(Debug, thiserror::Error)]
pub enum DirectClientError {
    #[error(transparent)]
    Process(#[from] std::io::Error),
    #[error("no pipes")]
    NoPipes,
    #[error(transparent)]
    Opening(#[from] Box<ClientInitializeError>),
    #[error(transparent)]
    Call(#[from] Box<ServiceError>),
}

impl DirectClient {
    /// Starts a server and shakes hands with it.
    pub async fn start(program: &std::path::Path, arguments: &[&str]) -> Result<Self, DirectClientError> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(DirectClientError::NoPipes);
        };
        // As we speak with the same server.
        let lifecycle =
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
        let service = ().serve_with_lifecycle((output, input), lifecycle).await;
        Ok(Self { service: service.map_err(Box::new)?, _child: child })
    }

    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<(), DirectClientError> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        self.service.call_tool(params).await.map_err(Box::new)?;
        Ok(())
    }
}
