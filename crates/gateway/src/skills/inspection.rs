//! What is found out about a skill: what its code says about itself, and whether its tests pass.
//!
//! Python is read by a program of ours in the sandbox, TypeScript as programs are before they run. Tests are
//! programs in the language of their skill.

use gristmill_checks::typescript::module_facts;
use gristmill_domain::policy::Seen;
use gristmill_domain::skills::{CodeFacts, SkillFiles, SkillLanguage, SkillName};
use gristmill_domain::{Code, one_line};
use gristmill_protocol::EngineId;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::SkillError;
use super::in_background;
use super::sandbox::{SandboxProgram, SkillSandbox};
use super::test_source::{self, is_example_assert};
use super::view::FrozenSkills;
use crate::ids::Caller;
use crate::language::engine_of_skill;
use crate::ports::Writes;

/// Parsing is quick; a source that takes longer is made to.
const INSPECTION_MS_MAX: u64 = 10_000;

/// A test is an example, not a job. The gateway's own wall time may be shorter.
const TEST_MS_MAX: u64 = 60_000;

/// Words of a failed test.
const MESSAGE_CHARS_MAX: usize = 600;

const INSPECT: &str = include_str!("programs/inspect.py");

/// Runs our programs about skills, and understands what comes of them.
pub(super) struct Inspector<'a>(pub &'a dyn SkillSandbox);

#[derive(Deserialize)]
struct Inspected {
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

impl Inspector<'_> {
    /// What the code says about itself, without running it.
    pub async fn inspect(&self, language: SkillLanguage, code: &str) -> Result<CodeFacts, SkillError> {
        match language {
            SkillLanguage::Python => self.inspect_python(code).await,
            SkillLanguage::TypeScript => inspect_typescript(code).await,
        }
    }

    async fn inspect_python(&self, code: &str) -> Result<CodeFacts, SkillError> {
        let language = SkillLanguage::Python;
        let program = SandboxProgram {
            engine: EngineId::Python,
            code: INSPECT.to_owned(),
            context: Map::from_iter([("source".to_owned(), Value::from(code))]),
            wall_ms_max: INSPECTION_MS_MAX,
            skills: FrozenSkills::default(),
            recorded: None,
            seen: Seen::default(),
            writes: Writes::Sent,
        };
        let report = self.0.run(program).await;
        match (report.result, report.error) {
            (Some(result), None) => {
                let unreadable = |error: serde_json::Error| SkillError::Unchecked(error.to_string());
                let inspected: Inspected = serde_json::from_value(result).map_err(unreadable)?;
                match inspected.error {
                    Some(SyntaxTold { message, line }) => {
                        let message = one_line(&message, MESSAGE_CHARS_MAX);
                        Err(SkillError::Syntax { language, message, line })
                    }
                    None => Ok(inspected.facts),
                }
            }
            (_, Some(error)) if is_ours(error.code) => Err(SkillError::Unchecked(error.message)),
            (_, Some(error)) => Err(SkillError::Syntax {
                language,
                message: format!(
                    "it is too much to be read: {}",
                    one_line(&error.message, MESSAGE_CHARS_MAX)
                ),
                line: None,
            }),
            (None, None) => Err(SkillError::Unchecked("it gave no result".to_owned())),
        }
    }

    /// Runs every test of a skill, which finds the skills it is given. Each is a program of whoever saves,
    /// with real tools and by the same rules, so it is in the history as one.
    pub async fn test(
        &self,
        name: &SkillName,
        files: &SkillFiles,
        skills: FrozenSkills,
        (caller, seen): (&Caller, &Seen),
        writes: &Writes,
    ) -> Result<(), SkillError> {
        let language = files.language(name)?;
        for (file, test) in files.tests(language) {
            let note = format!("this is {file}, a test of the skill {name}");
            let program = SandboxProgram {
                engine: engine_of_skill(language),
                code: test_source::program(name, language, test),
                context: Map::new(),
                wall_ms_max: TEST_MS_MAX,
                skills: skills.clone(),
                recorded: Some((caller.clone(), note)),
                seen: seen.clone(),
                writes: writes.clone(),
            };
            let report = self.0.run(program).await;
            if let Some(error) = report.error {
                if is_ours(error.code) {
                    return Err(SkillError::Unchecked(error.message));
                }
                let line = error.line.map(|line| line.saturating_sub(test_source::LINES_BEFORE));
                let line = line.filter(|line| *line > 0);
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
}

async fn inspect_typescript(code: &str) -> Result<CodeFacts, SkillError> {
    let code = code.to_owned();
    let facts = in_background(move || module_facts(&code)).await;
    let facts = facts.ok_or_else(|| SkillError::Unchecked("it was interrupted".to_owned()))?;
    facts.map_err(|finding| {
        let hint = finding.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        let message = one_line(&format!("{}{hint}", finding.message), MESSAGE_CHARS_MAX);
        SkillError::Syntax { language: SkillLanguage::TypeScript, message, line: Some(finding.line) }
    })
}

/// What happened, with the line of the test where the message alone says nothing.
fn told(message: &str, kind: &str, test: &str, line: Option<u64>) -> String {
    let message = one_line(message, MESSAGE_CHARS_MAX);
    let source = line.and_then(|line| test.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?));
    match source {
        Some(source) if kind == "exception" && !is_example_assert(source) => {
            format!("{message}: `{}`", one_line(source, 160))
        }
        Some(_) | None => message,
    }
}

/// Whether it says nothing about the skill.
fn is_ours(code: Code) -> bool {
    matches!(
        code,
        Code::WorkerUnavailable
            | Code::WorkerLost
            | Code::WorkerMisbehaved
            | Code::NodeLost
            | Code::NoNode
            | Code::NotShared
            | Code::Busy
            | Code::Cancelled
    )
}
