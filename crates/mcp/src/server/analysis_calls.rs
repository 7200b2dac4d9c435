//! `execute_analysis`: steps over inline data, a stored result or a workspace's file, without a program.
//!
//! The whole output is written into a file, by the worker that computed it; what is answered is shaped
//! out of it. It is kept under a handle only if something had to be left out.

use std::fs::File;
use std::io::{Read, Seek};

use gristmill_gateway::analysis::{
    AnalysisData, AnalysisFailure, AnalysisInput, AnalysisOutcome, AnalysisRequest, format_of_path, is_path,
};
use gristmill_gateway::domain::shape::{Strategy, shape_text};
use gristmill_gateway::domain::{Code, one_line};
use gristmill_gateway::results::{NewResult, Origin, ResultKind, ResultsError};
use gristmill_gateway::tokens;
use rmcp::service::{RequestContext, RoleServer};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::GatewayServer;
use super::analysis_answer::{Told, budget};
use super::answer::Answer;
use super::caller::Requester;
use super::workspace_calls;

/// The data itself, among the inputs.
const DATA: &str = "data";

/// Further inputs of one analysis, as many as a worker takes beside the data; each may be an open file.
const INPUTS_MAX: usize = 3;

/// Where programs find what is stored; a path there names a handle.
const RESULTS: &str = "/results/";

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
}

/// Where one input is.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    #[serde(default)]
    data: Option<Value>,
    #[serde(default)]
    handle: Option<String>,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    format: Option<String>,
}

/// Where the output is written.
enum Place {
    /// Where it can be kept.
    Stored(NewResult),
    /// This gateway keeps nothing.
    Nowhere,
}

impl GatewayServer {
    pub(super) async fn analyze(
        &self,
        arguments: Map<String, Value>,
        requester: &Requester,
        context: &RequestContext<RoleServer>,
    ) -> Answer {
        tokio::select! {
            answer = self.analyzed(arguments, requester) => answer.unwrap_or_else(|refused| refused),
            // The analysis is given up with the future that waits for it.
            () = context.ct.cancelled() => {
                Answer::refused(Code::Cancelled, "the analysis was cancelled", None)
            }
        }
    }

    async fn analyzed(&self, arguments: Map<String, Value>, requester: &Requester) -> Result<Answer, Answer> {
        let arguments: AnalysisArguments = serde_json::from_value(Value::Object(arguments))
            .map_err(|error| bad(&format!("the arguments: {error}")))?;
        let budget = budget(arguments.max_output_tokens.as_ref(), self.parts.answer_tokens)?;
        let mut request = request_of(arguments.steps, arguments.analysis_type, arguments.parameters)?;
        if let Some(path) = arguments.data_field {
            request["data_field"] = json!(path);
        }
        let session = arguments.session;
        let first = Source {
            data: arguments.data,
            handle: arguments.handle,
            file: arguments.file,
            format: arguments.format,
        };
        if arguments.inputs.len() > INPUTS_MAX {
            return Err(bad(&format!(
                "there are {} `inputs`; at most {INPUTS_MAX} can be passed",
                arguments.inputs.len()
            )));
        }
        let mut inputs = vec![self.input(DATA.to_owned(), first, session.as_deref(), requester).await?];
        for (name, given) in arguments.inputs {
            let source = source_of(&name, given)?;
            inputs.push(self.input(name, source, session.as_deref(), requester).await?);
        }
        let (place, output) = self.place(requester)?;
        let request = AnalysisRequest { request: request.to_string(), inputs, limits: None, output };
        let outcome = self.parts.executions.gateway().analyze(request).await;
        let outcome = outcome.map_err(|failure| failed(&failure, budget))?;
        self.told(outcome, place, Origin { session, execution: None }, budget).await
    }

    /// One input, opened.
    async fn input(
        &self,
        name: String,
        source: Source,
        session: Option<&str>,
        requester: &Requester,
    ) -> Result<AnalysisInput, Answer> {
        let Source { data, handle, file, format } = source;
        let (handle, file) = match file {
            // A stored result is reached by its handle, wherever it lies.
            Some(path) if handle.is_none() && path.starts_with(RESULTS) => (Some(path), None),
            file => (handle, file),
        };
        match (data, handle, file) {
            (Some(Value::String(text)), None, None) if is_path(&text) => {
                let message = format!("data is rows, and \"{}\" is a name", one_line(&text, 60));
                let hint = "pass a file of the workspace as `file`, and a stored result as `handle`";
                Err(Answer::refused(Code::BadRequest, &message, Some(hint)))
            }
            // A text is the file that it would be.
            (Some(Value::String(text)), None, None) => {
                Ok(AnalysisInput { name, format, data: AnalysisData::Inline(text) })
            }
            (Some(value @ (Value::Null | Value::Bool(_) | Value::Number(_))), None, None) => {
                let message = format!("data is rows, and {} is none", one_line(&value.to_string(), 40));
                let hint = "pass a list of objects, or a text of CSV or JSON";
                Err(Answer::refused(Code::BadRequest, &message, Some(hint)))
            }
            (Some(value @ (Value::Array(_) | Value::Object(_))), None, None) => {
                Ok(AnalysisInput { name, format, data: AnalysisData::Inline(value.to_string()) })
            }
            (None, Some(handle), None) => {
                let file = self.stored(&handle, requester).await?;
                Ok(AnalysisInput { name, format, data: AnalysisData::File(file) })
            }
            (None, None, Some(path)) => {
                let format = format.or_else(|| format_of_path(&path).map(str::to_owned));
                let file = self.workspace_file(path, session.map(str::to_owned), requester).await?;
                Ok(AnalysisInput { name, format, data: AnalysisData::File(file) })
            }
            (None, None, None) => Err(not_one(&name, "is not given")),
            _ => Err(not_one(&name, "is given more than once")),
        }
    }

