//! Saves of skills whose files are being written.

use rusqlite::{OptionalExtension, Row, params};

use super::skill_origin::SkillOrigin;
use super::skills::{SavedHow, as_json};
use super::{Reply, Store};

/// Who is about to write which files.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BegunSave {
    pub folder: String,
    pub name: String,
    /// Of the files.
    pub hash: String,
    pub how: SavedHow,
    pub origin: SkillOrigin,
    /// Which agent has the name; none if a person does.
    pub holder: Option<String>,
}

impl Store {
    /// Notes a save before its files are written. The version that follows takes the note away.
    pub(crate) fn begin_skill(&self, begun: BegunSave) -> Reply<()> {
        self.change(move |transaction| {
            transaction.execute(
                "INSERT OR REPLACE INTO skills_begun (folder, name, hash, how, origin, holder)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    begun.folder,
                    begun.name,
                    begun.hash,
                    begun.how.as_str(),
                    as_json(&begun.origin)?,
                    begun.holder
                ],
            )?;
            Ok(())
        })
    }

    /// The save that wrote exactly these files, and did not live to say so.
    pub(crate) fn begun_skill(&self, folder: &str, name: &str, hash: &str) -> Reply<Option<BegunSave>> {
        let (folder, name, hash) = (folder.to_owned(), name.to_owned(), hash.to_owned());
        self.run(move |connection| {
            let sql = "SELECT folder, name, hash, how, origin, holder FROM skills_begun
                       WHERE folder = ?1 AND name = ?2 AND hash = ?3";
            Ok(connection.query_row(sql, [folder, name, hash], begun_of).optional()?.flatten())
        })
    }
}

/// Nothing if nobody can tell any more whose it is.
fn begun_of(row: &Row<'_>) -> rusqlite::Result<Option<BegunSave>> {
    let Ok(origin) = serde_json::from_str(&row.get::<_, String>(4)?) else { return Ok(None) };
    Ok(Some(BegunSave {
        folder: row.get(0)?,
        name: row.get(1)?,
        hash: row.get(2)?,
        how: SavedHow::read(&row.get::<_, String>(3)?),
        origin,
        holder: row.get(5)?,
    }))
}
