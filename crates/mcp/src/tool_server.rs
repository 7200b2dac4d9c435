//! Servers of our own: tools of any kind, served over standard input and output in both eras.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_gateway::ports::BoxFuture;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::{ServerHandler, ServiceExt};
use serde_json::{Map, Value};

use crate::stdio::{standard_input, standard_output};

/// What a server of ours says about itself.
#[derive(Clone, Debug)]
pub struct ServedInfo {
    pub name: String,
    /// Its name for people.
    pub title: String,
    /// How it wants to be used.
    pub instructions: String,
}

/// What a tool of ours answers.
#[derive(Clone, Debug, PartialEq)]
pub enum ServedAnswer {
    /// A value, which is also written as text for clients that know no better.
    Structured(Value),
    Text(String),
    Image {
        /// Such as `image/png`.
        mime: String,
        bytes: Vec<u8>,
        text: Option<String>,
    },
}

pub trait ServedTools: Send + Sync + 'static {
    /// What the server says about itself.
    fn info(&self) -> ServedInfo;

    /// Full definitions, in the protocol's form.
    fn tools(&self) -> Vec<Value>;

    /// Calls one. An error is shown to whoever called, as the tool's words.
    fn call(
        &self,
        tool: String,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'_, Result<ServedAnswer, String>>;
}

/// Serving could not begin, or broke off.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub enum ToolServerError {
    /// A definition that the protocol does not know. Nothing was served.
    Definitions(#[from] serde_json::Error),
    /// Nothing was served.
    Opening(#[from] Box<ServerInitializeError>),
    Serving(#[from] tokio::task::JoinError),
}

/// Serves until the input ends.
pub fn serve_stdio(tools: Arc<dyn ServedTools>) -> BoxFuture<'static, Result<(), ToolServerError>> {
    Box::pin(async move {
        let handler = Handler::new(tools)?;
        let running = handler.serve((standard_input(), standard_output())).await.map_err(Box::new)?;
        running.waiting().await?;
        Ok(())
    })
}

struct Handler {
    tools: Arc<dyn ServedTools>,
    definitions: Vec<Tool>,
}

impl Handler {
    fn new(tools: Arc<dyn ServedTools>) -> Result<Self, ToolServerError> {
        let definitions = tools.tools().into_iter().map(serde_json::from_value);
        let definitions = definitions.collect::<Result<_, _>>()?;
        Ok(Self { tools, definitions })
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let info = self.tools.info();
        let mut ourselves = Implementation::new(info.name, env!("CARGO_PKG_VERSION"));
        ourselves.title = Some(info.title);
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(ourselves)
            .with_instructions(info.instructions)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.definitions.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        if !self.definitions.iter().any(|tool| tool.name == request.name) {
            let known: Vec<&str> = self.definitions.iter().map(|tool| tool.name.as_ref()).collect();
            let message = format!("unknown tool `{name}`; tools: {}", known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        let answer = self.tools.call(name, request.arguments.unwrap_or_default()).await;
        let result = match answer {
            Ok(ServedAnswer::Structured(value)) => CallToolResult::structured(value),
            Ok(ServedAnswer::Text(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Ok(ServedAnswer::Image { mime, bytes, text }) => {
                let text = text.map(ContentBlock::text);
                let image = ContentBlock::image(STANDARD.encode(bytes), mime);
                CallToolResult::success(text.into_iter().chain([image]).collect())
            }
            Err(words) => CallToolResult::error(vec![ContentBlock::text(words)]),
        };
        Ok(result.into())
    }
}
