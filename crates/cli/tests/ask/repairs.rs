//! What failed goes back to its model, and what was done is not done twice.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::ask::{AskEnding, AskEvent, AskLimits, AskRequest, ConsentRule};
use gristmill_testkit::ScriptedModel;
use serde_json::json;

use crate::READ;
use crate::world::{World, task, words};

#[test]
fn a_check_and_a_failed_run_go_back_as_turns_until_it_works() {
    let world = World::new("ask-repair");
    world.put("in.txt", "one");
    let model = ScriptedModel::new("a")
        .writes("from servers.files import red_file\nresult = await red_file(path='in.txt')")
        .writes("from servers.files import read_file\nresult = (await read_file(path='in.txt'))['content']")
        .writes(READ);
    let model = Arc::new(model);
    let (asked, events) = world.ask(task("read in.txt", &model), false);
    assert_eq!((asked.ending, asked.attempts), (AskEnding::Finished, 3), "{:?}", asked.reasons);
    assert_eq!(asked.report.expect("a report").result, Some(json!("one")));
    let heard = model.heard();
    let told = |at: usize| heard[at].turns[2].text.clone();
    assert!(told(1).contains("refused before it ran") && told(1).contains("read_file"), "{}", told(1));
    assert!(told(2).contains("The program ran and failed") && told(2).contains("content"), "{}", told(2));
    assert_eq!(heard[2].turns.len(), 3, "only the last attempt is told");
    assert_eq!(words(&events).iter().filter(|word| **word == "failed").count(), 2);
}

#[test]
fn there_is_an_end_to_repairs() {
    let world = World::new("ask-repairs-end");
    let model = ScriptedModel::new("a").writes("1 / 0").writes("2 / 0").writes("3 / 0").writes("result = 1");
    let model = Arc::new(model);
    let limits = AskLimits { repairs: 2, ..AskLimits::default() };
    let (asked, _) = world.ask(AskRequest { limits, ..task("divide", &model) }, false);
    assert_eq!((asked.ending, asked.attempts, model.heard().len()), (AskEnding::Failed, 3, 3));
    let failure = asked.failure.as_deref().unwrap_or_default();
    assert!(failure.starts_with("line 1: ") && failure.ends_with("(GM-1102)"), "{failure}");
    let error = asked.report.expect("a report").error.clone().expect("an error");
    assert_eq!(error.code.as_str(), "GM-1102");
}

#[test]
fn a_repair_knows_what_was_written_already_and_needs_another_yes() {
    let world = World::new("ask-made");
    let first = "from servers.files import write_file\nawait write_file(path='a.txt', text='x')\n1 / 0";
    let second = "from servers.files import write_file\nawait write_file(path='b.txt', text='x')\nresult = 1";
    let model = Arc::new(ScriptedModel::new("a").writes(first).writes(second));
    let (asked, events) = world.ask(task("write x to a.txt and b.txt", &model), true);
    assert_eq!(asked.ending, AskEnding::Finished, "{:?}", asked.reasons);
    let made: Vec<Vec<String>> = events
        .iter()
        .filter_map(|event| match event {
            AskEvent::AwaitingConsent { made, .. } => Some(made.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(made, [Vec::new(), vec!["files.write_file (done, line 2)".to_owned()]]);
    let told = &model.heard()[1].turns[2].text;
    assert!(told.contains("don't do it again unless it failed:\n- files.write_file (done"), "{told}");
    let model = Arc::new(ScriptedModel::new("a").writes(first).writes(second));
    let (_, events) =
        world.ask(AskRequest { consent: ConsentRule::Yes, ..task("write both", &model) }, false);
    assert!(!words(&events).contains(&"consent"), "yes was said to all of it");
}

#[test]
fn tokens_and_time_have_an_end() {
    let world = World::new("ask-limits");
    let model = Arc::new(ScriptedModel::new("a").writes("1 / 0").writes("result = 1"));
    let limits = AskLimits { total_tokens: 100, ..AskLimits::default() };
    let (asked, _) = world.ask(AskRequest { limits, ..task("divide", &model) }, false);
    assert_eq!(asked.ending, AskEnding::NotWritten, "the prompt alone takes more");
    assert!(asked.reasons[0].contains("100 tokens are left"), "{:?}", asked.reasons);
    let model = Arc::new(ScriptedModel::new("a").writes("result = 1"));
    let limits = AskLimits { total_time: Duration::ZERO, ..AskLimits::default() };
    let (asked, _) = world.ask(AskRequest { limits, ..task("divide", &model) }, false);
    assert_eq!((asked.ending, model.heard().len()), (AskEnding::NotWritten, 0));
    assert_eq!(asked.reasons, ["it took longer than 0 s"]);
}

#[test]
fn a_failure_keeps_personal_data_from_the_model() {
    let world = World::new("ask-privacy");
    world.put("in.txt", "ann.lee@example.com");
    let code =
        "from servers.files import read_file\nraise ValueError((await read_file(path='in.txt'))['text'])";
    let model = Arc::new(ScriptedModel::new("a").writes(code).writes("result = 1"));
    let (asked, _) = world.ask(task("read in.txt for bo@example.com", &model), false);
    assert_eq!(asked.ending, AskEnding::Finished, "{:?}", asked.reasons);
    for prompt in model.heard() {
        for turn in prompt.turns {
            assert!(!turn.text.contains("@example.com"), "{}", turn.text);
        }
    }
    let told = &model.heard()[1].turns[2].text;
    assert!(told.contains("[EMAIL_"), "{told}");
}
