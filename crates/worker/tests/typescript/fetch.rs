//! `fetch`: what is asked of the gateway, what a program gets, and how redirects are followed.

use gristmill_protocol::CallKind;
use serde_json::{Value, json};

use crate::world::{Ran, World};

/// A world with hosts, which answers by the path.
fn world() -> World {
    World::new().file("servers/http/.server.json", "{\"name\": \"http\"}").file("servers/http/get_.ts", "export {};\n").answers(
        |kind, payload| {
            let (CallKind::Tool, arguments) = (kind, &payload["arguments"]) else { return None };
            let url = arguments["url"].as_str()?;
            let redirect = |status: u64, to: &str| json!({"status": status, "url": url, "headers": {"location": to}, "text": ""});
            Some(Ok(match url.rsplit('/').next()? {
                "json" => json!({"status": 200, "url": url, "headers": {"etag": "x"}, "text": "{\"a\": [1]}"}),
                "bytes" => json!({"status": 404, "url": url, "headers": {}, "base64": "AP8="}),
                "moved" => redirect(303, "/json"),
                "elsewhere" => redirect(307, "https://other.example.com/json"),
                "loop" => redirect(302, "/loop"),
                "held" => json!({"dry_run": "not sent"}),
                "denied" => return Some(Err(json!({"message": "not allowed", "code": "GM-3307", "kind": "policy"}))),
                "never" => return None,
                _ => json!({"status": 200, "url": url, "headers": {}, "text": ""}),
            }))
        },
    )
}

fn asked(ran: &Ran) -> Vec<(&str, Value)> {
    ran.calls
        .iter()
        .map(|(_, payload)| (payload["name"].as_str().unwrap(), payload["arguments"].clone()))
        .collect()
}

#[test]
fn a_response_has_what_programs_expect() {
    let body = "const r = await fetch(new URL(\"https://api.example.com/json\")); const copy = r.clone();\n\
                const b = await fetch(\"https://api.example.com/bytes\");\n\
                return [r.ok, r.status, r.headers.get(\"ETag\"), [...r.headers], await r.json(), await copy.text(), r instanceof Response, \
                b.ok, [...(await b.bytes())], (await b.arrayBuffer()).byteLength, `${typeof Headers}`]";
    let ran = world().run(body);
    let text = "{\"a\": [1]}";
    let expected =
        json!([true, 200, "x", [["etag", "x"]], {"a": [1]}, text, true, false, [0, 255], 2, "function"]);
    assert_eq!(ran.result(), &expected);
    assert_eq!(asked(&ran)[0], ("http.get", json!({"url": "https://api.example.com/json"})));
}

#[test]
fn requests_have_methods_headers_and_bodies() {
    let body = "const url = \"https://api.example.com/x\";\n\
                await fetch(url, {method: \"post\", headers: {\"Content-Type\": \"application/json\"}, body: JSON.stringify({a: 1})});\n\
                await fetch(url, {method: \"PUT\", body: new URLSearchParams({a: \"b c\"})});\n\
                await fetch(new Request(url, {method: \"PATCH\", headers: new Headers([[\"X-A\", \"1\"]]), body: new Uint8Array([255])}));\n\
                await fetch(url, {method: \"DELETE\"});\nreturn 1";
    let ran = world().run(body);
    assert_eq!(ran.result(), &json!(1));
    let url = "https://api.example.com/x";
    let form = "application/x-www-form-urlencoded;charset=UTF-8";
    let expected = [
        (
            "http.post",
            json!({"url": url, "headers": {"content-type": "application/json"}, "body": "{\"a\":1}"}),
        ),
        ("http.put", json!({"url": url, "headers": {"content-type": form}, "body": "a=b+c"})),
        ("http.patch", json!({"url": url, "headers": {"x-a": "1"}, "body_base64": "/w=="})),
        ("http.delete", json!({"url": url})),
    ];
    assert_eq!(asked(&ran), expected);
}

#[test]
fn a_redirect_is_a_request_of_its_own_and_no_credential_follows_to_another_host() {
    let body = "const headers = {Authorization: \"Bearer x\", \"X-Api-Key\": \"y\", Accept: \"text/csv\"};\n\
                const one = await fetch(\"https://api.example.com/moved\", {method: \"POST\", headers, body: \"b\"});\n\
                const two = await fetch(\"https://api.example.com/elsewhere\", {method: \"POST\", headers, body: \"b\"});\n\
                const three = await fetch(\"https://api.example.com/moved\", {redirect: \"manual\"});\n\
                return [one.redirected, one.url, two.url, three.status]";
    let ran = world().run(body);
    let (own, other) = ("https://api.example.com/json", "https://other.example.com/json");
    assert_eq!(ran.result(), &json!([true, own, other, 303]));
    let asked = asked(&ran);
    let all = json!({"authorization": "Bearer x", "x-api-key": "y", "accept": "text/csv"});
    assert_eq!(asked[1], ("http.get", json!({"url": own, "headers": all})));
    let harmless = json!({"accept": "text/csv", "content-type": "text/plain;charset=UTF-8"});
    assert_eq!(asked[3], ("http.post", json!({"url": other, "headers": harmless, "body": "b"})));
    let ran = world().run("await fetch(\"https://api.example.com/loop\")");
    assert_eq!((ran.message(), ran.calls.len()), ("fetch was redirected more than 5 times", 6));
}

#[test]
fn what_goes_wrong_says_what_to_do() {
    for (body, told) in [
        ("await fetch(\"https://api.example.com/denied\")", "not allowed"),
        ("await fetch(\"https://api.example.com/x\", {method: \"TRACE\"})", "must be one of get, head"),
        ("await fetch(\"https://api.example.com/x\", {method: \"POST\", body: {a: 1}})", "JSON.stringify"),
        ("await fetch(\"https://api.example.com/never\", {signal: AbortSignal.abort()})", "aborted"),
    ] {
        let ran = world().run(body);
        assert!(ran.message().contains(told), "{body}: {}", ran.message());
    }
    let ran = world().run("const r = await fetch(\"https://api.example.com/held\", {method: \"POST\"});\nreturn [r.status, await r.json()]");
    assert_eq!(ran.result(), &json!([0, {"dry_run": "not sent"}]));
    let without = World::new().run("await fetch(\"https://api.example.com/x\")");
    assert!(without.message().contains("allowed_hosts under [network]"), "{}", without.message());
}

#[test]
fn help_is_for_those_who_have_hosts() {
    let with = world().run("help(\"http\"); return 1");
    assert!(with.stdout.contains("await fetch(url"), "{}", with.stdout);
    assert!(with.stdout.len() < 800, "four characters are a token, or nearly");
    let without = World::new().run("help(\"http\"); return 1");
    assert!(without.stdout.contains("no hosts are allowed"), "{}", without.stdout);
}
