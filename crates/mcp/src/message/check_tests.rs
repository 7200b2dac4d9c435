use super::*;

fn refused(text: &str) -> (i64, String, Value) {
    let refusal = check(text.as_bytes(), false).expect_err(text).refusal;
    let json: Value = serde_json::from_slice(&refusal.to_json()).expect("JSON");
    (refusal.fault.code(), refusal.message, json["id"].clone())
}

fn check_refused(text: &str, code: i64, says: &str, id: Value) {
    assert_eq!(refused(text), (code, says.to_owned(), id), "{text}");
}

#[test]
fn broken_json_is_a_parse_error_with_its_place() {
    let null = Value::Null;
    check_refused("{", -32700, "parse error: EOF while parsing an object at line 1 column 1", null.clone());
    check_refused("{\"a\":\n}", -32700, "parse error: expected value at line 2 column 1", null);
    let refusal = check(b"{\"a\":\"\xff\"}", false).expect_err("not UTF-8").refusal;
    assert_eq!(refusal, Refusal::new(Fault::Parse, "parse error: not UTF-8 at byte 7"));
}

#[test]
fn deep_nesting_is_refused_without_being_parsed() {
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"a\":{}",
        "[".repeat(100_000)
    );
    check_refused(&deep, -32600, "arrays and objects are nested deeper than 127 levels", 1.into());
}

