//! Who gets in: hosts, origins, tokens, addresses and methods.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use gristmill_gateway::access::Scope;
use gristmill_gateway::ports::{AuditEvent, AuditLog};
use gristmill_http::{HttpError, HttpSettings, WithoutToken, serve};
use gristmill_mcp::McpEndpoint;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::client::{Answer, modern_headers};
use crate::handler::TestHandler;
use crate::messages::modern_body;
use crate::server::Server;

/// `whoami` over a fresh connection, with these headers.
async fn whoami(server: &Server, headers: &[(&str, &str)]) -> Answer {
    let mut all = modern_headers("tools/call");
    all.push(("Mcp-Name", "whoami"));
    all.extend_from_slice(headers);
    server.connect().await.post(&all, &modern_body("tools/call", json!({ "name": "whoami" }))).await
}

fn name(answer: &Answer) -> String {
    let json = answer.json();
    json["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
}

#[tokio::test]
async fn a_foreign_host_is_refused() {
    let server = Server::start().await;
    let says = "host not allowed; allow it with `--allow-host HOST`";
    for host in ["evil.example", "evil.example:8770", "localhost.evil.example"] {
        assert_eq!(whoami(&server, &[("Host", host)]).await.error(), (403, -32000, says.to_owned()));
    }
    let answer = server.connect().await.request("GET /healthz", &[("Host", "evil.example")]).await;
    assert_eq!(answer.status, 403);
    let mut client = server.connect().await;
    client.send("GET /healthz HTTP/1.1\r\n\r\n").await;
    let says = "the request needs exactly one `Host` header";
    assert_eq!(client.answer().await.error(), (400, -32000, says.to_owned()));
    server.still_works().await;
}

#[tokio::test]
async fn a_foreign_origin_is_refused() {
    let server = Server::start().await;
    let says = "origin not allowed; allow it with `--allow-origin ORIGIN`";
    for origin in ["https://evil.example", "http://localhost:1", "null", "nonsense"] {
        let answer = whoami(&server, &[("Origin", origin)]).await;
        assert_eq!(answer.error(), (403, -32000, says.to_owned()), "{origin}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let answer = server
        .connect()
        .await
        .request(
            "OPTIONS /mcp",
            &[("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")],
        )
        .await;
    assert_eq!((answer.status, answer.header("access-control-allow-methods")), (403, None));
    let own = format!("http://{}", server.address);
    assert_eq!(name(&whoami(&server, &[("Origin", &own)]).await), "local");
}

#[tokio::test]
async fn an_allowed_page_is_let_in_and_may_ask_before() {
    let server =
        Server::with(|settings| settings.origins_allowed.push("https://app.example".to_owned())).await;
    let origin = ("Origin", "https://app.example");
    let asked = [
        origin,
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "authorization,mcp-name"),
    ];
    let answer = server.connect().await.request("OPTIONS /mcp", &asked).await;
    let header = |name: &str| answer.header(name).unwrap_or_default().to_owned();
    assert_eq!(answer.status, 204);
    assert_eq!(header("access-control-allow-origin"), "https://app.example");
    assert_eq!(header("access-control-allow-methods"), "GET, POST, DELETE");
    assert_eq!(header("access-control-allow-headers"), "authorization,mcp-name");
    assert_eq!(header("vary"), "Origin");
    let answer = whoami(&server, &[origin]).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://app.example"));
    // Errors can be read too.
    let answer = whoami(&server, &[origin, ("Authorization", "Bearer x")]).await;
    assert_eq!(
        (answer.status, answer.header("access-control-allow-origin")),
        (401, Some("https://app.example"))
    );
}

#[tokio::test]
async fn other_addresses_and_methods_are_named() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let answer = client.request("GET /", &[]).await;
    assert_eq!(answer.error(), (404, -32000, "nothing here; the endpoint is /mcp".to_owned()));
    let answer = client.request("PUT /mcp", &[]).await;
    assert_eq!(answer.error(), (405, -32000, "PUT isn't supported here; use GET, POST or DELETE".to_owned()));
    assert_eq!(answer.header("allow"), Some("GET, POST, DELETE, OPTIONS"));
    assert_eq!(client.request("HEAD /mcp", &[]).await.status, 405);
    let answer = client.request("OPTIONS /mcp", &[]).await;
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (204, None));
    assert_eq!(client.request("HEAD /healthz", &[]).await.status, 200);
    assert_eq!(client.request("POST /healthz", &[("Content-Length", "0")]).await.status, 405);
    let health = client.request("GET /healthz", &[]).await.json();
    assert!(health["uptime_s"].as_u64().is_some_and(|seconds| seconds < 600), "{health}");
    let version = env!("CARGO_PKG_VERSION");
    let uptime = &health["uptime_s"];
    let expected = json!({ "status": "ok", "server": "gristmill", "version": version, "uptime_s": uptime });
    assert_eq!(health, expected, "and nothing else");
    server.still_works().await;
}

