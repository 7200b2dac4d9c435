//! SECURITY.md says which test holds which promise. This holds that they exist.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_threat_names_tests_that_exist() {
    let sources = sources();
    let page = fs::read_to_string(root().join("SECURITY.md")).expect("the page");
    let (_, table) = page.split_once("\n## Threats\n").expect("the section");
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() >= 20, "only {} threats", rows.len());
    let mut missing = Vec::new();
    for row in rows {
        let held_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap_or_default();
        let mut names = held_by.split('`').skip(1).step_by(2).peekable();
        assert!(names.peek().is_some(), "no test: {row}");
        missing.extend(names.filter(|name| !exists(name, &sources)).map(str::to_owned));
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

/// A folder with attacks in it, or a test by its name.
fn exists(name: &str, sources: &[String]) -> bool {
    if name.ends_with('/') {
        let attacks = fs::read_dir(root().join(name)).into_iter().flatten().flatten();
        return attacks
            .filter(|entry| entry.path().extension().is_some_and(|it| it == "py" || it == "js"))
            .count()
            > 0;
    }
    let definition = format!("fn {name}(");
    sources.iter().any(|text| text.contains(&definition))
}

fn sources() -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(fs::read_to_string(&path).expect("a source"));
            }
        }
    }
    found
}

fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo");
    Path::new(&here).join("../..").canonicalize().expect("the repository")
}
