//! What an analysis works on: inline rows, a stored result or a workspace's file, opened.

use std::fs::File;

use gristmill_gateway::analysis::{AnalysisData, AnalysisInput, format_of_path, is_path};
use gristmill_gateway::domain::{Code, one_line};
use gristmill_gateway::results::ResultsError;
use serde::Deserialize;
use serde_json::Value;

use super::answer::Answer;
use super::caller::Requester;
use super::{GatewayServer, workspace};

/// The data itself, among the inputs.
pub(super) const DATA: &str = "data";

/// Where programs find what is stored; a path there names a handle.
const RESULTS: &str = "/results/";

/// Where one input is.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    #[serde(default)]
    pub data: Option<Value>,
    #[serde(default)]
    pub handle: Option<String>,
    #[serde(default)]
    pub file: Option<String>,
    #[serde(default)]
    pub format: Option<String>,
}

impl GatewayServer {
    pub(super) async fn input(
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
                let message = format!("`data` takes rows, not a file name: \"{}\"", one_line(&text, 60));
                let hint = "pass a workspace file as `file` and a stored result as `handle`";
                Err(Answer::refused(Code::BadRequest, &message, Some(hint)))
            }
            // A text is the file that it would be.
            (Some(Value::String(text)), None, None) => {
                Ok(AnalysisInput { name, format, data: AnalysisData::Inline(text) })
            }
            (Some(value @ (Value::Null | Value::Bool(_) | Value::Number(_))), None, None) => {
                let message = format!("`data` takes rows, not {}", one_line(&value.to_string(), 40));
                let hint = "pass a list of objects, or CSV or JSON text";
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
            (None, None, None) => Err(not_one(&name, "is missing")),
            _ => Err(not_one(&name, "is given twice")),
        }
    }

    /// What is stored under a handle of this owner.
    async fn stored(&self, handle: &str, requester: &Requester) -> Result<File, Answer> {
        let results = self.parts.gateway.results();
        let found = match results {
            Some(results) => {
                results.open_file(&requester.owner, handle).await.map_err(|error| no_results(&error))?
            }
            None => None,
        };
        if let (Some(results), Some((stored, _))) = (results, &found) {
            results.note_read(&self.reader(requester).await, stored).await;
        }
        found.map(|(_, file)| file).ok_or_else(|| {
            let message = format!("no stored result `{}`", one_line(handle, 60));
            let hint = "handles are in answers that left something out, and expire after a while";
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
            return Err(workspace::no_file(&path));
        };
        let (_, file) = workspace::with_files(files, path, |files, path| files.open(path)).await?;
        Ok(file)
    }
}

/// A further input: rows as they are, or where they are.
pub(super) fn source_of(name: &str, given: Value) -> Result<Source, Answer> {
    match given {
        given @ Value::Object(_) => serde_json::from_value(given).map_err(|error| {
            let message = format!("the input `{}`: {error}", one_line(name, 40));
            let hint = "an input is a list of rows, or an object with `data`, `handle` or `file`";
            Answer::refused(Code::BadRequest, &message, Some(hint))
        }),
        data => Ok(Source { data: Some(data), ..Source::default() }),
    }
}

fn not_one(name: &str, why: &str) -> Answer {
    let what =
        if name == DATA { "the data".to_owned() } else { format!("the input `{}`", one_line(name, 40)) };
    Answer::refused(
        Code::BadRequest,
        &format!("{what} {why}"),
        Some("pass one of `data`, `handle` or `file`"),
    )
}

pub(super) fn no_results(error: &ResultsError) -> Answer {
    Answer::refused(Code::Workspace, &error.to_string(), None)
}
