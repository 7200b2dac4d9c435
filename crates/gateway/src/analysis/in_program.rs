//! A program's `analyze`: its data, its files and its caller's results as inputs, the output as a value.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use gristmill_domain::{Code, Limits, ToolAnswer, format_bytes, one_line};
use gristmill_protocol::{ANALYSIS_INPUTS_MAX, CALL_PAYLOAD_BYTES_MAX};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::{
    Analyses, AnalysisData, AnalysisFailure, AnalysisInput, AnalysisOutcome, AnalysisRequest, format_of_path,
    unlinked_file_in,
};
use crate::ports::{AnalysisInputs, RemoteControl};
use crate::session::open_plain_file;

/// Under which the data itself is known to the steps.
const DATA: &str = "data";

/// What the guest writes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnalyzePayload {
    #[serde(default)]
    data: Option<Box<RawValue>>,
    #[serde(default)]
    handle: Option<String>,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    others: BTreeMap<String, InputPayload>,
    request: Box<RawValue>,
    #[serde(default)]
    line: Option<u64>,
}

/// One input, as the guest writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InputPayload {
    #[serde(default)]
    data: Option<Box<RawValue>>,
    #[serde(default)]
    handle: Option<String>,
    #[serde(default)]
    file: Option<String>,
    #[serde(default)]
    format: Option<String>,
}

/// One analysis that a program asks for.
#[derive(Debug)]
pub(crate) struct AnalysisCall {
    request: Box<RawValue>,
    /// The data first.
    inputs: Vec<(String, InputPayload)>,
    line: Option<u64>,
}

impl AnalysisCall {
    /// Under which it is reported.
    pub const NAME: &'static str = "analyze";

    /// From the guest's JSON.
    pub fn read(payload: &str) -> serde_json::Result<Self> {
        let AnalyzePayload { data, handle, file, format, others, request, line } =
            serde_json::from_str(payload)?;
        let first = InputPayload { data, handle, file, format };
        let inputs = [(DATA.to_owned(), first)].into_iter().chain(others).collect();
        Ok(Self { request, inputs, line })
    }

    pub fn line(&self) -> Option<u64> {
        self.line
    }

    /// What a model would have written in the program's place, the data left aside.
    pub fn request_text(&self) -> &str {
        self.request.get()
    }
}

/// The analyses of one program.
pub(crate) struct ProgramAnalyses {
    pub analyses: Analyses,
    pub limits: Limits,
    /// Its workspace; `None` if that could not be held open.
    pub workspace: Option<OwnedFd>,
    /// The worker's node, where its workspace is until it comes back; `None` if that is here.
    pub elsewhere: Option<Arc<dyn RemoteControl>>,
    /// Where its caller's stored results are.
    pub results: Option<Arc<dyn AnalysisInputs>>,
    /// Where outputs are written.
    pub scratch: PathBuf,
}

impl ProgramAnalyses {
    /// Does what was asked; the answer is the output as a value.
    pub async fn answer(&self, call: AnalysisCall) -> Result<ToolAnswer, AnalysisFailure> {
        if call.inputs.len() > ANALYSIS_INPUTS_MAX {
            return Err(AnalysisFailure::new(
                Code::BadRequest,
                format!(
                    "{} inputs, but an analysis takes at most {ANALYSIS_INPUTS_MAX}; nothing ran",
                    call.inputs.len()
                ),
                "join what belongs together in several analyses",
            ));
        }
        let mut inputs = Vec::with_capacity(call.inputs.len());
        for (name, written) in call.inputs {
            inputs.push(self.open(name, written).await?);
        }
        let output = unlinked_file_in(&self.scratch).map_err(|error| {
            AnalysisFailure::new(
                Code::Workspace,
                format!("can't create a file for the output: {error}; nothing ran"),
                "free some disk space, or set GRISTMILL_SCRATCH_DIR to a folder with room",
            )
        })?;
        let request = AnalysisRequest {
            request: call.request.get().to_owned(),
            inputs,
            limits: Some(self.limits.clone()),
            output,
        };
        value_of(self.analyses.run(request).await?).await
    }

    async fn open(&self, name: String, written: InputPayload) -> Result<AnalysisInput, AnalysisFailure> {
        let InputPayload { data, handle, file, format } = written;
        let (data, format) = match (data, handle, file) {
            (Some(data), None, None) => {
                let text = Box::<str>::from(data).into_string();
                (AnalysisData::Inline(text), format.or_else(|| Some("json".to_owned())))
            }
            (None, Some(handle), None) => (self.open_result(&handle).await?, format),
            (None, None, Some(path)) => {
                let told = format_of_path(&path).map(str::to_owned);
                self.bring_home().await?;
                (self.open_file(&path)?, format.or(told))
            }
            (None, None, None) => return Err(one_source(&name, "has no data")),
            (Some(_), _, _) | (None, Some(_), Some(_)) => {
                return Err(one_source(&name, "has its data in two places"));
            }
        };
        Ok(AnalysisInput { name, format, data })
    }

