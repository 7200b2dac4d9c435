//! Modules that saved code imports, and with it every program that imports that code.

use std::collections::BTreeSet;

use gristmill_checks::imported;
use gristmill_domain::skills::SkillLanguage;

use super::skill::{Skill, Standing};
use super::view::SkillsView;

/// A module, and the skill that imports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NeededModule {
    pub module: String,
    pub skill: String,
}

impl SkillsView {
    /// What the Python skills of these names import, and those that they import in turn.
    pub(crate) fn modules_needed_by(&self, mut names: BTreeSet<String>) -> Vec<NeededModule> {
        let (mut read, mut needed) = (BTreeSet::new(), Vec::new());
        while let Some(name) = names.pop_first() {
            let is_meant = |skill: &&Skill| {
                skill.standing == Standing::Usable && skill.language == SkillLanguage::Python
            };
            let Some(skill) = self.find(&name).filter(is_meant) else { continue };
            if !read.insert(skill.name.as_str()) {
                continue;
            }
            let found = imported(skill.code());
            let of_skill = |module| NeededModule { module, skill: skill.name.as_str().to_owned() };
            needed.extend(found.modules.into_iter().map(of_skill));
            names.extend(found.skills);
        }
        needed
    }
}
