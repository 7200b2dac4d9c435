//! What clients connect to: a port, or a socket that is its owner's alone.

use std::io;

use tokio::net::TcpListener;

use crate::connection::ClientStream;
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

/// Whoever has connected.
pub(crate) enum Visitor {
    /// They may ask.
    Client(ClientStream),
    /// Another user, at a socket that is not theirs.
    Stranger(ClientStream),
}

impl Listener {
    pub(crate) async fn accept(&self) -> io::Result<Visitor> {
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
