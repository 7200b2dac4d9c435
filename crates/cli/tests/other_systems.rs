//! Configurations of other systems: translated key by key, and never read as ours.

mod support;

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

const THEIRS: &str = r#"
execution:
  workspace_dir: ./workspace
  servers_dir: ./servers
  skills_dir: ./skills
  sandbox_type: docker
  allow_network_access: true
llm:
  enabled: true
  provider: azure
  model: gpt-5
  azure_endpoint: https://example.openai.azure.com
  api_key: CANARY-0123456789abcdef
  deployment_name: main
  api_version: "2025-04-01"
  temperature: 0.2
  max_tokens: 4000
  retries: 3
guardrails:
  enabled: true
  strict_mode: true
  security_checks: [eval, exec]
  max_execution_time: 20
  max_memory_mb: 256
cpu_limit_percent: 50
allowed_hosts:
  - api.example.com
  - "*.example.org:8443"
allowed_modules: [json, math]
workspace_size_mb: 200
max_file_size_mb: 20
timeout_seconds: 3000
WORKSPACE_DIR: /srv/workspace
mcpServers:
  tracker:
    command: tracker-server
    args: ["--all"]
    env: { TRACKER_TOKEN: CANARY-fedcba9876543210 }
"#;

fn with_theirs(name: &str) -> (Home, String) {
    let home = Home::new(gristmill(), name);
    let file = home.work().join("config.yaml");
    std::fs::write(&file, THEIRS).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (home, file)
}

fn config(home: &Home) -> String {
    std::fs::read_to_string(home.config_file()).unwrap_or_default()
}

fn env(home: &Home) -> String {
    std::fs::read_to_string(home.config_file().with_file_name(".env")).unwrap_or_default()
}

#[test]
fn every_key_is_shown_with_what_it_becomes_or_why_it_has_no_counterpart() {
    let (home, file) = with_theirs("other-shown");
    let shown = home.ok(&["import", "--from", &file, "--dry-run"]);
    let check = |key: &str, words: &str| {
        let line =
            shown.lines().find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("{key}\n{shown}"));
        assert!(line.contains(words), "{line}");
    };
    check("execution.workspace_dir", "no counterpart: every session has a workspace of its own");
    check("execution.sandbox_type", "no counterpart: programs always run in WebAssembly");
    check("execution.allow_network_access", "nothing to do: `allowed_hosts` says what programs can reach");
    check("llm.azure_endpoint", "becomes llm.url = \"https://example.openai.azure.com\"");
    check("llm.api_key", "becomes llm.api_key, a reference to a variable in .env");
    check("llm.temperature", "becomes llm.temperature = 0.2");
    check("llm.retries", "no counterpart: there is no such setting here");
    check("guardrails.enabled", "nothing to do: every program is checked before it runs");
    check("guardrails.security_checks", "no counterpart: checks can't be chosen");
    check("guardrails.max_execution_time", "becomes limits.wall_time = \"20s\", limits.cpu_time = \"20s\"");
    check("guardrails.max_memory_mb", "becomes limits.memory = \"256M\"");
    check("cpu_limit_percent", "becomes limits.cpu_percent = \"50%\"");
    check("allowed_hosts", "becomes network.allowed_hosts = [\"api.example.com\", \"*.example.org:8443\"]");
    check(
        "timeout_seconds",
        "not taken: wall_time = 3000 s is out of range for level production (1 s to 120 s)",
    );
    assert!(!shown.contains("--level"), "{shown}");
    check("WORKSPACE_DIR", "no counterpart");
    check("tracker", "new; a secret moves to .env: TRACKER_TOKEN");
    assert!(!shown.contains("CANARY"), "{shown}");
    assert_eq!((config(&home), env(&home)), (String::new(), String::new()), "a dry run writes nothing");
}