#[tokio::test]
async fn where_a_token_is_required_only_a_good_one_opens() {
    let server = Server::with(|settings| settings.without_token = WithoutToken::Refused).await;
    let now = SystemTime::now();
    let good = server.tokens.issue("laptop", [Scope::Search], None, now).expect("issued");
    let bearer = |token: &str| format!("Bearer {token}");

    let answer = whoami(&server, &[]).await;
    let (status, code, words) = answer.error();
    assert_eq!((status, code), (401, -32000));
    assert!(words.contains("gristmill token new"), "{words}");
    assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"gristmill\""));

    assert_eq!(name(&whoami(&server, &[("Authorization", &bearer(good.text.reveal()))]).await), "laptop");
    assert_eq!(
        name(&whoami(&server, &[("authorization", &format!("bearer  {}", good.text.reveal()))]).await),
        "laptop"
    );

    let wrong = [
        "Bearer".to_owned(),
        bearer("gmt_wrong"),
        bearer(&good.text.reveal().to_lowercase()),
        format!("Basic {}", good.text.reveal()),
        bearer(&"x".repeat(8000)),
    ];
    for wrong in &wrong {
        let answer = whoami(&server, &[("Authorization", wrong)]).await;
        assert_eq!(answer.error().0, 401, "{wrong:.40}");
        let challenge = "Bearer realm=\"gristmill\", error=\"invalid_token\"";
        assert_eq!(answer.header("www-authenticate"), Some(challenge));
        assert!(!answer.body.contains(good.text.reveal()));
    }
    let twice = bearer(good.text.reveal());
    assert_eq!(whoami(&server, &[("Authorization", &twice), ("Authorization", &twice)]).await.status, 401);

    // A token in the address is none.
    let mut client = server.connect().await;
    let line = format!("POST /mcp?access_token={0}&token={0}", good.text.reveal());
    assert_eq!(client.request(&line, &[("Content-Length", "0")]).await.status, 401);
    // Health says nothing that is worth a token.
    assert_eq!(client.request("GET /healthz", &[]).await.status, 200);

    server.tokens.revoke("laptop").expect("it was there");
    let answer = whoami(&server, &[("Authorization", &bearer(good.text.reveal()))]).await;
    let says =
        "unknown access token; it may have been revoked; create a new one with `gristmill token new NAME`";
    assert_eq!(answer.error(), (401, -32000, says.to_owned()));
}

/// Who hears of refused tokens.
#[derive(Default)]
struct Heard(Mutex<Vec<AuditEvent>>);

impl AuditLog for Heard {
    fn note(&self, event: AuditEvent) {
        self.0.lock().expect("a test may do this").push(event);
    }
}

#[tokio::test]
async fn refused_tokens_are_told_to_the_audit_without_the_tokens() {
    let heard = Arc::new(Heard::default());
    let audit = Arc::clone(&heard) as Arc<dyn AuditLog>;
    let server = Server::with(|settings| {
        settings.without_token = WithoutToken::Refused;
        settings.audit = Some(audit);
    })
    .await;
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    let until = long_ago + Duration::from_secs(10);
    let expired = server.tokens.issue("old", Scope::ALL, Some(until), long_ago).expect("issued");
    let good = server.tokens.issue("new", Scope::ALL, None, SystemTime::now()).expect("issued");
    whoami(&server, &[]).await;
    for token in ["wrong", expired.text.reveal(), good.text.reveal()] {
        whoami(&server, &[("Authorization", &format!("Bearer {token}"))]).await;
    }
    whoami(&server, &[("Authorization", "Basic x")]).await;
    let expected = [("missing", None), ("unknown", None), ("expired", Some("old")), ("malformed", None)];
    let expected = expected.map(|(why, name)| AuditEvent::token_refused(why, name));
    assert_eq!(*heard.0.lock().expect("a test may do this"), expected);
}

#[tokio::test]
async fn who_is_refused_with_a_large_body_gets_to_read_why() {
    let server = Server::with(|settings| settings.without_token = WithoutToken::Refused).await;
    let mut client = server.connect().await;
    let answer = client.post(&[], &" ".repeat(3 << 20)).await;
    assert_eq!(answer.error().0, 401);
    assert_eq!(client.request("GET /healthz", &[]).await.status, 200);
}

