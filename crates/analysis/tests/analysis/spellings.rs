//! What people and models write instead of the documented spelling, and mean the same by.

use serde_json::{Value, json};

use super::{check, input, run, run_all};

fn orders() -> Value {
    json!([
        {"kind": "a", "price": 10, "day": "2026-01-01"},
        {"kind": "b", "price": 20, "day": "2026-01-02"},
        {"kind": "a", "price": 40, "day": "2026-01-03"}
    ])
}

/// Both give the same output.
#[track_caller]
fn same(written: Value, meant: Value) {
    let output = |steps: &Value| match run(steps.clone(), &orders().to_string()) {
        Ok((output, _)) => output,
        Err(problem) => panic!("{steps}: {problem} ({:?})", problem.hint),
    };
    assert_eq!(output(&written), output(&meant), "{written}");
}

#[test]
fn operators_have_the_names_that_other_languages_give_them() {
    let filtered = |operator: &str, value: Value| json!([{"filter": {"field": "price", "operator": operator, "value": value}}]);
    for (own, others) in [
        ("==", &["eq", "=", "===", "equals", "EQUALS", "equal to", "is", "$eq"][..]),
        ("!=", &["ne", "<>", "not_equals", "notEqual", "$ne"]),
        (">", &["gt", "greater", "greater than", "greaterThan", "after", "$gt"]),
        (">=", &["gte", "=>", "ge", "at_least", "greater_than_or_equal", "≥"]),
        ("<", &["lt", "less_than", "before", "below"]),
        ("<=", &["lte", "=<", "le", "at most", "less_than_or_equal_to"]),
    ] {
        for other in others {
            same(filtered(other, json!(20)), filtered(own, json!(20)));
        }
    }
    for other in ["isin", "one_of", "any of", "$in"] {
        same(filtered(other, json!([10, 20])), filtered("in", json!([10, 20])));
    }
    for other in ["nin", "not_in", "none_of"] {
        same(filtered(other, json!([10])), filtered("not in", json!([10])));
    }
    same(filtered("range", json!([15, 50])), filtered("between", json!([15, 50])));
    same(filtered("exists", json!(false)), filtered("is null", Value::Null));
    let text = |operator: &str| json!([{"filter": {"field": "kind", "op": operator, "val": "a"}}]);
    for (own, other) in
        [("starts", "startsWith"), ("ends", "endswith"), ("matches", "regexp"), ("contains", "includes")]
    {
        same(text(other), text(own));
    }
}

#[test]
fn a_filter_may_name_fields_in_the_place_of_settings() {
    let meant = |operator: &str, value: Value| json!([{"filter": {"field": "price", "operator": operator, "value": value}}]);
    same(json!([{"filter": {"price": {">": 10}}}]), meant(">", json!(10)));
    same(json!([{"filter": {"price": {"$gte": 20, "$lt": 40}}}]), meant("==", json!(20)));
    same(json!([{"where": {"price": 20}}]), meant("==", json!(20)));
    same(json!([{"where": {"price": [10, 40]}}]), meant("in", json!([10, 40])));
    same(json!([{"where": {"price": 40, "kind": "a"}}]), meant("==", json!(40)));
    same(json!([{"filter": {"column": "price", "min": 15, "max": 25}}]), meant("==", json!(20)));
    same(json!([{"filter": {"field": "price", "value": 20}}]), meant("==", json!(20)));
    let problem = run(json!([{"filter": {"prise": {">": 10}}}]), &orders().to_string()).unwrap_err();
    assert_eq!(problem.message, "unknown field \"prise\"");
    assert!(
        problem.hint.as_deref().unwrap_or_default().starts_with("did you mean \"price\"?"),
        "{problem:?}"
    );
}

#[test]
fn steps_have_the_names_that_other_tools_give_them() {
    let grouped = json!([{"aggregate": {"group_by": "kind", "aggregations": {"price": "sum"}}}]);
    same(json!([{"groupby": {"by": "kind", "aggregations": {"price": "sum"}}}]), grouped.clone());
    same(json!([{"group": {"groupBy": ["kind"], "aggregations": {"price": "sum"}}}]), grouped.clone());
    same(
        json!([{"Group-By": {"group_by": "kind", "aggregate_field": "price", "operation": "sum"}}]),
        grouped.clone(),
    );
    same(json!([{"agg": {"group_by": "kind", "column": "price", "aggregations": ["sum"]}}]), grouped.clone());
    same(json!([{"sum": {"group_by": "kind", "field": "price"}}]), grouped);
    same(json!([{"group_by": "kind"}]), json!([{"aggregate": {"group_by": "kind"}}]));
    for sorted in [
        json!({"sort_by": "-price"}),
        json!({"orderBy": {"field": "price", "order": "DESC"}}),
        json!({"sort": {"by": "price", "ascending": false}}),
        json!({"sort": {"by": ["price"], "ascending": [false]}}),
        json!({"sort": {"price": "desc"}}),
        json!({"sort_values": {"column": "price", "reverse": "true"}}),
    ] {
        same(json!([sorted]), json!([{"sort": "-price"}]));
    }
    same(json!([{"head": "2"}]), json!([{"limit": 2}]));
    same(json!([{"limit": {"n": "1", "skip": "1"}}]), json!([{"limit": {"count": 1, "offset": 1}}]));
    same(json!([{"drop_duplicates": {"subset": "kind"}}]), json!([{"distinct": ["kind"]}]));
    same(json!([{"describe": ["price"]}]), json!([{"describe": {"fields": ["price"]}}]));
    same(json!([{"assign": {"expressions": {"x": "price * 2"}}}]), json!([{"compute": {"x": "price * 2"}}]));
    same(json!([{"astype": {"field": "price", "to": "text"}}]), json!([{"cast": {"price": "text"}}]));
    same(
        json!([{"trend": {"time": "day", "field": "price"}}]),
        json!([{"timeseries": {"operation": "trend", "time": "day", "field": "price"}}]),
    );
}

