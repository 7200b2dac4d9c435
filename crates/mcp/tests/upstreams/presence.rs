//! Whether servers are there: kept on disk, down, back again, closed.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::Code;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{Needed, ToolSearch, ToolSource};
use gristmill_gateway::skills::SkillOffer;
use gristmill_gateway::upstream::{DoorRequest, Refresh, ServerState};
use serde_json::json;

use crate::cases::cases;
use crate::scripted_http::{Answer, Era, HttpServer};
use crate::world::{Folder, World, limited, over_http, parts, scripted, tool_call, until};

cases![
    what_a_server_offered_is_known_without_starting_it,
    a_server_is_looked_at_behind_if_that_is_wanted,
    a_server_that_is_down_is_named_as_down,
    a_server_that_is_down_at_first_is_reached_when_it_comes_up,
    a_kept_server_that_does_not_start_is_down_and_its_call_was_not_made,
    a_server_that_refuses_the_greeting_is_down_and_did_not_say_no_to_a_call,
    a_crashed_server_is_restarted_by_itself,
    pauses_between_restarts_grow,
    a_http_server_that_goes_away_is_shown_as_down,
    a_server_that_wants_a_login_says_so,
    a_server_that_closed_its_output_is_restarted,
    closing_ends_calls_and_servers,
    closing_does_not_wait_for_a_server_that_does_not_start,
];

fn search(query: &str) -> ToolSearch {
    serde_json::from_value(json!({ "query": query })).expect("a search")
}

/// When the server was started, in milliseconds.
fn starts(path: &str) -> Vec<u64> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| line.parse().expect("a time")).collect()
}

async fn text_of_search(world: &World, query: &str) -> String {
    let found = world
        .upstreams
        .freeze(None, Needed::Every)
        .await
        .search(&Caller::local(), &search(query), &SkillOffer::default())
        .await
        .expect("an answer");
    found["text"].as_str().expect("a text").to_owned()
}

