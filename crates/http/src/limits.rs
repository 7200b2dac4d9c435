//! Every limit of the HTTP endpoint, with its reason.

use std::time::Duration;

/// What a client may use up. Each can be changed; nothing is without a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Connections at once: far more than a machine runs programs, far fewer than it has
    /// descriptors. One more is told to come back later.
    pub connections: usize,
    /// Bytes of a request's line and headers. Tokens and a few dozen headers of proxies fit.
    pub header_bytes: usize,
    /// Headers of a request.
    pub headers: usize,
    /// From a request's first byte to the end of its headers, and from the connection to the first
    /// byte: who sends byte by byte does not hold a connection.
    pub header_time: Duration,
    /// Bytes of a body: a program and its context are far smaller.
    pub body_bytes: usize,
    /// From the headers to the end of the body.
    pub body_time: Duration,
    /// Bytes of a refused body that are read past, so that the client sees why it was refused
    /// instead of a broken connection.
    pub discarded_bytes: usize,
    /// A connection on which nothing happens. Longer than the 60 seconds that most proxies keep one.
    pub idle_time: Duration,
    /// A client that does not read what it asked for. Answers wait in bounded buffers meanwhile.
    pub write_time: Duration,
    /// Sessions of clients with a handshake. Each holds a task and small channels.
    pub sessions: usize,
    /// A session that is not used, with no request and no stream of it open.
    pub session_idle_time: Duration,
    /// How often a stream says that it is still there, for proxies that end silent ones.
    pub stream_pulse: Duration,
    /// When a client has closed its side before it was answered: after this, and then again and
    /// again, we look whether anyone is left to answer to.
    pub half_closed_look: Duration,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            header_bytes: 32 * 1024,
            headers: 100,
            header_time: Duration::from_secs(10),
            body_bytes: 4 * 1024 * 1024,
            body_time: Duration::from_secs(30),
            discarded_bytes: 16 * 1024 * 1024,
            idle_time: Duration::from_secs(75),
            write_time: Duration::from_secs(30),
            sessions: 1000,
            session_idle_time: Duration::from_secs(30 * 60),
            stream_pulse: Duration::from_secs(15),
            half_closed_look: Duration::from_millis(200),
        }
    }
}
