//! What the tools of `documents` take and give.

use serde_json::{Value, json};

use super::HITS_MAX;
use super::shelf::FOLDERS;
use crate::definition::{Effect, full_object, object, tool};

pub fn definitions() -> Vec<Value> {
    vec![list_documents_tool(), get_document_tool(), search_documents_tool(), get_metadata_tool()]
}

fn list_documents_tool() -> Value {
    tool(
        ["list_documents", "List documents"],
        "Lists documents, 50 on a page, of one folder if wanted.",
        Effect::Reads,
        object(
            &[],
            json!({
                "folder": { "type": "string", "enum": FOLDERS, "description": "Only this folder" },
                "page": { "type": "integer", "minimum": 1, "default": 1, "description": "Which page, from 1" },
            }),
        ),
        full_object(json!({
            "documents": {
                "type": "array", "description": "In order of ids",
                "items": full_object(json!({ "document_id": id(), "title": title(), "folder": folder(), "words": words() })),
            },
            "page": { "type": "integer", "description": "This page" },
            "next_page": { "type": ["integer", "null"], "description": "The next page; null at the end" },
            "total": { "type": "integer", "description": "How many documents there are in all" },
        })),
    )
}

fn get_document_tool() -> Value {
    tool(
        ["get_document", "Get a document"],
        "Gets a document with its full text. A meeting transcript can have 25,000 words.",
        Effect::Reads,
        object(&["document_id"], json!({ "document_id": id() })),
        full_object(json!({
            "document_id": id(), "title": title(), "folder": folder(), "words": words(),
            "text": { "type": "string", "description": "The full text" },
        })),
    )
}

fn search_documents_tool() -> Value {
    tool(
        ["search_documents", "Search documents"],
        "Finds documents that hold words of the query, the best first, each with a piece of its text.",
        Effect::Reads,
        object(
            &["query"],
            json!({
                "query": { "type": "string", "description": "Words to look for" },
                "limit": {
                    "type": "integer", "minimum": 1, "maximum": HITS_MAX, "default": 10,
                    "description": "Hits to give at most",
                },
            }),
        ),
        full_object(json!({
            "hits": {
                "type": "array", "description": "The best first",
                "items": full_object(json!({
                    "document_id": id(), "title": title(), "folder": folder(),
                    "score": { "type": "integer", "description": "Higher is better" },
                    "snippet": { "type": "string", "description": "The text around the first word found" },
                })),
            },
            "total": { "type": "integer", "description": "How many documents match in all" },
        })),
    )
}

fn get_metadata_tool() -> Value {
    tool(
        ["get_metadata", "Describe a document"],
        "Tells title, folder, author, day, size and tags of a document, without its text.",
        Effect::Reads,
        object(&["document_id"], json!({ "document_id": id() })),
        full_object(json!({
            "document_id": id(), "title": title(), "folder": folder(),
            "author": { "type": "string", "description": "Who wrote it" },
            "created_on": { "type": "string", "description": "The day, YYYY-MM-DD" },
            "words": words(),
            "bytes": { "type": "integer", "description": "Size of the text in bytes" },
            "tags": { "type": "array", "items": { "type": "string" }, "description": "What it is about" },
        })),
    )
}

fn id() -> Value {
    json!({ "type": "string", "description": "Id of the document, such as DOC-0107" })
}

fn title() -> Value {
    json!({ "type": "string", "description": "Its title" })
}

fn folder() -> Value {
    json!({ "type": "string", "enum": FOLDERS, "description": "The folder it is in" })
}

fn words() -> Value {
    json!({ "type": "integer", "minimum": 0, "description": "How many words the text has" })
}
