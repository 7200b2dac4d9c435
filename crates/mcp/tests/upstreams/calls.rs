//! Calls through the gateway: found, checked, limited, sent, answered or clearly not.

use std::sync::Arc;

use gristmill_gateway::domain::{AnswerFile, Code};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{Needed, ToolFailure, ToolSource};
use serde_json::{Value, json};

use crate::cases::cases;
use crate::scripted_http::{Answer, Count, Era, HttpServer, Seen, event};
use crate::world::{SECRET, SHOWN, World, limited, over_http, parts, scripted, tool_call};

cases![
    arguments_are_checked_before_anything_is_sent,
    names_that_are_unknown_or_of_several_servers_are_said,
    a_call_lost_in_a_crash_says_whether_to_try_again,
    a_call_that_takes_too_long_says_so,
    calls_per_minute_are_counted,
    so_many_calls_at_once_and_no_more,
    two_hundred_calls_at_once_are_answered_right,
    a_program_that_stops_waiting_cancels_its_call,
    every_kind_of_content_arrives,
    refusals_are_told_apart,
    an_answer_that_is_none_is_a_bad_answer,
    odd_names_can_be_called,
    an_ended_session_is_begun_again_and_the_call_made_once,
    marked_arguments_go_into_headers_on_their_way,
    no_secret_is_left_in_any_file,
];

async fn arguments_are_checked_before_anything_is_sent() {
    let world = World::start(vec![scripted("a", &[])]);
    for wrong in [json!({}), json!({ "text": 3 }), json!({ "text": "x", "nmuber": 3 })] {
        let outcome = world.call("a.echo", wrong.clone()).await;
        assert!(matches!(outcome, Err(ToolFailure::Unfit { .. })), "{wrong}: {outcome:?}");
    }
    let heard = world.json("a.heard", json!({})).await;
    assert_eq!(heard.matches("tools/call").count(), 1, "{heard}");
    let right = world.json("echo", json!({ "text": "x", "number": 12345678901234567890_u64 })).await;
    assert_eq!(right, r#"{"text":"x","number":12345678901234567890}"#);
}

async fn names_that_are_unknown_or_of_several_servers_are_said() {
    let world = World::start(vec![scripted("a", &[]), scripted("b", &[])]);
    let candidates = vec!["a.echo".to_owned(), "b.echo".to_owned()];
    assert_eq!(
        world.call("echo", json!({ "text": "" })).await,
        Err(ToolFailure::Ambiguous { name: "echo".to_owned(), candidates })
    );
    assert_eq!(
        world.call("a.ecko", json!({})).await,
        Err(ToolFailure::Unknown { name: "a.ecko".to_owned(), nearest: vec!["a.echo".to_owned()] })
    );
    assert_eq!(world.json("b.echo", json!({ "text": "of b" })).await, r#"{"text":"of b"}"#);
}

async fn a_call_lost_in_a_crash_says_whether_to_try_again() {
    let world = World::start(vec![scripted("a", &[])]);
    let careful = "check whether the work was done before you call it again";
    let check = async |tool: &str, retry_safe: bool, advice: &str| {
        let outcome = world.call(&format!("a.{tool}"), json!({ "code": 7, "words": "boom" })).await;
        let message = format!(
            "the connection to `a` was lost during {tool}: the server exited with code 7; last stderr line: boom; {advice}"
        );
        assert_eq!(parts(outcome.expect_err("it crashed")), (Code::CallLost, message, retry_safe));
    };
    check("crash", false, careful).await;
    // The next call brings the server back.
    check("crash_read_only", true, "you can call it again").await;
    check("crash_idempotent", true, "you can call it again").await;
}

async fn a_call_that_takes_too_long_says_so() {
    let world = World::start(vec![limited(scripted("a", &[]), |limits| limits.call_ms = 3000)]);
    let outcome = world.call("a.hang", json!({})).await.expect_err("it hangs");
    let message = "a.hang didn't answer within 3 s and was told to stop; check whether the work was done before you call it again";
    assert_eq!(parts(outcome), (Code::CallTimeout, message.to_owned(), false));
    world.json("a.wait_for", json!({ "method": "notifications/cancelled" })).await;
}

async fn calls_per_minute_are_counted() {
    let world = World::start(vec![limited(scripted("a", &[]), |limits| limits.calls_per_minute = 2)]);
    for _ in 0..2 {
        world.json("a.heard", json!({})).await;
    }
    let (code, message, retry_safe) = parts(world.call("a.heard", json!({})).await.expect_err("too many"));
    assert_eq!((code, retry_safe), (Code::CallRate, true));
    assert!(message.starts_with("`a` is limited to 2 calls per minute; try again in "), "{message}");
}

fn is_call(seen: &Seen) -> bool {
    seen.verb == "POST" && seen.method() == "tools/call"
}

async fn so_many_calls_at_once_and_no_more() {
    let http =
        HttpServer::start(Era::Modern, |seen| is_call(seen).then(|| Answer::Stream(String::new()))).await;
    let settings = limited(over_http("a", &http.url()), |limits| limits.parallel_calls = 2);
    let world = Arc::new(World::start(vec![settings]));
    let calls = (0..6).map(|number| {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.json("a.other", json!({ "n": number })).await })
    });
    let calls: Vec<_> = calls.collect();
    for under_way in [2, 4, 6] {
        let seen = http.wait_for(under_way, is_call).await;
        assert_eq!(seen.len(), under_way);
        for call in &seen[under_way - 2..] {
            http.push(&event(&call.value(call.message["params"]["arguments"]["n"].clone())));
        }
    }
    for (number, call) in calls.into_iter().enumerate() {
        assert_eq!(call.await.expect("no panic"), number.to_string());
    }
}

