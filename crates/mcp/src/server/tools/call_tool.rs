//! `call_tool`: one call without a program of the caller's. It is carried out as a program of one line, so that it
//! passes the same door, under the same limits, and is answered, kept and recorded as any program's call.

use gristmill_gateway::access::Scope;
use rmcp::model::{CallToolResponse, ErrorData};
use serde_json::{Map, Value, json};

use super::execute_code::{PROGRAM_OUTPUT, execute};
use super::own_tool::{Annotations, Input, OwnTool, Run, integer, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::profile::Profile;

/// What is run. The two names are context variables.
const PROGRAM: &str = "result = await callMCPTool(tool, arguments)";

/// Shown only to callers whose user wants it, in whichever profile.
pub(super) static CALL_TOOL: OwnTool = OwnTool {
    name: "call_tool",
    title: "Call one tool",
    description: include_str!("call_tool.md"),
    input: Input {
        properties: |_| {
            json!({
                "name": {"type": "string", "description": "server.tool"},
                "arguments": {"type": "object"},
                "session": text(),
                "timeout_s": {"type": "number"},
                "max_output_tokens": integer(),
                "shape": text(),
            })
        },
        required: &["name"],
        shown_in_full_only: &["session", "timeout_s", "max_output_tokens", "shape"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: PROGRAM_OUTPUT,
    annotations: Annotations::RUNS_A_PROGRAM,
    shown_from: Profile::Minimal,
    scopes: &[Scope::Execute],
    errors_are_structured: true,
    run: Run::Response(|server, call| Box::pin(call_tool(server, call))),
};

async fn call_tool(server: &GatewayServer, mut call: ToolCall<'_>) -> Result<CallToolResponse, ErrorData> {
    let mut program = call.take_arguments();
    let name = program.remove("name").unwrap_or_default();
    let arguments = program.remove("arguments").unwrap_or_else(|| Value::Object(Map::new()));
    program.insert("code".to_owned(), json!(PROGRAM));
    program.insert("language".to_owned(), json!("python"));
    program.insert("context".to_owned(), json!({"tool": name, "arguments": arguments}));
    call.arguments = program;
    execute(server, call).await
}
