//! Servers that mean ill, and servers that are broken. None of them gets a code, a token, or a request
//! to a place where it has no business.

use std::collections::BTreeMap;
use std::time::Duration;

use gristmill_mcp::oauth::LoginError;
use serde_json::{Value, json};

use crate::login_server::{Canned, LoginServer, Script};
use crate::world::World;

const METADATA: &str = "/.well-known/oauth-authorization-server";

fn laid_over(name: &str, value: Value) -> BTreeMap<String, Value> {
    BTreeMap::from([(name.to_owned(), value)])
}

fn with_metadata(name: &str, value: Value) -> Script {
    Script { metadata: laid_over(name, value), ..Script::default() }
}

fn with_canned(path: &str, canned: Canned) -> Script {
    Script { canned: [(path.to_owned(), canned)].into(), ..Script::default() }
}

#[tokio::test]
async fn endpoints_at_unsafe_addresses_are_refused() {
    let kinds = [
        ("http://login.example/x", "it must be https"),
        ("ftp://127.0.0.1/x", "it must be https"),
        ("https://10.0.0.1/x", "it leads to a private address"),
        ("https://[::ffff:192.168.0.1]/x", "it leads to a private address"),
        ("http://169.254.169.254/latest/meta-data", "it must be https"),
        ("https://169.254.169.254/x", "it leads to a reserved address"),
        ("https://me:pass@login.example/x", "it has a user name"),
        ("https://0/x", "it leads to a reserved address"),
        ("data:text/html,x", "it names no host"),
        ("not a url", "isn't a URL"),
    ];
    let endpoints =
        ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"];
    let world = World::new("unsafe", Script::default()).await;
    for endpoint in endpoints {
        for (url, why) in kinds {
            world.server.script(|ways| ways.metadata = laid_over(endpoint, json!(url)));
            let error = world.refused_login().await;
            assert!(error.to_string().contains(why), "{endpoint} {url}: {error}");
        }
    }
    // Nobody got that far.
    assert_eq!(world.server.seen_at("/register").len(), 0);
}

#[tokio::test]
async fn login_servers_at_unsafe_addresses_are_not_asked() {
    for place in
        ["http://10.0.0.1", "https://10.0.0.1", "https://169.254.169.254", "https://[::ffff:10.0.0.1]"]
    {
        let resource = laid_over("authorization_servers", json!([place]));
        let world = World::new("unsafe-issuer", Script { resource, ..Script::default() }).await;
        let error = world.refused_login().await;
        assert!(
            matches!(error, LoginError::BadMetadata { .. } | LoginError::Unreachable { .. }),
            "{place}: {error}"
        );
    }
}