async fn two_hundred_calls_at_once_are_answered_right() {
    let http = HttpServer::start(Era::Handshake, |_| None).await;
    let world = Arc::new(World::start(vec![scripted("a", &[]), over_http("b", &http.url())]));
    let calls = (0..200).map(|number| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let server = if number % 2 == 0 { "a" } else { "b" };
            let answer = world.json(&format!("{server}.echo"), json!({ "text": format!("{number}") })).await;
            assert_eq!(answer, format!(r#"{{"text":"{number}"}}"#));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("the right answer");
    }
}

async fn a_program_that_stops_waiting_cancels_its_call() {
    let world = Arc::new(World::start(vec![scripted("a", &[])]));
    let tools = world.upstreams.freeze(None, Needed::Every).await;
    let call =
        tokio::spawn(async move { tools.call(&Caller::local(), tool_call("a.hold", json!({}))).await });
    while world.json("a.held", json!({})).await != "1" {}
    call.abort();
    let cancelled = world.json("a.wait_for", json!({ "method": "notifications/cancelled" })).await;
    assert!(cancelled.contains("no longer wanted"), "{cancelled}");
}

/// What the tool `print` of a server answers with this result.
async fn answered(world: &World, result: &str) -> Result<gristmill_gateway::domain::ToolAnswer, ToolFailure> {
    let line = format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#);
    world.call("a.print", json!({ "lines": [line] })).await
}

async fn every_kind_of_content_arrives() {
    let world = World::start(vec![scripted("a", &[])]);
    for value in ["7", "null", r#""text""#, "[1,[2]]", "true", r#"{"n": 12345678901234567890123.10}"#] {
        let result = format!(r#"{{"content":[],"structuredContent":{value}}}"#);
        assert_eq!(answered(&world, &result).await.expect(value).json, value);
    }
    let result = r#"{"content":[{"type":"text","text":"here"},{"type":"image","data":"QUJD","mimeType":"image/png"},{"type":"audio","data":"REVG","mimeType":"audio/wav"},{"type":"resource_link","uri":"file:///a","name":"a"},{"type":"resource","resource":{"uri":"demo://x/y.bin","blob":"AAAA"}},{"type":"resource","resource":{"uri":"demo://z","mimeType":"text/plain","text":"z"}}]}"#;
    let answer = answered(&world, result).await.expect("an answer");
    let value: Value = serde_json::from_str(&answer.json).expect("JSON");
    assert_eq!(
        value,
        json!([
            "here",
            { "$file": 0 },
            { "$file": 1 },
            { "type": "resource_link", "uri": "file:///a", "name": "a" },
            { "type": "resource", "uri": "demo://x/y.bin", "mimeType": null, "file": { "$file": 2 } },
            { "type": "resource", "uri": "demo://z", "mimeType": "text/plain", "text": "z" },
        ])
    );
    let file = |mime: &str, base64: &str, name: Option<&str>| AnswerFile {
        mime: mime.to_owned(),
        base64: base64.to_owned(),
        name: name.map(str::to_owned),
    };
    let expected = [
        file("image/png", "QUJD", None),
        file("audio/wav", "REVG", None),
        file("application/octet-stream", "AAAA", Some("y.bin")),
    ];
    assert_eq!(answer.files, expected);
}

async fn refusals_are_told_apart() {
    let world = World::start(vec![scripted("a", &[])]);
    let said = answered(&world, r#"{"isError":true,"content":[{"type":"text","text":"no such row"}]}"#).await;
    assert_eq!(said, Err(ToolFailure::Said("no such row".to_owned())));
    let error = async |code: i64| {
        let line = format!(r#"{{"id":$ID,"error":{{"code":{code},"message":"words"}}}}"#);
        world.call("a.print", json!({ "lines": [line] })).await
    };
    let message = "a.print doesn't take these arguments: words";
    assert_eq!(error(-32602).await, Err(ToolFailure::BadArguments(message.to_owned())));
    assert_eq!(error(-32603).await, Err(ToolFailure::Said("words".to_owned())));
}

async fn an_answer_that_is_none_is_a_bad_answer() {
    let world = World::start(vec![limited(scripted("a", &[]), |limits| limits.result_bytes = 10_000)]);
    for result in ["[]", "17", r#"{"content":3}"#, r#"{"content":[3]}"#] {
        let (code, message, retry_safe) = parts(answered(&world, result).await.expect_err(result));
        assert_eq!((code, retry_safe), (Code::BadAnswer, false), "{result}");
        assert!(message.starts_with("a.print: the server's answer isn't a tool result: "), "{message}");
    }
    // Text that is JSON is looked into as well: what would be parsed again and again overflows a stack.
    let nested = |inner: String| {
        json!({ "$serde_json::private::RawValue": format!("{}{inner}{}", "[".repeat(90), "]".repeat(90)) })
            .to_string()
    };
    let text = (0..6).fold("0".to_owned(), |inner, _| nested(inner));
    let result = json!({ "content": [{ "type": "text", "text": text }] }).to_string();
    let (code, message, _) = parts(answered(&world, &result).await.expect_err("refused"));
    let twice = "a.print: its answer has a key that starts with `$serde_json::private::`";
    assert_eq!((code, message.as_str()), (Code::BadAnswer, twice));
    let large =
        world.call("a.flood", json!({ "bytes": 20_000, "id": "first" })).await.expect_err("too large");
    let message =
        "a.flood: its answer is larger than 9.8 KB; ask for less, or raise limits.result_size of the server";
    assert_eq!(parts(large), (Code::BadAnswer, message.to_owned(), false));
}

async fn odd_names_can_be_called() {
    let names = ["読む", "get.page", "repo/read", &"n".repeat(128), "with space", "class", "🦀"];
    let folder = crate::world::Folder::new();
    let tools: Vec<Value> = names.iter().map(|name| json!({ "name": name })).collect();
    std::fs::write(folder.path("tools.json"), json!(tools).to_string()).expect("written");
    let world = World::start(vec![scripted("a", &[&format!("tools={}", folder.path("tools.json"))])]);
    for name in names {
        let answer = world.json(&format!("a.{name}"), json!({ "called": name })).await;
        assert_eq!(answer, json!({ "called": name }).to_string());
    }
}

async fn an_ended_session_is_begun_again_and_the_call_made_once() {
    let count = Count::default();
    let http = HttpServer::start(Era::Handshake, move |seen| {
        (is_call(seen) && count.next() == 0).then(|| Answer::empty(404))
    })
    .await;
    let world = World::start(vec![over_http("a", &http.url())]);
    assert_eq!(world.json("a.other", json!({ "n": 1 })).await, r#"{"n":1}"#);
    let seen = http.seen();
    let times = |method: &str| seen.iter().filter(|seen| seen.method() == method).count();
    assert_eq!((times("initialize"), times("tools/call")), (2, 2));
}

async fn marked_arguments_go_into_headers_on_their_way() {
    let http = HttpServer::start(Era::Modern, |seen| {
        let region = json!({ "type": "string", "x-mcp-header": "Region" });
        let schema = json!({ "type": "object", "properties": { "region": region } });
        let tools = json!([{ "name": "where", "inputSchema": schema }]);
        (seen.method() == "tools/list").then(|| Answer::json(&seen.result(json!({ "tools": tools }))))
    })
    .await;
    let world = World::start(vec![over_http("a", &http.url())]);
    world.json("a.where", json!({ "region": "eu" })).await;
    let seen = http.wait_for(1, is_call).await;
    assert_eq!((seen[0].header("mcp-param-region"), seen[0].header("mcp-name")), ("eu", "where"));
}

async fn no_secret_is_left_in_any_file() {
    let settings = scripted("a", &["shows-variable=GIVEN", &format!("instructions=use {SECRET}")]);
    let world = World::start(vec![settings]);
    assert_eq!(world.json("a.variable", json!({ "name": "GIVEN" })).await, format!(r#""{SHOWN}""#));
    let said = world.call("a.variable_as_error", json!({ "name": "GIVEN" })).await;
    assert_eq!(said, Err(ToolFailure::Said(SHOWN.to_owned())));
    drop(world.upstreams.freeze(None, Needed::Every).await);
    world.upstreams.close().await;
    let mut files = 0;
    let mut folders = vec![world.folder.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            if entry.file_type().expect("a kind").is_dir() {
                folders.push(entry.path());
                continue;
            }
            let content = String::from_utf8_lossy(&std::fs::read(entry.path()).expect("a file")).into_owned();
            assert!(!content.contains(SECRET), "{}", entry.path().display());
            files += 1;
        }
    }
    assert!(files > 20, "only {files} files");
}
