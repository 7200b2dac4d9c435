//! Our end of a program's line: what its node says goes in, what the gateway says comes out.

use std::future::pending;
use std::io;

use tokio::io::Interest;
use tokio::net::UnixStream;

pub(super) struct Outward {
    /// `None` once the worker has said everything, or the gateway is done with it.
    socket: Option<UnixStream>,
    /// What the gateway hasn't read yet, from `written` on.
    waiting: Vec<u8>,
    written: usize,
    /// So much of what the gateway says the node has already.
    known: usize,
    closes: bool,
}

impl Outward {
    pub fn new(socket: UnixStream, known: usize) -> Self {
        Self { socket: Some(socket), waiting: Vec::new(), written: 0, known, closes: false }
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
                return Some(read).filter(|read| !read.is_empty());
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

    fn close_if_done(&mut self) {
        if self.closes && !self.is_waiting() {
            self.socket = None;
        }
    }
}
