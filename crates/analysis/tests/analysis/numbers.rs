//! Describe, validate, correlate, timeseries, test and outliers. Expected values are those of pandas and scipy.

use serde_json::{Value, json};

use super::{check, input, run, run_all};

#[track_caller]
fn close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is no number"));
    assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{found} is not {expected}");
}

#[test]
fn describe_says_what_each_column_holds() {
    let data = json!([{"n": 1, "t": "b", "l": [1]}, {"n": 4, "t": "a", "l": null}, {"n": null, "t": "b", "l": null}]);
    let expected = json!({"rows": 3, "columns": [
        {"field": "n", "type": "integer", "count": 2, "missing": 1, "distinct": 2, "mean": 2.5, "std": 2.121_320_343_559_642_6,
         "min": 1, "p25": 1.75, "median": 2.5, "p75": 3.25, "max": 4, "top": [{"value": 1, "count": 1}, {"value": 4, "count": 1}]},
        {"field": "t", "type": "text", "count": 3, "missing": 0, "distinct": 2, "min": "a", "max": "b", "min_length": 1, "max_length": 1,
         "top": [{"value": "b", "count": 2}, {"value": "a", "count": 1}]},
        {"field": "l", "type": "list", "count": 1, "missing": 2}
    ]});
    check(json!(["describe"]), data, expected);
}

#[test]
fn validate_counts_what_breaks_each_rule_and_shows_examples() {
    let data = r#"[{"id":1,"mail":"a@b.c","age":30,"who":1},{"id":1,"mail":"no","age":-1,"who":9},{"id":2,"mail":null,"age":"x","who":null}]"#;
    let request = json!({"steps": [{"validate": {"examples": 1, "rules": [
        {"field": "id", "unique": true},
        {"field": "mail", "required": true, "pattern": "^[^@]+@[^@]+$", "max_length": 4},
        {"field": "age", "type": "integer"},
        {"field": "who", "references": {"input": "people", "field": "id"}, "range": [0, 5]},
        {"field": "kind", "required": true}
    ], "unique": ["id", "mail"]}}]});
    let inputs = vec![input("data", None, data.as_bytes()), input("people", None, b"id\n1\n2\n")];
    let (found, analyzed) = run_all(&request, inputs).unwrap();
    let check = |field: &str, rule: &str, failed: usize, row: usize, value: Value| {
        let examples = if failed == 0 { json!([]) } else { json!([{"row": row, "value": value}]) };
        json!({"field": field, "rule": rule, "failed": failed, "examples": examples})
    };
    assert_eq!(
        found,
        json!({"valid": false, "rows": 3, "valid_rows": 0, "invalid_rows": 3, "checks": [
            check("id", "unique", 1, 2, json!(1)),
            check("mail", "required", 1, 3, Value::Null),
            check("mail", "max_length 4", 1, 1, json!("a@b.c")),
            check("mail", "pattern ^[^@]+@[^@]+$", 1, 2, json!("no")),
            check("age", "type integer", 3, 1, json!("30")),
            check("who", "min 0", 0, 0, Value::Null),
            check("who", "max 5", 1, 2, json!(9)),
            check("who", "references people.id", 1, 2, json!(9)),
            check("kind", "required", 3, 1, Value::Null),
            check("id, mail", "unique", 0, 0, Value::Null)
        ]})
    );
    assert_eq!(analyzed.rows, None);
    assert_eq!(analyzed.columns, ["valid", "rows", "valid_rows", "invalid_rows", "checks"]);
}

#[test]
fn correlations_use_the_rows_in_which_both_are_there() {
    let data = json!([{"x": 1, "y": 2}, {"x": 2, "y": 4}, {"x": 3, "y": 5}, {"x": 4, "y": 4}, {"x": 5, "y": 5}, {"x": null, "y": 100}]);
    let (found, _) = run(json!([{"correlate": {"fields": ["x", "y"]}}]), &data.to_string()).unwrap();
    close(&found["matrix"][0][1], 0.774_596_669_241_483);
    close(&found["matrix"][1][1], 1.0);
    close(&found["pairs"][0]["p_value"], 0.124_027_062_657_554_45);
    assert_eq!(found["pairs"][0]["rows"], json!(5));
    let (found, _) = run(json!([{"correlate": {"method": "covariance"}}]), &data.to_string()).unwrap();
    close(&found["pairs"][0]["value"], 1.5);
    let (found, _) = run(json!([{"correlate": {"method": "spearman"}}]), &data.to_string()).unwrap();
    close(&found["pairs"][0]["value"], 0.737_864_787_372_621_8);
}

