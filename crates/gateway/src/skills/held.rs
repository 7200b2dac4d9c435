//! Changes that wait for a person: what an agent would do to a skill that is not its own.
//!
//! All callers import the same skills, so whoever changes one puts code into the programs of others. A
//! name is held by whoever saved it first. That agent changes its skill freely and a person changes every
//! skill; what anybody else saves, brings back or deletes waits here, and the version in use stays.
//!
//! Walls: an approval is for exactly the files that were shown, over exactly the files that they replace,
//! and doesn't hand the name over unless the person says so.

use gristmill_domain::skills::{SkillFiles, SkillName};

use super::Skills;
use super::changes::{ChangeLock, NewVersion, renumbered};
use super::error::SkillError;
use super::holder::Change;
use super::skill::SkillPlace;
use crate::store::{PROPOSALS_MAX, SavedHow, SkillProposal};

/// A change that waits, with what it would replace.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldChange {
    pub name: SkillName,
    pub place: SkillPlace,
    /// What is in use; none if the skill is gone meanwhile.
    pub current: Option<SkillFiles>,
    pub proposal: SkillProposal,
}

/// Who has the name from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandOver {
    /// Whoever has it now: the next change of the same agent waits again.
    No,
    /// The agent whose change is approved.
    Yes,
}

impl Skills {
    /// Keeps a change until a person decides. Whoever calls holds the lock.
    pub(super) async fn hold(
        &self,
        _lock: &ChangeLock,
        place: SkillPlace,
        change: Change,
    ) -> Result<(), SkillError> {
        let Change { name, files, facts, origin, how } = change;
        let hash = match how {
            SavedHow::Deleted => String::new(),
            SavedHow::Saved | SavedHow::Edited | SavedHow::RolledBack => files.hash(),
        };
        let proposal = SkillProposal {
            folder: self.key_of(place).unwrap_or_default(),
            name: name.as_str().to_owned(),
            hash,
            files,
            facts,
            origin,
            how,
            proposed_ms: self.inner.store.now_ms(),
        };
        match self.inner.store.propose_skill(proposal).await? {
            true => Ok(()),
            false => Err(SkillError::TooManyHeld(PROPOSALS_MAX)),
        }
    }

    /// Every change that waits for a person, by name.
    pub async fn held(&self) -> Result<Vec<HeldChange>, SkillError> {
        let mut held = Vec::new();
        for place in [SkillPlace::User, SkillPlace::Project] {
            let Some(folder) = self.key_of(place) else { continue };
            for proposal in self.inner.store.skill_proposals(&folder).await? {
                let Ok(name) = SkillName::new(&proposal.name) else { continue };
                let current = self.files_of(place, &name).await?;
                held.push(HeldChange { name, place, current, proposal });
            }
        }
        held.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(held)
    }

    /// A person says yes to a change as it was shown. The version that is in use now.
    pub async fn approve_held(&self, shown: &HeldChange, hand_over: HandOver) -> Result<i64, SkillError> {
        let HeldChange { name, place, proposal, .. } = shown;
        let lock = self.lock().await?;
        let now = self.inner.store.skill_proposal(&proposal.folder, name.as_str(), &proposal.origin).await?;
        let (there, latest) = self.latest_on_disk(&lock, *place, name).await?;
        if now.as_ref() != Some(proposal) || there != shown.current {
            return Err(SkillError::Bad(format!(
                "`{name}` has changed since it was shown; look at it again"
            )));
        }
        let current = latest.as_ref().map_or(0, |latest| latest.version);
        let holder = match (hand_over, latest.filter(|_| there.is_some())) {
            (HandOver::Yes, _) => proposal.origin.holder(),
            (HandOver::No, latest) => latest.and_then(|latest| latest.holder),
        };
        let number = match proposal.how {
            SavedHow::Deleted if there.is_none() => current,
            SavedHow::Deleted => {
                self.remove(&lock, *place, name, &proposal.origin).await?;
                current + 1
            }
            SavedHow::Saved | SavedHow::Edited | SavedHow::RolledBack => {
                let facts = proposal.facts.clone();
                // A kill may have come between the last yes and its note.
                if there.as_ref() == Some(&renumbered(&proposal.files, facts.as_ref(), name, current)?) {
                    current
                } else {
                    let files = renumbered(&proposal.files, facts.as_ref(), name, current + 1)?;
                    let (name, how) = (name.clone(), proposal.how);
                    let origin = proposal.origin.clone().approved();
                    let new = NewVersion { name, files, facts, origin, holder, how };
                    self.write_version(&lock, *place, new, current + 1).await?;
                    current + 1
                }
            }
        };
        self.inner.store.settle_skill_proposal(proposal).await?;
        drop(lock);
        self.look_again().await;
        Ok(number)
    }

    /// A person says no to a change as it was shown.
    pub async fn reject_held(&self, shown: &HeldChange) -> Result<(), SkillError> {
        Ok(self.inner.store.settle_skill_proposal(&shown.proposal).await?)
    }
}
