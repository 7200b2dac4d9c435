//! Clients of `gristmill serve` for measuring: as little as speaks the protocol, over pipes and over
//! connections that are kept. Each request stands for itself, as in the protocol since 2026-07-28.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use gristmill_gateway::access::TokenText;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

const VERSION: &str = "2026-07-28";

/// More than any of these answers takes; a gateway that hangs must not hang the measuring.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

/// How long a gateway gets to end by itself.
const END_WITHIN: Duration = Duration::from_secs(30);

/// A call of one of the gateway's tools, ready to be sent many times.
#[derive(Clone)]
pub struct Call {
    tool: &'static str,
    params: String,
}

impl Call {
    pub fn new(tool: &'static str, arguments: &Value) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "gristmill bench", "version": "1"},
        });
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        Self { tool, params: params.to_string() }
    }

    fn message(&self, id: u64) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{}}}"#, self.params)
    }
}

/// One client, one request at a time.
pub struct Client {
    link: Link,
    next_id: u64,
}

enum Link {
    /// A gateway of its own.
    Pipes { gateway: Box<Child>, input: ChildStdin, output: BufReader<ChildStdout> },
    /// A connection to a gateway that others use, too.
    Http { stream: BufReader<TcpStream>, address: String, token: TokenText },
}

impl Client {
    /// Starts a gateway and is its only client.
    pub fn over_pipes(mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut gateway = command.spawn()?;
        let (input, output) = (gateway.stdin.take(), gateway.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { bail!("the gateway has no pipes") };
        Ok(Self {
            link: Link::Pipes { gateway: Box::new(gateway), input, output: BufReader::new(output) },
            next_id: 1,
        })
    }

    /// Connects to a gateway.
    pub async fn over_http(address: &str, token: &TokenText) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let link =
            Link::Http { stream: BufReader::new(stream), address: address.to_owned(), token: token.clone() };
        Ok(Self { link, next_id: 1 })
    }

    /// The process of the client's own gateway.
    pub fn gateway_pid(&self) -> Option<u32> {
        match &self.link {
            Link::Pipes { gateway, .. } => gateway.id(),
            Link::Http { .. } => None,
        }
    }

    /// Sends a call and waits for its answer, which must be a success.
    pub async fn call(&mut self, call: &Call) -> anyhow::Result<Duration> {
        let id = self.next_id;
        self.next_id += 1;
        let message = call.message(id);
        let started = Instant::now();
        let answered = match &mut self.link {
            Link::Pipes { input, output, .. } => {
                tokio::time::timeout(ANSWER_WITHIN, over_pipes(input, output, &message, id)).await
            }
            Link::Http { stream, address, token } => {
                let headers = format!("Host: {address}\r\nAuthorization: Bearer {}\r\n", token.reveal());
                let exchange = over_http(stream, &headers, call.tool, &message, id);
                tokio::time::timeout(ANSWER_WITHIN, exchange).await
            }
        };
        answered.map_err(|_| anyhow!("no answer within {} s", ANSWER_WITHIN.as_secs()))??;
        Ok(started.elapsed())
    }

    /// Calls again and again until a moment.
    pub async fn call_until(&mut self, call: &Call, end: Instant) -> anyhow::Result<Vec<Duration>> {
        let mut times = Vec::new();
        while Instant::now() < end {
            times.push(self.call(call).await?);
        }
        Ok(times)
    }

    /// Ends the client's own gateway, as a client does: by closing its input.
    pub async fn close(self) -> anyhow::Result<()> {
        match self.link {
            Link::Pipes { mut gateway, input, .. } => {
                drop(input);
                let ended = tokio::time::timeout(END_WITHIN, gateway.wait()).await;
                ended.map_err(|_| anyhow!("the gateway did not end"))??;
                Ok(())
            }
            Link::Http { .. } => Ok(()),
        }
    }
}

async fn over_pipes(
    input: &mut ChildStdin,
    output: &mut BufReader<ChildStdout>,
    message: &str,
    id: u64,
) -> anyhow::Result<()> {
    input.write_all(format!("{message}\n").as_bytes()).await?;
    input.flush().await?;
    let mut line = String::new();
    loop {
        line.clear();
        if output.read_line(&mut line).await? == 0 {
            bail!("the gateway has ended");
        }
        if is_answer(&line, id)? {
            return Ok(());
        }
    }
}

async fn over_http(
    stream: &mut BufReader<TcpStream>,
    headers: &str,
    tool: &str,
    message: &str,
    id: u64,
) -> anyhow::Result<()> {
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: {VERSION}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Length: {}\r\n\r\n",
        message.len()
    );
    stream.write_all(format!("{head}{message}").as_bytes()).await?;
    stream.flush().await?;
    let body = read_body(stream).await?;
    // One message alone, or the events of a stream.
    for line in body.lines() {
        let text = line.strip_prefix("data:").unwrap_or(line).trim();
        if text.starts_with('{') && is_answer(text, id)? {
            return Ok(());
        }
    }
    bail!("an answer without the request's id: {}", body.chars().take(300).collect::<String>())
}

async fn read_body(stream: &mut BufReader<TcpStream>) -> anyhow::Result<String> {
    let mut line = String::new();
    stream.read_line(&mut line).await?;
    if !line.contains(" 200 ") {
        bail!("the gateway says: {}", line.trim());
    }
    let (mut length, mut is_chunked) = (0_usize, false);
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().context("the length of an answer")?,
            "transfer-encoding" => is_chunked = value.trim() == "chunked",
            _ => {}
        }
    }
    let mut body = Vec::new();
    if !is_chunked {
        body.resize(length, 0);
        stream.read_exact(&mut body).await?;
        return Ok(String::from_utf8(body)?);
    }
    loop {
        line.clear();
        stream.read_line(&mut line).await?;
        let size = usize::from_str_radix(line.trim(), 16).context("the size of a chunk")?;
        let start = body.len();
        body.resize(start + size, 0);
        stream.read_exact(&mut body[start..]).await?;
        line.clear();
        stream.read_line(&mut line).await?;
        if size == 0 {
            return Ok(String::from_utf8(body)?);
        }
    }
}

/// Whether a message is the answer to a request. One that is no success is an error here.
fn is_answer(text: &str, id: u64) -> anyhow::Result<bool> {
    #[derive(Deserialize)]
    struct Message {
        #[serde(default)]
        id: Option<u64>,
        #[serde(default)]
        error: Option<IgnoredAny>,
        #[serde(default)]
        result: Option<Answer>,
    }
    #[derive(Deserialize)]
    struct Answer {
        #[serde(default, rename = "isError")]
        is_error: bool,
    }
    let message: Message = serde_json::from_str(text).context("a message of the gateway")?;
    if message.id != Some(id) {
        return Ok(false);
    }
    match (message.error, message.result) {
        (None, Some(Answer { is_error: false })) => Ok(true),
        _ => bail!("the gateway says: {}", text.chars().take(500).collect::<String>()),
    }
}
