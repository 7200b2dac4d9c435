//! Tools that change under us, and what may be called of them.

use gristmill_gateway::domain::catalogue::{Approve, WaitingKind};
use gristmill_gateway::domain::{Accept, Code, ServerSettings, ToolPattern, ToolRules};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{Needed, ToolFailure, ToolSearch, ToolSource};
use gristmill_gateway::skills::SkillOffer;
use gristmill_gateway::upstream::Refresh;
use serde_json::{Value, json};

use crate::cases::cases;
use crate::world::{Folder, World, parts, scripted, tool_call, until};

cases![
    a_changed_tool_is_held_back_until_it_is_approved,
    a_program_that_began_before_the_change_does_not_call_the_changed_tool,
    added_tools_are_taken_or_wait_as_configured,
    a_tool_that_leaves_and_comes_back_as_it_was_is_usable,
    a_change_is_noticed_over_a_restart_of_the_gateway,
    with_broken_approvals_nothing_is_usable_and_it_is_said_why,
    door_9_tools_that_the_configuration_hides_are_not_shown_reviewed_or_called,
    twice_and_badly_defined_tools_do_no_harm,
    a_thousand_tools_are_found_and_called,
];

fn x(description: &str) -> Value {
    json!({ "name": "x", "description": description, "inputSchema": { "type": "object" } })
}

/// A server in both eras whose only own tool is `x`.
fn with_x(folder: &Folder, era: &str, description: &str) -> ServerSettings {
    let path = folder.path("tools.json");
    std::fs::write(&path, json!([x(description)]).to_string()).expect("written");
    scripted("a", &[era, &format!("tools={path}")])
}

async fn change(world: &World, tools: Value) {
    world.json("a.set_tools", json!({ "tools": tools })).await;
}

const ERAS: [(&str, &str); 2] =
    [("version=2025-06-18", "notifications/initialized"), ("modern", "subscriptions/listen")];

fn held_back() -> (Code, String, bool) {
    let message = "a.x has changed since it was approved and is held back; only the user can approve it, with `gristmill tools review a`";
    (Code::ToolHeldBack, message.to_owned(), true)
}

