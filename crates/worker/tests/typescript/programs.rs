//! Programs as a model writes them: each prints what Node prints. What Node printed stands beside them, and
//! where there is a Node it is asked again.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::world::World;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guests/javascript/tests/programs")
}

/// The programs of a file, each with its name.
fn cases(path: &Path) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(path).unwrap();
    text.split("//# ")
        .skip(1)
        .map(|part| part.split_once('\n').unwrap())
        .map(|(name, body)| (name.to_owned(), body.trim_end().to_owned()))
        .collect()
}

fn files() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "js"))
        .collect();
    found.sort();
    found
}

/// What Node printed, in a file beside the programs.
fn expected(path: &Path) -> serde_json::Map<String, serde_json::Value> {
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn programs_print_what_node_prints() {
    let (mut count, mut differing) = (0, Vec::new());
    for path in files() {
        let expected = expected(&path);
        for (name, body) in cases(&path) {
            count += 1;
            let ran = World::new().run(&body);
            let wanted = expected[&name].as_str().unwrap();
            if ran.outcome["ok"] != true || ran.stdout != wanted {
                differing
                    .push(format!("{name}\n--- node\n{wanted}\n--- here\n{}\n{}", ran.stdout, ran.outcome));
            }
        }
    }
    assert!(count >= 90, "{count}");
    assert!(differing.is_empty(), "{} of {count}:\n{}", differing.len(), differing.join("\n\n"));
}

/// Which Node's answers are written down.
const NODE: &str = "v20.";

#[test]
fn the_answers_that_are_written_down_are_nodes() {
    let version = Command::new("node").arg("--version").output();
    if !version.is_ok_and(|output| output.stdout.starts_with(NODE.as_bytes())) {
        eprintln!("skipped: no Node 20 here");
        return;
    }
    for path in files() {
        let expected = expected(&path);
        for (name, body) in cases(&path) {
            let code = format!("\"use strict\";(async () => {{ {body}\n}})()");
            let output = Command::new("node").args(["-e", &code]).env("TZ", "UTC").output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected[&name].as_str().unwrap(), "{name}");
        }
    }
}
