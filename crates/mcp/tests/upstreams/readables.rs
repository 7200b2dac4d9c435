//! Resources and prompts: listed under names of ours, kept, read and filled in.

use gristmill_gateway::domain::resource_uri::{ResourceUriError, to_ours};
use gristmill_gateway::domain::{Accept, Code, ServerSettings};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{CallWatcher, Needed, ToolFailure, ToolSource};
use gristmill_gateway::upstream::Refresh;
use serde_json::{Map, Value, json};

use crate::cases::cases;
use crate::scripted_http::{Answer, Era, HttpServer};
use crate::world::{Folder, SHOWN, World, connect, limited, over_http, scripted};

cases![
    what_servers_have_is_listed_in_order_under_our_names,
    servers_are_asked_only_for_what_they_say_they_have,
    a_server_without_tools_has_its_resources,
    a_resource_is_read_by_our_uri,
    a_resource_that_cannot_be_read_says_why,
    reading_has_the_limits_of_calls,
    secrets_in_resources_come_back_as_their_names,
    a_prompt_is_filled_in,
    a_prompt_of_another_shape_is_told_with_its_server,
    resources_are_known_without_starting_the_server,
    an_offer_kept_without_resources_is_still_known,
    changes_are_told_and_counted,
    programs_see_resources_in_their_tree_and_read_them,
    a_modern_server_gets_the_uri_as_a_header,
    a_modern_server_is_listened_to_for_what_it_tells,
];

const NOTES: &str = "gristmill://a/file%3A%2F%2F%2Fnotes.txt";

fn own_resources(server: &str) -> Vec<Value> {
    let notes = to_ours(server, "file:///notes.txt");
    let picture = to_ours(server, "file:///a b.png");
    vec![
        json!({ "uri": notes, "name": "notes", "mimeType": "text/plain", "size": 5 }),
        json!({ "uri": picture, "name": "picture", "description": "Of a\\u{202e} cat" }),
    ]
}

fn own_prompts(server: &str) -> Vec<Value> {
    let arguments = json!([{ "name": "code", "required": true }]);
    vec![
        json!({ "name": format!("{server}.review"), "title": "Review", "arguments": arguments }),
        json!({ "name": format!("{server}.greet.me") }),
    ]
}

fn upstream(code: Code, message: &str) -> ToolFailure {
    ToolFailure::Upstream { code, message: message.to_owned(), retry_safe: true }
}

fn said(words: &str) -> ToolFailure {
    ToolFailure::Said(words.to_owned())
}

async fn what_servers_have_is_listed_in_order_under_our_names() {
    let world = World::start(vec![
        scripted("b", &["readables", "modern"]),
        scripted("c", &[]),
        scripted("a", &["readables"]),
    ]);
    let resources = world.upstreams.resources(None).await;
    assert_eq!(resources, [own_resources("b"), own_resources("a")].concat());
    let template = |server: &str| json!({ "uriTemplate": format!("gristmill://{server}/db%3A%2F%2F{{table}}{{?limit}}"), "name": "rows" });
    assert_eq!(world.upstreams.resource_templates(None).await, [template("b"), template("a")]);
    assert_eq!(world.upstreams.prompts(None).await, [own_prompts("b"), own_prompts("a")].concat());
}

async fn servers_are_asked_only_for_what_they_say_they_have() {
    let server = connect(scripted("a", &[])).await;
    let upstream = &server.upstream;
    let listed = (
        upstream.list_resources().await,
        upstream.list_resource_templates().await,
        upstream.list_prompts().await,
    );
    assert_eq!(listed, (Ok(vec![]), Ok(vec![]), Ok(vec![])));
    let heard = server.value("heard", json!({})).await.to_string();
    assert!(!heard.contains("resources/") && !heard.contains("prompts/"), "{heard}");
}

async fn a_server_without_tools_has_its_resources() {
    for behaviors in [&["readables", "no-tools"][..], &["readables", "no-tools", "modern"]] {
        let world = World::start(vec![scripted("a", behaviors)]);
        assert_eq!(world.upstreams.resources(None).await, own_resources("a"));
        assert_eq!(world.tools(), Vec::<String>::new());
        let read = world.read_resource(NOTES).await.expect("a resource");
        assert_eq!(read["contents"][0]["text"], "hello");
    }
}

async fn a_resource_is_read_by_our_uri() {
    let world = World::start(vec![scripted("a", &["readables"])]);
    let read = async |uri: &str| world.read_resource(uri).await.expect("a resource")["contents"].clone();
    assert_eq!(read(NOTES).await, json!([{ "uri": NOTES, "mimeType": "text/plain", "text": "hello" }]));
    let picture = to_ours("a", "file:///a b.png");
    let expected = json!([
        { "uri": picture, "blob": "AAH/" },
        { "uri": "gristmill://a/file%3A%2F%2F%2Fother", "text": "b" },
    ]);
    assert_eq!(read(&picture).await, expected);
    // A template that was filled in.
    let rows = read("gristmill://a/db%3A%2F%2Forders?limit=3").await;
    assert_eq!(rows[0]["text"], "db://orders?limit=3");
}

