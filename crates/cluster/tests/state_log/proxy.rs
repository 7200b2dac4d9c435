//! A way to a server on which things get lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

const PASS: u8 = 0;
/// The next acknowledgement is lost, and the connection with it.
const LOSE_ACK: u8 = 1;
/// Nothing reaches the server, and nobody is told.
const HOLD: u8 = 2;

#[derive(Clone)]
pub struct Proxy {
    pub port: u16,
    mode: Arc<AtomicU8>,
    /// How often something was lost.
    lost: Arc<AtomicUsize>,
}

impl Proxy {
    pub async fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("its number").port();
        let proxy = Self { port, mode: Arc::default(), lost: Arc::default() };
        let own = proxy.clone();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                client.set_nodelay(true).expect("a socket");
                server.set_nodelay(true).expect("a socket");
                let (client, server) = (client.into_split(), server.into_split());
                let own = own.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        () = own.towards(client.0, server.1) => {}
                        () = own.back(server.0, client.1) => {}
                    }
                });
            }
        });
        proxy
    }

    pub fn lose_next_ack(&self) {
        self.mode.store(LOSE_ACK, Ordering::SeqCst);
    }

    pub fn hold(&self) {
        self.mode.store(HOLD, Ordering::SeqCst);
    }

    pub fn pass(&self) {
        self.mode.store(PASS, Ordering::SeqCst);
    }

    pub fn lost(&self) -> usize {
        self.lost.load(Ordering::SeqCst)
    }

    async fn towards(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes).await {
            let is_held = self.mode.load(Ordering::SeqCst) == HOLD;
            if is_held {
                self.lost.fetch_add(1, Ordering::SeqCst);
            } else if to.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    }

    async fn back(&self, mut from: OwnedReadHalf, mut to: OwnedWriteHalf) {
        let mut bytes = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = from.read(&mut bytes).await {
            let is_ack = bytes[..count].windows(6).any(|part| part == b"\"seq\":");
            let is_armed = self.mode.load(Ordering::SeqCst) == LOSE_ACK;
            if is_ack && is_armed {
                self.lost.fetch_add(1, Ordering::SeqCst);
                self.pass();
                return;
            }
            if to.write_all(&bytes[..count]).await.is_err() {
                return;
            }
        }
    }
}
