//! ARCHITECTURE.md names files and tests. This holds that they exist, and that the page stays short.

use std::fs;
use std::path::{Path, PathBuf};

/// What someone reads in one sitting.
const BYTES_MAX: usize = 16_000;

#[test]
fn the_page_fits_one_sitting() {
    assert!(page().len() <= BYTES_MAX, "{} bytes, at most {BYTES_MAX}", page().len());
}

#[test]
fn every_invariant_names_a_test_that_exists() {
    let sources = sources();
    let page = page();
    let invariants = section(&page, "## Invariants");
    let mut missing = Vec::new();
    for line in invariants.lines().filter(|line| line.starts_with("- ")) {
        for name in code_spans(line).filter(|name| is_test_name(name)) {
            if !sources.iter().any(|text| text.contains(&format!("fn {name}("))) {
                missing.push(name.to_owned());
            }
        }
    }
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
}

#[test]
fn every_file_that_is_named_is_there() {
    let page = page();
    let missing: Vec<&str> = code_spans(&page)
        .filter(|span| span.ends_with(".rs") || span.ends_with('/') || span.ends_with(".py"))
        .filter(|span| !exists(span))
        .collect();
    assert!(missing.is_empty(), "no such files: {missing:#?}");
}

/// A path from the root, or one that starts with the name of a crate or of a module of the gateway.
fn exists(path: &str) -> bool {
    let root = root();
    if root.join(path).exists() {
        return true;
    }
    let crates = root.join("crates");
    let in_crate = path.split_once('/').is_some_and(|(name, rest)| {
        crates.join(name).join("src").join(rest).exists() || crates.join(name).join(rest).exists()
    });
    let homes = ["gateway/src", "gateway/src/upstream", "mcp/src/upstream", "worker/src", "clients/src"];
    in_crate || homes.iter().any(|home| crates.join(home).join(path).exists())
}

/// Sentences in snake case: at least three words.
fn is_test_name(span: &str) -> bool {
    span.matches('_').count() >= 2
        && span.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

fn code_spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let from = page.find(heading).unwrap_or_else(|| panic!("the page has no {heading}"));
    let body = &page[from + heading.len()..];
    &body[..body.find("\n## ").unwrap_or(body.len())]
}

fn page() -> String {
    fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the page")
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
