//! Who may depend on whom. ARCHITECTURE.md draws the arrows; this reads what cargo really has.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Every crate, and the crates of ours that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    (
        "gristmill-cli",
        &[
            "gristmill-http",
            "gristmill-mcp",
            "gristmill-models",
            "gristmill-dashboard",
            "gristmill-attacks",
            "gristmill-bench",
            "gristmill-clients",
            "gristmill-cluster",
            "gristmill-config",
            "gristmill-example-servers",
            "gristmill-gateway",
            "gristmill-domain",
            "gristmill-files",
            "gristmill-logs",
            "gristmill-privacy",
            "gristmill-replica",
            "gristmill-worker",
            "gristmill-writer",
        ],
    ),
    (
        "gristmill-bench",
        &[
            "gristmill-mcp",
            "gristmill-encoder",
            "gristmill-example-servers",
            "gristmill-gateway",
            "gristmill-domain",
            "gristmill-logs",
            "gristmill-privacy",
            "gristmill-worker",
        ],
    ),
    ("gristmill-attacks", &["gristmill-gateway", "gristmill-domain"]),
    ("gristmill-http", &["gristmill-dashboard", "gristmill-mcp", "gristmill-gateway", "gristmill-domain"]),
    ("gristmill-clients", &["gristmill-config", "gristmill-gateway", "gristmill-domain", "gristmill-files"]),
    (
        "gristmill-cluster",
        &["gristmill-gateway", "gristmill-files", "gristmill-protocol", "gristmill-replica"],
    ),
    ("gristmill-config", &["gristmill-gateway", "gristmill-domain", "gristmill-files"]),
    ("gristmill-example-servers", &["gristmill-gateway", "gristmill-domain"]),
    ("gristmill-mcp", &["gristmill-gateway", "gristmill-domain", "gristmill-files", "gristmill-json-text"]),
    ("gristmill-models", &["gristmill-gateway", "gristmill-mcp", "gristmill-files"]),
    ("gristmill-dashboard", &[]),
    ("gristmill-encoder", &[]),
    (
        "gristmill-gateway",
        &[
            "gristmill-checks",
            "gristmill-domain",
            "gristmill-encoder",
            "gristmill-files",
            "gristmill-privacy",
            "gristmill-protocol",
            "gristmill-tokens",
            "gristmill-watch",
        ],
    ),
    (
        "gristmill-fuzzing",
        &[
            "gristmill-http",
            "gristmill-mcp",
            "gristmill-config",
            "gristmill-gateway",
            "gristmill-checks",
            "gristmill-domain",
            "gristmill-protocol",
            "gristmill-analysis",
            "gristmill-json-text",
            "gristmill-testkit",
        ],
    ),
    ("gristmill-checks", &["gristmill-domain"]),
    ("gristmill-worker", &["gristmill-protocol", "gristmill-analysis", "gristmill-files"]),
    ("gristmill-testkit", &["gristmill-gateway", "gristmill-domain", "gristmill-protocol"]),
    ("gristmill-analysis", &[]),
    ("gristmill-domain", &["gristmill-json-text"]),
    ("gristmill-files", &[]),
    ("gristmill-json-text", &[]),
    ("gristmill-logs", &["gristmill-domain", "gristmill-files"]),
    ("gristmill-privacy", &[]),
    ("gristmill-protocol", &["gristmill-json-text"]),
    ("gristmill-replica", &["gristmill-files"]),
    ("gristmill-tokens", &[]),
    ("gristmill-watch", &[]),
    ("gristmill-writer", &["gristmill-domain"]),
];

/// What every crate may use in its tests.
const FOR_TESTS: &str = "gristmill-testkit";

/// Families of foreign crates that one crate alone may name, in any kind of dependency.
const KEPT_TO_ONE: &[(&str, &str)] = &[
    ("rmcp", "gristmill-mcp"),
    ("wasmtime", "gristmill-worker"),
    ("parquet", "gristmill-analysis"),
    ("ruff", "gristmill-checks"),
    ("phonenumber", "gristmill-privacy"),
    ("async-nats", "gristmill-cluster"),
];

/// Who may use such a family in tests all the same: the tests of the HTTP server script a handler.
const TESTED_WITH: &[(&str, &str)] = &[("rmcp", "gristmill-http")];

#[test]
fn crates_depend_on_each_other_only_along_the_arrows() {
    let broken = broken_rules(&workspace_metadata());
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

/// One sentence for each dependency that is against the rules.
fn broken_rules(metadata: &Value) -> Vec<String> {
    let packages = metadata["packages"].as_array().expect("cargo lists its packages");
    packages.iter().flat_map(broken_rules_of).collect()
}

fn broken_rules_of(package: &Value) -> Vec<String> {
    let name = package["name"].as_str().expect("a package has a name");
    let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
        return vec![format!("{name} has no arrows: draw them in ARCHITECTURE.md, then in crate_arrows.rs")];
    };
    let dependencies = package["dependencies"].as_array().expect("a package lists its dependencies");
    dependencies.iter().filter_map(|dependency| broken_rule(name, allowed, dependency)).collect()
}

