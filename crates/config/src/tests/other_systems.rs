//! What the keys of another system's configuration become.

use gristmill_gateway::domain::Level;

use crate::format::Format;
use crate::other_system::{Becomes, new_errors, telltale, translate};

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

/// One line, and a part of the reason why its value isn't taken.
fn not_taken(line: &str, part: &str) {
    match becomes(line, Level::Production).as_slice() {
        [(_, Becomes::NotTaken(why))] => assert!(why.contains(part), "{line}: {why}"),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn limits_are_written_with_their_units_and_held_to_the_level() {
    check("timeout_seconds: 30", "limits.wall_time = \"30s\", limits.cpu_time = \"30s\"");
    check("timeout_seconds: 2.5", "limits.wall_time = \"2500ms\", limits.cpu_time = \"2500ms\"");
    check("memory_limit_mb: \"256\"", "limits.memory = \"256M\"");
    check("max_file_size_mb: 0.5", "limits.file_bytes = \"512K\"");
    check("cpu_limit_percent: 50", "limits.cpu_percent = \"50%\"");
    check("resources: { cpu_limit_percent: 12.5 }", "limits.cpu_percent = \"12%\"");
    not_taken("cpu_limit_percent: 400", "1% to 100%");
    not_taken("timeout_seconds: 3600", "120 s");
    not_taken("memory_limit_mb: 1", "64 MB");
    for bad in ["abc", "-5", "0", "[1]", "true", "1e400"] {
        not_taken(&format!("memory_limit_mb: {bad}"), "a number above 0");
    }
    let development = becomes("timeout_seconds: 3600", Level::Development);
    assert!(matches!(&development[0].1, Becomes::Setting(_)), "{development:?}");
}

#[test]
fn the_network_is_closed_but_for_named_hosts() {
    check("allowed_hosts: [a.example.com]", "network.allowed_hosts = [\"a.example.com\"]");
    check("allowed_hosts: a.example.com", "network.allowed_hosts = [\"a.example.com\"]");
    check("network: { allowed_hosts: [a.example.com] }", "network.allowed_hosts = [\"a.example.com\"]");
    check("allowed_hosts: ['http://localhost:8080']", "network.allowed_hosts = [\"http://localhost:8080\"]");
    for own in ["localhost:8080", "127.0.0.1:8080"] {
        let expected = format!("network.allowed_hosts = [\"{own}\"] (https; write http://{own} for http)");
        check(&format!("allowed_hosts: ['{own}']"), &expected);
    }
    not_taken("allowed_hosts: ['*']", "every host can't be allowed");
    not_taken("allowed_hosts: [a.example.com, '*.com']", "`*.com` isn't a host; write");
    not_taken("allowed_hosts: ['https://api.example.com/v1']", "`https://api.example.com/v1` isn't a host");
    not_taken("allowed_hosts: ['https://me:secret@example.com']", "an entry isn't a host");
    not_taken("allowed_hosts: 3", "isn't a list");
    not_taken("allow_network: maybe", "isn't true or false");
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
fn what_our_own_reader_would_refuse_is_not_taken() {
    not_taken("llm: { temperature: 5 }", "must be a number from 0 to 2");
    not_taken("llm: { max_tokens: -1 }", "must be a whole number from 64");
    not_taken("llm: { enabled: sometimes }", "must be true or false");
    not_taken("llm: { base_url: example.com }", "must start with `http://`");
    not_taken("llm: { api_key: 5 }", "isn't text");
    not_taken(
        "llm: { provider: bedrock }",
        "`bedrock` isn't a provider here: it must be one of auto, openai",
    );
    not_taken("llm: openai", "isn't a table");
    not_taken("guardrails: { strict_mode: sometimes }", "must be true or false");
    not_taken("allowed_modules: ['numpy>=1']", "must be a module");
    for (theirs, ours) in [
        ("azure_openai", "azure"),
        ("Azure-OpenAI", "azure"),
        ("AZURE", "azure"),
        ("OpenAI", "openai"),
        ("Anthropic", "anthropic"),
        ("claude", "anthropic"),
        ("Ollama", "compatible"),
        ("vllm", "compatible"),
        ("LMStudio", "compatible"),
        ("openai_compatible", "compatible"),
    ] {
        check(&format!("llm: {{ provider: {theirs} }}"), &format!("llm.provider = \"{ours}\""));
    }
}

#[test]
fn a_limit_out_of_range_names_the_level_that_allows_it() {
    not_taken("timeout_seconds: 3600", "set `level = \"development\"` in your configuration");
    let why = becomes("timeout_seconds: 100000000", Level::Production);
    assert!(matches!(&why[0].1, Becomes::NotTaken(why) if !why.contains("level =")), "{why:?}");
}

#[test]
fn of_two_keys_for_one_setting_the_stricter_counts_or_the_later() {
    let check = |text: &str, settings: &[&str], lost: &str, why: &str| {
        let translated = translate(&Format::Yaml.parse(text).expect("YAML"), Level::Production);
        let texts: Vec<String> = translated.settings.iter().map(|setting| setting.text()).collect();
        assert_eq!(texts, settings, "{text}");
        let row = translated.rows.iter().find(|row| row.key == lost).expect("a row");
        assert_eq!(row.becomes, Becomes::NotTaken(why.to_owned()), "{text}");
    };
    let seconds = ["limits.wall_time = \"30s\"", "limits.cpu_time = \"30s\""];
    check(
        "execution: { timeout_seconds: 30 }\nguardrails: { max_execution_time: 45 }",
        &seconds,
        "guardrails.max_execution_time",
        "`execution.timeout_seconds` is stricter and counts",
    );
    check(
        "guardrails: { max_execution_time: 45 }\nexecution: { timeout_seconds: 30 }",
        &seconds,
        "guardrails.max_execution_time",
        "`execution.timeout_seconds` is stricter and counts",
    );
    check(
        "guardrails: { strict_mode: true }\nexecution: { strict_mode: false }",
        &["guardrails.strict_mode = true"],
        "execution.strict_mode",
        "`guardrails.strict_mode` is stricter and counts",
    );
    check(
        "llm: { model: a, model_name: b }",
        &["llm.model = \"b\""],
        "llm.model",
        "`llm.model_name` comes later and counts",
    );
}

#[test]
fn hosts_are_the_answer_to_an_open_network_and_are_not_taken_with_a_closed_one() {
    let rows = becomes("allow_network: true\nallowed_hosts: [a.example.com]", Level::Production);
    assert_eq!(rows[0].1, Becomes::AlreadySo("`allowed_hosts` says what programs can reach"));
    let rows = becomes("network: { enabled: false, allowed_hosts: [a.example.com] }", Level::Production);
    assert_eq!(rows[1].1, Becomes::NotTaken("the same file turns the network off".to_owned()));
}

#[test]
fn errors_that_a_change_would_bring_are_found() {
    let path = std::path::Path::new("/c/gristmill.toml");
    let check = |before: &str, after: &str, servers: &[&str], expected: &[&str]| {
        let found =
            new_errors(path, Some(before.as_bytes()), after.as_bytes(), servers, Level::Production, None);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(found.iter().zip(expected).all(|(found, part)| found.contains(part)), "{found:?}");
    };
    check("", "[llm]\ntemperature = 5\n", &[], &["`llm.temperature` must be"]);
    check("[llm]\ntemperature = 5\n", "[llm]\ntemperature = 5\nmodel = \"m\"\n", &[], &[]);
    check("", "[limits]\nwall_time = \"1h\"\n", &[], &["`limits.wall_time` "]);
    check(
        "",
        "[network]\nallowed_hosts = [\"a.example.com\"]\n",
        &["http"],
        &["`servers.http` has the name"],
    );
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