#[test]
fn fields_are_renamed_by_mappings_and_by_pairs() {
    let meant = json!([{"rename": {"price": "cost"}}]);
    same(json!([{"rename": {"mappings": {"price": "cost"}}}]), meant.clone());
    same(json!([{"rename": [{"from": "price", "to": "cost"}]}]), meant.clone());
    same(json!([{"transform": {"mappings": {"price": "cost"}}}]), meant.clone());
    let turned = run(json!([{"rename": {"cost": "price"}}]), &orders().to_string()).unwrap_err();
    assert!(
        turned.hint.as_deref().unwrap_or_default().contains(r#"write {"rename": {"price": "cost"}}"#),
        "{turned:?}"
    );
}

#[test]
fn percentiles_are_given_as_a_value_a_list_or_a_share() {
    let meant = |which: Value| json!([{"aggregate": {"field": "price", "percentiles": which}}]);
    for one in [
        json!({"percentile": {"field": "price", "percentile": 90}}),
        json!({"percentile": {"field": "price", "value": "90"}}),
        json!({"quantile": {"field": "price", "q": 0.9}}),
        json!({"aggregate": {"field": "price", "function": "percentile", "percentile": 90}}),
        json!({"aggregate": {"field": "price", "function": "percentile", "value": 90}}),
        json!({"aggregate": {"aggregations": {"price": {"percentile": 90}}}}),
        json!({"aggregate": {"aggregations": {"price": [{"percentiles": [90]}]}}}),
        json!({"aggregate": {"aggregations": {"price": "90th percentile"}}}),
    ] {
        same(json!([one]), meant(json!([90])));
    }
    same(json!([{"percentiles": {"field": "price", "percentiles": [5, 29, 95]}}]), meant(json!([5, 29, 95])));
    same(json!([{"quantiles": {"field": "price", "values": [0.05, 0.29, 0.95]}}]), meant(json!([5, 29, 95])));
    let quartiles = json!([{"price_q1": 15, "price_q2": 20, "price_q3": 30}]);
    check(json!([{"quartiles": "price"}]), orders(), quartiles.clone());
    check(json!([{"aggregate": {"field": "price", "function": ["q1", "q2", "q3"]}}]), orders(), quartiles);
}

#[test]
fn fields_that_must_be_there_are_listed() {
    let data = json!([{"id": 1, "name": null}]);
    let steps = json!([{"validate": {"required_fields": ["id", "name", "mail"]}}]);
    let (report, _) = run(steps.clone(), &data.to_string()).unwrap();
    let failed: Vec<&Value> =
        report["checks"].as_array().unwrap().iter().map(|check| &check["failed"]).collect();
    assert_eq!(failed, [&json!(0), &json!(1), &json!(1)]);
    for written in [
        json!([{"validate": {"required": ["id", "name", "mail"]}}]),
        json!([{"validate": {"rules": {"id": "required", "name": "required", "mail": "required"}}}]),
    ] {
        assert_eq!(run(written, &data.to_string()).unwrap().0, report);
    }
    same(
        json!([{"validate": {"field": "price", "type": "int", "minimum": 15}}]),
        json!([{"validate": {"rules": [{"field": "price", "type": "integer", "min": 15}]}}]),
    );
}

#[test]
fn steps_and_parameters_may_be_json_text() {
    let output = |request: Value| {
        run_all(&request, vec![input("data", None, orders().to_string().as_bytes())]).unwrap().0
    };
    let meant = output(json!({"steps": [{"limit": 1}]}));
    assert_eq!(output(json!({"steps": "[{\"limit\": 1}]"})), meant);
    assert_eq!(output(json!({"steps": "{\"limit\": 1}"})), meant);
    assert_eq!(output(json!({"steps": ["{\"limit\": 1}"]})), meant);
    assert_eq!(output(json!({"steps": [{"limit": "{\"count\": 1}"}]})), meant);
    assert_eq!(output(json!({"analysis_type": "limit", "parameters": "{\"count\": 1}"})), meant);
    assert_eq!(output(json!("[{\"limit\": 1}]")), meant);
    assert_eq!(output(json!({"pipeline": [{"type": "limit", "params": {"count": 1}}]})), meant);
}

#[test]
fn a_name_that_can_mean_two_things_is_answered_with_the_nearest_and_the_list() {
    let said = |steps: Value| {
        let problem = run(steps, &orders().to_string()).unwrap_err();
        format!("{} | {}", problem.message, problem.hint.unwrap_or_default())
    };
    let like = said(json!([{"filter": {"field": "kind", "operator": "like", "value": "a%"}}]));
    assert!(
        like.starts_with("unknown operator \"like\" | did you mean \"contains\"? available: ==, !=, >"),
        "{like}"
    );
    let twice = said(json!([{"covariance": {"method": "pearson"}}]));
    assert!(
        twice.starts_with("\"covariance\" means \"method\": \"covariance\", but \"method\" is \"pearson\""),
        "{twice}"
    );
    let setting = said(json!([{"aggregate": {"gruop_by": "kind"}}]));
    assert_eq!(
        setting,
        "unknown setting of aggregate \"gruop_by\" | did you mean \"group_by\"? available: group_by, aggregations, field, function, as, percentiles"
    );
    let step = said(json!([{"filtr": {}}]));
    assert!(
        step.starts_with("unknown step \"filtr\" | did you mean \"filter\"? available: filter, aggregate,"),
        "{step}"
    );
}
