//! `execute_analysis` as an agent uses it, and `analyze` in its programs: every source, both styles of
//! call, what does not fit, and what is wrong.

use gristmill_gateway::tokens;
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, modern, text_of};
use crate::gateways::{Place, Served};

cases![
    both_styles_of_call_give_the_same_rows,
    rows_inside_a_stored_result_are_reached_by_their_path,
    a_file_of_the_workspace_is_analysed_where_it_lies,
    text_in_another_format_is_data_too,
    what_is_no_data_is_refused_with_the_way_to_pass_it,
    what_does_not_fit_is_kept_under_a_handle_for_programs_and_for_the_next_analysis,
    two_tables_are_joined,
    a_wrong_field_is_named_with_its_step_and_the_nearest_one,
    data_is_given_once,
    every_answer_keeps_its_budget_by_exact_count,
    a_program_analyses_rows_files_and_stored_results,
    a_failed_analysis_is_an_error_that_the_program_can_catch,
];

fn serve(name: &str) -> Served {
    Place::new(name).serve(modern(), &[])
}

fn orders() -> Value {
    json!([
        {"city": "Oslo", "total": 30, "open": true},
        {"city": "Rome", "total": 5, "open": false},
        {"city": "Oslo", "total": 12, "open": false},
    ])
}

fn many_orders(count: usize) -> Value {
    let order = |number: usize| json!({"id": number, "city": if number.is_multiple_of(2) { "Oslo" } else { "Rome" }, "total": number * 3});
    Value::from_iter((0..count).map(order))
}

fn large() -> Value {
    json!({"field": "total", "operator": ">", "value": 10})
}

fn analyze(served: &Client, arguments: Value) -> Value {
    served.structured("execute_analysis", arguments)
}

/// What a program gives back.
fn run(served: &Client, code: &str) -> Value {
    let mut answer = served.structured("execute_code", json!({"code": code}));
    assert_eq!(answer["status"], "ok", "{answer:#}");
    answer["result"].take()
}

fn both_styles_of_call_give_the_same_rows() {
    let served = serve("analysis-styles");
    let kept =
        json!([{"city": "Oslo", "total": 30, "open": true}, {"city": "Oslo", "total": 12, "open": false}]);
    let listed = served.call("execute_analysis", json!({"data": orders(), "steps": [{"filter": large()}]}));
    let note = "filter kept 2 of 3 rows; total: min 12, mean 21, max 30";
    let columns = ["city", "total", "open"];
    let expected = json!({"status": "ok", "result": kept, "rows": 2, "columns": columns, "notes": [note]});
    assert_eq!(listed["structuredContent"], expected);
    assert_eq!(text_of(&listed), format!("2 rows: city, total, open\n{kept}\nnote: {note}"));
    let parameters = json!({"conditions": [large()], "logic": "AND"});
    let other = json!({"analysis_type": "filter", "data": orders(), "parameters": parameters});
    assert_eq!(analyze(&served, other), expected);
    // A list inside the data, by the name of its field.
    let inside = json!({"data_field": "answer.orders", "conditions": [large()]});
    let inside =
        json!({"analysis_type": "filter", "data": {"answer": {"orders": orders()}}, "parameters": inside});
    assert_eq!(analyze(&served, inside)["result"], kept);
}

