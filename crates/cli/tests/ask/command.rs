//! `gristmill ask` without a model.

use gristmill_testkit::{Home, Ran};
use serde_json::Value;

use crate::support::gristmill;

#[test]
fn without_anyone_who_writes_the_command_says_why_and_what_is_nearest() {
    let home = Home::new(gristmill(), "ask-command");
    home.add_example("weather");
    let ran = home.run(&["ask", "--no-model", "what's the weather in Oslo"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("tools: weather."), "{}", ran.stderr);
    assert!(ran.stderr.contains("error: no program was written"), "{}", ran.stderr);
    let ran = home.run(&["ask", "--json", "--no-model", "what's the weather in Oslo"]);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &told["status"], &told["attempts"]), (Some(1), &"not_written".into(), &0.into()));
    assert!(told["nearest_tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{told:#}");
    assert_eq!(told["error"]["kind"], "not_written", "{told:#}");
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let home = Home::new(gristmill(), "ask-flags");
    for flags in [
        ["--no-model", "--model", "gpt-5"],
        ["--no-model", "--show-prompt", "--json"],
        ["--dry-run", "--save-skill", "x"],
        ["--attempts", "11", "--json"],
    ] {
        let words: Vec<&str> = ["ask"].into_iter().chain(flags).chain(["count"]).collect();
        assert_eq!(home.run(&words).code, Some(2), "{words:?}");
    }
}

#[test]
fn without_a_model_one_note_says_so_and_a_simple_task_is_done() {
    let home = home_with("ask-simple", "weather");
    let ran = run(&home, &["ask", "What's the weather in Lisbon right now?"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let value: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(value["city"], "Lisbon");
    let note = "note: no model is set up, so rules write the program; see `gristmill help models`";
    assert_eq!(lines_with(&ran.stderr, "model"), [note]);
    assert!(ran.stderr.contains("program 1, Python, by rules:"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("tokens") && !ran.stderr.contains("1 program\n"), "{}", ran.stderr);
}

#[test]
fn a_refusal_is_told_once_with_what_to_do() {
    let home = home_with("ask-refusal", "crm");
    let ran = run(&home, &["ask", "which of my leads have no owner?"]);
    assert_eq!(ran.code, Some(1));
    let end: Vec<&str> = ran.stderr.lines().skip(2).collect();
    assert_eq!(
        end,
        [
            "error: no program was written: I can't tell what “no” and “owner” mean for crm.list_leads",
            "hint: rephrase the task with the tool's own words, or set up a model (`gristmill help models`)",
            "hint: the nearest tools are crm.list_leads, crm.create_record, crm.update_record",
        ]
    );
}

#[test]
fn a_program_that_fails_ends_with_its_own_failure() {
    let home = home_with("ask-failure", "weather");
    let ran = run(&home, &["ask", "What's the weather in Atlantis right now?"]);
    assert_eq!(ran.code, Some(1));
    let last = ran.stderr.lines().last().unwrap_or_default();
    assert!(last.starts_with("error: the program failed: line 3: no city `Atlantis`"), "{}", ran.stderr);
    for words in ["Already called", "ToolError", "isn't set"] {
        assert!(!ran.stderr.contains(words), "{words}: {}", ran.stderr);
    }
}

#[test]
fn what_can_not_be_asked_or_saved_is_wrong_usage_before_anything_runs() {
    let home = home_with("ask-usage", "weather");
    let long = "x ".repeat(4_000);
    let task = "What's the weather in Lisbon right now?";
    let check = |arguments: &[&str], expected: &str| {
        let ran = run(&home, &[&["ask"], arguments].concat());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{expected}: {}", ran.stderr);
        assert!(!ran.stderr.contains("running"), "{}", ran.stderr);
    };
    check(&[""], "error: the task is empty");
    check(&[&long], "error: the task has 7999 characters, and 4000 are the most");
    check(&["--provider", "openai", task], "error: `openai` can't be asked: OPENAI_API_KEY isn't set");
    check(&["--model", "gpt-5", task], "error: `gpt-5` can't be asked: ");
    check(&["--save-skill", "9x", task], "error: `9x` isn't a valid skill name");
    check(
        &["--save-skill", "current", task],
        "error: a skill can't be named `current`: it is the tool weather.",
    );
}

#[test]
fn a_request_to_a_host_is_asked_about() {
    let home = home_with("ask-request", "weather");
    let file = home.work().join("hosts.toml");
    std::fs::write(&file, "[network]\nallowed_hosts = ['http://127.0.0.1:9']\n").expect("a file");
    let file = file.to_str().expect("a path");
    let ran = run(&home, &["ask", "--config", file, "get http://127.0.0.1:9/items"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("calls: http.get (sends a request to http://127.0.0.1:9, "),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("\nit sends requests with http.get to http://127.0.0.1:9\n"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("running"), "{}", ran.stderr);
}

#[test]
fn what_the_rules_write_in_typescript_becomes_a_skill() {
    let home = home_with("ask-typescript-skill", "weather");
    let task = "What's the weather in Lisbon right now?";
    let ran = run(&home, &["ask", "--language", "typescript", "--save-skill", "lisbon_now", task]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("saved lisbon_now v1, its test passed"), "{}", ran.stderr);
    let ran = run(&home, &["ask", "--save-skill", "Lisbon_Now", task]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("`lisbon_now` already exists and reads like `Lisbon_Now`"), "{}", ran.stderr);
}

fn home_with(name: &str, example: &str) -> Home {
    let home = Home::new(gristmill(), name);
    home.add_example(example);
    home
}

/// Without the models that whoever tests has.
fn run(home: &Home, arguments: &[&str]) -> Ran {
    let mut command = home.command(arguments);
    for name in
        ["OPENAI_API_KEY", "OPENAI_MODEL", "OPENAI_BASE_URL", "OLLAMA_HOST", "LLM_PROVIDER", "LLM_MODEL"]
    {
        command.env_remove(name);
    }
    for name in ["ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"] {
        command.env_remove(name);
    }
    Ran::of(command.output().expect("it can be run"))
}

fn lines_with<'t>(text: &'t str, part: &str) -> Vec<&'t str> {
    text.lines().filter(|line| line.contains(part)).collect()
}
