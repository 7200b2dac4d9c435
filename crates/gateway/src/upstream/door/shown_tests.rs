//! What a caller may never call isn't shown to it, and still refused in so many words.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_domain::policy::{AskedKind, Condition, Decision, Policy, PolicySettings, Rule, TokenLimits};
use gristmill_domain::resource_uri::to_ours;
use gristmill_domain::{Code, Level};
use serde_json::{Map, json};

use super::policy_tests::refused;
use super::tests::{World, program, tool_call};
use crate::ids::{Caller, Owner, TokenRef};
use crate::learned::Learner;
use crate::ports::{Asker, CallWatcher, Needed, ToolFailure, ToolSource};
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

/// What lists of resources, templates and prompts have for a caller, in order.
async fn offered(world: &World, caller: Option<&Caller>) -> Vec<String> {
    let lists = [
        (world.upstreams.resources(caller).await, "uri"),
        (world.upstreams.resource_templates(caller).await, "uriTemplate"),
        (world.upstreams.prompts(caller).await, "name"),
    ];
    let mut names = Vec::new();
    for (listed, member) in lists {
        names.extend(listed.iter().map(|item| item[member].as_str().expect("a name").to_owned()));
    }
    names.sort();
    names
}

fn read(server: &str) -> DoorRequest {
    DoorRequest::ReadResource { uri: to_ours(server, "x:notes"), watcher: CallWatcher::none() }
}

fn prompt(name: &str) -> DoorRequest {
    DoorRequest::GetPrompt { name: name.to_owned(), arguments: Map::new(), asker: Asker::none() }
}

const OF_A: [&str; 3] = ["a.greet", "gristmill://a/x%3Anotes", "gristmill://a/x%3A{name}"];

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
async fn a_token_for_tools_neither_sees_nor_gets_resources_and_prompts() {
    let world = World::of_servers(guard(Vec::new()), &[("a", &[]), ("b", &[])]).await;
    let named = |name: &str| vec![name.to_owned()];
    for read_only in [false, true] {
        let limits = TokenLimits { tools: named("a.l*"), read_only, ..TokenLimits::default() };
        let caller = limited(limits.clone());
        assert_eq!(offered(&world, Some(&caller)).await, Vec::<String>::new());
        let shown = tree(&world, Some(&caller)).await;
        assert_eq!(tools(&shown, "a"), ["look"]);
        for hidden in ["b", "a/.resources.json", "a/.prompts.json"] {
            assert!(!shown.join(hidden).exists(), "{hidden}");
        }
        let frozen = world.upstreams.freeze(Some(&caller), Needed::Every).await;
        for server in ["a", "b"] {
            for request in [read(server), prompt(&format!("{server}.greet"))] {
                let (code, said) = refused(world.upstreams.pass(&caller, request).await.map(drop));
                assert_eq!(code, Code::PolicyDenied);
                assert!(said.contains("good for certain tools only"), "{said}");
            }
            let uri = to_ours(server, "x:notes");
            let by_program = frozen.read_resource(&caller, &uri, CallWatcher::none()).await;
            assert_eq!(refused(by_program.map(drop)).0, Code::PolicyDenied);
        }
        assert_eq!(world.heard(), Vec::<String>::new());
        let caller = limited(TokenLimits { servers: named("a"), ..limits });
        assert_eq!(offered(&world, Some(&caller)).await, OF_A);
        let shown = tree(&world, Some(&caller)).await;
        assert_eq!(tools(&shown, "a"), ["look"]);
        assert!(shown.join("a/.resources.json").is_file() && shown.join("a/.prompts.json").is_file());
        for request in [read("a"), prompt("a.greet")] {
            world.upstreams.pass(&caller, request).await.unwrap();
        }
        assert_eq!(world.heard(), ["read x:notes", "prompt greet {}"]);
        let (code, _) = refused(world.upstreams.pass(&caller, read("b")).await.map(drop));
        assert_eq!(code, Code::PolicyDenied);
    }
}