#[test]
fn covariance_is_the_matrix_of_sample_covariances() {
    // As numpy.cov and pandas' DataFrame.cov compute it: sums of products of the distances, over n - 1.
    let data = json!([{"x": 1, "y": 2, "z": 9.0}, {"x": 2, "y": 4, "z": 5.0}, {"x": 4, "y": 9, "z": 1.0}, {"x": 5, "y": 5, "z": 1.0}]);
    let asked = [
        json!({"analysis_type": "covariance", "parameters": {"fields": ["x", "y", "z"]}}),
        json!({"analysis_type": "covariance"}),
        json!({"steps": [{"covariance": ["x", "y", "z"]}]}),
        json!({"steps": [{"type": "cov", "columns": ["x", "y", "z"]}]}),
        json!({"steps": [{"correlate": {"method": "covariance"}}]}),
    ];
    for request in asked {
        let (found, _) = run_all(&request, vec![input("data", None, data.to_string().as_bytes())]).unwrap();
        assert_eq!(
            (&found["method"], &found["fields"]),
            (&json!("covariance"), &json!(["x", "y", "z"])),
            "{request}"
        );
        let expected = [[10.0, 11.0, -20.0], [11.0, 26.0, -28.0], [-20.0, -28.0, 44.0]];
        for (i, row) in expected.iter().enumerate() {
            row.iter().enumerate().for_each(|(j, value)| close(&found["matrix"][i][j], value / 3.0));
        }
        assert_eq!(found["pairs"][0].get("p_value"), None, "a covariance has none");
    }
    // Of one field it is the variance.
    let (found, _) = run(json!([{"covariance": {"field": "x"}}]), &data.to_string()).unwrap();
    close(&found["matrix"][0][0], 10.0 / 3.0);
}

#[test]
fn anova_compares_the_means_of_several_groups() {
    let groups = [("a", [6, 8, 4, 5, 3, 4]), ("b", [8, 12, 9, 11, 6, 8]), ("c", [13, 9, 11, 8, 7, 12])];
    let rows: Vec<Value> =
        groups.iter().flat_map(|(name, values)| values.map(|value| json!({"g": name, "v": value}))).collect();
    let wide: Vec<Value> = (0..6)
        .map(|row| json!({"a": groups[0].1[row], "b": groups[1].1[row], "c": groups[2].1[row]}))
        .collect();
    // Squares between the groups: 6 * ((5 - 8)² + (9 - 8)² + (10 - 8)²) = 84; within: 16 + 24 + 28 = 68.
    let f = (84.0 / 2.0) / (68.0 / 15.0);
    // With two degrees of freedom between, the F distribution has this closed form.
    let p_value = (15.0_f64 / (15.0 + 2.0 * f)).powf(7.5);
    for (request, data) in [
        (json!({"analysis_type": "anova", "parameters": {"field": "v", "group_by": "g"}}), &rows),
        (json!({"steps": [{"test": {"test": "anova", "field": "v", "group": "g"}}]}), &rows),
        (json!({"steps": [{"one-way anova": {"value_field": "v", "group_field": "g"}}]}), &rows),
        (json!({"steps": [{"anova": ["a", "b", "c"]}]}), &wide),
    ] {
        let (found, _) =
            run_all(&request, vec![input("data", None, json!(data).to_string().as_bytes())]).unwrap();
        assert_eq!(found["test"], json!("one-way ANOVA"), "{request}");
        close(&found["statistic"], f);
        close(&found["p_value"], p_value);
        close(&found["eta_squared"], 84.0 / 152.0);
        let degrees = &found["degrees_of_freedom"];
        close(&degrees["between"], 2.0);
        close(&degrees["within"], 15.0);
        assert_eq!((&found["samples"][2]["name"], &found["samples"][2]["count"]), (&json!("c"), &json!(6)));
    }
    // Of two groups it is Student's t-test: F is t squared, with the same p-value.
    let two = |test: &str| {
        let steps = json!([{"test": {"test": test, "field": "v", "group": "g", "groups": ["a", "b"], "equal_variance": true}}]);
        run(steps, &json!(rows).to_string()).unwrap().0
    };
    let (t, anova) = (two("t_test"), two("anova"));
    close(&anova["statistic"], t["statistic"].as_f64().unwrap().powi(2));
    close(&anova["p_value"], t["p_value"].as_f64().unwrap());
    let said = |steps: Value, data: Value| run(steps, &data.to_string()).unwrap_err().message;
    let same = json!([{"g": "a", "v": 1}, {"g": "b", "v": 1}, {"g": "b", "v": 1}]);
    let asked = json!([{"anova": {"field": "v", "group": "g"}}]);
    assert_eq!(said(asked.clone(), same), "anova needs more values than groups, and values that differ");
    let one = json!([{"g": "a", "v": 1}, {"g": "a", "v": 2}]);
    assert_eq!(said(asked.clone(), one), "anova compares two groups or more, and there are 1");
    let empty = json!([{"g": "a", "v": 1}, {"g": "a", "v": 3}, {"g": "b", "v": null}]);
    assert_eq!(said(asked, empty), "anova needs values in every group, and \"b\" has none");
}

