//! Opening the file: whose it is, which version, how it is written.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use gristmill_files::{FileLock, make_private_folder};
use rusqlite::{Connection, OpenFlags};

use super::error::StoreError;
use super::{FILE_NAME, migrations};

/// Held while the file is opened.
const LOCK_NAME: &str = "gristmill.db.lock";

/// How long another process may hold it. Each of our own jobs takes milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Statements that every execution needs are compiled once.
const STATEMENTS_KEPT: usize = 32;

/// What the write-ahead log may keep of the disk when nobody needs it.
const LOG_BYTES_KEPT: i64 = 16 << 20;

/// From this length on, whoever writes copies the log himself before he goes on: 32 MB. Only then can it begin
/// anew while there is always somebody who writes. Until then another thread does it, and nobody waits.
const LOG_PAGES_MAX: u32 = 8_000;

pub(super) fn open(folder: &Path) -> Result<Connection, StoreError> {
    let failed = |error: io::Error| StoreError::Folder { folder: folder.to_owned(), why: error.to_string() };
    make_private_folder(folder).map_err(failed)?;
    let file = folder.join(FILE_NAME);
    // One gateway opens at a time: to begin a log and to make tables takes the file for oneself.
    let _opening = FileLock::take(&folder.join(LOCK_NAME)).map_err(|error| failed(error.into()))?;
    // The file first, for its mode; SQLite gives the files beside it the same. One that is there isn't opened: to close
    // it again would drop the locks that this process may have on it.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        Ok(_) | Err(_) => {}
    }
    // A link to the folder is the user's own affair; one in place of the file is not.
    let place = folder.canonicalize().map_err(failed)?.join(FILE_NAME);
    let told = |error: StoreError| match error {
        StoreError::Damaged(why) => StoreError::NotOurs { file: file.clone(), why },
        StoreError::ReadOnly => StoreError::Folder { folder: folder.to_owned(), why: error.to_string() },
        StoreError::Other(why) => StoreError::Folder { folder: folder.to_owned(), why },
        error => error,
    };
    let connection = Connection::open_with_flags(&place, flags()).map_err(|error| told(error.into()))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| told(error.into()))?;
    check_owner(&connection, &file).map_err(told)?;
    let mode: String = connection
        .query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0))
        .map_err(|error| told(error.into()))?;
    if mode != "wal" {
        let why = "its file system cannot hold a database with a write-ahead log".to_owned();
        return Err(StoreError::Folder { folder: folder.to_owned(), why });
    }
    set_up(&connection).map_err(told)?;
    let copied_at = format!("PRAGMA wal_autocheckpoint = {LOG_PAGES_MAX}");
    connection.query_row(&copied_at, (), |_| Ok(())).map_err(|error| told(error.into()))?;
    let mut connection = connection;
    migrations::bring_up_to_date(&mut connection, &file).map_err(told)?;
    Ok(connection)
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE
}

/// Copies what stands in the log into the file, as far as nobody reads what was there before, and lets others
/// write meanwhile. What can't be copied now is copied the next time.
pub(super) fn copy_log(folder: &Path) {
    let copied = || {
        let place = folder.canonicalize().ok()?.join(FILE_NAME);
        let connection = Connection::open_with_flags(place, flags()).ok()?;
        set_up(&connection).ok()?;
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(())).ok()
    };
    let _: Option<()> = copied();
}

pub(super) fn open_in_memory() -> Result<Connection, StoreError> {
    let mut connection = Connection::open_in_memory()?;
    set_up(&connection)?;
    migrations::bring_up_to_date(&mut connection, Path::new(":memory:"))?;
    Ok(connection)
}

/// Before anything is written: a file of somebody else, or of a later version, is left as it is.
fn check_owner(connection: &Connection, file: &Path) -> Result<(), StoreError> {
    let application: i64 = connection.query_row("PRAGMA application_id", (), |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    if application != migrations::APPLICATION_ID && tables > 0 {
        let why = "it is a database of another program".to_owned();
        return Err(StoreError::NotOurs { file: file.to_owned(), why });
    }
    migrations::check_known(connection, file)
}

fn set_up(connection: &Connection) -> Result<(), StoreError> {
    // Normal: what a killed process has written is in the kernel's hands. Only a machine that loses
    // power may lose the last writes, and never more than those.
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF; PRAGMA temp_store = MEMORY;")?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    connection.query_row(&format!("PRAGMA journal_size_limit = {LOG_BYTES_KEPT}"), (), |_| Ok(()))?;
    Ok(())
}
