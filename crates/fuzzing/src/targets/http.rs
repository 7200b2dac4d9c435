//! Bytes that a client sends to the HTTP server, which runs as it does in the product, at a socket.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime};

use gristmill_gateway::access::{AccessTokens, Scope};
use gristmill_http::{HttpSettings, OwnerSocket, WithoutToken, serve};
use gristmill_mcp::fuzzing::{Empty, empty_endpoint};
use gristmill_testkit::TestFolder;
use tokio_util::sync::CancellationToken;

use crate::target::{Reached, Target};

pub const TARGET: Target = Target {
    name: "http",
    promise: "whatever is sent, the answers are HTTP and no error of ours, the connection ends, and without the token nothing but /healthz is given away",
    run,
    dictionary: &[
        b"POST /mcp HTTP/1.1\r\n",
        b"GET /mcp HTTP/1.1\r\n",
        b"GET /healthz HTTP/1.1\r\n",
        b"OPTIONS /mcp HTTP/1.1\r\n",
        b"DELETE /mcp HTTP/1.1\r\n",
        b"Host: localhost\r\n",
        b"Origin: http://localhost\r\n",
        b"Authorization: Bearer TOKEN\r\n",
        b"Authorization: Bearer gm_x\r\n",
        b"Content-Type: application/json\r\n",
        b"Accept: application/json, text/event-stream\r\n",
        b"Content-Length: 10\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"Expect: 100-continue\r\n",
        b"Mcp-Session-Id: x\r\n",
        b"MCP-Protocol-Version: 2026-07-28\r\n",
        b"Mcp-Method: tools/list\r\n",
        b"X-Forwarded-For: 127.0.0.1\r\n",
        b"Connection: close\r\n",
        b"\r\n\r\n",
        b"0\r\n\r\n",
        b"ffffffffffffffff\r\n",
    ],
    bytes_max: 2048,
};

/// In an input this stands for the token, which is another in every process.
const TOKEN_MARK: &str = "TOKEN";

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A stream of events has no end; this long it is listened to.
const STREAM_TIME: Duration = Duration::from_millis(20);

struct World {
    _folder: TestFolder,
    socket: PathBuf,
    token: String,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let folder = TestFolder::new("fuzz-http");
    let socket = folder.path().join("socket");
    let tokens = AccessTokens::open(folder.path());
    let issued = tokens.issue("fuzz", Scope::ALL, None, SystemTime::now()).expect("a token");
    let token = issued.text.reveal().to_owned();
    let (path, tokens) = (socket.clone(), Arc::new(tokens));
    let (told, ready) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let shutdown = CancellationToken::new();
            let mut settings = HttpSettings::for_owner_socket();
            // As at a port: who may connect is not who may ask.
            settings.tokens = Some(tokens);
            settings.without_token = WithoutToken::Refused;
            settings.limits.half_closed_look = Duration::from_millis(5);
            let endpoint = empty_endpoint::<Empty>(settings.endpoint(), shutdown.clone());
            let listener = OwnerSocket::bind(&path).expect("a socket");
            told.send(()).expect("someone waits");
            serve(listener, endpoint, Vec::new(), settings, shutdown).await.expect("it serves");
        });
    });
    ready.recv().expect("the server starts");
    World { _folder: folder, socket, token }
});

fn run(bytes: &[u8]) -> Reached {
    let world = &*WORLD;
    let sent = with_token(bytes, &world.token);
    let has_token = sent.windows(world.token.len()).any(|piece| piece == world.token.as_bytes());
    let answers = exchange(world, &sent);
    let statuses = read_answers(&answers.bytes, answers.is_stream);
    for (status, body) in &statuses {
        assert!(
            *status < 500 || *status == 501 || *status == 505,
            "{status}: {}",
            String::from_utf8_lossy(body)
        );
        let is_health = body.starts_with(b"{\"status\":\"ok\"") || body.is_empty();
        assert!(has_token || *status >= 400 || *status < 200 || is_health, "{status} without a token");
    }
    let statuses: Vec<u16> = statuses.iter().map(|(status, _)| *status).take(3).collect();
    Reached::of((statuses, answers.is_stream, has_token))
}

fn with_token(bytes: &[u8], token: &str) -> Vec<u8> {
    let mark = TOKEN_MARK.as_bytes();
    match bytes.windows(mark.len()).position(|piece| piece == mark) {
        Some(at) => [&bytes[..at], token.as_bytes(), &bytes[at + mark.len()..]].concat(),
        None => bytes.to_vec(),
    }
}

struct Answers {
    bytes: Vec<u8>,
    is_stream: bool,
}

/// Sends everything, closes its side, and reads to the end.
fn exchange(world: &World, sent: &[u8]) -> Answers {
    let mut stream = UnixStream::connect(&world.socket).expect("the server is there");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time to wait");
    // The server may have closed already.
    let _ = stream.write_all(sent);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answers = Answers { bytes: Vec::new(), is_stream: false };
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return answers,
            Ok(count) => answers.bytes.extend_from_slice(&piece[..count]),
            // The fuzzer's own clock rings now and then.
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return answers,
            Err(_) if answers.is_stream => return answers,
            Err(error) => panic!("the connection doesn't end: {error}"),
        }
        let is_stream = b"text/event-stream";
        if answers.bytes.windows(is_stream.len()).any(|it| it.eq_ignore_ascii_case(is_stream)) {
            answers.is_stream = true;
            stream.set_read_timeout(Some(STREAM_TIME)).expect("a time to wait");
        }
    }
}

/// The status and the body of each answer.
fn read_answers(mut bytes: &[u8], is_stream: bool) -> Vec<(u16, Vec<u8>)> {
    let mut answers = Vec::new();
    while !bytes.is_empty() {
        let end = bytes.windows(4).position(|it| it == b"\r\n\r\n").expect("an answer has a head");
        let head = std::str::from_utf8(&bytes[..end]).expect("a head is text");
        let status = head.strip_prefix("HTTP/1.").and_then(|it| it.get(2..5)).and_then(|it| it.parse().ok());
        let status: u16 = status.unwrap_or_else(|| panic!("no status: {head}"));
        bytes = &bytes[end + 4..];
        let header = |name: &str| {
            head.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.eq_ignore_ascii_case(name))
        };
        let length = header("content-length").map(|(_, value)| value.trim().parse().expect("a length"));
        let is_chunked = header("transfer-encoding").is_some();
        let length = match length {
            // An answer to HEAD says how long it would be.
            Some(length) if bytes.len() >= length && !bytes.starts_with(b"HTTP/1.") => length,
            _ if is_chunked || is_stream => bytes.len(),
            _ => 0,
        };
        let (body, rest) = bytes.split_at(length);
        answers.push((status, body.to_vec()));
        bytes = rest;
    }
    answers
}
