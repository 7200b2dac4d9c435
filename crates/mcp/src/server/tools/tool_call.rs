//! One call of one of our tools, checked and ready to be carried out.

use rmcp::model::{CallToolRequestParams, InputResponses};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};

use super::OwnTool;
use crate::server::caller::Requester;
use crate::server::request_state::Asked;

pub(in crate::server) struct ToolCall<'a> {
    pub tool: &'static OwnTool,
    pub arguments: Map<String, Value>,
    /// What came back of an earlier answer that asked the user something.
    pub state: Option<String>,
    /// What the user said.
    pub responses: InputResponses,
    pub requester: Requester,
    pub context: &'a RequestContext<RoleServer>,
}

impl<'a> ToolCall<'a> {
    pub fn new(
        tool: &'static OwnTool,
        request: CallToolRequestParams,
        arguments: Map<String, Value>,
        requester: Requester,
        context: &'a RequestContext<RoleServer>,
    ) -> Self {
        let responses = request.input_responses.unwrap_or_default();
        Self { tool, arguments, state: request.request_state, responses, requester, context }
    }

    /// What a state that the client carries belongs to.
    pub fn asked(&self) -> Asked<'_> {
        Asked { owner: &self.requester.owner, tool: self.tool.name, arguments: &self.arguments }
    }
}
