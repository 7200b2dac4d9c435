//! What the keys of another system's configuration become.

use gristmill_gateway::domain::Level;

use crate::format::Format;
use crate::other_system::{Becomes, telltale, translate};

fn becomes(text: &str, level: Level) -> Vec<(String, Becomes)> {
    let tree = Format::Yaml.parse(text).expect("YAML");
    translate(&tree, level).rows.into_iter().map(|row| (row.key, row.becomes)).collect()
}

/// One line, and the setting that it becomes.
fn check(line: &str, expected: &str) {
    match becomes(line, Level::Production).as_slice() {
        [(_, Becomes::Setting(text))] => assert_eq!(text, expected, "{line}"),
        other => panic!("{line}: {other:?}"),
    }
}

/// One line, and a part of the reason why it becomes nothing.
fn nothing(line: &str, part: &str) {
    match becomes(line, Level::Production).as_slice() {
        [(_, Becomes::Nothing(why))] => assert!(why.contains(part), "{line}: {why}"),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn limits_are_written_with_their_units_and_held_to_the_level() {
    check("timeout_seconds: 30", "limits.wall_time = \"30s\", limits.cpu_time = \"30s\"");
    check("timeout_seconds: 2.5", "limits.wall_time = \"2500ms\", limits.cpu_time = \"2500ms\"");
    check("memory_limit_mb: \"256\"", "limits.memory = \"256M\"");
    check("max_file_size_mb: 0.5", "limits.file_bytes = \"512K\"");
    nothing("timeout_seconds: 3600", "120 s");
    nothing("memory_limit_mb: 1", "64 MB");
    for bad in ["abc", "-5", "0", "[1]", "true", "1e400"] {
        nothing(&format!("memory_limit_mb: {bad}"), "a number above 0");
    }
    let development = becomes("timeout_seconds: 3600", Level::Development);
    assert!(matches!(&development[0].1, Becomes::Setting(_)), "{development:?}");
}

#[test]
fn the_network_is_closed_but_for_named_hosts() {
    check("allowed_hosts: [a.example.com]", "network.allowed_hosts = [\"a.example.com\"]");
    nothing("allowed_hosts: ['*']", "every host can't be allowed");
    nothing("allowed_hosts: everyone", "isn't a list");
    nothing("allow_network: true", "name the hosts");
    assert_eq!(
        becomes("allow_network: false", Level::Production)[0].1,
        Becomes::AlreadySo("programs have no network")
    );
}

#[test]
fn keys_of_models_are_kept_apart_unless_they_are_references() {
    let tree = Format::Yaml.parse("llm:\n  api_key: abc\n  model: m\n").expect("YAML");
    let translated = translate(&tree, Level::Production);
    assert_eq!(translated.api_key.as_deref(), Some("abc"));
    assert!(!format!("{:?}", translated.settings).contains("abc"));
    check("llm: { api_key: '${OPENAI_API_KEY}' }", "llm.api_key = \"${OPENAI_API_KEY}\"");
    check("llm: { base_url: 'http://localhost:11434/v1' }", "llm.url = \"http://localhost:11434/v1\"");
    nothing("llm: { prompts: [a] }", "no such setting");
}

#[test]
fn of_two_keys_for_one_setting_the_later_counts() {
    let tree =
        Format::Yaml.parse("timeout_seconds: 10\nguardrails: { max_execution_time: 20 }\n").expect("YAML");
    let settings = translate(&tree, Level::Production).settings;
    let texts: Vec<String> = settings.iter().map(|setting| setting.text()).collect();
    assert_eq!(texts, ["limits.wall_time = \"20s\"", "limits.cpu_time = \"20s\""]);
}

#[test]
fn a_file_is_told_apart_from_ours_by_its_keys() {
    let check = |text: &str, expected: Option<&str>| {
        let tree = Format::Yaml.parse(text).expect("YAML");
        assert_eq!(telltale(&tree).map(|entry| entry.key.as_str()), expected, "{text}");
    };
    check("execution: {}", Some("execution"));
    check("guardrails: { max_memory_mb: 3 }", Some("max_memory_mb"));
    check("guardrails: { strict_mode: true }", None);
    check("level: production\nlimits: { memory: 256M }", None);
    check("llm: { model: m }", None);
}
