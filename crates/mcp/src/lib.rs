//! The Model Context Protocol, from both sides: the servers that we call, and those that we are.
//!
//! Walls: the only crate that names `rmcp`. What a server says is hostile: capped before it is
//! parsed, never trusted. Secrets are resolved here, at the moment they are used, and are in no
//! message, log or error.
#![forbid(unsafe_code)]

pub mod addresses;
pub mod direct;
pub mod front;
pub mod http_client;
pub mod oauth;
pub mod secret;
mod secrets;
mod serve;
mod upstream;

pub use secrets::{SecretContext, SecretError};
pub use serve::{ServedAnswer, ServedInfo, ServedTools, serve_stdio};
pub use upstream::{KeeperCommand, LoginFailure, McpConnector};
pub use url::Url;
