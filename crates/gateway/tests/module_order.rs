//! Who may import whom inside the gateway. Every module stands above those that it imports, so there
//! can be no circle; neither is there one among the files of a folder, its `mod.rs` aside. This reads
//! the sources and holds both.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every module of the crate: each may import those before it, and none after it.
const ORDER: &[&str] = &[
    // Ids, time, and values that know nothing else of the gateway.
    "ids",
    "clock",
    "at_length",
    "time_limit",
    "tokens",
    "folder_size",
    "alive",
    "context_text",
    "language",
    "native_engine",
    // What comes from outside, and what goes back.
    "ports",
    "state_values",
    "report",
    // What is traced of both.
    "spans",
    // Rows and SQL.
    "store",
    // Which marked data was read.
    "marks",
    // What is personal is replaced by tokens, and back.
    "privacy",
    // What answers teach about tools.
    "learned",
    // Processes and servers.
    "pool",
    "upstream",
    // What a program asks for and uses.
    "request",
    "access",
    "session",
    "results",
    "skills",
    "audit",
    "history",
    "plans",
    "answer",
    // What is counted and watched.
    "telemetry",
    // Types before a run.
    "type_check",
    // The way of one program through a worker.
    "analysis",
    "execute",
    // Workers for programs of other gateways.
    "hosting",
    // The life of every execution.
    "service",
    // From a sentence to a program.
    "ask",
    // All of it, built from one value.
    "settings",
    "gateway",
    "lib",
];

#[test]
fn modules_import_only_those_that_stand_before_them() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut broken = Vec::new();
    for file in rust_files(&sources) {
        let path = file.strip_prefix(&sources).expect("it is below").display().to_string();
        let text = fs::read_to_string(&file).expect("a source");
        broken.extend(upward_imports(&path, &text));
    }
    broken.sort();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn files_of_a_folder_do_not_import_each_other_in_circles() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders: BTreeMap<PathBuf, BTreeMap<String, String>> = BTreeMap::new();
    for file in rust_files(&sources).into_iter().filter(|file| !file.ends_with("lib.rs")) {
        let (Some(folder), Some(name)) = (file.parent(), file.file_stem()) else { continue };
        let (name, text) =
            (name.to_string_lossy().into_owned(), fs::read_to_string(&file).expect("a source"));
        folders.entry(folder.to_owned()).or_default().insert(name, text);
    }
    for (folder, files) in folders.iter().filter(|(folder, _)| **folder != sources) {
        assert_eq!(circle(files), None, "in {}", folder.display());
    }
}

/// The names of files that import each other in a circle, if there is one.
fn circle(files: &BTreeMap<String, String>) -> Option<Vec<String>> {
    let is_source = |name: &str| name != "mod" && !name.ends_with("tests");
    let mut left: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, text) in files.iter().filter(|(name, _)| is_source(name)) {
        let siblings = siblings(text).into_iter().filter(|other| *other != name && is_source(other));
        left.insert(name, siblings.filter(|other| files.contains_key(*other)).collect());
    }
    // Those that import nothing of what is left go first; whatever stays goes round.
    while let Some(free) = left.iter().find(|(_, uses)| uses.is_empty()).map(|(name, _)| *name) {
        left.remove(free);
        for uses in left.values_mut() {
            uses.remove(free);
        }
    }
    (!left.is_empty()).then(|| left.keys().map(|name| (*name).to_owned()).collect())
}

/// Every word that stands where `super::` names a file, in a list or alone.
fn siblings(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for part in code_of(text).split("super::").skip(1) {
        match part.strip_prefix('{') {
            Some(list) => found.extend(list.split('}').next().unwrap_or_default().split(',').map(first_part)),
            None => found.push(first_word(part)),
        }
    }
    found
}

