//! Links to files of this repository, and to headings in them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;

/// Every relative link of a document leads to a file that is there, and to a heading of it.
pub fn check(repository: &Path, document: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(document)?;
    let broken = broken(&text, &mut |target| {
        let path = match target {
            "" => document.to_owned(),
            target => document.parent().unwrap_or(repository).join(target),
        };
        if !path.exists() {
            return None;
        }
        Some(match path.extension().is_some_and(|extension| extension == "md") {
            true => headings(&std::fs::read_to_string(path).unwrap_or_default()),
            false => Vec::new(),
        })
    });
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Failed::from(broken.join("\n"))),
    }
}

/// `look` gives the headings of a file, or nothing if it isn't there.
fn broken(text: &str, look: &mut dyn FnMut(&str) -> Option<Vec<String>>) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for target in targets(&line) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = target.split_once('#').unwrap_or((&target, ""));
            match look(path) {
                None => found.push(format!("line {number}: {target}: no such file")),
                Some(headings) if !heading.is_empty() && !headings.iter().any(|known| known == heading) => {
                    found.push(format!("line {number}: {target}: no such heading"));
                }
                Some(_) => {}
            }
        }
    }
    found
}

/// The lines outside of fences, without what stands between backticks, and with their numbers.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut is_fenced = false;
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced {
            let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
            found.push((number + 1, plain));
        }
    }
    found
}

/// What the links of a line lead to.
fn targets(line: &str) -> Vec<String> {
    let parts = line.split("](").skip(1);
    parts.filter_map(|part| part.split_once(')')).map(|(target, _)| target.trim().to_owned()).collect()
}

/// The headings of a document, as links name them.
fn headings(text: &str) -> Vec<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut is_fenced = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
        }
        let title = line.trim_start_matches('#');
        if is_fenced || title == line || !title.starts_with(' ') {
            continue;
        }
        let name = anchor(title.trim());
        let before = counts.entry(name.clone()).or_default();
        found.push(if *before == 0 { name } else { format!("{name}-{before}") });
        *before += 1;
    }
    found
}

fn anchor(title: &str) -> String {
    let kept = title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).flat_map(char::to_lowercase).collect()
}

pub fn a_link_that_leads_nowhere_is_found() -> Result<(), Failed> {
    let text = "# A page\n[here](#a-page) [gone](#gone) [file](other.md) `[code](no.md)`\n```\n[x](no.md)\n```\n\
        [far](https://example.com/x) [lost](lost.md) [part](other.md#its-part) [none](other.md#none)\n";
    let found = broken(text, &mut |target| match PathBuf::from(target).to_str() {
        Some("") => Some(headings(text)),
        Some("other.md") => Some(headings("## Its *part*\n")),
        _ => None,
    });
    let expected = [
        "line 2: #gone: no such heading",
        "line 6: lost.md: no such file",
        "line 6: other.md#none: no such heading",
    ];
    match found == expected {
        true => Ok(()),
        false => Err(Failed::from(format!("{found:?}"))),
    }
}
