//! Connections over stdio: messages, calls and their ends.

use std::time::Duration;

use gristmill_gateway::ports::Progress;
use gristmill_gateway::upstream::{UpstreamCall, UpstreamFailure};
use serde_json::{Value, json};

use crate::cases::cases;
use crate::world::{SECRET, SHOWN, Steps, call_of, connect, limited, scripted, try_connect};

cases![
    answers_out_of_order_reach_their_callers,
    two_hundred_calls_at_once_are_answered_right,
    answers_that_nobody_waits_for_are_ignored,
    what_is_no_message_is_ignored_and_logged,
    messages_in_a_batch_are_taken_apart,
    a_line_of_100_megabytes_is_skipped,
    an_answer_that_is_too_large_ends_its_call_only,
    errors_and_broken_answers_end_their_call_at_once,
    answers_that_are_not_json_end_their_call_at_once,
    numbers_keep_their_digits,
    a_call_that_is_dropped_is_cancelled,
    a_call_that_takes_too_long_is_cancelled,
    progress_prolongs_a_call_and_is_passed_on,
    a_server_that_dies_in_a_call_is_lost_with_its_last_words,
    a_flood_on_standard_error_does_no_harm,
    a_server_that_closes_its_output_is_lost_while_it_lives_on,
    a_server_that_stops_reading_is_lost_and_not_waited_for,
    what_a_server_asks_for_is_answered,
    a_modern_servers_questions_are_declined,
    changed_tools_are_told_in_both_eras,
    secrets_come_back_as_their_names,
    closing_ends_a_call_under_way,
];

