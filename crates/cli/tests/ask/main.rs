//! From a sentence to a program, with a real server, real workers and a model by script.
#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod support;

mod command;
mod hostile;
mod repairs;
mod skills;
mod world;

use std::sync::Arc;

use gristmill_gateway::EngineId;
use gristmill_gateway::ask::{AskEnding, AskEvent, AskRequest, ConsentRule, Go};
use gristmill_gateway::domain::policy::{Decision, Rule};
use gristmill_gateway::history::Found;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{ModelFailure, Price, RuleOutcome, RuleTask, RuleWriter};
use gristmill_testkit::ScriptedModel;
use serde_json::json;
use world::{World, task, words};

pub const READ: &str =
    "from servers.files import read_file\nresult = (await read_file(path='in.txt'))['text']";
pub const WRITE: &str =
    "from servers.files import write_file\nawait write_file(path='a.txt', text='x')\nresult = 'done'";

#[test]
fn a_program_that_only_reads_runs_at_once_and_its_steps_are_told_in_order() {
    let world = World::new("ask-reads");
    world.put("in.txt", "one");
    let model = ScriptedModel::new("a").costs(Price { input: 1.0, output: 10.0 }).writes(READ);
    let model = Arc::new(model);
    let (asked, events) = world.ask(task("read the text file in.txt", &model), false);
    assert_eq!(asked.ending, AskEnding::Finished, "{:?}", asked.reasons);
    assert_eq!(asked.report.expect("a report").result, Some(json!("one")));
    assert_eq!(
        words(&events),
        ["searched", "prompted", "program", "checked", "preview", "running", "finished"]
    );
    let price = asked.spent.price.expect("a price");
    assert_eq!((asked.attempts, asked.spent.tokens.input, (price * 1e6).round()), (1, 100, 200.0));
    let preview = asked.preview.expect("a preview");
    assert!(preview.only_reads && !preview.may_call_others, "{preview:?}");
    let prompt = &model.heard()[0];
    assert!(prompt.system.contains("from servers.files import read_file"), "{}", prompt.system);
    assert_eq!(prompt.turns[0].text, "Task: read the text file in.txt");
}

#[test]
fn a_program_that_writes_runs_only_after_a_yes() {
    let world = World::new("ask-writes");
    let request = |consent| {
        let model = Arc::new(ScriptedModel::new("a").writes(WRITE));
        AskRequest { consent, ..task("write x to a.txt", &model) }
    };
    let (asked, events) = world.ask(request(ConsentRule::Ask), false);
    assert_eq!((asked.ending, world.written("a.txt")), (AskEnding::NoConsent, None));
    assert_eq!(words(&events).last(), Some(&"consent"));
    let asked_about = events.iter().find_map(|event| match event {
        AskEvent::AwaitingConsent { writes, .. } => Some(writes.clone()),
        _ => None,
    });
    assert_eq!(asked_about, Some(vec!["files.write_file".to_owned()]));
    let (asked, _) = world.ask(request(ConsentRule::Ask), true);
    assert_eq!((asked.ending, world.written("a.txt").as_deref()), (AskEnding::Finished, Some("x")));
    assert_eq!(asked.made, ["files.write_file (done, line 2)"]);
    let (asked, events) = world.ask(request(ConsentRule::Yes), false);
    assert_eq!(asked.ending, AskEnding::Finished);
    assert!(!words(&events).contains(&"consent"));
}

#[test]
fn without_a_run_the_program_is_written_checked_and_previewed() {
    let world = World::new("ask-dry");
    let model = Arc::new(ScriptedModel::new("a").writes(WRITE));
    let (asked, events) = world.ask(AskRequest { go: Go::Write, ..task("write x to a.txt", &model) }, true);
    assert_eq!((asked.ending, world.written("a.txt")), (AskEnding::Written, None));
    assert_eq!(words(&events), ["searched", "prompted", "program", "checked", "preview"]);
    let tool = &asked.preview.expect("a preview").tools[0];
    assert_eq!((tool.name.as_str(), tool.is_read_only), ("files.write_file", false));
}

#[test]
fn a_tool_that_the_policy_denies_is_neither_offered_nor_called() {
    let rule = Rule { tool: Some("write_file".to_owned()), ..Rule::deciding(Decision::Deny) };
    let world = World::with_rules("ask-denied", vec![rule]);
    let model = Arc::new(ScriptedModel::new("a").writes(WRITE).writes("result = 'no'"));
    let (asked, events) = world.ask(task("write a text file a.txt", &model), true);
    assert!(!model.heard()[0].system.contains("import write_file"), "{}", model.heard()[0].system);
    let told = &model.heard()[1].turns[2].text;
    assert!(told.contains("the user's policy denies files.write_file"), "{told}");
    assert_eq!((asked.ending, world.written("a.txt")), (AskEnding::Finished, None));
    assert!(words(&events).contains(&"failed"));
}

