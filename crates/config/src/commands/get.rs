//! `gristmill get NAME`: what is configured about one server, and where.

use serde_json::Value as Json;

use crate::problem::closest;
use crate::{Config, ConfiguredServer};

/// There is no such server.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("no server `{name}`{}; `gristmill list` shows your servers", near(.nearest))]
pub struct UnknownServer {
    /// As it was asked for.
    pub name: String,
    /// The closest there is.
    pub nearest: Option<String>,
}

fn near(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// The server, or the closest name.
pub fn find<'a>(config: &'a Config, name: &str) -> Result<&'a ConfiguredServer, UnknownServer> {
    config.server(name).ok_or_else(|| {
        let names: Vec<&str> = config.servers.iter().map(|server| server.settings.name.as_str()).collect();
        UnknownServer { name: name.to_owned(), nearest: closest(name, &names) }
    })
}

/// As TOML, with its origin as a comment.
pub fn as_text(config: &Config, name: &str) -> Result<String, UnknownServer> {
    find(config, name).map(super::show::server_as_toml)
}

/// The same for machines.
pub fn as_json(config: &Config, name: &str) -> Result<Json, UnknownServer> {
    find(config, name).map(super::show::server_as_json)
}
