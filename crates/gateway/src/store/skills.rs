//! The history of skills, and which of a project's were approved.

use std::collections::BTreeMap;

use gristmill_domain::skills::{CodeFacts, SkillFiles};
use rusqlite::{OptionalExtension, Row, params};

use super::skill_origin::SkillOrigin;
use super::{Reply, Store, StoreError};

/// Versions of one skill that are kept: further back than anyone goes, and bounded.
const VERSIONS_KEPT: i64 = 50;

/// How a version came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedHow {
    Saved,
    /// Found in the folder: somebody edited it, or git did.
    Edited,
    /// An earlier version brought back.
    RolledBack,
    /// Deleted; the versions before are kept.
    Deleted,
}

impl SavedHow {
    /// For people, and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            SavedHow::Saved => "saved",
            SavedHow::Edited => "edited by hand",
            SavedHow::RolledBack => "rolled back",
            SavedHow::Deleted => "deleted",
        }
    }

    /// The same with who did it, where that is known.
    pub fn told(self, by: &str) -> String {
        match self {
            SavedHow::Edited => self.as_str().to_owned(),
            SavedHow::Saved | SavedHow::RolledBack | SavedHow::Deleted => {
                format!("{} by {by}", self.as_str())
            }
        }
    }

    pub(super) fn read(text: &str) -> Self {
        let all = [SavedHow::Saved, SavedHow::RolledBack, SavedHow::Deleted];
        all.into_iter().find(|how| how.as_str() == text).unwrap_or(SavedHow::Edited)
    }
}

/// One version of one skill.
#[derive(Clone, Debug, PartialEq)]
pub struct SkillVersion {
    /// Where it is: `user` for the user's own folder, the path of a project's.
    pub folder: String,
    pub name: String,
    pub version: i64,
    /// Of its files; empty if it was deleted.
    pub hash: String,
    pub files: SkillFiles,
    /// What was read out of its code, if it was.
    pub facts: Option<CodeFacts>,
    /// When, in unix milliseconds.
    pub saved_ms: i64,
    pub saved_by: String,
    pub how: SavedHow,
    /// Where it came from; none if it was edited by hand, or saved before that was noted.
    pub origin: Option<SkillOrigin>,
    /// Which agent has the name; none if a person does.
    pub holder: Option<String>,
}

impl SkillVersion {
    /// How it came to be, by whom and from where, as far as that is known.
    pub fn told(&self) -> String {
        self.how.told(&self.origin.as_ref().map_or_else(|| self.saved_by.clone(), SkillOrigin::told))
    }
}

const COLUMNS: &str = "folder, name, version, hash, files, facts, saved_ms, saved_by, how, origin, holder";

