//! A client that can do everything wrong: HTTP by hand.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::handler::PATIENCE;
use crate::messages::{VERSION, modern_body};

pub struct Client {
    stream: TcpStream,
    address: SocketAddr,
    unread: Vec<u8>,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body, or the last event of a stream.
    pub fn json(&self) -> Value {
        let text = match self.header("content-type") {
            Some("text/event-stream") => {
                let last = self.body.lines().filter_map(|line| line.strip_prefix("data:")).next_back();
                last.unwrap_or_else(|| panic!("{self:?}"))
            }
            _ => &self.body,
        };
        serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Status, code and words of an error.
    pub fn error(&self) -> (u16, i64, String) {
        let json = self.json();
        let words = json["error"]["message"].as_str().unwrap_or_else(|| panic!("no error: {self:?}"));
        (self.status, json["error"]["code"].as_i64().expect("a code"), words.to_owned())
    }
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("it listens");
        Self { stream, address, unread: Vec::new() }
    }

    /// The head of a POST to `/mcp`, with these headers besides the usual ones.
    pub fn head(&self, headers: &[(&str, &str)]) -> String {
        let mut head = "POST /mcp HTTP/1.1\r\n".to_owned();
        let usual = [
            ("Host", self.address.to_string()),
            ("Content-Type", "application/json".to_owned()),
            ("Accept", "application/json, text/event-stream".to_owned()),
        ];
        for (name, value) in usual {
            if !headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                head += &format!("{name}: {value}\r\n");
            }
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head
    }

    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.expect("it reads");
    }

    /// Sends without minding whether anyone reads it.
    pub async fn try_send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    pub async fn close_write(&mut self) {
        self.stream.shutdown().await.expect("it was open");
    }

    /// A whole POST.
    pub async fn post(&mut self, headers: &[(&str, &str)], body: &str) -> Answer {
        self.send_post(headers, body).await;
        self.answer().await
    }

    pub async fn send_post(&mut self, headers: &[(&str, &str)], body: &str) {
        let head = self.head(headers);
        self.send(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())).await;
    }

    /// A request without a body.
    pub async fn request(&mut self, line: &str, headers: &[(&str, &str)]) -> Answer {
        self.send_request(line, headers).await;
        self.answer_to(line.starts_with("HEAD")).await
    }

    pub async fn send_request(&mut self, line: &str, headers: &[(&str, &str)]) {
        let mut head = format!("{line} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        self.send(format!("{head}\r\n")).await;
    }

    /// A request of the version without a handshake.
    pub async fn modern(&mut self, method: &str, params: Value) -> Answer {
        self.send_modern(method, params).await;
        self.answer().await
    }

    pub async fn send_modern(&mut self, method: &str, params: Value) {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let body = modern_body(method, params);
        let mut headers = modern_headers(method);
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        self.send_post(&headers, &body).await;
    }

    pub async fn answer(&mut self) -> Answer {
        self.answer_to(false).await
    }

    async fn answer_to(&mut self, is_head: bool) -> Answer {
        loop {
            let answer = self.read_head().await;
            if answer.status < 200 {
                continue;
            }
            return self.read_body(answer, is_head).await;
        }
    }

    /// Only the head: the body is a stream that goes on.
    pub async fn head_of_answer(&mut self) -> Answer {
        self.read_head().await
    }

    /// When the other side has closed: what it had said until then.
    pub async fn closed(&mut self) -> String {
        while self.more().await {}
        String::from_utf8_lossy(&std::mem::take(&mut self.unread)).into_owned()
    }

    async fn more(&mut self) -> bool {
        let mut buffer = vec![0; 64 * 1024];
        let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut buffer)).await;
        match read.expect("something comes, or it closes") {
            Ok(0) | Err(_) => false,
            Ok(count) => {
                self.unread.extend_from_slice(&buffer[..count]);
                true
            }
        }
    }

    async fn read_head(&mut self) -> Answer {
        let end = loop {
            if let Some(end) = find(&self.unread, b"\r\n\r\n") {
                break end;
            }
            let more = self.more().await;
            assert!(more, "closed: {}", String::from_utf8_lossy(&self.unread));
        };
        let head = String::from_utf8(self.unread.drain(..end + 4).collect()).expect("text");
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok()).expect("a status");
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        };
        Answer { status, headers: lines.filter_map(header).collect(), body: String::new() }
    }

    async fn read_body(&mut self, mut answer: Answer, is_head: bool) -> Answer {
        let length = answer.header("content-length").map(|length| length.parse::<usize>().expect("a number"));
        if is_head || answer.status == 204 {
            return answer;
        }
        let body = match length {
            Some(length) => self.take(length).await,
            None if answer.header("transfer-encoding") == Some("chunked") => self.take_chunks().await,
            None => Vec::new(),
        };
        answer.body = String::from_utf8(body).expect("text");
        answer
    }

    async fn take(&mut self, length: usize) -> Vec<u8> {
        while self.unread.len() < length {
            let more = self.more().await;
            assert!(more, "closed: {}", String::from_utf8_lossy(&self.unread));
        }
        self.unread.drain(..length).collect()
    }

    async fn take_chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let end = loop {
                if let Some(end) = find(&self.unread, b"\r\n") {
                    break end;
                }
                let more = self.more().await;
                assert!(more, "closed inside of chunks: {}", String::from_utf8_lossy(&body));
            };
            let size = String::from_utf8(self.take(end + 2).await).expect("text");
            let size = usize::from_str_radix(size.trim(), 16).expect("a size");
            let chunk = self.take(size + 2).await;
            if size == 0 {
                return body;
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

pub fn modern_headers(method: &str) -> Vec<(&str, &str)> {
    vec![("MCP-Protocol-Version", VERSION), ("Mcp-Method", method)]
}
