//! What a program asks of skills: to list, to save, to delete. Reading needs nobody: the files are there.

use std::sync::{Arc, Mutex, PoisonError};

use gristmill_domain::ToolAnswer;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::SkillError;
use super::listing::{ListQuery, listed};
use super::save::{SaveRequest, SavedSkill, SkillTest};
use super::view::{FrozenSkills, SkillsView};
use super::{SkillOffer, Skills};
use crate::ports::{ToolFailure, Tools};

/// Who saves, where a program does.
const BY_A_PROGRAM: &str = "a program";

/// One request.
#[derive(Debug, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum SkillCall {
    /// Which there are.
    List {
        #[serde(default)]
        query: String,
        #[serde(default)]
        tags: Vec<String>,
        #[serde(default)]
        line: Option<u64>,
    },
    /// A new one, or a new version.
    Save {
        name: String,
        code: String,
        #[serde(default)]
        description: Option<String>,
        #[serde(default)]
        tags: Option<Vec<String>>,
        #[serde(default)]
        test: Option<Value>,
        #[serde(default)]
        line: Option<u64>,
    },
    /// Away with it.
    Delete {
        name: String,
        #[serde(default)]
        line: Option<u64>,
    },
}

impl SkillCall {
    /// Under which it is reported.
    pub fn name(&self) -> &'static str {
        match self {
            SkillCall::List { .. } => "list_skills",
            SkillCall::Save { .. } => "save_skill",
            SkillCall::Delete { .. } => "delete_skill",
        }
    }

    /// The program's line.
    pub fn line(&self) -> Option<u64> {
        match self {
            SkillCall::List { line, .. } | SkillCall::Save { line, .. } | SkillCall::Delete { line, .. } => {
                *line
            }
        }
    }
}

/// The skills of one execution: those of when it began, and what it does itself.
#[derive(Default)]
pub(crate) struct ProgramSkills {
    /// None where nothing can be changed: without skills, and in programs of ours.
    skills: Option<Skills>,
    frozen: FrozenSkills,
    now: Mutex<Option<Arc<SkillsView>>>,
}

impl ProgramSkills {
    pub fn new(skills: Option<Skills>, frozen: FrozenSkills) -> Self {
        Self { skills, frozen, now: Mutex::default() }
    }

    pub fn frozen(&self) -> &FrozenSkills {
        &self.frozen
    }

    /// What it finds beside tools.
    pub fn offer(&self) -> Arc<SkillOffer> {
        Arc::clone(self.view().offer())
    }

    fn view(&self) -> Arc<SkillsView> {
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        now.clone().unwrap_or_else(|| Arc::clone(&self.frozen.view))
    }

    /// Does what was asked. The answer is what the guest reads.
    pub async fn answer(&self, call: SkillCall, tools: &dyn Tools) -> Result<ToolAnswer, ToolFailure> {
        let outcome = match call {
            SkillCall::List { query, tags, .. } => {
                let query = ListQuery { query, tags, ..ListQuery::default() };
                let view = self.view();
                let listed = listed(&view, &query, tools.lookup());
                Ok(json!({"text": super::listed_text(&listed), "skills": listed.values()}))
            }
            SkillCall::Save { name, code, description, tags, test, .. } => {
                let test = test.filter(|test| !test.is_null()).as_ref().map(SkillTest::from_json).transpose();
                match test {
                    Ok(test) => {
                        self.save(SaveRequest {
                            name,
                            code,
                            description,
                            tags,
                            test,
                            in_project: false,
                            by: BY_A_PROGRAM.to_owned(),
                        })
                        .await
                    }
                    Err(error) => Err(error),
                }
            }
            SkillCall::Delete { name, .. } => self.delete(&name).await,
        };
        outcome.map(ToolAnswer::from).map_err(|error| match error {
            SkillError::Disk { .. } | SkillError::Store(_) | SkillError::Unchecked(_) => {
                ToolFailure::Upstream { code: error.code(), message: error.to_string(), retry_safe: true }
            }
            SkillError::TestFailed { .. } | SkillError::Syntax { .. } => ToolFailure::Said(error.to_string()),
            SkillError::Name(_)
            | SkillError::Files(_)
            | SkillError::Md(_)
            | SkillError::Unknown { .. }
            | SkillError::NoVersion { .. }
            | SkillError::Waiting(_)
            | SkillError::Alike { .. }
            | SkillError::Bad(_)
            | SkillError::TooMany(_)
            | SkillError::ReadOnly(_) => ToolFailure::BadArguments(error.to_string()),
        })
    }

    fn changeable(&self) -> Result<&Skills, SkillError> {
        self.skills.as_ref().ok_or(SkillError::ReadOnly(
            "a test of a skill cannot change skills, and neither can a gateway that keeps none",
        ))
    }

    async fn save(&self, request: SaveRequest) -> Result<Value, SkillError> {
        let saved = self.changeable()?.save(request).await?;
        self.renew().await;
        Ok(saved.to_value())
    }

    async fn delete(&self, name: &str) -> Result<Value, SkillError> {
        let deleted = self.changeable()?.delete(name, BY_A_PROGRAM).await?;
        self.renew().await;
        let text = format!("deleted {} (v{}); its history is kept", deleted.name, deleted.version);
        Ok(json!({"text": text, "name": deleted.name.as_str()}))
    }

    async fn renew(&self) {
        if let Some(skills) = &self.skills {
            let view = skills.look().await;
            *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Some(view);
        }
    }
}

impl SavedSkill {
    /// What happened, in one line.
    pub fn text(&self) -> String {
        let tested = match self.tests {
            0 => "no test",
            _ => "its test passed",
        };
        let mut text = match self.is_unchanged {
            true => format!("{} is so already (v{})", self.name, self.version),
            false => format!("saved {} v{}, {tested}", self.name, self.version),
        };
        text.push_str(&format!("; use it in a program: {}", self.usage()));
        for note in &self.notes {
            text.push_str(&format!("; note: {note}"));
        }
        text
    }

    /// How it is imported and called.
    pub fn usage(&self) -> String {
        gristmill_domain::skills::usage_line(self.name.as_str(), &self.facts)
    }

    /// As JSON, for programs.
    pub fn to_value(&self) -> Value {
        json!({
            "text": self.text(),
            "name": self.name.as_str(),
            "version": self.version,
            "use": self.usage(),
            "notes": self.notes,
            "code": self.code,
        })
    }
}