impl Store {
    /// The latest version of every skill of a folder, deleted ones among them.
    pub(crate) fn latest_skills(&self, folder: &str) -> Reply<Vec<SkillVersion>> {
        let folder = folder.to_owned();
        self.run(move |connection| {
            let mut look = connection.prepare(&format!(
                "SELECT {COLUMNS} FROM skill_versions AS one WHERE folder = ?1 AND version =
                 (SELECT max(version) FROM skill_versions AS other WHERE other.folder = one.folder AND other.name = one.name)"
            ))?;
            let found = look.query_map([folder], version_of)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// The versions of one skill, the latest first.
    pub(crate) fn skill_history(&self, folder: &str, name: &str) -> Reply<Vec<SkillVersion>> {
        let (folder, name) = (folder.to_owned(), name.to_owned());
        self.run(move |connection| {
            let mut look = connection.prepare(&format!(
                "SELECT {COLUMNS} FROM skill_versions WHERE folder = ?1 AND name = ?2 ORDER BY version DESC"
            ))?;
            let found = look.query_map([folder, name], version_of)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    /// The latest version of one skill.
    pub(crate) fn latest_skill(&self, folder: &str, name: &str) -> Reply<Option<SkillVersion>> {
        let (folder, name) = (folder.to_owned(), name.to_owned());
        self.run(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM skill_versions WHERE folder = ?1 AND name = ?2 ORDER BY version DESC LIMIT 1"
            );
            Ok(connection.query_row(&sql, [folder, name], version_of).optional()?)
        })
    }

    /// Adds a version. Those that are older than the kept ones go.
    pub(crate) fn add_skill_version(&self, new: SkillVersion) -> Reply<()> {
        self.change(move |transaction| {
            let files: BTreeMap<&str, &str> = new.files.iter().collect();
            let files = as_json(&files)?;
            let facts = new.facts.as_ref().map(as_json).transpose()?;
            let origin = new.origin.as_ref().map(as_json).transpose()?;
            transaction.execute(
                &format!(
                    "INSERT INTO skill_versions ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"
                ),
                params![
                    new.folder,
                    new.name,
                    new.version,
                    new.hash,
                    files,
                    facts,
                    new.saved_ms,
                    new.saved_by,
                    new.how.as_str(),
                    origin,
                    new.holder
                ],
            )?;
            transaction.execute(
                "DELETE FROM skill_versions WHERE folder = ?1 AND name = ?2 AND version <= ?3",
                params![new.folder, new.name, new.version - VERSIONS_KEPT],
            )?;
            let begun = "DELETE FROM skills_begun WHERE folder = ?1 AND name = ?2";
            transaction.execute(begun, params![new.folder, new.name])?;
            Ok(())
        })
    }

    /// Notes what was read out of a version's code.
    pub(crate) fn set_skill_facts(
        &self,
        folder: &str,
        name: &str,
        version: i64,
        facts: &CodeFacts,
    ) -> Reply<()> {
        let (folder, name, facts) = (folder.to_owned(), name.to_owned(), as_json(facts));
        self.change(move |transaction| {
            let facts = facts?;
            transaction.execute(
                "UPDATE skill_versions SET facts = ?4 WHERE folder = ?1 AND name = ?2 AND version = ?3",
                params![folder, name, version, facts],
            )?;
            Ok(())
        })
    }

    /// From now on a skill with this content may be used.
    pub(crate) fn approve_skill(&self, folder: &str, name: &str, hash: &str, now_ms: i64) -> Reply<()> {
        let (folder, name, hash) = (folder.to_owned(), name.to_owned(), hash.to_owned());
        self.change(move |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO skill_approvals (folder, name, hash, approved_ms) VALUES (?1, ?2, ?3, ?4)",
                params![folder, name, hash, now_ms],
            )?;
            // As many as there are versions: the oldest are forgotten.
            transaction.execute(
                "DELETE FROM skill_approvals WHERE folder = ?1 AND name = ?2 AND hash NOT IN
                 (SELECT hash FROM skill_approvals WHERE folder = ?1 AND name = ?2 ORDER BY approved_ms DESC LIMIT ?3)",
                params![folder, name, VERSIONS_KEPT],
            )?;
            Ok(())
        })
    }

    /// Differs whenever something was approved in a folder.
    pub(crate) fn skill_approvals_mark(&self, folder: &str) -> Reply<(i64, i64)> {
        let folder = folder.to_owned();
        self.run(move |connection| {
            let sql = "SELECT count(*), coalesce(max(approved_ms), 0) FROM skill_approvals WHERE folder = ?1";
            Ok(connection.query_row(sql, [folder], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })
    }

    /// Names and hashes that were approved in a folder.
    pub(crate) fn approved_skills(&self, folder: &str) -> Reply<Vec<(String, String)>> {
        let folder = folder.to_owned();
        self.run(move |connection| {
            let mut look = connection.prepare("SELECT name, hash FROM skill_approvals WHERE folder = ?1")?;
            let found = look.query_map([folder], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

pub(super) fn as_json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Other(error.to_string()))
}

/// Files as they are kept.
pub(super) fn files_of(json: &str) -> SkillFiles {
    let texts: BTreeMap<String, String> = serde_json::from_str(json).unwrap_or_default();
    let mut files = SkillFiles::default();
    for (name, text) in &texts {
        // Only files that passed this very check were written.
        let _ = files.put(name, text);
    }
    files
}

/// What cannot be read any more is as good as nothing: the row still counts.
fn version_of(row: &Row<'_>) -> rusqlite::Result<SkillVersion> {
    let files = files_of(&row.get::<_, String>(4)?);
    let origin = row.get::<_, Option<String>>(9)?.and_then(|text| serde_json::from_str(&text).ok());
    let facts = row.get::<_, Option<String>>(5)?.and_then(|text| serde_json::from_str(&text).ok());
    Ok(SkillVersion {
        folder: row.get(0)?,
        name: row.get(1)?,
        version: row.get(2)?,
        hash: row.get(3)?,
        files,
        facts,
        saved_ms: row.get(6)?,
        saved_by: row.get(7)?,
        how: SavedHow::read(&row.get::<_, String>(8)?),
        origin,
        holder: row.get(10)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: i64) -> SkillVersion {
        let mut files = SkillFiles::default();
        files.put("a.py", &format!("x = {number}")).expect("a file");
        SkillVersion {
            folder: "/skills".to_owned(),
            name: "a".to_owned(),
            version: number,
            hash: files.hash(),
            files,
            facts: Some(CodeFacts { doc: "Does.".to_owned(), ..CodeFacts::default() }),
            saved_ms: number,
            saved_by: "local".to_owned(),
            how: SavedHow::Saved,
            origin: Some(SkillOrigin::Person),
            holder: None,
        }
    }

    #[tokio::test]
    async fn a_version_comes_back_as_it_was_and_only_the_last_ones_are_kept() {
        let store = Store::in_memory().expect("a store");
        for number in 1..=VERSIONS_KEPT + 3 {
            store.add_skill_version(version(number)).await.expect("a version");
        }
        let kept = store.skill_history("/skills", "a").await.expect("a history");
        assert_eq!(kept.len() as i64, VERSIONS_KEPT);
        assert_eq!(kept[0], version(VERSIONS_KEPT + 3));
        assert_eq!(store.latest_skills("/skills").await.expect("all"), [version(VERSIONS_KEPT + 3)]);
        assert_eq!(store.latest_skills("/other").await.expect("none"), []);
        assert!(store.add_skill_version(version(VERSIONS_KEPT)).await.is_err(), "no version is replaced");
    }
}
