//! The way in.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;
use std::time::{Duration, UNIX_EPOCH};

use gristmill_mcp::oauth::{Granted, LoginError, LoginRequest, LoginSettings};
use gristmill_mcp::secret::Secret;
use serde_json::json;
use url::Url;

use crate::login_server::{Script, browse, get};
use crate::world::{Browser, START, World};

fn granted(world: &World, scopes: &[&str]) -> Granted {
    Granted {
        issuer: world.server.base.clone(),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        expires_at: Some(UNIX_EPOCH + Duration::from_secs(START + 3600)),
        is_renewed: true,
    }
}

fn query(url: &Url) -> BTreeMap<String, String> {
    url.query_pairs().into_owned().collect()
}

#[tokio::test]
async fn a_user_logs_in_and_the_server_takes_the_token() {
    let world = World::new("login", Script::default()).await;
    assert_eq!(world.source().bearer().await.expect("no error"), None);
    let browser = Browser::default();
    let outcome = world.login_with(&|url| browser.open(url), LoginRequest::TIME_LIMIT).await;
    assert_eq!(outcome.expect("logged in"), granted(&world, &["read", "write"]));
    let (url, page) = browser.visit().await;
    assert!(page.contains("<p>You're logged in. You can close this window.</p>"), "{page}");
    assert!(page.contains("default-src 'none'") && page.contains("no-store"), "{page}");
    let asked = query(&url);
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["resource"], world.server.mcp().as_str());
    assert_eq!(asked["scope"], "read write");
    let token = world.source().bearer().await.expect("no error").expect("a token");
    assert!(world.server.takes(token.reveal()));
    let paths: Vec<String> = world.server.seen().iter().map(|seen| seen.path().to_owned()).collect();
    let expected = [
        "/mcp",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/register",
        "/authorize",
        "/token",
    ];
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn tokens_are_stored_for_their_owner_only() {
    let world = World::logged_in("login-mode", Script::default()).await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).expect("there").mode() & 0o777;
    let store = world.store();
    assert_eq!(mode(&store.path()), 0o600);
    assert_eq!(mode(store.path().parent().expect("a folder")), 0o700);
    let list = store.list().expect("a file");
    assert_eq!(list.len(), 1);
    world.check_clean(&list);
}

#[tokio::test]
async fn metadata_is_found_at_its_well_known_places_too() {
    for (silent_401, openid_only) in [(true, false), (false, true), (true, true)] {
        let world = World::new("login-places", Script { silent_401, openid_only, ..Script::default() }).await;
        // Without the 401's advice, what the metadata says is asked for.
        let scopes: &[&str] = if silent_401 { &["read"] } else { &["read", "write"] };
        assert_eq!(world.login().await.expect("logged in"), granted(&world, scopes));
    }
}

#[tokio::test]
async fn a_confidential_client_proves_itself_in_the_header() {
    let known = ("our app".to_owned(), "client-s3cret:/".to_owned());
    let mut world =
        World::new("login-basic", Script { known_client: Some(known.clone()), ..Script::default() }).await;
    world.settings = LoginSettings {
        client_id: Some(known.0),
        client_secret: Some(Secret::new(known.1)),
        scopes: vec!["mail".to_owned()],
        callback_port: None,
    };
    assert_eq!(world.login().await.expect("logged in"), granted(&world, &["mail"]));
    let file = std::fs::read_to_string(world.store().path()).expect("a file");
    assert!(!file.contains("client-s3cret"), "{file}");
    world.after(3600);
    let token = world.source().bearer().await.expect("renewed").expect("a token");
    assert!(world.server.takes(token.reveal()));
    // Another client cannot use what was granted to this one.
    world.settings.client_id = Some("another".to_owned());
    let error = world.source().bearer().await.expect_err("another client");
    assert_eq!(
        error.to_string(),
        "the login to `crm` was made with another `oauth.client_id`; log in again: gristmill login crm"
    );
}

#[tokio::test]
async fn a_user_who_says_no_is_not_logged_in() {
    let world = World::new("login-denied", Script { denies: true, ..Script::default() }).await;
    let browser = Browser::default();
    let error = world.login_with(&|url| browser.open(url), LoginRequest::TIME_LIMIT).await;
    let error = error.expect_err("denied");
    assert_eq!(error.to_string(), "the login server of `crm` refused the login: access_denied");
    let (_, page) = browser.visit().await;
    assert!(page.contains("You're not logged in."), "{page}");
    assert_eq!(world.source().bearer().await.expect("no error"), None);
}

