//! Whole values under handles: as programs read them, and as people do with `gristmill results`.
#![cfg(target_os = "linux")]

mod support;

use std::path::Path;

use gristmill_gateway::ExecuteRequest;
use gristmill_gateway::ids::Owner;
use gristmill_gateway::results::{Origin, ResultKind, ResultSettings, Results, StoredResult};
use gristmill_gateway::store::Store;
use gristmill_testkit::{Home, TestFolder, World};
use serde_json::{Value, json};
use support::gristmill;
use tokio::runtime::Runtime;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

/// Keeps a value in a home, as a gateway there would.
fn put(home: &Home, owner: &str, kind: ResultKind, media_type: Option<&str>, bytes: &[u8]) -> StoredResult {
    let (data, owner) = (home.path().join("data"), Owner(owner.to_owned()));
    Runtime::new().expect("a runtime").block_on(async {
        let store = Store::open(&data).expect("a database");
        let folder = data.join("results");
        let results = Results::open(store.clone(), folder, ResultSettings::default()).await.expect("results");
        let media_type = media_type.map(str::to_owned);
        let put = results.put(&owner, Origin::default(), kind, media_type, bytes.to_vec()).await;
        store.close().await;
        put.expect("it is kept")
    })
}

fn put_json(home: &Home, value: &Value) -> StoredResult {
    put(home, Owner::LOCAL, ResultKind::Json, None, value.to_string().as_bytes())
}

fn run(home: &Home, code: &str) -> Value {
    parsed(&home.ok(&["run", "--no-servers", "--json", "-c", code]))["result"].take()
}

/// The lines of a program, each an expression, as the names of what they raise or their values.
fn tried(lines: &[String]) -> String {
    let lines = json!(lines).to_string();
    format!(
        "import glob, json, os, shutil\ntold = []\nfor line in {lines}:\n    try:\n        told.append(eval(line))\n    except OSError as error:\n        told.append(type(error).__name__)\ntold"
    )
}

#[test]
fn a_later_program_reads_a_result_as_a_file() {
    let home = Home::new(gristmill(), "results-run");
    let value = json!({"rows": [{"name": "a"}, {"name": "b"}], "count": 2});
    let stored = put_json(&home, &value);
    let path = stored.path_in_program();
    assert_eq!(run(&home, &format!("import json\njson.load(open({path:?}))")), value);
    assert_eq!(run(&home, &format!("len(read_file({path:?}))")), json!(value.to_string().len()));
    assert_eq!(run(&home, &format!("read_file({:?})[:7]", &path[1..])), json!("{\"rows\""));
    let image = put(&home, Owner::LOCAL, ResultKind::Binary, Some("image/png"), &[0x89, 0, 255]);
    let code = format!("list(open({:?}, 'rb').read())", image.path_in_program());
    assert_eq!(run(&home, &code), json!([0x89, 0, 255]));
    // Before anything was kept, the place is there.
    let empty = Home::new(gristmill(), "results-none");
    assert_eq!(
        run(&empty, "import os\n[os.path.isdir('/results'), 'results' in os.listdir('/')]"),
        json!([true, true])
    );
    let gone = run(
        &empty,
        "try: read_file('/results/aaaaaaaaaaaaaaaaaaaa.json')\nexcept FileNotFoundError as error: told = str(error)\ntold",
    );
    assert!(gone.as_str().is_some_and(|told| told.contains("no such result")), "{gone}");
}

#[test]
fn results_are_not_listed_and_not_changed() {
    let home = Home::new(gristmill(), "results-listing");
    let path = put_json(&home, &json!([1])).path_in_program();
    let lines = [
        "os.listdir('/results')".to_owned(),
        "list(os.scandir('/results'))".to_owned(),
        "glob.glob('/results/*')".to_owned(),
        "os.listdir('/workspace/../results/')".to_owned(),
        format!("open({path:?}, 'w')"),
        format!("open({path:?}, 'r+')"),
        "open('/results/new.json', 'w')".to_owned(),
        format!("os.remove({path:?})"),
        format!("os.rename({path:?}, '/results/other.json')"),
        "os.mkdir('/results/folder')".to_owned(),
        format!("os.utime({path:?}, (1, 1))"),
        format!("json.load(open({path:?}))"),
    ];
    let told = run(&home, &tried(&lines));
    let told = told.as_array().expect("a list");
    assert_eq!(told[..2], [json!("PermissionError"), json!("PermissionError")]);
    assert_eq!((&told[2], &told[3]), (&json!([]), &json!("PermissionError")));
    for (line, told) in lines.iter().zip(told).skip(4).take(7) {
        assert!(told.as_str().is_some_and(|name| name.ends_with("Error")), "{line}: {told}");
    }
    assert_eq!(told[11], json!([1]));
    let listed = run(
        &home,
        "try: list_directory('/results')\nexcept PermissionError as error: told = str(error)\ntold",
    );
    assert!(listed.as_str().is_some_and(|told| told.contains("by the handle from an answer")), "{listed}");
}

