//! The HTTP client that the whole crate uses.

use std::time::{Duration, Instant};

use gristmill_mcp::http_client::{HttpClientSettings, Redirects, http_client};

use crate::login_server::{Canned, LoginServer, Script};

fn redirecting(from: &str, to: String) -> Script {
    Script { canned: [(from.to_owned(), Canned::Redirect(307, to))].into(), ..Script::default() }
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_origin_and_nowhere_else() {
    let elsewhere = LoginServer::start(Script::default()).await;
    let server = LoginServer::start(redirecting("/near", "/mcp".to_owned())).await;
    server.script(|ways| {
        ways.canned.insert("/far".to_owned(), Canned::Redirect(307, elsewhere.url("/mcp").to_string()));
        ways.canned.insert("/round".to_owned(), Canned::Redirect(307, "/round".to_owned()));
    });
    let client = http_client(&HttpClientSettings::default()).expect("a client");
    let status = async |path: &str| {
        let request = client.post(server.url(path)).header("authorization", "Bearer s3cret").body("x");
        request.send().await.expect("an answer").status().as_u16()
    };
    assert_eq!(status("/near").await, 401);
    assert_eq!(status("/far").await, 307);
    assert_eq!(status("/round").await, 307);
    assert_eq!(elsewhere.seen().len(), 0);
    assert_eq!(server.seen_at("/round").len(), 6);
    let never = HttpClientSettings { redirects: Redirects::None, ..HttpClientSettings::default() };
    let answer = http_client(&never).expect("a client").get(server.url("/near")).send().await;
    assert_eq!(answer.expect("an answer").status().as_u16(), 307);
}

#[tokio::test]
async fn a_request_says_who_we_are_and_wants_no_compression() {
    let server = LoginServer::start(Script::default()).await;
    let client = http_client(&HttpClientSettings::default()).expect("a client");
    client.get(server.mcp()).send().await.expect("an answer");
    let headers = server.seen()[0].headers.clone();
    let agent = format!("gristmill/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(headers.get("user-agent"), Some(&agent));
    assert_eq!(
        (headers.get("accept-encoding"), headers.get("referer"), headers.get("cookie")),
        (None, None, None)
    );
}

#[tokio::test]
async fn a_proxy_is_used_if_it_is_set() {
    let proxy = LoginServer::start(Script::default()).await;
    let settings = HttpClientSettings { proxy: Some(proxy.url("/")), ..HttpClientSettings::default() };
    let client = http_client(&settings).expect("a client");
    client.get("http://mcp.invalid/x").send().await.expect("an answer");
    assert_eq!(proxy.seen()[0].target, "http://mcp.invalid/x");
}

#[tokio::test]
async fn a_time_limit_is_kept() {
    let server = LoginServer::start(Script {
        canned: [("/mcp".to_owned(), Canned::Silence)].into(),
        ..Script::default()
    })
    .await;
    let settings = HttpClientSettings {
        total_timeout: Some(Duration::from_millis(100)),
        ..HttpClientSettings::default()
    };
    let begun = Instant::now();
    let error =
        http_client(&settings).expect("a client").get(server.mcp()).send().await.expect_err("too slow");
    assert!(error.is_timeout() && begun.elapsed() < Duration::from_secs(10), "{error}");
}
