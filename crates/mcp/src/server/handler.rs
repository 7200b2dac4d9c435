//! The protocol's requests, each to its place. What is behind them stands in boxes: rmcp has one future for all of
//! them, as large as the largest, and moves it from task to task with every request.

use std::time::Instant;

use gristmill_gateway::access::Scope;
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::domain::catalogue::Resolved;
use gristmill_gateway::domain::{Code, nearest, one_line};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::AuditLog;
use gristmill_gateway::store::StoreError;
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelTaskParams, ErrorData, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams,
    InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    ServerConfig, SubscriptionFilter, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};

use super::GatewayServer;
use super::answer::Answer;
use super::caller::{Requester, missing_scope};
use super::tools::{OwnTool, Run, ToolCall};

/// What a log's filter calls this.
const LOG_AREA: &str = "gristmill::mcp";

/// A list without anything of the servers never changes while we run; a client may well remember it for an hour.
const LIST_TTL_MS: u64 = 60 * 60 * 1000;
/// One that tells of the servers' tools changes with them; it is the caller's own.
const TELLING_LIST_TTL_MS: u64 = 5 * 60 * 1000;

/// What to do where an answer isn't safe with the gateways that share the state.
const NOT_SETTLED_HINT: &str =
    "look whether it was done before you do it again; another gateway answers from here on";

impl ServerHandler for GatewayServer {
    fn get_info(&self) -> ServerConfig {
        let mut ourselves = Implementation::new("gristmill", env!("CARGO_PKG_VERSION"));
        ourselves.title = Some("Gristmill".to_owned());
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_tasks()
            .build();
        if self.standing.is_told()
            && let Some(tools) = &mut capabilities.tools
        {
            tools.list_changed = Some(true);
        }
        ServerConfig::new(capabilities)
            .with_server_info(ourselves)
            .with_instructions(self.instructions().to_owned())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let mut result = self.negotiate_initialize(&request)?;
        // Extensions came with the newer protocol: a client of this one cannot use them.
        result.capabilities.extensions = None;
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request)?;
        let caller = Requester::of(&context, self.connection).caller;
        if !self.standing.is_told() {
            let tools = ListToolsResult::with_all_items(self.own_tools(&caller)).with_ttl_ms(LIST_TTL_MS);
            let scope = match self.parts.gateway.native() {
                // Not everybody may ask for it.
                Some(_) => CacheScope::Private,
                None => CacheScope::Public,
            };
            return Ok(tools.with_cache_scope(scope));
        }
        let tools = ListToolsResult::with_all_items(Box::pin(self.telling_tools(caller)).await);
        Ok(tools.with_ttl_ms(TELLING_LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let responses = request.input_responses.iter().flatten();
        if let Some((key, _)) = responses.into_iter().find(|(_, response)| !response.is_object()) {
            let message = format!("inputResponses.{} is not an object", one_line(key, 80));
            return Err(ErrorData::invalid_params(message, None));
        }
        let requester = Requester::of(&context, self.connection);
        let Some(shown) = self.shown.find(&request.name) else {
            return Ok(self.unknown_tool(&request.name, &requester.caller).into_result().into());
        };
        let tool = shown.tool;
        if let Some(missing) = tool.scopes.iter().find(|scope| !requester.may(**scope)) {
            let (message, hint) = self.missing_scope(&requester, *missing, tool.name);
            let refused = Answer::refused(Code::PolicyDenied, &message, Some(&hint));
            return Ok(of_tool(tool, refused));
        }
        let mut arguments = request.arguments.take().unwrap_or_default();
        if let Err(error) = shown.read(&mut arguments) {
            let refused = Answer::refused(Code::BadRequest, &error.to_string(), None);
            return Ok(of_tool(tool, refused));
        }
        let caller = requester.caller.clone();
        let client = caller.client.as_ref().map(|client| client.name.as_str());
        tracing::debug!(target: LOG_AREA, tool = tool.name, owner = caller.owner.0, client, "request");
        let began = Instant::now();
        let call = ToolCall::new(tool, request, arguments, requester, &context);
        match &tool.run {
            // What is said of an execution was hidden when it ended, and was safe by then.
            Run::Response(run) => run(self, call).await,
            Run::Answer(run) => {
                let mut answer = run(self, call).await.unwrap_or_else(|refused| refused);
                Box::pin(self.hide(&caller, &mut answer)).await;
                let answer = self.settled(answer).await;
                said(tool, &answer, began);
                Ok(of_tool(tool, answer))
            }
            Run::Values(run) => {
                let answer = run(self, call).await.unwrap_or_else(|refused| refused);
                let answer = self.settled(answer).await;
                said(tool, &answer, began);
                Ok(of_tool(tool, answer))
            }
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let caller = Requester::of(&context, self.connection).caller;
        Box::pin(self.settled_outcome(self.resources(&caller, request))).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let caller = Requester::of(&context, self.connection).caller;
        Box::pin(self.settled_outcome(self.resource_templates(&caller, request))).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let requester = self.executing_requester(&context, "resources")?;
        Box::pin(self.settled_outcome(self.resource(&requester.caller, request))).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let caller = Requester::of(&context, self.connection).caller;
        Box::pin(self.settled_outcome(self.prompts(&caller, request))).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let requester = self.executing_requester(&context, "prompts")?;
        Box::pin(self.settled_outcome(self.prompt(&requester, request, &context))).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // Single resources are not watched.
        let mut accepted = requested.clone();
        accepted.resource_subscriptions = None;
        accepted.tools_list_changed = accepted.tools_list_changed.filter(|_| self.standing.is_told());
        Some(accepted)
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        Box::pin(self.tell_changes(&subscription)).await;
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.tell_changes_to(context.peer);
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let requester = self.executing_requester(&context, "tasks")?;
        self.settled_outcome(async { self.task(&params, &requester) }).await
    }

    async fn update_task(
        &self,
        params: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let requester = self.executing_requester(&context, "tasks")?;
        self.settled_outcome(async { self.task_answered(&params, &requester) }).await
    }

    async fn cancel_task(
        &self,
        params: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let requester = self.executing_requester(&context, "tasks")?;
        self.settled_outcome(async { self.task_cancelled(&params, &requester) }).await
    }
}

/// The list of our tools has one page: no cursor leads into it.
fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("unknown cursor; start without one".to_owned(), None)),
    }
}

