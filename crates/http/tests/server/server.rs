//! An HTTP endpoint to test, on loopback.

use std::net::SocketAddr;
use std::sync::Arc;

use gristmill_gateway::access::AccessTokens;
use gristmill_http::{Entrance, HttpError, HttpSettings, Listener, Mount, PassedOn, WithoutToken, serve};
use gristmill_mcp::McpEndpoint;
use gristmill_testkit::TestFolder;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::handler::{PATIENCE, TestHandler};

pub struct Server {
    pub address: SocketAddr,
    pub handler: TestHandler,
    pub shutdown: CancellationToken,
    pub tokens: Arc<AccessTokens>,
    serving: Option<JoinHandle<Result<(), HttpError>>>,
    _folder: TestFolder,
}

impl Server {
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// With other settings.
    pub async fn with(change: impl FnOnce(&mut HttpSettings)) -> Self {
        Self::with_mounts(change, Vec::new()).await
    }

    /// With something beside MCP.
    pub async fn with_mounts(change: impl FnOnce(&mut HttpSettings), mounts: Vec<Mount>) -> Self {
        Self::at(Entrance::from, change, mounts).await
    }

    /// With connections that another gateway passes on.
    pub async fn with_incoming(
        incoming: mpsc::Receiver<PassedOn>,
        change: impl FnOnce(&mut HttpSettings),
    ) -> Self {
        Self::at(|listener| listener.with_incoming(incoming), change, Vec::new()).await
    }

    async fn at(
        entrance: impl FnOnce(Listener) -> Entrance,
        change: impl FnOnce(&mut HttpSettings),
        mounts: Vec<Mount>,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("a port");
        let folder = TestFolder::new("http");
        let tokens = Arc::new(AccessTokens::open(folder.path()));
        let mut settings = HttpSettings::for_address(address);
        settings.tokens = Some(Arc::clone(&tokens));
        // Most tests are about something else than tokens.
        settings.without_token = WithoutToken::Anyone;
        change(&mut settings);
        let handler = TestHandler::new();
        let shutdown = CancellationToken::new();
        let each = handler.clone();
        let endpoint = McpEndpoint::new(move || each.clone(), settings.endpoint(), shutdown.clone());
        let serving = serve(entrance(listener.into()), endpoint, mounts, settings, shutdown.clone());
        let serving = Some(tokio::spawn(serving));
        Self { address, handler, shutdown, tokens, serving, _folder: folder }
    }

    pub async fn connect(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Whether any `slow` was told that nobody waits for it.
    pub fn any_cancelled(&self) -> bool {
        self.handler.happenings.cancelled.available_permits() > 0
    }

    /// When serving has come to its end.
    pub async fn ended(&mut self) {
        let serving = self.serving.take().expect("once");
        let ended = tokio::time::timeout(PATIENCE, serving).await.expect("it ends");
        ended.expect("no panic").expect("no error");
    }

    /// A fresh client gets an answer.
    pub async fn still_works(&self) {
        let answer = self.connect().await.modern("tools/list", serde_json::json!({})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.json()["result"]["tools"][0]["name"], "echo");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}
