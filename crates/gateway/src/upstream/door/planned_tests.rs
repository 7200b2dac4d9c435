use std::sync::Arc;

use gristmill_domain::policy::{Budgets, Decision, Policy, PolicySettings, Preset, Rule};
use gristmill_domain::resource_uri::to_ours;
use gristmill_domain::{Code, Level};
use serde_json::{Value, json};

use super::tests::{World, program, tool_call};
use crate::ids::Caller;
use crate::ports::{Asker, CallEnd, CallWatcher, PlannedWrites, ToolCall, ToolFailure, Write, Writes};
use crate::upstream::{DoorRequest, Guard, GuardSettings};

fn guard(rules: Vec<Rule>) -> Guard {
    let user = rules.into_iter().map(|rule| (rule, "gristmill.toml:1".to_owned())).collect();
    let settings = PolicySettings { preset: Preset::Careful, user, ..PolicySettings::default() };
    Guard::new(GuardSettings {
        policy: Policy::new(settings),
        level: Level::Production,
        data: None,
        store: None,
        marks: None,
        notify: None,
    })
}

async fn call(
    world: &World,
    caller: &Caller,
    writes: &Writes,
    tool: &str,
    arguments: Value,
) -> Result<String, ToolFailure> {
    let call = ToolCall { asker: Asker::none(), writes: writes.clone(), ..tool_call(tool, arguments) };
    world.upstreams.pass(caller, DoorRequest::CallTool(call)).await.map(|answer| answer.json)
}

fn listed(writes: &Writes) -> Vec<Write> {
    let Writes::Held(held) = writes else { panic!("a dry run") };
    held.listed().0
}

fn plan_of(held: &Writes) -> Writes {
    Writes::Planned(Arc::new(PlannedWrites::new("p1".to_owned(), listed(held))))
}

fn refused(outcome: Result<String, ToolFailure>) -> (Code, String) {
    let failure = outcome.unwrap_err();
    assert!(failure.was_not_sent(), "{failure}");
    (failure.code(), failure.to_string())
}