#[test]
fn what_is_refused_unparsed_is_answered_under_its_id() {
    let call = |id: &str, argument: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"a","arguments":{{"x":{argument}}}}},"id":{id}}}"#
        )
    };
    let rows = format!("[{}0]", r#"{"a":0},"#.repeat(200_000));
    let says = "a message can have 200000 values; pass large data as one text of CSV or JSON, as a workspace file, or by handle";
    check_refused(&call("7", &rows), -32600, says, 7.into());
    check_refused(&call("\"seven\"", &rows), -32600, says, "seven".into());
    let reserved = call("8", r#"{"$serde_json::private::Number":"1"}"#);
    let says = "keys starting with `$serde_json::private::` aren't allowed";
    check_refused(&reserved, -32600, says, 8.into());
    // As one text they are taken.
    let text = Value::String(rows).to_string();
    assert!(check(call("9", &text).as_bytes(), false).is_ok());
}

#[test]
fn what_is_no_message_says_what_is_wrong() {
    let null = Value::Null;
    let check = |text: &str, says: &str, id: Value| check_refused(text, -32600, says, id);
    check("[]", "batches aren't supported; send one message at a time", null.clone());
    check("7", "a message must be an object, not a number", null.clone());
    check(r#"{"id":5,"method":"ping"}"#, "`jsonrpc` must be \"2.0\"", 5.into());
    check(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, "`jsonrpc` must be \"2.0\"", "a".into());
    check(r#"{"jsonrpc":"2.0","id":5,"method":5}"#, "`method` must be a string, not a number", 5.into());
    check(
        r#"{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}"#,
        "`params` must be an object, not an array",
        5.into(),
    );
    for (id, what) in [
        ("null", "null"),
        ("1.5", "1.5"),
        ("9223372036854775808", "9223372036854775808"),
        ("{}", "an object"),
    ] {
        let says = format!("`id` must be a string or an integer of 64 bits, not {what}");
        check(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), &says, null.clone());
    }
    check(r#"{"jsonrpc":"2.0","id":1}"#, "a message needs `method`, `result` or `error`", null.clone());
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        "a message has either `method` or `result`, not both",
        1.into(),
    );
    check(r#"{"jsonrpc":"2.0","id":1,"error":3}"#, "`error` must be an object, not a number", null);
}

#[test]
fn unknown_methods_are_named_with_the_nearest_known_one() {
    let check = |method: &str, says: &str| {
        check_refused(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#), -32601, says, 1.into());
    };
    check("tools/lsit", "unknown method `tools/lsit`; did you mean `tools/list`?");
    check("unknown/thing", "unknown method `unknown/thing`");
    check("notifications/initialized", "unknown method `notifications/initialized`");
    check(&"x".repeat(1000), &format!("unknown method `{}…`", "x".repeat(80)));
}

#[test]
fn wrong_types_in_parameters_name_the_field() {
    let check = |method: &str, params: &str, says: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":{params}}}"#);
        check_refused(&text, -32602, &format!("{method}: {says}"), "x".into());
    };
    check(
        "tools/call",
        r#"{"name":"a","arguments":"b"}"#,
        "`params.arguments` must be an object, not a string",
    );
    check("tools/call", r#"{"name":5}"#, "`params.name` must be a string, not a number");
    check("tools/call", "{}", "`params.name` is missing; it must be a string");
    check(
        "tools/call",
        r#"{"name":"a","inputResponses":5}"#,
        "`params.inputResponses` must be an object, not a number",
    );
    check("tools/list", r#"{"cursor":1}"#, "`params.cursor` must be a string, not a number");
    check("tools/list", r#"{"_meta":[]}"#, "`params._meta` must be an object, not an array");
    check(
        "tools/list",
        r#"{"_meta":{"progressToken":1.5}}"#,
        "`params._meta.progressToken` must be a string or an integer, not a number",
    );
    check("initialize", "{}", "`params.protocolVersion` is missing; it must be a string");
    check(
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a"}}"#,
        "`params.clientInfo.version` is missing; it must be a string",
    );
    check(
        "initialize",
        r#"{"protocolVersion":"2025-11-25","capabilities":{"sampling":7},"clientInfo":{"name":"a","version":"1"}}"#,
        "something in `params` doesn't match the protocol",
    );
    check("server/discover", "{}", "`params._meta` is missing; it must be an object");
    check("resources/read", r#"{"uri":null}"#, "`params.uri` must be a string, not null");
    check(
        "logging/setLevel",
        r#"{"level":"loud"}"#,
        "`params.level` must be one of debug, info, notice, warning, error, critical, alert, emergency, not a string",
    );
}

#[test]
fn notifications_are_never_owed_an_answer() {
    let notified = |params: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        check(text.as_bytes(), false)
    };
    let cancels = |id| Kind::Notification { method: "notifications/cancelled".to_owned(), cancels: Some(id) };
    assert_eq!(notified(r#"{"requestId":4}"#).expect("good").kind, cancels(RequestId::Number(4)));
    let refused = notified(r#"{"requestId":[]}"#).expect_err("wrong");
    assert!(refused.was_notification);
    assert_eq!(refused.refusal.fault, Fault::Params);
    let unknown = check(br#"{"jsonrpc":"2.0","method":"notifications/of/ours"}"#, false).expect("good");
    assert_eq!(
        unknown.kind,
        Kind::Notification { method: "notifications/of/ours".to_owned(), cancels: None }
    );
}

#[test]
fn methods_of_the_handshake_are_gone_in_versions_without_one() {
    let meta = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}"#;
    let check = |method: &str, says: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{meta}}}"#);
        check_refused(&text, -32601, says, 1.into());
    };
    check("initialize", "`initialize` isn't part of 2026-07-28; send `server/discover`");
    check("ping", "`ping` isn't part of 2026-07-28");
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert!(super::check(ping, false).is_ok());
    assert!(super::check(ping, true).is_err_and(|refused| refused.is_modern));
}

#[test]
fn good_messages_pass_whole() {
    let pass = |text: &str| check(text.as_bytes(), false).expect(text);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":123456789012345678901234567890,"x":1.10}}}"#;
    let checked = pass(call);
    assert_eq!(checked.text, call);
    let expected =
        Kind::Request { id: RequestId::Number(1), method: "tools/call".to_owned(), is_modern: false };
    assert_eq!(checked.kind, expected);
    assert_eq!(pass(r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#).kind, Kind::Response);
    assert_eq!(pass(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#).kind, Kind::Response);
    pass(r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{}}}"#);
    pass(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":null}}"#);
    for method in ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "ping"] {
        pass(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#));
    }
}

#[test]
fn of_keys_that_are_there_twice_only_the_one_that_was_checked_is_passed_on() {
    let text = r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"ping"}"#;
    let checked = check(text.as_bytes(), false).expect("one of them");
    assert_eq!(checked.text, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
}

#[test]
fn the_deepest_message_that_is_taken_can_be_understood() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"x":{open}{close}}}}}}}"#
        )
    };
    // The message, its parameters and the arguments are three levels.
    assert!(check(nested(json_shape::DEPTH_MAX - 3).as_bytes(), false).is_ok());
    assert!(check(nested(json_shape::DEPTH_MAX - 2).as_bytes(), false).is_err());
}

#[test]
fn whatever_is_changed_in_a_message_it_is_taken_or_refused() {
    let whole = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"b":[1.5e3,"\u00e4"]},"_meta":{"progressToken":7}}}"#;
    for at in 0..whole.len() {
        let _ = check(&whole[..at], false);
        for byte in *b"{}[]\",:0-.e\\n \0\xff" {
            let mut changed = whole.to_vec();
            changed[at] = byte;
            if let Err(refused) = check(&changed, false) {
                assert!(serde_json::from_slice::<Value>(&refused.refusal.to_json()).is_ok());
            }
        }
    }
}
