//! Gristmill over HTTP: one listener, one router, and what is mounted on it.
//!
//! Walls: everything that a client sends is hostile, and bounded in size, number and time before
//! anything mounted here sees it. A host, an origin or a token that is not allowed gets no further than
//! its check. A mistake is answered in words, and the next request works.
//!
//! A request goes through `connection` (bounds beneath HTTP), `cors` (host, origin), `site` (which
//! router) and `authorization` (token, scope), and then to what is mounted.
#![forbid(unsafe_code)]

mod answers;
mod approval_pages;
mod authorization;
mod connection;
mod cors;
mod dashboard;
mod error;
mod hosts_and_origins;
mod limits;
mod listener;
mod mcp;
mod metrics;
mod owner_socket;
mod server;
mod settings;
mod site;

/// What a log's filter calls this.
const LOG_AREA: &str = "gristmill::http";

pub use approval_pages::approval_pages;
pub use authorization::{Access, WithoutToken};
pub use connection::{ClientBytes, PassedOn};
pub use dashboard::{DASHBOARD_LINK_PATH, DashboardParts, dashboard};
pub use error::HttpError;
pub use hosts_and_origins::{default_hosts, default_origins};
pub use limits::HttpLimits;
pub use listener::{Entrance, Listener};
pub use metrics::metrics;
pub use owner_socket::{OwnerSocket, SocketError};
pub use server::serve;
pub use settings::HttpSettings;
pub use site::Mount;
