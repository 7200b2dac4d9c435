//! Rules about the sources that no lint knows: where `unsafe` may be, how long a file may get,
//! what it may be called, and what must not be left lying about.

use std::fs;
use std::path::{Path, PathBuf};

/// The files, and the folders (with a slash at the end), that may hold `unsafe`. Tests may set up
/// their process with it.
const UNSAFE_PLACES: &[&str] = &[
    "crates/encoder/src/kernels/avx2.rs",
    "crates/encoder/src/kernels/neon.rs",
    "crates/worker/build/engine_code.rs",
    "crates/worker/src/engine/native/c_api.rs",
    "crates/worker/src/engine/native/heap.rs",
    "crates/worker/src/engine/native/host_functions.rs",
    "crates/worker/src/engine/wasm/compiled_code.rs",
    "crates/worker/src/fork.rs",
    "crates/worker/src/page_warming.rs",
    "crates/worker/src/reaped.rs",
    "crates/worker/src/jail/descriptors.rs",
    "crates/worker/src/jail/elsewhere.rs",
    "crates/worker/src/jail/linux/",
    "crates/worker/src/upstream_supervisor.rs",
];

/// Lines of a source file. Longer ones answer more than one question.
const LINES_MAX: usize = 600;

/// Marks of unfinished work, in two halves so that this file does not hold them.
const UNFINISHED: &[&str] =
    &[concat!("todo", "!("), concat!("unimplemented", "!("), concat!("#[", "ignore"), concat!("FIX", "ME")];

/// Names that do not say what a file is for.
const EMPTY_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "common", "manager"];

#[test]
fn unsafe_stays_in_the_places_named_for_it() {
    check_all(|source| {
        if !is_shipped(&source.path) || UNSAFE_PLACES.iter().any(|place| is_at(&source.path, place)) {
            return Vec::new();
        }
        lines_with_unsafe(&source.text)
            .map(|line| format!("{}:{line}: `unsafe` outside the files named for it", source.path))
            .collect()
    });
}

#[test]
fn every_place_named_for_unsafe_has_some() {
    let sources = sources();
    for place in UNSAFE_PLACES {
        let used = sources
            .iter()
            .any(|source| is_at(&source.path, place) && lines_with_unsafe(&source.text).next().is_some());
        assert!(used, "{place} holds no `unsafe`: take it off the list");
    }
}

#[test]
fn no_source_file_is_too_long() {
    check_all(|source| {
        let lines = source.text.lines().count();
        let too_long = is_shipped(&source.path) && lines > LINES_MAX;
        Vec::from_iter(too_long.then(|| format!("{}: {lines} lines, at most {LINES_MAX}", source.path)))
    });
}

#[test]
fn nothing_unfinished_is_left_behind() {
    check_all(|source| {
        let marked = |line: &str| UNFINISHED.iter().find(|mark| line.contains(**mark));
        let lines = source.text.lines().zip(1..);
        lines
            .filter_map(|(line, number)| marked(line).map(|mark| format!("{}:{number}: {mark}", source.path)))
            .collect()
    });
}

#[test]
fn file_names_say_what_is_inside() {
    check_all(|source| {
        Vec::from_iter(empty_name(&source.path).map(|name| format!("{}: `{name}` says nothing", source.path)))
    });
}

// ---- reading the sources ----

struct Source {
    /// From the root of the repository, with `/`.
    path: String,
    text: String,
}

fn check_all(broken: impl Fn(&Source) -> Vec<String>) {
    let broken: Vec<String> = sources().iter().flat_map(broken).collect();
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// Every Rust file under `crates/`.
fn sources() -> Vec<Source> {
    let root = Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"))
        .join("../..")
        .canonicalize()
        .expect("the repository");
    let mut found = Vec::new();
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder that can be read") {
            let entry = entry.expect("a folder that can be read");
            let kind = entry.file_type().expect("a file that can be asked");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if entry.path().extension().is_some_and(|extension| extension == "rs") {
                found.push(read(&root, entry.path()));
            }
        }
    }
    assert!(!found.is_empty(), "no sources under {}", root.display());
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn read(root: &Path, path: PathBuf) -> Source {
    let text = fs::read_to_string(&path).expect("a source is UTF-8");
    let path =
        path.strip_prefix(root).expect("a file of the repository").to_string_lossy().replace('\\', "/");
    Source { path, text }
}

// ---- the rules ----

/// Whether a file becomes part of the product, as opposed to its tests.
fn is_shipped(path: &str) -> bool {
    path.contains("/src/") || path.ends_with("/build.rs")
}

fn is_at(path: &str, place: &str) -> bool {
    if place.ends_with('/') { path.starts_with(place) } else { path == place }
}

/// The numbers of the lines with the keyword, as code: not in a comment, not in a sentence.
fn lines_with_unsafe(text: &str) -> impl Iterator<Item = usize> {
    text.lines().zip(1..).filter(|(line, _)| has_unsafe(line)).map(|(_, number)| number)
}

fn has_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("unsafe").any(|(at, word)| {
        let before = code[..at].chars().next_back();
        let after = &code[at + word.len()..];
        let is_word = !before.is_some_and(is_of_a_name) && !after.starts_with(is_of_a_name);
        let next = after.trim_start();
        is_word
            && (next.is_empty()
                || ["{", "(", "fn ", "impl", "extern", "trait "].iter().any(|it| next.starts_with(it)))
    })
}

fn is_of_a_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The part of the path, if any, whose last word is one of [`EMPTY_NAMES`].
fn empty_name(path: &str) -> Option<&str> {
    let parts = path.split('/').map(|part| part.strip_suffix(".rs").unwrap_or(part));
    parts
        .into_iter()
        .find(|part| part.rsplit(['_', '-']).next().is_some_and(|word| EMPTY_NAMES.contains(&word)))
}

// ---- the rules, on made-up sources ----

#[test]
fn unsafe_is_found_in_code_only() {
    let check = |line: &str, expected: bool| assert_eq!(has_unsafe(line), expected, "{line}");
    check("    if unsafe { libc::fork() } < 0 {", true);
    check("unsafe fn raw() {}", true);
    check("unsafe impl Send for Line {}", true);
    check("unsafe extern \"C\" {", true);
    check("#[unsafe(no_mangle)]", true);
    check("let page =unsafe{ map() };", true);
    check("    let page = unsafe", true);
    check("#![forbid(unsafe_code)]", false);
    check("//! the home of `unsafe`", false);
    check("let x = 1; // unsafe { }", false);
    check("\"an unsafe path\"", false);
}

#[test]
fn empty_names_are_found_as_files_and_folders() {
    let check = |path: &str, expected: Option<&str>| assert_eq!(empty_name(path), expected, "{path}");
    check("crates/cli/src/utils.rs", Some("utils"));
    check("crates/cli/src/session_manager.rs", Some("session_manager"));
    check("crates/cli/tests/common/mod.rs", Some("common"));
    check("crates/cli/src/common_names.rs", None);
    check("crates/cli/src/commands/run.rs", None);
}

#[test]
fn a_folder_on_the_list_is_not_a_prefix_of_names() {
    assert!(is_at("crates/worker/src/jail/linux/mod.rs", "crates/worker/src/jail/linux/"));
    assert!(!is_at("crates/worker/src/jail/linux_old.rs", "crates/worker/src/jail/linux/"));
    assert!(!is_at("crates/worker/src/fork.rs.rs", "crates/worker/src/fork.rs"));
}
