//! Dates in text: compared and sorted by time, whatever way they are written in.

use serde_json::{Value, json};

use super::{check, run};

/// By time: a, c, b, d. By letters: a, c, d, b.
fn moments() -> Value {
    json!([
        {"id": "a", "t": "2026-01-03"},
        {"id": "b", "t": "2026-01-03T10:00:00+02:00"},
        {"id": "c", "t": "2026-01-03T07:00:00Z"},
        {"id": "d", "t": "2026-01-03T09:00:00Z"},
        {"id": "e", "t": null}
    ])
}

#[track_caller]
fn ids(condition: Value, expected: &[&str]) {
    let expected: Vec<Value> = expected.iter().map(|id| json!({"id": id})).collect();
    check(json!([{"filter": condition}, {"select": ["id"]}]), moments(), expected.into());
}

#[test]
fn conditions_compare_dates_by_time() {
    let check = |operator: &str, value: Value, expected: &[&str]| {
        ids(json!({"field": "t", "operator": operator, "value": value}), expected);
    };
    check(">", json!("2026-01-03T08:30:00Z"), &["d"]);
    check("<=", json!("2026-01-03T08:00:00Z"), &["a", "b", "c"]);
    check("==", json!("2026-01-03T00:00:00Z"), &["a"]);
    check("!=", json!("2026-01-03T00:00:00Z"), &["b", "c", "d", "e"]);
    check("in", json!(["2026-01-03T08:00:00Z", "2026-01-03T08:00:00+01:00"]), &["b", "c"]);
    check("between", json!(["2026-01-03", "2026-01-03T07:30:00Z"]), &["a", "c"]);
    ids(json!({"where": "t > '2026-01-03T08:30:00Z'"}), &["d"]);
    ids(json!({"where": "t == '2026-01-03T00:00:00Z'"}), &["a"]);
}

#[test]
fn sorting_and_extremes_go_by_time() {
    let sorted = |by: Value, expected: [&str; 5]| {
        let rows: Vec<Value> = expected.iter().map(|id| json!({"id": id})).collect();
        check(json!([{"sort": by}, {"select": ["id"]}]), moments(), rows.into());
    };
    sorted(json!("t"), ["a", "c", "b", "d", "e"]);
    sorted(json!("-t"), ["d", "b", "c", "a", "e"]);
    sorted(json!([{"field": "t", "order": "desc"}, "id"]), ["d", "b", "c", "a", "e"]);
    check(
        json!([{"filter": {"field": "id", "operator": "in", "value": ["b", "d"]}}, {"aggregate": {"aggregations": {"t": ["min", "max"]}}}]),
        moments(),
        json!([{"t_min": "2026-01-03T10:00:00+02:00", "t_max": "2026-01-03T09:00:00Z"}]),
    );
    let mixed = json!([{"t": "2026-01-03T09:00:00Z"}, {"t": "2026-01-03T10:00:00+02:00"}]);
    let (found, _) = run(json!(["describe"]), &mixed.to_string()).unwrap();
    assert_eq!(found["columns"][0]["max"], json!("2026-01-03T09:00:00Z"));
}

#[test]
fn a_date_beside_something_else_goes_by_letters_and_a_note_says_so() {
    let noted = |data: Value, value: &str| {
        let steps = json!([{"filter": {"field": "day", "operator": ">=", "value": value}}]);
        run(steps, &data.to_string()).unwrap().1.notes
    };
    let days = json!([{"day": "2026-01-02"}, {"day": "2026-01-04"}]);
    assert_eq!(
        noted(days.clone(), "03.01.2026"),
        [
            "field \"day\" has dates, but \"03.01.2026\" isn't an ISO date: they were compared as text; write it as 2026-07-28 or 2026-07-28T09:30:00Z",
            "filter kept 2 of 2 rows"
        ]
    );
    assert_eq!(
        noted(json!([{"day": "2026-01-02"}, {"day": "soon"}]), "2026-01-03"),
        [
            "field \"day\" was compared with \"2026-01-03\" as text: not all of its values are ISO dates; to compare by time, cast it: {\"cast\": {\"day\": \"datetime\"}}",
            "filter kept 1 of 2 rows"
        ]
    );
    assert_eq!(noted(days, "2026-01-03"), ["filter kept 1 of 2 rows"]);
    assert_eq!(noted(json!([{"day": "Monday"}]), "Friday"), ["filter kept 1 of 1 row"]);
}

#[test]
fn limits_of_validate_go_by_time() {
    let data = json!([{"t": "2026-01-03T10:00:00+02:00"}]);
    let steps = json!([{"validate": {"rules": [{"field": "t", "max": "2026-01-03T08:30:00Z"}]}}]);
    let (found, _) = run(steps, &data.to_string()).unwrap();
    assert_eq!(found["valid"], json!(true));
}
