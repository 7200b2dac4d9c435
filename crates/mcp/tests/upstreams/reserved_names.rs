//! A tool that cannot be called keeps its name: no other server is reached by it.

use gristmill_gateway::checks::{Guardrails, Rule};
use gristmill_gateway::domain::catalogue::Approve;
use gristmill_gateway::domain::{Code, ServerSettings, ToolPattern, ToolRules};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{Needed, ToolFailure, ToolSource};
use gristmill_gateway::upstream::Refresh;
use gristmill_gateway::{EngineId, check_program};
use serde_json::json;

use crate::cases::cases;
use crate::world::{Folder, World, parts, scripted, tool_call, until};

cases![
    door_3_a_tool_that_is_held_back_keeps_its_bare_name,
    door_3_a_server_that_is_disabled_keeps_its_bare_names,
    door_3_a_disabled_server_keeps_its_import_name,
    door_3_a_tool_that_is_excluded_keeps_its_bare_name,
    a_tool_that_is_not_included_takes_no_name_from_another,
    a_program_that_imports_a_disabled_server_is_told_so,
    a_server_that_is_not_up_yet_is_waited_for_before_another_gets_its_name,
    a_server_that_is_down_and_has_no_kept_offer_keeps_its_names,
    a_tool_that_nobody_approved_takes_no_name,
];

/// A server of this name with a tool `send_mail` of its own, described in these words.
fn with_mail(folder: &Folder, name: &str, words: &str) -> ServerSettings {
    let path = folder.path(&format!("{name}.json"));
    let tool = json!({ "name": "send_mail", "description": words, "inputSchema": { "type": "object" } });
    std::fs::write(&path, json!([tool]).to_string()).expect("written");
    scripted(name, &[&format!("tools={path}"), "no-own-tools"])
}

fn disabled(settings: ServerSettings) -> ServerSettings {
    ServerSettings { enabled: false, ..settings }
}

fn ambiguous(candidates: &[&str]) -> ToolFailure {
    let candidates = candidates.iter().map(|text| (*text).to_owned()).collect();
    ToolFailure::Ambiguous { name: "send_mail".to_owned(), candidates }
}

