//! What is served beside MCP: each router asks of its callers what it was mounted with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::SystemTime;

use axum::Router;
use axum::extract::Extension;
use axum::routing::get;
use gristmill_gateway::access::{Caller, Scope};
use gristmill_gateway::history::HistorySettings;
use gristmill_gateway::ports::{BoxFuture, NotShared, SharedState};
use gristmill_gateway::store::Store;
use gristmill_gateway::{DataSettings, Folders, Gateway, Settings, WorkerCommand};
use gristmill_http::{Access, Mount, WithoutToken};
use gristmill_testkit::TestFolder;

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

#[derive(Default)]
struct Others {
    is_overtaken: AtomicBool,
}

impl SharedState for Others {
    fn changed(&self, _path: &str) {}

    fn settle(&self) -> BoxFuture<'_, Result<(), NotShared>> {
        let settled = if self.leads() { Ok(()) } else { Err(NotShared::Overtaken) };
        Box::pin(std::future::ready(settled))
    }

    fn leads(&self) -> bool {
        !self.is_overtaken.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_gateway_that_was_overtaken_shows_nothing_of_the_state() {
    let folder = TestFolder::new("http-overtaken");
    let others = Arc::new(Others::default());
    let data = folder.path().join("data");
    let store = Store::open_shared(&data, Arc::clone(&others) as Arc<_>).expect("a database");
    // No program runs.
    let mut settings = Settings::new(WorkerCommand::new("/nowhere"));
    settings.warm_engines = Vec::new();
    settings.folders =
        Some(Folders { cache: folder.path().join("cache"), scratch: folder.path().join("scratch") });
    settings.data =
        Some(DataSettings { history: Some(HistorySettings::default()), ..DataSettings::new(store) });
    let gateway = Gateway::build(settings).await.expect("a gateway");
    let mounts = mounts().into_iter().map(|mount| mount.settled(gateway.clone())).collect();
    let server = Server::with_mounts(|_| {}, mounts).await;
    let mut client = server.connect().await;
    assert_eq!(client.request("GET /open", &[]).await.body, "open");
    others.is_overtaken.store(true, Ordering::Relaxed);
    let answer = client.request("GET /open", &[]).await;
    let says = "GM-4006: what was written isn't safe: another gateway leads now";
    assert_eq!((answer.status, answer.error().2.as_str()), (503, says));
    // It says nothing of the state.
    assert_eq!(client.request("GET /healthz", &[]).await.status, 200);
    gateway.shutdown().await;
}
