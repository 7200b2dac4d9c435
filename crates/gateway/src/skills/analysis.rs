//! What is found out about a skill by running programs of ours in the sandbox: what its code says
//! about itself, and whether its tests pass.
//!
//! They run in places of their own: whoever saves a skill may be a program that holds one of the
//! ordinary places, and must not wait for itself.

use std::sync::{Arc, Weak};

use gristmill_domain::skills::{CodeFacts, SkillFiles, SkillName};
use gristmill_domain::{Code, LimitName, one_line};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::SkillError;
use super::save::EXAMPLE_ASSERT;
use super::view::FrozenSkills;
use crate::builder::Core;
use crate::execute::{self, ExecuteRequest, Purpose, Report};

/// Parsing is quick; a source that takes longer is made to.
const ANALYSIS_MS_MAX: u64 = 10_000;

/// A test is an example, not a job.
const TEST_MS_MAX: u64 = 60_000;

/// Words of a failed test.
const MESSAGE_CHARS_MAX: usize = 600;

const ANALYSE: &str = include_str!("programs/analyse.py");
const RUN_TESTS: &str = include_str!("programs/run_tests.py");

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
        let report = self.run(request, ANALYSIS_MS_MAX, FrozenSkills::default()).await?;
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
    ) -> Result<(), SkillError> {
        for (file, test) in files.tests() {
            // One line before the test; it is taken off the lines that are told.
            let code = format!("from skills.{name} import *\n{test}{RUN_TESTS}");
            let report = self.run(ExecuteRequest::python(code), TEST_MS_MAX, skills.clone()).await?;
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

    async fn run(
        &self,
        mut request: ExecuteRequest,
        ms_max: u64,
        skills: FrozenSkills,
    ) -> Result<Report, SkillError> {
        let core = self.core()?;
        let mut limits = core.limits.clone();
        let wall = limits.get(LimitName::WallTime).min(ms_max);
        // In its range: it only comes down.
        let _ = limits.set(LimitName::WallTime, wall);
        request.limits = Some(limits);
        Ok(execute::start(core, request, Purpose::Ours(skills)).finish().await)
    }
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
