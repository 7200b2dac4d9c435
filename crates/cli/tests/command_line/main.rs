//! The command line, as people and scripts use it.

mod commands;
mod files;
mod running;
mod vault;

#[path = "../support/mod.rs"]
mod support;

use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::gristmill;

/// What these programs do is no part of the history of whoever tests.
fn gristmill_command() -> Command {
    let mut command = Command::new(gristmill());
    command.env("GRISTMILL_DATA_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/command-line-data"));
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Whatever is configured on this machine is not part of a test.
fn command(arguments: &[&str]) -> Command {
    let mut command = gristmill_command();
    command.args(arguments).env("XDG_CONFIG_HOME", "/nonexistent");
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap()
}

fn check(arguments: &[&str], code: i32, stdout: &str) -> String {
    let output = run(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{stderr}");
    assert_eq!(text(&output.stdout), stdout, "{arguments:?}\n{stderr}");
    stderr
}

fn check_ok(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{}", text(&output.stderr));
    text(&output.stdout)
}