async fn a_resource_that_cannot_be_read_says_why() {
    let world = World::start(vec![scripted("a", &["readables"]), scripted("b", &[])]);
    let failure = async |uri: &str| world.read_resource(uri).await.expect_err("no resource");
    let bad = |uri: &str, why| ToolFailure::BadUri { uri: uri.to_owned(), why };
    assert_eq!(failure("file:///notes.txt").await, bad("file:///notes.txt", ResourceUriError::Scheme));
    let unknown = ToolFailure::UnknownOffer {
        name: "gristmill://A/x".to_owned(),
        nearest: vec!["gristmill://a/…".to_owned()],
    };
    assert_eq!(failure("gristmill://A/x").await, unknown);
    assert_eq!(failure("gristmill://a/x%3A").await, said("`a` says: Resource not found"));
    let none = upstream(Code::BadAnswer, "`a`: its answer isn't an object");
    assert_eq!(failure("gristmill://a/none%3A").await, none);
    let words = "its answer to resources/read doesn't match the protocol";
    let empty = upstream(Code::BadAnswer, &format!("`a`: {words}: `contents[0]` must have `text` or `blob`"));
    assert_eq!(failure("gristmill://a/empty%3A").await, empty);
    assert_eq!(failure("gristmill://b/x%3A").await, said("`b` says: Method not found"));
}

async fn reading_has_the_limits_of_calls() {
    let world = World::start(vec![
        limited(scripted("a", &["readables"]), |limits| {
            (limits.call_ms, limits.result_bytes) = (2000, 51_200)
        }),
        limited(scripted("b", &["readables"]), |limits| limits.calls_per_minute = 1),
    ]);
    let read = async |uri: &str| world.read_resource(uri).await;
    let slow = upstream(Code::CallTimeout, "`a` didn't answer within 2 s");
    assert_eq!(read("gristmill://a/hang%3A").await, Err(slow));
    let large =
        "`a`: its answer is larger than 50 KB; ask for less, or raise limits.result_size of the server";
    assert_eq!(read("gristmill://a/large%3A").await, Err(upstream(Code::BadAnswer, large)));
    let notes = to_ours("b", "file:///notes.txt");
    read(&notes).await.expect("a resource");
    let Err(ToolFailure::Upstream { code, .. }) = read(&notes).await else { panic!("there is a limit") };
    assert_eq!(code, Code::CallRate);
}

async fn secrets_in_resources_come_back_as_their_names() {
    let world = World::start(vec![scripted("a", &["readables"])]);
    let read = world.read_resource("gristmill://a/secret%3Agiven").await.expect("a resource");
    assert_eq!(read["contents"][0]["text"], SHOWN);
}

