//! HTTP by hand, over any stream: one request, one answer.

use std::io::{BufRead, BufReader, Read, Write};

use serde_json::{Value, json};

use crate::client::{MODERN, modern};

/// What came back.
#[derive(Debug)]
pub struct Response {
    pub status: u16,
    pub session: Option<String>,
    /// What is wanted of whoever is refused.
    pub challenge: Option<String>,
    pub messages: Vec<Value>,
}

impl Response {
    /// The words of a refusal.
    pub fn why(&self) -> &str {
        self.messages[0]["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {self:?}"))
    }
}

/// Posts a message.
pub fn post(mut stream: impl Read + Write, host: &str, headers: &[(&str, &str)], body: &Value) -> Response {
    let body = body.to_string();
    let mut head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    write!(stream, "{head}\r\n{body}").expect("it reads");
    read_response(BufReader::new(stream))
}

/// Runs a program in the modern era, with these headers besides.
pub fn execute(stream: impl Read + Write, host: &str, headers: &[(&str, &str)], code: &str) -> Response {
    let params = modern().params(json!({"name": "execute_code", "arguments": {"code": code}}));
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params});
    let usual =
        [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "execute_code")];
    post(stream, host, &[&usual, headers].concat(), &body)
}

fn read_response(mut stream: BufReader<impl Read>) -> Response {
    let mut line = String::new();
    stream.read_line(&mut line).expect("a status line");
    let status = line.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    let (mut session, mut challenge, mut is_chunked) = (None, None, false);
    loop {
        line.clear();
        stream.read_line(&mut line).expect("a header");
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        match name.to_lowercase().as_str() {
            "mcp-session-id" => session = Some(value.to_owned()),
            "www-authenticate" => challenge = Some(value.to_owned()),
            "transfer-encoding" => is_chunked = value == "chunked",
            _ => {}
        }
    }
    let mut body = Vec::new();
    stream.read_to_end(&mut body).expect("a body that ends");
    let body = if is_chunked { unchunked(&body) } else { body };
    let text = String::from_utf8(body).expect("UTF-8");
    // Events of a stream, or one message alone.
    let lines = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let messages =
        lines.filter_map(|line| serde_json::from_str(line).ok()).filter(Value::is_object).collect();
    Response { status, session, challenge, messages }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|pair| pair == b"\r\n") {
        let size =
            std::str::from_utf8(&body[..end]).ok().and_then(|text| usize::from_str_radix(text, 16).ok());
        let size = size.expect("a chunk's size");
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[end + 2 + size + 2..];
    }
    whole
}
