//! Changes of skills that wait for a person.

use std::collections::BTreeMap;

use gristmill_domain::skills::{CodeFacts, SkillFiles};
use rusqlite::{OptionalExtension, Row, params};

use super::skill_origin::SkillOrigin;
use super::skills::{SavedHow, as_json, files_of};
use super::{Reply, Store};

/// Changes that wait at the same time: more than anyone reads, and bounded.
pub(crate) const PROPOSALS_MAX: usize = 50;

/// A change that an agent would make to a skill that isn't its own.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillProposal {
    /// Where the skill is: `user` for the user's own folder, the path of a project's.
    pub folder: String,
    pub name: String,
    /// Of its files; empty to delete the skill.
    pub hash: String,
    pub files: SkillFiles,
    pub facts: Option<CodeFacts>,
    pub origin: SkillOrigin,
    /// What it would be: saved, brought back, or deleted.
    pub how: SavedHow,
    /// When, in unix milliseconds.
    pub proposed_ms: i64,
}

impl SkillProposal {
    fn proposer(&self) -> String {
        self.origin.holder().unwrap_or_default()
    }
}

const COLUMNS: &str = "folder, name, hash, files, facts, origin, how, proposed_ms";

impl Store {
    /// Keeps a change, in place of what the same agent proposed for this name before. Says whether there
    /// was room.
    pub(crate) fn propose_skill(&self, new: SkillProposal) -> Reply<bool> {
        self.change(move |transaction| {
            let proposer = new.proposer();
            let others: i64 = transaction.query_row(
                "SELECT count(*) FROM skill_proposals WHERE NOT (folder = ?1 AND name = ?2 AND proposer = ?3)",
                params![new.folder, new.name, proposer],
                |row| row.get(0),
            )?;
            if usize::try_from(others).unwrap_or(usize::MAX) >= PROPOSALS_MAX {
                return Ok(false);
            }
            let files: BTreeMap<&str, &str> = new.files.iter().collect();
            transaction.execute(
                &format!(
                    "INSERT OR REPLACE INTO skill_proposals ({COLUMNS}, proposer) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
                ),
                params![
                    new.folder,
                    new.name,
                    new.hash,
                    as_json(&files)?,
                    new.facts.as_ref().map(as_json).transpose()?,
                    as_json(&new.origin)?,
                    new.how.as_str(),
                    new.proposed_ms,
                    proposer
                ],
            )?;
            Ok(true)
        })
    }

    /// Everything that waits in a folder, the oldest first.
    pub(crate) fn skill_proposals(&self, folder: &str) -> Reply<Vec<SkillProposal>> {
        let folder = folder.to_owned();
        self.run(move |connection| {
            let mut look = connection.prepare(&format!(
                "SELECT {COLUMNS} FROM skill_proposals WHERE folder = ?1 ORDER BY name, proposed_ms, proposer"
            ))?;
            let found = look.query_map([folder], proposal_of)?;
            Ok(found.collect::<Result<Vec<Option<_>>, _>>()?.into_iter().flatten().collect())
        })
    }

    /// What waits of one agent for one name.
    pub(crate) fn skill_proposal(
        &self,
        folder: &str,
        name: &str,
        origin: &SkillOrigin,
    ) -> Reply<Option<SkillProposal>> {
        let key = (folder.to_owned(), name.to_owned(), origin.holder().unwrap_or_default());
        self.run(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM skill_proposals WHERE folder = ?1 AND name = ?2 AND proposer = ?3"
            );
            let found = connection.query_row(&sql, params![key.0, key.1, key.2], proposal_of).optional()?;
            Ok(found.flatten())
        })
    }

    /// Forgets a change: it was made, or refused. One that was proposed since stays.
    pub(crate) fn settle_skill_proposal(&self, settled: &SkillProposal) -> Reply<()> {
        let key = (settled.folder.clone(), settled.name.clone(), settled.proposer());
        let (hash, proposed_ms) = (settled.hash.clone(), settled.proposed_ms);
        self.change(move |transaction| {
            transaction.execute(
                "DELETE FROM skill_proposals WHERE folder = ?1 AND name = ?2 AND proposer = ?3 \
                 AND hash = ?4 AND proposed_ms = ?5",
                params![key.0, key.1, key.2, hash, proposed_ms],
            )?;
            Ok(())
        })
    }
}

/// None if its origin cannot be read: nobody could say whose it is.
fn proposal_of(row: &Row<'_>) -> rusqlite::Result<Option<SkillProposal>> {
    let facts = row.get::<_, Option<String>>(4)?.and_then(|text| serde_json::from_str(&text).ok());
    let Ok(origin) = serde_json::from_str(&row.get::<_, String>(5)?) else { return Ok(None) };
    Ok(Some(SkillProposal {
        folder: row.get(0)?,
        name: row.get(1)?,
        hash: row.get(2)?,
        files: files_of(&row.get::<_, String>(3)?),
        facts,
        origin,
        how: SavedHow::read(&row.get::<_, String>(6)?),
        proposed_ms: row.get(7)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Caller, Owner};

    fn proposal(owner: &str, name: &str, proposed_ms: i64) -> SkillProposal {
        let mut files = SkillFiles::default();
        files.put("a.py", &format!("x = {proposed_ms}")).expect("a file");
        SkillProposal {
            folder: "user".to_owned(),
            name: name.to_owned(),
            hash: files.hash(),
            files,
            facts: None,
            origin: SkillOrigin::of(&Caller::of(Owner(owner.to_owned()))),
            how: SavedHow::Saved,
            proposed_ms,
        }
    }

    #[tokio::test]
    async fn the_last_change_of_each_agent_is_kept_and_only_so_many() {
        let store = Store::in_memory().expect("a store");
        let (first, second, other) = (proposal("a", "x", 1), proposal("a", "x", 2), proposal("b", "x", 3));
        for new in [&first, &second, &other] {
            assert!(store.propose_skill(new.clone()).await.expect("kept"));
        }
        assert_eq!(store.skill_proposals("user").await.expect("all"), [second.clone(), other.clone()]);
        // What was shown is not what waits now.
        store.settle_skill_proposal(&first).await.expect("nothing to settle");
        assert_eq!(store.skill_proposal("user", "x", &first.origin).await.expect("it waits"), Some(second));
        store.settle_skill_proposal(&other).await.expect("settled");
        for number in 1..PROPOSALS_MAX {
            let new = proposal("a", &format!("x{number}"), 4);
            assert!(store.propose_skill(new).await.expect("there is room"));
        }
        assert!(!store.propose_skill(other).await.expect("an answer"), "there is no room");
        assert!(store.propose_skill(first).await.expect("an answer"), "in place of its own");
    }
}
