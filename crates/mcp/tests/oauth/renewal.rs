//! Tokens that come to their end.

use std::collections::BTreeSet;
use std::sync::Arc;

use gristmill_files::FileLock;
use gristmill_gateway::store::{LEADS_LOCK, MEMBER_FILE};
use gristmill_mcp::oauth::{LoginError, Revocation, TokenSource, logout};
use gristmill_mcp::secret::Secret;
use serde_json::json;
use tokio::sync::Notify;

use crate::login_server::{Canned, Script};
use crate::world::World;

/// The requests for a renewal so far: what was offered in each.
fn offered(world: &World) -> Vec<String> {
    let form = |seen: &crate::login_server::Seen| seen.form().get("refresh_token").cloned();
    world.server.seen_at("/token").iter().filter_map(form).collect()
}

async fn token(source: &TokenSource) -> String {
    source.bearer().await.expect("no error").expect("a token").reveal().to_owned()
}

#[tokio::test]
async fn a_token_is_used_until_a_minute_before_its_end_and_then_renewed() {
    let world = World::logged_in("renew", Script::default()).await;
    let source = world.source();
    world.after(3539);
    assert_eq!((token(&source).await.as_str(), offered(&world).len()), ("access-s3cret-1", 0));
    world.after(1);
    assert_eq!(token(&source).await, "access-s3cret-2");
    world.after(3600);
    assert_eq!(token(&source).await, "access-s3cret-3");
    // Each refresh token is used once: the server takes none twice.
    assert_eq!(offered(&world), ["refresh-s3cret-1", "refresh-s3cret-2"]);
    // No metadata is asked for again: the tokens' place is known since the login.
    assert_eq!(world.server.seen_at("/.well-known/oauth-authorization-server").len(), 1);
}