fn rows_inside_a_stored_result_are_reached_by_their_path() {
    let served = serve("analysis-inside");
    let many = json!({"code": "{'answer': {'rows': [{'id': n, 'total': n * 3} for n in range(3000)]}, 'source': 'shop'}"});
    let kept = served.structured("execute_code", many);
    let handle = kept["result_handle"].as_str().expect("a handle");
    let few = json!({"field": "total", "operator": "<", "value": 7});
    let expected = json!([{"id": 0, "total": 0}, {"id": 1, "total": 3}, {"id": 2, "total": 6}]);
    for mut asked in [
        json!({"steps": [{"filter": few}]}),
        json!({"analysis_type": "filter", "parameters": {"conditions": [few]}}),
    ] {
        asked["handle"] = json!(handle);
        asked["data_field"] = json!("answer.rows");
        assert_eq!(analyze(&served, asked)["result"], expected);
    }
    let code = format!(
        "await analyze(handle=\"{handle}\", data_field=\"answer.rows\", steps=[{{\"filter\": {{\"field\": \"total\", \"operator\": \"<\", \"value\": 7}}}}])"
    );
    assert_eq!(run(&served, &code), expected);
    let nowhere = json!({"handle": handle, "data_field": "answer.rwos", "steps": []});
    let error = analyze(&served, nowhere)["error"].take();
    assert!(error.to_string().contains("did you mean \\\"rows\\\"?"), "{error:#}");
}

fn a_file_of_the_workspace_is_analysed_where_it_lies() {
    let served = serve("analysis-file");
    let steps =
        json!([{"aggregate": {"group_by": "city", "aggregations": {"total": "sum"}}}, {"sort": "city"}]);
    let missing = served.call("execute_analysis", json!({"file": "sales.csv", "steps": steps}));
    let expected =
        "error[GM-2002]: no file `sales.csv` in the workspace\nhint: list_workspace_files lists the files";
    assert_eq!((missing["isError"].as_bool(), text_of(&missing)), (Some(true), expected));
    let written = json!({"path": "sales.csv", "content": "city,total\nRome,5\nOslo,30\nOslo,12\n"});
    served.structured("write_workspace_file", written.clone());
    let told = analyze(&served, json!({"file": "/workspace/sales.csv", "steps": steps}));
    let sums: Vec<&Value> = told["result"].as_array().expect("rows").iter().map(|row| &row["city"]).collect();
    assert_eq!((sums, &told["rows"]), (vec![&json!("Oslo"), &json!("Rome")], &json!(2)), "{told:#}");
    // In a session by its name, and not in another.
    let mut named = written;
    named["session"] = json!("books");
    served.structured("write_workspace_file", named);
    let in_session = json!({"file": "sales.csv", "session": "books", "steps": [{"filter": large()}]});
    assert_eq!(analyze(&served, in_session)["rows"], 2);
    let elsewhere = json!({"file": "sales.csv", "session": "nowhere", "steps": [{"filter": large()}]});
    assert_eq!(analyze(&served, elsewhere)["error"]["message"], "no session `nowhere`");
    let outside = json!({"file": "../secrets.csv", "steps": [{"filter": large()}]});
    assert_eq!(analyze(&served, outside)["error"]["code"], "GM-2002");
}

fn text_in_another_format_is_data_too() {
    let served = serve("analysis-text");
    let csv =
        json!({"data": "city,total\nOslo,30\nRome,5\n", "format": "csv", "steps": [{"filter": large()}]});
    assert_eq!(analyze(&served, csv)["result"], json!([{"city": "Oslo", "total": 30}]));
    let lines = json!({"data": "{\"total\": 11}\n{\"total\": 9}\n", "format": "jsonl", "steps": [{"filter": large()}]});
    assert_eq!(analyze(&served, lines)["result"], json!([{"total": 11}]));
}

fn what_is_no_data_is_refused_with_the_way_to_pass_it() {
    let served = serve("analysis-no-data");
    let error = |arguments: Value| analyze(&served, arguments)["error"].take();
    let number = error(json!({"data": 5, "steps": [{"describe": {}}]}));
    assert_eq!(
        (&number["code"], &number["message"]),
        (&json!("GM-2002"), &json!("`data` takes rows, not 5"))
    );
    let path = error(json!({"data": "/etc/passwd", "steps": [{"describe": {}}]}));
    assert_eq!(path["message"], "`data` takes rows, not a file name: \"/etc/passwd\"");
    assert_eq!(path["hint"], "pass a workspace file as `file` and a stored result as `handle`");
    let further = error(json!({"data": orders(), "inputs": {"more": true}, "steps": [{"describe": {}}]}));
    assert_eq!(further["message"], "`data` takes rows, not true");
    let code =
        "try:\n    await analyze('/etc/passwd', [])\nexcept TypeError as error:\n    result = str(error)";
    let said = run(&served, code);
    assert!(said.as_str().is_some_and(|said| said.contains("file=\"sales.csv\"")), "{said}");
}

