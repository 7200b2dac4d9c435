//! What clients connect to: a port, or a socket that is its owner's alone. Connections can also come by way of other
//! gateways.

use std::future::pending;
use std::io;

use tokio::net::TcpListener;
use tokio::sync::mpsc;

use crate::connection::{ClientStream, PassedOn};
use crate::owner_socket::{OwnerSocket, Peer};

pub enum Listener {
    Tcp(TcpListener),
    Unix(OwnerSocket),
}

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self::Tcp(listener)
    }
}

impl From<OwnerSocket> for Listener {
    fn from(socket: OwnerSocket) -> Self {
        Self::Unix(socket)
    }
}

/// Every way in: a place where this server listens, and what other gateways pass on.
pub struct Entrance {
    listener: Listener,
    /// Until nobody passes on anything any more.
    incoming: Option<mpsc::Receiver<PassedOn>>,
}

impl<T: Into<Listener>> From<T> for Entrance {
    fn from(listener: T) -> Self {
        Self { listener: listener.into(), incoming: None }
    }
}

/// Whoever has connected.
pub(crate) enum Visitor {
    /// They may ask.
    Client(ClientStream),
    /// They may ask, by way of another gateway.
    PassedOn(PassedOn),
    /// Another user, at a socket that is not theirs.
    Stranger(ClientStream),
}

impl Entrance {
    /// Whoever comes next. Nobody is lost when this is dropped before.
    pub(crate) async fn accept(&mut self) -> io::Result<Visitor> {
        tokio::select! {
            visitor = self.listener.accept() => visitor,
            passed = next_passed_on(&mut self.incoming) => Ok(Visitor::PassedOn(passed)),
        }
    }
}

async fn next_passed_on(incoming: &mut Option<mpsc::Receiver<PassedOn>>) -> PassedOn {
    if let Some(receiver) = incoming {
        match receiver.recv().await {
            Some(passed) => return passed,
            None => *incoming = None,
        }
    }
    pending().await
}

impl Listener {
    /// This, and connections that other gateways pass on. Requests on those need a token, also where none is needed
    /// here, and they count against the same limits.
    pub fn with_incoming(self, incoming: mpsc::Receiver<PassedOn>) -> Entrance {
        Entrance { listener: self, incoming: Some(incoming) }
    }

    async fn accept(&self) -> io::Result<Visitor> {
        match self {
            Self::Tcp(listener) => {
                listener.accept().await.map(|(stream, _)| Visitor::Client(ClientStream::Tcp(stream)))
            }
            Self::Unix(socket) => {
                let (stream, peer) = socket.accept().await?;
                Ok(match peer {
                    Peer::Owner => Visitor::Client(ClientStream::Unix(stream)),
                    Peer::Stranger => Visitor::Stranger(ClientStream::Unix(stream)),
                })
            }
        }
    }
}
