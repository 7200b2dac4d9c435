//! shim
#![allow(missing_docs, clippy::allow_attributes)]
use gristmill_gateway::access::Caller;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
pub async fn serve_stdio<H: ServerHandler + Clone>(
    handler: H,
    shutdown: CancellationToken,
) -> Result<(), String> {
    let running = rmcp::serve_server(handler, rmcp::transport::stdio()).await.map_err(|e| e.to_string())?;
    tokio::select! { r = running.waiting() => r.map(drop).map_err(|e| e.to_string()), () = shutdown.cancelled() => Ok(()) }
}
pub async fn serve_http<H: ServerHandler + Clone, F: Fn() -> H + Clone + Send + Sync + 'static>(
    listener: tokio::net::TcpListener,
    new: F,
    shutdown: CancellationToken,
) -> Result<(), String> {
    let service = StreamableHttpService::new(
        move || Ok(new()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    loop {
        let (stream, _) = tokio::select! { a = listener.accept() => a.map_err(|e| e.to_string())?, () = shutdown.cancelled() => return Ok(()) };
        let service = service.clone();
        tokio::spawn(async move {
            let svc = hyper::service::service_fn(move |mut req: http::Request<hyper::body::Incoming>| {
                let service = service.clone();
                req.extensions_mut().insert(Caller::local());
                async move { Ok::<_, std::convert::Infallible>(service.handle(req).await) }
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .serve_connection(hyper_util::rt::TokioIo::new(stream), svc)
                .await;
        });
    }
}
