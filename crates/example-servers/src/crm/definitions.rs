//! What the tools of `crm` take and give.

use serde_json::{Value, json};

use super::PAGE_SIZE_MAX;
use super::fields::{Kind, LEAD_STATUSES};
use crate::definition::{Effect, full_object, object, tool};

pub fn definitions() -> Vec<Value> {
    vec![
        list_leads_tool(),
        search_records_tool(),
        get_record_tool(),
        create_record_tool(),
        update_record_tool(),
        add_note_tool(),
        list_activities_tool(),
    ]
}

fn list_leads_tool() -> Value {
    tool(
        ["list_leads", "List leads"],
        "Lists leads page by page, of one status or one owner if wanted.",
        Effect::Reads,
        object(
            &[],
            json!({
                "status": { "type": "string", "enum": LEAD_STATUSES, "description": "Only these" },
                "owner": { "type": "string", "description": "Only those that this colleague looks after" },
                "page": page(), "page_size": page_size(),
            }),
        ),
        list(),
    )
}

fn search_records_tool() -> Value {
    tool(
        ["search_records", "Search records"],
        "Finds records of a type whose fields hold every word of the query, whatever the case. An empty query \
         lists all.",
        Effect::Reads,
        object(
            &["type"],
            json!({
                "type": kind(),
                "query": { "type": "string", "default": "", "description": "Words to look for" },
                "page": page(), "page_size": page_size(),
            }),
        ),
        list(),
    )
}

fn get_record_tool() -> Value {
    tool(
        ["get_record", "Get a record"],
        "Gets one record with all its fields in full.",
        Effect::Reads,
        object(&["type", "id"], json!({ "type": kind(), "id": id() })),
        record(),
    )
}

fn create_record_tool() -> Value {
    tool(
        ["create_record", "Create a record"],
        "Creates a record and gives it with its new id. `name` is needed; other fields have defaults.",
        Effect::Adds,
        object(&["type", "fields"], json!({ "type": kind(), "fields": fields() })),
        record(),
    )
}

fn update_record_tool() -> Value {
    tool(
        ["update_record", "Update a record"],
        "Sets fields of a record; the others stay. Answers which fields changed, not the whole record.",
        Effect::Replaces,
        object(&["type", "id", "fields"], json!({ "type": kind(), "id": id(), "fields": fields() })),
        full_object(json!({
            "id": id(), "type": kind(),
            "updated_fields": {
                "type": "array", "items": { "type": "string" }, "description": "Names of the fields that changed",
            },
        })),
    )
}

fn add_note_tool() -> Value {
    tool(
        ["add_note", "Add a note"],
        "Adds a note to the activities of any record.",
        Effect::Adds,
        object(
            &["record_id", "text"],
            json!({
                "record_id": id(), "text": { "type": "string", "description": "The note" },
            }),
        ),
        activity(),
    )
}

fn list_activities_tool() -> Value {
    tool(
        ["list_activities", "List activities"],
        "Lists what happened to a record: calls, notes and changes, the oldest first.",
        Effect::Reads,
        object(&["record_id"], json!({ "record_id": id() })),
        full_object(json!({
            "record_id": id(),
            "total": { "type": "integer", "description": "How many" },
            "activities": { "type": "array", "items": activity(), "description": "The oldest first" },
        })),
    )
}

fn kind() -> Value {
    json!({ "type": "string", "enum": Kind::ALL.map(Kind::word), "description": "Type of the record" })
}

fn id() -> Value {
    json!({ "type": "string", "description": "Id of the record, such as MTG-0042" })
}

fn page() -> Value {
    json!({ "type": "integer", "minimum": 1, "default": 1, "description": "Which page, from 1" })
}

fn page_size() -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": PAGE_SIZE_MAX, "default": 50, "description": "Records on a page",
    })
}

fn fields() -> Value {
    json!({
        "type": "object",
        "additionalProperties": { "type": ["string", "number"] },
        "description": format!("Field names and values. {}", known_fields()),
    })
}

fn record() -> Value {
    json!({
        "type": "object",
        "description": "Id, type and name, and the further fields of its type",
        "properties": {
            "id": id(), "type": kind(), "name": { "type": "string", "description": "Name of the person, company or meeting" },
        },
        "required": ["id", "type", "name"],
        "additionalProperties": { "type": ["string", "number"] },
    })
}

fn list() -> Value {
    full_object(json!({
        "records": { "type": "array", "items": record(), "description": "In order of ids; long texts are shortened" },
        "page": { "type": "integer", "description": "This page" },
        "next_page": { "type": ["integer", "null"], "description": "The next page; null at the end" },
        "total": { "type": "integer", "description": "How many records match in all" },
    }))
}

fn activity() -> Value {
    full_object(json!({
        "id": { "type": "string", "description": "Such as ACT-000301" },
        "record_id": id(),
        "kind": {
            "type": "string", "enum": ["call", "note", "created", "updated"], "description": "What happened",
        },
        "at": { "type": "string", "description": "When, in UTC" },
        "text": { "type": "string", "description": "In words" },
    }))
}

fn known_fields() -> String {
    let of = |kind: Kind| {
        let names: Vec<&str> = kind.fields().iter().map(|field| field.0).collect();
        format!("{}: {}", kind.word(), names.join(", "))
    };
    Kind::ALL.map(of).join("; ")
}
