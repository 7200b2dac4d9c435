//! Filter, aggregate, transform and join, operator by operator.

use serde_json::{Value, json};

use super::{check, input, run_all};

fn shop() -> Value {
    json!([
        {"id": 1, "kind": "book", "price": 10.5, "tags": ["new", "blue"], "maker": {"name": "Ada", "land": "UK"}},
        {"id": 2, "kind": "pen", "price": 2.0, "tags": [], "maker": {"name": "Bob", "land": null}},
        {"id": 3, "kind": "book", "price": null, "tags": ["old"], "maker": null},
        {"id": 4, "kind": null, "price": 7.25, "tags": ["blue"], "maker": {"name": "Ada", "land": "FR"}}
    ])
}

#[track_caller]
fn ids(condition: Value, expected: &[i64]) {
    let expected: Vec<Value> = expected.iter().map(|id| json!({"id": id})).collect();
    check(json!([{"filter": condition}, {"select": ["id"]}]), shop(), expected.into());
}

#[test]
fn every_operator_finds_its_rows() {
    let check = |operator: &str, field: &str, value: Value, expected: &[i64]| {
        ids(json!({"field": field, "operator": operator, "value": value}), expected);
    };
    check("==", "kind", json!("book"), &[1, 3]);
    check("!=", "kind", json!("book"), &[2, 4]);
    check(">", "price", json!(2), &[1, 4]);
    check(">=", "price", json!(7.25), &[1, 4]);
    check("<", "price", json!(7.25), &[2]);
    check("<=", "id", json!(2), &[1, 2]);
    check("<", "id", json!(2.5), &[1, 2]);
    check("in", "id", json!([1, 4, 99]), &[1, 4]);
    check("not in", "kind", json!(["book"]), &[2, 4]);
    check("contains", "kind", json!("oo"), &[1, 3]);
    check("contains", "tags", json!("blue"), &[1, 4]);
    check("not contains", "tags", json!("blue"), &[2, 3]);
    check("starts", "maker.name", json!("A"), &[1, 4]);
    check("ends", "maker.name", json!("b"), &[2]);
    check("matches", "kind", json!("^b.*k$"), &[1, 3]);
    check("between", "price", json!([2, 8]), &[2, 4]);
    check("is null", "price", Value::Null, &[3]);
    check("is not null", "maker.land", Value::Null, &[1, 4]);
    check("is null", "maker", Value::Null, &[3]);
}

#[test]
fn conditions_nest_with_and_or_and_not() {
    let book = json!({"field": "kind", "operator": "==", "value": "book"});
    let cheap = json!({"field": "price", "operator": "<", "value": 8});
    ids(json!({"conditions": [book, cheap], "logic": "AND"}), &[]);
    ids(json!({"conditions": [book, cheap], "logic": "OR"}), &[1, 2, 3, 4]);
    ids(json!({"not": {"or": [book, {"field": "id", "operator": "==", "value": 2}]}}), &[4]);
    ids(json!([{"not": book}, {"and": [cheap, {"field": "id", "operator": ">", "value": 2}]}]), &[4]);
    ids(json!({"where": "kind == 'book' and price > 5 or id = 4"}), &[1, 4]);
    ids(json!({"field": "kind", "operator": "contains", "value": "BOO", "ignore_case": true}), &[1, 3]);
}

#[test]
fn rows_keep_their_objects_and_lists() {
    let expected = json!([
        {"id": 1, "kind": "book", "price": 10.5, "tags": ["new", "blue"], "maker": {"name": "Ada", "land": "UK"}},
        {"id": 3, "kind": "book", "price": null, "tags": ["old"], "maker": null}
    ]);
    check(json!([{"filter": {"field": "kind", "operator": "==", "value": "book"}}]), shop(), expected);
}

