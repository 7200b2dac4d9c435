//! `database`: a shop's SQLite database of some 155,000 rows, made at first use, read-only ever
//! after. In memory, or in one file beneath the folder that is given.

mod contents;
mod definitions;
mod reading;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use rusqlite::types::Value as SqlValue;
use serde_json::{Map, Value, json};

use super::definition::check_call;
use super::{Answer, ExampleServer, arguments, unknown_name};

/// Rows of one answer.
const ROWS_MAX: u64 = 10_000;
/// Values that can be bound to a statement.
const PARAMS_MAX: usize = 100;

pub struct Database {
    tools: Vec<Value>,
    folder: Option<PathBuf>,
    connection: Mutex<Option<Connection>>,
}

impl Database {
    /// Nothing is made before the first call.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self { tools: definitions::definitions(), folder, connection: Mutex::default() }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Connection) -> Result<T, String>) -> Result<T, String> {
        let mut held = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match held.take() {
            Some(connection) => held.insert(connection),
            None => held.insert(reading::open(self.folder.as_deref())?),
        };
        work(connection)
    }
}

impl ExampleServer for Database {
    fn name(&self) -> &'static str {
        "database"
    }

    fn title(&self) -> &'static str {
        "Shop database"
    }

    fn instructions(&self) -> &'static str {
        "A shop's SQLite database, read-only: customers, products, orders, order_items, tickets. Amounts are in \
         cents, dates are text (YYYY-MM-DD)."
    }

    fn tools(&self) -> Vec<Value> {
        self.tools.clone()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, String> {
        check_call(&self.tools, tool, arguments)?;
        match tool {
            "list_tables" => self.with(list_tables),
            "describe_table" => {
                let table = table(arguments)?;
                self.with(|connection| describe_table(connection, table))
            }
            "query" => self.query(arguments),
            _ => self.export_rows(arguments),
        }
        .map(Answer::Structured)
    }
}

impl Database {
    fn query(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let sql = arguments::text(arguments, "sql")?;
        let limit = arguments::whole(arguments, "limit", 1_000, [1, ROWS_MAX])? as usize;
        let params = params(arguments.get("params"))?;
        let rows = self.with(|connection| reading::select(connection, sql, params, limit))?;
        Ok(json!({
            "columns": rows.columns, "row_count": rows.rows.len(), "rows": rows.rows, "truncated": rows.truncated,
        }))
    }

    fn export_rows(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let table = table(arguments)?;
        let offset = arguments::whole(arguments, "offset", 0, [0, u64::from(u32::MAX)])?;
        let limit = arguments::whole(arguments, "limit", 1_000, [1, ROWS_MAX])?;
        self.with(|connection| {
            let total = count(connection, table)?;
            let sql = format!("SELECT * FROM {table} ORDER BY id LIMIT {limit} OFFSET {offset}");
            let rows = reading::select(connection, &sql, Vec::new(), ROWS_MAX as usize)?.rows;
            let end = offset + rows.len() as u64;
            let next_offset = (end < total && !rows.is_empty()).then_some(end);
            Ok(json!({ "table": table, "total": total, "offset": offset, "rows": rows, "next_offset": next_offset }))
        })
    }
}

/// One of our own names, never what the caller wrote: it becomes part of a statement.
fn table(arguments: &Map<String, Value>) -> Result<&'static str, String> {
    let given = arguments::text(arguments, "table")?;
    let known = contents::TABLES.into_iter().find(|table| *table == given);
    known.ok_or_else(|| unknown_name::unknown("table", given, contents::TABLES))
}

fn list_tables(connection: &mut Connection) -> Result<Value, String> {
    let mut tables = Vec::new();
    for table in contents::TABLES {
        let about = contents::about(table);
        tables.push(json!({ "name": table, "rows": count(connection, table)?, "description": about }));
    }
    Ok(json!({ "tables": tables }))
}

fn describe_table(connection: &mut Connection, table: &'static str) -> Result<Value, String> {
    let sql = "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid";
    let listed = reading::select(connection, sql, vec![SqlValue::from(table.to_owned())], 100)?;
    let columns: Vec<Value> = listed
        .rows
        .iter()
        .map(|row| {
            let name = row["name"].as_str().unwrap_or_default();
            json!({
                "name": name, "type": row["type"], "primary_key": row["pk"] == 1,
                "description": contents::about_column(table, name),
            })
        })
        .collect();
    let rows = count(connection, table)?;
    Ok(json!({ "name": table, "rows": rows, "description": contents::about(table), "columns": columns }))
}

fn count(connection: &mut Connection, table: &'static str) -> Result<u64, String> {
    let answer = reading::select(connection, &format!("SELECT count(*) AS n FROM {table}"), Vec::new(), 1)?;
    Ok(answer.rows.first().and_then(|row| row["n"].as_u64()).unwrap_or_default())
}

fn params(given: Option<&Value>) -> Result<Vec<SqlValue>, String> {
    let list = match given {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) if list.len() <= PARAMS_MAX => list,
        Some(Value::Array(list)) => {
            return Err(format!("{} params were given; at most {PARAMS_MAX}", list.len()));
        }
        Some(other) => return Err(format!("`params` must be a list, not {}", arguments::kind(other))),
    };
    list.iter()
        .enumerate()
        .map(|(index, value)| match value {
            Value::Null => Ok(SqlValue::Null),
            Value::Bool(yes) => Ok(SqlValue::Integer(i64::from(*yes))),
            Value::String(text) => Ok(SqlValue::Text(text.clone())),
            Value::Number(number) => match (number.as_i64(), arguments::finite(value)) {
                (Some(whole), _) => Ok(SqlValue::Integer(whole)),
                (None, Some(real)) => Ok(SqlValue::Real(real)),
                (None, None) => Err(format!("`params[{index}]` is too large a number")),
            },
            Value::Array(_) | Value::Object(_) => {
                Err(format!("`params[{index}]` must be a text, a number, true, false or null"))
            }
        })
        .collect()
}

#[cfg(test)]
mod tests;
