//! `gristmill analyze`, as a person uses it: files and pipes in, rows, documents and files out.
#![cfg(target_os = "linux")]

mod support;

use std::io::Write;
use std::process::Stdio;

use gristmill_gateway::tokens;
use gristmill_testkit::{Home, Ran};
use serde_json::{Value, json};
use support::gristmill;

const SALES: &str = "city,total\nOslo,30\nRome,5\nOslo,12\nBergen,40\n";

/// Only those that are worth a look.
const LARGE: &str = r#"[{"filter": {"field": "total", "operator": ">", "value": 10}}]"#;

fn home(name: &str) -> Home {
    let home = Home::new(gristmill(), name);
    std::fs::write(home.work().join("sales.csv"), SALES).expect("a file");
    home
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_pipe_gets_every_row_on_a_line_of_its_own() {
    let home = home("analyze-lines");
    let lines = home.ok(&["analyze", "sales.csv", "--steps", LARGE]);
    let rows: Vec<Value> = lines.lines().map(parsed).collect();
    let expected = [("Oslo", 30), ("Oslo", 12), ("Bergen", 40)];
    assert_eq!(rows, expected.map(|(city, total)| json!({"city": city, "total": total})));
}

#[test]
fn standard_input_becomes_one_document() {
    let home = home("analyze-stdin");
    let mut command = home.command(&["analyze", "-", "--format", "jsonl", "--steps", LARGE, "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut input = child.stdin.take().expect("its input");
    input.write_all(b"{\"total\": 11, \"big\": 123456789012345678}\n{\"total\": 3}\n").expect("it reads");
    drop(input);
    let ran = Ran::of(child.wait_with_output().expect("it ends"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told = parsed(&ran.stdout);
    assert_eq!(
        (&told["success"], &told["rows"], &told["columns"]),
        (&json!(true), &json!(1), &json!(["total", "big"]))
    );
    // Digit for digit.
    assert!(ran.stdout.contains("123456789012345678"), "{}", ran.stdout);
}

#[test]
fn two_files_are_joined_into_a_third() {
    let home = home("analyze-join");
    std::fs::write(home.work().join("cities.json"), r#"[{"city": "Oslo", "country": "NO"}]"#)
        .expect("a file");
    let steps =
        r#"[{"join": {"with": "cities", "on": "city", "how": "inner"}}, {"select": ["country", "total"]}]"#;
    std::fs::write(home.work().join("steps.json"), steps).expect("a file");
    let words = [
        "analyze",
        "sales.csv",
        "--steps",
        "@steps.json",
        "--input",
        "cities=cities.json",
        "-o",
        "joined.json",
    ];
    let ran = home.run(&words);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("wrote 2 rows to joined.json"), "{}", ran.stderr);
    let joined = std::fs::read_to_string(home.work().join("joined.json")).expect("what was written");
    assert_eq!(parsed(&joined), json!([{"country": "NO", "total": 30}, {"country": "NO", "total": 12}]));
}

#[test]
fn a_model_would_be_shown_so_many_tokens_and_no_more() {
    let home = home("analyze-tokens");
    let rows: String = (0..5_000).map(|number| format!("Trondheim,{number}\n")).collect();
    std::fs::write(home.work().join("many.csv"), format!("city,total\n{rows}")).expect("a file");
    let ran = home.run(&["analyze", "many.csv", "--steps", LARGE, "--max-tokens", "200"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(tokens::count(ran.stdout.trim_end()) <= 200, "{}", ran.stdout);
    assert!(ran.stderr.contains("left out:"), "{}", ran.stderr);
}

#[test]
fn what_is_wrong_is_said_with_its_step_the_nearest_name_and_an_exit_code() {
    let home = home("analyze-wrong");
    let steps = r#"[{"limit": 3}, {"filter": {"field": "toal", "operator": ">", "value": 1}}]"#;
    let ran = home.run(&["analyze", "sales.csv", "--steps", steps]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    for word in ["error[GM-", "step 2", "toal", "total"] {
        assert!(ran.stderr.contains(word), "{word}: {}", ran.stderr);
    }
    let ran = home.run(&["analyze", "sales.csv", "--steps", steps, "--json"]);
    assert_eq!(parsed(&ran.stdout)["error"]["step"], 2, "{}", ran.stdout);
    for (words, said) in [
        (["analyze", "nothing.csv", "--steps", LARGE], "nothing.csv cannot be opened"),
        (["analyze", ".", "--steps", LARGE], "is a folder; name a file in it"),
        (["analyze", "sales.csv", "--steps", "total > 10"], "the steps are not JSON"),
        (["analyze", "sales.csv", "--steps", "@no.json"], "the steps in no.json cannot be opened"),
    ] {
        let ran = home.run(&words);
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
    }
}