#[test]
fn another_owners_result_is_not_there_whatever_the_path() {
    let home = Home::new(gristmill(), "results-owners");
    let theirs = put(&home, "http:alice", ResultKind::Json, None, b"[\"secret\"]");
    let own = put_json(&home, &json!([1]));
    let folders = std::fs::read_dir(home.path().join("data/results")).expect("the folder");
    let folders = folders.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut paths = vec![
        theirs.path_in_program(),
        "/results/../gristmill.db".to_owned(),
        "/results/../../gristmill.db".to_owned(),
        "/results/../lock".to_owned(),
        format!("/results//etc/passwd/../../{}", theirs.file_name),
    ];
    for folder in folders {
        paths.push(format!("/results/../{folder}/{}", theirs.file_name));
        paths.push(format!("/results/{folder}/{}", theirs.file_name));
    }
    let lines: Vec<String> = paths.iter().map(|path| format!("open({path:?}).read()")).collect();
    let told = run(&home, &tried(&lines));
    for (path, told) in paths.iter().zip(told.as_array().expect("a list")) {
        assert!(told.as_str().is_some_and(|name| name.ends_with("Error")), "{path}: {told}");
    }
    assert_eq!(run(&home, &format!("read_file({:?})", own.path_in_program())), json!("[1]"));
}

#[test]
fn no_link_and_no_folder_is_followed_under_results() {
    let outside = TestFolder::new("results-links");
    let folder = outside.path().join("owner");
    std::fs::create_dir_all(folder.join("deep")).unwrap();
    std::fs::write(outside.path().join("secret.json"), "[\"secret\"]").unwrap();
    std::fs::write(folder.join("plain.json"), "[1]").unwrap();
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, folder.join(name)).unwrap();
    link(&outside.path().join("secret.json"), "absolute.json");
    link(Path::new("../secret.json"), "relative.json");
    link(Path::new("plain.json"), "inside.json");
    link(Path::new(".."), "up");
    let names = ["absolute.json", "relative.json", "inside.json", "up/secret.json", "deep", "up", "."];
    let mut lines: Vec<String> = names.iter().map(|name| format!("open('/results/{name}').read()")).collect();
    lines.extend(["deep", "up"].map(|name| format!("os.listdir('/results/{name}')")));
    lines.push("open('/results/plain.json').read()".to_owned());
    let world = World::new(gristmill()).start();
    let mut request = ExecuteRequest::python(tried(&lines));
    request.capabilities.results_folder = Some(folder);
    let report = world.execute(request);
    let told = report.result.unwrap_or_else(|| panic!("{:?}", report.error));
    let told = told.as_array().expect("a list");
    for (line, told) in lines.iter().zip(told).take(lines.len() - 1) {
        assert!(told.as_str().is_some_and(|name| name.ends_with("Error")), "{line}: {told}");
    }
    assert_eq!(told.last(), Some(&json!("[1]")));
    // A folder that is gone costs the results and nothing else.
    let mut request = ExecuteRequest::python("1 + 1");
    request.capabilities.results_folder = Some(outside.path().join("gone"));
    let report = world.execute(request);
    assert_eq!(report.result, Some(json!(2)));
}

#[test]
fn a_result_is_listed_shown_taken_out_and_removed() {
    let home = Home::new(gristmill(), "results-commands");
    let none = home.run(&["results", "list"]);
    assert_eq!((none.code, none.stdout.as_str()), (Some(0), ""));
    assert_eq!(none.stderr, "No results.\n", "a hint is for a terminal");
    let rows: Vec<Value> = (0..5_000).map(|at| json!({"name": format!("row {at}"), "at": at})).collect();
    let stored = put_json(&home, &json!({"rows": rows, "count": 5_000}));
    let image = put(&home, "http:alice", ResultKind::Binary, Some("image/png"), &[0x89, 0, 255]);
    let handle = stored.handle.as_str();
    let listed = home.ok(&["results", "list"]);
    assert!(
        listed.lines().count() == 3 && listed.contains(handle) && listed.contains("http:alice"),
        "{listed}"
    );
    let said = put(&home, Owner::LOCAL, ResultKind::Json, Some("application/json"), b"[1]");
    let listed = home.ok(&["results", "list"]);
    let mut kinds: Vec<&str> =
        listed.lines().skip(1).filter_map(|line| line.split_whitespace().nth(3)).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["image/png", "json", "json"], "{listed}");
    home.ok(&["results", "remove", &said.handle]);
    let listed = parsed(&home.ok(&["results", "list", "--json"]));
    assert!(
        listed
            .as_array()
            .is_some_and(|all| all.iter().any(|one| one["path_in_program"] == stored.path_in_program())),
        "{listed}"
    );
    let shown = home.run(&["results", "show", handle, "--path", "rows[4999].name"]);
    assert_eq!((shown.stdout.as_str(), shown.stderr.as_str()), ("row 4999\n", ""));
    let shown = home.run(&["results", "show", handle, "--path", "rows", "--limit", "2"]);
    assert_eq!(parsed(&shown.stdout), json!([{"name": "row 0", "at": 0}, {"name": "row 1", "at": 1}]));
    assert!(shown.stderr.contains("items 0 to 1 of 5,000; continue with offset 2"), "{}", shown.stderr);
    let small = home.ok(&["results", "show", handle, "--max-tokens", "100"]);
    assert!(small.len() < 1_000, "{small}");
    let wrong = home.run(&["results", "show", handle, "--path", "row"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("did you mean `rows`?"), "{}", wrong.stderr);
    let binary = home.run(&["results", "show", &image.handle]);
    assert!(binary.code == Some(2) && binary.stderr.contains("--output FILE"), "{}", binary.stderr);
    let whole = json!({"rows": rows, "count": 5_000}).to_string();
    assert_eq!(home.ok(&["results", "get", handle]), whole);
    home.ok(&["results", "get", &image.path_in_program(), "--output", "chart.png"]);
    assert_eq!(std::fs::read(home.work().join("chart.png")).unwrap(), [0x89, 0, 255]);
    let again = home.run(&["results", "get", handle, "--output", "chart.png"]);
    assert!(again.code == Some(2) && again.stderr.contains("already exists"), "{}", again.stderr);
    assert_eq!(home.ok(&["results", "remove", handle]), format!("removed {handle}\n"));
    for words in [["results", "show", handle], ["results", "get", handle], ["results", "remove", handle]] {
        let missing = home.run(&words);
        assert!(missing.code == Some(2) && missing.stderr.contains("no result `"), "{}", missing.stderr);
    }
    let doctor = home.run(&["doctor", "--no-servers"]);
    assert!(doctor.stdout.contains("1 stored result (3 bytes)"), "{}", doctor.stdout);
}

