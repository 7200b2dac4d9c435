//! What a caller reads when something is wrong.

use serde_json::{Value, json};

use super::{input, problem, run_all};

fn said(steps: Value, data: Value) -> String {
    let problem = problem(steps, data);
    format!("step {:?}: {} | {}", problem.step, problem.message, problem.hint.unwrap_or_default())
}

#[test]
fn an_unknown_field_is_answered_with_the_nearest_and_with_all() {
    let found = problem(
        json!([{"limit": 5}, {"filter": {"field": "user.nmae", "operator": "==", "value": "x"}}]),
        json!([{"price": 1, "user": {"name": "Ada"}}]),
    );
    assert_eq!(found.step, Some(2));
    assert_eq!(found.field.as_deref(), Some("user.nmae"));
    assert_eq!(found.message, "unknown field \"user.nmae\"");
    assert_eq!(
        found.hint.as_deref(),
        Some("did you mean \"user.name\"? fields: price (integer), user.name (text)")
    );
}

#[test]
fn each_mistake_has_its_sentence() {
    let data = || json!([{"a": 1, "t": "x", "l": [1], "o": {"p": 1}}]);
    let check = |steps: Value, expected: &str| {
        let found = said(steps, data());
        assert!(found.contains(expected), "{found}\nshould have: {expected}");
    };
    check(json!([{"fliter": {}}]), "step Some(1): unknown step \"fliter\" | did you mean \"filter\"?");
    check(
        json!([{"filter": {"field": "a", "operator": "gtee", "value": 1}}]),
        "unknown operator \"gtee\" | did you mean \">=\"?",
    );
    check(
        json!([{"filter": {"field": "a", "operator": "graeter", "value": 1}}]),
        "unknown operator \"graeter\" | did you mean \">\"?",
    );
    check(
        json!([{"aggregate": {"aggregations": {"a": "averge"}}}]),
        "unknown function \"averge\" | did you mean \"mean\"?",
    );
    check(
        json!([{"aggregate": {"aggregations": {"a": "percentiles"}}}]),
        "\"percentiles\" doesn't say which ones | write \"p95\" for one",
    );
    check(
        json!([{"filter": {"feild": "a"}}]),
        "unknown setting of a condition \"feild\" | did you mean \"field\"?",
    );
    check(
        json!([{"filter": {"field": "a", "operator": ">", "value": "5"}}]),
        "field \"a\" has type integer, so it can't be compared with the text \"5\" | pass the value without quotes",
    );
    check(
        json!([{"filter": {"field": "t", "operator": ">", "value": 5}}]),
        "{\"cast\": {\"t\": \"number\"}}",
    );
    check(
        json!([{"filter": {"field": "t", "operator": "matches", "value": "(?=x)"}}]),
        "the pattern \"(?=x)\" can't be used",
    );
    check(
        json!([{"filter": {"field": "t", "operator": "matches", "value": "((a{1000}){1000}){1000}"}}]),
        "can't be used",
    );
    check(
        json!([{"filter": {"field": "o", "operator": "==", "value": 1}}]),
        "it's an object; use one of its members: o.p",
    );
    check(json!([{"sort": "l.x"}]), "\"l\" is a list; unnest it first: {\"unnest\": \"l\"}");
    check(
        json!([{"aggregate": {"aggregations": {"a": "sume"}}}]),
        "unknown function \"sume\" | did you mean \"sum\"?",
    );
    check(
        json!([{"aggregate": {"aggregations": {"t": "mean"}}}]),
        "field \"t\" has type text, but this function needs numbers",
    );
    check(json!([{"aggregate": {"aggregations": {"a": "p101"}}}]), "a percentile must be from 0 to 100");
    check(
        json!([{"describe": {}}, {"limit": 1}]),
        "step Some(1): describe returns a report, so it must be the last step | move it to the end",
    );
    check(json!([{"unnest": "t"}]), "field \"t\" has type text, not a list | lists: l");
    check(json!([{"cast": {"a": "moeny"}}]), "unknown type \"moeny\"");
    check(json!([{"limit": -1}]), "limit takes a whole number, 0 or more");
    check(
        json!([{"join": {"with": "other", "on": "a"}}]),
        "unknown input \"other\": the request has only one table",
    );
    check(json!([{"rename": {"a": "t"}}]), "two columns would be named \"t\"");
    check(
        json!([{"timeseries": {"operation": "resample", "time": "t", "every": "1d"}}]),
        "field \"t\" holds the text \"x\", but this needs dates",
    );
    check(
        json!([{"test": {"test": "t_test", "field": "a", "group": "t"}}]),
        "has 1 value, but this test compares two groups",
    );
    check(json!([{"filter": {"a": 1}, "limit": 2}]), "a step must be an object with one key");
    let deep = (0..60).fold(json!({"field": "a", "operator": "is null"}), |inner, _| json!({ "not": inner }));
    check(json!([{ "filter": deep }]), "nested more than 50 levels deep");
}