    async fn open_result(&self, handle: &str) -> Result<AnalysisData, AnalysisFailure> {
        let opened = match &self.results {
            Some(results) => results.open_result(handle).await,
            None => Ok(None),
        };
        let shown = one_line(handle, 40);
        match opened {
            Ok(Some(file)) => Ok(AnalysisData::File(file)),
            Ok(None) => Err(AnalysisFailure::new(
                Code::BadRequest,
                format!("no stored result `{shown}`; nothing ran"),
                "results expire, and only their owner can read them; run the program again",
            )),
            Err(failure) => Err(AnalysisFailure::new(
                Code::BadRequest,
                format!("can't open the stored result `{shown}`: {failure}; nothing ran"),
                "run the program again",
            )),
        }
    }

    /// The analysis is done here, so its files have to be.
    async fn bring_home(&self) -> Result<(), AnalysisFailure> {
        let Some(elsewhere) = &self.elsewhere else { return Ok(()) };
        elsewhere.bring_home().await.map_err(|error| {
            AnalysisFailure::new(
                Code::Workspace,
                format!("can't take over the program's files from its node: {error}; nothing ran"),
                "pass the data itself instead of a file",
            )
        })
    }

    fn open_file(&self, path: &str) -> Result<AnalysisData, AnalysisFailure> {
        let refused = |why: String| {
            AnalysisFailure::new(
                Code::BadRequest,
                format!("{why}; nothing ran"),
                "use a path relative to the workspace, such as `data/a.csv`",
            )
        };
        let workspace =
            self.workspace.as_ref().ok_or_else(|| refused("can't open the workspace".to_owned()))?;
        match open_plain_file(workspace.as_fd(), path) {
            Ok(file) => Ok(AnalysisData::File(file)),
            Err(error) => Err(refused(error.to_string())),
        }
    }
}

fn one_source(name: &str, what: &str) -> AnalysisFailure {
    AnalysisFailure::new(
        Code::BadRequest,
        format!("the input `{}` {what}; nothing ran", one_line(name, 40)),
        "pass exactly one of data, handle and file",
    )
}

/// The whole output, as JSON text.
async fn value_of(outcome: AnalysisOutcome) -> Result<ToolAnswer, AnalysisFailure> {
    let AnalysisOutcome { output, output_bytes, .. } = outcome;
    if output_bytes > CALL_PAYLOAD_BYTES_MAX as u64 {
        return Err(AnalysisFailure::new(
            Code::CallBytes,
            format!(
                "the output is {}, but a program can take only {} at once",
                format_bytes(output_bytes),
                format_bytes(CALL_PAYLOAD_BYTES_MAX as u64)
            ),
            "aggregate more, end with a limit, or use execute_analysis, which stores the whole output",
        ));
    }
    let read = tokio::task::spawn_blocking(move || {
        let mut text = String::with_capacity(output_bytes as usize);
        // It cannot grow any more; the bound is for whoever errs about that.
        output.take(output_bytes).read_to_string(&mut text).map(|_| text)
    });
    let text = read.await.map_err(|error| unreadable(&error))?.map_err(|error| unreadable(&error))?;
    serde_json::from_str::<IgnoredAny>(&text).map_err(|error| unreadable(&error))?;
    Ok(ToolAnswer { json: text, files: Vec::new() })
}

fn unreadable(error: &dyn std::fmt::Display) -> AnalysisFailure {
    AnalysisFailure::new(
        Code::WorkerMisbehaved,
        format!("can't read the output: {error}"),
        "if there's nothing unusual about the data, please report this",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_with_its_data_first() {
        let payload = r#"{"data":[1],"others":{"a":{"file":"a.csv"}},"request":{"steps":[]},"line":4}"#;
        let call = AnalysisCall::read(payload).unwrap();
        let names: Vec<_> = call.inputs.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((names, call.line()), (vec!["data", "a"], Some(4)));
        assert_eq!(call.request_text(), r#"{"steps":[]}"#);
        assert!(AnalysisCall::read(r#"{"data":[1]}"#).is_err(), "no request");
        assert!(AnalysisCall::read(r#"{"request":{},"path":"/etc/passwd"}"#).is_err(), "an unknown field");
    }
}