/// What was answered, by its size: of an execution that is told where it ends.
fn said(tool: &OwnTool, answer: &Answer, began: Instant) {
    let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (tool, answer_bytes, ok) = (tool.name, answer.text.len(), !answer.is_error);
    tracing::debug!(target: LOG_AREA, tool, answer_bytes, ok, took_ms, "answered");
}

/// In an answer's place: what it rests on isn't safe where the state is shared.
fn not_settled(error: &StoreError) -> Answer {
    Answer::refused(Code::NotShared, &error.to_string(), Some(NOT_SETTLED_HINT))
}

/// An answer in the form that this tool promises.
fn of_tool(tool: &OwnTool, answer: Answer) -> CallToolResponse {
    let is_bare = answer.is_error && !tool.errors_are_structured;
    let mut result = answer.into_result();
    if is_bare {
        result.structured_content = None;
    }
    result.into()
}

impl GatewayServer {
    /// An answer once what it rests on is safe, where the state is shared: nobody takes it back then.
    pub(super) async fn settled(&self, answer: Answer) -> Answer {
        match self.parts.gateway.settle().await {
            Ok(()) => answer,
            Err(error) => not_settled(&error),
        }
    }

    /// The same for what may be a question, or a task.
    pub(super) async fn settled_response(
        &self,
        tool: &OwnTool,
        response: CallToolResponse,
    ) -> CallToolResponse {
        match self.parts.gateway.settle().await {
            Ok(()) => response,
            Err(error) => of_tool(tool, not_settled(&error)),
        }
    }

    /// The same for what no tool answers. Names in lists may be tokens that were made for them.
    async fn settled_outcome<T>(
        &self,
        outcome: impl Future<Output = Result<T, ErrorData>>,
    ) -> Result<T, ErrorData> {
        let outcome = outcome.await;
        match self.parts.gateway.settle().await {
            Ok(()) => outcome,
            Err(error) => {
                let message = format!("{}: {error}; {NOT_SETTLED_HINT}", Code::NotShared);
                Err(ErrorData::internal_error(message, None))
            }
        }
    }

    /// A caller that may have things done, not only looked up.
    fn executing_requester(
        &self,
        context: &RequestContext<RoleServer>,
        what: &str,
    ) -> Result<Requester, ErrorData> {
        let requester = Requester::of(context, self.connection);
        match requester.may(Scope::Execute) {
            true => Ok(requester),
            false => {
                let (message, hint) = self.missing_scope(&requester, Scope::Execute, what);
                Err(ErrorData::invalid_request(format!("{message}; {hint}"), None))
            }
        }
    }

    /// What is said to a caller whose token doesn't permit `what`, and what helps. An auditor may ask, too.
    fn missing_scope(&self, requester: &Requester, scope: Scope, what: &str) -> (String, String) {
        if let Some(audit) = self.parts.gateway.audit() {
            let token = requester.caller.token.as_ref().map(|token| token.name.as_str());
            audit.note(AuditEvent::token_refused("scope", token).of_request(scope.as_str(), what));
        }
        missing_scope(scope, what)
    }

    /// No tool of ours; perhaps one of a server's, which programs call.
    fn unknown_tool(&self, name: &str, caller: &Caller) -> Answer {
        let shown = one_line(name, 80);
        let upstreams = self.parts.upstreams.as_ref();
        let behind = upstreams.and_then(|upstreams| {
            let snapshot = upstreams.snapshot();
            let seen = upstreams.seen(caller, &snapshot);
            match snapshot.lookup().resolve(name) {
                Resolved::One(server, tool) if seen.shows(server, tool) => {
                    Some((server.identifier.clone(), tool.identifier.clone()))
                }
                Resolved::One(..) | Resolved::Reserved(..) | Resolved::Several(_) | Resolved::None(_) => None,
            }
        });
        let hint = match behind {
            Some((server, tool)) => format!(
                "it's a server's tool; use it in a program with execute_code: `from servers.{server} import {tool}`"
            ),
            None => {
                let known = self.shown.names().map(|known| (known, known));
                let names: Vec<&str> = self.shown.names().collect();
                // Some clients show our tools behind a prefix with two underscores.
                let plain = name.rsplit_once("__").map_or(name, |(_, plain)| plain);
                match nearest(plain, known, 1).first() {
                    Some(near) => format!("did you mean {near}? tools: {}", names.join(", ")),
                    None => format!("tools: {}", names.join(", ")),
                }
            }
        };
        Answer::refused(Code::UnknownTool, &format!("unknown tool `{shown}`"), Some(&hint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_that_nobody_gave_is_refused_as_in_every_other_list() {
        let at = |cursor: Option<&str>| {
            let request = PaginatedRequestParams::default().with_cursor(cursor.map(str::to_owned));
            only_page(Some(request)).map_err(|error| error.message.into_owned())
        };
        assert_eq!(only_page(None), Ok(()));
        assert_eq!(at(None), Ok(()));
        for cursor in ["bogus", "from-500", ""] {
            assert_eq!(at(Some(cursor)), Err("unknown cursor; start without one".to_owned()), "{cursor}");
        }
    }
}
