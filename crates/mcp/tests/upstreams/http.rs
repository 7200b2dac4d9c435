//! Connections over Streamable HTTP.

use gristmill_gateway::ids::TraceContext;
use gristmill_gateway::ports::Progress;
use gristmill_gateway::upstream::{UpstreamCall, UpstreamFailure};
use serde_json::{Value, json};

use crate::cases::cases;
use crate::scripted_http::{Answer, Count, Era, HttpServer, MODERN, SESSION, Seen, event};
use crate::world::{SECRET, SHOWN, Steps, call_of, connect, limited, over_http, try_connect};

cases![
    a_session_is_begun_kept_and_deleted,
    a_modern_server_gets_its_headers_and_no_session,
    arguments_that_are_marked_go_into_headers,
    a_trace_context_is_in_a_header_and_in_the_message_of_both_eras,
    answers_as_events_arrive_with_what_is_said_in_between,
    an_answer_that_was_cut_off_is_gone_on_with,
    an_answer_that_is_cut_off_for_good_is_lost,
    an_ended_session_is_lost_and_nothing_was_sent,
    changes_are_heard_on_the_get_stream,
    a_modern_server_is_listened_to_again_after_a_cut,
    without_a_login_its_need_is_said,
    errors_of_http_are_said_with_their_words,
    bodies_that_are_too_large_are_given_up,
    a_slow_body_runs_into_the_limit_and_is_cancelled,
    a_call_that_is_dropped_is_cancelled_in_the_way_of_its_era,
    a_redirect_to_another_origin_is_not_followed,
    a_server_that_is_not_there_is_down,
    a_server_that_goes_away_is_lost,
    two_hundred_calls_at_once_are_answered_right,
    secrets_in_headers_come_back_as_their_names,
    closing_ends_a_call_under_way,
];

const LEGACY: Era = Era::Handshake;

async fn ordinary(era: Era) -> HttpServer {
    HttpServer::start(era, |_| None).await
}

fn is_call(seen: &Seen) -> bool {
    seen.verb == "POST" && seen.method() == "tools/call"
}

