//! Links between the documents lead somewhere: to a file that is there, and to a heading that it has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_link_of_the_documents_leads_to_a_file_and_a_heading() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let mut pages = Vec::new();
    for place in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs", "examples"] {
        collect(&root.join(place), &mut pages);
    }
    assert!(pages.len() > 30, "only {} pages", pages.len());
    let mut broken = Vec::new();
    for page in &pages {
        let text = without_code(&fs::read_to_string(page).expect("a page"));
        for target in links(&text) {
            if let Some(why) = problem(page, target) {
                broken
                    .push(format!("{}: {target}: {why}", page.strip_prefix(&root).unwrap_or(page).display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

fn collect(place: &Path, pages: &mut Vec<PathBuf>) {
    if place.is_file() {
        pages.extend(place.extension().is_some_and(|end| end == "md").then(|| place.to_owned()));
        return;
    }
    for entry in fs::read_dir(place).expect("a folder").flatten() {
        collect(&entry.path(), pages);
    }
}

/// What is wrong with a link of a page; nothing is asked of other sites.
fn problem(page: &Path, target: &str) -> Option<&'static str> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, heading) =
        target.split_once('#').map_or((target, None), |(path, heading)| (path, Some(heading)));
    let file = if path.is_empty() { page.to_owned() } else { page.parent()?.join(path) };
    if !file.exists() {
        return Some("there is no such file");
    }
    let heading = heading?;
    let text = fs::read_to_string(&file).unwrap_or_default();
    let is_there = headings(&without_code(&text)).contains(heading);
    (!is_there).then_some("it has no such heading")
}

fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The text outside of fences.
fn without_code(text: &str) -> String {
    let mut is_code = false;
    let mut outside = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            outside += line;
            outside.push('\n');
        }
    }
    outside
}

/// As GitHub makes them: small letters, spaces as hyphens, no other signs; a number behind one that comes again.
fn headings(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let name: String = title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let again = (1..).map(|count| format!("{name}-{count}")).find(|name| !found.contains(name));
        if !found.insert(name) {
            found.extend(again);
        }
    }
    found
}

#[test]
fn a_heading_is_named_as_its_page_is_shown() {
    let page = "# What's here\n## `run`, and its *flags*\n## Twice\n## Twice\n";
    let expected = ["run-and-its-flags", "twice", "twice-1", "whats-here"];
    assert_eq!(headings(page).into_iter().collect::<Vec<_>>(), expected);
}