async fn answers_out_of_order_reach_their_callers() {
    let server = connect(scripted("a", &[])).await;
    let hold = |place: usize| {
        let (upstream, call) = (server.upstream.clone(), call_of("hold", &json!({})));
        tokio::spawn(async move { (place, upstream.call(call).await.expect("an answer")) })
    };
    let mut held = Vec::new();
    for place in 0..5 {
        held.push(hold(place));
        while server.value("held", json!({})).await != json!(place + 1) {}
    }
    server.value("release", json!({})).await;
    for task in held {
        let (place, raw) = task.await.expect("no panic");
        assert!(raw.ends_with(&format!(r#""structuredContent":{place}}}"#)), "{place}: {raw}");
    }
}

async fn two_hundred_calls_at_once_are_answered_right() {
    let server = connect(scripted("a", &[])).await;
    let calls = (0..200).map(|number| {
        let (upstream, text) = (server.upstream.clone(), format!("{number}").repeat(1 + number * 7));
        tokio::spawn(async move {
            let raw = upstream.call(call_of("echo", &json!({ "text": text }))).await.expect("an answer");
            assert!(raw.ends_with(&format!(r#""structuredContent":{{"text":"{text}"}}}}"#)), "{raw}");
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.expect("the right answer");
    }
}

async fn answers_that_nobody_waits_for_are_ignored() {
    let server = connect(scripted("a", &[])).await;
    let check = async |lines: &[&str], expected: &str| {
        assert_eq!(server.print(lines).await.as_deref(), Ok(expected), "{lines:?}");
    };
    let unknown = r#"{"jsonrpc":"2.0","id":99999,"result":{"content":["wrong"]}}"#;
    check(&[unknown, r#"{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}"#], r#"{"content":[]}"#).await;
    let first = r#"{"jsonrpc":"2.0","id":$ID,"result":{"first":1}}"#;
    check(&[first, r#"{"jsonrpc":"2.0","id":$ID,"result":{"second":2}}"#], r#"{"first":1}"#).await;
    check(&[r#"{"jsonrpc":"2.0","id":"$ID","result":{"text":1}}"#], r#"{"text":1}"#).await;
    let strange = r#"{"jsonrpc":"2.0","id":{"a":1},"result":{}}"#;
    check(&[strange, r#"{"id":$ID,"result":{"third":3}}"#], r#"{"third":3}"#).await;
    check(&[r#"{"jsonrpc":"2.0","result": {"a": 1.0 },"id":$ID,"error":null}"#], r#"{"a": 1.0 }"#).await;
}

async fn what_is_no_message_is_ignored_and_logged() {
    let server = connect(scripted("a", &["greeting"])).await;
    server.upstream.list_tools().await.expect("tools");
    let answer = server.print(&["Loading…", "", "\t", "[1,", r#"{"jsonrpc":"2.0","id":$ID,"result":{}}"#]);
    assert_eq!(answer.await.as_deref(), Ok("{}"));
    let logged = |text: &str| format!("[stdout, not a message] {text}");
    let expected = [
        "Listening on port 3000",
        "bytes that are no text",
        r#"{"half":"#,
        r#""text""#,
        "17",
        "Loading…",
        "[1,",
    ];
    assert_eq!(server.log.last(50), expected.map(logged));
}

async fn messages_in_a_batch_are_taken_apart() {
    let server = connect(scripted("a", &["version=2025-03-26"])).await;
    let batch = r#"[{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},7,{"jsonrpc":"2.0","id":$ID,"result":{"in":"batch"}}]"#;
    assert_eq!(server.print(&["[]", batch]).await.as_deref(), Ok(r#"{"in":"batch"}"#));
    server.changed.notified().await;
}

async fn a_line_of_100_megabytes_is_skipped() {
    let server = connect(scripted("a", &[])).await;
    let flooded = server.value("flood", json!({ "bytes": 100_000_000, "id": "none" })).await;
    assert_eq!(flooded, "flooded");
    assert_eq!(server.log.last(50), ["[skipped a message of 100000000 bytes: too long]"]);
}

async fn an_answer_that_is_too_large_ends_its_call_only() {
    let server = connect(limited(scripted("a", &[]), |limits| limits.result_bytes = 1_000_000)).await;
    let why = "its answer is larger than 976.6 KB; ask for less, or raise limits.result_size of the server";
    for place in ["first", "last"] {
        // Larger than a line may be, and larger than a result may be.
        for bytes in [5_000_000, 1_010_000] {
            let (upstream, held) = (server.upstream.clone(), call_of("hold", &json!({})));
            let held = tokio::spawn(async move { upstream.call(held).await });
            while server.value("held", json!({})).await != 1 {}
            let outcome = server.call("flood", json!({ "bytes": bytes, "id": place })).await;
            assert_eq!(outcome, Err(UpstreamFailure::BadAnswer(why.to_owned())), "{place} {bytes}");
            server.value("release", json!({})).await;
            held.await.expect("no panic").expect("the other call is answered");
        }
    }
    let nested = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"id":$ID,"data":"{}"}}}}"#,
        "x".repeat(2_000_000)
    );
    let answer = server.print(&[&nested, r#"{"id":$ID,"result":{"still":"here"}}"#]).await;
    assert_eq!(answer.as_deref(), Ok(r#"{"still":"here"}"#));
}

async fn errors_and_broken_answers_end_their_call_at_once() {
    let server = connect(scripted("a", &[])).await;
    let check = async |line: &str, expected: UpstreamFailure| {
        assert_eq!(server.print(&[line]).await, Err(expected), "{line}");
    };
    let refused = |code, message: &str| UpstreamFailure::Refused { code, message: message.to_owned() };
    check(r#"{"id":$ID,"error":{"code":-32602,"message":"no `x`"}}"#, refused(-32602, "no `x`")).await;
    check(r#"{"id":$ID,"error":{"code":-32603,"message":"oops","data":[1]}}"#, refused(-32603, "oops")).await;
    check(r#"{"id":$ID,"error":{"code":-32603}}"#, refused(-32603, "")).await;
    check(r#"{"id":$ID,"error":{"code":"EACCES","message":"odd"}}"#, refused(0, "odd")).await;
    check(r#"{"id":$ID,"error":"only text"}"#, refused(0, "only text")).await;
    let twice = "its answer has a key that begins with `$serde_json::private::`";
    check(
        r#"{"id":$ID,"result":{"content":[{"\u0024serde_json::private::RawValue":"[]"}]}}"#,
        refused(0, twice),
    )
    .await;
    check(r#"{"id":$ID,"error":{"message":{"$serde_json::private::RawValue":"[]"}}}"#, refused(0, "")).await;
    let empty = "it sent neither a result nor an error";
    check(r#"{"id":$ID,"result":null}"#, UpstreamFailure::BadAnswer(empty.to_owned())).await;
    check(r#"{"jsonrpc":"2.0","id":$ID}"#, UpstreamFailure::BadAnswer(empty.to_owned())).await;
}

async fn answers_that_are_not_json_end_their_call_at_once() {
    let server = connect(scripted("a", &[])).await;
    let check = async |line: &str, why: &str| {
        let expected = Err(UpstreamFailure::BadAnswer(why.to_owned()));
        assert_eq!(server.print(&[line]).await, expected, "{line}");
    };
    check(
        r#"{"jsonrpc":"2.0","result":{"x":NaN},"id":$ID}"#,
        "its answer isn't JSON: NaN at line 1 column 32",
    )
    .await;
    check(r#"{"jsonrpc":"2.0","result":{"x":"$FF"},"id":$ID}"#, "its answer isn't UTF-8 at byte 33").await;
    // The id of another request inside of an answer is none.
    let nested = r#"{"jsonrpc":"2.0","result":{"x":NaN,"id":$ID}}"#;
    let whole = r#"{"jsonrpc":"2.0","id":$ID,"result":{"x":1}}"#;
    assert_eq!(server.print(&[nested, whole]).await.as_deref(), Ok(r#"{"x":1}"#));
    assert_eq!(server.log.last(50).len(), 3, "each is in the log");
}

async fn numbers_keep_their_digits() {
    let server = connect(scripted("a", &[])).await;
    let arguments = r#"{"n":[12345678901234567890123456789,1.10,-0.0,1e400]}"#;
    let call = UpstreamCall { arguments: arguments.to_owned(), ..call_of("echo", &Value::Null) };
    let raw = server.upstream.call(call).await.expect("an answer");
    // The scripted server writes exponents with a sign.
    let arguments = arguments.replace("1e400", "1e+400");
    assert_eq!(raw, format!(r#"{{"resultType":"complete","content":[],"structuredContent":{arguments}}}"#));
}

async fn a_call_that_is_dropped_is_cancelled() {
    for behavior in ["version=2025-11-25", "modern"] {
        let server = connect(scripted("a", &[behavior])).await;
        let (upstream, hang) = (server.upstream.clone(), call_of("hold", &json!({})));
        let call = tokio::spawn(async move { upstream.call(hang).await });
        while server.value("held", json!({})).await != 1 {}
        call.abort();
        let cancelled = server.value("wait_for", json!({ "method": "notifications/cancelled" })).await;
        assert!(cancelled["params"]["requestId"].is_u64(), "{cancelled}");
        assert_eq!(cancelled["params"]["reason"], "no longer wanted");
        assert_eq!(server.value("release", json!({})).await, "released");
    }
}

async fn a_call_that_takes_too_long_is_cancelled() {
    let server = connect(limited(scripted("a", &[]), |limits| limits.call_ms = 4000)).await;
    let outcome = server.call("hang", json!({})).await;
    assert_eq!(outcome, Err(UpstreamFailure::Timeout { limit_ms: 4000 }));
    server.value("wait_for", json!({ "method": "notifications/cancelled" })).await;
}

async fn progress_prolongs_a_call_and_is_passed_on() {
    let server = connect(limited(scripted("a", &[]), |limits| limits.call_ms = 3000)).await;
    let steps = Steps::default();
    let arguments = json!({ "steps": 8, "pause_ms": 600, "message": format!("with {SECRET}") });
    let call = UpstreamCall { progress: steps.sink(), ..call_of("progress", &arguments) };
    let raw = server.upstream.call(call).await.expect("an answer");
    assert!(raw.contains("done"), "{raw}");
    let step = |progress: u32| Progress {
        progress: progress.into(),
        total: Some(8.5),
        message: Some(format!("with {SHOWN}")),
    };
    assert_eq!(steps.all(), (1..=8).map(step).collect::<Vec<_>>());
}

async fn a_server_that_dies_in_a_call_is_lost_with_its_last_words() {
    let server = connect(scripted("a", &[])).await;
    let outcome = server.call("crash", json!({ "code": 7, "words": "out of memory" })).await;
    let why = "the server exited with code 7; last stderr line: out of memory";
    assert_eq!(outcome, Err(UpstreamFailure::Lost(why.to_owned())));
    assert_eq!(server.upstream.lost().await, why);
    // Nothing of a later call is sent, and the caller may try another connection.
    let later = server.call("echo", json!({})).await;
    assert_eq!(later, Err(UpstreamFailure::Down(why.to_owned())));
    server.upstream.close().await;
}

async fn a_flood_on_standard_error_does_no_harm() {
    let server = connect(scripted("a", &[])).await;
    let line = "e".repeat(10_000);
    assert_eq!(server.value("stderr", json!({ "line": line, "times": 2000 })).await, "written");
    assert_eq!(server.value("stderr", json!({ "line": "the end", "times": 1 })).await, "written");
    crate::world::until("the last line", || server.log.last(1) == ["the end"]).await;
    let logged = server.log.last(1000);
    assert!(logged.len() <= 50 && logged.iter().all(|line| line.len() <= 2000), "{}", logged.len());
}

async fn a_server_that_closes_its_output_is_lost_while_it_lives_on() {
    let server = connect(scripted("a", &[])).await;
    let why = "the server closed its stdout";
    let outcome = server.call("close_output", json!({})).await;
    assert_eq!(outcome, Err(UpstreamFailure::Lost(why.to_owned())));
    assert_eq!(server.upstream.lost().await, why);
    server.upstream.close().await;
}

async fn a_server_that_stops_reading_is_lost_and_not_waited_for() {
    let server = connect(limited(scripted("a", &[]), |limits| limits.call_ms = 3000)).await;
    assert_eq!(server.value("stop_reading", json!({})).await, "deaf");
    // More than a pipe holds.
    let outcome = server.call("echo", json!({ "text": "x".repeat(1_000_000) })).await;
    assert_eq!(outcome, Err(UpstreamFailure::Timeout { limit_ms: 3000 }));
    assert_eq!(server.upstream.lost().await, "it doesn't read its input");
    let later = server.call("echo", json!({})).await;
    assert_eq!(later, Err(UpstreamFailure::Down("it doesn't read its input".to_owned())));
    server.upstream.close().await;
}

async fn what_a_server_asks_for_is_answered() {
    let server = connect(scripted("a", &[])).await;
    let check = async |method: &str, id: Value, expected: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} });
        let answer = server.value("ask", json!({ "message": message })).await;
        let mut whole = json!({ "jsonrpc": "2.0", "id": id });
        whole.as_object_mut().expect("an object").extend(expected.as_object().expect("an object").clone());
        assert_eq!(answer, whole, "{method}");
    };
    check("ping", json!(0), json!({ "result": {} })).await;
    check("roots/list", json!("r-1"), json!({ "result": { "roots": [] } })).await;
    let reason = "Gristmill has no user to ask right now";
    let declined = json!({ "action": "decline", "_meta": { "reason": reason } });
    check("elicitation/create", json!(-5), json!({ "result": declined })).await;
    let message = "sampling declined: Gristmill doesn't lend a model to servers";
    check("sampling/createMessage", json!("x"), json!({ "error": { "code": -1, "message": message } })).await;
    let unknown = json!({ "code": -32601, "message": "Gristmill doesn't support `tasks/list`" });
    check("tasks/list", json!(1), json!({ "error": unknown })).await;
}

async fn a_modern_servers_questions_are_declined() {
    let server = connect(scripted("a", &["modern"])).await;
    let reason = "Gristmill has no user to ask right now";
    let declined = json!({ "one": { "action": "decline", "_meta": { "reason": reason } } });
    let answer = server.value("question", json!({ "method": "elicitation/create" })).await;
    assert_eq!(answer, json!([declined, "where we were"]));
    let answer = server.value("question", json!({ "method": "roots/list" })).await;
    assert_eq!(answer, json!([{ "one": { "roots": [] } }, "where we were"]));
    let failed = async |method: &str| server.call("question", json!({ "method": method })).await;
    let why = "it asked for a model; sampling declined: Gristmill doesn't lend a model to servers";
    let sampled = failed("sampling/createMessage").await;
    assert_eq!(sampled, Err(UpstreamFailure::BadAnswer(why.to_owned())));
    let why = "it asked for something Gristmill doesn't support";
    assert_eq!(failed("other").await, Err(UpstreamFailure::BadAnswer(why.to_owned())));
    let again = r#"{"id":$ID,"result":{"resultType":"input_required","inputRequests":{}}}"#;
    let why = "it keeps asking questions that nobody can answer";
    assert_eq!(server.print(&[again]).await, Err(UpstreamFailure::BadAnswer(why.to_owned())));
    let task = r#"{"id":$ID,"result":{"resultType":"task","task":{}}}"#;
    let why = "unknown type of answer: task";
    assert_eq!(server.print(&[task]).await, Err(UpstreamFailure::BadAnswer(why.to_owned())));
}

async fn changed_tools_are_told_in_both_eras() {
    for (behavior, greeting) in
        [("version=2024-11-05", "notifications/initialized"), ("modern", "subscriptions/listen")]
    {
        let server = connect(scripted("a", &[behavior])).await;
        server.value("wait_for", json!({ "method": greeting })).await;
        let before = server.upstream.list_tools().await.expect("tools").len();
        server.value("set_tools", json!({ "tools": [{ "name": "new" }] })).await;
        server.changed.notified().await;
        assert_eq!(server.upstream.list_tools().await.expect("tools").len(), before + 1);
    }
}

async fn secrets_come_back_as_their_names() {
    let settings = scripted("a", &["shows-variable=GIVEN", &format!("instructions=use {SECRET}")]);
    let server = connect(settings).await;
    let tool = json!({ "name": "x", "description": format!("signed in with {SECRET}") });
    assert_eq!(server.upstream.facts().instructions, Some(format!("use {SHOWN}")));
    assert_eq!(server.value("variable", json!({ "name": "GIVEN" })).await, SHOWN);
    let refused = server.call("variable_as_error", json!({ "name": "GIVEN" })).await;
    assert_eq!(refused, Err(UpstreamFailure::Refused { code: -32603, message: SHOWN.to_owned() }));
    // A number that is a secret elsewhere is still JSON.
    let number = server.value("variable_as_number", json!({ "name": "PIN" })).await;
    assert_eq!(number, json!(["[secret env:GM_SCRIPTED_PIN_TOKEN]", "[secret env:GM_SCRIPTED_PIN_TOKEN]"]));
    server.value("set_tools", json!({ "tools": [tool] })).await;
    let tools = server.upstream.list_tools().await.expect("tools").join("\n");
    assert!(tools.contains(&format!("signed in with {SHOWN}")) && !tools.contains(SECRET), "{tools}");
    let crashed = server.call("crash", json!({ "words": format!("bad {SECRET}"), "code": 1 })).await;
    let why = format!("the server exited with code 1; last stderr line: bad {SHOWN}");
    assert_eq!(crashed, Err(UpstreamFailure::Lost(why)));
    let mut logged = server.log.last(50);
    logged.sort();
    let expected =
        ["[stdout, not a message] on output: ", "bad ", "on error: "].map(|text| format!("{text}{SHOWN}"));
    assert_eq!(logged, expected);

    let (outcome, _, _) = try_connect(scripted("a", &["refuse-initialize-with=GIVEN"]), None).await;
    let message = format!("I do not like {SHOWN}");
    assert_eq!(outcome.err(), Some(UpstreamFailure::Refused { code: -32000, message }));
}

async fn closing_ends_a_call_under_way() {
    let server = connect(scripted("a", &[])).await;
    let (upstream, hang) = (server.upstream.clone(), call_of("hold", &json!({})));
    let call = tokio::spawn(async move { upstream.call(hang).await });
    while server.value("held", json!({})).await != 1 {}
    let closed = tokio::time::timeout(Duration::from_secs(20), server.upstream.close()).await;
    closed.expect("it ends");
    let outcome = call.await.expect("no panic");
    assert!(matches!(outcome, Err(UpstreamFailure::Lost(_))), "{outcome:?}");
}
