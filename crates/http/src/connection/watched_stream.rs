//! A client's stream with time limits of ours, beneath HTTP.
//!
//! It ends a connection that is idle, that sends its headers too slowly, or that does not read. It
//! tells a client that has only closed its own side, and still gets its answer, from one that is
//! gone: the two look alike until something is sent, so something is sent. And it puts words into
//! the errors that the HTTP library answers by itself with none.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::client_stream::ClientStream;
use super::watch::Watch;
use crate::limits::HttpLimits;
use gristmill_mcp::{Fault, Refusal};

/// An interim answer: any client of HTTP/1.1 reads past it.
const HINT: &[u8] = b"HTTP/1.1 102 Processing\r\n\r\n";

/// For a client to read why it was refused.
const LINGER_TIME: Duration = Duration::from_secs(1);

/// Of 4 kilobytes each, in one go.
const LINGER_READS_MAX: usize = 256;

/// What is waited for while no request is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Waiting {
    /// The first byte of the first request.
    First,
    /// The first byte of the next request.
    Next,
    /// The end of a request's headers.
    Head,
}

pub(super) struct WatchedStream {
    inner: ClientStream,
    watch: Arc<Watch>,
    limits: HttpLimits,
    /// Which wait, after how many requests, and until when.
    wait: Option<(Waiting, u64, Pin<Box<Sleep>>)>,
    /// After how many requests the headers of the next one had begun.
    head_after: Option<u64>,
    /// The client has closed its side, and a body isn't known to be here whole: until when that may show.
    body_until: Option<Pin<Box<Sleep>>>,
    /// The next look at a client that has closed its side.
    look: Option<Pin<Box<Sleep>>>,
    /// Until when a write must get through.
    write_until: Option<Pin<Box<Sleep>>>,
    /// The last answer was given to something that was not read to its end.
    is_unread: bool,
    /// Until when the rest of it is read past.
    linger_until: Option<Pin<Box<Sleep>>>,
}

impl WatchedStream {
    pub(super) fn new(inner: ClientStream, watch: Arc<Watch>, limits: HttpLimits) -> Self {
        Self {
            inner,
            watch,
            limits,
            wait: None,
            head_after: None,
            body_until: None,
            look: None,
            write_until: None,
            is_unread: false,
            linger_until: None,
        }
    }

