//! One request as a program asks for it, read within bounds: a URL in the form in which it is sent, headers that
//! are the program's to set, and a body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_gateway::domain::{HostsSettings, WebAddress, format_bytes, one_line};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

use super::definitions::WebMethod;

/// More headers than any interface wants.
const HEADERS_MAX: usize = 64;

/// Of all headers together: servers refuse more.
const HEADER_BYTES_MAX: usize = 16 * 1024;

/// What is about the connection, the method, or how the body is written: ours to say.
const OURS: [&str; 16] = [
    "host",
    "connection",
    "keep-alive",
    "content-length",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "accept-encoding",
    "http2-settings",
    "proxy-authorization",
    "proxy-connection",
    // Another method than the one that was judged.
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

/// A request that may be sent.
#[derive(Debug)]
pub(super) struct WebRequest {
    pub method: WebMethod,
    pub address: WebAddress,
    pub headers: HeaderMap,
    pub body: Option<Vec<u8>>,
    /// What the program is ready to wait.
    pub timeout_ms: Option<u64>,
}

/// Why there is none. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadRequest {
    #[error("there is no such method; use get, head, post, put, patch or delete")]
    Method,
    #[error("can't read the request: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error(transparent)]
    Host(#[from] gristmill_gateway::domain::HostRefusal),
    #[error("the URL isn't in the form in which it is sent; write {0}")]
    OtherForm(String),
    #[error("has {HEADERS_MAX} headers at most, with {} together", format_bytes(HEADER_BYTES_MAX as u64))]
    ManyHeaders,
    #[error("`{0}` isn't a valid header: names are letters, digits and `-`, values are one line of text")]
    Header(String),
    #[error("the header `{0}` can't be set by a program; leave it out")]
    OurHeader(String),
    #[error("the header `{0}` is added by the gateway for this host; leave it out")]
    Credential(String),
    #[error("pass one of `json`, `body` and `body_base64`")]
    Bodies,
    #[error("`body_base64` isn't base64")]
    Base64,
    #[error("the body has {}; at most {} can be sent (`request_size` under [network])", format_bytes(*.bytes), format_bytes(*.max))]
    Large { bytes: u64, max: u64 },
}

/// As the tool's schema has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked<'a> {
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default, borrow)]
    json: Option<&'a RawValue>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    body_base64: Option<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

