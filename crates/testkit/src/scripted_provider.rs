//! A provider of language models on the loopback address, which follows a script: one step for each request.
//!
//! It runs on threads of its own, so that tests of the binary can have it as well as those of async code.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::ModelDialect;

/// Of a request's body; more is a mistake of the test.
const BODY_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// A test that waits longer has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is done about one request.
#[derive(Clone, Debug)]
pub enum Step {
    /// Writes this text, in pieces of a few characters, and says that it took 11 tokens and gave 7.
    Says(String),
    /// An answer that is none: its status, its headers, its body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// Writes this text and ends the stream without the closing event.
    Half(String),
    /// Writes this text and cuts the connection in the middle of the body.
    Broken(String),
    /// These pieces of a stream as they stand, each by itself, then its end.
    Pieces(Vec<Vec<u8>>),
    /// This piece of a stream, again and again until the client leaves.
    Endless(Vec<u8>),
    /// Begins the stream with this text and says nothing more until the client leaves.
    Stalls(String),
    /// Says nothing at all until the client leaves.
    Silent,
    /// Cuts the connection without an answer.
    Cut,
}

impl Step {
    pub fn says(text: &str) -> Self {
        Self::Says(text.to_owned())
    }

    /// An error as OpenAI writes it.
    pub fn error(status: u16, code: &str, message: &str) -> Self {
        let error = serde_json::json!({ "message": message, "type": code, "code": code });
        Self::Status(status, Vec::new(), serde_json::json!({ "error": error }).to_string())
    }
}

/// A request, as it arrived.
#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    /// By names in lower case.
    pub headers: HashMap<String, String>,
    /// Null if it is not JSON.
    pub body: Value,
}

impl Asked {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }
}

/// See the module. It ends when it is dropped.
pub struct ScriptedProvider {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    dialect: ModelDialect,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    steps: VecDeque<Step>,
    asked: Vec<Asked>,
    /// Clients that went before their answer was over.
    left: usize,
    is_over: bool,
}

impl ScriptedProvider {
    /// Requests beyond the script are answered with 500.
    pub fn start(dialect: ModelDialect, steps: Vec<Step>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let state = State { steps: steps.into(), ..State::default() };
        let shared = Arc::new(Shared { dialect, state: Mutex::new(state), changed: Condvar::new() });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                if serving.state().is_over {
                    return;
                }
                let serving = Arc::clone(&serving);
                // A client that leaves ends its connection, and nothing else.
                thread::spawn(move || drop(serving.serve(stream)));
            }
        });
        Self { address, shared }
    }

    /// Such as `http://127.0.0.1:4000`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every request so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.state().asked.clone()
    }

    /// Returns once so many requests have arrived.
    pub fn wait_for_asked(&self, count: usize) {
        self.shared.wait("requests", |state| state.asked.len() >= count);
    }

    /// Returns once so many clients have gone before their answer was over.
    pub fn wait_for_left(&self, count: usize) {
        self.shared.wait("clients that leave", |state| state.left >= count);
    }
}

impl Drop for ScriptedProvider {
    fn drop(&mut self) {
        self.shared.state().is_over = true;
        // Wakes whoever accepts.
        drop(TcpStream::connect(self.address));
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, what: &str, is_so: impl Fn(&State) -> bool) {
        let waited = self.changed.wait_timeout_while(self.state(), PATIENCE, |state| !is_so(state));
        let (_guard, result) = waited.unwrap_or_else(PoisonError::into_inner);
        assert!(!result.timed_out(), "waited in vain for {what}");
    }

    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let asked = read_request(&stream)?;
        let step = {
            let mut state = self.state();
            state.asked.push(asked);
            self.changed.notify_all();
            state.steps.pop_front()
        };
        let step = step.unwrap_or_else(|| Step::error(500, "server_error", "the script is over"));
        self.act(step, &stream)
    }

    fn act(&self, step: Step, stream: &TcpStream) -> io::Result<()> {
        let dialect = self.dialect;
        match step {
            Step::Says(text) => {
                begin(stream)?;
                send(stream, dialect.opening(11).as_bytes())?;
                for piece in pieces(&text) {
                    send(stream, dialect.piece(piece).as_bytes())?;
                }
                send(stream, dialect.closing(11, 7).as_bytes())?;
                end(stream)
            }
            Step::Status(status, headers, body) => {
                let headers: String =
                    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let length = body.len();
                let head = format!(
                    "HTTP/1.1 {status} Scripted\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n"
                );
                let mut stream = stream;
                stream.write_all(head.as_bytes())?;
                stream.write_all(body.as_bytes())
            }
            Step::Half(text) => {
                self.say_beginning(&text, stream)?;
                end(stream)
            }
            Step::Broken(text) => {
                self.say_beginning(&text, stream)?;
                stream.shutdown(Shutdown::Both)
            }
            Step::Pieces(pieces) => {
                begin(stream)?;
                for piece in pieces {
                    send(stream, &piece)?;
                }
                end(stream)
            }
            Step::Endless(piece) => {
                begin(stream)?;
                while send(stream, &piece).is_ok() {}
                self.note_left();
                Ok(())
            }
            Step::Stalls(text) => {
                // A client that is gone already has left, too.
                let _ = self.say_beginning(&text, stream);
                self.wait_until_left(stream)
            }
            Step::Silent => self.wait_until_left(stream),
            Step::Cut => stream.shutdown(Shutdown::Both),
        }
    }

    fn say_beginning(&self, text: &str, stream: &TcpStream) -> io::Result<()> {
        begin(stream)?;
        send(stream, self.dialect.opening(11).as_bytes())?;
        send(stream, self.dialect.piece(text).as_bytes())
    }

    /// A client that leaves closes its side, which reads as the end.
    fn wait_until_left(&self, mut stream: &TcpStream) -> io::Result<()> {
        let mut byte = [0];
        // An error is an end as well.
        let _ = stream.read(&mut byte);
        self.note_left();
        Ok(())
    }

    fn note_left(&self) {
        self.state().left += 1;
        self.changed.notify_all();
    }
}

fn read_request(stream: &TcpStream) -> io::Result<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse::<u64>().ok()).unwrap_or(0);
    let mut body = Vec::new();
    reader.take(length.min(BODY_BYTES_MAX)).read_to_end(&mut body)?;
    Ok(Asked { path, headers, body: serde_json::from_slice(&body).unwrap_or_default() })
}

/// The head of a stream. Its body is in chunks, so that each piece arrives by itself.
fn begin(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )
}

fn send(mut stream: &TcpStream, piece: &[u8]) -> io::Result<()> {
    if piece.is_empty() {
        return Ok(());
    }
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk)
}

fn end(mut stream: &TcpStream) -> io::Result<()> {
    stream.write_all(b"0\r\n\r\n")
}

/// A text in pieces of a few characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(5.min(rest.len())));
        pieces.push(piece);
        rest = after;
    }
    pieces
}
