//! One skill as it is at one moment: where it lies, whether it can be used, what is known of it.

use std::borrow::Cow;

use gristmill_domain::catalogue::{Lookup, fold};
use gristmill_domain::one_line;
use gristmill_domain::policy::Seen;
use gristmill_domain::skills::{
    CodeFacts, SKILL_FILE, SkillFiles, SkillLanguage, SkillMd, SkillName, ToolDrift, described_by, drift,
};

use super::folder::{FoundSkill, Problem};
use crate::store::{SavedHow, SkillVersion};

/// Where a skill lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkillPlace {
    /// In the user's own folder.
    User,
    /// In the project's folder, which wins.
    Project,
}

impl SkillPlace {
    pub fn as_str(self) -> &'static str {
        match self {
            SkillPlace::User => "user",
            SkillPlace::Project => "project",
        }
    }
}

/// Whether a skill can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It can be imported.
    Usable,
    /// It is a project's, and the user has not said yes to it.
    Waiting,
    /// The project has one of the same name, which wins.
    Hidden,
}

#[derive(Clone, Debug)]
pub struct Skill {
    pub name: SkillName,
    /// What its code is written in.
    pub language: SkillLanguage,
    pub place: SkillPlace,
    /// Whether it can be used.
    pub standing: Standing,
    /// Its number in the history; 0 if that could not be read.
    pub version: i64,
    pub hash: String,
    pub files: SkillFiles,
    /// When this version came to be, in unix milliseconds.
    pub saved_ms: i64,
    pub saved_by: String,
    /// How this version came to be.
    pub how: SavedHow,
    /// What was read out of its code, if it was.
    pub known_facts: Option<CodeFacts>,
    /// Which marked data the agent had read that saved it.
    pub seen: Seen,
    md: SkillMd,
}

impl Skill {
    pub(super) fn new(
        found: FoundSkill,
        place: SkillPlace,
        latest: Option<&SkillVersion>,
    ) -> Result<Self, Problem> {
        let FoundSkill { name, files } = found;
        let wrong = |why: String| Problem { name: name.as_str().to_owned(), why };
        let md = files.get(SKILL_FILE).map(SkillMd::parse).transpose();
        let md = md.map_err(|error| wrong(format!("{SKILL_FILE}: {error}")))?.unwrap_or_default();
        if let Some(said) = md.front.text("name").filter(|said| fold(said) != name.folded()) {
            let said = one_line(&said, 64);
            return Err(wrong(format!("its {SKILL_FILE} calls it `{said}`; folder and name must agree")));
        }
        let language = files.language(&name).map_err(|error| wrong(error.to_string()))?;
        let hash = files.hash();
        let latest = latest.filter(|latest| latest.hash == hash);
        Ok(Self {
            language,
            place,
            standing: Standing::Usable,
            version: latest.map_or(0, |latest| latest.version),
            saved_ms: latest.map_or(0, |latest| latest.saved_ms),
            saved_by: latest.map_or_else(String::new, |latest| latest.saved_by.clone()),
            how: latest.map_or(SavedHow::Edited, |latest| latest.how),
            known_facts: latest.and_then(|latest| latest.facts.clone()),
            seen: latest.and_then(|latest| Some(latest.origin.as_ref()?.seen())).unwrap_or_default(),
            name,
            hash,
            files,
            md,
        })
    }

    pub fn code(&self) -> &str {
        self.files.code(&self.name).unwrap_or_default()
    }

    /// What it is for, on one line.
    pub fn description(&self) -> String {
        let said = self.md.description();
        match &self.known_facts {
            Some(facts) if said.is_empty() => described_by(&self.name, facts),
            Some(_) | None => said,
        }
    }

    pub fn tags(&self) -> Vec<String> {
        self.md.tags()
    }

    /// What describes it, as it is shown to programs.
    pub fn usage(&self) -> String {
        self.md.render()
    }

    /// What was read out of its code; as much as its `SKILL.md` says, if nobody has read it.
    pub fn facts(&self) -> Cow<'_, CodeFacts> {
        match &self.known_facts {
            Some(facts) => Cow::Borrowed(facts),
            None => Cow::Owned(CodeFacts { language: self.language, ..CodeFacts::default() }),
        }
    }

    /// Why it cannot be imported although it may be: its code has a mistake. None if nobody has read it yet.
    pub fn broken(&self) -> Option<&str> {
        self.known_facts.as_ref()?.broken.as_deref()
    }

    /// What it needs and does not find as it was.
    pub fn drift(&self, lookup: Option<&Lookup>) -> Vec<ToolDrift> {
        lookup.map(|lookup| drift(&self.facts(), lookup)).unwrap_or_default()
    }
}
