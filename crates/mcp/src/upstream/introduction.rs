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

/// The same as it stands on the wire: every call has it.
const CLIENT_INFO: &str =
    concat!(r#"{"name":"gristmill","title":"Gristmill","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);

/// What every request of the modern era carries.
pub(crate) fn add_modern_meta(meta: &mut Map<String, Value>, version: &str, can_ask: bool) {
    meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), version.into());
    meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), client_info());
    meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), capabilities(can_ask));
}

/// The same, as members of a JSON object.
pub(crate) fn write_modern_meta(text: &mut String, version: &str, can_ask: bool) {
    let capabilities = match can_ask {
        true => r#"{"elicitation":{"form":{},"url":{}}}"#,
        false => "{}",
    };
    let version = Value::from(version).to_string();
    for part in [
        r#""io.modelcontextprotocol/protocolVersion":"#,
        &version,
        r#","io.modelcontextprotocol/clientInfo":"#,
        CLIENT_INFO,
        r#","io.modelcontextprotocol/clientCapabilities":"#,
        capabilities,
    ] {
        text.push_str(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_the_same_in_a_text_as_in_a_value() {
        for (version, can_ask) in [("2026-07-28", true), ("2026-07-28", false), ("odd \"\\ version\n", true)]
        {
            let mut meta = Map::new();
            add_modern_meta(&mut meta, version, can_ask);
            let mut members = String::new();
            write_modern_meta(&mut members, version, can_ask);
            let written: Value = serde_json::from_str(&format!("{{{members}}}")).unwrap();
            assert_eq!(written, Value::Object(meta), "{version}");
        }
    }
}
