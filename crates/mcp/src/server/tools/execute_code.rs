//! `execute_code`: runs a program, or goes on with one that had to ask something.

use gristmill_gateway::Report;
use gristmill_gateway::access::Scope;
use gristmill_gateway::answer as answers;
use gristmill_gateway::service::{Follower, PlaceChoice, StartRequest};
use rmcp::model::{CallToolResponse, ErrorData};
use serde_json::{Value, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, text, texts};
use super::tool_call::ToolCall;
use crate::server::execute_arguments::{ExecuteArguments, ProgramRequest};
use crate::server::profile::Profile;
use crate::server::{GatewayServer, answer, tasks};

pub(super) static EXECUTE_CODE: OwnTool = OwnTool {
    name: "execute_code",
    title: "Run a program",
    description: include_str!("execute_code.md"),
    input: Input {
        properties: |profile| {
            let language = json!({"type": "string", "enum": ["python", "typescript", "javascript"]});
            let mut properties = program_properties(profile, Some(language));
            properties["level"] = json!({"type": "string"});
            properties["engine"] = json!({"type": "string", "enum": ["wasm", "native", "auto"]});
            with_dry_run(&mut properties);
            properties
        },
        required: &["code"],
        // The language is told from the code.
        shown_in_full_only: &["language", "busy", "level", "engine", "dry_run", "plan"],
        not_in_minimal: &["timeout_s", "context", "max_output_tokens", "keep_variables"],
        also_takes: &[],
    },
    output: PROGRAM_OUTPUT,
    annotations: Annotations::RUNS_A_PROGRAM,
    shown_from: Profile::Minimal,
    scopes: &[Scope::Execute],
    errors_are_structured: true,
    run: Run::Response(|server, call| Box::pin(execute(server, call))),
};

/// The arguments of a program, with the languages it can be written in if it can be said.
pub(super) fn program_properties(profile: Profile, language: Option<Value>) -> Value {
    let mut properties = json!({"code": {"type": "string"}});
    if let Some(language) = language {
        properties["language"] = language;
    }
    properties["session"] = match profile {
        // What a session is for is said by help().
        Profile::Minimal => text(),
        Profile::Standard | Profile::Full => {
            json!({"type": "string", "description": "Name or handle. Its programs share /workspace and the dict `state`."})
        }
    };
    properties["timeout_s"] = json!({"type": "number"});
    properties["context"] = json!({"type": "object"});
    properties["max_output_tokens"] = json!({"type": "integer"});
    properties["shape"] = json!({"type": "string", "description": "schema, table, sample, …"});
    properties["keep_variables"] = json!({"type": "boolean"});
    // Without `get_execution` there is nothing to follow a program with.
    if profile != Profile::Minimal {
        properties["background"] =
            json!({"type": "boolean", "description": "Return an id for get_execution."});
    }
    properties["busy"] = json!({"type": "string", "enum": ["wait", "refuse"], "description": "If the session is running another program."});
    properties
}

/// To have writes held, and to have them made once a person has approved them.
pub(super) fn with_dry_run(properties: &mut Value) {
    properties["dry_run"] =
        json!({"type": "boolean", "description": "Hold and list writes; returns a plan to approve."});
    properties["plan"] = json!({"type": "string", "description": "Run an approved plan, without code."});
}

/// What is answered about a program, by whichever tool.
pub(super) const PROGRAM_OUTPUT: Output = Output {
    properties: || {
        json!({
            "status": {"type": "string", "enum": ["ok", "failed", "cancelled", "running", "input_required", "listed"]},
            "result": {},
            "output": text(),
            "result_handle": text(),
            "output_handle": text(),
            "error": {"type": "object"},
            "tools_called": texts(),
            "notes": texts(),
            "id": text(),
            "session": text(),
            "executions": texts(),
        })
    },
    required: &["status"],
};

pub(super) async fn execute(
    server: &GatewayServer,
    mut call: ToolCall<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let limits = server.parts.gateway.limits();
    let program = ExecuteArguments::read(call.take_arguments()).and_then(|arguments| {
        call.parsed.0.shrink_to(arguments.text_bytes());
        arguments.program(limits, server.parts.answer_tokens)
    });
    let program = match program {
        Ok(program) => program,
        Err(refused) => return Ok(refused.into_result().into()),
    };
    if let Some(follower) = server.continued(&call)? {
        return Ok(server.wait_for(follower, &call, None, server.until_answer_is_due()).await);
    }
    let (background, budget) = (program.background, program.budget);
    let mut follower = match start(server, program, &call) {
        Ok(follower) => follower,
        Err(report) => {
            let refused = answers::of_report(&report, &budget, None, None).await;
            return Ok(server.settled_response(call.tool, answer::of_execution(&refused).into()).await);
        }
    };
    if background {
        server.until_recorded(&mut follower, &call).await;
        let started = match call.requester.has_tasks {
            true => tasks::created(&follower).into(),
            false => answer::started(follower.id()).into_result().into(),
        };
        return Ok(server.settled_response(call.tool, started).await);
    }
    Ok(server.wait_for(follower, &call, None, server.until_answer_is_due()).await)
}

/// The error is the report of a program that did not run.
fn start(
    server: &GatewayServer,
    program: ProgramRequest,
    call: &ToolCall<'_>,
) -> Result<Follower, Box<Report>> {
    let mut request = program.request;
    request.own_definition_tokens =
        server.shown.definition_tokens(call.tool) + server.standing.tokens_told(&call.requester.caller);
    request.capabilities.changes_skills_as = call.requester.is_admin.then(|| call.requester.owner.clone());
    let place = PlaceChoice::Session {
        session: server.session_choice(program.session),
        patience: program.patience,
        keep_variables: program.keep_variables,
    };
    let start = StartRequest {
        caller: call.requester.caller.clone(),
        request,
        place,
        plan: program.plan,
        answers: call.requester.answers,
        answer: Some(program.budget),
        budget_is_explicit: program.budget_is_explicit,
        level: program.level,
        engine: program.engine,
        note: None,
    };
    server.parts.gateway.service().start(start)
}
