//! One HTTP connection, from its first byte to its last.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::ServerHandler;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::connection_watch::Watch;
use super::gate::Gate;
use super::watched_stream::{WatchedStream, bare_answer};

/// What is done for a connection that there is no room for.
const REFUSAL_TIME: Duration = Duration::from_secs(1);

/// Serves until either side has enough. When we are asked to end, the request under way is the
/// last.
pub(super) async fn serve<H: ServerHandler>(stream: TcpStream, gate: Arc<Gate<H>>) {
    // Answers are written whole: waiting for more would only make them late.
    let _ = stream.set_nodelay(true);
    let watch = Arc::new(Watch::default());
    let io = TokioIo::new(WatchedStream::new(stream, Arc::clone(&watch), gate.limits));
    let shutdown = gate.shutdown.clone();
    let limits = gate.limits;
    let service = service_fn(move |request| {
        let (gate, watch) = (Arc::clone(&gate), Arc::clone(&watch));
        async move { Ok::<_, Infallible>(gate.answer(request, &watch).await) }
    });
    let mut http = http1::Builder::new();
    // Time is kept beneath, where a wait for the next request differs from a slow one.
    http.header_read_timeout(None).max_headers(limits.headers).max_header_size(limits.header_bytes);
    let mut connection = pin!(http.serve_connection(io, service));
    // How a connection ends is the client's matter: nobody is left to be told.
    tokio::select! {
        _ = connection.as_mut() => return,
        () = shutdown.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Says that there is no room.
pub(super) async fn refuse(mut stream: TcpStream, connections: usize) {
    let why = format!("there are {connections} connections already, and no room for more; come back later");
    let answer = bare_answer("503 Service Unavailable", &why);
    let telling = async {
        if stream.write_all(&answer).await.is_err() || stream.shutdown().await.is_err() {
            return;
        }
        // Closing with something unread would take the answer back.
        let mut scrap = [0; 4096];
        for _ in 0..64 {
            if !matches!(stream.read(&mut scrap).await, Ok(1..)) {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(REFUSAL_TIME, telling).await;
}