fn first_part(item: &str) -> &str {
    first_word(item.trim_start())
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let below = |path: PathBuf| match path.is_dir() {
        true => rust_files(&path),
        false if path.extension().is_some_and(|ending| ending == "rs") => vec![path],
        false => Vec::new(),
    };
    entries.flat_map(below).collect()
}

/// One sentence for each import of a module that stands after this file's. Tests may look upwards.
fn upward_imports(path: &str, text: &str) -> Vec<String> {
    if path.ends_with("tests.rs") {
        return Vec::new();
    }
    let module = path.split(['/', '.']).next().unwrap_or_default();
    let Some(place) = place_of(module) else {
        return vec![format!("{path}: `{module}` has no place yet: give it one in module_order.rs")];
    };
    let mut imported: Vec<&str> = imports(text);
    imported.sort_unstable();
    imported.dedup();
    imported
        .into_iter()
        .filter(|name| *name != module)
        .filter_map(|name| match place_of(name) {
            Some(other) if other < place => None,
            Some(_) => Some(format!("{path}: `{module}` imports `{name}`, which stands after it")),
            None => Some(format!("{path}: `crate::{name}` is no module: name the one that it comes from")),
        })
        .collect()
}

fn place_of(module: &str) -> Option<usize> {
    ORDER.iter().position(|known| *known == module)
}

/// A source without the tests at its end.
fn code_of(text: &str) -> &str {
    let ends = ["#[cfg(test)]\nmod tests", "#[cfg(test)]\n#[path"].map(|mark| text.find(mark));
    &text[..ends.into_iter().flatten().min().unwrap_or(text.len())]
}

/// What follows `crate::` outside of comments.
fn imports(text: &str) -> Vec<&str> {
    let lines = code_of(text).lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split("crate::").skip(1).map(first_word)).collect()
}

fn first_word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

// ---- the check itself ----

fn check(path: &str, text: &str, expected: &[&str]) {
    assert_eq!(upward_imports(path, text), expected);
}

#[test]
fn an_import_upwards_is_named() {
    check(
        "store/mod.rs",
        "use crate::history::History;\nuse crate::ids::Owner;",
        &["store/mod.rs: `store` imports `history`, which stands after it"],
    );
    check("service/life.rs", "use crate::execute::{Core, Purpose};\nuse crate::store::Store;", &[]);
    check("history/mod.rs", "use crate::history::Found;", &[]);
}

#[test]
fn a_path_in_the_middle_of_the_code_counts_and_a_comment_does_not() {
    check(
        "clock.rs",
        "/// See [`crate::service::Service`].\nfn f() { crate::store::open() }",
        &["clock.rs: `clock` imports `store`, which stands after it"],
    );
}

#[test]
fn tests_may_look_upwards() {
    check("store/tests.rs", "use crate::history::History;", &[]);
    check("store/mod.rs", "#[cfg(test)]\nmod tests {\n    use crate::history::History;\n}", &[]);
}

#[test]
fn what_the_crate_shows_is_imported_from_where_it_is() {
    check(
        "pool/mod.rs",
        "use crate::{Report, ids::Owner};",
        &["pool/mod.rs: `crate::` is no module: name the one that it comes from"],
    );
    check("queue.rs", "", &["queue.rs: `queue` has no place yet: give it one in module_order.rs"]);
}

#[test]
fn a_circle_among_the_files_of_a_folder_is_named() {
    let files = |texts: &[(&str, &str)]| -> BTreeMap<String, String> {
        texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    };
    let round = files(&[
        ("mod", "mod a;"),
        ("a", "use super::b::B;"),
        ("b", "use super::{Shared, c};"),
        ("c", "fn f() { super::a::g() }"),
        ("d", "use super::a::A;"),
    ]);
    assert_eq!(circle(&round), Some(["a", "b", "c", "d"].map(str::to_owned).to_vec()));
    let straight = files(&[("mod", "use super::a;"), ("a", "use super::b::B;"), ("b", "use super::Parent;")]);
    assert_eq!(circle(&straight), None);
}