#[tokio::test]
async fn in_a_dry_run_reads_run_and_writes_are_held_in_order() {
    let world = World::guarded(guard(Vec::new())).await;
    let (caller, writes) = (program(), Writes::held());
    call(&world, &caller, &writes, "a.look", json!({})).await.unwrap();
    let read = DoorRequest::ReadResource { uri: to_ours("a", "x:y"), watcher: CallWatcher::none() };
    world.upstreams.pass(&caller, read).await.unwrap();
    let answer = call(&world, &caller, &writes, "a.echo", json!({"text": "x"})).await.unwrap();
    assert_eq!(answer, r#"{"dry_run":"not sent: this is a dry run, and a held call has no answer"}"#);
    // Destructive: it would be asked about, and there is nobody; here nobody needs to be.
    call(&world, &caller, &writes, "a.wipe", json!({"b": {"d": 1, "c": 2}, "a": 1})).await.unwrap();
    assert_eq!(world.heard(), ["call look {}", "read x:y"]);
    let text = str::to_owned;
    let write = |tool: &str, arguments: &str, decision: &str, effect: &str| Write {
        server: text("a"),
        tool: text(tool),
        arguments: text(arguments),
        decision: text(decision),
        effect: text(effect),
        definition: String::new(),
    };
    let expected = [
        write("echo", r#"{"text":"x"}"#, "allow", "not marked read-only"),
        write("wipe", r#"{"a":1,"b":{"c":2,"d":1}}"#, "ask", "destructive"),
    ];
    let without_hash = |write: Write| {
        assert_eq!(write.definition.len(), 64);
        Write { definition: String::new(), ..write }
    };
    let found: Vec<Write> = listed(&writes).into_iter().map(without_hash).collect();
    assert_eq!(found, expected);
    let ends: Vec<CallEnd> = world.ends();
    assert_eq!(ends, [CallEnd::Answered, CallEnd::Answered, CallEnd::Held, CallEnd::Held]);
}

#[tokio::test]
async fn what_is_denied_or_does_not_fit_is_refused_in_a_dry_run_too() {
    let deny = Rule { tool: Some("wipe".to_owned()), ..Rule::deciding(Decision::Deny) };
    let world = World::guarded(guard(vec![deny])).await;
    let (caller, writes) = (program(), Writes::held());
    assert_eq!(refused(call(&world, &caller, &writes, "a.wipe", json!({})).await).0, Code::PolicyDenied);
    assert_eq!(refused(call(&world, &caller, &writes, "a.echo", json!({})).await).0, Code::BadCall);
    assert_eq!(listed(&writes), []);
}

#[tokio::test]
async fn a_dry_run_takes_nothing_of_a_budget() {
    let budgets = Budgets { calls_per_minute: Some(1), ..Budgets::default() };
    let world = World::guarded(guard(vec![Rule { budgets, ..Rule::default() }])).await;
    let (caller, writes) = (program(), Writes::held());
    for _ in 0..3 {
        call(&world, &caller, &writes, "a.echo", json!({"text": "x"})).await.unwrap();
    }
    let plan = plan_of(&writes);
    call(&world, &caller, &plan, "a.echo", json!({"text": "x"})).await.unwrap();
    let again = call(&world, &caller, &plan, "a.echo", json!({"text": "x"})).await;
    assert_eq!(refused(again).0, Code::PolicyBudget, "a plan does not lift one");
}

#[tokio::test]
async fn the_writes_of_a_plan_pass_without_a_question_each_as_often_as_it_was_planned() {
    let world = World::guarded(guard(Vec::new())).await;
    let (caller, held) = (program(), Writes::held());
    for arguments in [json!({"a": 1, "b": 2}), json!({"a": 1, "b": 2}), json!({"a": 9})] {
        call(&world, &caller, &held, "a.wipe", arguments).await.unwrap();
    }
    let plan = plan_of(&held);
    let wipe = async |arguments: Value| call(&world, &caller, &plan, "a.wipe", arguments).await;
    wipe(json!({"b": 2, "a": 1})).await.unwrap();
    wipe(json!({"a": 1, "b": 2})).await.unwrap();
    let (code, said) = refused(wipe(json!({"a": 1, "b": 2})).await);
    assert_eq!(code, Code::PlanDiffers);
    assert!(said.contains("the plan has it 2 times with these arguments, and no more"), "{said}");
    assert_eq!(world.heard().len(), 2);
    call(&world, &caller, &plan, "a.look", json!({})).await.unwrap();
    let Writes::Planned(planned) = &plan else { unreachable!() };
    let made: Vec<bool> = planned.outcome().into_iter().map(|(_, made)| made).collect();
    assert_eq!(made, [true, true, false]);
}

#[tokio::test]
async fn a_write_that_differs_is_refused_with_what_differs() {
    let world = World::guarded(guard(Vec::new())).await;
    let (caller, held) = (program(), Writes::held());
    call(&world, &caller, &held, "a.wipe", json!({"id": 1, "fields": {"status": "open"}})).await.unwrap();
    call(&world, &caller, &held, "a.wipe", json!({"id": 2, "fields": {"status": "won"}})).await.unwrap();
    let plan = plan_of(&held);
    let (code, said) =
        refused(call(&world, &caller, &plan, "a.wipe", json!({"id": 2, "fields": {"status": "lost"}})).await);
    assert_eq!(code, Code::PlanDiffers);
    assert!(
        said.starts_with(
            "a.wipe isn't in the approved plan `p1`, so it wasn't sent: `fields.status` is \"lost\" instead of \"won\". "
        ),
        "{said}"
    );
    let (code, said) = refused(call(&world, &caller, &plan, "a.echo", json!({"text": "x"})).await);
    assert_eq!(code, Code::PlanDiffers);
    assert!(said.contains("the plan has no call of this tool"), "{said}");
    assert_eq!(world.heard(), Vec::<String>::new());
}

#[tokio::test]
async fn a_write_that_its_server_refuses_was_made_all_the_same() {
    let world = World::guarded(guard(Vec::new())).await;
    let (caller, held) = (program(), Writes::held());
    call(&world, &caller, &held, "a.wipe", json!({"text": "misfit"})).await.unwrap();
    let plan = plan_of(&held);
    let wipe = async || call(&world, &caller, &plan, "a.wipe", json!({"text": "misfit"})).await;
    assert!(wipe().await.unwrap_err().to_string().contains("did you mean fit?"));
    assert_eq!(refused(wipe().await).0, Code::PlanDiffers, "whatever it says, it had it");
    assert_eq!(world.heard().len(), 1);
    assert!(world.ends().contains(&CallEnd::Failed { code: Code::BadCall, was_sent: true }));
}

#[tokio::test]
async fn a_tool_that_was_defined_otherwise_is_not_what_was_approved() {
    let world = World::guarded(guard(Vec::new())).await;
    let (caller, held) = (program(), Writes::held());
    call(&world, &caller, &held, "a.wipe", json!({"a": 1})).await.unwrap();
    let as_it_was = |write: Write| Write { definition: "0".repeat(64), ..write };
    let before = listed(&held).into_iter().map(as_it_was).collect();
    let plan = Writes::Planned(Arc::new(PlannedWrites::new("p1".to_owned(), before)));
    let (code, said) = refused(call(&world, &caller, &plan, "a.wipe", json!({"a": 1})).await);
    assert_eq!(code, Code::PlanDiffers);
    assert!(said.contains("its server defines this tool otherwise"), "{said}");
    assert_eq!(world.heard(), Vec::<String>::new());
}

#[tokio::test]
async fn what_is_denied_stays_denied_in_a_plan() {
    let permissive = World::guarded(guard(Vec::new())).await;
    let (caller, held) = (program(), Writes::held());
    call(&permissive, &caller, &held, "a.wipe", json!({})).await.unwrap();
    let deny = Rule { tool: Some("wipe".to_owned()), ..Rule::deciding(Decision::Deny) };
    let world = World::guarded(guard(vec![deny])).await;
    let plan = plan_of(&held);
    assert_eq!(refused(call(&world, &caller, &plan, "a.wipe", json!({})).await).0, Code::PolicyDenied);
    let Writes::Planned(planned) = &plan else { unreachable!() };
    assert!(!planned.outcome()[0].1, "it was not made");
    assert_eq!(world.heard(), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_that_may_only_read_sends_no_write_and_says_which_it_wanted() {
    let world = World::guarded(guard(Vec::new())).await;
    let (caller, writes) = (program(), Writes::refused());
    call(&world, &caller, &writes, "a.look", json!({})).await.unwrap();
    for tool in ["a.echo", "a.wipe", "a.echo"] {
        let (code, said) = refused(call(&world, &caller, &writes, tool, json!({"text": "x"})).await);
        assert_eq!(code, Code::OnlyReads);
        assert!(said.starts_with(&format!("{tool} wasn't sent")), "{said}");
    }
    let Writes::Refused(wanted) = &writes else { unreachable!() };
    assert_eq!(wanted.names(), ["a.echo", "a.wipe"]);
    assert_eq!(world.heard(), ["call look {}"]);
}

#[tokio::test]
async fn a_yes_to_one_tool_is_none_to_another() {
    let world = World::guarded(guard(Vec::new())).await;
    let (caller, writes) = (program(), Writes::refused_except(vec!["a.echo".to_owned()]));
    call(&world, &caller, &writes, "a.echo", json!({"text": "x"})).await.unwrap();
    let (code, _) = refused(call(&world, &caller, &writes, "a.wipe", json!({})).await);
    assert_eq!(code, Code::OnlyReads);
    assert_eq!(world.heard(), [r#"call echo {"text":"x"}"#]);
    assert!(!writes.is_refused());
}
