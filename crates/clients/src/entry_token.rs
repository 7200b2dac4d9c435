//! The access token in our entry of a client: as a reference to a variable, or as it is.

use std::fmt;
use std::net::IpAddr;

use gristmill_config::tree::{Node, Value};
use serde_json::Value as Json;

use super::known::Client;

/// Where a client looks for the token if the entry only names it.
pub const TOKEN_VARIABLE: &str = "GRISTMILL_TOKEN";

/// What clients call their headers.
const HEADERS: [&str; 2] = ["headers", "http_headers"];
/// Codex names the variable with the token alone.
const CODEX_VARIABLE: &str = "bearer_token_env_var";
const AUTHORIZATION: &str = "Authorization";

/// How the client gets the token that it sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryToken {
    /// From [`TOKEN_VARIABLE`] in its environment.
    Variable,
    /// From the entry. The file must be private.
    Text(TokenValue),
}

/// A token as it is sent. `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct TokenValue(pub String);

impl fmt::Debug for TokenValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenValue(…)")
    }
}

/// The key of an entry that makes this client send the token, and its value.
pub fn field(client: Client, token: &EntryToken) -> (String, Node) {
    let header = match (client, token) {
        (Client::Codex, EntryToken::Variable) => {
            return (CODEX_VARIABLE.to_owned(), Node::text(TOKEN_VARIABLE));
        }
        (_, EntryToken::Text(TokenValue(token))) => format!("Bearer {token}"),
        (Client::Gemini, EntryToken::Variable) => format!("Bearer ${TOKEN_VARIABLE}"),
        (Client::ClaudeCode | Client::ClaudeDesktop, EntryToken::Variable) => {
            format!("Bearer ${{{TOKEN_VARIABLE}}}")
        }
        (Client::Cursor | Client::Vscode | Client::Windsurf, EntryToken::Variable) => {
            format!("Bearer ${{env:{TOKEN_VARIABLE}}}")
        }
    };
    let key = if client == Client::Codex { "http_headers" } else { "headers" };
    (key.to_owned(), Node::map(vec![(AUTHORIZATION.to_owned(), Node::text(header))]))
}

/// Whether a key of an entry is about the token.
pub fn is_token_key(key: &str) -> bool {
    HEADERS.contains(&key) || key == CODEX_VARIABLE
}

/// What an entry says about its token: the header's value, or the name of Codex's variable.
pub fn said_in(entry: &Node) -> Option<String> {
    said_in_json(&entry.to_json())
}

fn said_in_json(entry: &Json) -> Option<String> {
    let in_headers = HEADERS.iter().find_map(|key| {
        let headers = entry.get(*key)?.as_object()?;
        let header = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION))?;
        Some(header.1.as_str()?.to_owned())
    });
    in_headers.or_else(|| Some(entry.get(CODEX_VARIABLE)?.as_str()?.to_owned()))
}

/// Whether the token in an entry is somebody's own, and not the one that we wrote there.
pub fn is_someones_own(current: &Node, written: Option<&Json>) -> bool {
    let said = said_in(current);
    said.is_some() && said != written.and_then(said_in_json)
}

/// Headers with our token in them, and whatever else was in them.
pub fn joined(current: &Node, ours: &Node) -> Node {
    let (Value::Map(_), Value::Map(_)) = (&current.value, &ours.value) else { return ours.clone() };
    let others = current.entries().iter().filter(|entry| !entry.key.eq_ignore_ascii_case(AUTHORIZATION));
    let all = others.chain(ours.entries()).map(|entry| (entry.key.clone(), entry.node.clone()));
    Node::map(all.collect())
}

/// Whether an address leads to this machine for certain, by its number or as `localhost`.
pub fn is_this_machine(url: &str) -> bool {
    let Some(after) = url.strip_prefix("http://") else { return false };
    let authority = after.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    if authority.contains('@') {
        return false;
    }
    let name = match authority.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_addresses_of_this_machine_get_its_token() {
        for url in
            ["http://127.0.0.1:8770/mcp", "http://localhost/mcp", "http://[::1]:80/", "http://127.1.2.3"]
        {
            assert!(is_this_machine(url), "{url}");
        }
        for url in [
            "https://tools.example.com/mcp",
            "http://127.0.0.1.example.com/mcp",
            "http://localhost.example.com",
            "http://localhost@example.com/",
            "http://user:x@127.0.0.1/",
            "http://10.0.0.1:8770/mcp",
            "ftp://127.0.0.1/",
            "http://",
            "",
        ] {
            assert!(!is_this_machine(url), "{url}");
        }
    }

    #[test]
    fn each_client_gets_a_reference_in_its_own_words() {
        let check = |client, expected: Json| {
            let (key, node) = field(client, &EntryToken::Variable);
            assert_eq!(json!({ key: node.to_json() }), expected, "{client}");
        };
        let header = |text: &str| json!({ "headers": { "Authorization": text } });
        check(Client::ClaudeCode, header("Bearer ${GRISTMILL_TOKEN}"));
        check(Client::Cursor, header("Bearer ${env:GRISTMILL_TOKEN}"));
        check(Client::Vscode, header("Bearer ${env:GRISTMILL_TOKEN}"));
        check(Client::Windsurf, header("Bearer ${env:GRISTMILL_TOKEN}"));
        check(Client::Gemini, header("Bearer $GRISTMILL_TOKEN"));
        check(Client::Codex, json!({ "bearer_token_env_var": "GRISTMILL_TOKEN" }));
    }

    #[test]
    fn a_token_is_never_printed_for_debugging() {
        let token = EntryToken::Text(TokenValue("gmt_secret".to_owned()));
        assert_eq!(format!("{token:?}"), "Text(TokenValue(…))");
    }
}
