//! What a program asks of skills: to list, to save, to delete. Reading needs nobody: the files are there,
//! unless its interpreter is older than they are.

use std::sync::Arc;

use gristmill_checks::typescript::prepare_module;
use gristmill_domain::skills::SkillLanguage;
use gristmill_domain::{ToolAnswer, one_line};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

use super::changes::DeletedSkill;
use super::error::SkillError;
use super::listing::{ListQuery, listed};
use super::save::{SaveRequest, SavedSkill};
use super::skill::{Skill, Standing};
use super::test_source::SkillTest;
use super::view::{FrozenSkills, SkillsView};
use super::{SkillOffer, Skills, in_background};
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
    /// What it imports, and what it saves.
    language: SkillLanguage,
    frozen: FrozenSkills,
    now: Mutex<Option<Arc<SkillsView>>>,
    /// Who reads what is loaded.
    reader: Option<(Caller, Skills)>,
}

impl ProgramSkills {
    pub fn new(may_change: MayChange, frozen: FrozenSkills) -> Self {
        Self { may_change, frozen, ..Self::default() }
    }

    /// For a program in this language.
    pub fn in_language(self, language: SkillLanguage) -> Self {
        Self { language, ..self }
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
                        let language = Some(self.language);
                        let said = SaveRequest { description, tags, test, ..SaveRequest::default() };
                        self.save(SaveRequest { name, code, language, ..said }).await
                    }
                    Err(error) => Err(error),
                }
            }
            Action::Delete => self.delete(&name).await,
            Action::Names => {
                let view = self.view();
                let importable = view.usable().filter(|skill| skill.language == self.language);
                let names: Vec<&str> = importable.map(|skill| skill.name.as_str()).collect();
                Ok(json!({"names": names}))
            }
            Action::Load => match self.language {
                SkillLanguage::Python => Ok(self.load_source(&name).await),
                SkillLanguage::TypeScript => self.load_module(&name).await,
            },
        };
        outcome.map(ToolAnswer::from).map_err(|error| match error {
            SkillError::Disk { .. } | SkillError::Store(_) | SkillError::Unchecked(_) => {
                ToolFailure::Upstream { code: error.code(), message: error.to_string(), retry_safe: true }
            }
            SkillError::TestFailed { .. } | SkillError::Syntax { .. } => ToolFailure::Said(error.to_string()),
            SkillError::NotAllowed(_) => {
                ToolFailure::Refused { code: error.code(), message: error.to_string() }
            }
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

    /// For an interpreter that is older than the skills. What isn't Python has no code that it can import.
    async fn load_source(&self, name: &str) -> Value {
        // Also one that it did not find when it began: whoever loads it has read it.
        let view = match &self.reader {
            Some((_, skills)) => skills.look().await,
            None => self.view(),
        };
        let found = view.usable().find(|skill| skill.name.as_str() == name);
        if let Some(skill) = found {
            self.note_load(skill).await;
        }
        let (source, language) = (found.map(Skill::code), found.map(|skill| skill.language));
        let code = source.filter(|_| language == Some(SkillLanguage::Python));
        json!({"code": code, "source": source, "language": language})
    }

    /// A skill as a module: JavaScript, and the source that it was made of.
    async fn load_module(&self, name: &str) -> Result<Value, SkillError> {
        let mut view = self.view();
        let usable =
            |view: &SkillsView| view.find(name).is_some_and(|skill| skill.standing == Standing::Usable);
        if let (false, Some((_, skills))) = (usable(&view), &self.reader) {
            // Made from marked data: whoever loads it has read that.
            view = skills.look().await;
        }
        let Some(skill) = view.find(name) else {
            return Err(SkillError::Unknown { name: one_line(name, 64), nearest: view.nearest(name) });
        };
        if skill.standing == Standing::Waiting {
            return Err(SkillError::Waiting(skill.name.to_string()));
        }
        if skill.language != SkillLanguage::TypeScript {
            return Err(SkillError::Bad(format!(
                "the skill `{0}` is written in {1}, so only {1} programs import it; readFile(\"/skills/{0}.{2}\") reads its source",
                skill.name,
                skill.language,
                skill.language.extension(),
            )));
        }
        self.note_load(skill).await;
        let source = skill.code().to_owned();
        let made = in_background(move || prepare_module(&source)).await;
        let made = made.ok_or_else(|| SkillError::Unchecked("the gateway is closing".to_owned()))?;
        let code = made.map_err(|finding| {
            let (name, language, line) = (&skill.name, skill.language, finding.line);
            let why = &finding.message;
            SkillError::Bad(format!(
                "the skill `{name}` can't be imported: it isn't valid {language}: {why} (line {line})"
            ))
        })?;
        Ok(json!({
            "name": skill.name.as_str(),
            "language": skill.language,
            "code": code,
            "source": skill.code(),
        }))
    }

    async fn note_load(&self, skill: &Skill) {
        if let Some((reader, skills)) = &self.reader {
            skills.note_read(reader, &skill.seen).await;
        }
    }

    fn changeable(&self) -> Result<(&Caller, &Skills), SkillError> {
        match &self.may_change {
            MayChange::As(caller, skills) => Ok((caller, skills)),
            MayChange::NotThisCaller => Err(SkillError::NotAllowed(
                "all callers share them, so saving and deleting needs a token with the scope `admin`; use the code in this program instead",
            )),
            MayChange::NotInDryRun => Err(SkillError::ReadOnly(
                "a dry run, its plan and a program that may only read save and delete no skills",
            )),
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
