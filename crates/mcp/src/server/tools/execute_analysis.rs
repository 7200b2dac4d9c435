//! `execute_analysis`: steps over inline data, a stored result or a workspace's file, without a program.
//!
//! The whole output is written into a file, by the worker that computed it; what is answered is shaped
//! out of it. It is kept under a handle only if something had to be left out.

use std::fs::File;
use std::io::{Read, Seek};

use gristmill_gateway::access::Scope;
use gristmill_gateway::analysis::{AnalysisFailure, AnalysisOutcome, AnalysisRequest};
use gristmill_gateway::domain::policy::Seen;
use gristmill_gateway::domain::shape::{Strategy, shape_text};
use gristmill_gateway::domain::{Code, Limits};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::results::{Origin, ResultKind};
use gristmill_gateway::session::SessionError;
use gristmill_gateway::tokens;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, integer, objects, text, texts};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::analysis_answer::{AnalysisAnswer, budget};
use crate::server::analysis_inputs::{DATA, Source, no_results, source_of};
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::caller::Requester;
use crate::server::execute_arguments::limits_at;
use crate::server::profile::Profile;
use crate::server::workspace::no_session as session_refused;

pub(super) static EXECUTE_ANALYSIS: OwnTool = OwnTool {
    name: "execute_analysis",
    title: "Analyze a table",
    description: include_str!("execute_analysis.md"),
    input: Input {
        properties: |_| {
            json!({
                "data": objects(),
                "handle": text(),
                "file": text(),
                "session": text(),
                "format": {"type": "string", "enum": ["json", "jsonl", "csv", "parquet"]},
                "data_field": {"type": "string", "description": "Path to the rows: result.items"},
                "steps": objects(),
                "analysis_type": {"type": "string", "description": "One step, with `parameters`, instead of `steps`."},
                "parameters": {"type": "object"},
                "inputs": {"type": "object", "description": "Tables to join, by name: {data | handle | file}"},
                "max_output_tokens": integer(),
                "level": text(),
            })
        },
        required: &[],
        // The other style of call, for callers that are used to it.
        shown_in_full_only: &["format", "analysis_type", "parameters", "level"],
        // A table by columns, or the text of a file; what is no table is refused with a hint. One step alone.
        not_in_minimal: &[],
        also_takes: &[("data", &["object", "string", "number", "boolean"]), ("steps", &["object"])],
    },
    output: Output {
        properties: || {
            json!({
                "status": {"type": "string", "enum": ["ok", "failed"]},
                "result": {},
                "rows": integer(),
                "columns": texts(),
                "columns_total": integer(),
                "notes": texts(),
                "result_handle": text(),
                "error": {"type": "object"},
            })
        },
        required: &["status"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Standard,
    scopes: &[Scope::Execute],
    errors_are_structured: true,
    run: Run::Answer(|server, call| Box::pin(execute_analysis(server, call))),
};

async fn execute_analysis(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    tokio::select! {
        answer = server.analyze(call.arguments, &call.requester) => answer,
        // The analysis is given up with the future that waits for it.
        () = call.context.ct.cancelled() => {
            Err(Answer::refused(Code::Cancelled, "the analysis was canceled", None))
        }
    }
}

/// Further inputs of one analysis, as many as a worker takes beside the data; each may be an open file.
const INPUTS_MAX: usize = 3;

/// As they are sent. The schema has been checked before.
#[derive(Deserialize)]
struct AnalysisArguments {
    #[serde(default)]
    data: Option<Value>,
    #[serde(default)]
    handle: Option<String>,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    data_field: Option<String>,
    #[serde(default)]
    steps: Option<Value>,
    #[serde(default)]
    analysis_type: Option<String>,
    #[serde(default)]
    parameters: Option<Map<String, Value>>,
    #[serde(default)]
    inputs: Map<String, Value>,
    #[serde(default)]
    max_output_tokens: Option<serde_json::Number>,
    #[serde(default)]
    level: Option<String>,
}

impl GatewayServer {
    async fn analyze(&self, arguments: Map<String, Value>, requester: &Requester) -> Result<Answer, Answer> {
        let arguments: AnalysisArguments = read_arguments(arguments)?;
        let budget = budget(arguments.max_output_tokens.as_ref(), self.parts.answer_tokens)?;
        let mut request = request_of(arguments.steps, arguments.analysis_type, arguments.parameters)?;
        if let Some(path) = arguments.data_field {
            request["data_field"] = json!(path);
        }
        let session = arguments.session;
        let limits = self.analysis_limits(arguments.level.as_deref(), session.as_deref(), requester).await?;
        let first = Source {
            data: arguments.data,
            handle: arguments.handle,
            file: arguments.file,
            format: arguments.format,
        };
        if arguments.inputs.len() > INPUTS_MAX {
            return Err(bad(&format!("too many `inputs`: {} (limit {INPUTS_MAX})", arguments.inputs.len())));
        }
        let mut inputs = vec![self.input(DATA.to_owned(), first, session.as_deref(), requester).await?];
        for (name, given) in arguments.inputs {
            let source = source_of(&name, given)?;
            inputs.push(self.input(name, source, session.as_deref(), requester).await?);
        }
        let output = self.output_file()?;
        let request = AnalysisRequest { request: request.to_string(), inputs, limits: Some(limits), output };
        let outcome = self.parts.gateway.analyze(request).await;
        let outcome = outcome.map_err(|failure| failed(&failure, budget))?;
        let seen = match self.parts.gateway.marks() {
            Some(ledger) => ledger.seen(&self.reader(requester).await).await,
            None => Seen::default(),
        };
        let origin = Origin { session, execution: None, seen };
        self.answer_analysis(outcome, &requester.owner, origin, budget).await
    }

    /// At the level that is asked for, and at that of the session at least.
    async fn analysis_limits(
        &self,
        asked: Option<&str>,
        session: Option<&str>,
        requester: &Requester,
    ) -> Result<Limits, Answer> {
        let limits = limits_at(asked, self.parts.gateway.limits())?;
        let Some((session, level)) = self.session_level(session, requester).await? else {
            return Ok(limits);
        };
        match limits.tightened(level) {
            Some(tightened) if asked.is_none() || limits.level() == level => Ok(tightened),
            None => Ok(limits),
            Some(_) => {
                let asked = limits.level();
                Err(session_refused(&SessionError::Looser { session, level, asked }))
            }
        }
    }

    /// Where the output is written. It has no name: rows that a model typed are on the disk only if they are kept.
    fn output_file(&self) -> Result<File, Answer> {
        match self.parts.gateway.results() {
            Some(results) => results.nameless_file().map_err(|error| no_results(&error)),
            None => self.parts.gateway.throw_away_file().map_err(|error| {
                Answer::refused(Code::Workspace, &format!("can't store the output: {error}"), None)
            }),
        }
    }

    /// The answer; the whole output is kept if it does not hold it.
    async fn answer_analysis(
        &self,
        outcome: AnalysisOutcome,
        owner: &Owner,
        origin: Origin,
        budget: usize,
    ) -> Result<Answer, Answer> {
        let AnalysisOutcome { rows, columns, notes, output, .. } = outcome;
        let answer = tokio::task::spawn_blocking(move || {
            let text = whole_text(&output)?;
            Ok::<_, std::io::Error>((AnalysisAnswer::new(&text, rows, &columns, &notes, budget), output))
        });
        let unreadable =
            |why: String| Answer::refused(Code::WorkerLost, &format!("can't read the output: {why}"), None);
        let answer = answer.await.map_err(|error| unreadable(error.to_string()))?;
        let (answer, output) = answer.map_err(|error| unreadable(error.to_string()))?;
        if answer.is_whole() {
            return Ok(answer.whole());
        }
        let Some(results) = self.parts.gateway.results() else { return Ok(answer.not_kept()) };
        match results.keep_copy(owner, output, origin, ResultKind::Json).await {
            Ok(stored) => Ok(answer.kept(&stored)),
            // What was computed is worth more than a place to keep it in.
            Err(_) => Ok(answer.not_kept()),
        }
    }
}

/// What the engine is asked, in either style.
fn request_of(
    steps: Option<Value>,
    analysis_type: Option<String>,
    parameters: Option<Map<String, Value>>,
) -> Result<Value, Answer> {
    match (steps, analysis_type) {
        (Some(_), Some(_)) => Err(bad("pass `steps`, or `analysis_type` with `parameters`, not both")),
        (None, None) => {
            let hint = "for example {\"steps\": [{\"describe\": {}}]} or {\"analysis_type\": \"describe\"}";
            Err(Answer::refused(Code::BadRequest, "no steps given", Some(hint)))
        }
        (Some(_), None) if parameters.is_some() => {
            Err(bad("`parameters` goes with `analysis_type`; in `steps`, each step has its own"))
        }
        (Some(Value::Object(step)), None) => Ok(json!({"steps": [step]})),
        (Some(steps), None) => Ok(json!({"steps": steps})),
        (None, Some(analysis_type)) => {
            let parameters = parameters.unwrap_or_default();
            Ok(json!({"analysis_type": analysis_type, "parameters": parameters}))
        }
    }
}

fn whole_text(mut output: &File) -> std::io::Result<String> {
    output.rewind()?;
    let mut text = String::new();
    output.read_to_string(&mut text)?;
    Ok(text)
}

fn bad(message: &str) -> Answer {
    Answer::refused(Code::BadRequest, message, None)
}

/// Words of the engine may be long, and the answer has a budget in this case, too.
fn failed(failure: &AnalysisFailure, budget: usize) -> Answer {
    let within = |text: &str, most: usize| shape_text(text, Strategy::Truncate, most, &tokens::count).text;
    let message = match failure.step {
        Some(step) if !failure.message.starts_with("step ") => format!("step {step}: {}", failure.message),
        Some(_) | None => failure.message.clone(),
    };
    let hint = failure.hint.as_deref().map(|hint| within(without_limits(hint), budget / 5));
    let mut answer = Answer::refused(failure.code, &within(&message, budget * 2 / 5), hint.as_deref());
    if let Some(step) = failure.step {
        answer.structured["error"]["step"] = json!(step);
    }
    answer
}

/// What a caller can do: the limits of an analysis are no arguments, but for whoever runs the gateway.
fn without_limits(hint: &str) -> &str {
    let end = [", or raise `", "; or raise `"].into_iter().filter_map(|words| hint.find(words)).min();
    end.and_then(|end| hint.get(..end)).unwrap_or(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_no_argument_is_not_recommended() {
        let hint = "filter rows and select columns in the first steps, before a join";
        for (code, name) in
            [(Code::WallTime, "wall_time"), (Code::CpuTime, "cpu_time"), (Code::Memory, "memory")]
        {
            let failure = AnalysisFailure {
                code,
                message: "the analysis was stopped".to_owned(),
                hint: Some(format!("{hint}; or raise `{name}` (up to 120 s at level production)")),
                step: None,
            };
            let text = failed(&failure, 1_000).text;
            assert!(text.trim_end().ends_with(&format!("hint: {hint}")), "{text}");
        }
    }
}
