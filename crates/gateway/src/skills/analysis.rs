//! What is found out about a skill by running programs of ours in the sandbox: what its code says
//! about itself, and whether its tests pass.
//!
//! They run in places of their own: whoever saves a skill may be a program that holds one of the
//! ordinary places, and must not wait for itself.

use std::sync::{Arc, Weak};

use gristmill_domain::skills::{CodeFacts, SkillFiles, SkillName};
use gristmill_domain::{Code, LimitName, Limits, one_line};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::error::SkillError;
use super::save::EXAMPLE_ASSERT;
use super::view::FrozenSkills;
use crate::builder::Core;
use crate::execute::{self, ExecuteRequest, Execution, Purpose, Report};
use crate::executions::{ExecutionId, Owner};
use crate::history::{Beginning, History};

/// Parsing is quick; a source that takes longer is made to.
const ANALYSIS_MS_MAX: u64 = 10_000;

/// A test is an example, not a job. The gateway's own wall time may be shorter.
const TEST_MS_MAX: u64 = 60_000;

/// Words of a failed test.
const MESSAGE_CHARS_MAX: usize = 600;

const ANALYSE: &str = include_str!("programs/analyse.py");
const RUN_TESTS: &str = include_str!("programs/run_tests.py");

/// Where the run of a test is recorded, and for whom.
pub(super) struct TestRecord {
    pub history: Option<History>,
    pub owner: Owner,
}

/// Runs our programs, as long as there is a gateway.
#[derive(Clone)]
pub(super) struct Sandbox(Weak<Core>);

#[derive(Deserialize)]
struct Analysed {
    #[serde(default)]
    error: Option<SyntaxTold>,
    #[serde(flatten)]
    facts: CodeFacts,
}

#[derive(Deserialize)]
struct SyntaxTold {
    message: String,
    line: Option<u64>,
}

impl Sandbox {
    pub fn new(core: Weak<Core>) -> Self {
        Self(core)
    }

    pub fn core(&self) -> Result<Arc<Core>, SkillError> {
        self.0.upgrade().ok_or_else(|| SkillError::Unchecked("the gateway is closing".to_owned()))
    }

    /// What the code says about itself, without running it.
    pub async fn analyse(&self, code: &str) -> Result<CodeFacts, SkillError> {
        let mut request = ExecuteRequest::python(ANALYSE);
        request.context = Map::from_iter([("source".to_owned(), Value::from(code))]);
        let core = self.core()?;
        request.limits = Some(limits_within(&core, ANALYSIS_MS_MAX));
        let purpose = Purpose::Ours(FrozenSkills::default());
        let report = execute::start(core, request, purpose).finish().await;
        match (report.result, report.error) {
            (Some(result), None) => {
                let unreadable = |error: serde_json::Error| SkillError::Unchecked(error.to_string());
                let analysed: Analysed = serde_json::from_value(result).map_err(unreadable)?;
                match analysed.error {
                    Some(SyntaxTold { message, line }) => {
                        Err(SkillError::Syntax { message: one_line(&message, MESSAGE_CHARS_MAX), line })
                    }
                    None => Ok(analysed.facts),
                }
            }
            (_, Some(error)) if is_ours(error.code) => Err(SkillError::Unchecked(error.message)),
            (_, Some(error)) => Err(SkillError::Syntax {
                message: format!(
                    "it is too much to be read: {}",
                    one_line(&error.message, MESSAGE_CHARS_MAX)
                ),
                line: None,
            }),
            (None, None) => Err(SkillError::Unchecked("it came to nothing".to_owned())),
        }
    }

    /// Runs every test of a skill, which finds the skills it is given.
    pub async fn test(
        &self,
        name: &SkillName,
        files: &SkillFiles,
        skills: FrozenSkills,
        record: &TestRecord,
    ) -> Result<(), SkillError> {
        for (file, test) in files.tests() {
            // One line before the test; it is taken off the lines that are told.
            let code = format!("from skills.{name} import *\n{test}{RUN_TESTS}");
            let what = format!("this is {file}, a test of the skill {name}");
            let report = self.run_test(code, skills.clone(), record, what).await?;
            if let Some(error) = report.error {
                if is_ours(error.code) {
                    return Err(SkillError::Unchecked(error.message));
                }
                let line = error.line.map(|line| line.saturating_sub(1)).filter(|line| *line > 0);
                let message = told(&error.message, &error.kind, test, line);
                return Err(SkillError::TestFailed { file: file.to_owned(), message, line });
            }
            if report.result == Some(Value::Bool(false)) {
                let message = "its last expression is false".to_owned();
                return Err(SkillError::TestFailed { file: file.to_owned(), message, line: None });
            }
        }
        Ok(())
    }

    /// One test. It is a program of whoever saves, with real tools, so it is in the history as one.
    async fn run_test(
        &self,
        code: String,
        skills: FrozenSkills,
        record: &TestRecord,
        what: String,
    ) -> Result<Report, SkillError> {
        let core = self.core()?;
        let level = core.limits.level();
        let mut request = ExecuteRequest::python(code);
        request.limits = Some(limits_within(&core, TEST_MS_MAX));
        let beginning = record.history.as_ref().and_then(|history| {
            let id = ExecutionId::new().ok()?;
            Some(history.about_to_run(&id, &record.owner, &mut request, level))
        });
        let execution = execute::start(core, request, Purpose::Ours(skills));
        let recording = beginning.map(Beginning::begin);
        let stop = CancellationToken::new();
        let _stop_with_us = stop.clone().drop_guard();
        // On a task of its own: whoever saves may be stopped, but what its test did is recorded.
        let ended = tokio::spawn(async move {
            let mut report = until_stopped(execution, stop).await;
            report.notes.push(what);
            if let Some(recording) = recording {
                recording.end(&mut report, "", None).await;
            }
            report
        });
        ended.await.map_err(|_| SkillError::Unchecked("the gateway is closing".to_owned()))
    }
}

async fn until_stopped(mut execution: Execution, stop: CancellationToken) -> Report {
    tokio::select! {
        () = stop.cancelled() => execution.cancel(),
        () = all_events(&mut execution) => {}
    }
    execution.finish().await
}

async fn all_events(execution: &mut Execution) {
    while execution.next_event().await.is_some() {}
}

/// The gateway's limits, with no more time than this.
fn limits_within(core: &Core, ms_max: u64) -> Limits {
    let mut limits = core.limits.clone();
    let wall = limits.get(LimitName::WallTime).min(ms_max);
    // In its range: it only comes down.
    let _ = limits.set(LimitName::WallTime, wall);
    limits
}

/// What happened, with the line of the test where the message alone says nothing.
fn told(message: &str, kind: &str, test: &str, line: Option<u64>) -> String {
    let message = one_line(message, MESSAGE_CHARS_MAX);
    let source = line.and_then(|line| test.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?));
    match source {
        Some(source) if kind == "exception" && !source.starts_with(EXAMPLE_ASSERT) => {
            format!("{message}: `{}`", one_line(source, 160))
        }
        Some(_) | None => message,
    }
}

/// Whether it says nothing about the skill.
fn is_ours(code: Code) -> bool {
    matches!(
        code,
        Code::WorkerUnavailable | Code::WorkerLost | Code::WorkerMisbehaved | Code::Busy | Code::Cancelled
    )
}
