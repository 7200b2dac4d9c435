//! The front of our own server: what carries messages to any `rmcp` handler, over standard input and
//! output and over HTTP.
//!
//! Walls: everything that a client sends is hostile, and bounded in size, depth, number and time
//! before `rmcp` sees it. Who may not call gets no further than the gate. A mistake is
//! answered in words, and the next request works.

mod answers;
mod body;
mod connection;
mod connection_watch;
mod gate;
mod hosts_and_origins;
mod http;
mod http_limits;
mod json_shape;
mod lines;
mod message_check;
mod methods;
mod refusal;
mod sessions;
mod stdio;
mod watched_stream;
mod who;
mod writer;

use std::io;

pub use self::http::{HttpSettings, serve_http};
pub use hosts_and_origins::{default_hosts, default_origins};
pub use http_limits::HttpLimits;
pub use stdio::{LINE_BYTES_MAX, StdioSettings, serve_stdio};

/// Serving could not begin, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// Our output is gone. What was under way was cancelled.
    #[error("the answers cannot be written: {0}")]
    Output(#[source] io::Error),
    /// Nothing was served.
    #[error(
        "`{0}` is not an origin; write it as http://localhost:3000, https://app.example.com or http://localhost:*"
    )]
    Origin(String),
    /// Nothing was served.
    #[error("`{0}` is not a host; write it as example.com or example.com:8770")]
    Host(String),
    /// Nothing was served.
    #[error("tokens are required, and there is no place where they are kept")]
    NoTokens,
}