    /// What is stored under a handle of this owner.
    async fn stored(&self, handle: &str, requester: &Requester) -> Result<File, Answer> {
        let results = self.parts.executions.results();
        let found = match results {
            Some(results) => {
                results.open_file(&requester.owner, handle).await.map_err(|error| no_results(&error))?
            }
            None => None,
        };
        found.map(|(_, file)| file).ok_or_else(|| {
            let message = format!("there is no stored result `{}`", one_line(handle, 60));
            let hint =
                "a handle is in the answer that left something out; results are kept for a limited time";
            Answer::refused(Code::BadRequest, &message, Some(hint))
        })
    }

    async fn workspace_file(
        &self,
        path: String,
        session: Option<String>,
        requester: &Requester,
    ) -> Result<File, Answer> {
        let Some(files) = self.files_to_read(session, requester).await? else {
            return Err(workspace_calls::no_file(&path));
        };
        let (_, file) = workspace_calls::with_files(files, path, |files, path| files.open(path)).await?;
        Ok(file)
    }

    fn place(&self, requester: &Requester) -> Result<(Place, File), Answer> {
        let unusable = |error: std::io::Error| {
            Answer::refused(Code::Workspace, &format!("the output has no place: {error}"), None)
        };
        match self.parts.executions.results() {
            Some(results) => {
                let new = results.new_file(&requester.owner).map_err(|error| no_results(&error))?;
                let output = new.file().try_clone().map_err(unusable)?;
                Ok((Place::Stored(new), output))
            }
            None => {
                Ok((Place::Nowhere, self.parts.executions.gateway().throw_away_file().map_err(unusable)?))
            }
        }
    }

    /// The answer; the whole output is kept if it does not hold it.
    async fn told(
        &self,
        outcome: AnalysisOutcome,
        place: Place,
        origin: Origin,
        budget: usize,
    ) -> Result<Answer, Answer> {
        let AnalysisOutcome { rows, columns, notes, output, .. } = outcome;
        let told = tokio::task::spawn_blocking(move || {
            let text = whole_text(output)?;
            Ok::<_, std::io::Error>(Told::new(&text, rows, &columns, &notes, budget))
        });
        let unreadable = |why: String| {
            Answer::refused(Code::WorkerLost, &format!("the output cannot be read: {why}"), None)
        };
        let told = told.await.map_err(|error| unreadable(error.to_string()))?;
        let told = told.map_err(|error| unreadable(error.to_string()))?;
        if told.is_whole() {
            return Ok(told.whole());
        }
        match (self.parts.executions.results(), place) {
            (Some(results), Place::Stored(new)) => {
                match results.keep(new, origin, ResultKind::Json, None).await {
                    Ok(stored) => Ok(told.kept(&stored)),
                    // What was computed is worth more than a place to keep it in.
                    Err(_) => Ok(told.not_kept()),
                }
            }
            (Some(_) | None, Place::Stored(_) | Place::Nowhere) => Ok(told.not_kept()),
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
            let hint = "such as {\"steps\": [{\"describe\": {}}]}, or {\"analysis_type\": \"describe\"}";
            Err(Answer::refused(Code::BadRequest, "it is not said what to do", Some(hint)))
        }
        (Some(_), None) if parameters.is_some() => {
            Err(bad("`parameters` belong to `analysis_type`; with `steps` each step has its own"))
        }
        (Some(Value::Object(step)), None) => Ok(json!({"steps": [step]})),
        (Some(steps), None) => Ok(json!({"steps": steps})),
        (None, Some(analysis_type)) => {
            let parameters = parameters.unwrap_or_default();
            Ok(json!({"analysis_type": analysis_type, "parameters": parameters}))
        }
    }
}

/// A further input: rows as they are, or where they are.
fn source_of(name: &str, given: Value) -> Result<Source, Answer> {
    match given {
        given @ Value::Object(_) => serde_json::from_value(given).map_err(|error| {
            let message = format!("the input `{}`: {error}", one_line(name, 40));
            let hint = "an input is a list of rows, or an object with one of data, handle and file";
            Answer::refused(Code::BadRequest, &message, Some(hint))
        }),
        data => Ok(Source { data: Some(data), ..Source::default() }),
    }
}

fn whole_text(mut output: File) -> std::io::Result<String> {
    output.rewind()?;
    let mut text = String::new();
    output.read_to_string(&mut text)?;
    Ok(text)
}

fn not_one(name: &str, why: &str) -> Answer {
    let what =
        if name == DATA { "the data".to_owned() } else { format!("the input `{}`", one_line(name, 40)) };
    Answer::refused(Code::BadRequest, &format!("{what} {why}"), Some("pass one of data, handle and file"))
}

fn bad(message: &str) -> Answer {
    Answer::refused(Code::BadRequest, message, None)
}

fn no_results(error: &ResultsError) -> Answer {
    Answer::refused(Code::Workspace, &error.to_string(), None)
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
