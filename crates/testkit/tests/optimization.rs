//! How the release profile compiles what a request passes through.
//!
//! A crate that is compiled for size takes generic functions of its dependencies as those have made them, hash tables and
//! iterators of the standard library among them. If one of them isn't optimized at all, neither are these functions, in
//! everything above it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

/// Where the way of a request begins; what they depend on is the rest of it.
const ON_THE_WAY: [&str; 3] = ["gristmill-http", "gristmill-mcp", "gristmill-gateway"];

fn root() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo")).join("../..")
}

/// Crates that the release profile doesn't optimize.
fn unoptimized(manifest: &str) -> BTreeSet<String> {
    let profile = manifest.split_once("[profile.release.package]").expect("the profile names packages").1;
    let profile = profile.split("\n[").next().unwrap_or_default();
    let packages = profile.lines().filter_map(|line| line.split_once(" = {"));
    let packages = packages.filter(|(_, settings)| settings.contains("opt-level = 0"));
    packages.map(|(name, _)| name.trim_matches('"').to_owned()).collect()
}

/// What is linked beneath these, by name.
fn beneath(metadata: &Value, names: &[&str]) -> BTreeSet<String> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let packages = list(&metadata["packages"]);
    let name_of: BTreeMap<String, String> =
        packages.iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
    let nodes = list(&metadata["resolve"]["nodes"]);
    let linked = |node: &Value| {
        let dependencies = list(&node["deps"]);
        let is_linked =
            |dependency: &&Value| list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        dependencies.iter().filter(is_linked).map(|dependency| text(&dependency["pkg"])).collect::<Vec<_>>()
    };
    let linked: BTreeMap<String, Vec<String>> =
        nodes.iter().map(|node| (text(&node["id"]), linked(node))).collect();
    let is_wanted = |id: &&String| names.contains(&name_of[*id].as_str());
    // Macros run in the compiler, with all that they need.
    let is_macro = |package: &&Value| {
        list(&package["targets"]).iter().any(|target| list(&target["kind"]).contains(&json!("proc-macro")))
    };
    let macros: BTreeSet<String> =
        packages.iter().filter(is_macro).map(|package| text(&package["id"])).collect();
    let mut left: Vec<&String> = linked.keys().filter(is_wanted).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = left.pop() {
        if !macros.contains(id) && seen.insert(id) {
            left.extend(&linked[id]);
        }
    }
    seen.into_iter().map(|id| name_of[id].clone()).collect()
}

#[test]
fn nothing_on_the_way_of_a_request_is_built_without_optimization() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--locked", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(root().join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{why}\nrun `cargo fetch --locked` first: this needs what every platform needs"
    );
    let metadata = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let linked = beneath(&metadata, &ON_THE_WAY);
    assert!(linked.contains("serde_json") && linked.contains("rmcp"), "{linked:?}");
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("readable");
    let unoptimized = unoptimized(&manifest);
    assert!(unoptimized.contains("clap_builder"), "{unoptimized:?}");
    let both: Vec<&String> = unoptimized.intersection(&linked).collect();
    assert!(both.is_empty(), "{both:?} are on the way of a request: compile them for size at least");
}

// ---- the check itself ----

#[test]
fn what_is_linked_is_found_at_any_depth_and_what_only_builds_tests_or_writes_code_is_not() {
    let node = |id: &str, dependencies: &[(&str, Option<&str>)]| {
        let dependency =
            |(to, kind): &(&str, Option<&str>)| json!({"pkg": to, "dep_kinds": [{"kind": kind}]});
        json!({"id": id, "deps": dependencies.iter().map(dependency).collect::<Vec<_>>()})
    };
    let nodes = [
        node("a", &[("b", None), ("c", Some("dev")), ("macro", None)]),
        node("b", &[("d", None), ("e", Some("build"))]),
        node("c", &[]),
        node("d", &[]),
        node("e", &[]),
        node("macro", &[("e", None)]),
    ];
    let mut packages: Vec<Value> =
        ["a", "b", "c", "d", "e"].iter().map(|id| json!({"id": id, "name": id})).collect();
    packages.push(json!({"id": "macro", "name": "macro", "targets": [{"kind": ["proc-macro"]}]}));
    let metadata = json!({"packages": packages, "resolve": {"nodes": nodes}});
    let found = beneath(&metadata, &["a"]);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "b", "d"]);
}

#[test]
fn only_packages_of_the_release_profile_count() {
    let manifest = "[profile.dev.package]\na = { opt-level = 0 }\n[profile.release.package]\nb = { opt-level = 0 }\n\
                    \"c\" = { opt-level = 0, strip = true }\nd = { opt-level = 2 }\n\n[other]\ne = { opt-level = 0 }\n";
    assert_eq!(unoptimized(manifest).iter().map(String::as_str).collect::<Vec<_>>(), ["b", "c"]);
}