#[tokio::test]
async fn an_issuer_must_be_the_one_that_answers() {
    for issuer in ["https://accounts.example", "http://127.0.0.1:1"] {
        let world = World::new("issuer", with_metadata("issuer", json!(issuer))).await;
        let error = world.refused_login().await;
        assert!(matches!(error, LoginError::WrongIssuer { .. }), "{error}");
    }
    // At a place that says nothing about the issuer it must be right all the same.
    let world = World::new("issuer-odd", with_metadata("issuer", json!("https://accounts.example"))).await;
    let odd = format!("{}/x/.well-known/odd", world.server.base);
    let metadata = json!({
        "issuer": "https://accounts.example",
        "authorization_endpoint": "https://accounts.example/authorize",
        "token_endpoint": world.server.url("/token"),
        "code_challenge_methods_supported": ["S256"],
    });
    world.server.script(|ways| {
        ways.resource = laid_over("authorization_servers", json!([odd]));
        ways.canned.insert("/x/.well-known/odd".to_owned(), Canned::Json(200, metadata));
    });
    let error = world.refused_login().await;
    assert!(matches!(error, LoginError::WrongIssuer { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_poses_as_another_resource_is_refused() {
    let resource = laid_over("resource", json!("https://bank.example/mcp"));
    let world = World::new("resource", Script { resource, ..Script::default() }).await;
    let error = world.refused_login().await;
    assert!(matches!(error, LoginError::BadMetadata { .. }), "{error}");
}

#[tokio::test]
async fn a_login_server_without_pkce_is_refused() {
    for methods in [json!(null), json!([]), json!(["plain"])] {
        let world = World::new("pkce", with_metadata("code_challenge_methods_supported", methods)).await;
        let error = world.refused_login().await;
        assert!(matches!(error, LoginError::NoPkce { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_login_address_with_our_parameters_in_it_is_refused() {
    let world = World::new("parameters", Script::default()).await;
    for parameter in
        ["state=known", "redirect_uri=https%3A%2F%2Fevil.example", "code_challenge=x", "client%5Fid=x"]
    {
        let address = format!("{}/authorize?{parameter}", world.server.base);
        world.server.script(|ways| ways.metadata = laid_over("authorization_endpoint", json!(address)));
        let error = world.refused_login().await;
        assert!(error.to_string().contains("sets parameters that only Gristmill may set"), "{error}");
    }
}

#[tokio::test]
async fn a_server_without_metadata_offers_no_login() {
    let gone = || Canned::Json(404, json!({}));
    let world = World::new("none", Script { silent_401: true, ..Script::default() }).await;
    world.server.script(|ways| {
        for path in
            ["/.well-known/oauth-protected-resource/mcp", METADATA, "/.well-known/openid-configuration"]
        {
            ways.canned.insert(path.to_owned(), gone());
        }
    });
    let error = world.refused_login().await;
    assert!(matches!(error, LoginError::NoLoginOffered { .. }), "{error}");
}

#[tokio::test]
async fn garbage_instead_of_metadata_is_an_error() {
    for garbage in
        ["", "null", "[]", "<html>", "{\"issuer\": 5}", &"[".repeat(100_000), "{\"resource\": \"\\u0000\"}"]
    {
        for path in ["/.well-known/oauth-protected-resource/mcp", METADATA, "/register"] {
            let world = World::new("garbage", with_canned(path, Canned::Raw(200, garbage.to_owned()))).await;
            world.server.script(|ways| {
                ways.canned.insert(
                    "/.well-known/openid-configuration".to_owned(),
                    Canned::Raw(200, garbage.to_owned()),
                );
            });
            // A server whose own metadata is broken is asked at the well-known place of its origin.
            if path.ends_with("/mcp") {
                world.server.script(|ways| {
                    drop(ways.canned.insert(METADATA.to_owned(), Canned::Json(404, json!({}))))
                });
            }
            world.refused_login().await;
        }
    }
}

#[tokio::test]
async fn endless_answers_are_cut_off() {
    for path in ["/.well-known/oauth-protected-resource/mcp", METADATA, "/register", "/token"] {
        let world = World::new("endless", with_canned(path, Canned::Endless)).await;
        let error = world.refused_login().await.to_string();
        assert!(error.ends_with("is larger than 1048576 bytes"), "{path}: {error}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_not_waited_for() {
    for path in ["/mcp", METADATA, "/register", "/token"] {
        let mut world = World::new("silence", with_canned(path, Canned::Silence)).await;
        world.network.timeout = Duration::from_millis(300);
        let error = world.refused_login().await;
        assert!(
            error.may_pass() && error.to_string().ends_with("didn't answer within 0.3 s"),
            "{path}: {error}"
        );
    }
}

#[tokio::test]
async fn a_stream_at_the_servers_own_address_does_not_hold_up_the_login() {
    let world = World::new("stream", Script { silent_401: true, ..Script::default() }).await;
    world.server.script(|ways| drop(ways.canned.insert("/mcp".to_owned(), Canned::Events)));
    world.login().await.expect("logged in");
}

#[tokio::test]
async fn redirects_lead_nowhere_else() {
    let elsewhere = LoginServer::start(Script::default()).await;
    for path in ["/mcp", "/.well-known/oauth-protected-resource/mcp", METADATA, "/register", "/token"] {
        for status in [302, 307, 308] {
            let to = format!("{}{path}", elsewhere.base);
            let world = World::new("redirect", with_canned(path, Canned::Redirect(status, to))).await;
            world.refused_login().await;
        }
    }
    assert_eq!(elsewhere.seen().len(), 0);
}

#[tokio::test]
async fn a_code_is_not_sent_on_even_within_the_origin() {
    let script = with_canned("/token", Canned::Redirect(307, "/elsewhere".to_owned()));
    let world = World::new("redirect-near", script).await;
    let error = world.refused_login().await.to_string();
    assert!(error.ends_with("sent a redirect, which isn't followed here"), "{error}");
    assert_eq!(world.server.seen_at("/elsewhere").len(), 0);
}

#[tokio::test]
async fn metadata_may_move_within_its_origin() {
    let world = World::new("moved", Script::default()).await;
    world.server.script(|ways| {
        let to = "/.well-known/openid-configuration".to_owned();
        ways.canned.insert(METADATA.to_owned(), Canned::Redirect(302, to));
    });
    world.login().await.expect("logged in");
}

#[tokio::test]
async fn a_long_list_of_login_servers_is_not_followed_to_its_end() {
    let world = World::new("many", Script::default()).await;
    let many: Vec<String> = (0..1000).map(|number| format!("{}/issuer{number}", world.server.base)).collect();
    world.server.script(|ways| {
        ways.resource = laid_over("authorization_servers", json!(many));
        ways.canned.insert(METADATA.to_owned(), Canned::Json(404, json!({})));
    });
    let error = world.refused_login().await;
    assert!(error.to_string().ends_with("more than 32 requests"), "{error}");
    assert_eq!(world.server.seen().len(), 32);
}

#[tokio::test]
async fn a_registration_that_is_refused_is_told_in_short_harmless_words() {
    let words = format!("\u{1b}[2J no\r\n{}", "x".repeat(5000));
    let world = World::new("register", with_canned("/register", Canned::Raw(403, words))).await;
    let error = world.refused_login().await.to_string();
    assert!(error.len() < 500 && !error.contains('\u{1b}') && !error.contains('\n'), "{error}");
    assert!(error.contains("refused our registration"), "{error}");
}
