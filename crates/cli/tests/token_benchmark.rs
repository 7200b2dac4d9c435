//! `gristmill bench tokens`, with a few of its jobs: real servers, a real gateway, real programs.

mod support;

use std::path::{Path, PathBuf};

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

fn catalogues() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/tokens/catalogues")
}

fn bench(home: &Home, arguments: &[&str]) -> String {
    let catalogues = catalogues();
    let mut all = vec!["bench", "tokens", "--catalogues", catalogues.to_str().expect("a path")];
    all.extend(arguments);
    home.ok(&all)
}

#[test]
fn jobs_are_done_three_ways_and_counted_the_same_each_time() {
    let home = Home::new(gristmill(), "bench-tokens");
    let picture = home.path().join("picture.svg");
    let jobs = "who-helps,control-sum,weather-now";
    let run = || bench(&home, &["--jobs", jobs, "--json", "--svg", picture.to_str().expect("a path")]);
    let text = run();
    assert_eq!(text, run());
    let figures: Value = serde_json::from_str(&text).expect("JSON");
    let of_all = |look: &dyn Fn(&Value) -> Value| -> Vec<Value> {
        figures["jobs"].as_array().into_iter().flatten().map(look).collect()
    };
    // In the benchmark's own order, whatever order was asked for.
    assert_eq!(of_all(&|job| job["name"].clone()), ["control-sum", "weather-now", "who-helps"]);
    let turns =
        |job: &Value| json!([job["direct"]["turns"], job["tool_search"]["turns"], job["code"]["turns"]]);
    // Ten tools are all in the description, so that nobody searches. Fifty calls after the list take three turns
    // of twenty at most. No definition says what the issues look like, so that the program has one turn more, to look.
    assert_eq!(of_all(&turns), [json!([2, 3, 2]), json!([2, 3, 2]), json!([5, 6, 4])]);
    let control = &figures["jobs"][0];
    assert_eq!(control["result"]["value"], json!(2759.605));
    let tokens = |way: &str| control[way]["tokens"].as_u64().expect(way);
    assert!(tokens("code") < tokens("direct") && tokens("call_tool") > 0, "{control}");
    // The same turns in either language, or the benchmark had stopped.
    let in_typescript = |job: &Value| job["code_typescript"]["turns"].clone();
    assert_eq!(of_all(&in_typescript), of_all(&|job| job["code"]["turns"].clone()));
    let total: u64 = figures["jobs"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|job| job["code"]["tokens"].as_u64())
        .sum();
    assert_eq!(figures["total"]["code"]["tokens"], total);
    // Some jobs alone say nothing about a group.
    assert_eq!(figures["goals"], json!([]));
    let drawn = std::fs::read_to_string(&picture).expect("a picture");
    assert!(
        drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n") && drawn.contains(">who-helps<"),
        "{drawn}"
    );
}

#[test]
fn one_job_is_shown_turn_by_turn() {
    let home = Home::new(gristmill(), "bench-tokens-job");
    let shown = bench(&home, &["--job", "control-contact"]);
    for part in [
        "== direct tool calls: ",
        "10 definitions of 2 servers",
        "call crm.get_record",
        "== direct with tool search: ",
        "definition of crm.get_record",
        "== code through gristmill: ",
        "our instructions",
        "| result = await get_record(type=\"contact\", id=\"CON-0017\")",
        "== one call_tool through gristmill: ",
        "turn 2: pays ",
        "mateo.ueland.17@example.com",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn a_model_reads_the_definition_where_a_search_leaves_out_what_is_needed() {
    let home = Home::new(gristmill(), "bench-tokens-definition");
    let shown = bench(&home, &["--job", "review-queue"]);
    let code = shown.split("== code through gristmill: ").nth(1).expect("our way");
    let (looking_up, working) = code.split_once("turn 2: pays ").expect("turns");
    assert!(looking_up.contains("| help(\"github.list_pull_requests\")"), "{shown}");
    assert!(looking_up.contains("fields: Subset of fields") && working.contains("turn 3"), "{shown}");
}

#[test]
fn what_is_wrong_is_said_before_anything_starts() {
    let home = Home::new(gristmill(), "bench-tokens-wrong");
    let check = |arguments: &[&str], words: &str| {
        let ran = home.run(arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    };
    let catalogues = catalogues();
    let catalogues = catalogues.to_str().expect("a path");
    check(&["bench", "tokens", "--catalogues", catalogues, "--job", "who-helpz"], "did you mean who-helps?");
    check(&["bench", "tokens"], "pass its benches/tokens/catalogues with --catalogues");
}
