//! Promises that every example server keeps.

use serde_json::{Map, Value, json};

use super::schema_check::problems;
use super::*;

fn server(name: &str) -> Box<dyn ExampleServer> {
    by_name(name, &Options::default()).expect(name)
}

/// For each tool at least one call that works.
pub(super) fn calls() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("calculator", "evaluate", json!({"expression": "1/3 + 2"})),
        ("calculator", "evaluate", json!({"expression": "6*7"})),
        ("calculator", "statistics", json!({"numbers": [1, 2.5, 4]})),
        ("calculator", "statistics", json!({"numbers": [1]})),
        ("calculator", "convert_units", json!({"value": 1, "from": "mile", "to": "km"})),
        ("weather", "list_cities", json!({})),
        ("weather", "list_cities", json!({"country": "de"})),
        ("weather", "current", json!({"city": "Reykjavik"})),
        ("weather", "forecast", json!({"city": "Oslo", "days": 14})),
        ("weather", "history", json!({"city": "Cape Town", "from": "2023-01-01", "to": "2026-06-15"})),
        ("weather", "chart", json!({"city": "Oslo"})),
        ("filesystem", "list_directory", json!({})),
        ("filesystem", "directory_tree", json!({})),
        ("filesystem", "read_file", json!({"path": "data/sales.csv", "limit": 10})),
        ("filesystem", "read_file", json!({"path": "README.md"})),
        ("filesystem", "write_file", json!({"path": "a.txt", "text": "a"})),
        ("filesystem", "search_files", json!({"pattern": "**/*.md"})),
        ("filesystem", "file_info", json!({"path": "notes"})),
        ("filesystem", "move_file", json!({"from": "README.md", "to": "notes/README.md"})),
        ("filesystem", "make_directory", json!({"path": "x/y"})),
        ("database", "list_tables", json!({})),
        ("database", "describe_table", json!({"table": "tickets"})),
        ("database", "query", json!({"sql": "SELECT 1 AS a, 1.5 AS b, 'c' AS c, NULL AS d, x'ff' AS e"})),
        ("database", "query", json!({"sql": "SELECT * FROM orders", "limit": 3})),
        ("database", "export_rows", json!({"table": "tickets", "limit": 10_000})),
        ("database", "export_rows", json!({"table": "products", "offset": 10, "limit": 5})),
        ("documents", "list_documents", json!({"folder": "notes", "page": 2})),
        ("documents", "list_documents", json!({})),
        ("documents", "get_document", json!({"document_id": "DOC-0107"})),
        ("documents", "get_document", json!({"document_id": "DOC-0001"})),
        ("documents", "search_documents", json!({"query": "refund delay"})),
        ("documents", "get_metadata", json!({"document_id": "DOC-0107"})),
        ("crm", "list_leads", json!({"status": "won"})),
        ("crm", "search_records", json!({"type": "account", "query": "foods", "page_size": 300})),
        ("crm", "search_records", json!({"type": "meeting"})),
        ("crm", "get_record", json!({"type": "contact", "id": "CON-0001"})),
        (
            "crm",
            "create_record",
            json!({"type": "lead", "fields": {"name": "Someone New", "value_cents": 12.5}}),
        ),
        ("crm", "update_record", json!({"type": "meeting", "id": "MTG-0042", "fields": {"notes": "x"}})),
        ("crm", "add_note", json!({"record_id": "LEAD-0001", "text": "Called back."})),
        ("crm", "list_activities", json!({"record_id": "ACC-0001"})),
    ]
}

fn call(server: &dyn ExampleServer, tool: &str, arguments: &Value) -> Result<Answer, String> {
    server.call(tool, arguments.as_object().unwrap_or(&Map::new()))
}

#[test]
fn every_answer_has_the_shape_that_its_tool_promises() {
    for name in NAMES {
        let server = server(name);
        for tool in server.tools() {
            let tool_name = tool["name"].as_str().expect("a name");
            let calls: Vec<Value> =
                calls().into_iter().filter(|it| it.0 == name && it.1 == tool_name).map(|it| it.2).collect();
            assert!(!calls.is_empty(), "{name}.{tool_name} is never called");
            for arguments in calls {
                assert_eq!(problems(&tool["inputSchema"], &arguments), [""; 0], "{name}.{tool_name}");
                match call(server.as_ref(), tool_name, &arguments).expect(tool_name) {
                    Answer::Structured(value) => {
                        assert_eq!(
                            problems(&tool["outputSchema"], &value),
                            [""; 0],
                            "{name}.{tool_name} {arguments}"
                        );
                    }
                    Answer::Text(text) => assert!(tool.get("outputSchema").is_none() && !text.is_empty()),
                    Answer::Image { mime, bytes, text } => {
                        assert!(tool.get("outputSchema").is_none());
                        assert_eq!((mime, &bytes[1..4], text.is_some()), ("image/png", &b"PNG"[..], true));
                    }
                }
            }
        }
    }
}

#[test]
fn every_tool_says_what_it_does_and_what_each_field_means() {
    fn undescribed(schema: &Value, at: &str, found: &mut Vec<String>) {
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let place = format!("{at}.{name}");
            if property["description"].as_str().is_none_or(|text| text.len() < 4) {
                found.push(place.clone());
            }
            undescribed(property, &place, found);
            undescribed(&property["items"], &place, found);
        }
    }
    let mut found = Vec::new();
    for name in NAMES {
        let server = server(name);
        assert_eq!(server.name(), name);
        assert!(!server.title().is_empty() && server.instructions().len() > 40, "{name}");
        for tool in server.tools() {
            let at = format!("{name}.{}", tool["name"]);
            assert!(tool["description"].as_str().is_some_and(|text| text.len() > 30), "{at}");
            assert!(tool["title"].is_string(), "{at}");
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(tool["annotations"][hint].is_boolean(), "{at} {hint}");
            }
            undescribed(&tool["inputSchema"], &at, &mut found);
            undescribed(&tool["outputSchema"], &at, &mut found);
        }
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn answers_are_the_same_on_every_start() {
    for (name, tool, arguments) in calls() {
        let answer = || call(server(name).as_ref(), tool, &arguments);
        assert_eq!(answer(), answer(), "{name}.{tool}");
    }
}

#[test]
fn strange_arguments_are_refused_and_never_a_panic() {
    let strange = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(0),
        json!(""),
        json!("\u{0}"),
        json!("../.."),
        json!("é".repeat(5_000)),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!({"a": {"b": []}}),
        json!(18_446_744_073_709_551_615u64),
    ];
    for name in NAMES {
        let server = server(name);
        for tool in server.tools() {
            let tool_name = tool["name"].as_str().expect("a name");
            let base = calls().into_iter().find(|it| it.0 == name && it.1 == tool_name).map(|it| it.2);
            for (property, _) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
                for value in &strange {
                    let mut arguments = base.clone().unwrap_or_default();
                    arguments[property] = value.clone();
                    if let Err(error) = call(server.as_ref(), tool_name, &arguments) {
                        assert!(!error.is_empty() && error.len() < 3_000, "{name}.{tool_name}: {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest() {
    let unknown = by_name("wether", &Options::default()).err();
    assert_eq!(
        unknown.as_deref(),
        Some(
            "no example server `wether`; did you mean `weather`? \
             there are: calculator, weather, filesystem, database, documents, crm"
        )
    );
    let error = call(server("crm").as_ref(), "get_recrd", &json!({})).expect_err("unknown");
    assert!(
        error.starts_with("no tool `get_recrd`; did you mean `get_record`? there are: list_leads, "),
        "{error}"
    );
}
