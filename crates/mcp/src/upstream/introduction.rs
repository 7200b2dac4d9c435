//! How we introduce ourselves: once in a handshake, and with every request of the modern era.

use serde_json::{Map, Value, json};

/// Who we are, for servers of either era.
pub(crate) fn client_info() -> Value {
    json!({ "name": "gristmill", "title": "Gristmill", "version": env!("CARGO_PKG_VERSION") })
}

/// What a server may ask of us.
pub(crate) fn capabilities(can_ask: bool) -> Value {
    match can_ask {
        true => json!({ "elicitation": { "form": {}, "url": {} } }),
        false => json!({}),
    }
}

/// What every request of the modern era carries.
pub(crate) fn add_modern_meta(meta: &mut Map<String, Value>, version: &str, can_ask: bool) {
    meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), version.into());
    meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), client_info());
    meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), capabilities(can_ask));
}