async fn a_session_is_begun_kept_and_deleted() {
    let http = ordinary(LEGACY).await;
    for remembered in [None, Some("2025-11-25")] {
        let before = http.seen().len();
        let (upstream, _, _) = try_connect(over_http("a", &http.url()), remembered).await;
        let upstream = upstream.expect("a connection");
        assert_eq!(upstream.facts().protocol, "2025-06-18");
        assert_eq!(upstream.list_tools().await.expect("tools").len(), 2);
        let raw = upstream.call(call_of("echo", &json!({ "a": 1 }))).await.expect("an answer");
        assert_eq!(raw, r#"{"resultType":"complete","content":[],"structuredContent":{"a":1}}"#);
        upstream.close().await;
        let seen = http.seen().split_off(before);
        let posted: Vec<&str> = seen.iter().filter(|seen| seen.verb == "POST").map(Seen::method).collect();
        let expected = ["initialize", "notifications/initialized", "tools/list", "tools/call"];
        match remembered {
            None => assert_eq!(posted, [&["server/discover"], &expected[..]].concat()),
            Some(_) => assert_eq!(posted, expected),
        }
        let deleted = seen.last().expect("a request");
        assert_eq!((deleted.verb.as_str(), deleted.header("mcp-session-id")), ("DELETE", SESSION));
        assert!(seen.iter().all(|seen| seen.header("x-ours") == SECRET), "{seen:?}");
    }
}

async fn a_modern_server_gets_its_headers_and_no_session() {
    let http = ordinary(Era::Modern).await;
    let server = connect(over_http("a", &http.url())).await;
    assert_eq!(server.upstream.facts().protocol, MODERN);
    server.upstream.list_tools().await.expect("tools");
    assert_eq!(server.value("読む", json!({ "n": 1 })).await, json!({ "n": 1 }));
    let call = http.wait_for(1, is_call).await;
    assert_eq!(call[0].header("mcp-name"), "=?base64?6Kqt44KA?=");
    assert_eq!(call[0].header("accept"), "application/json, text/event-stream");
    server.upstream.close().await;
    assert!(http.seen().iter().all(|seen| seen.verb != "DELETE"));
}

async fn arguments_that_are_marked_go_into_headers() {
    let http = ordinary(Era::Modern).await;
    let server = connect(over_http("a", &http.url())).await;
    let headers = vec![("Region".to_owned(), "eu".to_owned()), ("Note".to_owned(), "ü".to_owned())];
    let call = UpstreamCall { headers, ..call_of("echo", &json!({ "region": "eu" })) };
    server.upstream.call(call).await.expect("an answer");
    let seen = http.wait_for(1, is_call).await;
    let values = (seen[0].header("mcp-param-region"), seen[0].header("mcp-param-note"));
    assert_eq!(values, ("eu", "=?base64?w7w=?="));
}

async fn a_trace_context_is_in_a_header_and_in_the_message_of_both_eras() {
    for era in [LEGACY, Era::Modern] {
        let http = ordinary(era).await;
        let server = connect(over_http("a", &http.url())).await;
        let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let trace = TraceContext::read(parent, Some("vendor=7"));
        let call = UpstreamCall { trace, ..call_of("echo", &json!({})) };
        server.upstream.call(call).await.expect("an answer");
        let seen = http.wait_for(1, is_call).await;
        assert_eq!((seen[0].header("traceparent"), seen[0].header("tracestate")), (parent, "vendor=7"));
        let meta = &seen[0].message["params"]["_meta"];
        assert_eq!((&meta["traceparent"], &meta["tracestate"]), (&json!(parent), &json!("vendor=7")));
    }
}

async fn answers_as_events_arrive_with_what_is_said_in_between() {
    for era in [LEGACY, Era::Modern] {
        let http = HttpServer::start(era, |seen| {
            if !is_call(seen) {
                return None;
            }
            let token = &seen.message["params"]["_meta"]["progressToken"];
            let params = json!({ "progressToken": token, "progress": 1, "message": "half" });
            let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" });
            let other = json!({ "jsonrpc": "2.0", "id": 9999, "result": {} });
            let text = [&progress, &ping, &other, &seen.value(json!("done"))].map(event).concat();
            Some(Answer::Events(format!(": hello\nretry: 10\n\ndata: no message\n\n{text}")))
        })
        .await;
        let server = connect(over_http("a", &http.url())).await;
        let steps = Steps::default();
        let call = UpstreamCall { progress: steps.sink(), ..call_of("echo", &json!({})) };
        let raw = server.upstream.call(call).await.expect("an answer");
        assert!(raw.contains(r#""structuredContent":"done""#), "{raw}");
        let step = Progress { progress: 1.0, total: None, message: Some("half".to_owned()) };
        assert_eq!(steps.all(), [step]);
        let answered = http.wait_for(1, |seen| seen.message["id"] == "p").await;
        assert_eq!(answered[0].message, json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
    }
}

async fn an_answer_that_was_cut_off_is_gone_on_with() {
    let called = std::sync::Arc::new(std::sync::Mutex::new(Value::Null));
    let http = HttpServer::start(LEGACY, move |seen| {
        let mut called = called.lock().expect("no panic");
        match (seen.verb.as_str(), seen.header("last-event-id")) {
            ("POST", _) if is_call(seen) => {
                *called = seen.value(json!("at last"));
                Some(Answer::Events("retry: 1\nid: e-1\ndata:\n\n".to_owned()))
            }
            ("GET", "e-1") => Some(Answer::Events("id: e-2\ndata: \n\n".to_owned())),
            ("GET", "e-2") => Some(Answer::Events(event(&called))),
            _ => None,
        }
    })
    .await;
    let server = connect(over_http("a", &http.url())).await;
    assert_eq!(server.value("echo", json!({})).await, "at last");
    let resumed = http.wait_for(2, |seen| seen.headers.contains_key("last-event-id")).await;
    assert!(resumed.iter().all(|seen| seen.header("mcp-session-id") == SESSION), "{resumed:?}");
    assert_eq!(http.wait_for(1, is_call).await.len(), 1);
}

async fn an_answer_that_is_cut_off_for_good_is_lost() {
    let check = async |answer: fn() -> Answer, why: &str| {
        let http = HttpServer::start(LEGACY, move |seen| is_call(seen).then(answer)).await;
        let server = connect(over_http("a", &http.url())).await;
        let outcome = server.call("echo", json!({})).await;
        assert_eq!(outcome, Err(UpstreamFailure::Lost(why.to_owned())));
        assert_eq!(http.wait_for(1, is_call).await.len(), 1, "it is not sent twice");
    };
    let closed = "the server closed the connection without answering";
    check(|| Answer::Events(String::new()), closed).await;
    check(|| Answer::Events("retry: 1\nid: 7\ndata: {}\n\n".to_owned()), closed).await;
    check(|| Answer::Cut("{\"jsonrpc\"".to_owned()), "the server closed the connection mid-answer").await;
}

async fn an_ended_session_is_lost_and_nothing_was_sent() {
    let http = HttpServer::start(LEGACY, |seen| is_call(seen).then(|| Answer::empty(404))).await;
    let server = connect(over_http("a", &http.url())).await;
    let ended = Err(UpstreamFailure::Down("its session has ended".to_owned()));
    assert_eq!(server.call("echo", json!({})).await, ended);
    assert_eq!(server.upstream.lost().await, "its session has ended");
    assert_eq!(server.call("echo", json!({})).await, ended);
    assert_eq!(http.wait_for(1, is_call).await.len(), 1, "a lost connection is not used");
}

async fn changes_are_heard_on_the_get_stream() {
    let http = HttpServer::start(LEGACY, |seen| {
        (seen.verb == "GET").then(|| Answer::Stream(": welcome\n\n".to_owned()))
    })
    .await;
    let server = connect(over_http("a", &http.url())).await;
    http.wait_for(1, |seen| seen.verb == "GET" && seen.header("mcp-session-id") == SESSION).await;
    http.push(&event(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })));
    server.changed.notified().await;
    http.push(&event(&json!({ "jsonrpc": "2.0", "id": 5, "method": "roots/list" })));
    let answered = http.wait_for(1, |seen| seen.message["id"] == 5).await;
    assert_eq!(answered[0].message["result"], json!({ "roots": [] }));
    server.upstream.close().await;
    http.wait_for(1, |seen| seen.verb == "GONE").await;
}

async fn a_modern_server_is_listened_to_again_after_a_cut() {
    let http = ordinary(Era::Modern).await;
    let server = connect(over_http("a", &http.url())).await;
    let listens = |seen: &Seen| seen.verb == "POST" && seen.method() == "subscriptions/listen";
    let asked = http.wait_for(1, listens).await;
    assert_eq!(asked[0].message["params"]["notifications"], json!({ "toolsListChanged": true }));
    let changed = event(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    http.push(&changed);
    server.changed.notified().await;
    http.push("end");
    http.wait_for(2, listens).await;
    // What changed in between was not heard.
    server.changed.notified().await;
    http.push(&changed);
    server.changed.notified().await;
}

async fn without_a_login_its_need_is_said() {
    for status in [401, 403] {
        let http = HttpServer::start(LEGACY, move |_| Some(Answer::empty(status))).await;
        let (outcome, _, _) = try_connect(over_http("a", &http.url()), None).await;
        let failure = outcome.err().expect("no connection");
        assert!(matches!(failure, UpstreamFailure::LoginNeeded(_)), "{failure:?}");
    }
}

/// An answer as Python writes it that is told nothing else.
fn not_a_number(seen: &Seen) -> String {
    format!(r#"{{"result":{{"x":NaN}},"id":{}}}"#, seen.message["id"])
}

async fn errors_of_http_are_said_with_their_words() {
    let check = async |answer: fn(&Seen) -> Answer, expected: UpstreamFailure| {
        let http = HttpServer::start(LEGACY, move |seen| is_call(seen).then(|| answer(seen))).await;
        let server = connect(over_http("a", &http.url())).await;
        assert_eq!(server.call("echo", json!({})).await, Err(expected));
    };
    let bad = |text: &str| UpstreamFailure::BadAnswer(text.to_owned());
    let refused = |code, text: &str| UpstreamFailure::Refused { code, message: text.to_owned() };
    check(
        |_| Answer::Whole(500, Vec::new(), b"oops\x07\nsecond line".to_vec()),
        bad("it answered HTTP 500: oops"),
    )
    .await;
    check(|_| Answer::empty(503), bad("it answered HTTP 503: ")).await;
    check(
        |seen| {
            let error = json!({ "code": -32602, "message": "no" });
            Answer::status(400, &json!({ "id": seen.message["id"], "error": error }))
        },
        refused(-32602, "no"),
    )
    .await;
    check(
        |_| Answer::status(400, &json!({ "id": null, "error": { "code": -32000, "message": "odd" } })),
        refused(-32000, "odd"),
    )
    .await;
    check(
        |_| Answer::status(400, &json!({ "error": "invalid_request" })),
        bad(r#"it answered HTTP 400: {"error":"invalid_request"}"#),
    )
    .await;
    check(
        |_| Answer::Whole(200, vec![("content-type", "text/html".to_owned())], b"<html>Hi</html>".to_vec()),
        bad("its answer isn't a message: <html>Hi</html>"),
    )
    .await;
    check(|_| Answer::empty(202), bad("its answer isn't a message: ")).await;
    check(
        |_| Answer::json(&json!({ "id": 12345, "result": {} })),
        bad(r#"its answer isn't a message: {"id":12345,"result":{}}"#),
    )
    .await;
    let why = "its answer isn't JSON: NaN at line 1 column 16";
    check(
        |seen| {
            let kind = vec![("content-type", "application/json".to_owned())];
            Answer::Whole(200, kind, not_a_number(seen).into_bytes())
        },
        bad(why),
    )
    .await;
    check(|seen| Answer::Events(format!("data: {}\n\n", not_a_number(seen))), bad(why)).await;
    check(
        |seen| Answer::json(&json!({ "id": seen.message["id"], "result": null })),
        bad("it sent neither a result nor an error"),
    )
    .await;
}

async fn bodies_that_are_too_large_are_given_up() {
    let why = "its answer is larger than 97.7 KB; ask for less, or raise limits.result_size of the server";
    let check = async |answer: fn(&Seen) -> Answer| {
        let http = HttpServer::start(LEGACY, move |seen| is_call(seen).then(|| answer(seen))).await;
        let settings = limited(over_http("a", &http.url()), |limits| limits.result_bytes = 100_000);
        let server = connect(settings).await;
        let outcome = server.call("echo", json!({})).await;
        assert_eq!(outcome, Err(UpstreamFailure::BadAnswer(why.to_owned())));
    };
    check(|seen| Answer::json(&seen.value("x".repeat(5_000_000).into()))).await;
    check(|seen| Answer::json(&seen.value("x".repeat(101_000).into()))).await;
    check(|seen| Answer::Events(event(&seen.value("x".repeat(5_000_000).into())))).await;
    check(|_| Answer::Unfinished("x".repeat(500_000))).await;
}

async fn a_slow_body_runs_into_the_limit_and_is_cancelled() {
    let http = HttpServer::start(LEGACY, |seen| {
        is_call(seen).then(|| Answer::Unfinished("{\"jsonrpc\":".to_owned()))
    })
    .await;
    let settings = limited(over_http("a", &http.url()), |limits| limits.call_ms = 3000);
    let server = connect(settings).await;
    let outcome = server.call("echo", json!({})).await;
    assert_eq!(outcome, Err(UpstreamFailure::Timeout { limit_ms: 3000 }));
    let call = http.wait_for(1, is_call).await;
    let cancelled = http.wait_for(1, |seen| seen.method() == "notifications/cancelled").await;
    assert_eq!(cancelled[0].message["params"]["requestId"], call[0].message["id"]);
}

async fn a_call_that_is_dropped_is_cancelled_in_the_way_of_its_era() {
    for era in [LEGACY, Era::Modern] {
        let http = HttpServer::start(era, |seen| is_call(seen).then(|| Answer::Stream(String::new()))).await;
        let server = connect(over_http("a", &http.url())).await;
        let (upstream, call) = (server.upstream.clone(), call_of("echo", &json!({})));
        let call = tokio::spawn(async move { upstream.call(call).await });
        let sent = http.wait_for(1, is_call).await;
        call.abort();
        http.wait_for(1, |seen| seen.verb == "GONE" && seen.method() == "tools/call").await;
        if era == LEGACY {
            let cancelled = http.wait_for(1, |seen| seen.method() == "notifications/cancelled").await;
            assert_eq!(cancelled[0].message["params"]["requestId"], sent[0].message["id"]);
        }
    }
}

async fn a_redirect_to_another_origin_is_not_followed() {
    let other = ordinary(LEGACY).await;
    let elsewhere = other.url();
    let http = HttpServer::start(LEGACY, move |seen| {
        let to = if seen.path == "/old" { "/mcp".to_owned() } else { elsewhere.clone() };
        let moves = seen.path == "/old" || seen.path == "/away";
        moves.then(|| Answer::Whole(307, vec![("location", to)], Vec::new()))
    })
    .await;
    let (outcome, _, _) = try_connect(over_http("a", &format!("{}/away", http.origin)), None).await;
    let words = format!(
        "it answered HTTP 307: it redirects to {}, which isn't followed; if you trust it, use that URL",
        other.origin
    );
    assert_eq!(outcome.err(), Some(UpstreamFailure::BadAnswer(words)));
    assert!(other.seen().is_empty(), "our headers stay with us");
    let server = connect(over_http("a", &format!("{}/old", http.origin))).await;
    assert_eq!(server.value("echo", json!({ "a": 1 })).await, json!({ "a": 1 }));
}

async fn a_server_that_is_not_there_is_down() {
    let http = ordinary(LEGACY).await;
    let url = format!("{}?key={SECRET}", http.url());
    http.stop().await;
    drop(http);
    let (outcome, _, _) = try_connect(over_http("a", &url), None).await;
    match outcome.err() {
        Some(UpstreamFailure::Down(why)) => {
            assert!(why.starts_with("can't connect: ") && !why.contains(SECRET), "{why}");
        }
        other => panic!("{other:?}"),
    }
    let (outcome, _, _) = try_connect(over_http("a", "ftp://example.org"), None).await;
    let why = "its URL must begin with http:// or https://";
    assert_eq!(outcome.err(), Some(UpstreamFailure::Down(why.to_owned())));
}

async fn a_server_that_goes_away_is_lost() {
    let http = HttpServer::start(LEGACY, |seen| is_call(seen).then(|| Answer::Stream(String::new()))).await;
    let server = connect(over_http("a", &http.url())).await;
    let (upstream, call) = (server.upstream.clone(), call_of("echo", &json!({})));
    let call = tokio::spawn(async move { upstream.call(call).await });
    http.wait_for(1, is_call).await;
    http.stop().await;
    let outcome = call.await.expect("no panic");
    assert!(matches!(outcome, Err(UpstreamFailure::Lost(_))), "{outcome:?}");
    let later = server.call("echo", json!({})).await;
    assert!(matches!(later, Err(UpstreamFailure::Down(_))), "{later:?}");
    let why = server.upstream.lost().await;
    assert!(why.starts_with("can't connect: "), "{why}");
}

async fn two_hundred_calls_at_once_are_answered_right() {
    let http = ordinary(LEGACY).await;
    let server = connect(over_http("a", &http.url())).await;
    let calls = (0..200).map(|number| {
        let upstream = server.upstream.clone();
        tokio::spawn(async move {
            let raw = upstream.call(call_of("echo", &json!({ "n": number }))).await.expect("an answer");
            assert!(raw.ends_with(&format!(r#"{{"n":{number}}}}}"#)), "{raw}");
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("the right answer");
    }
}

async fn secrets_in_headers_come_back_as_their_names() {
    let count = Count::default();
    let http = HttpServer::start(LEGACY, move |seen| {
        let header = seen.header("x-ours").to_owned();
        is_call(seen).then(|| match count.next() {
            0 => Answer::json(&seen.value(header.into())),
            1 => Answer::Events(event(&seen.value(header.into()))),
            2 => Answer::status(500, &json!({ "you sent": header })),
            _ => Answer::status(400, &json!({ "error": { "code": 1, "message": header } })),
        })
    })
    .await;
    let server = connect(over_http("a", &http.url())).await;
    assert_eq!(server.value("echo", json!({})).await, SHOWN);
    assert_eq!(server.value("echo", json!({})).await, SHOWN);
    let why = format!(r#"it answered HTTP 500: {{"you sent":"{SHOWN}"}}"#);
    assert_eq!(server.call("echo", json!({})).await, Err(UpstreamFailure::BadAnswer(why)));
    let refused = UpstreamFailure::Refused { code: 1, message: SHOWN.to_owned() };
    assert_eq!(server.call("echo", json!({})).await, Err(refused));
}

async fn closing_ends_a_call_under_way() {
    let http = HttpServer::start(LEGACY, |seen| is_call(seen).then(|| Answer::Stream(String::new()))).await;
    let server = connect(over_http("a", &http.url())).await;
    let (upstream, call) = (server.upstream.clone(), call_of("echo", &json!({})));
    let call = tokio::spawn(async move { upstream.call(call).await });
    http.wait_for(1, is_call).await;
    server.upstream.close().await;
    let outcome = call.await.expect("no panic");
    assert_eq!(outcome, Err(UpstreamFailure::Lost("the connection was closed".to_owned())));
}