/// Both servers were seen once, and `a` has the tool of that name first.
async fn seen_once(folder: Folder) -> Folder {
    let settings = vec![with_mail(&folder, "a", "one"), scripted("b", &[])];
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    world.upstreams.known().await;
    assert_eq!(world.json("send_mail", json!({ "to": "x" })).await, r#"{"to":"x"}"#);
    world.stop().await
}

async fn door_3_a_tool_that_is_held_back_keeps_its_bare_name() {
    let folder = seen_once(Folder::new()).await;
    std::fs::remove_dir_all(folder.folders().cache).expect("removed");
    let other = ServerSettings { name: "c".to_owned(), ..with_mail(&folder, "b", "another") };
    let settings = vec![with_mail(&folder, "a", "changed"), other];
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    world.upstreams.known().await;
    assert_eq!(world.upstreams.waiting().len(), 1);
    let outcome = world.call("send_mail", json!({})).await.expect_err("not c's");
    assert_eq!(outcome, ambiguous(&["c.send_mail", "a.send_mail (held back until the user approves it)"]));
    assert_eq!(outcome.code(), Code::UnknownTool);
    assert_eq!(world.json("c.send_mail", json!({ "n": 1 })).await, r#"{"n":1}"#);
    let (code, ..) = parts(world.call("a.send_mail", json!({})).await.expect_err("it waits"));
    assert_eq!(code, Code::ToolHeldBack);
    world.upstreams.approve("a", Approve::All).expect("approved");
    let outcome = world.call("send_mail", json!({})).await.expect_err("two have it");
    assert_eq!(outcome, ambiguous(&["a.send_mail", "c.send_mail"]));
}

async fn door_3_a_server_that_is_disabled_keeps_its_bare_names() {
    for is_cache_kept in [true, false] {
        let folder = seen_once(Folder::new()).await;
        if !is_cache_kept {
            std::fs::remove_dir_all(folder.folders().cache).expect("removed");
        }
        let other = ServerSettings { name: "c".to_owned(), ..with_mail(&folder, "b", "another") };
        let settings = vec![disabled(with_mail(&folder, "a", "one")), other];
        let world = World::start_in(folder, settings, Refresh::WhenUsed);
        world.upstreams.known().await;
        let outcome = world.call("send_mail", json!({})).await.expect_err("not c's");
        assert_eq!(outcome, ambiguous(&["c.send_mail", "a.send_mail (its server is not in use)"]));
        let (code, message, _) = parts(world.call("a.send_mail", json!({})).await.expect_err("disabled"));
        let expected = "a.send_mail can't be called: the server `a` is disabled or not approved; the user can check with `gristmill list`";
        assert_eq!((code, message.as_str()), (Code::ServerDown, expected));
        assert_eq!(world.json("c.send_mail", json!({ "n": 1 })).await, r#"{"n":1}"#);
        assert_eq!(world.upstreams.statuses().len(), 1, "nothing else is to be seen of it");
    }
}

async fn door_3_a_disabled_server_keeps_its_import_name() {
    let folder = Folder::new();
    let like = |folder: &Folder| ServerSettings { name: "A".to_owned(), ..with_mail(folder, "b", "another") };
    let both = vec![with_mail(&folder, "a", "one"), like(&folder)];
    let folders = async |world: &World| {
        let tools = world.upstreams.freeze(None, Needed::Every).await;
        let entries = std::fs::read_dir(tools.tree().expect("a tree")).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
        let mut names: Vec<String> = names.filter(|name| !name.contains('.')).collect();
        names.sort();
        names
    };
    let world = World::start_in(folder, both, Refresh::WhenUsed);
    let before = folders(&world).await;
    assert_eq!(before.len(), 2);
    let folder = world.stop().await;
    let first = plainly_named(&before);
    let settings = match first {
        "A" => vec![disabled(like(&folder)), with_mail(&folder, "a", "one")],
        _ => vec![disabled(with_mail(&folder, "a", "one")), like(&folder)],
    };
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    let after = folders(&world).await;
    assert_eq!(after, [before.iter().find(|name| *name != first).expect("the other").clone()]);
}

fn patterns(texts: &[&str]) -> Vec<ToolPattern> {
    texts.iter().map(|text| ToolPattern::read(text).expect(text)).collect()
}

async fn door_3_a_tool_that_is_excluded_keeps_its_bare_name() {
    let folder = Folder::new();
    let tools = ToolRules { exclude: patterns(&["send_*"]), ..ToolRules::default() };
    let other = ServerSettings { name: "c".to_owned(), ..with_mail(&folder, "b", "another") };
    let settings = vec![ServerSettings { tools, ..with_mail(&folder, "a", "one") }, other];
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    world.upstreams.known().await;
    let outcome = world.call("send_mail", json!({})).await.expect_err("not c's");
    assert_eq!(outcome, ambiguous(&["c.send_mail", "a.send_mail (excluded in the user's configuration)"]));
    assert_eq!(world.json("c.send_mail", json!({ "n": 1 })).await, r#"{"n":1}"#);
    let refused = world.call("a.send_mail", json!({})).await.expect_err("excluded");
    let message = "a.send_mail isn't allowed: the user's configuration excludes it (`tools` of the server `a`). Use another tool, or tell the user";
    assert_eq!(refused, ToolFailure::Refused { code: Code::PolicyDenied, message: message.to_owned() });
    assert_eq!(world.tools(), ["send_mail"], "it is shown nowhere");
}

async fn a_tool_that_is_not_included_takes_no_name_from_another() {
    let folder = Folder::new();
    let tools = ToolRules { include: Some(patterns(&["get_*"])), ..ToolRules::default() };
    let other = ServerSettings { name: "c".to_owned(), ..with_mail(&folder, "b", "another") };
    let settings = vec![ServerSettings { tools, ..with_mail(&folder, "a", "one") }, other];
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    world.upstreams.known().await;
    assert_eq!(world.json("send_mail", json!({ "n": 1 })).await, r#"{"n":1}"#);
    let refused = world.call("a.send_mail", json!({})).await.expect_err("not included");
    assert_eq!(refused.code(), Code::PolicyDenied);
}

async fn a_program_that_imports_a_disabled_server_is_told_so() {
    let folder = seen_once(Folder::new()).await;
    let settings = vec![disabled(with_mail(&folder, "a", "one")), scripted("b", &[])];
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    world.upstreams.known().await;
    let tools = world.upstreams.freeze(None, Needed::Every).await;
    for (code, rule) in [
        ("from servers.a import send_mail", Rule::UnknownServer),
        ("from servers import a", Rule::UnknownServer),
        ("import servers.a", Rule::UnknownServer),
        ("await callMCPTool('a.send_mail')", Rule::UnknownTool),
    ] {
        let report = check_program(EngineId::Python, code, tools.as_ref(), &Guardrails::default());
        let found = report.error().unwrap_or_else(|| panic!("{code}: {report:?}"));
        assert_eq!(found.rule, rule, "{code}");
        let why = "the server `a` is disabled or not approved; the user can check with `gristmill list`";
        assert!(found.message.ends_with(why), "{}", found.message);
    }
    let names = std::fs::read_to_string(tools.tree().expect("a tree").join(".out_of_use.json"));
    assert!(names.expect("the guest's own words").contains("\"a\""));
}

/// The folder that has a server's plain name: the other one is numbered.
fn plainly_named(folders: &[String]) -> &str {
    folders.iter().find(|name| name.len() == 1).expect("a plain name")
}

async fn a_server_that_is_not_up_yet_is_waited_for_before_another_gets_its_name() {
    let folder = seen_once(Folder::new()).await;
    std::fs::remove_dir_all(folder.folders().cache).expect("removed");
    let path = folder.path("a.json");
    let slow = scripted("a", &[&format!("tools={path}"), "no-own-tools", "start-delay-ms=700"]);
    let other = ServerSettings { name: "c".to_owned(), ..with_mail(&folder, "b", "another") };
    let world = World::start_in(folder, vec![slow, other], Refresh::InBackground);
    until("the other is up", || !world.tools().is_empty()).await;
    let tools = world.upstreams.freeze(None, Needed::ByProgram("")).await;
    let call = tool_call("send_mail", json!({}));
    let outcome = tools.call(&Caller::local(), call).await.expect_err("two have it");
    assert_eq!(outcome, ambiguous(&["a.send_mail", "c.send_mail"]));
}

async fn a_server_that_is_down_and_has_no_kept_offer_keeps_its_names() {
    let folder = seen_once(Folder::new()).await;
    std::fs::remove_dir_all(folder.folders().cache).expect("removed");
    let other = ServerSettings { name: "c".to_owned(), ..with_mail(&folder, "b", "another") };
    let settings = vec![scripted("a", &["crash-at-start=boom"]), other];
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    world.upstreams.known().await;
    let outcome = world.call("send_mail", json!({})).await.expect_err("not c's");
    assert_eq!(outcome, ambiguous(&["c.send_mail", "a.send_mail (its server is down)"]));
    let (code, ..) = parts(world.call("a.send_mail", json!({})).await.expect_err("down"));
    assert_eq!(code, Code::ServerDown);
}

async fn a_tool_that_nobody_approved_takes_no_name() {
    let folder = Folder::new();
    let settings = vec![with_mail(&folder, "a", "one"), scripted("b", &[])];
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    world.upstreams.known().await;
    let tool = json!({ "name": "send_mail", "description": "mine", "inputSchema": { "type": "object" } });
    world.json("b.set_tools", json!({ "tools": [tool] })).await;
    until("it waits", || !world.upstreams.waiting().is_empty()).await;
    assert_eq!(world.json("send_mail", json!({ "n": 1 })).await, r#"{"n":1}"#);
    let (code, ..) = parts(world.call("b.send_mail", json!({})).await.expect_err("it waits"));
    assert_eq!(code, Code::ToolHeldBack);
}