#[tokio::test]
async fn lists_have_what_their_caller_may_ever_read() {
    let of_b = OF_A.map(|name| name.replace("//a/", "//b/").replace("a.greet", "b.greet"));
    let kind = |kind| Rule { kind: Some(kind), ..deny("b.*") };
    let check = async |rules: Vec<Rule>, caller: Option<&Caller>, hidden: &[usize]| {
        let world = World::of_servers(guard(rules), &[("a", &[]), ("b", &[])]).await;
        let shown = (0..3).filter(|place| !hidden.contains(place)).map(|place| of_b[place].clone());
        let mut expected: Vec<String> = OF_A.map(str::to_owned).into_iter().chain(shown).collect();
        expected.sort();
        assert_eq!(offered(&world, caller).await, expected, "{hidden:?}");
    };
    let (program, only_a) =
        (program(), TokenLimits { servers: vec!["a".to_owned()], ..TokenLimits::default() });
    check(Vec::new(), Some(&program), &[]).await;
    check(Vec::new(), Some(&limited(only_a)), &[0, 1, 2]).await;
    check(vec![deny("b.*")], Some(&program), &[0, 1, 2]).await;
    check(vec![deny("b.*")], None, &[]).await;
    check(vec![kind(AskedKind::Prompt)], Some(&program), &[0]).await;
    check(vec![kind(AskedKind::Resource)], Some(&program), &[1, 2]).await;
    check(vec![deny("b.x:notes")], Some(&program), &[1]).await;
    check(vec![kind(AskedKind::Tool)], Some(&program), &[]).await;
    let in_session = Rule { session: Some("trial".to_owned()), ..deny("b.*") };
    let outside = Caller { session: None, ..program.clone() };
    check(vec![in_session.clone()], Some(&outside), &[]).await;
    let trial = Caller { session_name: Some("trial".to_owned()), ..program.clone() };
    check(vec![in_session], Some(&trial), &[0, 1, 2]).await;
}

#[tokio::test]
async fn a_tree_has_the_resources_and_prompts_that_its_caller_may_read() {
    let rules = vec![deny("a.x:notes"), deny("b.greet"), deny("b.x:*")];
    let world = World::of_servers(guard(rules), &[("a", &[]), ("b", &[])]).await;
    let shown = tree(&world, Some(&program())).await;
    let resources = std::fs::read_to_string(shown.join("a/.resources.json")).unwrap();
    assert!(!resources.contains("x%3Anotes") && resources.contains("x%3A{name}"), "{resources}");
    assert!(shown.join("a/.prompts.json").is_file());
    assert!(shown.join("b/echo.py").is_file());
    for hidden in ["b/.resources.json", "b/.prompts.json"] {
        assert!(!shown.join(hidden).exists(), "{hidden}");
    }
    let whole = tree(&world, None).await;
    assert!(whole.join("b/.resources.json").is_file() && whole.join("b/.prompts.json").is_file());
}

#[tokio::test]
async fn no_advice_names_a_prompt_or_a_server_that_is_not_shown() {
    let world = World::of_servers(guard(Vec::new()), &[("crm", &[]), ("mail", &[])]).await;
    let only_crm = limited(TokenLimits { servers: vec!["crm".to_owned()], ..TokenLimits::default() });
    for (request, name) in
        [(prompt as fn(&str) -> DoorRequest, "mail.gree"), (read as fn(&str) -> DoorRequest, "mails")]
    {
        let advice = async |caller: &Caller| match world.upstreams.pass(caller, request(name)).await {
            Err(ToolFailure::UnknownOffer { nearest, .. }) => nearest.join(" "),
            other => panic!("{other:?}"),
        };
        let (told, untold) = (advice(&Caller::local()).await, advice(&only_crm).await);
        assert!(told.contains("mail") && !untold.contains("mail"), "{told}; {untold}");
    }
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
