use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use gristmill_gateway::domain::{AllowedHost, HostCredential, SecretText};
use gristmill_gateway::ports::ProgressSink;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::addresses::Lookup;

const SECRET: &str = "hunter2-hunter2";

/// A host on this machine that says the same to everybody, and remembers the heads of requests.
struct Site {
    port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

/// What a site says: these bytes and no more, or the second of them again and again.
#[derive(Clone)]
enum Says {
    Once(Vec<u8>),
    ForEver(Vec<u8>, Vec<u8>),
    Nothing,
}

impl Site {
    async fn saying(says: Says) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let hears = Arc::clone(&heard);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(speak(stream, says.clone(), Arc::clone(&hears)));
            }
        });
        Self { port, heard }
    }

    async fn answering(status: &str, headers: &str, body: &[u8]) -> Self {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len());
        Self::saying(Says::Once([head.as_bytes(), body].concat())).await
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }
}

async fn speak(mut stream: TcpStream, says: Says, heard: Arc<Mutex<Vec<String>>>) {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).await.is_ok_and(|read| read > 0) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    // A body that nobody read would end the connection before its answer is there.
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let _ = stream.read_exact(&mut vec![0; length.unwrap_or(0)]).await;
    heard.lock().unwrap().push(head);
    match says {
        Says::Once(bytes) => drop(stream.write_all(&bytes).await),
        Says::ForEver(first, again) => {
            let _ = stream.write_all(&first).await;
            while stream.write_all(&again).await.is_ok() {}
        }
        Says::Nothing => pending().await,
    }
}

fn entry(text: &str) -> AllowedHost {
    AllowedHost::read(text).expect("an entry")
}

fn limits() -> ServerLimits {
    ServerLimits { call_ms: 5_000, result_bytes: 1_000, ..ServerLimits::default() }
}

fn upstream(entries: &[String], limits: ServerLimits) -> HostsUpstream {
    let allowed: Vec<AllowedHost> = entries.iter().map(|text| entry(text)).collect();
    let credential = |host: &AllowedHost| HostCredential {
        host: host.clone(),
        header: "Authorization".to_owned(),
        value: SecretText::parse("Bearer ${env:GM_TEST_HOST_PASS}").expect("a text"),
    };
    // The first of them has a credential.
    let credentials = allowed.first().map(credential).into_iter().collect();
    let variables = [("GM_TEST_HOST_PASS".to_owned(), SECRET.to_owned())].into();
    let context = SecretContext { variables, ..SecretContext::default() };
    let settings = HostsSettings { allowed, credentials, request_bytes: 1_000 };
    HostsUpstream::new(settings, limits, context).expect("a client")
}

async fn call(upstream: &HostsUpstream, tool: &str, arguments: Value) -> Result<Value, UpstreamFailure> {
    let call = UpstreamCall {
        tool: tool.to_owned(),
        arguments: arguments.to_string(),
        headers: Vec::new(),
        progress: ProgressSink::default(),
        asker: Asker::none(),
        trace: None,
    };
    let raw = upstream.call(call).await?;
    let result: Value = serde_json::from_str(&raw).expect("JSON");
    Ok(result["structuredContent"].clone())
}

async fn failure(upstream: &HostsUpstream, url: &str) -> String {
    call(upstream, "get", json!({ "url": url })).await.expect_err("no answer").to_string()
}

fn allowing(sites: &[&Site]) -> Vec<String> {
    sites.iter().map(|site| format!("http://127.0.0.1:{}", site.port)).collect()
}

#[tokio::test]
async fn a_request_goes_to_its_host_and_its_answer_comes_back() {
    let site = Site::answering("404 Not Found", "X-Kind: a\r\nX-Kind: b\r\n", "grüße".as_bytes()).await;
    let upstream = upstream(&allowing(&[&site]), limits());
    let (url, headers) = (site.url("/a?b=c"), json!({"X-Mine": "1"}));
    let answer = call(&upstream, "post", json!({"url": url, "headers": headers, "json": {"x": 1}})).await;
    let expected = json!({
        "status": 404,
        "url": url,
        "headers": {"content-length": "7", "x-kind": "a, b"},
        "text": "grüße",
    });
    assert_eq!(answer, Ok(expected));
    let heard = site.heard().remove(0);
    assert!(heard.starts_with("post /a?b=c http/1.1\r\n"), "{heard}");
    for part in ["x-mine: 1", "content-type: application/json", "content-length: 7"] {
        assert!(heard.contains(part), "{part} in {heard}");
    }
    assert!(!heard.contains("accept-encoding") && !heard.contains("cookie"), "{heard}");
}

