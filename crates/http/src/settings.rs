//! How the HTTP server behaves.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::access::AccessTokens;
use gristmill_gateway::ports::AuditLog;
use gristmill_mcp::EndpointSettings;
use tokio_util::sync::CancellationToken;

use crate::authorization::WithoutToken;
use crate::error::HttpError;
use crate::hosts_and_origins::{Allowed, LOOPBACK, default_hosts, default_origins};
use crate::limits::HttpLimits;

#[derive(Clone)]
pub struct HttpSettings {
    /// Names under which it is reached: `example.com`, or `example.com:8770` for one port only.
    pub hosts_allowed: Vec<String>,
    /// Web pages that may call: `https://app.example.com`, or `http://localhost:*` for any port.
    pub origins_allowed: Vec<String>,
    /// Where tokens are checked.
    pub tokens: Option<Arc<AccessTokens>>,
    /// What becomes of a request without one. One that is sent is checked in any case.
    pub without_token: WithoutToken,
    /// Where tokens that are refused are noted.
    pub audit: Option<Arc<dyn AuditLog>>,
    /// What clients may use up.
    pub limits: HttpLimits,
    /// How long requests may go on when we are asked to end.
    pub grace: Duration,
    /// Nothing under way can be answered as it was meant any more: from then on there is no grace, only time for last
    /// words.
    pub cut_short: CancellationToken,
}

impl HttpSettings {
    /// For this address: reached from this machine and by the address itself, called by no page but
    /// its own, and with a token.
    pub fn for_address(address: SocketAddr) -> Self {
        Self {
            hosts_allowed: default_hosts(address),
            origins_allowed: default_origins(address),
            tokens: None,
            without_token: WithoutToken::Refused,
            audit: None,
            limits: HttpLimits::default(),
            grace: Duration::from_secs(30),
            cut_short: CancellationToken::new(),
        }
    }

    /// For a socket that lets only its owner in, who needs no token. No page can reach it.
    pub fn for_owner_socket() -> Self {
        Self {
            hosts_allowed: LOOPBACK.map(str::to_owned).to_vec(),
            origins_allowed: Vec::new(),
            tokens: None,
            without_token: WithoutToken::Owner,
            audit: None,
            limits: HttpLimits::default(),
            grace: Duration::from_secs(30),
            cut_short: CancellationToken::new(),
        }
    }

    /// Whether they can be served with.
    pub fn check(&self) -> Result<(), HttpError> {
        if self.without_token == WithoutToken::Refused && self.tokens.is_none() {
            return Err(HttpError::NoTokens);
        }
        Allowed::read(&self.hosts_allowed, &self.origins_allowed).map(drop)
    }

    /// What the MCP endpoint needs of them.
    pub fn endpoint(&self) -> EndpointSettings {
        EndpointSettings {
            hosts_allowed: self.hosts_allowed.clone(),
            origins_allowed: self.origins_allowed.clone(),
            sessions_max: self.limits.sessions,
            session_idle_time: self.limits.session_idle_time,
            stream_pulse: self.limits.stream_pulse,
            body_bytes_max: self.limits.body_bytes,
        }
    }
}