#[test]
fn groups_come_in_the_order_of_their_first_rows_with_missing_keys_as_their_own() {
    let steps = json!([{"aggregate": {"group_by": "kind", "aggregations": [
        {"function": "count"},
        {"field": "price", "function": "sum", "as": "total"},
        {"field": "price", "functions": ["count", "mean", "missing"]},
        {"field": "maker.name", "function": "distinct"},
        {"field": "id", "function": "max"}
    ]}}]);
    let expected = json!([
        {"kind": "book", "count": 2, "total": 10.5, "price_count": 1, "price_mean": 10.5, "price_missing": 1, "maker.name_distinct": 1, "id_max": 3},
        {"kind": "pen", "count": 1, "total": 2.0, "price_count": 1, "price_mean": 2.0, "price_missing": 0, "maker.name_distinct": 1, "id_max": 2},
        {"kind": null, "count": 1, "total": 7.25, "price_count": 1, "price_mean": 7.25, "price_missing": 0, "maker.name_distinct": 1, "id_max": 4}
    ]);
    check(steps, shop(), expected);
}

#[test]
fn every_function_of_aggregate_computes_what_pandas_does() {
    let data = json!([{"v": 1}, {"v": 2}, {"v": 3}, {"v": 4}, {"v": null}]);
    let steps = json!([{"aggregate": {"aggregations": {
        "v": ["count", "sum", "mean", "median", "min", "max", "std", "var", "first", "last", "distinct", "p90", "quartiles"]
    }}}]);
    let expected = json!([{
        "v_count": 4, "v_sum": 10, "v_mean": 2.5, "v_median": 2.5, "v_min": 1, "v_max": 4,
        "v_std": 1.290_994_448_735_805_6, "v_var": 1.666_666_666_666_666_7, "v_first": 1, "v_last": 4, "v_distinct": 4,
        "v_p90": 3.7, "v_q1": 1.75, "v_q2": 2.5, "v_q3": 3.25
    }]);
    check(steps, data, expected);
    let texts = json!([{"t": "b", "d": "2026-01-02"}, {"t": "a", "d": "2026-01-01"}, {"t": null, "d": null}]);
    let steps = json!([{"cast": {"d": "date"}}, {"aggregate": {"aggregations": {"t": ["min", "max", "first"], "d": ["min", "last"]}}}]);
    check(
        steps,
        texts,
        json!([{"t_min": "a", "t_max": "b", "t_first": "b", "d_min": "2026-01-01", "d_last": "2026-01-01"}]),
    );
}

#[test]
fn both_styles_of_a_call_give_the_same() {
    let data = json!({"result": {"items": [{"a": 1}, {"a": 5}]}, "total": 2}).to_string();
    let conditions = json!([{"field": "a", "operator": ">", "value": 2}]);
    let requests = [
        json!({"analysis_type": "filter", "parameters": {"data_field": "result.items", "conditions": conditions, "logic": "AND"}}),
        json!({"data_field": "result.items", "steps": [{"filter": {"conditions": conditions}}]}),
        json!({"data_field": "result.items", "steps": [{"type": "filter", "conditions": conditions}]}),
        json!({"data_field": "result.items", "steps": [{"operation": "filter", "parameters": {"conditions": conditions}}]}),
    ];
    for request in requests {
        let (found, analyzed) = run_all(&request, vec![input("data", None, data.as_bytes())]).unwrap();
        assert_eq!(found, json!([{"a": 5}]), "{request}");
        assert_eq!((analyzed.rows, analyzed.columns), (Some(1), vec!["a".to_owned()]));
    }
}

#[test]
fn one_step_alone_needs_no_list() {
    let data = br#"[{"a": 1}, {"a": 1}]"#;
    for request in [json!("distinct"), json!({"steps": "distinct"}), json!({"steps": {"distinct": ["a"]}})] {
        let (found, _) = run_all(&request, vec![input("data", None, data)]).unwrap();
        assert_eq!(found, json!([{"a": 1}]), "{request}");
    }
}

