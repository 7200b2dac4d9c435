//! `get_execution`: waits for a program that was started before, stops it, or lists the latest.

use std::time::Duration;

use gristmill_gateway::access::Scope;
use gristmill_gateway::answer::{self as answers, AnswerBudget};
use gristmill_gateway::domain::Code;
use gristmill_gateway::history::{Found, RecordedOutcome};
use gristmill_gateway::ids::ExecutionId;
use gristmill_gateway::service::Follower;
use rmcp::model::{CallToolResponse, ErrorData};
use serde::Deserialize;
use serde_json::{Map, Number, Value, json};
use tokio::time::Instant;

use super::execute_code::PROGRAM_OUTPUT;
use super::own_tool::{Annotations, Input, OwnTool, Run, integer, text};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::attend::Waiting;
use crate::server::caller::Requester;
use crate::server::execute_arguments::{budget_of, number_text};
use crate::server::profile::Profile;

/// How long it waits if nothing else is said: less than any client does.
const WAIT_DEFAULT: Duration = Duration::from_secs(45);
const WAIT_MAX: Duration = Duration::from_secs(600);
/// Executions in a list.
const LISTED_MAX: usize = 20;

pub(in crate::server) static GET_EXECUTION: OwnTool = OwnTool {
    name: "get_execution",
    title: "Follow a running program",
    description: include_str!("get_execution.md"),
    input: Input {
        properties: |_| {
            json!({
                "id": text(),
                "wait_s": {"type": "number"},
                "cancel": {"type": "boolean", "description": "Stop it"},
                "max_output_tokens": integer(),
                "shape": text(),
            })
        },
        required: &[],
        shown_in_full_only: &["max_output_tokens", "shape"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: PROGRAM_OUTPUT,
    // It can stop a program, which may be done twice.
    annotations: Annotations {
        is_read_only: false,
        is_destructive: false,
        is_idempotent: true,
        is_open_world: false,
    },
    shown_from: Profile::Standard,
    scopes: &[Scope::Execute],
    errors_are_structured: true,
    run: Run::Response(|server, call| Box::pin(get_execution(server, call))),
};

async fn get_execution(
    server: &GatewayServer,
    mut call: ToolCall<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let arguments = match Arguments::read(call.take_arguments(), server.parts.answer_tokens) {
        Ok(arguments) => arguments,
        Err(refused) => return Ok(refused.into_result().into()),
    };
    let follower = match &arguments.id {
        None => return Ok(server.settled(list(server, &call.requester)).await.into_result().into()),
        Some(text) => match server.find(text, &call.requester) {
            Ok(follower) => follower,
            Err(refused) => {
                let answer = answered_before(server, text, &call.requester).await.unwrap_or(refused);
                return Ok(server.settled(answer).await.into_result().into());
            }
        },
    };
    if call.state.is_some() {
        server.continued(&call)?;
    }
    if arguments.cancel {
        follower.cancel();
    }
    let waiting = Waiting { until: Some(Instant::now() + arguments.wait), is_ours: false };
    Ok(server.wait_for(follower, &call, arguments.budget.as_ref(), waiting).await)
}

/// What is said of one of the caller's executions whose answer is gone, if the history knows it.
async fn answered_before(server: &GatewayServer, text: &str, requester: &Requester) -> Option<Answer> {
    let id = ExecutionId::read(text)?;
    let found = server.parts.gateway.history()?.find(id.as_str(), Some(&requester.owner)).await.ok()?;
    match found {
        Found::One(record) if record.summary.outcome != RecordedOutcome::Running => {
            let message = format!("execution `{id}` has ended, and its answer is gone");
            let hint = format!(
                "the call that ran it returned it, or nobody asked within 15 minutes; in a terminal: `gristmill show {id}`"
            );
            Some(Answer::refused(Code::BadRequest, &message, Some(&hint)))
        }
        Found::One(_) | Found::Nothing | Found::Several(_) => None,
    }
}

fn list(server: &GatewayServer, requester: &Requester) -> Answer {
    if !requester.is_alone {
        // Others may share the name under which this caller is known.
        return Answer::refused(Code::BadRequest, "`id` is missing", None);
    }
    let recent = server.parts.gateway.service().recent(&requester.owner);
    let line = |follower: &Follower| {
        let progress = follower.progress();
        let status = match &progress.report {
            None => progress.status.as_str(),
            Some(report) => answers::status_of(report),
        };
        format!("{}: {status}, {:.1} s", follower.id(), progress.elapsed.as_secs_f64())
    };
    let lines: Vec<String> = recent.iter().take(LISTED_MAX).map(line).collect();
    let text = match lines.is_empty() {
        true => "No programs are running or waiting to be picked up.".to_owned(),
        false => lines.join("\n"),
    };
    Answer { text, structured: json!({"status": "listed", "executions": lines}), is_error: false }
}

#[derive(Debug)]
struct Arguments {
    id: Option<String>,
    wait: Duration,
    cancel: bool,
    /// If it is another than the program was started with.
    budget: Option<AnswerBudget>,
}

#[derive(Deserialize)]
struct GivenArguments {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    wait_s: Option<f64>,
    #[serde(default)]
    cancel: bool,
    #[serde(default)]
    max_output_tokens: Option<Number>,
    #[serde(default)]
    shape: Option<String>,
}

impl Arguments {
    fn read(arguments: Map<String, Value>, tokens: usize) -> Result<Self, Answer> {
        let given: GivenArguments = read_arguments(arguments)?;
        let wait = match given.wait_s {
            None => WAIT_DEFAULT,
            Some(seconds) => {
                let wait = Duration::try_from_secs_f64(seconds).ok().filter(|wait| *wait <= WAIT_MAX);
                wait.ok_or_else(|| {
                    let given = number_text(seconds);
                    let message = format!("wait_s is {given}; it can be 0 to {}", WAIT_MAX.as_secs());
                    Answer::refused(Code::BadRequest, &message, None)
                })?
            }
        };
        let is_explicit = given.max_output_tokens.is_some() || given.shape.is_some();
        let budget = budget_of(given.max_output_tokens.as_ref(), given.shape.as_deref(), tokens)?;
        Ok(Self { id: given.id, wait, cancel: given.cancel, budget: is_explicit.then_some(budget) })
    }
}
