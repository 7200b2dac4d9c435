//! One call of one of our tools, checked and ready to be carried out.

use rmcp::model::{CallToolRequestParams, InputResponses};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value};

use super::OwnTool;
use crate::message::{CallShare, ParsedShare};
use crate::server::caller::Requester;
use crate::server::request_state::{Asked, digest_of};

pub(in crate::server) struct ToolCall<'a> {
    pub tool: &'static OwnTool,
    pub arguments: Map<String, Value>,
    /// Of the arguments as they came, so that they need not be kept.
    digest: blake3::Hash,
    /// What they take of the memory for requests, until the call is answered.
    pub parsed: CallShare,
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
        let (digest, parsed) = (digest_of(&arguments), CallShare(ParsedShare::of(context)));
        Self { tool, arguments, digest, parsed, state: request.request_state, responses, requester, context }
    }

    /// Moves them out: while a program runs, nothing of them is kept here.
    pub fn take_arguments(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.arguments)
    }

    /// What a state that the client carries belongs to.
    pub fn asked(&self) -> Asked<'_> {
        Asked { owner: &self.requester.owner, tool: self.tool.name, arguments: self.digest }
    }
}
