//! A connection that has arrived at the leader, as whoever serves it sees it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::limits::LOCAL_BYTES;
use super::opening::Opening;
use crate::names::NodeName;

/// A connection of a client that another gateway accepted.
#[derive(Debug)]
pub struct PassedOn {
    pub stream: PassedStream,
    /// The gateway that passes it on.
    pub from: NodeName,
    /// What that gateway says about it, within the bounds of [`Opening::check`].
    pub opening: Opening,
}

/// The bytes of a client, as a socket would have them: what was written before it is dropped still arrives.
#[derive(Debug)]
pub struct PassedStream {
    bytes: DuplexStream,
    _dropped: DropGuard,
}

impl PassedStream {
    /// A stream, the other end of it, and how that learns that the stream was dropped.
    pub(super) fn new() -> (Self, DuplexStream, CancellationToken) {
        let (bytes, other_end) = duplex(LOCAL_BYTES);
        let dropped = CancellationToken::new();
        (Self { bytes, _dropped: dropped.clone().drop_guard() }, other_end, dropped)
    }
}

impl AsyncRead for PassedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().bytes).poll_read(context, buffer)
    }
}

impl AsyncWrite for PassedStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().bytes).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().bytes).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().bytes).poll_shutdown(context)
    }
}