#[test]
fn a_filter_says_how_many_rows_it_kept_with_figures_of_the_numbers() {
    let rows: Vec<Value> = (0..1_200)
        .map(|n| json!({"n": n, "half": f64::from(n) / 2.0, "t": if n % 2 == 0 { "x" } else { "y" }}))
        .collect();
    let noted = |steps: Value| run(steps, &json!(rows).to_string()).unwrap().1.notes;
    assert_eq!(
        noted(json!([{"filter": {"field": "n", "operator": ">=", "value": 200}}])),
        ["filter kept 1,000 of 1,200 rows; n: min 200, mean 699.5, max 1199"]
    );
    // Texts, and numbers that are all the same, have no figures; each filter has its note.
    assert_eq!(
        noted(json!([
            {"filter": [{"field": "t", "operator": "==", "value": "x"}, {"field": "half", "operator": "<", "value": 3}]},
            {"transform": {"filter": "n == 4"}},
            {"filter": "n == 5"}
        ])),
        [
            "filter kept 3 of 1,200 rows; half: min 0.0, mean 1, max 2.0",
            "filter kept 1 of 3 rows",
            "filter kept 0 of 1 row"
        ]
    );
    let steps = json!([{"filter": "n == 5"}, {"sort": "m"}]);
    let problem = run(steps, &json!(rows).to_string()).unwrap_err();
    assert!(!problem.hint.unwrap_or_default().contains("filter kept"), "it explains no problem");
}

fn days() -> Value {
    json!([
        {"d": "2026-01-03", "v": 30}, {"d": "2026-01-01", "v": 10}, {"d": "2026-01-01T12:00:00Z", "v": 20}, {"d": "2026-01-06", "v": 50}
    ])
}

#[test]
fn resampling_has_a_row_for_every_stretch_of_time() {
    let steps = json!([{"timeseries": {"operation": "resample", "time": "d", "every": "1d", "aggregations": {"v": ["sum", "mean"]}}}, {"limit": 3}]);
    check(
        steps,
        days(),
        json!([
            {"d": "2026-01-01", "v_sum": 30, "v_mean": 15.0}, {"d": "2026-01-02", "v_sum": 0, "v_mean": null}, {"d": "2026-01-03", "v_sum": 30, "v_mean": 30.0}
        ]),
    );
    let steps = json!([{"timeseries": {"operation": "resample", "time": "d", "every": "day", "field": "v", "function": "max", "as": "top", "fill": "previous"}}]);
    check(
        steps,
        days(),
        json!([
            {"d": "2026-01-01", "top": 20}, {"d": "2026-01-02", "top": 20}, {"d": "2026-01-03", "top": 30},
            {"d": "2026-01-04", "top": 30}, {"d": "2026-01-05", "top": 30}, {"d": "2026-01-06", "top": 50}
        ]),
    );
    let steps = json!([{"timeseries": {"operation": "resample", "time": "d", "every": "12h", "field": "v", "function": "count"}}, {"limit": 2}]);
    check(
        steps,
        days(),
        json!([{"d": "2026-01-01T00:00:00Z", "v_count": 1}, {"d": "2026-01-01T12:00:00Z", "v_count": 1}]),
    );
}

#[test]
fn what_is_missing_in_a_stretch_of_time_is_filled_in_sums_too() {
    let data = || json!([{"d": "2026-02-10", "v": 5, "t": "x"}, {"d": "2026-04-10", "v": 7, "t": "y"}]);
    let filled = |fill: Value| {
        json!([{"timeseries": {"operation": "resample", "time": "d", "every": "month", "fill": fill,
            "aggregations": {"v": ["sum", "mean", "count"], "t": "last"}}}])
    };
    let month = |day: &str, sum: Value, mean: Value, count: i64, last: Value| json!({"d": day, "v_sum": sum, "v_mean": mean, "v_count": count, "t_last": last});
    let (february, april) = (
        month("2026-02-01", json!(5), json!(5.0), 1, json!("x")),
        month("2026-04-01", json!(7), json!(7.0), 1, json!("y")),
    );
    let march = month("2026-03-01", json!(5), json!(5.0), 0, json!("x"));
    check(filled(json!("previous")), data(), json!([february, march, april]));
    let march = month("2026-03-01", json!(-1), json!(-1.0), 0, Value::Null);
    check(filled(json!(-1)), data(), json!([february, march, april]));
}

