//! What earlier releases have written is found by this one: their stored data, opened by today's binary.
//!
//! `ci/stored_release.py` makes a copy of each release and says what is in it.
#![cfg(target_os = "linux")]

mod support;

use std::path::{Path, PathBuf};

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

/// A release's data in a home of its own, and what must be found there.
struct Upgraded {
    home: Home,
    facts: Value,
}

/// The copies, oldest first.
fn copies() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let found = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let mut copies: Vec<PathBuf> = found.filter(|path| path.to_string_lossy().ends_with(".tar.gz")).collect();
    copies.sort();
    assert!(!copies.is_empty(), "no release is stored");
    copies
}

fn upgraded(copy: &Path, name: &str) -> Upgraded {
    let home = Home::new(gristmill(), name);
    home.ok(&["restore", copy.to_str().expect("a path")]);
    let facts = copy.to_string_lossy().replace(".tar.gz", ".json");
    let facts = std::fs::read_to_string(facts).expect("what is in the copy");
    Upgraded { home, facts: parsed(&facts) }
}

impl Upgraded {
    fn listed(&self, arguments: &[&str]) -> Value {
        let words: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        parsed(&self.home.ok(&words))
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

/// The values of some keys of every row.
fn columns(rows: &Value, keys: &[&str]) -> Value {
    let row = |row: &Value| keys.iter().map(|key| ((*key).to_owned(), row[key].clone())).collect::<Value>();
    rows.as_array().expect("a list").iter().map(row).collect()
}

#[test]
fn the_data_of_every_release_is_brought_up_to_date_and_is_whole() {
    let fresh = Home::new(gristmill(), "upgrade-fresh");
    fresh.ok(&["sessions", "create", "--name", "first"]);
    let newest = parsed(&fresh.ok(&["db", "check", "--json"]))["version"].clone();
    for copy in copies() {
        let upgraded = upgraded(&copy, "upgrade-version");
        let health = upgraded.listed(&["db", "check"]);
        assert_eq!(health["version"], newest, "{copy:?}");
        assert!(health["version"].as_i64() >= upgraded.facts["schema"].as_i64(), "{health}");
        assert_eq!(health["faults"], json!([]), "{copy:?}");
        let audit = upgraded.listed(&["audit", "verify"]);
        assert_eq!((&audit["whole"], &audit["faults"]), (&json!(true), &json!([])), "{audit}");
        assert!(audit["events"].as_i64() >= upgraded.facts["audit_events"].as_i64(), "{audit}");
    }
}

#[test]
fn everything_that_a_release_has_kept_is_found() {
    for copy in copies() {
        let upgraded = upgraded(&copy, "upgrade-found");
        let (home, facts) = (&upgraded.home, &upgraded.facts);
        let executions = columns(&upgraded.listed(&["history"]), &["id", "outcome", "code"]);
        assert_eq!(executions, facts["executions"], "{copy:?}");
        for execution in executions.as_array().expect("a list") {
            let id = execution["id"].as_str().expect("an id");
            assert_eq!(upgraded.listed(&["show", id])["id"], execution["id"], "{copy:?}");
        }
        let sessions = columns(&upgraded.listed(&["sessions", "list"]), &["id", "name", "keys"]);
        assert_eq!(sessions, facts["sessions"], "{copy:?}");
        assert_eq!(home.ok(&["workspace", "cat", "notes", "a.txt"]), "kept");
        let tokens = columns(&upgraded.listed(&["token", "list"]), &["name"]);
        assert_eq!(tokens, columns_of_names(&facts["tokens"]), "{copy:?}");
        let versions = columns(&upgraded.listed(&["skills", "history", "double"]), &["version"]);
        assert_eq!(versions.as_array().map(Vec::len), facts["skills"].as_array().map(Vec::len), "{copy:?}");
        for learned in facts["learned"].as_array().expect("a list") {
            let rows = upgraded.listed(&["tools", "learned"]);
            let is_it = |row: &&Value| row["server"] == learned[0] && row["tool"] == learned[1];
            let row = rows.as_array().expect("a list").iter().find(is_it).expect("what was learned");
            assert_eq!(row["schema"], learned[2], "{copy:?}");
        }
        let vault = columns(&upgraded.listed(&["privacy", "vault", "list"]), &["session_name", "readable"]);
        assert_eq!(vault, json!([{"session_name": "notes", "readable": true}]), "{copy:?}");
    }
}

#[test]
fn what_a_release_has_kept_is_used_by_new_programs() {
    for copy in copies() {
        let upgraded = upgraded(&copy, "upgrade-used");
        let home = &upgraded.home;
        let program = "from skills.double import double\ndouble(state['count'])";
        let doubled = home.ok(&["run", "--no-servers", "--session", "notes", "-c", program]);
        assert_eq!(doubled.trim(), "42", "{copy:?}");
        let handle = upgraded.facts["results"][0].as_str().expect("a handle");
        let program = format!("import json\nlen(json.load(open('/results/{handle}.json')))");
        assert_eq!(home.ok(&["run", "--no-servers", "-c", &program]).trim(), "5000", "{copy:?}");
        let history = upgraded.listed(&["history"]).to_string();
        let start = history.find("[EMAIL_").expect("a token");
        let token = &history[start..=start + history[start..].find(']').expect("its end")];
        assert_eq!(home.ok(&["privacy", "restore", token]).trim(), "anna.schmidt@example.com", "{copy:?}");
    }
}

fn columns_of_names(names: &Value) -> Value {
    names.as_array().expect("a list").iter().map(|name| json!({ "name": name })).collect()
}
