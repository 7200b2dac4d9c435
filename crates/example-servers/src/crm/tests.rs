//! What is there at the start, and what changes.

use super::*;

fn call(server: &Crm, tool: &str, arguments: Value) -> Result<Value, String> {
    match server.call(tool, arguments.as_object().unwrap_or(&Map::new()))? {
        Answer::Structured(value) => Ok(value),
        Answer::Text(_) | Answer::Image { .. } => Err("not structured".to_owned()),
    }
}

#[test]
fn the_start_is_always_the_same() {
    let server = Crm::new();
    let total = |kind: &str| {
        call(&server, "search_records", json!({"type": kind, "page_size": 1}))
            .map(|page| page["total"].clone())
    };
    assert_eq!(total("account"), Ok(json!(300)));
    assert_eq!(total("contact"), Ok(json!(1_200)));
    assert_eq!(total("lead"), Ok(json!(900)));
    assert_eq!(total("meeting"), Ok(json!(60)));
    let whole = |server: &Crm| call(server, "search_records", json!({"type": "lead", "page_size": 300}));
    assert_eq!(whole(&server), whole(&Crm::new()));
}

#[test]
fn pages_cover_every_record_once() {
    let server = Crm::new();
    let (mut page, mut ids) = (json!(1), Vec::new());
    while !page.is_null() {
        let answer = call(&server, "list_leads", json!({"page": page, "page_size": 200})).expect("a page");
        ids.extend(answer["records"].as_array().expect("records").iter().map(|lead| lead["id"].clone()));
        page = answer["next_page"].clone();
    }
    let expected: Vec<Value> = (1..=900).map(|n| json!(format!("LEAD-{n:04}"))).collect();
    assert_eq!(ids, expected);
}

#[test]
fn people_in_the_records_cannot_be_reached() {
    let server = Crm::new();
    for page in 1..=4 {
        let answer =
            call(&server, "search_records", json!({"type": "contact", "page": page, "page_size": 300}));
        for contact in answer.expect("a page")["records"].as_array().expect("records") {
            assert!(contact["email"].as_str().is_some_and(|it| it.ends_with("@example.com")), "{contact}");
            assert!(contact["phone"].as_str().is_some_and(|it| it.contains("-555-01")), "{contact}");
        }
    }
}

#[test]
fn a_record_is_created_changed_and_remembered() {
    let server = Crm::new();
    let created = call(&server, "create_record", json!({"type": "meeting", "fields": {"name": "Kick-off"}}));
    assert_eq!(
        created,
        Ok(json!({
            "id": "MTG-0061", "type": "meeting", "name": "Kick-off", "held_on": "2026-06-15", "status": "planned",
            "attendees": "", "account_id": "", "document_id": "", "notes": "",
        }))
    );
    let update =
        json!({"type": "meeting", "id": "MTG-0061", "fields": {"notes": "All agreed.", "status": "planned"}});
    assert_eq!(
        call(&server, "update_record", update.clone()),
        Ok(json!({"id": "MTG-0061", "type": "meeting", "updated_fields": ["notes"]}))
    );
    assert_eq!(
        call(&server, "update_record", update),
        Ok(json!({"id": "MTG-0061", "type": "meeting", "updated_fields": []}))
    );
    assert!(call(&server, "add_note", json!({"record_id": "MTG-0061", "text": "Send the minutes."})).is_ok());
    assert_eq!(
        call(&server, "list_activities", json!({"record_id": "MTG-0061"})),
        Ok(json!({"record_id": "MTG-0061", "total": 3, "activities": [
            {"id": "ACT-000301", "record_id": "MTG-0061", "kind": "created", "at": "2026-06-15T09:01:00Z", "text": "meeting created"},
            {"id": "ACT-000302", "record_id": "MTG-0061", "kind": "updated", "at": "2026-06-15T09:02:00Z", "text": "changed: notes"},
            {"id": "ACT-000303", "record_id": "MTG-0061", "kind": "note", "at": "2026-06-15T09:03:00Z", "text": "Send the minutes."},
        ]}))
    );
}

#[test]
fn what_cannot_be_done_is_said_plainly() {
    let server = Crm::new();
    let check = |tool: &str, arguments: Value, expected: &str| {
        let error = call(&server, tool, arguments).expect_err(expected);
        assert!(error.starts_with(expected), "{error}");
    };
    check(
        "get_record",
        json!({"type": "meeting", "id": "MTG-9999"}),
        "no meeting `MTG-9999`; ids go from MTG-0001 to MTG-0060",
    );
    check(
        "get_record",
        json!({"type": "meetings", "id": "x"}),
        "no record type `meetings`; did you mean `meeting`?",
    );
    check(
        "update_record",
        json!({"type": "meeting", "id": "MTG-0001", "fields": {"note": "x"}}),
        "no field of type meeting `note`; did you mean `notes`?",
    );
    check(
        "update_record",
        json!({"type": "lead", "id": "LEAD-0001", "fields": {"status": "maybe"}}),
        "`status` must be one of: new, contacted",
    );
    check(
        "update_record",
        json!({"type": "lead", "id": "LEAD-0001", "fields": {"value_cents": -1}}),
        "`value_cents` must be a number from 0",
    );
    check(
        "update_record",
        json!({"type": "meeting", "id": "MTG-0001", "fields": {"held_on": "soon"}}),
        "`held_on` must be a date",
    );
    check("create_record", json!({"type": "lead", "fields": {"company": "x"}}), "a new lead needs a `name`");
    check("create_record", json!({"type": "lead", "fields": {}}), "`fields` must be an object");
    check("add_note", json!({"record_id": "MTG-0001", "text": " "}), "a note must have 1 to 100000 bytes");
    check("add_note", json!({"record_id": "XYZ-1", "text": "x"}), "no record with an id such as `XYZ-1`");
    check("list_leads", json!({"status": "opn"}), "no lead status `opn`");
    let long = "x".repeat((1 << 20) + 1);
    check(
        "update_record",
        json!({"type": "meeting", "id": "MTG-0001", "fields": {"notes": long}}),
        "`notes` has 1048577 bytes",
    );
}

#[test]
fn changes_stop_when_the_memory_for_them_is_used_up() {
    let server = Crm::new();
    let text = "x".repeat(1 << 20);
    let update = json!({"type": "meeting", "id": "MTG-0001", "fields": {"notes": text}});
    for _ in 0..70 {
        assert!(call(&server, "update_record", update.clone()).is_ok());
    }
    let create = json!({"type": "lead", "fields": {"name": "x", "company": text}});
    let refused =
        (1..70).find_map(|n| call(&server, "create_record", create.clone()).err().map(|error| (n, error)));
    assert_eq!(
        refused,
        Some((63, "all changes together are limited to 67108864 bytes; restart the server".to_owned()))
    );
}
