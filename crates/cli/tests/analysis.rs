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
    assert!(ran.stderr.contains("wrote 2 rows to joined.json (json, "), "{}", ran.stderr);
    let joined = std::fs::read_to_string(home.work().join("joined.json")).expect("what was written");
    assert_eq!(parsed(&joined), json!([{"country": "NO", "total": 30}, {"country": "NO", "total": 12}]));
}

#[test]
fn a_file_is_written_in_the_format_of_its_extension_unless_another_is_named() {
    let home = home("analyze-formats");
    let written = |flags: &[&str], file: &str| {
        let words = [&["analyze", "sales.csv", "--steps", LARGE][..], flags].concat();
        let ran = home.run(&words);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), ""), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(&format!("wrote 3 rows to {file} (")), "{}", ran.stderr);
        std::fs::read_to_string(home.work().join(file)).expect("what was written")
    };
    let csv = "city,total\nOslo,30\nOslo,12\nBergen,40\n";
    assert_eq!(written(&["--output", "out.csv"], "out.csv"), csv);
    assert_eq!(written(&["-o", "out.json", "--output-format", "csv"], "out.json"), csv);
    let lines = "{\"city\":\"Oslo\",\"total\":30}\n{\"city\":\"Oslo\",\"total\":12}\n{\"city\":\"Bergen\",\"total\":40}\n";
    assert_eq!(written(&["--output", "out.jsonl"], "out.jsonl"), lines);
    assert_eq!(written(&["--output", "out.ndjson"], "out.ndjson"), lines);
    let rows = json!([{"city": "Oslo", "total": 30}, {"city": "Oslo", "total": 12}, {"city": "Bergen", "total": 40}]);
    assert_eq!(parsed(&written(&["--output", "all.json"], "all.json")), rows);
    let again = home.run(&["analyze", "sales.csv", "--steps", LARGE, "--output", "sales.csv"]);
    assert!(again.code == Some(2) && again.stderr.contains("sales.csv already exists"), "{}", again.stderr);
    let forced = ["--output", "out.csv", "--force", "--output-format", "json"];
    assert_eq!(parsed(&written(&forced, "out.csv")), rows);
    assert_eq!(home.ok(&["analyze", "sales.csv", "--steps", LARGE, "--output-format", "csv"]), csv);
    // What cannot be written is said before anything is computed or touched.
    let refused = home.run(&["analyze", "sales.csv", "--steps", LARGE, "--output", "out.parquet"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    for words in ["can't write .parquet files", "hint: ", ".csv, .json, .jsonl or .ndjson"] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
    assert!(!home.work().join("out.parquet").exists());
    let report = home.run(&["analyze", "sales.csv", "--steps", r#"["describe"]"#, "-o", "report.csv"]);
    assert_eq!(report.code, Some(2), "{}", report.stderr);
    assert!(report.stderr.contains("hint: write it to a .json file"), "{}", report.stderr);
    assert!(!home.work().join("report.csv").exists());
}

#[test]
fn a_filter_says_how_many_rows_it_kept() {
    let home = home("analyze-kept");
    let ran = home.run(&["analyze", "sales.csv", "--steps", LARGE]);
    assert_eq!(ran.stderr, "note: filter kept 3 of 4 rows; total: min 12, mean 27.3333, max 40\n");
}

#[test]
fn the_configured_level_and_limits_hold_where_no_server_is_connected() {
    let home = home("no-servers-level");
    let config = "level = \"hardened\"\n[limits]\ntool_calls = 7\n[servers.broken]\ncomand = \"x\"\n";
    std::fs::create_dir_all(home.config_file().parent().expect("a folder")).expect("a folder");
    std::fs::write(home.config_file(), config).expect("a file");
    // The limit on memory of `hardened` is below that of `production`, so that this would do otherwise.
    let large = ["run", "--no-servers", "--memory", "600M", "-c", "1"];
    let refused = home.run(&large);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("hardened"), "{}", refused.stderr);
    let steps = ["analyze", "sales.csv", "--steps", LARGE, "--memory", "600M"];
    let refused = home.run(&steps);
    assert!(refused.code == Some(2) && refused.stderr.contains("hardened"), "{}", refused.stderr);
    // A flag still decides, and a server that is not connected stops nothing.
    let ran = home.run(&["run", "--no-servers", "--level", "development", "-c", "6 * 7"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "42\n"), "{}", ran.stderr);
    let ran = home.run(&["run", "-c", "1"]);
    assert!(ran.stderr.contains("comand"), "{}", ran.stderr);
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
        (["analyze", "nothing.csv", "--steps", LARGE], "can't open nothing.csv"),
        (["analyze", ".", "--steps", LARGE], "is a folder, not a file"),
        (["analyze", "sales.csv", "--steps", "total > 10"], "the steps aren't valid JSON"),
        (["analyze", "sales.csv", "--steps", "@no.json"], "can't open the steps in no.json"),
    ] {
        let ran = home.run(&words);
        assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
    }
}