#[tokio::test]
async fn an_expired_token_is_named() {
    let server = Server::with(|settings| settings.without_token = WithoutToken::Refused).await;
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    let until = long_ago + Duration::from_secs(10);
    let expired = server.tokens.issue("old", Scope::ALL, Some(until), long_ago).expect("issued");
    let answer = whoami(&server, &[("Authorization", &format!("Bearer {}", expired.text.reveal()))]).await;
    let says = "the access token `old` has expired; create a new one with `gristmill token new NAME`";
    assert_eq!(answer.error(), (401, -32000, says.to_owned()));
}

#[tokio::test]
async fn where_none_is_required_one_that_is_sent_must_be_good() {
    let server = Server::start().await;
    assert_eq!(name(&whoami(&server, &[]).await), "local");
    assert_eq!(whoami(&server, &[("Authorization", "Bearer wrong")]).await.status, 401);
    let good = server.tokens.issue("a", Scope::ALL, None, SystemTime::now()).expect("issued");
    assert_eq!(
        name(&whoami(&server, &[("Authorization", &format!("Bearer {}", good.text.reveal()))]).await),
        "a"
    );
    let without = Server::with(|settings| settings.tokens = None).await;
    let says = "this server doesn't use access tokens; remove the `Authorization` header";
    let answer = whoami(&without, &[("Authorization", &format!("Bearer {}", good.text.reveal()))]).await;
    assert_eq!(answer.error(), (401, -32000, says.to_owned()));
}

#[tokio::test]
async fn what_came_through_a_proxy_needs_a_token_where_nobody_else_does() {
    let server = Server::start().await;
    let good = server.tokens.issue("a", Scope::ALL, None, SystemTime::now()).expect("issued");
    let bearer = format!("Bearer {}", good.text.reveal());
    for header in
        ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "x-forwarded-anything", "X-Real-IP", "Via"]
    {
        let forwarded = (header, "203.0.113.7");
        let (status, code, words) = whoami(&server, &[forwarded]).await.error();
        assert_eq!((status, code), (403, -32000), "{header}");
        assert!(words.contains(&header.to_lowercase()) && words.contains("send a token"), "{words}");
        assert_eq!(name(&whoami(&server, &[forwarded, ("Authorization", &bearer)]).await), "a", "{header}");
    }
    assert_eq!(name(&whoami(&server, &[]).await), "local");
}

#[tokio::test]
async fn the_local_owners_token_opens_as_the_owner_and_a_wrong_one_does_not() {
    let server = Server::with(|settings| settings.without_token = WithoutToken::Refused).await;
    server.tokens.local().ensure().expect("made");
    let token = server.tokens.local().read().expect("readable").expect("made");
    let bearer = format!("Bearer {}", token.reveal());
    assert_eq!(name(&whoami(&server, &[("Authorization", &bearer)]).await), "local");
    let forwarded = ("Forwarded", "for=203.0.113.7");
    assert_eq!(name(&whoami(&server, &[("Authorization", &bearer), forwarded]).await), "local");
    server.tokens.local().remove().expect("removed");
    let answer = whoami(&server, &[("Authorization", &bearer)]).await;
    assert_eq!(answer.status, 401);
    let challenge = "Bearer realm=\"gristmill\", error=\"invalid_token\"";
    assert_eq!(answer.header("www-authenticate"), Some(challenge));
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_at_the_start() {
    let check = async |change: fn(&mut HttpSettings), says: &str| {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut settings = HttpSettings::for_address(listener.local_addr().expect("a port"));
        settings.without_token = WithoutToken::Anyone;
        change(&mut settings);
        let shutdown = CancellationToken::new();
        let endpoint = McpEndpoint::new(TestHandler::new, settings.endpoint(), shutdown.clone());
        let served: Result<(), HttpError> = serve(listener, endpoint, Vec::new(), settings, shutdown).await;
        assert_eq!(served.map_err(|error| error.to_string()), Err(says.to_owned()));
    };
    check(
        |settings| settings.without_token = WithoutToken::Refused,
        "tokens are required, but there's no place to store them",
    )
    .await;
    check(
        |settings| settings.hosts_allowed.push("http://x".to_owned()),
        "`http://x` is not a host; write it as example.com or example.com:8770",
    )
    .await;
    check(
        |settings| settings.origins_allowed.push("x".to_owned()),
        "`x` is not an origin; write it as http://localhost:3000, https://app.example.com or http://localhost:*",
    )
    .await;
}