fn what_does_not_fit_is_kept_under_a_handle_for_programs_and_for_the_next_analysis() {
    let served = serve("analysis-handle");
    let steps = json!([{"filter": {"field": "total", "operator": ">=", "value": 0}}]);
    let told = served.call("execute_analysis", json!({"data": many_orders(3_000), "steps": steps}));
    let structured = &told["structuredContent"];
    let handle = structured["result_handle"].as_str().expect("a handle").to_owned();
    assert_eq!(structured["rows"], 3_000);
    let code = format!("json.load(open(\"/results/{handle}.json\"))");
    assert!(text_of(&told).contains(&code), "{}", text_of(&told));
    assert_eq!(
        run(&served, &format!("rows = {code}\n[len(rows), rows[-1]['total']]")),
        json!([3_000, 8_997])
    );
    let count = json!([{"filter": {"field": "city", "operator": "==", "value": "Rome"}}]);
    for mut again in [json!({"handle": handle}), json!({"file": format!("/results/{handle}.json")})] {
        again["steps"] = count.clone();
        assert_eq!(analyze(&served, again)["rows"], 1_500);
    }
    // What is shown whole is not kept.
    let small = analyze(&served, json!({"data": orders(), "steps": [{"filter": large()}]}));
    assert_eq!(small.get("result_handle"), None, "{small}");
}

fn two_tables_are_joined() {
    let served = serve("analysis-join");
    let cities = json!([{"city": "Oslo", "country": "NO"}, {"city": "Riga", "country": "LV"}]);
    let join =
        json!([{"join": {"with": "cities", "on": "city", "how": "inner"}}, {"select": ["country", "total"]}]);
    let expected = json!([{"country": "NO", "total": 30}, {"country": "NO", "total": 12}]);
    for inputs in [json!({"cities": cities}), json!({"cities": {"data": cities}})] {
        let told = analyze(&served, json!({"data": orders(), "inputs": inputs, "steps": join}));
        assert_eq!(told["result"], expected, "{told:#}");
    }
    let wrong =
        analyze(&served, json!({"data": orders(), "inputs": {"cities": {"path": "a"}}, "steps": join}));
    let message = wrong["error"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("the input `cities`: unknown field `path`"), "{message}");
}