impl WebRequest {
    pub fn read(tool: &str, arguments: &str, hosts: &HostsSettings) -> Result<Self, BadRequest> {
        let method = WebMethod::of_tool(tool).ok_or(BadRequest::Method)?;
        let asked: Asked<'_> = serde_json::from_str(arguments)?;
        let address = hosts.admit(&asked.url)?;
        // The rules have judged the text: what they saw is what is sent.
        if address.as_str() != asked.url {
            return Err(BadRequest::OtherForm(address.as_str().to_owned()));
        }
        let injected = hosts.credential_for(&address).map(|(_, credential)| credential.header.as_str());
        let mut headers = headers(&asked.headers, injected)?;
        let is_json = asked.json.is_some();
        let body = match (asked.json, asked.body, asked.body_base64) {
            (None, None, None) => None,
            (Some(json), None, None) => Some(json.get().as_bytes().to_vec()),
            (None, Some(text), None) => Some(text.into_bytes()),
            (None, None, Some(text)) => Some(STANDARD.decode(text).map_err(|_| BadRequest::Base64)?),
            _ => return Err(BadRequest::Bodies),
        };
        let bytes = body.as_ref().map_or(0, Vec::len) as u64;
        if bytes > hosts.request_bytes {
            return Err(BadRequest::Large { bytes, max: hosts.request_bytes });
        }
        if is_json && !headers.contains_key(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let body = body.filter(|_| method.has_body());
        Ok(Self { method, address, headers, body, timeout_ms: asked.timeout_ms })
    }
}

fn headers(asked: &BTreeMap<String, String>, injected: Option<&str>) -> Result<HeaderMap, BadRequest> {
    let bytes: usize = asked.iter().map(|(name, value)| name.len() + value.len()).sum();
    if asked.len() > HEADERS_MAX || bytes > HEADER_BYTES_MAX {
        return Err(BadRequest::ManyHeaders);
    }
    let mut headers = HeaderMap::new();
    for (name, value) in asked {
        let shown = || one_line(name, 80);
        let lower = name.to_ascii_lowercase();
        if OURS.contains(&lower.as_str()) {
            return Err(BadRequest::OurHeader(shown()));
        }
        if injected.is_some_and(|injected| injected.eq_ignore_ascii_case(name)) {
            return Err(BadRequest::Credential(shown()));
        }
        let bad = || BadRequest::Header(shown());
        let read = HeaderName::from_bytes(lower.as_bytes()).map_err(|_| bad())?;
        let value = HeaderValue::from_str(value).map_err(|_| bad())?;
        // Two spellings of one name.
        if headers.insert(read, value).is_some() {
            return Err(bad());
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use gristmill_gateway::domain::{AllowedHost, HostCredential, SecretText};
    use serde_json::{Value, json};

    use super::*;

    fn hosts() -> HostsSettings {
        let host = |text: &str| AllowedHost::read(text).expect("an entry");
        let value = SecretText::parse("Bearer ${env:TOKEN}").expect("a text");
        HostsSettings {
            allowed: vec![host("api.example.com"), host("http://127.0.0.1:8080")],
            credentials: vec![HostCredential {
                host: host("api.example.com"),
                header: "X-Key".to_owned(),
                value,
            }],
            request_bytes: 100,
        }
    }

    fn read(tool: &str, arguments: &Value) -> Result<WebRequest, String> {
        WebRequest::read(tool, &arguments.to_string(), &hosts()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_request_has_a_method_a_url_headers_and_a_body() {
        let asked = json!({
            "url": "https://api.example.com/v1",
            "headers": {"X-Trace": "1"},
            "json": {"b": 1, "a": [1.50]},
        });
        let request = read("post", &asked).unwrap();
        assert_eq!(request.method, WebMethod::Post);
        assert_eq!(request.address.as_str(), "https://api.example.com/v1");
        assert_eq!(request.headers["x-trace"], "1");
        assert_eq!(request.headers["content-type"], "application/json");
        assert_eq!(request.body.as_deref(), Some(asked["json"].to_string().as_bytes()));
        let bytes = json!({"url": "https://api.example.com/v1", "body_base64": "AP8="});
        assert_eq!(read("put", &bytes).unwrap().body, Some(vec![0, 255]));
    }

    #[test]
    fn attack_headers_that_split_a_request_or_speak_for_us() {
        let with = |name: &str, value: &str| {
            let headers = serde_json::Map::from_iter([(name.to_owned(), Value::from(value))]);
            read("get", &json!({"url": "https://api.example.com/", "headers": headers})).unwrap_err()
        };
        for (name, value) in [
            ("x", "a\r\nHost: evil.net"),
            ("x", "a\nb"),
            ("x\r\ny", "a"),
            ("x:", "a"),
            ("", "a"),
            ("x", "a\0"),
        ] {
            assert!(with(name, value).contains("isn't a valid header"), "{name:?}: {value:?}");
        }
        for name in OURS {
            assert!(with(&name.to_uppercase(), "x").contains("can't be set by a program"), "{name}");
        }
        assert!(with("x-KEY", "mine").contains("is added by the gateway"), "the credential's own");
        assert!(with("x", &"y".repeat(HEADER_BYTES_MAX)).contains("headers at most"));
        let elsewhere = json!({"url": "http://127.0.0.1:8080/", "headers": {"X-Key": "mine"}});
        assert!(read("get", &elsewhere).is_ok(), "another host has no credential");
    }

    #[test]
    fn attack_a_url_in_another_form_than_the_rules_have_seen() {
        for url in ["https://api.example.com", "https://api.example.com/a/../b", "HTTPS://api.example.com/"] {
            let told = read("get", &json!({ "url": url })).unwrap_err();
            assert!(told.contains("write https://api.example.com/"), "{told}");
        }
        let told = read("get", &json!({"url": "https://evil.net/"})).unwrap_err();
        assert!(told.contains("`allowed_hosts`"), "{told}");
    }

    #[test]
    fn a_body_is_one_and_within_its_limit() {
        let url = "https://api.example.com/";
        let told = |arguments: Value| read("post", &arguments).unwrap_err();
        assert!(told(json!({"url": url, "json": 1, "body": "x"})).contains("one of"));
        assert!(told(json!({"url": url, "body_base64": "?"})).contains("isn't base64"));
        assert!(told(json!({"url": url, "body": "x".repeat(101)})).contains("`request_size`"));
        assert!(told(json!({"url": url, "as": "root"})).contains("unknown field"));
        assert!(read("options", &json!({ "url": url })).unwrap_err().contains("no such method"));
    }
}
