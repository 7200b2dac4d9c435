//! What a program asks of skills: to list, to save, to delete. Reading needs nobody: the files are there,
//! unless its interpreter is older than they are.

use std::sync::Arc;

use gristmill_domain::ToolAnswer;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::changes::DeletedSkill;
use super::error::SkillError;
use super::listing::{ListQuery, listed};
use super::save::{SaveRequest, SavedSkill, SkillTest};
use super::view::{FrozenSkills, SkillsView};
use super::{SkillOffer, Skills};
use crate::ids::Caller;
use crate::ports::{ToolFailure, Tools};
use crate::store::SkillOrigin;

/// One request, as the guest writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillCallPayload {
    action: Action,
    #[serde(default)]
    name: String,
    #[serde(default)]
    code: String,
    #[serde(default)]
    query: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
    #[serde(default)]
    test: Option<Value>,
    #[serde(default)]
    line: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Save,
    Delete,
    /// The names of all that can be imported now.
    Names,
    /// The source of one.
    Load,
}

#[derive(Debug)]
pub(crate) struct SkillCall(SkillCallPayload);

impl SkillCall {
    /// From the guest's JSON.
    pub fn read(payload: &str) -> serde_json::Result<Self> {
        serde_json::from_str(payload).map(Self)
    }

    /// Under which it is reported.
    pub fn name(&self) -> &'static str {
        match self.0.action {
            Action::List => "list_skills",
            Action::Save => "save_skill",
            Action::Delete => "delete_skill",
            Action::Names => "list_skills",
            Action::Load => "load_skill",
        }
    }

    pub fn line(&self) -> Option<u64> {
        self.0.line
    }
}

/// Whether a program may save and delete skills.
#[derive(Default)]
pub(crate) enum MayChange {
    /// It may, as this caller: its own skills at once, others' once a person says yes.
    As(Box<Caller>, Skills),
    /// Whoever runs it may only read: skills are shared, and run in whoever imports them.
    NotThisCaller,
    /// What a dry run does is not kept, and what it could not do is in no plan.
    NotInDryRun,
    /// There is nothing to change: without skills, and in programs of ours.
    #[default]
    Nobody,
}

/// The skills of one execution: those of when it began, and what it does itself.
#[derive(Default)]
pub(crate) struct ProgramSkills {
    may_change: MayChange,
    frozen: FrozenSkills,
    now: Mutex<Option<Arc<SkillsView>>>,
    /// Who reads what is loaded.
    reader: Option<(Caller, Skills)>,
}

impl ProgramSkills {
    pub fn new(may_change: MayChange, frozen: FrozenSkills) -> Self {
        Self { may_change, frozen, now: Mutex::default(), reader: None }
    }

    /// Whoever loads skills while it runs has read what those were made from.
    pub fn read_by(self, reader: Caller, skills: Skills) -> Self {
        Self { reader: Some((reader, skills)), ..self }
    }

    pub fn frozen(&self) -> &FrozenSkills {
        &self.frozen
    }

    /// What it finds beside tools.
    pub fn offer(&self) -> Arc<SkillOffer> {
        Arc::clone(self.view().offer())
    }

    fn view(&self) -> Arc<SkillsView> {
        let now = self.now.lock();
        now.clone().unwrap_or_else(|| Arc::clone(&self.frozen.view))
    }

    /// Does what was asked. The answer is what the guest reads.
    pub async fn answer(&self, call: SkillCall, tools: &dyn Tools) -> Result<ToolAnswer, ToolFailure> {
        let SkillCallPayload { action, name, code, query, description, tags, test, .. } = call.0;
        let outcome = match action {
            Action::List => {
                let query = ListQuery { query, tags: tags.unwrap_or_default(), ..ListQuery::default() };
                let view = self.view();
                let listed = listed(&view, &query, tools.lookup());
                Ok(json!({"text": listed.text(), "skills": listed.values()}))
            }
            Action::Save => {
                let test = test.filter(|test| !test.is_null()).as_ref().map(SkillTest::from_json).transpose();
                match test {
                    Ok(test) => {
                        let request =
                            SaveRequest { name, code, description, tags, test, ..SaveRequest::default() };
                        self.save(request).await
                    }
                    Err(error) => Err(error),
                }
            }
            Action::Delete => self.delete(&name).await,
            Action::Names => {
                let view = self.view();
                let names: Vec<&str> = view.usable().map(|skill| skill.name.as_str()).collect();
                Ok(json!({"names": names}))
            }
            Action::Load => {
                // Also one that it did not find when it began: whoever loads it has read it.
                let view = match &self.reader {
                    Some((_, skills)) => skills.look().await,
                    None => self.view(),
                };
                let found = view.usable().find(|skill| skill.name.as_str() == name);
                if let (Some(skill), Some((reader, skills))) = (found, &self.reader) {
                    skills.note_load(reader, skill).await;
                }
                Ok(json!({"code": found.map(|skill| skill.code())}))
            }
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
            | SkillError::TooManyHeld(_)
            | SkillError::ReadOnly(_) => ToolFailure::BadArguments(error.to_string()),
        })
    }

    fn changeable(&self) -> Result<(&Caller, &Skills), SkillError> {
        match &self.may_change {
            MayChange::As(caller, skills) => Ok((caller, skills)),
            MayChange::NotThisCaller => Err(SkillError::ReadOnly(
                "all callers share them, so saving and deleting needs a token with the scope `admin`; use the code in this program instead",
            )),
            MayChange::NotInDryRun => {
                Err(SkillError::ReadOnly("a dry run and its plan save and delete no skills"))
            }
            MayChange::Nobody => Err(SkillError::ReadOnly(
                "a test of a skill cannot change skills, and neither can a gateway that keeps none",
            )),
        }
    }

    async fn save(&self, request: SaveRequest) -> Result<Value, SkillError> {
        let (caller, skills) = self.changeable()?;
        let (origin, caller) = (SkillOrigin::of(caller), Some(caller.clone()));
        let saved = skills.save(SaveRequest { origin, caller, ..request }).await?;
        self.renew(skills).await;
        Ok(saved.to_value())
    }

    async fn delete(&self, name: &str) -> Result<Value, SkillError> {
        let (caller, skills) = self.changeable()?;
        let DeletedSkill { skill: deleted, held } = skills.delete(name, &SkillOrigin::of(caller)).await?;
        self.renew(skills).await;
        if let Some(held) = held {
            // Without its name, or the guest would take it for gone.
            let text = format!("not deleted: {}", held.told(&deleted.name, deleted.version));
            return Ok(json!({"text": text, "name": null}));
        }
        let place = deleted.place.as_str();
        let text = format!("deleted {} (v{}, {place}); its history is kept", deleted.name, deleted.version);
        Ok(json!({"text": text, "name": deleted.name.as_str()}))
    }

    async fn renew(&self, skills: &Skills) {
        let view = match &self.reader {
            Some((reader, _)) => skills.view_for(reader).await,
            None => skills.look().await,
        };
        *self.now.lock() = Some(view);
    }
}

impl SavedSkill {
    /// What happened, in one line.
    pub fn text(&self) -> String {
        if let Some(held) = self.held {
            return format!("not saved yet: {}", held.told(&self.name, self.version));
        }
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
        if self.held.is_some() {
            // Without its code, which nothing imports yet.
            let (name, version) = (self.name.as_str(), self.version);
            return json!({"text": self.text(), "status": "waiting", "name": name, "version": version});
        }
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
