//! A small handler with tools that a test can hold still.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gristmill_gateway::access::Caller;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    InitializeRequestParams, InitializeResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// Longer than anything takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What happens to `slow`, seen from outside.
pub struct Happenings {
    begun: Semaphore,
    released: Semaphore,
    pub cancelled: Semaphore,
    /// The next `initialize` fails.
    pub refuses_opening: AtomicBool,
}

#[derive(Clone)]
pub struct TestHandler {
    pub happenings: Arc<Happenings>,
}

impl TestHandler {
    pub fn new() -> Self {
        let none = || Semaphore::new(0);
        let (begun, released, cancelled) = (none(), none(), none());
        let refuses_opening = AtomicBool::new(false);
        Self { happenings: Arc::new(Happenings { begun, released, cancelled, refuses_opening }) }
    }

    /// When `slow` has been called once more.
    pub async fn slow_begun(&self) {
        wait(&self.happenings.begun, "slow was called").await;
    }

    /// Lets one `slow` end.
    pub fn release(&self) {
        self.happenings.released.add_permits(1);
    }

    /// When one `slow` was told that nobody waits for it.
    pub async fn slow_cancelled(&self) {
        wait(&self.happenings.cancelled, "slow was cancelled").await;
    }
}

async fn wait(happening: &Semaphore, what: &str) {
    let permit = tokio::time::timeout(PATIENCE, happening.acquire()).await;
    permit.unwrap_or_else(|_| panic!("never happened: {what}")).expect("never closed").forget();
}

fn text(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text.into())]).into())
}

impl ServerHandler for TestHandler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        if self.happenings.refuses_opening.swap(false, Ordering::SeqCst) {
            return Err(ErrorData::internal_error("not today", None));
        }
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &str| {
            let definition =
                json!({ "name": name, "description": name, "inputSchema": { "type": "object" } });
            serde_json::from_value::<Tool>(definition).expect("a tool")
        };
        Ok(ListToolsResult::with_all_items(
            ["echo", "slow", "progress", "fails", "whoami", "big"].map(tool).into(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        match request.name.as_ref() {
            "echo" => text(arguments.to_string()),
            "fails" => Err(ErrorData::internal_error("it fails", None)),
            "big" => {
                text("x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap_or(0)).expect("fits")))
            }
            "whoami" => {
                let parts = context.extensions.get::<http::request::Parts>();
                let caller = parts.and_then(|parts| parts.extensions.get::<Caller>());
                text(caller.map_or("nobody", |caller| caller.name.as_str()))
            }
            "progress" => {
                let token = context.meta.get_progress_token().expect("a token");
                for step in [1.0, 2.0] {
                    let step = ProgressNotificationParam::new(token.clone(), step);
                    context.peer.notify_progress(step).await.expect("the client is there");
                }
                text("done")
            }
            "slow" => {
                if let Some(token) = context.meta.get_progress_token() {
                    let step = ProgressNotificationParam::new(token, 1.0);
                    context.peer.notify_progress(step).await.expect("the client is there");
                }
                self.happenings.begun.add_permits(1);
                tokio::select! {
                    permit = self.happenings.released.acquire() => {
                        permit.expect("never closed").forget();
                        text("done")
                    }
                    () = context.ct.cancelled() => {
                        self.happenings.cancelled.add_permits(1);
                        text("stopped")
                    }
                }
            }
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }
}