#[test]
fn windows_differences_and_gaps_go_along_time() {
    let rolled = |window: Value| json!([{"timeseries": {"operation": "rolling", "time": "d", "field": "v", "window": window, "as": "r"}}, {"select": ["v", "r"]}]);
    check(
        rolled(json!(2)),
        days(),
        json!([{"v": 10, "r": null}, {"v": 20, "r": 15.0}, {"v": 30, "r": 25.0}, {"v": 50, "r": 40.0}]),
    );
    check(
        rolled(json!("2d")),
        days(),
        json!([{"v": 10, "r": 10.0}, {"v": 20, "r": 15.0}, {"v": 30, "r": 25.0}, {"v": 50, "r": 50.0}]),
    );
    let steps = json!([{"timeseries": {"operation": "difference", "time": "d", "field": "v"}}, {"select": ["v", "v_difference"]}]);
    check(
        steps,
        days(),
        json!([{"v": 10, "v_difference": null}, {"v": 20, "v_difference": 10}, {"v": 30, "v_difference": 10}, {"v": 50, "v_difference": 20}]),
    );
    let steps = json!([{"timeseries": {"operation": "gaps", "time": "d", "every": "1d"}}]);
    check(
        steps,
        days(),
        json!([{"after": "2026-01-01T12:00:00Z", "before": "2026-01-03T00:00:00Z", "missing": 1}, {"after": "2026-01-03T00:00:00Z", "before": "2026-01-06T00:00:00Z", "missing": 2}]),
    );
}

#[test]
fn a_trend_is_the_line_of_least_squares() {
    let data = json!([{"d": "2026-01-01", "v": 2}, {"d": "2026-01-02", "v": 4}, {"d": "2026-01-03", "v": 5}, {"d": "2026-01-04", "v": 4}, {"d": "2026-01-05", "v": 5}]);
    let (found, _) =
        run(json!([{"timeseries": {"operation": "trend", "time": "d", "field": "v"}}]), &data.to_string())
            .unwrap();
    close(&found["slope_per_day"], 0.6);
    close(&found["intercept"], 2.8);
    close(&found["r_squared"], 0.6);
    close(&found["p_value"], 0.124_027_062_657_554_45);
    assert_eq!((&found["direction"], &found["from"]), (&json!("none"), &json!("2026-01-01T00:00:00")));
    assert_eq!(found["significant_at_5_percent"], json!(false));
}

#[test]
fn a_trend_has_a_direction_where_it_is_more_than_chance() {
    let directed = |values: [i64; 5]| {
        let rows: Vec<Value> = values
            .iter()
            .enumerate()
            .map(|(day, value)| json!({"d": format!("2026-01-0{}T02:00:00+02:00", day + 1), "v": value}))
            .collect();
        let steps = json!([{"timeseries": {"operation": "trend", "time": "d", "field": "v"}}]);
        run(steps, &json!(rows).to_string()).unwrap().0
    };
    let rising = directed([1, 3, 4, 6, 9]);
    assert_eq!((&rising["direction"], &rising["significant_at_5_percent"]), (&json!("rising"), &json!(true)));
    assert_eq!(
        (&rising["from"], &rising["to"]),
        (&json!("2026-01-01T00:00:00Z"), &json!("2026-01-05T00:00:00Z"))
    );
    assert_eq!(directed([9, 6, 4, 3, 1])["direction"], json!("falling"));
    assert_eq!(directed([2, 2, 2, 2, 2])["direction"], json!("level"));
    assert_eq!(directed([1, 9, 2, 8, 3])["direction"], json!("none"));
}