fn a_wrong_field_is_named_with_its_step_and_the_nearest_one() {
    let served = serve("analysis-wrong");
    let steps = json!([{"filter": large()}, {"filter": {"field": "toal", "operator": ">", "value": 1}}]);
    let told = served.call("execute_analysis", json!({"data": orders(), "steps": steps}));
    let error = &told["structuredContent"]["error"];
    assert_eq!((told["isError"].as_bool(), &error["step"]), (Some(true), &json!(2)), "{told:#}");
    let text = text_of(&told);
    for word in ["step 2", "toal", "total"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    let unknown = analyze(&served, json!({"data": orders(), "steps": [{"fliter": large()}]}));
    let hint = unknown["error"]["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("filter"), "{unknown:#}");
}

fn data_is_given_once() {
    let served = serve("analysis-sources");
    let refused = |arguments: Value| analyze(&served, arguments)["error"]["message"].take();
    let steps = json!([{"describe": {}}]);
    assert_eq!(refused(json!({"steps": steps})), "the data is missing");
    assert_eq!(refused(json!({"data": [], "file": "a.csv", "steps": steps})), "the data is given twice");
    assert_eq!(refused(json!({"data": orders()})), "no steps given");
    assert_eq!(
        refused(json!({"data": orders(), "steps": steps, "analysis_type": "describe"})),
        "pass `steps`, or `analysis_type` with `parameters`, not both"
    );
    assert_eq!(
        refused(json!({"handle": "abcdefghijkmnpqrstuv", "steps": steps})),
        "no stored result `abcdefghijkmnpqrstuv`"
    );
}

fn every_answer_keeps_its_budget_by_exact_count() {
    let served = serve("analysis-budget");
    for budget in [100, 300, 1_000, 4_000] {
        let arguments = json!({
            "data": many_orders(2_000),
            "steps": [{"filter": {"field": "id", "operator": ">=", "value": 0}}],
            "max_output_tokens": budget,
        });
        let told = served.call("execute_analysis", arguments);
        let text = tokens::count(text_of(&told));
        let structured = tokens::count(&told["structuredContent"].to_string());
        assert!(text <= budget && structured <= budget, "{budget}: {text}, {structured}");
        assert!(told["structuredContent"]["result_handle"].is_string(), "{told:#}");
    }
    let small = json!({"data": orders(), "steps": [{"filter": large()}], "max_output_tokens": 10});
    let message = "max_output_tokens is 10; it can be 100 to 100000";
    assert_eq!(analyze(&served, small)["error"]["message"], message);
}

fn a_program_analyses_rows_files_and_stored_results() {
    let served = serve("analysis-program");
    let code = r#"
rows = [{"city": "Oslo", "total": 30}, {"city": "Rome", "total": 5}]
large = [{"filter": {"field": "total", "operator": ">", "value": 10}}]
write_file("sales.csv", "city,total\nBergen,12\nRome,1\n")
here, there = await asyncio.gather(analyze(rows, large), analyze(file="sales.csv", steps=large))
result = [here, there]
"#;
    let expected = json!([[{"city": "Oslo", "total": 30}], [{"city": "Bergen", "total": 12}]]);
    assert_eq!(run(&served, code), expected);
    let told = analyze(&served, json!({"data": many_orders(3_000), "steps": [{"filter": large()}]}));
    let handle = told["result_handle"].as_str().expect("a handle");
    let code = format!(
        "found = await analyze(handle=\"{handle}\", steps=[{{\"filter\": {{\"field\": \"id\", \"operator\": \"<\", \"value\": 6}}}}])\n[row[\"id\"] for row in found]"
    );
    assert_eq!(run(&served, &code), json!([4, 5]));
}

fn a_failed_analysis_is_an_error_that_the_program_can_catch() {
    let served = serve("analysis-caught");
    let code = r#"
try:
    await analyze([{"total": 1}], [{"filter": {"field": "toal", "operator": ">", "value": 1}}])
except ToolError as error:
    result = [error.step, error.line, "total" in str(error)]
"#;
    assert_eq!(run(&served, code), json!([1, 3, true]));
    // One that nobody catches: the engine's own advice, and nothing that could have been done twice.
    let wrong = json!({"code": code.lines().nth(2).unwrap_or_default().trim_start()});
    let told = served.call("execute_code", wrong);
    let error = &told["structuredContent"]["error"];
    assert!(error["hint"].as_str().is_some_and(|hint| hint.contains("total")), "{told:#}");
    assert_eq!(told["structuredContent"].get("tools_called"), None, "{told:#}");
    assert!(!text_of(&told).contains("Already called"), "{}", text_of(&told));
    let stats = served.structured("get_execution_stats", json!({}));
    assert_eq!(
        (&stats["tokens"]["inside"], &stats["direct"]["compared"]),
        (&json!(0), &json!(0)),
        "{stats:#}"
    );
    let nothing = run(
        &served,
        "try:\n    await analyze(file='no.csv', steps=[])\nexcept ToolError as error:\n    result = str(error)",
    );
    assert!(nothing.as_str().is_some_and(|message| message.contains("no.csv")), "{nothing}");
}
