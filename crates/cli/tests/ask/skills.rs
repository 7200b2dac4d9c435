//! What worked, kept as a skill with a test made from the run.

use std::sync::Arc;

use gristmill_gateway::ExecuteRequest;
use gristmill_gateway::ask::{NotASkill, skill_of};
use gristmill_testkit::ScriptedModel;
use serde_json::json;

use crate::world::{World, task};
use crate::{READ, WRITE};

#[test]
fn what_read_becomes_a_skill_whose_test_looks_at_types_alone() {
    let world = World::new("ask-skill");
    world.put("in.txt", "a secret of Ann Lee");
    let code = format!("{READ}\nresult = [{{'text': result, 'letters': len(result)}}]");
    let model = Arc::new(ScriptedModel::new("a").writes(&code));
    let (asked, _) = world.ask(task("read in.txt", &model), false);
    let request = skill_of(&asked, "file_text").expect("a skill");
    let skills = world.gateway().skills().expect("they are kept").clone();
    let saved = world.runtime.block_on(skills.save(request)).expect("saved");
    assert_eq!((saved.tests, saved.facts.functions[0].name.as_str()), (1, "run"));
    let test = world.skill_file("file_text/test_file_text.py");
    assert!(test.contains("{\"letters\", \"text\"} <= set(item)"), "{test}");
    assert!(!test.contains("Ann"), "{test}");
    let program =
        ExecuteRequest::python("from skills.file_text import run\nresult = (await run())[0]['letters']");
    let report = world.runtime.block_on(world.gateway().execute(program).finish());
    assert_eq!((report.result, report.error), (Some(json!(19)), None));
}

#[test]
fn the_test_of_what_wrote_writes_nothing_again() {
    let world = World::new("ask-skill-writes");
    let model = Arc::new(ScriptedModel::new("a").writes(WRITE));
    let (asked, _) = world.ask(task("write x to a.txt", &model), true);
    world.put("a.txt", "changed since");
    let request = skill_of(&asked, "put_x").expect("a skill");
    assert!(request.tests_only_read);
    let skills = world.gateway().skills().expect("they are kept").clone();
    let saved = world.runtime.block_on(skills.save(request)).expect("saved");
    assert_eq!(saved.tests, 1);
    assert_eq!(world.written("a.txt").as_deref(), Some("changed since"));
}

#[test]
fn what_did_not_work_is_no_skill() {
    let world = World::new("ask-no-skill");
    let model = Arc::new(ScriptedModel::new("a").writes(WRITE));
    let (asked, _) = world.ask(task("write x to a.txt", &model), false);
    assert_eq!(skill_of(&asked, "x").err(), Some(NotASkill::NotRun));
}
