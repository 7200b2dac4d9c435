//! A database as it lies in a folder becomes a copy: what stands in its log is in the file then.

use std::fs;
use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::DatabaseError;
use super::source::beside;

/// Copies a database that nobody has open; [`DatabaseError::Busy`] if somebody has, even without a transaction. Without
/// a database there is no copy either.
pub fn copy(database: &Path, to: &Path) -> Result<(), DatabaseError> {
    let failed = |path: &Path, what| {
        let file = path.display().to_string();
        move |source: io::Error| DatabaseError::File { file, what, source }
    };
    if !database.try_exists().map_err(failed(database, "read"))? {
        return match fs::remove_file(to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(to, "removed")(error)),
            Ok(()) | Err(_) => Ok(()),
        };
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(database, flags)?;
    // Whoever still has it open keeps a part of it in the log.
    let is_busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))?;
    if is_busy != 0 {
        return Err(DatabaseError::Busy);
    }
    connection.close().map_err(|(_, error)| error)?;
    // Whoever closes it last removes the log. Others would go on with a file that may be replaced.
    let log = beside(database, "-wal");
    if log.try_exists().map_err(failed(&log, "read"))? {
        return Err(DatabaseError::Busy);
    }
    let unfinished = to.with_extension("unfinished");
    fs::copy(database, &unfinished).map_err(failed(database, "copied"))?;
    fs::rename(&unfinished, to).map_err(failed(to, "written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_the_log_is_in_the_copy() {
        let folder = tempfile::tempdir().expect("a folder");
        let (database, to) = (folder.path().join("a.db"), folder.path().join("b.db"));
        copy(&database, &to).expect("nothing to copy");
        assert!(!to.exists());
        let connection = Connection::open(&database).expect("a database");
        connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(())).expect("a log");
        connection.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (7);").expect("a table");
        connection.execute_batch("BEGIN; SELECT * FROM t").expect("a reader");
        assert!(matches!(copy(&database, &to), Err(DatabaseError::Busy)));
        // Whoever has it open may write at any moment.
        connection.execute_batch("COMMIT").expect("an idle connection");
        assert!(matches!(copy(&database, &to), Err(DatabaseError::Busy)));
        assert!(!to.exists());
        drop(connection);
        copy(&database, &to).expect("a copy");
        let seven: i64 = Connection::open(&to)
            .expect("the copy")
            .query_row("SELECT x FROM t", (), |row| row.get(0))
            .expect("a row");
        assert_eq!(seven, 7);
        fs::remove_file(&database).expect("removed");
        copy(&database, &to).expect("nothing to copy");
        assert!(!to.exists());
    }
}
