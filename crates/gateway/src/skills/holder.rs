//! Whose a skill is: who may change it without an approval.

use gristmill_domain::skills::{CodeFacts, SkillFiles, SkillName};

use super::skill::SkillPlace;
use crate::store::{SavedHow, SkillOrigin, SkillVersion};

/// Why a change waits: whose the skill is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// A person saved it, or edited it.
    Persons,
    Projects,
    /// Another agent saved it.
    AnotherAgents,
}

/// A change as it is held.
pub(super) struct Change {
    pub name: SkillName,
    pub files: SkillFiles,
    pub facts: Option<CodeFacts>,
    pub origin: SkillOrigin,
    pub how: SavedHow,
}

impl Held {
    /// What whoever made the change is told.
    pub fn told(self, name: &SkillName, version: i64) -> String {
        let whose = match self {
            Held::Persons => "it is the user's",
            Held::Projects => "it is the project's",
            Held::AnotherAgents => "another caller saved it",
        };
        format!(
            "{name} is unchanged (v{version} stays in use): {whose}, so this waits until the user runs \
             `gristmill skills approve {name}`; another name needs no approval"
        )
    }
}

/// Whose the skill is, if a change from there has to wait.
pub(super) fn whose(
    origin: &SkillOrigin,
    place: SkillPlace,
    is_there: bool,
    latest: Option<&SkillVersion>,
) -> Option<Held> {
    let agent = origin.holder()?;
    match (place, is_there, latest.and_then(|latest| latest.holder.as_ref())) {
        (SkillPlace::Project, _, _) => Some(Held::Projects),
        (SkillPlace::User, false, _) => None,
        (SkillPlace::User, true, Some(holder)) if *holder == agent => None,
        (SkillPlace::User, true, Some(_)) => Some(Held::AnotherAgents),
        (SkillPlace::User, true, None) => Some(Held::Persons),
    }
}
