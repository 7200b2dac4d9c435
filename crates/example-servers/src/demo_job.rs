//! The demo's job, done here by plain calls: `demo/transcript_to_crm.py` must come to the same two
//! lines.

use serde_json::{Map, Value, json};

use super::{Answer, DEMO_PROGRAM, ExampleServer, Options, by_name};

const RESULT: &str = include_str!("demo/transcript_to_crm.result.txt");

fn call(server: &dyn ExampleServer, tool: &str, arguments: Value) -> Value {
    match server.call(tool, arguments.as_object().unwrap_or(&Map::new())).expect(tool) {
        Answer::Structured(value) => value,
        Answer::Text(_) | Answer::Image { .. } => Value::Null,
    }
}

fn server(name: &str) -> Box<dyn ExampleServer> {
    by_name(name, &Options::default()).expect(name)
}

#[test]
fn the_demo_comes_to_two_lines() {
    let (documents, crm, database) = (server("documents"), server("crm"), server("database"));
    let transcript = call(documents.as_ref(), "get_document", json!({"document_id": "DOC-0107"}));
    let text = transcript["text"].as_str().expect("a text");
    let fields = json!({"notes": text, "status": "held"});
    let updated =
        call(crm.as_ref(), "update_record", json!({"type": "meeting", "id": "MTG-0042", "fields": fields}));
    assert_eq!(updated["updated_fields"], json!(["notes", "status"]));
    let meeting = call(crm.as_ref(), "get_record", json!({"type": "meeting", "id": "MTG-0042"}));
    assert_eq!((&meeting["notes"], &meeting["document_id"]), (&transcript["text"], &json!("DOC-0107")));

    let accounts = call(crm.as_ref(), "search_records", json!({"type": "account", "page_size": 300}));
    assert_eq!(accounts["next_page"], json!(null));
    let named: Vec<&str> = accounts["records"]
        .as_array()
        .expect("records")
        .iter()
        .filter(|account| account["name"].as_str().is_some_and(|name| text.contains(name)))
        .filter_map(|account| account["id"].as_str())
        .collect();
    let tickets = call(database.as_ref(), "export_rows", json!({"table": "tickets", "limit": 10_000}));
    let tickets = tickets["rows"].as_array().expect("rows");
    let urgent: Vec<&str> = tickets
        .iter()
        .filter(|ticket| ticket["account_id"].as_str().is_some_and(|id| named.contains(&id)))
        .filter(|ticket| {
            ticket["status"] == "open" && (ticket["priority"] == "high" || ticket["priority"] == "urgent")
        })
        .filter_map(|ticket| ticket["number"].as_str())
        .collect();
    let count = |mark: &str| text.matches(mark).count();
    let words = transcript["words"].as_u64().unwrap_or_default();
    assert_eq!(tickets.len(), 10_000);
    assert_eq!(
        format!(
            "MTG-0042 now holds the transcript: {},{:03} words, {} decisions, {} action items.\n{} customers were named; \
             {} of 10,000 tickets are open and pressing for them: {}.\n",
            words / 1000,
            words % 1000,
            count("Decision "),
            count("Action item "),
            named.len(),
            urgent.len(),
            urgent.join(", ")
        ),
        RESULT
    );
}

#[test]
fn the_demo_uses_all_three_servers_and_says_its_result() {
    for part in ["servers.documents", "servers.crm", "servers.database", "update_record(", "result = ("] {
        assert!(DEMO_PROGRAM.contains(part), "{part}");
    }
}
