//! Connections that another gateway accepted and passes on, and what differs for the requests that come on them.

use std::fmt;
use std::slice;
use std::sync::Arc;

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderValue};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::hosts_and_origins::Allowed;

/// A connection of a client, accepted elsewhere.
pub struct PassedOn {
    /// As a socket: what is written before it is dropped arrives.
    pub stream: Box<dyn ClientBytes>,
    /// The gateway that passes it on, for logs.
    pub from: String,
    /// Names under which that gateway is reached. What isn't one allows nothing.
    pub hosts: Vec<String>,
    /// Web pages that may call that gateway; the same.
    pub origins: Vec<String>,
}

/// Bytes of a client, however they get here.
pub trait ClientBytes: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ClientBytes for T {}

impl fmt::Debug for PassedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream: _, from, hosts, origins } = self;
        f.debug_struct("PassedOn")
            .field("from", from)
            .field("hosts", hosts)
            .field("origins", origins)
            .finish_non_exhaustive()
    }
}

/// That a request came by way of another gateway, whose hosts and origins are allowed beside our own. Each request on
/// such a connection has it among its extensions.
///
/// The check of hosts keeps web pages from reaching a gateway by a name of their own. A gateway that passes on
/// connections doesn't read them, so its names are checked here. They count on connections that it passes on and on no
/// others. And they give it nothing: it is an authenticated member of the cluster and holds the client's socket, so it
/// could as well write another name into the request.
#[derive(Clone)]
pub(crate) struct Elsewhere {
    allowed: Arc<Allowed>,
    own_host: Option<HeaderValue>,
}

impl Elsewhere {
    /// `own_host` is a name of ours. Without this, our own names alone are allowed.
    pub(crate) fn of(passed: &PassedOn, own_host: Option<HeaderValue>) -> Option<Self> {
        let is_host = |host: &&String| Allowed::read(slice::from_ref(*host), &[]).is_ok();
        let is_origin = |origin: &&String| Allowed::read(&[], slice::from_ref(*origin)).is_ok();
        let hosts: Vec<_> = passed.hosts.iter().filter(is_host).cloned().collect();
        let origins: Vec<_> = passed.origins.iter().filter(is_origin).cloned().collect();
        let allowed = Allowed::read(&hosts, &origins).ok()?;
        Some(Self { allowed: Arc::new(allowed), own_host })
    }

    /// What is allowed besides what is allowed to everyone.
    pub(crate) fn allowed(&self) -> &Allowed {
        &self.allowed
    }

    /// For checks behind ours, which know our own names only.
    pub(crate) fn rename(&self, headers: &mut HeaderMap) {
        if let Some(own_host) = &self.own_host {
            headers.insert(HOST, own_host.clone());
        }
        headers.remove(ORIGIN);
    }
}
