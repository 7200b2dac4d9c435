//! `gristmill ask` without a model.

use gristmill_testkit::Home;
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
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let home = Home::new(gristmill(), "ask-flags");
    for flags in [
        ["--no-model", "--model", "gpt-5"],
        ["--dry-run", "--save-skill", "x"],
        ["--attempts", "11", "--json"],
    ] {
        let words: Vec<&str> = ["ask"].into_iter().chain(flags).chain(["count"]).collect();
        assert_eq!(home.run(&words).code, Some(2), "{words:?}");
    }
}
