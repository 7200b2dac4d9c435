//! The protocol's requests, each to its place.

use gristmill_gateway::domain::{Code, nearest, one_line};
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, ErrorData, GetTaskParams,
    GetTaskResult, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer};

use super::answer::Answer;
use super::caller::Requester;
use super::definitions::OwnTool;
use super::running::Call;
use super::{GatewayServer, catalogue_calls, forbidden};

/// The list never changes while we run; a client may well remember it for an hour.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;

impl ServerHandler for GatewayServer {
    fn get_info(&self) -> ServerConfig {
        let mut ourselves = Implementation::new("gristmill", env!("CARGO_PKG_VERSION"));
        ourselves.title = Some("Gristmill".to_owned());
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        ServerConfig::new(capabilities)
            .with_server_info(ourselves)
            .with_instructions(self.instructions().to_owned())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ListToolsResult::with_all_items(self.tools.to_vec());
        Ok(tools.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some((tool, check)) = self.shown.find(&request.name) else {
            return Ok(self.unknown_tool(&request.name).into_result().into());
        };
        let requester = Requester::of(&context, &self.connection);
        if tool.executes() && !requester.may_execute {
            return Err(forbidden(tool.name()));
        }
        let mut arguments = request.arguments.take().unwrap_or_default();
        check.fit(&mut arguments);
        if let Err(error) = check.check(&arguments) {
            let refused = Answer::refused(Code::BadRequest, &error.to_string(), None);
            return Ok(of_tool(tool, refused));
        }
        let upstreams = self.parts.upstreams.as_ref();
        match tool {
            OwnTool::ExecuteCode | OwnTool::ExecutePython => {
                self.execute(Call::new(tool, request, arguments, requester, &context)).await
            }
            OwnTool::GetExecution => {
                self.get_execution(Call::new(tool, request, arguments, requester, &context)).await
            }
            OwnTool::SearchTools => Ok(of_tool(tool, catalogue_calls::search(upstreams, arguments).await)),
            OwnTool::GetToolDefinition => {
                Ok(of_tool(tool, catalogue_calls::definition(upstreams, arguments).await))
            }
        }
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.task(&params, &self.task_requester(&context)?)
    }

    async fn update_task(
        &self,
        params: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.task_answered(&params, &self.task_requester(&context)?)
    }

    async fn cancel_task(
        &self,
        params: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.task_cancelled(&params, &self.task_requester(&context)?)
    }
}

/// An answer in the form that this tool promises. Refusals of tools that look things up have no
/// structured form.
fn of_tool(tool: OwnTool, answer: Answer) -> CallToolResponse {
    let is_bare = answer.is_error && !tool.executes();
    let mut result = answer.into_result();
    if is_bare {
        result.structured_content = None;
    }
    result.into()
}

impl GatewayServer {
    fn task_requester(&self, context: &RequestContext<RoleServer>) -> Result<Requester, ErrorData> {
        let requester = Requester::of(context, &self.connection);
        if requester.may_execute { Ok(requester) } else { Err(forbidden("tasks")) }
    }

    /// No tool of ours; perhaps one of a server's, which programs call.
    fn unknown_tool(&self, name: &str) -> Answer {
        let shown = one_line(name, 80);
        let upstreams = self.parts.upstreams.as_ref();
        let behind = upstreams.and_then(|upstreams| {
            use gristmill_gateway::domain::catalogue::Resolved;
            match upstreams.snapshot().lookup().resolve(name) {
                Resolved::One(server, tool) => Some((server.identifier.clone(), tool.identifier.clone())),
                Resolved::Several(_) | Resolved::None(_) => None,
            }
        });
        let hint = match behind {
            Some((server, tool)) => format!(
                "it is a tool of a server: use it in a program for execute_code, `from servers.{server} import {tool}`"
            ),
            None => {
                let known = self.shown.names().map(|known| (known, known));
                let names: Vec<&str> = self.shown.names().collect();
                match nearest(name, known, 1).first() {
                    Some(near) => format!("did you mean {near}? there are {}", names.join(", ")),
                    None => format!("there are {}", names.join(", ")),
                }
            }
        };
        Answer::refused(Code::UnknownTool, &format!("there is no tool `{shown}` here"), Some(&hint))
    }
}
