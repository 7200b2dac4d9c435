//! Our end of a program's line: what its node says goes in, what the gateway says comes out.

use std::future::pending;
use std::io;

use tokio::io::Interest;
use tokio::net::UnixStream;

pub(super) struct Outward {
    /// `None` once the gateway is done with it.
    socket: Option<UnixStream>,
    /// What the gateway hasn't read yet, from `written` on.
    waiting: Vec<u8>,
    written: usize,
    /// So much of what the gateway says the node has already.
    known: usize,
    closes: bool,
    /// The gateway has been told that nothing more comes. It may still say something: nobody needs it any more.
    has_closed: bool,
}

impl Outward {
    pub fn new(socket: UnixStream, known: usize) -> Self {
        Self {
            socket: Some(socket),
            waiting: Vec::new(),
            written: 0,
            known,
            closes: false,
            has_closed: false,
        }
    }

    /// Whether nothing more is to be pushed for now: the gateway reads slowly.
    pub fn is_waiting(&self) -> bool {
        self.socket.is_some() && self.written < self.waiting.len()
    }

    pub fn push(&mut self, bytes: Vec<u8>) {
        if self.socket.is_none() {
            return;
        }
        (self.waiting, self.written) = (bytes, 0);
        self.write();
    }

    /// Nothing more comes: the gateway sees the end once it has read what there is.
    pub fn close_when_empty(&mut self) {
        self.closes = true;
        self.close_if_done();
    }

    /// What the gateway says, `None` if only something was written. Waits for ever where there is nothing to do.
    pub async fn next(&mut self, may_read: bool, bytes_max: usize) -> Option<Vec<u8>> {
        let interest = match (may_read, self.is_waiting()) {
            (true, true) => Interest::READABLE | Interest::WRITABLE,
            (true, false) => Interest::READABLE,
            (false, true) => Interest::WRITABLE,
            (false, false) => return pending().await,
        };
        let Some(socket) = &self.socket else { return pending().await };
        let Ok(ready) = socket.ready(interest).await else {
            self.socket = None;
            return None;
        };
        if ready.is_writable() && self.is_waiting() {
            self.write();
        }
        let socket = self.socket.as_ref().filter(|_| may_read)?;
        let mut read = Vec::new();
        read.reserve_exact(bytes_max);
        match socket.try_read_buf(&mut read) {
            Ok(0) => self.socket = None,
            Ok(count) => {
                let known = self.known.min(count);
                self.known -= known;
                read.drain(..known);
                return Some(read).filter(|read| !read.is_empty() && !self.has_closed);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => self.socket = None,
        }
        None
    }

    fn write(&mut self) {
        while let Some(socket) = self.socket.as_ref().filter(|_| self.written < self.waiting.len()) {
            match socket.try_write(&self.waiting[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                // The gateway is done with it.
                Err(_) => self.socket = None,
            }
        }
        self.waiting = Vec::new();
        self.written = 0;
        self.close_if_done();
    }

    /// Only this direction. A short program is over before the gateway says what went along with the offer, and the
    /// gateway must find somebody to say it to: otherwise the worker is lost to it, with what is waiting to be read.
    fn close_if_done(&mut self) {
        if !self.closes || self.has_closed || self.is_waiting() {
            return;
        }
        self.has_closed = true;
        if let Some(socket) = &self.socket {
            // One that can't be shut down has no other end any more.
            let _ = rustix::net::shutdown(socket, rustix::net::Shutdown::Write);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::net::UnixStream as StdUnixStream;

    use super::*;

    /// The gateway's end of a line, and ours, which knows so much already.
    fn line(known: usize) -> (StdUnixStream, Outward) {
        let (line, ours) = StdUnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        (line, Outward::new(UnixStream::from_std(ours).unwrap(), known))
    }

    #[tokio::test]
    async fn a_worker_that_ends_before_the_gateway_has_said_anything_is_heard() {
        let (mut line, mut outward) = line("program".len());
        outward.push(b"done".to_vec());
        outward.close_when_empty();
        assert_eq!(outward.next(true, 1_024).await, None, "it is written");
        // The program went along with its offer; the gateway says it all the same, and then listens.
        line.write_all(b"program").expect("there's still somebody at the other end");
        line.write_all(b"an answer").expect("and that is so until we go");
        let mut said = Vec::new();
        line.read_to_end(&mut said).unwrap();
        assert_eq!(said, b"done");
        assert_eq!(outward.next(true, 1_024).await, None, "the node needs nothing of it");
        drop(line);
        assert_eq!(outward.next(true, 1_024).await, None);
        assert!(outward.socket.is_none());
    }

    #[tokio::test]
    async fn what_the_node_knows_is_left_out_and_the_rest_goes_there() {
        let (mut line, mut outward) = line(3);
        line.write_all(b"knownew").unwrap();
        assert_eq!(outward.next(true, 1_024).await, Some(b"wnew".to_vec()));
        outward.push(b"said".to_vec());
        while outward.is_waiting() {
            assert_eq!(outward.next(true, 1_024).await, None, "it is written");
        }
        let mut said = [0; 4];
        line.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"said");
        line.set_nonblocking(true).unwrap();
        assert_eq!(line.read(&mut said).unwrap_err().kind(), ErrorKind::WouldBlock, "it hasn't ended");
    }
}