#[tokio::test]
async fn a_credential_is_added_for_its_own_host_and_taken_out_of_the_answer() {
    let echo = format!("you said Bearer {SECRET}");
    let own = Site::answering("200 OK", &format!("X-Echo: {SECRET}\r\n"), echo.as_bytes()).await;
    let other = Site::answering("200 OK", "", b"nothing").await;
    let upstream = upstream(&allowing(&[&own, &other]), limits());
    let answer = call(&upstream, "get", json!({"url": own.url("/")})).await.expect("an answer");
    assert!(own.heard()[0].contains(&format!("authorization: bearer {SECRET}\r\n")));
    assert!(!answer.to_string().contains("hunter2"), "{answer}");
    assert_eq!(answer["text"], "you said Bearer [secret env:GM_TEST_HOST_PASS]");
    call(&upstream, "get", json!({"url": other.url("/")})).await.expect("an answer");
    assert!(!other.heard()[0].contains("authorization"));
    let mine = json!({"url": own.url("/"), "headers": {"authorization": "Bearer mine"}});
    let told = call(&upstream, "get", mine).await.expect_err("refused").to_string();
    assert!(told.contains("is added by the gateway"), "{told}");
}

#[tokio::test]
async fn attack_a_credential_among_bytes_that_are_no_text_is_withheld() {
    let bytes = [b"\xff\xfe".as_slice(), SECRET.as_bytes()].concat();
    let site = Site::answering("200 OK", "", &bytes).await;
    let upstream = upstream(&allowing(&[&site]), limits());
    assert!(failure(&upstream, &site.url("/")).await.contains("withheld"));
    let plain = Site::answering("200 OK", "", b"\xff\xfe").await;
    let upstream = self::upstream(&allowing(&[&plain]), limits());
    let answer = call(&upstream, "get", json!({"url": plain.url("/")})).await.expect("an answer");
    assert_eq!(answer["base64"], "//4=");
}

#[tokio::test]
async fn attack_a_redirect_is_not_followed_but_answered() {
    let inside = Site::answering("200 OK", "", b"metadata").await;
    let location = format!("Location: {}\r\n", inside.url("/latest"));
    let site = Site::answering("302 Found", &location, b"").await;
    let upstream = upstream(&allowing(&[&site]), limits());
    let answer = call(&upstream, "get", json!({"url": site.url("/")})).await.expect("an answer");
    assert_eq!(
        (&answer["status"], &answer["headers"]["location"]),
        (&json!(302), &json!(inside.url("/latest")))
    );
    assert!(inside.heard().is_empty(), "nobody went there");
    assert!(failure(&upstream, &inside.url("/latest")).await.contains("`allowed_hosts`"));
}

#[tokio::test]
async fn attack_an_answer_that_is_too_large_or_never_ends() {
    let large = Site::answering("200 OK", "", &[b'x'; 1_001]).await;
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    let endless = Site::saying(Says::ForEver(chunked, b"5\r\nhello\r\n".to_vec())).await;
    let upstream = upstream(&allowing(&[&large, &endless]), limits());
    assert!(failure(&upstream, &large.url("/")).await.contains("`response_size`"));
    assert!(failure(&upstream, &endless.url("/")).await.contains("`response_size`"));
}

#[tokio::test]
async fn attack_a_host_that_says_nothing() {
    let site = Site::saying(Says::Nothing).await;
    let upstream = upstream(&allowing(&[&site]), ServerLimits { call_ms: 100, ..limits() });
    let silent = call(&upstream, "get", json!({"url": site.url("/")})).await;
    assert_eq!(silent, Err(UpstreamFailure::Timeout { limit_ms: 100 }));
    let sooner = call(&upstream, "get", json!({"url": site.url("/"), "timeout_ms": 20})).await;
    assert_eq!(sooner, Err(UpstreamFailure::Timeout { limit_ms: 20 }));
}

#[tokio::test]
async fn attack_a_name_that_leads_to_this_machine() {
    let site = Site::answering("200 OK", "", b"inside").await;
    let lookup: Lookup = Arc::new(|_| Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) }));
    let allowed = vec![entry(&format!("http://rebound.example.com:{}", site.port))];
    let settings = HostsSettings { allowed, ..HostsSettings::default() };
    let addresses = PublicAddresses::with_lookup(settings.allows_localhost(), lookup);
    let upstream = HostsUpstream::with_addresses(settings, limits(), SecretContext::default(), addresses)
        .expect("a client");
    let told = failure(&upstream, &format!("http://rebound.example.com:{}/", site.port)).await;
    assert!(told.contains("leads to a loopback address"), "{told}");
    assert!(site.heard().is_empty());
}

#[tokio::test]
async fn attack_metadata_of_clouds_is_out_of_reach_even_if_it_is_allowed() {
    let entries = ["http://169.254.169.254", "http://[fe80::1]", "http://0.0.0.0"].map(str::to_owned);
    let upstream = upstream(&entries, limits());
    for entry in entries {
        let told = failure(&upstream, &format!("{entry}/")).await;
        assert!(told.contains("is a reserved address"), "{told}");
    }
}

#[tokio::test]
async fn nobody_there_is_told_without_a_secret() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://127.0.0.1:{}", listener.local_addr().expect("an address").port());
    drop(listener);
    let upstream = upstream(std::slice::from_ref(&url), limits());
    let told = failure(&upstream, &format!("{url}/x?q={SECRET}")).await;
    assert!(told.starts_with("can't connect to http://127.0.0.1:"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}
