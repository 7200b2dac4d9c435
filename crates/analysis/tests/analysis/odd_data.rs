//! Missing values, NaN, mixed kinds, nothing at all, twins, large integers and money.

use gristmill_analysis::Format;
use serde_json::{Value, json};

use super::{check, input, run, run_all};

#[test]
fn mixed_columns_become_text_and_a_note_says_so() {
    let (found, analyzed) =
        run(json!([]), r#"[{"a":1},{"a":"x"},{"a":true},{"a":2.50},{"a":[1]},{"a":null}]"#).unwrap();
    assert_eq!(
        found,
        json!([{"a": "1"}, {"a": "x"}, {"a": "true"}, {"a": "2.5"}, {"a": "[1]"}, {"a": null}])
    );
    assert_eq!(analyzed.notes, ["field \"a\" mixes 1 boolean, 2 number, 1 text, 1 list; it's read as text"]);
}

#[test]
fn integers_beyond_64_bits_stay_exact() {
    let data = r#"[{"id": 12345678901234567890, "n": 1}, {"id": 5, "n": 2}]"#;
    let steps = json!([{"filter": {"field": "id", "operator": "==", "value": 0}}]);
    let request = steps.to_string().replace("\"value\":0", "\"value\":12345678901234567890");
    let mut output = Vec::new();
    let analyzed =
        gristmill_analysis::analyze(&request, vec![input("data", None, data.as_bytes())], &mut output)
            .unwrap();
    assert_eq!(String::from_utf8(output).unwrap(), "[{\"id\":\"12345678901234567890\",\"n\":1}]");
    assert!(
        analyzed.notes[0]
            .starts_with("field \"id\" has 1 integers too large for 64 bits; the field is read as text")
    );
    let (found, analyzed) =
        run_all(&json!({"steps": []}), vec![input("data", None, b"id\n1\n99999999999999999999\n")]).unwrap();
    assert_eq!(found, json!([{"id": "1"}, {"id": "99999999999999999999"}]));
    assert!(analyzed.notes[0].contains("integers too large for 64 bits"));
}

#[test]
fn sums_are_exact_for_integers_and_compensated_for_fractions() {
    let steps = json!([{"aggregate": {"aggregations": {"a": "sum"}}}]);
    check(
        steps.clone(),
        json!([{"a": 9_007_199_254_740_993_i64}, {"a": 1}]),
        json!([{"a_sum": 9_007_199_254_740_994_i64}]),
    );
    let money: Vec<Value> = (0..10).map(|_| json!({"a": 0.1})).collect();
    check(steps.clone(), json!(money), json!([{"a_sum": 1.0}]));
    let (found, analyzed) = run(steps, &json!([{"a": i64::MAX}, {"a": 1}]).to_string()).unwrap();
    assert_eq!(found, json!([{"a_sum": 9.223_372_036_854_776e18}]));
    assert_eq!(
        analyzed.notes,
        ["a sum of \"a\" doesn't fit in 64 bits; the sums are rounded to about 16 digits"]
    );
}

#[test]
fn large_integers_keep_their_last_digit_in_every_figure() {
    let data = || json!([{"day": "2026-01-01", "id": 9_007_199_254_740_993_i64}, {"day": "2026-01-02", "id": 9_007_199_254_740_995_i64}]);
    let (found, _) = run(json!([{"describe": {"fields": ["id"]}}]), &data().to_string()).unwrap();
    let about = &found["columns"][0];
    assert_eq!(
        (&about["min"], &about["median"], &about["max"]),
        (
            &json!(9_007_199_254_740_993_i64),
            &json!(9_007_199_254_740_994_i64),
            &json!(9_007_199_254_740_995_i64)
        )
    );
    assert_eq!(about["std"], json!(2_f64.sqrt()));
    let over_time = |settings: Value| {
        let mut body = json!({"time": "day", "field": "id", "as": "x"});
        for (key, value) in settings.as_object().unwrap() {
            body[key] = value.clone();
        }
        json!([{ "timeseries": body }, {"select": ["x"]}])
    };
    check(over_time(json!({"operation": "difference"})), data(), json!([{"x": null}, {"x": 2}]));
    let rolling = |function: &str| {
        over_time(json!({"operation": "rolling", "window": 2, "min_periods": 1, "function": function}))
    };
    let (low, high) = (9_007_199_254_740_993_i64, 9_007_199_254_740_995_i64);
    check(rolling("max"), data(), json!([{"x": low}, {"x": high}]));
    check(rolling("sum"), data(), json!([{"x": low}, {"x": low + high}]));
    check(
        json!([{"aggregate": {"group_by": "day", "aggregations": {"id": ["median", "p90"]}}}]),
        data(),
        json!([{"day": "2026-01-01", "id_median": low, "id_p90": low}, {"day": "2026-01-02", "id_median": high, "id_p90": high}]),
    );
}

#[test]
fn what_64_bits_cannot_hold_is_a_number_and_a_note_says_so() {
    let steps =
        json!([{"timeseries": {"operation": "difference", "field": "a", "as": "x"}}, {"select": ["x"]}]);
    let (found, analyzed) = run(steps, &json!([{"a": i64::MIN}, {"a": i64::MAX}]).to_string()).unwrap();
    assert_eq!(found, json!([{"x": null}, {"x": 1.844_674_407_370_955_2e19}]));
    assert_eq!(
        analyzed.notes,
        ["results for \"a\" don't fit in 64 bits; they're rounded to about 16 digits"]
    );
}

#[test]
fn nan_is_a_number_that_is_left_out_and_missing_is_none() {
    let data = r#"[{"a": NaN}, {"a": null}, {"a": 2.0}, {"a": Infinity}]"#;
    let count = |condition: Value| run(json!([{"filter": condition}, {"aggregate": {}}]), data).unwrap().0;
    assert_eq!(count(json!({"field": "a", "operator": "is null"})), json!([{"count": 1}]));
    assert_eq!(count(json!({"field": "a", "operator": "is nan"})), json!([{"count": 1}]));
    assert_eq!(count(json!({"field": "a", "operator": ">", "value": 1})), json!([{"count": 2}]));
    assert_eq!(count(json!({"not": {"field": "a", "operator": ">", "value": 1}})), json!([{"count": 2}]));
    let (found, analyzed) = run(json!([]), data).unwrap();
    assert_eq!(found, json!([{"a": null}, {"a": null}, {"a": 2.0}, {"a": null}]));
    assert_eq!(analyzed.notes, ["field \"a\": 2 NaN or infinite values are written as null"]);
    let (found, analyzed) = run(json!([{"filter": {"field": "a", "operator": "!=", "value": "x"}}]), data)
        .err()
        .map_or_else(|| panic!(), |problem| (problem.message, problem.step));
    assert_eq!(
        (found.as_str(), analyzed),
        ("field \"a\" has type number, so it can't be compared with the text \"x\"", Some(1))
    );
    let (found, analyzed) = run(json!([{"filter": {"field": "a", "operator": "is nan"}}, {"aggregate": {"aggregations": {"a": ["count", "mean"]}}}]), data).unwrap();
    assert_eq!(found, json!([{"a_count": 0, "a_mean": null}]));
    assert_eq!(analyzed.notes, ["field \"a\": 1 NaN values left out", "filter kept 1 of 4 rows"]);
}

#[test]
fn no_function_takes_nan_for_a_value() {
    let data = r#"[{"a": NaN}, {"a": 1.0}, {"a": 3.0}, {"a": NaN}, {"a": null}]"#;
    let functions = json!(["count", "missing", "distinct", "sum", "min", "max", "first", "last"]);
    let (found, analyzed) = run(json!([{"aggregate": {"aggregations": {"a": functions}}}]), data).unwrap();
    assert_eq!(
        found,
        json!([{"a_count": 2, "a_missing": 3, "a_distinct": 2, "a_sum": 4.0, "a_min": 1.0, "a_max": 3.0, "a_first": 1.0, "a_last": 3.0}])
    );
    assert_eq!(analyzed.notes, ["field \"a\": 2 NaN values left out"]);
    let (found, _) = run(json!(["describe"]), data).unwrap();
    let about = &found["columns"][0];
    assert_eq!(
        (&about["count"], &about["missing"], &about["nan"], &about["distinct"]),
        (&json!(2), &json!(1), &json!(2), &json!(2))
    );
}

#[test]
fn nothing_in_gives_nothing_out_with_the_columns_that_are_known() {
    let empty = |content: &[u8], steps: Value| {
        let (found, analyzed) =
            run_all(&json!({ "steps": steps }), vec![input("data", None, content)]).unwrap();
        (found, analyzed.columns)
    };
    assert_eq!(empty(b"", json!([])), (json!([]), vec![]));
    assert_eq!(empty(b"[]", json!([])), (json!([]), vec![]));
    for format in [Format::Json, Format::JsonLines, Format::Csv] {
        let (found, analyzed) =
            run_all(&json!({"steps": []}), vec![input("data", Some(format), b" \n")]).unwrap();
        assert_eq!((found, analyzed.rows), (json!([]), Some(0)), "{format:?}");
        assert_eq!(analyzed.notes, ["the data is empty: no rows and no columns"]);
    }
    assert_eq!(
        empty(b"a,b\n", json!([{"aggregate": {"aggregations": {"b": ["mean", "sum", "max", "count"]}}}])).0,
        json!([{"b_mean": null, "b_sum": 0, "b_max": null, "b_count": 0}])
    );
    assert_eq!(
        empty(b"a,b\n1,\n2,\n", json!([{"aggregate": {"aggregations": {"b": "mean"}}}])).0,
        json!([{"b_mean": null}])
    );
    assert_eq!(
        empty(b"a,b\n", json!([{"sort": "a"}, {"distinct": ["a"]}, {"compute": {"c": "a"}}])),
        (json!([]), vec!["a".to_owned(), "b".to_owned(), "c".to_owned()])
    );
    assert_eq!(
        empty(b"a,b\n", json!([{"aggregate": {"group_by": "a", "aggregations": {"b": "count"}}}])),
        (json!([]), vec!["a".to_owned(), "b_count".to_owned()])
    );
    assert_eq!(
        empty(b"a,b\n", json!([{"aggregate": {}}])),
        (json!([{"count": 0}]), vec!["count".to_owned()])
    );
    assert_eq!(
        empty(br#"[{"a": null}]"#, json!([{"aggregate": {"aggregations": {"a": ["sum", "mean", "min"]}}}])).0,
        json!([{"a_sum": 0, "a_mean": null, "a_min": null}])
    );
}

#[test]
fn a_key_twice_in_one_object_counts_once() {
    let (found, analyzed) = run(json!([]), r#"[{"a":1,"a":2},{"a":3}]"#).unwrap();
    assert_eq!(found, json!([{"a": 1}, {"a": 3}]));
    assert_eq!(analyzed.notes, ["field \"a\" appears twice in one object; the first one is used"]);
}

#[test]
fn a_value_and_an_object_under_one_key_are_both_kept() {
    let (found, _) = run(json!([]), r#"[{"a":1},{"a":{"b":2}},{"a":null}]"#).unwrap();
    assert_eq!(found, json!([{"a": 1, "a.b": null}, {"a": null, "a.b": 2}, {"a": null, "a.b": null}]));
}

#[test]
fn names_that_look_like_paths_or_like_our_own_are_taken_as_they_are() {
    let data = r#"[{"a.b": 1, "a": {"b": 2}, "x\u001fy": 3, "$serde_json::private::Number": "4", "": 5}]"#;
    let (found, analyzed) =
        run(json!([{"filter": {"field": "a.b", "operator": "==", "value": 1}}]), data).unwrap();
    assert_eq!(found.as_array().map(Vec::len), Some(1));
    assert_eq!(analyzed.columns, ["a.b", "a.b", "x y", "$serde_json::private::Number", ""]);
}