#[test]
fn a_model_that_fails_or_only_talks_is_followed_by_the_next_one_with_the_reason() {
    let world = World::new("ask-fallback");
    world.put("in.txt", "one");
    let denied = ModelFailure::Denied { provider: "scripted".to_owned(), reason: "bad key".to_owned() };
    let first = Arc::new(ScriptedModel::new("a").then(Err(denied)));
    let second = Arc::new(ScriptedModel::new("b").says("I'd rather not.").says("Really not."));
    let third = Arc::new(ScriptedModel::new("c").writes(READ));
    let mut request = task("read in.txt", &first);
    request.models.extend([second.clone() as _, third as _]);
    let (asked, events) = world.ask(request, false);
    assert_eq!(asked.ending, AskEnding::Finished, "{:?}", asked.reasons);
    let reasons: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            AskEvent::Fallback { from: Some(from), reason } => Some(format!("{from}: {reason}")),
            _ => None,
        })
        .collect();
    assert_eq!(
        reasons,
        ["scripted a: refused the key: bad key", "scripted b: the answer has no program in it: Really not."]
    );
    assert_eq!(second.heard().len(), 2, "it was asked once more");
}

/// Reads a file that the sentence names, or refuses.
struct OneRule;

impl RuleWriter for OneRule {
    fn write(&self, task: &RuleTask<'_>) -> RuleOutcome {
        let reader = task.tools.iter().find(|tool| tool.tool == "read_file" && tool.read_only);
        match (reader, task.sentence.contains("in.txt")) {
            (Some(tool), true) => RuleOutcome::Written {
                code: format!(
                    "from servers.{} import {}\nresult = (await {}(path='in.txt'))['text']",
                    tool.module, tool.function, tool.function
                ),
                assumptions: vec!["in.txt is a path".to_owned()],
                tools: vec!["files.read_file".to_owned()],
            },
            _ => RuleOutcome::Refused {
                reason: "not sure".to_owned(),
                nearest: vec!["files.read_file".to_owned()],
            },
        }
    }
}

#[test]
fn without_a_model_the_rules_write_or_refuse_with_the_nearest_tools() {
    let world = World::new("ask-rules");
    world.put("in.txt", "one");
    let request = |sentence: &str| AskRequest {
        rules: Some(Arc::new(OneRule)),
        without: vec!["no key".to_owned()],
        ..AskRequest::new(Caller::local(), sentence, EngineId::Python)
    };
    let (asked, _) = world.ask(request("read the text file in.txt"), false);
    assert_eq!(asked.ending, AskEnding::Finished, "{:?}", asked.reasons);
    assert_eq!(asked.reasons, ["no key"]);
    assert_eq!(asked.program.expect("a program").assumptions, ["in.txt is a path"]);
    let (asked, _) = world.ask(request("read some text file"), false);
    assert_eq!((asked.ending, asked.attempts), (AskEnding::NotWritten, 0));
    assert_eq!(asked.reasons, ["no key", "rules: not sure"]);
    assert_eq!(
        (asked.failure.as_deref(), asked.nearest),
        (Some("not sure"), vec!["files.read_file".to_owned()])
    );
    let denied = ModelFailure::Denied { provider: "scripted".to_owned(), reason: "bad key".to_owned() };
    let model = Arc::new(ScriptedModel::new("a").then(Err(denied)));
    let (asked, _) = world.ask(AskRequest { models: vec![model], ..request("read some text file") }, false);
    assert_eq!(
        asked.failure.as_deref(),
        Some("scripted a: refused the key: bad key; rules: not sure"),
        "what a model failed with is told, too"
    );
}

#[test]
fn what_ran_is_in_the_history_with_what_it_was_written_for() {
    let world = World::new("ask-history");
    world.put("in.txt", "one");
    let model = Arc::new(ScriptedModel::new("a").writes(READ));
    let (asked, _) = world.ask(task("read in.txt for ann@example.com", &model), false);
    let id = asked.execution.expect("it ran");
    let history = world.gateway().history().expect("it is kept");
    let found = world.runtime.block_on(history.find(id.as_str(), None)).expect("readable");
    let Found::One(record) = found else { panic!("it isn't recorded") };
    let note = record.notes.iter().find(|note| note.starts_with("written for: ")).expect("a note");
    assert!(note.contains("read in.txt for [EMAIL_"), "{note}");
}