#[test]
fn a_field_inside_a_list_is_answered_with_the_way_to_it() {
    let steps = json!([{"filter": {"field": "city", "operator": "==", "value": "Oslo"}}]);
    let found = problem(steps.clone(), json!({"rows": [{"id": 1, "city": "Oslo"}], "source": "x"}));
    assert_eq!(found.message, "unknown field \"city\"");
    assert_eq!(
        found.hint.as_deref(),
        Some(
            "the objects in the list \"rows\" have it; to use them set data_field: \"rows\"; fields: rows (list), source (text)"
        )
    );
    let found = problem(steps, json!([{"rows": [{"city": "Oslo"}]}, {"rows": []}]));
    assert_eq!(
        found.hint.as_deref(),
        Some(
            "the objects in the list \"rows\" have it; unnest it first: {\"unnest\": \"rows\"}, then use \"rows.city\"; fields: rows (list)"
        )
    );
    let steps = json!([{"aggregate": {"aggregations": {"rows": "sum"}}}]);
    assert_eq!(
        problem(steps, json!([{"rows": [1]}])).message,
        "field \"rows\" holds lists, but this function needs numbers"
    );
}

#[test]
fn a_failed_step_passes_on_what_was_noted_about_its_field() {
    let steps = json!([{"aggregate": {"aggregations": {"a": "sum"}}}]);
    let found = said(steps, json!([{"a": 1, "b": 1}, {"a": "2", "b": "x"}, {"a": 3, "b": 2}]));
    assert!(found.ends_with("; note: field \"a\" mixes 2 number, 1 text; it's read as text"), "{found}");
    let found = said(json!([{"sort": "prize"}]), json!({"items": [1, 2], "name": "x"}));
    assert!(found.contains("note: the data is one object, read as one row"), "{found}");
}

#[test]
fn requests_and_data_that_cannot_be_read_say_why() {
    let said = |request: &Value, data: &[u8]| {
        let problem = run_all(request, vec![input("data", None, data)]).unwrap_err();
        format!("{} | {}", problem.message, problem.hint.unwrap_or_default())
    };
    assert!(said(&json!({}), b"[]").starts_with("the request needs \"steps\" or \"analysis_type\""));
    assert!(said(&json!({"stesp": []}), b"[]").starts_with("unknown setting of the request \"stesp\""));
    assert!(
        said(&json!({"analysis_type": "filtre", "parameters": {}}), b"[]")
            .contains("did you mean \"filter\"?")
    );
    assert!(said(&json!({"steps": [], "analysis_type": "filter"}), b"[]").contains("not both"));
    assert!(
        said(&json!({"steps": []}), b"[{\"a\":1},")
            .starts_with("the data isn't valid JSON: line 1, column 10: expected a value, found the end")
    );
    assert!(said(&json!({"steps": []}), b"a,b\n1,2,3\n").starts_with("can't read the CSV data"));
    assert!(said(&json!({"steps": []}), b"PAR1garbage").starts_with("can't read the Parquet data"));
    assert!(
        said(&json!({"steps": [], "data_field": "x.itmes"}), br#"{"x":{"items":[]}}"#).contains(
            "data_field \"x.itmes\" doesn't exist: unknown key \"itmes\" | did you mean \"items\"?"
        )
    );
    let wide: String = (0..2_500).map(|key| format!("\"k{key}\":1,")).collect();
    assert!(
        said(&json!({"steps": []}), format!("[{{{wide}\"z\":1}}]").as_bytes())
            .starts_with("the data has more than 2000 columns")
    );
    let deep = format!("[{}1{}]", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    assert!(said(&json!({"steps": []}), deep.as_bytes()).contains("nested more than 100 levels deep"));
}

#[test]
fn joins_of_different_kinds_are_refused_with_the_cast_to_write() {
    let request = json!({"steps": [{"join": {"with": "right", "on": "id"}}]});
    let inputs = vec![input("left", None, br#"[{"id": 1}]"#), input("right", None, br#"[{"id": "1"}]"#)];
    let problem = run_all(&request, inputs).unwrap_err();
    assert_eq!(
        problem.message,
        "field \"id\" has type integer, but field \"id\" of input \"right\" has type text: they never match"
    );
    assert_eq!(problem.hint.as_deref(), Some("cast one of them first: {\"cast\": {\"id\": \"text\"}}"));
}