#[test]
fn what_has_a_counterpart_is_written_and_secrets_go_into_the_env_file() {
    let (home, file) = with_theirs("other-written");
    std::fs::create_dir_all(home.config_file().parent().unwrap()).unwrap();
    std::fs::write(
        home.config_file(),
        "# mine\nlevel = \"production\"\n\n[limits]\nmemory = \"128M\" # small\n",
    )
    .unwrap();
    let ran = home.run(&["import", "--from", &file, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    let replaced = "becomes limits.memory = \"256M\"\n  replaces `limits.memory = \"128M\"`\n";
    assert!(ran.stdout.contains(replaced), "{}", ran.stdout);
    assert!(ran.stdout.contains("backup: "), "{}", ran.stdout);
    let written = config(&home);
    for part in [
        "# mine\nlevel = \"production\"\n",
        "memory = \"256M\" # small",
        "wall_time = \"20s\"",
        "cpu_percent = \"50%\"",
        "workspace_bytes = \"200M\"",
        "file_bytes = \"20M\"",
        "[network]\nallowed_hosts = [\"api.example.com\", \"*.example.org:8443\"]",
        "strict_mode = true",
        "allowed_modules = [\"json\", \"math\"]",
        "provider = \"azure\"",
        "api_key = \"${LLM_API_KEY}\"",
        "[servers.tracker]\ncommand = \"tracker-server\"",
        "TRACKER_TOKEN = \"${TRACKER_TOKEN}\"",
    ] {
        assert!(written.contains(part), "{part} is not in\n{written}");
    }
    assert!(!written.contains("CANARY"), "{written}");
    assert!(env(&home).contains("LLM_API_KEY=") && env(&home).contains("TRACKER_TOKEN="), "secrets are kept");
    let again = home.run(&["import", "--from", &file, "--yes"]);
    assert!(again.stderr.contains("nothing to change"), "{}{}", again.stdout, again.stderr);
    assert_eq!(config(&home), written);
}

#[test]
fn whatever_the_file_says_the_configuration_can_be_used_afterwards() {
    for (index, text) in [
        "llm: { provider: azure_openai, temperature: 5, max_tokens: -1 }",
        "llm: { provider: bedrock, api_key: 5, base_url: example.com, timeout: soon }",
        "execution: { timeout_seconds: 30 }\nguardrails: { max_execution_time: 45, strict_mode: maybe }",
        "network: { allowed_hosts: ['https://api.example.com/v1'] }",
        "network: { allowed_hosts: ['*.com'] }",
        "allowed_hosts: [localhost:8080]\nallowed_modules: ['numpy>=1', '']",
    ]
    .into_iter()
    .enumerate()
    {
        let home = Home::new(gristmill(), &format!("other-usable-{index}"));
        let file = home.work().join("theirs.yaml");
        std::fs::write(
            &file,
            format!("execution: {{}}\n{text}\n").replace("execution: {}\nexecution", "execution"),
        )
        .unwrap();
        home.ok(&["import", "--from", file.to_str().unwrap(), "--yes"]);
        home.ok(&["config", "show"]);
    }
}

#[test]
fn a_configuration_that_could_not_be_used_is_not_written() {
    let home = Home::new(gristmill(), "other-net");
    let file = home.work().join("theirs.yaml");
    std::fs::write(&file, "allowed_hosts: [a.example.com]\nmcpServers: { http: { command: web } }\n")
        .unwrap();
    let ran = home.run(&["import", "--from", file.to_str().unwrap(), "--yes"]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains("nothing changed") && ran.stderr.contains("`servers.http` "),
        "{}",
        ran.stderr
    );
    assert_eq!(config(&home), "");
}

#[test]
fn nobody_to_ask_changes_nothing_and_json_tells_every_key() {
    let (home, file) = with_theirs("other-asked");
    let ran = home.run(&["import", "--from", &file]);
    assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("pass --yes"), "{}", ran.stderr);
    let told: Value = serde_json::from_str(&home.ok(&["import", "--from", &file, "--json"])).unwrap();
    let row =
        |key: &str| told["keys"].as_array().unwrap().iter().find(|row| row["key"] == key).cloned().unwrap();
    assert_eq!(row("allowed_modules")["outcome"], json!("setting"));
    assert_eq!(row("cpu_limit_percent")["outcome"], json!("setting"));
    assert_eq!(row("execution.sandbox_type")["outcome"], json!("no_counterpart"));
    assert_eq!(row("timeout_seconds")["outcome"], json!("not_taken"));
    assert_eq!(told["taken"], json!([]));
    assert_eq!(told["servers"][0]["client"], json!("file"));
    let schema: Value =
        serde_json::from_str(include_str!("../../../docs/reference/schemas/import.json")).unwrap();
    jsonschema::validator_for(&schema).unwrap().validate(&told).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(config(&home), "");
}

#[test]
fn such_a_file_is_never_read_as_ours_and_the_error_names_the_command() {
    let (home, file) = with_theirs("other-config");
    let ran = home.run(&["run", "--config", &file, "-c", "1"]);
    assert_ne!(ran.code, Some(0));
    let words =
        format!("this is another system's configuration; `gristmill import --from {file}` translates it");
    assert!(ran.stderr.contains(&words), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("unknown key").count(), 0, "{}", ran.stderr);
}

#[test]
fn servers_in_a_list_and_files_that_are_no_use_are_told_apart() {
    let home = Home::new(gristmill(), "other-lists");
    let file = home.work().join("theirs.yaml");
    std::fs::write(
        &file,
        "execution: {}\nservers:\n  - name: notes\n    command: notes-server\n  - command: nameless\n",
    )
    .unwrap();
    let path = file.to_str().unwrap();
    home.ok(&["import", "--from", path, "--yes"]);
    assert!(config(&home).contains("[servers.notes]\ncommand = \"notes-server\""), "{}", config(&home));
    let check = |text: &str, words: &str| {
        std::fs::write(&file, text).unwrap();
        let ran = home.run(&["import", "--from", path, "--yes"]);
        assert_eq!(ran.code, Some(2), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
    };
    check("", "has no keys to import");
    check("a: [", "can't be parsed");
    check("a: &x 1\nb: *x", "aliases");
    let gone = home.run(&["import", "--from", "./gone.yaml"]);
    assert!(gone.code == Some(2) && gone.stderr.contains("can't be read"), "{}", gone.stderr);
    let wrong = home.run(&["import", "--from", "nobody"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("claude-code"), "{}", wrong.stderr);
}