async fn a_changed_tool_is_held_back_until_it_is_approved() {
    for (era, greeting) in ERAS {
        let folder = Folder::new();
        let settings = with_x(&folder, era, "one");
        let world = World::start_in(folder, vec![settings], Refresh::WhenUsed);
        assert_eq!(world.json("a.x", json!({ "n": 1 })).await, r#"{"n":1}"#);
        world.json("a.wait_for", json!({ "method": greeting })).await;
        change(&world, json!([x("two")])).await;
        until("it waits", || !world.upstreams.waiting().is_empty()).await;
        let (server, waiting) = world.upstreams.waiting().remove(0);
        let kind = WaitingKind::Changed { pinned_raw: x("one").to_string() };
        let found: Vec<_> = waiting.iter().map(|tool| (tool.name.as_str(), &tool.kind)).collect();
        assert_eq!((server.as_str(), found), ("a", vec![("x", &kind)]));
        let outcome = world.call("a.x", json!({})).await.expect_err("held back");
        assert_eq!(parts(outcome), held_back());
        let outcome = world.call("x", json!({})).await.expect_err("held back");
        assert_eq!(parts(outcome), held_back());
        let approved = world.upstreams.approve("a", Approve::Named(&["x".to_owned()]));
        assert_eq!(approved.expect("approved"), ["x"]);
        assert_eq!(world.json("a.x", json!({ "n": 2 })).await, r#"{"n":2}"#);
        assert!(world.upstreams.waiting().is_empty());
    }
}

async fn a_program_that_began_before_the_change_does_not_call_the_changed_tool() {
    let folder = Folder::new();
    let settings = with_x(&folder, "modern", "one");
    let world = World::start_in(folder, vec![settings], Refresh::WhenUsed);
    world.json("a.wait_for", json!({ "method": "subscriptions/listen" })).await;
    let tools = world.upstreams.freeze(None, Needed::Every).await;
    change(&world, json!([x("two")])).await;
    until("it waits", || !world.upstreams.waiting().is_empty()).await;
    let outcome = tools.call(&Caller::local(), tool_call("a.x", json!({}))).await.expect_err("held back");
    assert_eq!(parts(outcome), held_back());
    change(&world, json!([])).await;
    until("it is gone", || world.upstreams.waiting().is_empty()).await;
    let outcome = tools.call(&Caller::local(), tool_call("a.x", json!({}))).await.expect_err("gone");
    let message = "`a` no longer offers x; search_tools(\"...\") finds tools";
    assert_eq!(parts(outcome), (Code::ToolHeldBack, message.to_owned(), true));
}

async fn added_tools_are_taken_or_wait_as_configured() {
    for (accept, usable) in [(Accept::Additions, true), (Accept::Nothing, false)] {
        let settings = ServerSettings { accept, ..scripted("a", &[]) };
        let world = World::start(vec![settings]);
        world.upstreams.known().await;
        change(&world, json!([x("new")])).await;
        let is_there = || world.tools().contains(&"x".to_owned()) || !world.upstreams.waiting().is_empty();
        until("it is seen", is_there).await;
        assert_eq!(world.tools().contains(&"x".to_owned()), usable);
        match usable {
            true => assert_eq!(world.json("a.x", json!({})).await, "{}"),
            false => {
                assert_eq!(world.upstreams.waiting()[0].1[0].kind, WaitingKind::Added);
                let (code, ..) = parts(world.call("a.x", json!({})).await.expect_err("it waits"));
                assert_eq!(code, Code::ToolHeldBack);
                world.upstreams.approve("a", Approve::All).expect("approved");
                assert_eq!(world.json("a.x", json!({})).await, "{}");
            }
        }
    }
}

async fn door_9_tools_that_the_configuration_hides_are_not_shown_reviewed_or_called() {
    let patterns = |texts: &[&str]| texts.iter().filter_map(|text| ToolPattern::read(text)).collect();
    let tools = ToolRules { include: Some(patterns(&["set_tools", "x*"])), exclude: patterns(&["x2"]) };
    let settings = ServerSettings { tools, accept: Accept::Nothing, ..scripted("a", &[]) };
    let world = World::start(vec![settings]);
    world.upstreams.known().await;
    assert_eq!(world.tools(), ["set_tools"]);
    let named = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    change(&world, json!([named("x1"), named("x2")])).await;
    until("it is seen", || !world.upstreams.waiting().is_empty()).await;
    let waiting: Vec<String> = world.upstreams.waiting()[0].1.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(waiting, ["x1"]);
    world.upstreams.approve("a", Approve::All).expect("approved");
    assert_eq!(world.json("a.x1", json!({})).await, "{}");
    for hidden in ["a.x2", "x2", "a.echo"] {
        let outcome = world.call(hidden, json!({ "text": "x" })).await;
        let is_refused = matches!(outcome, Err(ToolFailure::Refused { code: Code::PolicyDenied, .. }));
        assert!(is_refused, "{hidden}: {outcome:?}");
    }
}

async fn a_tool_that_leaves_and_comes_back_as_it_was_is_usable() {
    let folder = Folder::new();
    let settings = with_x(&folder, "version=2025-11-25", "one");
    let world = World::start_in(folder, vec![settings], Refresh::WhenUsed);
    world.upstreams.known().await;
    let has_x = || world.tools().contains(&"x".to_owned());
    assert!(has_x());
    change(&world, json!([])).await;
    until("it is gone", || !has_x()).await;
    let gone = world.call("a.x", json!({})).await;
    assert!(matches!(gone, Err(ToolFailure::Unknown { .. })), "{gone:?}");
    change(&world, json!([x("one")])).await;
    until("it is back", has_x).await;
    assert_eq!(world.json("a.x", json!({})).await, "{}");
    change(&world, json!([])).await;
    until("it is gone", || !has_x()).await;
    change(&world, json!([x("other words")])).await;
    until("it waits", || !world.upstreams.waiting().is_empty()).await;
    assert!(!has_x());
}

async fn a_change_is_noticed_over_a_restart_of_the_gateway() {
    let folder = Folder::new();
    let settings = with_x(&folder, "modern", "one");
    let world = World::start_in(folder, vec![settings], Refresh::WhenUsed);
    world.upstreams.known().await;
    let folder = world.stop().await;
    let settings = with_x(&folder, "modern", "two");
    let world = World::start_in(folder, vec![settings], Refresh::WhenUsed);
    // As far as is known it is what it was; the call finds out.
    assert!(world.tools().contains(&"x".to_owned()));
    let outcome = world.call("a.x", json!({})).await.expect_err("held back");
    assert_eq!(parts(outcome), held_back());
    let statuses = world.upstreams.check().await;
    assert_eq!((statuses[0].waiting, statuses[0].took.is_some()), (1, true));
}

async fn with_broken_approvals_nothing_is_usable_and_it_is_said_why() {
    let folder = Folder::new();
    let pins = folder.folders().data.join("pins.json");
    std::fs::create_dir_all(pins.parent().expect("a folder")).expect("a folder");
    std::fs::write(&pins, "{broken").expect("written");
    let world = World::start_in(folder, vec![scripted("a", &[])], Refresh::WhenUsed);
    world.upstreams.known().await;
    let beginning = format!("can't use the tool approvals in {}: ", pins.display());
    for name in ["a.echo", "echo"] {
        let outcome = world.call(name, json!({ "text": "x" })).await.expect_err("nothing is usable");
        let (code, message, _) = parts(outcome);
        assert_eq!(code, Code::ToolHeldBack);
        assert!(message.starts_with(&format!("a.echo is held back: {beginning}")), "{message}");
    }
    let status = world.upstreams.statuses().remove(0);
    assert_eq!(status.tools, 0);
    assert!(status.unreadable[0].starts_with(&beginning), "{:?}", status.unreadable);
    let search: ToolSearch = serde_json::from_value(json!({ "query": "echo" })).expect("a search");
    let found = world
        .upstreams
        .freeze(None, Needed::Every)
        .await
        .search(&Caller::local(), &search, &SkillOffer::default())
        .await
        .expect("an answer");
    assert!(found["text"].as_str().expect("text").contains(&beginning), "{found}");
    assert!(world.upstreams.approve("a", Approve::All).is_err());

    std::fs::remove_file(&pins).expect("removed");
    let folder = world.stop().await;
    let world = World::start_in(folder, vec![scripted("a", &[])], Refresh::WhenUsed);
    assert_eq!(world.json("a.echo", json!({ "text": "x" })).await, r#"{"text":"x"}"#);
}

async fn twice_and_badly_defined_tools_do_no_harm() {
    let folder = Folder::new();
    let path = folder.path("tools.json");
    let tools = json!([
        x("first"), x("second"), 17, null, [], {}, { "name": 3 }, { "name": "y".repeat(300) },
        { "name": "bad", "inputSchema": "none" }, { "name": "fine", "outputSchema": 3, "annotations": [] },
    ]);
    std::fs::write(&path, tools.to_string()).expect("written");
    let settings = scripted("a", &[&format!("tools={path}")]);
    let world = World::start_in(folder, vec![settings], Refresh::WhenUsed);
    world.upstreams.known().await;
    let status = world.upstreams.statuses().remove(0);
    assert_eq!(status.unreadable.len(), 7, "{:?}", status.unreadable);
    let names = world.tools();
    let times = |name: &str| names.iter().filter(|known| *known == name).count();
    assert_eq!((times("x"), times("fine"), times("bad")), (1, 1, 0));
    assert_eq!(world.json("a.x", json!({})).await, "{}");
    assert_eq!(world.json("a.fine", json!({ "n": 1 })).await, r#"{"n":1}"#);
    let snapshot = world.upstreams.snapshot();
    let servers = &snapshot.catalogue().servers;
    let found = servers[0].tools.iter().find(|tool| tool.definition.name == "x").expect("x");
    assert_eq!(found.definition.description.as_deref(), Some("first"));
}

async fn a_thousand_tools_are_found_and_called() {
    let world = World::start(vec![scripted("a", &["modern", "many=1000", "page=100"])]);
    world.upstreams.known().await;
    assert_eq!(world.tools().iter().filter(|name| name.starts_with("tool_")).count(), 1000);
    assert_eq!(world.json("a.tool_999", json!({ "n": 1 })).await, r#"{"n":1}"#);
    let tools = world.upstreams.freeze(None, Needed::Every).await;
    let search: ToolSearch = serde_json::from_value(json!({ "query": "tool_512" })).expect("a search");
    assert_eq!(
        tools.search(&Caller::local(), &search, &SkillOffer::default()).await.expect("found")["hits"][0]["tool"],
        "a.tool_512"
    );
    assert!(tools.tree().expect("a tree").join("a/tool_77.py").is_file());
}