#[tokio::test]
async fn a_short_lived_token_is_not_renewed_for_every_call() {
    let world = World::logged_in("renew-short", Script { lifetime: Some(40), ..Script::default() }).await;
    let source = world.source();
    world.after(19);
    assert_eq!(token(&source).await, "access-s3cret-1");
    world.after(1);
    assert_eq!(token(&source).await, "access-s3cret-2");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_callers_cause_one_renewal() {
    let world = World::logged_in("renew-hundred", Script::default()).await;
    world.after(3600);
    // Two sources, as in two processes: they share nothing but the files.
    let sources = [world.source(), world.source()];
    let calls: Vec<_> = (0..100)
        .map(|number| {
            let source = sources[number % 2].clone();
            tokio::spawn(async move { token(&source).await })
        })
        .collect();
    let mut tokens = BTreeSet::new();
    for call in calls {
        tokens.insert(call.await.expect("no panic"));
    }
    assert_eq!(tokens, BTreeSet::from(["access-s3cret-2".to_owned()]));
    assert_eq!(offered(&world), ["refresh-s3cret-1"]);
}

#[tokio::test]
async fn a_hundred_callers_share_one_failure_too() {
    let world = World::logged_in("renew-trouble", Script::default()).await;
    world.after(3600);
    let leave = Arc::new(Notify::new());
    world.server.script(|ways| {
        ways.canned.insert("/token".to_owned(), Canned::HeldTrouble(Arc::clone(&leave)));
    });
    let source = world.source();
    let calls = futures_util::future::join_all((0..100).map(|_| source.bearer()));
    // Polled after the calls, so that all of them wait when the answer comes.
    let answering = async {
        world.server.has_seen("/token", 2).await;
        leave.notify_one();
    };
    let (outcomes, ()) = tokio::join!(calls, answering);
    assert!(outcomes.iter().all(|outcome| outcome.as_ref().is_err_and(LoginError::may_pass)));
    assert_eq!((outcomes.len(), offered(&world).len()), (100, 1));
}

#[tokio::test]
async fn a_renewal_goes_on_when_nobody_waits_for_it_any_more() {
    let world = World::logged_in("renew-dropped", Script::default()).await;
    world.after(3600);
    let leave = Arc::new(Notify::new());
    world.server.script(|ways| {
        ways.canned.insert("/token".to_owned(), Canned::Held(Arc::clone(&leave)));
    });
    let source = world.source();
    let caller = tokio::spawn({
        let source = source.clone();
        async move { source.bearer().await }
    });
    world.server.has_seen("/token", 2).await;
    caller.abort();
    assert!(caller.await.expect_err("ended").is_cancelled());
    leave.notify_one();
    assert_eq!(token(&source).await, "access-s3cret-2");
    assert_eq!(offered(&world), ["refresh-s3cret-1"]);
}

#[tokio::test]
async fn a_revoked_login_says_log_in_again_and_is_not_tried_again() {
    let world = World::logged_in("renew-revoked", Script::default()).await;
    let source = world.source();
    world.server.forget_refresh_tokens();
    world.after(3600);
    let error = source.bearer().await.expect_err("over");
    world.check_clean(&error);
    assert_eq!(
        error.to_string(),
        "the login server of `crm` didn't renew the login (invalid_grant: (secret) is of no use); \
         log in again: gristmill login crm"
    );
    assert_eq!(source.bearer().await.expect_err("still over").to_string(), error.to_string());
    assert_eq!(world.source().bearer().await.expect_err("for all").to_string(), error.to_string());
    assert_eq!(offered(&world).len(), 1);
    // A new login mends it, in a source that is in use too.
    world.login().await.expect("logged in");
    assert_eq!(token(&source).await, "access-s3cret-2");
}

#[tokio::test]
async fn a_token_without_renewal_ends_with_its_time() {
    let world = World::logged_in("renew-none", Script { no_refresh: true, ..Script::default() }).await;
    let source = world.source();
    world.after(3599);
    assert_eq!(token(&source).await, "access-s3cret-1");
    world.after(1);
    let error = source.bearer().await.expect_err("over");
    assert_eq!(error.to_string(), "the login to `crm` has expired; log in again: gristmill login crm");
}

#[tokio::test]
async fn a_machine_that_stands_by_uses_up_no_refresh_token() {
    let world = World::logged_in("renew-stands-by", Script::default()).await;
    let data = world.folder.path().join("data");
    std::fs::create_dir_all(data.join(MEMBER_FILE).parent().expect("a folder")).expect("a folder");
    std::fs::write(data.join(MEMBER_FILE), "{}").expect("a file");
    let source = world.source();
    // What the copy has is used as long as it's good.
    assert_eq!(token(&source).await, "access-s3cret-1");
    world.after(3600);
    for error in [source.bearer().await.expect_err("not here"), world.refused_login().await] {
        assert!(error.to_string().contains("is shared with other gateways"), "{error}");
    }
    assert_eq!((offered(&world).len(), world.server.seen_at("/authorize").len()), (0, 1));
    let _lead = FileLock::take(&data.join(LEADS_LOCK)).expect("free");
    assert_eq!(token(&source).await, "access-s3cret-2");
    assert_eq!(offered(&world), ["refresh-s3cret-1"]);
}

#[tokio::test]
async fn a_refused_token_is_renewed_once() {
    let world = World::logged_in("refused", Script::default()).await;
    let source = world.source();
    let first = Secret::new(token(&source).await);
    let challenge = Some("Bearer error=\"invalid_token\"");
    let second = source.refused(Some(&first), challenge).await.expect("another one");
    assert_eq!(second, Secret::new("access-s3cret-2"));
    // Calls that were under way with the first one get the second, without a renewal.
    assert_eq!(source.refused(Some(&first), challenge).await.expect("the same"), second);
    let error = source.refused(Some(&second), challenge).await.expect_err("enough");
    assert_eq!(
        error.to_string(),
        "server `crm` refuses the login, even though it was just renewed; log in again: gristmill login crm"
    );
    assert_eq!(offered(&world), ["refresh-s3cret-1"]);
    // Much later it may be worth another try.
    world.after(600);
    let third = source.refused(Some(&second), challenge).await.expect("another one");
    assert_eq!(third, Secret::new("access-s3cret-3"));
}

#[tokio::test]
async fn a_refusal_without_a_login_asks_for_one() {
    let world = World::new("refused-first", Script::default()).await;
    let error = world.source().refused(None, Some("Bearer")).await.expect_err("no login");
    assert_eq!(error.to_string(), "server `crm` needs a login; log in: gristmill login crm");
}

#[tokio::test]
async fn missing_rights_are_named_and_asked_for_at_the_next_login() {
    let world = World::logged_in("scopes", Script::default()).await;
    let source = world.source();
    let used = source.bearer().await.expect("no error").expect("a token");
    let challenge = Some("Bearer error=\"insufficient_scope\", scope=\"admin delete\"");
    let error = source.refused(Some(&used), challenge).await.expect_err("more rights");
    assert_eq!(
        error.to_string(),
        "server `crm` wants more permissions than the login has (admin, delete); log in again: gristmill login crm"
    );
    assert_eq!(offered(&world).len(), 0);
    let granted = world.login().await.expect("logged in");
    assert_eq!(granted.scopes, ["read", "write", "admin", "delete"]);
}

#[tokio::test]
async fn a_login_server_in_trouble_costs_no_login() {
    let world = World::logged_in("trouble", Script::default()).await;
    let source = world.source();
    world.server.script(|ways| {
        ways.canned.insert("/token".to_owned(), Canned::Raw(503, "busy access-s3cret-1".to_owned()));
    });
    // In its last minute the token is still good.
    world.after(3570);
    assert_eq!(token(&source).await, "access-s3cret-1");
    world.after(30);
    let error = source.bearer().await.expect_err("in trouble");
    world.check_clean(&error);
    assert!(error.may_pass(), "{error}");
    assert!(error.to_string().ends_with("answered 503"), "{error}");
    world.server.script(|ways| ways.canned.clear());
    assert_eq!(token(&source).await, "access-s3cret-2");
}

#[tokio::test]
async fn a_login_belongs_to_its_server_and_its_url() {
    let world = World::logged_in("belongs", Script::default()).await;
    let source = |name: &str, path: &str| {
        let url = world.server.url(path);
        TokenSource::new(
            name,
            &url,
            world.settings.clone(),
            world.store(),
            world.network.clone(),
            world.clock(),
        )
    };
    assert_eq!(source("crm", "/other").bearer().await.expect("no error"), None);
    assert_eq!(source("other", "/mcp").bearer().await.expect("no error"), None);
    let own = source("crm", "/mcp");
    assert!(own.is_for(&world.server.url("/mcp?session=1")));
    for elsewhere in ["https://127.0.0.1/mcp", "http://127.0.0.1:1/mcp", "http://localhost/mcp", "data:x"] {
        assert!(!own.is_for(&elsewhere.parse().expect("a URL")), "{elsewhere}");
    }
}

#[tokio::test]
async fn a_logout_revokes_forgets_and_is_noticed() {
    let world = World::logged_in("logout", Script::default()).await;
    let source = world.source();
    let held = token(&source).await;
    let out = logout("crm", &world.settings, &world.store(), &world.network).await.expect("logged out");
    world.check_clean(&out);
    assert!(out.was_logged_in && matches!(out.revocations.as_slice(), [Revocation::Done]), "{out:?}");
    assert!(!world.server.takes(&held));
    let revoked: Vec<_> =
        world.server.seen_at("/revoke").iter().map(|seen| seen.form()["token"].clone()).collect();
    assert_eq!(revoked, ["refresh-s3cret-1", "access-s3cret-1"]);
    assert_eq!(source.bearer().await.expect("no error"), None);
    let file = std::fs::read_to_string(world.store().path()).expect("a file");
    assert!(!file.contains("s3cret"), "{file}");
    let again = logout("crm", &world.settings, &world.store(), &world.network).await.expect("nothing to do");
    assert!(!again.was_logged_in && again.revocations.is_empty());
}

#[tokio::test]
async fn a_renewal_does_not_bring_a_login_back_that_was_ended_meanwhile() {
    let world = World::logged_in("logout-renewal", Script::default()).await;
    world.after(3600);
    let leave = Arc::new(Notify::new());
    world.server.script(|ways| {
        ways.canned.insert("/token".to_owned(), Canned::Held(Arc::clone(&leave)));
        ways.canned.insert("/revoke".to_owned(), Canned::Json(200, json!({})));
    });
    let source = world.source();
    let caller = tokio::spawn({
        let source = source.clone();
        async move { source.bearer().await }
    });
    world.server.has_seen("/token", 2).await;
    logout("crm", &world.settings, &world.store(), &world.network).await.expect("logged out");
    leave.notify_one();
    let error = caller.await.expect("no panic").expect_err("logged out");
    assert_eq!(error.to_string(), "server `crm` needs a login; log in: gristmill login crm");
    assert_eq!(world.store().list().expect("a file"), []);
}

#[tokio::test]
async fn a_logout_forgets_even_if_the_login_server_does_not_help() {
    let world = World::logged_in("logout-fails", Script::default()).await;
    world.server.script(|ways| {
        ways.canned
            .insert("/revoke".to_owned(), Canned::Json(400, json!({"error": "unsupported_token_type"})));
    });
    let out = logout("crm", &world.settings, &world.store(), &world.network).await.expect("logged out");
    world.check_clean(&out);
    assert!(matches!(out.revocations.as_slice(), [Revocation::Failed(_)]), "{out:?}");
    assert_eq!(world.store().list().expect("a file"), []);
}

#[tokio::test]
async fn a_damaged_file_is_an_error_and_not_a_lost_login() {
    let world = World::logged_in("damaged", Script::default()).await;
    let source = world.source();
    let good = std::fs::read(world.store().path()).expect("a file");
    std::fs::write(world.store().path(), &good[..good.len() / 2]).expect("written");
    let error = source.bearer().await.expect_err("damaged");
    world.check_clean(&error);
    assert!(error.to_string().ends_with("is damaged; delete it and log in again"), "{error}");
    let error = world.refused_login().await;
    assert!(matches!(error, LoginError::Store(_)), "{error}");
    assert_eq!(world.server.seen_at("/authorize").len(), 1);
}

#[tokio::test]
async fn nothing_that_can_be_printed_shows_a_secret() {
    let world = World::logged_in("printed", Script::default()).await;
    let source = world.source();
    let bearer = source.bearer().await;
    world.check_clean(&(&source, &bearer, &world.network, world.store(), world.clock()));
    world.after(3600);
    for canned in [
        Canned::Raw(200, "{\"access_token\": \"access-s3cret-1\"".to_owned()),
        Canned::Json(200, json!({"access_token": ["access-s3cret-1"]})),
        Canned::Json(400, json!({"error": "invalid_scope", "error_description": "refresh-s3cret-1"})),
        Canned::Json(500, json!({"error": {"x": "refresh-s3cret-1"}})),
        Canned::Redirect(307, "https://evil.example/refresh-s3cret-1".to_owned()),
    ] {
        world.server.script(|ways| {
            ways.canned.insert("/token".to_owned(), canned);
        });
        let error = source.bearer().await.expect_err("no token");
        world.check_clean(&error);
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
    // None of these cost the login.
    world.server.script(|ways| ways.canned.clear());
    assert_eq!(token(&source).await, "access-s3cret-2");
}
