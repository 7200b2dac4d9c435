//! A database that is written to, its source of pages, and a copy that has to be the same.

mod applying;
mod holding;
mod taking;
mod workloads;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::types::Value;
use tempfile::TempDir;

use super::{DatabaseError, PageSource, Pages, apply};

struct World {
    folder: TempDir,
    source: PageSource,
}

impl World {
    fn new() -> Self {
        Self::with_page_bytes(4096)
    }

    /// A database with some rows, its copy, and a source of what changes from here on.
    fn with_page_bytes(page_bytes: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("source.db");
        let connection = Connection::open(&database).unwrap();
        let sql = format!(
            "PRAGMA page_size = {page_bytes}; PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;
             CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB, note TEXT);
             CREATE INDEX by_note ON rows (note);"
        );
        connection.execute_batch(&sql).unwrap();
        insert(&connection, 10, 100);
        connection.close().unwrap();
        fs::copy(&database, folder.path().join("copy.db")).unwrap();
        let source = PageSource::open(&database).unwrap();
        Self { folder, source }
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("source.db")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("source.db-wal")
    }

    fn copy(&self) -> PathBuf {
        self.folder.path().join("copy.db")
    }

    fn connect(&self) -> Connection {
        let connection = Connection::open(self.database()).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF").unwrap();
        connection
    }

    /// Takes and applies; whether there was anything.
    fn take(&mut self) -> bool {
        let pages = self.source.take().unwrap();
        self.apply(pages)
    }

    fn begin_anew(&mut self) -> bool {
        let pages = self.source.begin_anew().unwrap();
        self.apply(pages)
    }

    fn apply(&self, pages: Option<Pages>) -> bool {
        if let Some(pages) = &pages {
            apply(&self.copy(), pages).unwrap();
        }
        pages.is_some()
    }

    fn check_same(&self) {
        assert_eq!(dump_file(&self.copy()), dump(&self.connect()));
    }

    fn check_same_bytes(&self) {
        let (database, copy) = (fs::read(self.database()).unwrap(), fs::read(self.copy()).unwrap());
        assert_eq!(database.len(), copy.len());
        assert!(database == copy, "the files differ");
    }
}

fn insert(connection: &Connection, rows: u32, bytes: u32) {
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
               INSERT INTO rows (body, note) SELECT randomblob(?2), hex(randomblob(8)) FROM n";
    connection.execute(sql, [rows, bytes]).unwrap();
}

/// Everything that a database says, as far as its readers can tell.
#[derive(Debug, PartialEq)]
struct Dump {
    integrity: String,
    user_version: i64,
    schema: Vec<Vec<Value>>,
    tables: Vec<(String, Vec<Vec<Value>>)>,
}

fn dump(connection: &Connection) -> Dump {
    let one = |sql: &str| connection.query_row(sql, (), |row| row.get(0)).unwrap();
    let transaction = connection.unchecked_transaction().unwrap();
    let names = rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
    let tables = names.into_iter().map(|row| {
        let Value::Text(name) = &row[0] else { panic!("a name is text") };
        (name.clone(), rows(connection, &format!("SELECT rowid, * FROM \"{name}\" ORDER BY rowid")))
    });
    let dump = Dump {
        tables: tables.collect(),
        integrity: connection.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap(),
        user_version: one("PRAGMA user_version"),
        schema: rows(connection, "SELECT * FROM sqlite_schema ORDER BY name"),
    };
    transaction.commit().unwrap();
    assert_eq!(dump.integrity, "ok");
    dump
}

/// Of a copy of the file, so that looking at it leaves nothing beside it.
fn dump_file(database: &Path) -> Dump {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("looked-at.db");
    fs::copy(database, &copy).unwrap();
    dump(&Connection::open(&copy).unwrap())
}

fn rows(connection: &Connection, sql: &str) -> Vec<Vec<Value>> {
    let mut query = connection.prepare(sql).unwrap();
    let columns = query.column_count();
    let found = query.query_map((), |row| (0..columns).map(|column| row.get(column)).collect()).unwrap();
    found.collect::<Result<_, _>>().unwrap()
}

fn is_lost<T>(result: Result<T, DatabaseError>) -> bool {
    matches!(result, Err(DatabaseError::LogLost))
}