#[test]
fn tests_agree_with_scipy() {
    let left = [30.02, 29.99, 30.11, 29.97, 30.01, 29.99];
    let right = [29.89, 29.93, 29.72, 29.98, 30.02, 29.98];
    let rows: Vec<Value> = left.iter().zip(right).map(|(a, b)| json!({"a": a, "b": b})).collect();
    let check = |rows: &[Value], arguments: Value, statistic: f64, p_value: f64| {
        let (found, _) = run(json!([{ "test": arguments }]), &json!(rows).to_string()).unwrap();
        close(&found["statistic"], statistic);
        close(&found["p_value"], p_value);
    };
    check(
        &rows,
        json!({"test": "t_test", "fields": ["a", "b"]}),
        1.959_005_808_108_143_4,
        0.090_773_324_285_661_12,
    );
    check(
        &rows,
        json!({"test": "t_test", "fields": ["a", "b"], "equal_variance": true}),
        1.959_005_808_108_143_6,
        0.078_565_773_857_230_68,
    );
    check(
        &rows,
        json!({"test": "t_test", "fields": ["a", "b"], "paired": true}),
        1.509_966_887_054_137_6,
        0.191_436_884_336_601_36,
    );
    check(
        &rows,
        json!({"test": "t_test", "field": "a", "mean": 30}),
        0.739_296_087_135_240_4,
        0.492_951_875_510_213_2,
    );
    let grouped = |groups: &[(&str, &[f64])]| -> Vec<Value> {
        groups
            .iter()
            .flat_map(|(name, values)| values.iter().map(move |value| json!({"g": name, "v": value})))
            .collect()
    };
    let exact = grouped(&[("m", &[19.0, 22.0, 16.0, 29.0, 24.0]), ("f", &[20.0, 11.0, 17.0, 12.0])]);
    check(&exact, json!({"test": "mann_whitney", "field": "v", "group": "g"}), 17.0, 1.0 / 9.0);
    let tied = grouped(&[
        ("m", &[1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]),
        ("f", &[2.0, 3.0, 4.0, 4.0, 5.0, 6.0, 7.0, 11.0, 12.0, 13.0, 14.0, 15.0]),
    ]);
    check(&tied, json!({"test": "mann_whitney", "field": "v", "group": "g"}), 43.0, 0.164_862_340_963_717_44);
    let values =
        [148, 154, 158, 160, 161, 162, 166, 170, 182, 195, 236, 148, 151, 152, 158, 160, 161, 163, 165, 171];
    let values: Vec<Value> = values.iter().map(|value| json!({"v": value})).collect();
    check(
        &values,
        json!({"test": "normality", "field": "v"}),
        27.931_020_665_069_39,
        8.607_081_704_541_17e-7,
    );
}

#[test]
fn chi_square_agrees_with_scipy() {
    let counted = |cells: &[(&str, &str, usize)]| -> Vec<Value> {
        cells.iter().flat_map(|(a, b, count)| (0..*count).map(move |_| json!({"a": a, "b": b}))).collect()
    };
    let check = |rows: Vec<Value>, fields: Value, statistic: f64, p_value: f64| {
        let (found, _) =
            run(json!([{"test": {"test": "chi_square", "fields": fields}}]), &json!(rows).to_string())
                .unwrap();
        close(&found["statistic"], statistic);
        close(&found["p_value"], p_value);
    };
    check(
        counted(&[("x", "p", 10), ("x", "q", 20), ("y", "p", 20), ("y", "q", 10)]),
        json!(["a", "b"]),
        5.4,
        0.020_136_751_550_346_33,
    );
    let three = counted(&[
        ("x", "p", 10),
        ("x", "q", 10),
        ("x", "r", 20),
        ("y", "p", 20),
        ("y", "q", 20),
        ("y", "r", 20),
    ]);
    check(three, json!(["a", "b"]), 2.777_777_777_777_777_7, 0.249_352_208_777_296_22);
    let one =
        counted(&[("1", "", 16), ("2", "", 18), ("3", "", 16), ("4", "", 14), ("5", "", 12), ("6", "", 12)]);
    check(one, json!("a"), 2.0, 0.849_145_036_084_609_6);
}

#[test]
fn outliers_are_shown_removed_or_flagged() {
    let data = json!([{"v": 10}, {"v": 12}, {"v": 11}, {"v": 13}, {"v": 100}, {"v": null}]);
    check(json!([{"outliers": {"field": "v"}}]), data.clone(), json!([{"v": 100}]));
    check(json!([{"outliers": {"field": "v", "method": "mad"}}]), data.clone(), json!([{"v": 100}]));
    check(json!([{"outliers": {"field": "v", "method": "z-score"}}]), data.clone(), json!([]));
    check(
        json!([{"outliers": {"field": "v", "action": "remove"}}, {"aggregate": {}}]),
        data.clone(),
        json!([{"count": 5}]),
    );
    let (found, analyzed) =
        run(json!([{"outliers": {"field": "v", "action": "flag"}}, {"limit": 1}]), &data.to_string())
            .unwrap();
    assert_eq!(found, json!([{"v": 10, "is_outlier": false}]));
    assert_eq!(analyzed.notes, ["outliers of \"v\" by iqr 1.5: 1 of 6 rows, below 8 or above 16"]);
}