async fn what_a_server_offered_is_known_without_starting_it() {
    let folder = Folder::new();
    let file = folder.path("starts");
    let settings = || vec![scripted("a", &["modern", &format!("starts={file}")])];
    let world = World::start_in(folder, settings(), Refresh::WhenUsed);
    world.upstreams.known().await;
    let tools = world.tools();
    assert!(tools.contains(&"echo".to_owned()), "{tools:?}");
    let folder = world.stop().await;
    assert_eq!(starts(&file).len(), 1);

    let world = World::start_in(folder, settings(), Refresh::WhenUsed);
    assert_eq!((world.tools(), world.state("a")), (tools, ServerState::Idle));
    let text = text_of_search(&world, "gives back what it got").await;
    assert!(text.contains("a.echo"), "{text}");
    assert_eq!(starts(&file).len(), 1);
    assert_eq!(world.json("a.echo", json!({ "text": "x" })).await, r#"{"text":"x"}"#);
    assert_eq!((world.state("a"), starts(&file).len()), (ServerState::Up, 2));
    let folder = world.stop().await;

    // Another command is another server.
    let other = vec![scripted("a", &["crash-at-start=x", &format!("starts={file}")])];
    let world = World::start_in(folder, other, Refresh::WhenUsed);
    assert_eq!(world.tools(), Vec::<String>::new());
    world.stop().await;
}

async fn a_server_is_looked_at_behind_if_that_is_wanted() {
    let folder = Folder::new();
    let file = folder.path("starts");
    let settings = || vec![scripted("a", &[&format!("starts={file}")])];
    let world = World::start_in(folder, settings(), Refresh::WhenUsed);
    world.upstreams.known().await;
    let folder = world.stop().await;
    let world = World::start_in(folder, settings(), Refresh::InBackground);
    assert!(!world.tools().is_empty(), "known at once");
    until("it is up", || world.state("a") == ServerState::Up).await;
    assert_eq!(starts(&file).len(), 2);
}

async fn a_server_that_is_down_is_named_as_down() {
    let world = World::start(vec![scripted("a", &["crash-at-start=no config"]), scripted("b", &[])]);
    world.upstreams.known().await;
    let why = "the server exited with code 3; last stderr line: no config";
    assert_eq!(world.state("a"), ServerState::Down(why.to_owned()));
    let outcome = world.call("a.anything", json!({})).await.expect_err("it is down");
    let message = format!("the server `a` is down: {why}");
    assert_eq!(parts(outcome), (Code::ServerDown, message, true));
    let text = text_of_search(&world, "").await;
    assert!(text.contains(&format!("a is down: {why}")), "{text}");
    let index = std::fs::read_to_string(
        world.upstreams.freeze(None, Needed::Every).await.tree().expect("a tree").join("index.md"),
    );
    assert!(index.is_err() || index.expect("read").contains("down"), "the tree says so, too");
    assert_eq!(world.json("b.echo", json!({ "text": "x" })).await, r#"{"text":"x"}"#);
    let status = world.upstreams.statuses().into_iter().find(|status| status.name == "a").expect("a");
    assert_eq!(status.log.last().map(String::as_str), Some("no config"));
    world.stop().await;
}

async fn a_server_that_is_down_at_first_is_reached_when_it_comes_up() {
    let folder = Folder::new();
    let flag = folder.path("broken");
    std::fs::write(&flag, "").expect("written");
    let settings = vec![scripted("a", &["crash-at-start=not yet", &format!("crash-while={flag}")])];
    let world = World::start_in(folder, settings, Refresh::WhenUsed);
    world.upstreams.known().await;
    assert!(matches!(world.state("a"), ServerState::Down(_)));
    std::fs::remove_file(&flag).expect("removed");
    until("it is up", || world.state("a") == ServerState::Up).await;
    assert_eq!(world.json("a.echo", json!({ "text": "x" })).await, r#"{"text":"x"}"#);
}

/// A world whose only server was there once and is not now.
async fn was_there_once(now: &[&str]) -> World {
    let folder = Folder::new();
    let flag = folder.path("broken");
    let mut behaviors = now.to_vec();
    let while_there = format!("crash-while={flag}");
    behaviors.push(&while_there);
    let world = World::start_in(folder, vec![scripted("a", &behaviors)], Refresh::WhenUsed);
    world.upstreams.known().await;
    assert_eq!(world.state("a"), ServerState::Up);
    let folder = world.stop().await;
    std::fs::write(&flag, "").expect("written");
    World::start_in(folder, vec![scripted("a", &behaviors)], Refresh::WhenUsed)
}

async fn a_kept_server_that_does_not_start_is_down_and_its_call_was_not_made() {
    let world = was_there_once(&["crash-at-start=no database"]).await;
    let outcome = world.call("a.crash", json!({})).await.expect_err("it is down");
    let why = "the server exited with code 3; last stderr line: no database";
    assert_eq!(parts(outcome), (Code::ServerDown, format!("the server `a` is down: {why}"), true));
    assert_eq!(world.state("a"), ServerState::Down(why.to_owned()));
    world.stop().await;
}

async fn a_server_that_refuses_the_greeting_is_down_and_did_not_say_no_to_a_call() {
    let world = was_there_once(&["refuse-initialize-with=GIVEN"]).await;
    let (code, message, retry_safe) = parts(world.call("a.crash", json!({})).await.expect_err("it is down"));
    assert_eq!((code, retry_safe), (Code::ServerDown, true));
    assert!(message.starts_with("the server `a` is down: I do not like [secret"), "{message}");
    world.stop().await;
}

async fn a_crashed_server_is_restarted_by_itself() {
    let world = World::start(vec![scripted("a", &[])]);
    world.call("a.crash", json!({ "code": 1 })).await.expect_err("it crashed");
    until("it is up again", || world.state("a") == ServerState::Up).await;
    assert_eq!(world.json("a.echo", json!({ "text": "x" })).await, r#"{"text":"x"}"#);
}

async fn pauses_between_restarts_grow() {
    let folder = Folder::new();
    let (flag, file) = (folder.path("broken"), folder.path("starts"));
    let behaviors = ["crash-at-start=x", &format!("crash-while={flag}"), &format!("starts={file}")];
    let world = World::start_in(folder, vec![scripted("a", &behaviors)], Refresh::WhenUsed);
    world.upstreams.known().await;
    std::fs::write(&flag, "").expect("written");
    world.call("a.crash", json!({ "code": 1 })).await.expect_err("it crashed");
    until("four restarts", || starts(&file).len() >= 5).await;
    let times = starts(&file);
    let pauses: Vec<u64> = times[1..5].windows(2).map(|pair| pair[1] - pair[0]).collect();
    // At least three quarters of 1, 2 and 4 seconds; a busy machine may take longer.
    for (pause, least) in pauses.iter().zip([740, 1490, 2990]) {
        assert!(*pause >= least, "{pauses:?}");
    }
    std::fs::remove_file(&flag).expect("removed");
    until("it is up again", || world.state("a") == ServerState::Up).await;
}

async fn a_http_server_that_goes_away_is_shown_as_down() {
    let http = HttpServer::start(Era::Modern, |_| None).await;
    let world = World::start(vec![over_http("a", &http.url())]);
    assert_eq!(world.json("a.other", json!({})).await, "{}");
    http.stop().await;
    drop(http);
    let (code, message, _) = parts(world.call("a.other", json!({})).await.expect_err("it is gone"));
    assert!(matches!(code, Code::ServerDown | Code::CallLost), "{code:?} {message}");
    let (code, message, retry_safe) = parts(world.call("a.other", json!({})).await.expect_err("it is gone"));
    assert_eq!((code, retry_safe), (Code::ServerDown, true), "{message}");
    assert!(message.starts_with("the server `a` is down: can't connect: "), "{message}");
    assert!(matches!(world.state("a"), ServerState::Down(_)), "{:?}", world.state("a"));
}

async fn a_server_that_wants_a_login_says_so() {
    let http = HttpServer::start(Era::Modern, |_| Some(Answer::empty(401))).await;
    let world = World::start(vec![over_http("a", &http.url())]);
    world.upstreams.known().await;
    assert!(matches!(world.state("a"), ServerState::LoginNeeded(_)), "{:?}", world.state("a"));
    let (code, message, _) = parts(world.call("a.other", json!({})).await.expect_err("no login"));
    assert_eq!(code, Code::LoginNeeded, "{message}");
    assert!(message.ends_with("run `gristmill login a`"), "{message}");
}

async fn a_server_that_closed_its_output_is_restarted() {
    let world = World::start(vec![scripted("a", &[])]);
    let (code, message, _) = parts(world.call("a.close_output", json!({})).await.expect_err("it is gone"));
    assert_eq!(code, Code::CallLost, "{message}");
    assert_eq!(world.json("a.echo", json!({ "text": "x" })).await, r#"{"text":"x"}"#);
}

async fn closing_ends_calls_and_servers() {
    let http = HttpServer::start(Era::Handshake, |seen| {
        (seen.method() == "tools/call").then(|| Answer::Stream(String::new()))
    })
    .await;
    let world = Arc::new(World::start(vec![scripted("a", &[]), over_http("b", &http.url())]));
    let tools = world.upstreams.freeze(None, Needed::Every).await;
    let call = |name: &'static str| {
        let tools = Arc::clone(&tools);
        tokio::spawn(async move { tools.call(&Caller::local(), tool_call(name, json!({}))).await })
    };
    let calls = [call("a.hold"), call("b.other")];
    while world.json("a.held", json!({})).await != "1" {}
    http.wait_for(1, |seen| seen.method() == "tools/call").await;
    world.upstreams.close().await;
    for call in calls {
        let (code, message, _) = parts(call.await.expect("no panic").expect_err("it was closed"));
        assert_eq!(code, Code::CallLost, "{message}");
    }
    http.wait_for(1, |seen| seen.verb == "DELETE").await;
    let outcome = tools.call(&Caller::local(), tool_call("a.heard", json!({}))).await.expect_err("closed");
    let message = "the server `a` is down: the gateway is closing";
    assert_eq!(parts(outcome), (Code::ServerDown, message.to_owned(), true));
}

async fn closing_does_not_wait_for_a_server_that_does_not_start() {
    let settings = limited(scripted("a", &["silent"]), |limits| limits.startup_ms = 600_000);
    let world = World::start(vec![settings]);
    let waiting = {
        let upstreams = world.upstreams.clone();
        let call = DoorRequest::CallTool(tool_call("a.x", json!({})));
        tokio::spawn(async move { upstreams.pass(&Caller::local(), call).await })
    };
    tokio::time::timeout(Duration::from_secs(45), world.upstreams.close()).await.expect("it closes");
    waiting.await.expect("no panic").expect_err("there is no such tool");
}