fn broken_rule(from: &str, allowed: &[&str], dependency: &Value) -> Option<String> {
    // The name in the registry: renaming a dependency hides nothing.
    let to = dependency["name"].as_str().expect("a dependency has a name");
    let kind = dependency["kind"].as_str().unwrap_or("normal");
    if to.starts_with("gristmill-") {
        let may = allowed.contains(&to) || (kind == "dev" && to == FOR_TESTS);
        let allowed = if allowed.is_empty() { "no crate of ours".to_owned() } else { allowed.join(", ") };
        return (!may).then(|| {
            format!("forbidden arrow {from} → {to} ({kind}): {from} may use {allowed}; see the arrows in ARCHITECTURE.md")
        });
    }
    let (family, home) = KEPT_TO_ONE.iter().find(|(family, _)| is_of_family(to, family))?;
    let is_tested_with = kind == "dev" && TESTED_WITH.contains(&(*family, from));
    (from != *home && !is_tested_with).then(|| {
        format!("forbidden arrow {from} → {to} ({kind}): only {home} may name {family}; see the arrows in ARCHITECTURE.md")
    })
}

fn is_of_family(name: &str, family: &str) -> bool {
    name.strip_prefix(family).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

fn workspace_metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path"])
        .arg(
            Path::new(&std::env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"))
                .join("../../Cargo.toml"),
        )
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

// ---- the check itself ----

fn check(from: &str, to: &str, kind: Option<&str>, expected: &[&str]) {
    let metadata = json!({ "packages": [{ "name": from, "dependencies": [{ "name": to, "kind": kind }] }] });
    assert_eq!(broken_rules(&metadata), expected);
}

#[test]
fn a_forbidden_arrow_is_named_with_the_place_of_its_rule() {
    check(
        "gristmill-domain",
        "gristmill-gateway",
        None,
        &[
            "forbidden arrow gristmill-domain → gristmill-gateway (normal): gristmill-domain may use gristmill-json-text; see the arrows in ARCHITECTURE.md",
        ],
    );
    check(
        "gristmill-worker",
        "gristmill-domain",
        Some("build"),
        &[
            "forbidden arrow gristmill-worker → gristmill-domain (build): gristmill-worker may use gristmill-protocol, gristmill-analysis, gristmill-files; see the arrows in ARCHITECTURE.md",
        ],
    );
}

#[test]
fn an_engine_in_the_gateway_is_a_forbidden_arrow() {
    check(
        "gristmill-gateway",
        "wasmtime",
        None,
        &[
            "forbidden arrow gristmill-gateway → wasmtime (normal): only gristmill-worker may name wasmtime; see the arrows in ARCHITECTURE.md",
        ],
    );
    check(
        "gristmill-cli",
        "wasmtime-wasi",
        Some("dev"),
        &[
            "forbidden arrow gristmill-cli → wasmtime-wasi (dev): only gristmill-worker may name wasmtime; see the arrows in ARCHITECTURE.md",
        ],
    );
    check("gristmill-worker", "wasmtime", None, &[]);
}

#[test]
fn only_one_crate_names_rmcp() {
    check(
        "gristmill-cli",
        "rmcp",
        None,
        &[
            "forbidden arrow gristmill-cli → rmcp (normal): only gristmill-mcp may name rmcp; see the arrows in ARCHITECTURE.md",
        ],
    );
    check("gristmill-mcp", "rmcp", None, &[]);
    check("gristmill-http", "rmcp", Some("dev"), &[]);
    check(
        "gristmill-http",
        "rmcp",
        None,
        &[
            "forbidden arrow gristmill-http → rmcp (normal): only gristmill-mcp may name rmcp; see the arrows in ARCHITECTURE.md",
        ],
    );
}

#[test]
fn the_testkit_is_for_tests() {
    check("gristmill-gateway", "gristmill-testkit", Some("dev"), &[]);
    check(
        "gristmill-protocol",
        "gristmill-testkit",
        None,
        &[
            "forbidden arrow gristmill-protocol → gristmill-testkit (normal): gristmill-protocol may use gristmill-json-text; see the arrows in ARCHITECTURE.md",
        ],
    );
}

#[test]
fn a_new_crate_needs_its_arrows() {
    let metadata = json!({ "packages": [{ "name": "gristmill-cache", "dependencies": [] }] });
    assert_eq!(
        broken_rules(&metadata),
        ["gristmill-cache has no arrows: draw them in ARCHITECTURE.md, then in crate_arrows.rs"]
    );
}
