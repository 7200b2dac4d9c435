//! The only way to the data: opened read-only, watched by an authorizer, bounded in time, rows,
//! bytes and memory.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::limits::Limit;
use rusqlite::types::{Value as SqlValue, ValueRef};
use rusqlite::{Connection, Error, ErrorCode, OpenFlags, params_from_iter};
use serde_json::{Map, Number, Value};

use super::contents;

const QUERY_TIME_MAX: Duration = Duration::from_secs(5);
/// Steps of SQLite's machine between two looks at the clock.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;
/// All rows of an answer, as text.
const ANSWER_BYTES_MAX: usize = 16 << 20;
/// One value: no text of ours is longer, and a query cannot make one that fills the memory.
const VALUE_BYTES_MAX: i32 = 1 << 20;
const SQL_BYTES_MAX: i32 = 50_000;
const COLUMNS_MAX: i32 = 200;
/// What SQLite may hold in all.
const HEAP_BYTES_MAX: u64 = 512 << 20;

/// What is shown of an error of SQLite.
const MESSAGE_CHARS_MAX: usize = 300;

/// The PRAGMAs that only tell.
const TELLING: [&str; 6] =
    ["table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"];

/// Rows as they are answered.
pub struct Rows {
    /// In order; all different.
    pub columns: Vec<String>,
    pub rows: Vec<Value>,
    /// Whether there are more.
    pub truncated: bool,
}

/// Opens the database; makes it first if it is not there yet.
pub fn open(folder: Option<&Path>) -> Result<Connection, String> {
    let opened = match folder {
        None => Connection::open_in_memory().and_then(|mut connection| {
            contents::fill(&mut connection)?;
            Ok(connection)
        }),
        Some(folder) => open_file(folder)?,
    };
    let mut connection = opened.map_err(|error| format!("can't create the database: {error}"))?;
    guard(&mut connection).map_err(|error| format!("can't open the database: {error}"))?;
    Ok(connection)
}

fn open_file(folder: &Path) -> Result<rusqlite::Result<Connection>, String> {
    let said =
        |error: std::io::Error| format!("{} cannot be used for the database: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(said)?;
    let file = folder.join(format!("shop-{}.sqlite", contents::VERSION));
    if !file.exists() {
        // Made under another name first: nobody ever opens half a database.
        let unfinished = Unfinished(folder.join(format!(".shop-{}.tmp", std::process::id())));
        let made = Connection::open(&unfinished.0).and_then(|mut connection| contents::fill(&mut connection));
        if let Err(error) = made {
            return Ok(Err(error));
        }
        std::fs::rename(&unfinished.0, &file).map_err(said)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(file, flags))
}

/// A file that is removed unless it was renamed.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}

fn guard(connection: &mut Connection) -> rusqlite::Result<()> {
    connection
        .execute_batch(&format!("PRAGMA query_only = 1; PRAGMA hard_heap_limit = {HEAP_BYTES_MAX};"))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_COLUMN, COLUMNS_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_EXPR_DEPTH, 100)?;
    connection.set_limit(Limit::SQLITE_LIMIT_COMPOUND_SELECT, 50)?;
    connection.authorizer(Some(|context: AuthContext<'_>| match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if !function_name.eq_ignore_ascii_case("load_extension") => {
            Authorization::Allow
        }
        AuthAction::Pragma { pragma_name, .. } if TELLING.contains(&pragma_name) => Authorization::Allow,
        _ => Authorization::Deny,
    }))
}

/// Runs one statement that reads.
pub fn select(
    connection: &mut Connection,
    sql: &str,
    params: Vec<SqlValue>,
    limit: usize,
) -> Result<Rows, String> {
    let deadline = computed() + QUERY_TIME_MAX;
    let armed = connection.progress_handler(STEPS_BETWEEN_LOOKS, Some(move || computed() > deadline));
    armed.map_err(|error| error.to_string())?;
    run(connection, sql, params, limit).map_err(told)
}

/// What this thread has computed: a busy machine makes no query too long.
fn computed() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or(Duration::MAX)
}

fn run(connection: &Connection, sql: &str, params: Vec<SqlValue>, limit: usize) -> rusqlite::Result<Rows> {
    let mut statement = connection.prepare(sql)?;
    let columns = unique(statement.column_names());
    let mut answered = Rows { columns, rows: Vec::new(), truncated: false };
    if answered.columns.is_empty() {
        return Err(Error::InvalidQuery);
    }
    let mut bytes = 0;
    let mut rows = statement.query(params_from_iter(params))?;
    while let Some(row) = rows.next()? {
        if answered.rows.len() >= limit || bytes > ANSWER_BYTES_MAX {
            answered.truncated = true;
            break;
        }
        let mut object = Map::new();
        for (index, name) in answered.columns.iter().enumerate() {
            let value = plain(row.get_ref(index)?);
            bytes += name.len() + 8 + value.as_str().map_or(8, str::len);
            object.insert(name.clone(), value);
        }
        answered.rows.push(Value::Object(object));
    }
    Ok(answered)
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let mut candidate = name.to_owned();
        let mut count = 1;
        while taken.contains(&candidate) {
            count += 1;
            candidate = format!("{name}_{count}");
        }
        taken.push(candidate);
    }
    taken
}

fn plain(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => Value::from(whole),
        // JSON has no infinity.
        ValueRef::Real(real) => Number::from_f64(real).map_or(Value::Null, Value::Number),
        ValueRef::Text(text) => Value::from(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => {
            Value::from(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
        }
    }
}

fn told(error: Error) -> String {
    match error.sqlite_error_code() {
        Some(ErrorCode::OperationInterrupted) => {
            let seconds = QUERY_TIME_MAX.as_secs();
            return format!(
                "the query computed for {seconds} seconds and was stopped; filter or join on less"
            );
        }
        Some(ErrorCode::AuthorizationForStatementDenied | ErrorCode::ReadOnly) => {
            return "the database is read-only: one SELECT at a time, and nothing that writes, attaches or sets"
                .to_owned();
        }
        Some(ErrorCode::OutOfMemory) => {
            return "the query needs too much memory; select or sort less".to_owned();
        }
        Some(ErrorCode::TooBig) => {
            return format!(
                "a text in the query or its result is too long: values up to {VALUE_BYTES_MAX} bytes, SQL up to {SQL_BYTES_MAX}"
            );
        }
        Some(_) | None => {}
    }
    match error {
        Error::MultipleStatement => "send one statement at a time".to_owned(),
        Error::InvalidQuery => "the statement returns no rows; write a SELECT".to_owned(),
        Error::InvalidParameterCount(given, wanted) => {
            format!("the statement has {wanted} question marks, but {given} params were given")
        }
        Error::SqlInputError { msg, offset, .. } => {
            format!("SQLite says, at byte {offset}: {}; see describe_table for the names", bounded(&msg))
        }
        error => format!("SQLite says: {}", bounded(&error.to_string())),
    }
}

/// SQLite repeats what it was given, however long that is.
fn bounded(message: &str) -> String {
    message.chars().take(MESSAGE_CHARS_MAX).collect()
}