/// About 12 MB, and the handle that `run` tells.
const LARGE: &str =
    "result = {'rows': [{'id': n, 'name': 'row ' + 'x' * 40} for n in range(160_000)], 'count': 160_000}";

fn large_value() -> Value {
    let rows: Vec<Value> =
        (0..160_000).map(|n| json!({"id": n, "name": format!("row {}", "x".repeat(40))})).collect();
    json!({"rows": rows, "count": 160_000})
}

#[test]
fn a_result_too_large_for_a_report_is_stored_whole() {
    let home = Home::new(gristmill(), "results-large");
    let report = parsed(&home.ok(&["run", "--no-servers", "--timeout", "60s", "--json", "-c", LARGE]));
    assert_eq!(report["success"], json!(true), "{report}");
    assert_eq!(report["result"]["count"], json!(160_000), "what fits is shown: {}", report["result"]);
    let large = &report["large_result"];
    let handle = large["handle"].as_str().expect("a handle");
    assert_eq!(large["path"], json!(format!("/results/{handle}.json")));
    assert_eq!(parsed(&home.ok(&["results", "get", handle])), large_value());
    let read = format!(
        "import json\nvalue = json.load(open('/results/{handle}.json'))\n[len(value['rows']), value['rows'][-1]['id']]"
    );
    assert_eq!(run(&home, &read), json!([160_000, 159_999]));

    let said = home.run(&["run", "--no-servers", "--timeout", "60s", "-c", LARGE]);
    assert!(said.stdout.len() < 20_000 && said.stdout.contains("160000"), "{}", said.stdout);
    assert!(
        said.stderr.contains(&format!("`gristmill results get {handle}`")),
        "the same value: {}",
        said.stderr
    );
}

#[test]
fn a_large_text_is_stored_as_text() {
    let home = Home::new(gristmill(), "results-large-text");
    let code = "result = 'żółw\\n' * 1_000_000";
    let report = parsed(&home.ok(&["run", "--no-servers", "--timeout", "60s", "--json", "-c", code]));
    let large = &report["large_result"];
    let handle = large["handle"].as_str().expect("a handle");
    assert_eq!(large["path"], json!(format!("/results/{handle}.txt")), "{large}");
    assert_eq!(home.ok(&["results", "get", handle]), "żółw\n".repeat(1_000_000));
}

#[test]
fn a_result_above_every_bound_fails_and_says_so() {
    let home = Home::new(gristmill(), "results-too-large");
    let ran = home.run(&["run", "--no-servers", "--timeout", "60s", "-c", "'x' * (70 << 20)"]);
    assert!(ran.stderr.contains("error[GM-1205]: the result is larger than 64 MB"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint: write it to a file in /workspace"), "{}", ran.stderr);
}

#[test]
fn a_program_asks_what_earlier_ones_took() {
    let home = Home::new(gristmill(), "results-stats");
    for _ in 0..3 {
        home.ok(&["run", "--no-servers", "-c", "1"]);
    }
    let told = run(&home, "get_execution_stats()");
    // The one that asks is counted as running.
    assert_eq!((&told["ok"], &told["running"]), (&json!(3), &json!(1)), "{told}");
    assert_eq!(run(&home, "(await get_execution_stats())['failed']"), json!(0));
}