#[tokio::test]
async fn answers_that_are_not_this_logins_change_nothing() {
    let world = World::new("login-state", Script::default()).await;
    let visits = Mutex::new(Vec::new());
    let open = |url: &Url| {
        let url = url.clone();
        visits.lock().expect("no panic").push(tokio::spawn(async move {
            let back = Url::parse(&query(&url)["redirect_uri"]).expect("a URL");
            let at = |path: &str| back.join(path).expect("a URL");
            let mut statuses = Vec::new();
            for path in ["/", "/favicon.ico", "/callback", "/callback?code=evil&state=guessed"] {
                statuses.push(get(&at(path)).await.0);
            }
            // A browser may connect ahead of need and say nothing.
            let address = format!("127.0.0.1:{}", back.port().expect("a port"));
            let idle = tokio::net::TcpStream::connect(address).await.expect("connected");
            let page = browse(url).await;
            drop(idle);
            (statuses, page.contains("You're logged in."))
        }));
        true
    };
    let outcome = world.login_with(&open, LoginRequest::TIME_LIMIT).await;
    assert_eq!(outcome.expect("logged in"), granted(&world, &["read", "write"]));
    let visit = visits.into_inner().expect("no panic").remove(0);
    assert_eq!(visit.await.expect("no panic"), (vec![404, 404, 400, 400], true));
}

#[tokio::test]
async fn an_answer_in_another_login_servers_name_is_refused() {
    let evil = Some("https://evil.example".to_owned());
    let world = World::new("login-issuer", Script { answers_as: evil, ..Script::default() }).await;
    let error = world.refused_login().await;
    let expected = world.server.base.clone();
    assert_eq!(
        error.to_string(),
        format!(
            "refused the login for server `crm`: expected {expected}, \
             but https://evil.example answered"
        )
    );
    assert_eq!(world.server.seen_at("/token").len(), 0);
}

#[tokio::test]
async fn nobody_waits_for_ever() {
    let world = World::new("login-time", Script::default()).await;
    let error = world.login_with(&|_| true, Duration::from_millis(20)).await.expect_err("nobody came");
    assert!(matches!(error, LoginError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_login_that_is_given_up_closes_its_port() {
    let world = World::new("login-drop", Script::default()).await;
    let (opened, url) = tokio::sync::oneshot::channel();
    let opened = Mutex::new(Some(opened));
    let open = |url: &Url| opened.lock().expect("no panic").take().expect("once").send(url.clone()).is_ok();
    let login = world.login_with(&open, LoginRequest::TIME_LIMIT);
    let url = tokio::select! {
        _ = login => panic!("nobody answers"),
        url = url => url.expect("a URL"),
    };
    let back = Url::parse(&query(&url)["redirect_uri"]).expect("a URL");
    let address = format!("127.0.0.1:{}", back.port().expect("a port"));
    tokio::net::TcpStream::connect(address).await.expect_err("nobody listens");
    assert_eq!(world.store().list().expect("no file"), []);
}

#[tokio::test]
async fn a_key_in_the_servers_url_is_nobody_elses_business() {
    let world = World::new("login-query", Script::default()).await;
    let mut url = world.server.mcp();
    url.set_query(Some("key=url-s3cret"));
    url.set_username("me").expect("a host");
    let browser = Browser::default();
    let open = |url: &Url| browser.open(url);
    let request = LoginRequest {
        server: "crm",
        url: &url,
        settings: &world.settings,
        challenge: None,
        time_limit: LoginRequest::TIME_LIMIT,
        open: &open,
    };
    let outcome = gristmill_mcp::oauth::login(request, &world.store(), &world.network, &world.clock()).await;
    assert_eq!(outcome.expect("logged in"), granted(&world, &["read", "write"]));
    world.check_clean(&world.server.seen_at("/authorize"));
    let sent = format!("{:?}", world.server.seen());
    assert!(!sent.contains("url-s3cret"), "{sent}");
    let file = std::fs::read_to_string(world.store().path()).expect("a file");
    assert!(!file.contains("url-s3cret"), "{file}");
}

#[tokio::test]
async fn a_login_server_that_registers_nobody_says_what_to_do() {
    let metadata = BTreeMap::from([("registration_endpoint".to_owned(), json!(null))]);
    let world = World::new("login-register", Script { metadata, ..Script::default() }).await;
    let error = world.refused_login().await.to_string();
    assert!(error.contains("set `oauth.client_id` and `oauth.callback_port`"), "{error}");
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let mut world = World::new("login-port", Script::default()).await;
    world.settings.callback_port = Some(port);
    let error = world.refused_login().await.to_string();
    assert!(error.contains(&format!("({port}, from `oauth.callback_port`")), "{error}");
}