#[test]
fn transform_changes_rows_and_columns_in_the_written_order() {
    let data =
        json!([{"n": "b", "p": "2", "q": 3}, {"n": "a", "p": "4", "q": 1}, {"n": "a", "p": "4", "q": 1}]);
    let steps = json!([{"transform": {
        "cast": {"p": "number"},
        "distinct": ["n", "p"],
        "compute": {"total": "p * q", "label": "concat(upper(n), '-', q)"},
        "sort": "-total",
        "rename": {"n": "name"},
        "select": ["name", "total", "label"],
        "limit": 2
    }}]);
    check(
        steps,
        data.clone(),
        json!([{"name": "b", "total": 6.0, "label": "B-3"}, {"name": "a", "total": 4.0, "label": "A-1"}]),
    );
    let steps = json!([{"sort": [{"field": "n"}, {"field": "q", "order": "desc"}]}, {"drop": ["p"]}, {"limit": {"count": 2, "offset": 1}}]);
    check(steps, data, json!([{"n": "a", "q": 1}, {"n": "b", "q": 3}]));
}

#[test]
fn unnest_makes_a_row_of_each_item() {
    let data = json!([
        {"id": 1, "lines": [{"sku": "x", "n": 2}, {"sku": "y", "n": 1}], "tags": ["a"]},
        {"id": 2, "lines": [], "tags": ["b", "c"]}
    ]);
    let steps = json!([{"unnest": "lines"}, {"aggregate": {"group_by": "lines.sku", "aggregations": {"lines.n": "sum"}}}]);
    check(
        steps,
        data.clone(),
        json!([{"lines": {"sku": "x"}, "lines.n_sum": 2}, {"lines": {"sku": "y"}, "lines.n_sum": 1}]),
    );
    let steps = json!([{"select": ["id", "tags"]}, {"unnest": "tags"}]);
    check(
        steps,
        data.clone(),
        json!([{"id": 1, "tags": "a"}, {"id": 2, "tags": "b"}, {"id": 2, "tags": "c"}]),
    );
    let steps = json!([{"select": ["id", "lines"]}, {"unnest": {"field": "lines", "keep_empty": true}}]);
    check(
        steps,
        data,
        json!([
            {"id": 1, "lines": {"sku": "x", "n": 2}}, {"id": 1, "lines": {"sku": "y", "n": 1}}, {"id": 2, "lines": null}
        ]),
    );
}

#[test]
fn joins_match_keys_that_are_there_and_keep_what_was_asked() {
    let orders = r#"[{"id":1,"who":7,"n":"x"},{"id":2,"who":8,"n":"y"},{"id":3,"who":null,"n":"z"},{"id":4,"who":7,"n":"w"}]"#;
    let people = "key,n\n7,Ada\n9,Cem\n,Nobody\n";
    let check = |how: &str, expected: Value| {
        let request =
            json!({"steps": [{"join": {"with": "people", "left_on": "who", "right_on": "key", "how": how}}]});
        let inputs = vec![input("orders", None, orders.as_bytes()), input("people", None, people.as_bytes())];
        assert_eq!(run_all(&request, inputs).unwrap().0, expected, "{how}");
    };
    check(
        "inner",
        json!([
            {"id": 1, "who": 7, "n": "x", "key": 7, "n_people": "Ada"}, {"id": 4, "who": 7, "n": "w", "key": 7, "n_people": "Ada"}
        ]),
    );
    check(
        "left",
        json!([
            {"id": 1, "who": 7, "n": "x", "key": 7, "n_people": "Ada"},
            {"id": 2, "who": 8, "n": "y", "key": null, "n_people": null},
            {"id": 3, "who": null, "n": "z", "key": null, "n_people": null},
            {"id": 4, "who": 7, "n": "w", "key": 7, "n_people": "Ada"}
        ]),
    );
    check("semi", json!([{"id": 1, "who": 7, "n": "x"}, {"id": 4, "who": 7, "n": "w"}]));
    check("anti", json!([{"id": 2, "who": 8, "n": "y"}, {"id": 3, "who": null, "n": "z"}]));
    check(
        "right",
        json!([
            {"id": 1, "who": 7, "n": "x", "key": 7, "n_people": "Ada"},
            {"id": 4, "who": 7, "n": "w", "key": 7, "n_people": "Ada"},
            {"id": null, "who": 9, "n": null, "key": 9, "n_people": "Cem"},
            {"id": null, "who": null, "n": null, "key": null, "n_people": "Nobody"}
        ]),
    );
}
