//! `read_result`: parts of whole values, as an agent asks for them.

use gristmill_gateway::ids::Owner;
use gristmill_gateway::results::{Origin, ResultKind, ResultSettings, Results};
use gristmill_gateway::store::Store;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::cases;
use crate::client::{modern, text_of};
use crate::gateways::Place;

cases![
    a_result_is_read_in_parts,
    a_result_above_its_limit_is_stored_and_answered_condensed,
    what_is_not_there_is_told_with_what_is,
    an_interpreter_that_stays_finds_results_that_came_later,
    without_state_there_are_no_results,
];

/// Keeps a value in a home, beside the gateway that runs there.
fn put(home: &gristmill_testkit::Home, owner: &Owner, kind: ResultKind, text: &str) -> String {
    let data = home.path().join("data");
    Runtime::new().expect("a runtime").block_on(async {
        let store = Store::open(&data).expect("a database");
        let folder = data.join("results");
        let results = Results::open(store.clone(), folder, ResultSettings::default()).await.expect("results");
        let put = results.put(owner, Origin::default(), kind, None, text.as_bytes().to_vec()).await;
        store.close().await;
        put.expect("it is kept").handle
    })
}

fn rows() -> Value {
    json!({"rows": (0..20_000).map(|at| json!({"name": format!("row {at}"), "at": at})).collect::<Vec<_>>(), "text": "żółw ".repeat(1_000)})
}

fn a_result_above_its_limit_is_stored_and_answered_condensed() {
    let served = Place::new("large-result").serve(modern(), &[]);
    let code = "result = {'rows': [{'id': n, 'name': 'x' * 60} for n in range(80_000)], 'count': 80_000}";
    let answer = served.structured("execute_code", json!({"code": code, "timeout_s": 60}));
    assert_eq!((&answer["status"], &answer["result"]["count"]), (&json!("ok"), &json!(80_000)), "{answer}");
    let handle = answer["result_handle"].as_str().expect("a handle");
    let path = format!("/results/{handle}.json");
    assert!(answer["notes"][0].as_str().is_some_and(|note| note.contains(&path)), "{answer}");
    let last = served.structured("read_result", json!({"handle": handle, "path": "rows[79999].id"}));
    assert_eq!(last["value"], json!(79_999));
}

fn a_result_is_read_in_parts() {
    let served = Place::new("read-result").serve(modern(), &[]);
    let handle = put(served.home(), &Owner::local(), ResultKind::Json, &rows().to_string());
    let read = |more: Value| {
        let mut arguments = json!({"handle": handle});
        arguments.as_object_mut().expect("members").extend(more.as_object().expect("members").clone());
        served.structured("read_result", arguments)
    };
    let part = read(json!({"path": "rows", "offset": 19_998, "limit": 10}));
    assert_eq!(
        part["value"],
        json!([{"name": "row 19998", "at": 19_998}, {"name": "row 19999", "at": 19_999}])
    );
    assert_eq!(
        (&part["total"], &part["counted"], &part["next_offset"]),
        (&json!(20_000), &json!("items"), &Value::Null)
    );
    let part = read(json!({"path": "rows", "limit": 3}));
    assert_eq!((part["value"].as_array().map(Vec::len), &part["next_offset"]), (Some(3), &json!(3)));
    for path in ["rows[7].name", "rows.7.name"] {
        assert_eq!(read(json!({"path": path}))["value"], json!("row 7"), "{path}");
    }
    let part = read(json!({"path": "text", "offset": 1, "limit": 3}));
    assert_eq!(
        (&part["value"], &part["total"], &part["counted"]),
        (&json!("ółw"), &json!(5_000), &json!("characters"))
    );
    let escapes = put(served.home(), &Owner::local(), ResultKind::Text, &"a\"\\\t\u{1}".repeat(9_000));
    let whole = format!("/results/{handle}.json");
    for arguments in [
        json!({"handle": whole}),
        json!({"handle": whole, "path": "rows", "offset": 5, "limit": 9_000}),
        json!({"handle": whole, "path": "text"}),
        json!({"handle": escapes, "limit": 20_000}),
    ] {
        let read = served.call("read_result", arguments);
        let structured = read["structuredContent"].to_string();
        for said in [text_of(&read), structured.as_str()] {
            let tokens = gristmill_gateway::tokens::count(said);
            assert!((20..=1_000).contains(&tokens), "{tokens}: {said}");
        }
    }
    let text = put(served.home(), &Owner::local(), ResultKind::Text, "one\ntwo\nthree");
    assert_eq!(
        served.structured("read_result", json!({"handle": text, "offset": 4}))["value"],
        json!("two\nthree")
    );
}

fn what_is_not_there_is_told_with_what_is() {
    let served = Place::new("read-nothing").serve(modern(), &[]);
    let handle = put(served.home(), &Owner::local(), ResultKind::Json, &rows().to_string());
    let theirs = put(served.home(), &Owner("http:alice".to_owned()), ResultKind::Json, "[1]");
    let refused = |arguments: Value| {
        let refused = served.call("read_result", arguments);
        assert_eq!(refused["isError"], true, "{refused}");
        text_of(&refused).to_owned()
    };
    let told = refused(json!({"handle": handle, "path": "rows[3].nmae"}));
    assert!(told.contains("rows[3] has no `nmae`; did you mean `name`?"), "{told}");
    let told = refused(json!({"handle": handle, "path": "rows[20000]"}));
    assert!(told.contains("rows has 20000 items (0 to 19999), so there is no index 20000"), "{told}");
    let told = refused(json!({"handle": handle, "path": "rows", "limit": 0}));
    assert!(told.contains("limit is 0; it must be a whole number, 1 or more"), "{told}");
    for unknown in [theirs.as_str(), "abcdefghijkmnpqrstuv", "../../etc/passwd"] {
        let told = refused(json!({"handle": unknown}));
        assert!(told.contains("no result") && told.contains("results expire 7 d"), "{told}");
    }
}

fn an_interpreter_that_stays_finds_results_that_came_later() {
    let served = Place::new("kept-results").serve(modern(), &[]);
    let run = |code: &str| {
        served.structured("execute_code", json!({"code": code, "session": "one", "keep_variables": true}))
    };
    assert_eq!(run("x = 41")["status"], "ok");
    let handle = put(served.home(), &Owner::local(), ResultKind::Json, "[1]");
    let theirs = put(served.home(), &Owner("http:alice".to_owned()), ResultKind::Json, "[2]");
    let code = format!(
        "import json, os\ndef is_there(handle):\n    return os.path.exists(f'/results/{{handle}}.json')\n[json.load(open('/results/{handle}.json'))[0] + x, is_there('{handle}'), is_there('{theirs}')]"
    );
    assert_eq!(run(&code)["result"], json!([42, true, false]));
}

fn without_state_there_are_no_results() {
    let served = Place::new("no-results").serve(modern(), &["--no-state"]);
    let refused = served.call("read_result", json!({"handle": "abcdefghijkmnpqrstuv"}));
    assert!(text_of(&refused).contains("this gateway doesn't keep results"), "{refused}");
    let code = "import os\nos.path.exists('/results')";
    assert_eq!(served.structured("execute_code", json!({"code": code}))["result"], json!(false));
}