async fn a_prompt_is_filled_in() {
    let world = World::start(vec![scripted("a", &["readables"])]);
    let arguments = Map::from_iter([("code".to_owned(), json!("x = 1"))]);
    let filled = world.get_prompt("a.review", arguments).await.expect("a prompt");
    let said = |content: Value| json!({ "role": "user", "content": content });
    let expected = json!({ "messages": [
        said(json!({ "type": "text", "text": r#""review" {"code":"x = 1"}"# })),
        said(json!({ "type": "resource_link", "uri": NOTES, "name": "notes" })),
        said(json!({ "type": "resource", "resource": { "uri": "gristmill://a/file%3A%2F%2F%2Fx", "text": "x" } })),
    ] });
    assert_eq!(filled, expected);
    world.get_prompt("a.greet.me", Map::new()).await.expect("a prompt");
    let unknown =
        ToolFailure::UnknownOffer { name: "a.reviev".to_owned(), nearest: vec!["a.review".to_owned()] };
    assert_eq!(world.get_prompt("a.reviev", Map::new()).await, Err(unknown));
}

async fn a_prompt_of_another_shape_is_told_with_its_server() {
    let world = World::start(vec![scripted("a", &["readables"])]);
    let arguments = json!({ "code": "x", "messages": "nope" });
    let filled = world.get_prompt("a.review", arguments.as_object().cloned().expect("an object")).await;
    let why = "`messages` must be an array, not a string";
    let message = format!("`a`: its answer to prompts/get doesn't match the protocol: {why}");
    assert_eq!(filled, Err(upstream(Code::BadAnswer, &message)));
}

async fn resources_are_known_without_starting_the_server() {
    let folder = Folder::new();
    let file = folder.path("starts");
    let settings = || vec![scripted("a", &["readables", &format!("starts={file}")])];
    let world = World::start_in(folder, settings(), Refresh::WhenUsed);
    world.upstreams.known().await;
    let folder = world.stop().await;
    let world = World::start_in(folder, settings(), Refresh::WhenUsed);
    assert_eq!(world.upstreams.resources(None).await, own_resources("a"));
    assert_eq!(world.upstreams.prompts(None).await, own_prompts("a"));
    assert_eq!(std::fs::read_to_string(&file).expect("starts").lines().count(), 1);
    world.read_resource(NOTES).await.expect("a resource");
    assert_eq!(std::fs::read_to_string(&file).expect("starts").lines().count(), 2);
}

async fn an_offer_kept_without_resources_is_still_known() {
    let settings = || vec![scripted("a", &["readables"])];
    let world = World::start(settings());
    world.upstreams.known().await;
    let tools = world.tools();
    let folder = world.stop().await;
    let offers = std::fs::read_dir(folder.root().join("cache/offers")).expect("a folder");
    for entry in offers {
        let path = entry.expect("a file").path();
        let mut kept: Value =
            serde_json::from_str(&std::fs::read_to_string(&path).expect("text")).expect("JSON");
        let members = kept.as_object_mut().expect("an object");
        for name in ["resources", "resource_templates", "prompts"] {
            assert!(members.shift_remove(name).is_some(), "{name}");
        }
        std::fs::write(&path, kept.to_string()).expect("written");
    }
    let world = World::start_in(folder, settings(), Refresh::WhenUsed);
    assert_eq!((world.tools(), world.upstreams.resources(None).await), (tools, Vec::<Value>::new()));
    // They are there once the server was started.
    world.json("a.heard", json!({})).await;
    assert_eq!(world.upstreams.resources(None).await, own_resources("a"));
}

async fn changes_are_told_and_counted() {
    for (behaviors, changed) in
        [(&["readables"][..], "resources"), (&["readables"], "prompts"), (&["readables", "modern"], "tools")]
    {
        let settings = ServerSettings { accept: Accept::Additions, ..scripted("a", behaviors) };
        let world = World::start(vec![settings]);
        world.upstreams.known().await;
        let mut changes = world.upstreams.offers_changed();
        let before = *changes.borrow_and_update();
        let resources = json!([{ "uri": "x:y", "name": "new" }]);
        world.json("a.set_resources", json!({ "resources": resources, "changed": changed })).await;
        changes.changed().await.expect("a change");
        assert_eq!(*changes.borrow(), before + 1);
        let expected = json!({ "uri": "gristmill://a/x%3Ay", "name": "new" });
        assert_eq!(world.upstreams.resources(None).await, [expected]);
    }
}

async fn programs_see_resources_in_their_tree_and_read_them() {
    let world = World::start(vec![scripted("a", &["readables"])]);
    let tools = world.upstreams.freeze(None, Needed::Every).await;
    let tree = tools.tree().expect("a tree").to_owned();
    let json_of = |path: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(tree.join(path)).expect(path)).expect("JSON")
    };
    let listed = json_of("a/.resources.json");
    assert_eq!(listed.as_array().map(|all| all[..2].to_vec()), Some(own_resources("a")));
    assert_eq!(json_of("a/.prompts.json"), json!(own_prompts("a")));
    let answer = tools.read_resource(&Caller::local(), NOTES, CallWatcher::none()).await.expect("a resource");
    let read: Value = serde_json::from_str(&answer.json).expect("JSON");
    assert_eq!(read["contents"][0]["text"], "hello");
    let failure = tools.read_resource(&Caller::local(), "gristmill://a/x%3A", CallWatcher::none()).await;
    assert_eq!(failure, Err(ToolFailure::Said("`a` says: Resource not found".to_owned())));
    let failure = tools.read_resource(&Caller::local(), "x:y", CallWatcher::none()).await;
    assert!(matches!(failure, Err(ToolFailure::BadUri { .. })), "{failure:?}");
}

async fn a_modern_server_gets_the_uri_as_a_header() {
    let http = HttpServer::start(Era::Modern, |seen| match seen.method() {
        "resources/read" if seen.header("mcp-name") == "file:///a" => {
            Some(Answer::json(&seen.result(json!({ "contents": [] }))))
        }
        _ => None,
    })
    .await;
    let world = World::start(vec![over_http("a", &http.url())]);
    let read = world.read_resource("gristmill://a/file%3A%2F%2F%2Fa").await;
    assert_eq!(read, Ok(json!({ "contents": [] })));
}

async fn a_modern_server_is_listened_to_for_what_it_tells() {
    let server = connect(scripted("a", &["modern", "readables", "no-tools"])).await;
    let listens = server.value("wait_for", json!({ "method": "subscriptions/listen" })).await;
    assert_eq!(listens["params"]["notifications"], json!({ "resourcesListChanged": true }));
}
