//! A conversation over a process's pipes: one message a line.

use std::sync::Arc;

use gristmill_gateway::ports::UpstreamFailure;
use gristmill_gateway::upstream::ServerLog;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;

use super::child::{Line, ServerProcess, Started, next_line};
use super::peer::{Peer, Reply, ReplyError};
use super::wire;

/// Beyond the largest result: the message around it.
const ENVELOPE_BYTES: usize = 64 * 1024;

/// Lines that are no message and go into the log.
const GARBAGE_LINES_MAX: usize = 100;

/// See the module.
pub(crate) struct StdioLink {
    input: Arc<Mutex<Option<ChildStdin>>>,
    peer: Arc<Peer>,
    process: Arc<ServerProcess>,
    reader: tokio::task::JoinHandle<()>,
}

impl StdioLink {
    pub(crate) fn new(
        started: Started,
        peer: Arc<Peer>,
        log: Arc<ServerLog>,
        result_bytes_max: usize,
    ) -> Self {
        let input = Arc::new(Mutex::new(Some(started.input)));
        let process = Arc::new(started.process);
        let reader = Reader {
            output: BufReader::with_capacity(64 * 1024, started.output),
            input: Arc::clone(&input),
            peer: Arc::clone(&peer),
            process: Arc::clone(&process),
            log,
            line_bytes_max: result_bytes_max.saturating_add(ENVELOPE_BYTES),
            garbage: 0,
        };
        let reader = tokio::spawn(reader.run());
        Self { input, peer, process, reader }
    }

    /// Sends one message.
    pub(crate) async fn send(&self, message: String) -> Result<(), UpstreamFailure> {
        write(&self.input, message).await.map_err(|error| {
            UpstreamFailure::Lost(
                self.peer.lost_because().unwrap_or_else(|| format!("it takes no input: {error}")),
            )
        })
    }

    /// Sends one message when there is time, for those who cannot wait.
    pub(crate) fn send_behind(&self, message: String) {
        let input = Arc::clone(&self.input);
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = write(&input, message).await;
            });
        }
    }

    /// Closes its input, waits a moment, then ends it.
    pub(crate) async fn close(&self) {
        *self.input.lock().await = None;
        self.process.end().await;
        self.peer.lose("the connection was closed");
        self.reader.abort();
    }
}

impl Drop for StdioLink {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

async fn write(input: &Mutex<Option<ChildStdin>>, mut message: String) -> std::io::Result<()> {
    message.push('\n');
    let mut input = input.lock().await;
    // Taken out while it is written to: half a message would garble the next one, so whoever gives
    // up in the middle takes the pipe along.
    let mut open = input.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    let outcome = open.write_all(message.as_bytes()).await;
    *input = Some(open);
    outcome
}

struct Reader {
    output: BufReader<ChildStdout>,
    input: Arc<Mutex<Option<ChildStdin>>>,
    peer: Arc<Peer>,
    process: Arc<ServerProcess>,
    log: Arc<ServerLog>,
    line_bytes_max: usize,
    garbage: usize,
}

impl Reader {
    async fn run(mut self) {
        loop {
            match next_line(&mut self.output, self.line_bytes_max).await {
                Ok(Some(Line::Whole(line))) => self.heard(&line).await,
                Ok(Some(Line::TooLong { beginning, end, bytes })) => self.too_long(&beginning, &end, bytes),
                Ok(None) | Err(_) => break,
            }
        }
        let why = self.process.ended().await;
        let said = self.log.last(1).pop().map(|line| format!("; its last words: {line}")).unwrap_or_default();
        self.peer.lose(&format!("{why}{said}"));
    }

    async fn heard(&mut self, line: &[u8]) {
        let Ok(text) = std::str::from_utf8(line) else { return self.not_a_message("bytes that are no text") };
        if text.trim().is_empty() {
            return;
        }
        if let Some(batch) = wire::read_batch(text) {
            for message in batch {
                self.message(message.get()).await;
            }
            return;
        }
        self.message(text).await;
    }

    async fn message(&mut self, text: &str) {
        let Some(incoming) = wire::read(text) else { return self.not_a_message(text) };
        if let Some(answer) = self.peer.heard(incoming) {
            // Not awaited here: a server that does not read must not keep us from reading.
            let input = Arc::clone(&self.input);
            tokio::spawn(async move {
                let _ = write(&input, answer).await;
            });
        }
    }

    /// Some servers print greetings where only messages belong.
    fn not_a_message(&mut self, text: &str) {
        self.garbage += 1;
        if self.garbage <= GARBAGE_LINES_MAX {
            self.log.line(&format!("[on its output, not a message] {text}"));
        }
    }

    fn too_long(&mut self, beginning: &[u8], end: &[u8], bytes: usize) {
        let id = wire::id_of_fragments(&String::from_utf8_lossy(beginning), &String::from_utf8_lossy(end));
        self.log.line(&format!("[a message of {bytes} bytes was too long to be taken]"));
        let reply: Reply = Err(ReplyError::TooLarge);
        if let Some(id) = id {
            self.peer.end(id, reply);
        }
    }
}