    /// Nothing can be read now: how long may that be?
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.watch.is_idle_or_wakes(context) {
            self.wait = None;
            return Poll::Pending;
        }
        let requests = self.watch.requests();
        let (waiting, time) = match self.head_after {
            Some(after) if after == requests => (Waiting::Head, self.limits.header_time),
            Some(_) | None if requests == 0 => (Waiting::First, self.limits.header_time),
            Some(_) | None => (Waiting::Next, self.limits.idle_time),
        };
        if self.wait.as_ref().is_none_or(|(known, after, _)| (*known, *after) != (waiting, requests)) {
            self.wait = Some((waiting, requests, Box::pin(tokio::time::sleep(time))));
        }
        let Some((_, _, until)) = &mut self.wait else { return Poll::Pending };
        ready!(until.as_mut().poll(context));
        self.wait = None;
        if waiting == Waiting::Head {
            let seconds = time.as_secs_f64();
            let why = format!("the request headers didn't arrive within {seconds} s");
            // What does not fit is lost: there is nobody to wait for.
            let _ = Pin::new(&mut self.inner).poll_write(context, &bare_answer("408 Request Timeout", &why));
            self.is_unread = true;
        }
        // As if the client had closed.
        Poll::Ready(Ok(()))
    }

    /// The client's side is closed behind a request. Whether its body is here whole shows once somebody has read it,
    /// which comes a moment after the end of it; one that isn't ends with the connection.
    fn poll_closed(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.watch.has_body_or_wakes(context) {
            let time = self.limits.half_closed_look;
            let until = self.body_until.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
            ready!(until.as_mut().poll(context));
            return Poll::Ready(Ok(()));
        }
        self.body_until = None;
        self.watch.half_closed();
        self.poll_half_closed(context)
    }

    /// The client's side is closed, and it has not got its answer.
    fn poll_half_closed(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.watch.is_idle_or_wakes(context) {
                return Poll::Ready(Ok(()));
            }
            let time = self.limits.half_closed_look;
            let look = self.look.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
            ready!(look.as_mut().poll(context));
            self.look = None;
            // Whoever is gone has answered the last sign of life with a reset.
            if let Some(error) = self.inner.take_error()? {
                return Poll::Ready(Err(error));
            }
            // A blocked write means that part of an answer is still on its way.
            if self.watch.may_hint() && self.write_until.is_none() {
                match Pin::new(&mut self.inner).poll_write(context, HINT) {
                    Poll::Ready(Ok(written)) if written == HINT.len() => {}
                    Poll::Ready(Ok(_)) => return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                    Poll::Pending => {}
                }
                // The answer to it comes soon.
                self.look = Some(Box::pin(tokio::time::sleep(time.min(Duration::from_millis(100)))));
            }
        }
    }

    /// Reads past what the client still sends: closing before would take the answer back.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let until = self.linger_until.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER_TIME)));
        let is_over = until.as_mut().poll(context).is_ready();
        let mut scrap = [0; 4096];
        for _ in 0..LINGER_READS_MAX {
            let mut buffer = ReadBuf::new(&mut scrap);
            match Pin::new(&mut self.inner).poll_read(context, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {}
                Poll::Pending if !is_over => return Poll::Pending,
                Poll::Ready(_) | Poll::Pending => return Poll::Ready(Ok(())),
            }
        }
        Poll::Ready(Ok(()))
    }

    fn poll_write_in_time(&mut self, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.inner).poll_write(context, bytes) {
            Poll::Ready(written) => {
                self.write_until = None;
                Poll::Ready(written)
            }
            Poll::Pending => {
                let time = self.limits.write_time;
                let until = self.write_until.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
                ready!(until.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl AsyncRead for WatchedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.watch.is_half_closed() {
            return this.poll_half_closed(context);
        }
        if this.body_until.is_some() {
            return this.poll_closed(context);
        }
        let before = buffer.filled().len();
        match Pin::new(&mut this.inner).poll_read(context, buffer) {
            Poll::Ready(Ok(())) if buffer.filled().len() > before => {
                if this.watch.is_idle() {
                    this.head_after = Some(this.watch.requests());
                }
                Poll::Ready(Ok(()))
            }
            Poll::Ready(Ok(())) if !this.watch.is_idle() => this.poll_closed(context),
            Poll::Ready(outcome) => Poll::Ready(outcome),
            Poll::Pending => this.poll_patience(context),
        }
    }
}

impl AsyncWrite for WatchedStream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        match wordless_error(bytes) {
            None => this.poll_write_in_time(context, bytes),
            // It is the last thing on this connection, and small: it fits or the client is not reading.
            Some(status) => {
                let answer = bare_answer(status, refused_head(status));
                this.is_unread = true;
                ready!(this.poll_write_in_time(context, &answer))?;
                Poll::Ready(Ok(bytes.len()))
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(Pin::new(&mut this.inner).poll_shutdown(context))?;
        if this.is_unread { this.poll_linger(context) } else { Poll::Ready(Ok(())) }
    }
}

/// The status of an error that the HTTP library wrote by itself. No answer of ours is an error with
/// nothing in it.
fn wordless_error(bytes: &[u8]) -> Option<&str> {
    let status = bytes.strip_prefix(b"HTTP/1.1 ").filter(|rest| rest.first() == Some(&b'4'))?;
    let text = std::str::from_utf8(status).ok()?;
    let (status, headers) = text.split_once("\r\n")?;
    headers.to_ascii_lowercase().contains("content-length: 0\r\n").then_some(status)
}

fn refused_head(status: &str) -> &'static str {
    match status.get(..3) {
        Some("431") => "the request headers are too large or too many",
        Some("414") => "the request URL is too long",
        _ => "this isn't a valid HTTP/1.1 request",
    }
}

/// A whole answer outside of any request, after which the connection is closed.
pub(super) fn bare_answer(status: &str, why: &str) -> Vec<u8> {
    let body = Refusal::new(Fault::Transport, why).to_json();
    let retry = if status.starts_with("503") { "retry-after: 1\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{retry}connection: close\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_without_a_word_are_told_from_answers() {
        let check =
            |bytes: &str, expected: Option<&str>| assert_eq!(wordless_error(bytes.as_bytes()), expected);
        check("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\ndate: x\r\n\r\n", Some("400 Bad Request"));
        check("HTTP/1.1 431 X\r\nContent-Length: 0\r\n\r\n", Some("431 X"));
        check("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n", None);
        check("HTTP/1.1 400 Bad Request\r\ncontent-length: 10\r\n\r\n0123456789", None);
        check("", None);
    }
}
