//! What is served beside MCP: each router asks of its callers what it was mounted with.

use std::time::SystemTime;

use axum::Router;
use axum::extract::Extension;
use axum::routing::get;
use gristmill_gateway::access::{Caller, Scope};
use gristmill_http::{Access, Mount, WithoutToken};

use crate::server::Server;

async fn callers_name(Extension(caller): Extension<Caller>) -> String {
    caller.name
}

fn mounts() -> Vec<Mount> {
    let mount = |path: &str, access: Access| {
        let router = Router::new().route(path, get(callers_name));
        Mount { router, access }
    };
    let open = Router::new().route("/open", get("open"));
    vec![
        Mount { router: open, access: Access::Open },
        mount("/own", Access::Caller),
        mount("/all", Access::Scope(Scope::Admin)),
    ]
}

#[tokio::test]
async fn each_router_asks_for_what_it_was_mounted_with() {
    let server =
        Server::with_mounts(|settings| settings.without_token = WithoutToken::Refused, mounts()).await;
    let bearer = |name: &str, scope: Scope| {
        let issued = server.tokens.issue(name, [scope], None, SystemTime::now()).expect("issued");
        format!("Bearer {}", issued.text.reveal())
    };
    let (searcher, admin) = (bearer("searcher", Scope::Search), bearer("admin", Scope::Admin));
    let mut client = server.connect().await;
    let mut check = async |path: &str, token: Option<&str>, expected: (u16, &str)| {
        let headers: Vec<(&str, &str)> = token.iter().map(|token| ("Authorization", *token)).collect();
        let answer = client.request(&format!("GET {path}"), &headers).await;
        let body = if answer.status == 200 { answer.body.clone() } else { answer.error().2 };
        assert_eq!((answer.status, body.as_str()), expected, "{path} {token:?}");
    };
    check("/open", None, (200, "open")).await;
    check("/own", Some(&searcher), (200, "searcher")).await;
    let says = "this needs a token with the scope `admin` (gristmill token new NAME --scope admin)";
    check("/all", Some(&searcher), (403, says)).await;
    check("/all", Some(&admin), (200, "admin")).await;
    check("/nowhere", None, (404, "nothing here; the endpoint is /mcp")).await;
    for path in ["/own", "/all"] {
        assert_eq!(client.request(&format!("GET {path}"), &[]).await.status, 401);
    }
}

#[tokio::test]
async fn a_foreign_page_reaches_none_of_them() {
    let server = Server::with_mounts(|_| {}, mounts()).await;
    let mut client = server.connect().await;
    let foreign = [("Origin", "https://evil.example")];
    for path in ["/open", "/own", "/all", "/nowhere"] {
        assert_eq!(client.request(&format!("GET {path}"), &foreign).await.status, 403, "{path}");
    }
    // Whoever is on this machine needs no token here, and may do everything.
    assert_eq!(client.request("GET /all", &[]).await.body, "local");
}
