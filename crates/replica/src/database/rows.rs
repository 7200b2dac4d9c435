//! Whether a database holds anything that somebody would miss.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::DatabaseError;

/// Whether any of these tables has a row. A table that isn't there has none, and neither has a database that isn't.
pub fn has_rows(database: &Path, tables: &[&str]) -> Result<bool, DatabaseError> {
    if !database.exists() {
        return Ok(false);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    for table in tables {
        let known = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)";
        let is_there: bool = connection.query_row(known, [table], |row| row.get(0))?;
        let any = format!("SELECT EXISTS (SELECT 1 FROM \"{}\")", table.replace('"', "\"\""));
        if is_there && connection.query_row(&any, (), |row| row.get(0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rows_of_the_tables_that_are_asked_for_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("a.db");
        assert!(!has_rows(&database, &["kept"]).expect("no database"));
        assert!(!database.exists());
        let connection = Connection::open(&database).expect("a database");
        let tables = "CREATE TABLE kept (x); CREATE TABLE other (x); INSERT INTO other VALUES (1);";
        connection.execute_batch(tables).expect("tables");
        assert!(!has_rows(&database, &["kept", "never"]).expect("empty"));
        connection.execute_batch("INSERT INTO kept VALUES (1)").expect("a row");
        assert!(has_rows(&database, &["never", "kept"]).expect("a row"));
    }
}
