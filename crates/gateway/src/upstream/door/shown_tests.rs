//! What a caller may never call isn't shown to it, and still refused in so many words.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_domain::policy::{Condition, Decision, Policy, PolicySettings, Rule, TokenLimits};
use gristmill_domain::{Code, Level};
use serde_json::json;

use super::tests::{World, program, tool_call};
use crate::ids::{Caller, Owner, TokenRef};
use crate::learned::Learner;
use crate::ports::{Needed, ToolFailure, ToolSource};
use crate::store::Store;
use crate::upstream::{DoorRequest, Guard, GuardSettings};

fn guard(rules: Vec<Rule>) -> Guard {
    let user = rules.into_iter().map(|rule| (rule, "gristmill.toml:1".to_owned())).collect();
    Guard::new(GuardSettings {
        policy: Policy::new(PolicySettings { user, ..PolicySettings::default() }),
        level: Level::Production,
        data: None,
        store: None,
        marks: None,
        notify: None,
    })
}

fn deny(tool: &str) -> Rule {
    let (server, tool) = tool.split_once('.').expect("server.tool");
    Rule { server: Some(server.to_owned()), tool: Some(tool.to_owned()), ..Rule::deciding(Decision::Deny) }
}

fn limited(limits: TokenLimits) -> Caller {
    let limits = Some(Arc::new(limits));
    Caller {
        token: Some(TokenRef { name: "ci".to_owned(), identity: "t2".to_owned(), limits }),
        ..Caller::of(Owner::of_token("t2"))
    }
}

async fn tree(world: &World, caller: Option<&Caller>) -> PathBuf {
    world.upstreams.freeze(caller, Needed::Every).await.tree().expect("a tree").to_owned()
}

/// The tools of a server that a tree has.
fn tools(tree: &Path, server: &str) -> Vec<String> {
    let entries = std::fs::read_dir(tree.join(server)).expect("a folder").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut tools: Vec<String> =
        names.filter_map(|name| Some(name.strip_suffix(".py")?.to_owned())).collect();
    tools.sort();
    tools
}

#[tokio::test]
async fn a_tree_has_what_its_caller_may_call() {
    let large = Rule { conditions: vec![Condition::read("text", "x*").unwrap()], ..deny("a.echo") };
    let in_session = Rule { session: Some("trial".to_owned()), ..deny("a.look") };
    let world = World::guarded(guard(vec![deny("a.wipe"), large, in_session])).await;
    let shown = tree(&world, Some(&program())).await;
    assert_eq!(
        tools(&shown, "a"),
        ["echo", "hang", "look"],
        "the rules on texts and sessions may let it pass"
    );
    assert!(shown.join(".partial").is_file());
    let index = std::fs::read_to_string(shown.join("index.md")).unwrap();
    assert!(index.contains("1 server, 3 tools"), "{index}");
    let exports = std::fs::read_to_string(shown.join("a/index.ts")).unwrap();
    assert!(exports.contains("echo") && !exports.contains("wipe"), "{exports}");
    let trial = Caller { session_name: Some("trial".to_owned()), ..program() };
    assert_eq!(tools(&tree(&world, Some(&trial)).await, "a"), ["echo", "hang"]);
    let whole = tree(&world, None).await;
    assert_eq!(tools(&whole, "a"), ["echo", "hang", "look", "wipe"]);
    assert!(!whole.join(".partial").exists());
}

#[tokio::test]
async fn callers_who_are_shown_the_same_share_a_tree() {
    let world = World::guarded(guard(vec![deny("a.wipe")])).await;
    let first = tree(&world, Some(&program())).await;
    let other = limited(TokenLimits { calls_per_minute: Some(9), ..TokenLimits::default() });
    assert_eq!(tree(&world, Some(&other)).await, first);
    assert_eq!(tree(&world, Some(&Caller::local())).await, first);
    let open =
        World::guarded(guard(vec![Rule { server: Some("a".to_owned()), ..Rule::deciding(Decision::Ask) }]))
            .await;
    assert_eq!(tree(&open, Some(&program())).await, tree(&open, None).await, "nothing is hidden from it");
}

#[tokio::test]
async fn a_token_is_shown_its_servers_alone() {
    let world = World::of_servers(guard(Vec::new()), &[("a", &[]), ("b", &[])]).await;
    let caller = limited(TokenLimits { servers: vec!["b".to_owned()], ..TokenLimits::default() });
    let shown = tree(&world, Some(&caller)).await;
    assert!(!shown.join("a").exists() && shown.join("b/echo.py").is_file());
    let index = std::fs::read_to_string(shown.join("index.md")).unwrap();
    assert!(index.contains("1 server, 4 tools") && !index.contains("- a "), "{index}");
    let reads = limited(TokenLimits { read_only: true, ..TokenLimits::default() });
    assert_eq!(tools(&tree(&world, Some(&reads)).await, "a"), ["look"]);
}

#[tokio::test]
async fn what_is_not_shown_is_refused_by_its_rule_whatever_its_arguments() {
    let world = World::guarded(guard(vec![deny("a.echo")])).await;
    let caller = program();
    let frozen = world.upstreams.freeze(Some(&caller), Needed::Every).await;
    for arguments in [json!({"text": "x"}), json!({}), json!({"nonsense": 1})] {
        let refused = frozen.call(&caller, tool_call("a.echo", arguments.clone())).await;
        let Err(ToolFailure::Refused { code, message }) = refused else { panic!("{arguments}: {refused:?}") };
        assert_eq!(code, Code::PolicyDenied);
        assert!(message.starts_with("a.echo isn't allowed: "), "{message}");
    }
    assert_eq!(world.decided().len(), 3, "each is on record");
    assert_eq!(world.heard(), Vec::<String>::new());
    let unfit =
        world.upstreams.pass(&caller, DoorRequest::CallTool(tool_call("a.look", json!({"x": 1})))).await;
    assert!(unfit.is_ok(), "{unfit:?}");
}

#[tokio::test]
async fn no_advice_names_what_is_not_shown() {
    let nearest = async |world: &World| match world
        .upstreams
        .pass(&program(), DoorRequest::CallTool(tool_call("a.wip", json!({}))))
        .await
    {
        Err(ToolFailure::Unknown { nearest, .. }) => nearest,
        other => panic!("{other:?}"),
    };
    let open = World::guarded(guard(Vec::new())).await;
    assert_eq!(nearest(&open).await, ["a.wipe"]);
    let closed = World::guarded(guard(vec![deny("a.wipe")])).await;
    assert_eq!(nearest(&closed).await, Vec::<String>::new());
}

#[tokio::test]
async fn what_was_learned_is_in_the_part_that_a_caller_is_shown() {
    let store = Store::in_memory().unwrap();
    let learner = Learner::start(store, None).unwrap();
    let world = World::learning_guarded(learner, Some(Arc::new(guard(vec![deny("a.wipe")])))).await;
    let caller = program();
    let before = tree(&world, Some(&caller)).await;
    let request = DoorRequest::CallTool(tool_call("a.echo", json!({"text": "x"})));
    world.upstreams.pass(&caller, request).await.unwrap();
    world.upstreams.learned().await;
    let after = tree(&world, Some(&caller)).await;
    assert_ne!(before, after);
    assert_eq!(tools(&after, "a"), ["echo", "hang", "look"]);
    let stub = std::fs::read_to_string(after.join("a/echo.py")).unwrap();
    assert!(stub.contains("seen in 1 call"), "{stub}");
}
