//! No false alarms: every Python program of this repository passes.

use std::fs;
use std::path::{Path, PathBuf};

use gristmill_checks::{Guardrails, NoTools, check};
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

fn errors(code: &str) -> Option<String> {
    let report = check(code, &NoTools, &Guardrails::default());
    report.error().map(|finding| format!("line {}: {}", finding.line, finding.message))
}

#[test]
fn no_program_that_runs_is_called_an_error() {
    let mut paths = Vec::new();
    for folder in ["crates", "guests", "examples", "ci", "benches"] {
        files(&root().join(folder), "py", &mut paths);
    }
    assert!(paths.len() > 100, "{}", paths.len());
    for path in paths {
        let code = fs::read_to_string(&path).expect("a program");
        let expected = path.with_extension("expected.json");
        let expected: Value = fs::read_to_string(expected)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let may_fail = expected.to_string().contains("GM-1101") || expected.to_string().contains("yntax");
        if let Some(error) = errors(&code) {
            assert!(may_fail, "{}: {error}", path.display());
        }
    }
}

#[test]
fn no_program_of_the_documents_is_called_an_error() {
    let mut paths = vec![root().join("README.md")];
    files(&root().join("docs"), "md", &mut paths);
    let mut count = 0;
    for path in paths {
        let text = fs::read_to_string(&path).expect("a page");
        for block in text.split("```python").skip(1) {
            let code = block.split("```").next().unwrap_or_default();
            let code = code.split_once('\n').map_or("", |(_, code)| code);
            count += 1;
            assert_eq!(errors(code), None, "{}:\n{code}", path.display());
        }
    }
    assert!(count > 10, "{count}");
}
