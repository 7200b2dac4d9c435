//! `gristmill init`: everything in one go, by flags and at a terminal.

use std::process::{Command, Stdio};

use gristmill_testkit::Ran;

use crate::desk::Desk;

const CURSOR: &str = ".cursor/mcp.json";
const ANSWERS: [&str; 11] = [
    "init",
    "--client",
    "cursor",
    "--move-servers=yes",
    "--profile",
    "standard",
    "--privacy",
    "boundary",
    "--policy",
    "strict",
    "--yes",
];

#[test]
fn flags_answer_everything_and_a_second_time_changes_nothing() {
    let desk = Desk::full("init-flags");
    let before = desk.read(CURSOR);
    let ran = desk.ok(&ANSWERS);
    assert!(ran.stdout.contains("connected Cursor as `gristmill`"), "{}", ran.stdout);
    let config = desk.config();
    for part in ["profile = \"standard\"", "mode = \"boundary\"", "preset = \"strict\"", "[servers."] {
        assert!(config.contains(part), "{part} is not in\n{config}");
    }
    assert_ne!(desk.read(CURSOR), before);
    assert_eq!(desk.backups(CURSOR).len(), 1);
    let (after, client) = (desk.config(), desk.read(CURSOR));
    let again = desk.ok(&ANSWERS);
    assert!(again.stdout.contains("everything is set up already"), "{}{}", again.stdout, again.stderr);
    assert_eq!((desk.config(), desk.read(CURSOR)), (after, client));
    assert_eq!(desk.backups(CURSOR).len(), 1);
    let shown = desk.ok(&["config", "show"]);
    assert!(shown.stdout.contains("boundary") && shown.stdout.contains("strict"), "{}", shown.stdout);
}

#[test]
fn a_dry_run_shows_everything_and_changes_nothing() {
    let desk = Desk::full("init-dry");
    let before = desk.read(CURSOR);
    let mut answers = ANSWERS[..10].to_vec();
    answers.push("--dry-run");
    let ran = desk.ok(&answers);
    for part in [
        "serve.profile = \"standard\"",
        "privacy.mode = \"boundary\"",
        "policy.preset = \"strict\"",
        "gristmill",
    ] {
        assert!(ran.stdout.contains(part), "{part} is not in\n{}", ran.stdout);
    }
    assert_eq!(desk.read(CURSOR), before);
    assert_eq!(desk.config(), "");
}

#[test]
fn without_a_terminal_every_missing_flag_is_named() {
    let desk = Desk::full("init-missing");
    desk.refused(
        &["init"],
        "pass --client NAME (or none), --move-servers=yes|no (not with none), --profile minimal|standard|full, \
         --privacy off|output|boundary, --policy trusting|careful|strict, --yes",
    );
    desk.refused(
        &["init", "--client", "cursor", "--yes", "--profile", "full"],
        "pass --move-servers=yes|no, --privacy",
    );
    desk.refused(&["init", "--client", "nobody"], "possible values");
    assert_eq!(desk.config(), "");
}

#[test]
fn none_connects_no_client_and_still_writes_the_settings() {
    let desk = Desk::full("init-none");
    let ran = desk.ok(&[
        "init",
        "--client",
        "none",
        "--profile",
        "minimal",
        "--privacy",
        "output",
        "--policy",
        "careful",
        "--yes",
    ]);
    assert!(ran.stdout.contains("connects: none\n"), "{}", ran.stdout);
    assert!(desk.config().contains("preset = \"careful\""), "{}", desk.config());
    assert!(!desk.text(CURSOR).contains("gristmill"));
}

#[test]
fn a_yaml_file_is_left_to_its_owner() {
    let desk = Desk::new("init-yaml");
    desk.write("config/gristmill/gristmill.yaml", "level: production\n");
    let ran = desk.run(&[
        "init",
        "--client",
        "none",
        "--profile",
        "full",
        "--privacy",
        "output",
        "--policy",
        "careful",
        "--yes",
    ]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("reads YAML but doesn't edit it"), "{}", ran.stderr);
    let block = "serve:\n  profile: \"full\"\nprivacy:\n  mode: \"output\"\npolicy:\n  preset: \"careful\"\n";
    assert!(ran.stdout.contains(block), "{}", ran.stdout);
    assert_eq!(ran.stderr.matches("add this").count(), 1, "{}", ran.stderr);
    assert_eq!(desk.text("config/gristmill/gristmill.yaml"), "level: production\n");
}

#[cfg(target_os = "linux")]
fn on_terminal(desk: &Desk, typed: &str) -> Ran {
    let inner = desk.home.command(&["init"]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/on_terminal.py");
    let mut command = Command::new("python3");
    command.args([script, "100", typed]).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("TERM", "xterm").env("NO_COLOR", "1").current_dir(desk.home.work()).stdin(Stdio::null());
    Ran::of(command.output().expect("python3 runs"))
}

#[cfg(target_os = "linux")]
#[test]
fn at_a_terminal_it_asks_shows_and_asks_once() {
    let desk = Desk::full("init-typed");
    // Which clients, move, profile (a wrong word first), privacy as it is, policy, the one yes.
    let ran = on_terminal(&desk, "all\nn\nhuge\nfull\n\nstrict\ny\n");
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("[y/N]").count(), 1, "{}", ran.stdout);
    for part in [
        "all, or none [none]:",
        "`huge` isn't one of these",
        "Type one of these, or press Enter to keep [minimal]:",
        "  output:   the model and records",
        "  strict:   everything that isn't read-only",
    ] {
        assert!(ran.stdout.contains(part), "{part} is not in\n{}", ran.stdout);
    }
    let config = desk.config();
    assert!(config.contains("profile = \"full\"") && config.contains("preset = \"strict\""), "{config}");
    assert!(!config.contains("[servers."), "{config}");
    assert!(desk.text(CURSOR).contains("gristmill") && desk.text(".codex/config.toml").contains("gristmill"));
}

#[cfg(target_os = "linux")]
#[test]
fn no_at_the_end_changes_nothing() {
    let desk = Desk::full("init-no");
    let before = desk.read(CURSOR);
    let ran = on_terminal(&desk, "all\ny\n\n\n\nn\n");
    assert_eq!(ran.code, Some(2), "{}", ran.stdout);
    assert_eq!(desk.read(CURSOR), before);
    assert_eq!(desk.config(), "");
}

#[cfg(target_os = "linux")]
#[test]
fn clients_that_are_connected_are_marked_and_a_wrong_answer_is_named() {
    let desk = Desk::full("init-marked");
    desk.ok(&ANSWERS);
    let ran = on_terminal(&desk, "99\n\n\n\n\n");
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    for part in ["Cursor (connected)", "`99` isn't an answer: type numbers from 1", "connects: none"] {
        assert!(ran.stdout.contains(part), "{part} is not in\n{}", ran.stdout);
    }
    assert_eq!(ran.stdout.matches("(connected)").count(), 1, "{}", ran.stdout);
}
