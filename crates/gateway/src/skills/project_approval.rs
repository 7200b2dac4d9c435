//! A project's skills are used once the user said yes to exactly their files.

use gristmill_domain::one_line;
use gristmill_domain::skills::SkillFiles;

use super::Skills;
use super::error::SkillError;
use super::skill::{Skill, SkillPlace, Standing};
use crate::ports::AuditEvent;

/// A project's skill that waits for the user.
pub struct WaitingSkill {
    /// As it is now.
    pub skill: Skill,
    /// Its files when the user last said yes to it; none if that never was.
    pub before: Option<SkillFiles>,
}

impl Skills {
    /// What the user would say yes to.
    pub async fn waiting(&self, name: &str) -> Result<WaitingSkill, SkillError> {
        let view = self.look_again().await;
        let named = view.named(name);
        let Some(skill) = named.iter().find(|skill| skill.standing == Standing::Waiting) else {
            return Err(match named.first() {
                Some(known) => SkillError::Bad(format!("`{}` needs no approval: you can use it", known.name)),
                None => SkillError::Unknown { name: one_line(name, 64), nearest: view.nearest(name) },
            });
        };
        let before = match self.key_of(SkillPlace::Project) {
            Some(folder) => self.last_approved(&folder, skill.name.as_str()).await?,
            None => None,
        };
        Ok(WaitingSkill { skill: (*skill).clone(), before })
    }

    /// The latest version that the user said yes to: others were only found there.
    async fn last_approved(&self, folder: &str, name: &str) -> Result<Option<SkillFiles>, SkillError> {
        let approved = self.inner.store.approved_skills(folder).await?;
        let is_approved = |hash: &str| approved.iter().any(|(known, yes)| known == name && yes == hash);
        let history = self.inner.store.skill_history(folder, name).await?;
        Ok(history.into_iter().find(|known| is_approved(&known.hash)).map(|known| known.files))
    }

    /// The user says yes to a project's skill as it was shown.
    pub async fn approve(&self, shown: &Skill) -> Result<(), SkillError> {
        let now = self.waiting(shown.name.as_str()).await?.skill;
        if now.hash != shown.hash {
            let why = format!("`{}` has changed since it was shown; look at it again", shown.name);
            return Err(SkillError::Bad(why));
        }
        self.writable(SkillPlace::Project)?;
        let folder = self.key_of(SkillPlace::Project).unwrap_or_default();
        self.inner
            .store
            .approve_skill(&folder, shown.name.as_str(), &shown.hash, self.inner.store.now_ms())
            .await?;
        let approved = AuditEvent::skill_changed("approved", shown.name.as_str(), 0, &shown.hash, "local");
        self.inner.store.note(approved);
        self.look_again().await;
        Ok(())
    }
}
