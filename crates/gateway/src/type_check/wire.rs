//! Messages to and from a language server, as bytes. What it says is bounded like anything from outside.

use std::io;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt};

/// A message; errors of one program are far smaller.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
const HEADER_BYTES_MAX: usize = 1024;
const HEADERS_MAX: usize = 8;

/// What is read of one message.
#[derive(Deserialize)]
pub(super) struct Message<'a> {
    #[serde(default, borrow)]
    pub id: Option<&'a RawValue>,
    #[serde(default)]
    pub method: Option<String>,
    #[serde(default, borrow)]
    pub params: Option<&'a RawValue>,
    #[serde(default, borrow)]
    pub result: Option<&'a RawValue>,
}

/// An answer to a question about a document.
#[derive(Default, Deserialize)]
pub(super) struct Diagnostics {
    #[serde(default)]
    pub items: Vec<Diagnostic>,
}

#[derive(Deserialize)]
pub(super) struct Diagnostic {
    pub range: Range,
    /// 1 is an error; more are hints.
    #[serde(default)]
    pub severity: u32,
    #[serde(default)]
    pub code: Value,
    #[serde(default)]
    pub message: String,
}

#[derive(Deserialize)]
pub(super) struct Range {
    pub start: Position,
    pub end: Position,
}

#[derive(Deserialize)]
pub(super) struct Position {
    pub line: usize,
    pub character: usize,
}

pub(super) fn request(id: u64, method: &str, params: &Value) -> Vec<u8> {
    framed(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

pub(super) fn notification(method: &str, params: &Value) -> Vec<u8> {
    framed(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// The answer to a question of the server's: it has nothing to learn from us.
pub(super) fn no_answer(message: &Message<'_>) -> Option<Vec<u8>> {
    let id: Value = serde_json::from_str(message.id?.get()).ok()?;
    let result = match message.method.as_deref()? {
        "workspace/configuration" => {
            let params: Value = serde_json::from_str(message.params?.get()).ok()?;
            let asked = params["items"].as_array().map_or(0, Vec::len);
            Value::Array(vec![Value::Null; asked.min(64)])
        }
        _ => Value::Null,
    };
    Some(framed(&json!({"jsonrpc": "2.0", "id": id, "result": result})))
}

fn framed(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    let mut bytes = format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body.as_bytes());
    bytes
}

/// The next message; an error if there is none or it isn't one.
pub(super) async fn read_message(from: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut length = None;
    for _ in 0..HEADERS_MAX {
        let mut line = Vec::new();
        let limit = HEADER_BYTES_MAX as u64;
        if (&mut *from).take(limit).read_until(b'\n', &mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = std::str::from_utf8(&line).map_err(|_| wrong("a header that isn't text"))?;
        let Some(line) = line.strip_suffix('\n') else { return Err(wrong("a header without an end")) };
        if line.trim_end().is_empty() {
            let length = length.ok_or_else(|| wrong("a message without a length"))?;
            let mut body = vec![0; length];
            from.read_exact(&mut body).await?;
            return Ok(body);
        }
        let Some((name, value)) = line.split_once(':') else { return Err(wrong("no header")) };
        if name.trim().eq_ignore_ascii_case("content-length") {
            let bytes: usize = value.trim().parse().map_err(|_| wrong("a length that isn't a number"))?;
            if bytes > MESSAGE_BYTES_MAX {
                return Err(wrong("a message that is too long"));
            }
            length = Some(bytes);
        }
    }
    Err(wrong("too many headers"))
}

/// Reads what nobody needs, so that nobody waits for it to be read.
pub(super) async fn drain(mut from: impl AsyncRead + Unpin) {
    let mut bytes = [0; 4096];
    while matches!(from.read(&mut bytes).await, Ok(count) if count > 0) {}
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> Result<String, String> {
        let read = read_message(&mut tokio::io::BufReader::new(bytes)).await;
        read.map(|body| String::from_utf8_lossy(&body).into_owned()).map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_message_is_read_whatever_its_headers_look_like() {
        assert_eq!(read(b"Content-Length: 2\r\n\r\n{}").await, Ok("{}".to_owned()));
        assert_eq!(read(b"content-type: x\ncontent-length:2\n\n{}").await, Ok("{}".to_owned()));
    }

    #[tokio::test]
    async fn what_is_no_message_is_an_error_and_never_much_memory() {
        let endless = [b'x'; 5000];
        for bytes in [
            &b"Content-Length: 99999999999\r\n\r\n"[..],
            b"Content-Length: -1\r\n\r\n",
            b"\r\n\r\n",
            b"garbage\n",
            b"Content-Length: 10\r\n\r\n{}",
            &endless,
        ] {
            assert!(read(bytes).await.is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn every_question_of_the_server_has_an_answer() {
        let asked = r#"{"id":"ts1","method":"workspace/configuration","params":{"items":[{},{}]}}"#;
        let message: Message<'_> = serde_json::from_str(asked).expect("a message");
        let answer = String::from_utf8(no_answer(&message).expect("an answer")).expect("text");
        assert!(answer.ends_with(r#"{"jsonrpc":"2.0","id":"ts1","result":[null,null]}"#), "{answer}");
        let told: Message<'_> = serde_json::from_str(r#"{"method":"window/logMessage"}"#).expect("a message");
        assert!(no_answer(&told).is_none());
    }
}
