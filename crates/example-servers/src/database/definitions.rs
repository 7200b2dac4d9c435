//! What the tools of `database` take and give.

use serde_json::{Value, json};

use super::{PARAMS_MAX, ROWS_MAX, contents};
use crate::definition::{Effect, full_object, object, tool};

pub fn definitions() -> Vec<Value> {
    vec![list_tables_tool(), describe_table_tool(), query_tool(), export_rows_tool()]
}

fn list_tables_tool() -> Value {
    tool(
        ["list_tables", "List tables"],
        "Lists the tables with what they hold and how many rows they have.",
        Effect::Reads,
        object(&[], json!({})),
        full_object(json!({
            "tables": {
                "type": "array", "description": "All tables",
                "items": full_object(json!({ "name": name(), "rows": count(), "description": about() })),
            },
        })),
    )
}

fn describe_table_tool() -> Value {
    tool(
        ["describe_table", "Describe a table"],
        "Tells the columns of a table with their types and meanings.",
        Effect::Reads,
        object(&["table"], json!({ "table": table() })),
        full_object(json!({
            "name": name(), "rows": count(), "description": about(),
            "columns": {
                "type": "array", "description": "In order",
                "items": full_object(json!({
                    "name": name(),
                    "type": { "type": "string", "description": "INTEGER or TEXT" },
                    "primary_key": { "type": "boolean", "description": "Whether it names the row" },
                    "description": about(),
                })),
            },
        })),
    )
}

fn query_tool() -> Value {
    tool(
        ["query", "Query with SQL"],
        "Runs one SELECT (SQLite dialect, also WITH) and gives the rows as objects. Read-only: anything that \
         writes, attaches or sets is refused. A query may take 5 seconds. Use ? for values and pass them in params.",
        Effect::Reads,
        object(
            &["sql"],
            json!({
                "sql": {
                    "type": "string", "maxLength": 50_000,
                    "description": "Such as SELECT status, count(*) AS n FROM orders WHERE placed_on >= ? GROUP BY status",
                },
                "params": {
                    "type": "array", "maxItems": PARAMS_MAX, "default": [],
                    "items": { "type": ["string", "number", "boolean", "null"] },
                    "description": "Values for the question marks, in order",
                },
                "limit": limit(),
            }),
        ),
        full_object(json!({
            "columns": {
                "type": "array", "items": { "type": "string" },
                "description": "Column names in order; a name that comes twice gets _2 and so on",
            },
            "row_count": { "type": "integer", "description": "How many rows are given" },
            "rows": rows(),
            "truncated": { "type": "boolean", "description": "Whether there are more rows than are given" },
        })),
    )
}

fn export_rows_tool() -> Value {
    tool(
        ["export_rows", "Export rows"],
        "Gives the rows of a table as they are, in order of their ids: up to 10,000 in one call, from an offset.",
        Effect::Reads,
        object(
            &["table"],
            json!({
                "table": table(),
                "offset": { "type": "integer", "minimum": 0, "default": 0, "description": "Rows to skip first" },
                "limit": limit(),
            }),
        ),
        full_object(json!({
            "table": name(),
            "total": count(),
            "offset": { "type": "integer", "description": "Rows that were skipped" },
            "rows": rows(),
            "next_offset": { "type": ["integer", "null"], "description": "Where the rest begins; null at the end" },
        })),
    )
}

fn table() -> Value {
    json!({ "type": "string", "enum": contents::TABLES, "description": "Name of the table" })
}

fn name() -> Value {
    json!({ "type": "string", "description": "Its name" })
}

fn about() -> Value {
    json!({ "type": "string", "description": "What it holds" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0, "description": "How many rows it has" })
}

fn limit() -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": ROWS_MAX, "default": 1000, "description": "Rows to give at most",
    })
}

fn rows() -> Value {
    json!({
        "type": "array", "description": "One object for each row, by column",
        "items": { "type": "object", "additionalProperties": { "type": ["string", "number", "null"] } },
    })
}
