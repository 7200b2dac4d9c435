//! A conversation over a process's pipes: one message a line.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::upstream::{ServerLog, UpstreamFailure};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore};

use super::child::{Line, ServerProcess, Started, next_line};
use super::peer::{Heard, Peer, Reply, ReplyError};
use super::redact::Redactor;
use super::wire;

/// Beyond the largest result: the message around it.
const ENVELOPE_BYTES: usize = 64 * 1024;

/// Lines that are no message and go into the log.
const GARBAGE_LINES_MAX: usize = 100;

/// Answers to a server's own requests that wait to be sent.
const ANSWERS_MAX: usize = 64;

/// What a server that has ended wrote last is there by then.
const LAST_LINES_WAIT: Duration = Duration::from_millis(200);

/// A server that no longer takes input has usually ended, which is noticed by then.
const LAST_NEWS_WAIT: Duration = Duration::from_secs(3);

/// How long to wait for the input, to close it.
const INPUT_WAIT: Duration = Duration::from_millis(500);

/// How long a server may take to read the rest of a message that nobody waits for.
const REST_WAIT: Duration = Duration::from_secs(5);

pub(crate) struct StdioLink {
    input: Input,
    peer: Arc<Peer>,
    process: Arc<ServerProcess>,
    reader: tokio::task::JoinHandle<()>,
}

impl StdioLink {
    pub(crate) fn new(
        started: Started,
        peer: Arc<Peer>,
        log: Arc<ServerLog>,
        redactor: Redactor,
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
            redactor,
            line_bytes_max: result_bytes_max.saturating_add(ENVELOPE_BYTES),
            garbage: 0,
            answers: Arc::new(Semaphore::new(ANSWERS_MAX)),
        };
        let reader = tokio::spawn(reader.run());
        Self { input, peer, process, reader }
    }

    pub(crate) async fn send(&self, message: String) -> Result<(), UpstreamFailure> {
        let Err(error) = write(&self.input, &self.peer, message).await else { return Ok(()) };
        // A server that crashes closes its input first: its exit code and last words, which say more,
        // are on their way. A message without its end is none to the server: nothing was sent.
        let why = tokio::time::timeout(LAST_NEWS_WAIT, self.peer.gone()).await;
        Err(UpstreamFailure::Down(why.unwrap_or_else(|_| format!("it doesn't accept input: {error}"))))
    }

    /// Sends one message when there is time, for those who cannot wait.
    pub(crate) fn send_behind(&self, message: String) {
        let (input, peer) = (Arc::clone(&self.input), Arc::clone(&self.peer));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = write(&input, &peer, message).await;
            });
        }
    }

    /// Closes its input, waits a moment, then ends it.
    pub(crate) async fn close(&self) {
        // Whoever still writes to a server that does not read is not waited for.
        if let Ok(mut input) = tokio::time::timeout(INPUT_WAIT, self.input.lock()).await {
            *input = None;
        }
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

type Input = Arc<Mutex<Option<ChildStdin>>>;

async fn write(input: &Input, peer: &Arc<Peer>, mut message: String) -> std::io::Result<()> {
    message.push('\n');
    let mut place = Arc::clone(input).lock_owned().await;
    let open = place.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
    let mut writing =
        Writing { message: message.into_bytes(), written: 0, peer: Arc::clone(peer), pipe: None };
    let outcome = writing.pipe.insert((place, open)).1.go_on(&writing.message, &mut writing.written).await;
    writing.put_back();
    outcome
}

/// A message on its way. Half a message would garble the next one: if whoever sends it gives up in
/// the middle, the rest is sent behind, and a server that does not take it is given up.
struct Writing {
    message: Vec<u8>,
    written: usize,
    peer: Arc<Peer>,
    pipe: Option<(OwnedMutexGuard<Option<ChildStdin>>, ChildStdin)>,
}

impl Writing {
    fn put_back(&mut self) {
        if let Some((mut place, open)) = self.pipe.take() {
            *place = Some(open);
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        if self.written == 0 || self.written == self.message.len() {
            return self.put_back();
        }
        let (Some((mut place, mut open)), Ok(runtime)) =
            (self.pipe.take(), tokio::runtime::Handle::try_current())
        else {
            return;
        };
        let (message, mut written, peer) =
            (std::mem::take(&mut self.message), self.written, Arc::clone(&self.peer));
        runtime.spawn(async move {
            let rest = open.go_on(&message, &mut written);
            match tokio::time::timeout(REST_WAIT, rest).await {
                Ok(Ok(())) => *place = Some(open),
                Ok(Err(_)) | Err(_) => peer.lose("it doesn't read its input"),
            }
        });
    }
}

/// Writes from a place on, and keeps the place.
trait GoOn {
    async fn go_on(&mut self, message: &[u8], written: &mut usize) -> std::io::Result<()>;
}

impl GoOn for ChildStdin {
    async fn go_on(&mut self, message: &[u8], written: &mut usize) -> std::io::Result<()> {
        while *written < message.len() {
            match self.write(&message[*written..]).await? {
                0 => return Err(std::io::ErrorKind::WriteZero.into()),
                bytes => *written += bytes,
            }
        }
        Ok(())
    }
}

struct Reader {
    output: BufReader<ChildStdout>,
    input: Input,
    peer: Arc<Peer>,
    process: Arc<ServerProcess>,
    log: Arc<ServerLog>,
    redactor: Redactor,
    line_bytes_max: usize,
    garbage: usize,
    answers: Arc<Semaphore>,
}

impl Reader {
    async fn run(mut self) {
        loop {
            match self.next_line().await {
                Ok(Some(Line::Whole(line))) => self.heard(&line).await,
                Ok(Some(Line::TooLong { beginning, end, bytes })) => self.too_long(&beginning, &end, bytes),
                Ok(None) | Err(_) => break,
            }
        }
        let why = self.process.ended().await;
        let said =
            self.log.last(1).pop().map(|line| format!("; last stderr line: {line}")).unwrap_or_default();
        self.peer.lose(&format!("{why}{said}"));
    }

    /// The next line. Something that the server started may hold its output open when it is gone.
    async fn next_line(&mut self) -> std::io::Result<Option<Line>> {
        let process = Arc::clone(&self.process);
        let next = next_line(&mut self.output, self.line_bytes_max);
        tokio::pin!(next);
        tokio::select! {
            biased;
            line = &mut next => line,
            () = process.exited() => tokio::time::timeout(LAST_LINES_WAIT, next).await.unwrap_or(Ok(None)),
        }
    }

    async fn heard(&mut self, line: &[u8]) {
        let Ok(text) = std::str::from_utf8(line) else { return self.not_a_message(line) };
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
        let Some(incoming) = wire::read(text) else { return self.not_a_message(text.as_bytes()) };
        // Not awaited here: a server that does not read must not keep us from reading.
        // So many at once and no more, or one that only asks would fill the memory.
        let (input, peer) = (Arc::clone(&self.input), Arc::clone(&self.peer));
        match self.peer.heard(incoming, None) {
            Heard::Nothing => {}
            Heard::Answer(answer) => {
                let Ok(permit) = Arc::clone(&self.answers).try_acquire_owned() else { return };
                tokio::spawn(async move {
                    let _ = write(&input, &peer, answer).await;
                    drop(permit);
                });
            }
            // These are counted by whoever asks.
            Heard::Ask(asking) => {
                tokio::spawn(async move {
                    if let Some(answer) = asking.answer().await {
                        let _ = write(&input, &peer, answer).await;
                    }
                });
            }
        }
    }

    /// Some servers print greetings where only messages belong. What begins as an answer is one that can't be
    /// read: nothing better follows, and whoever waits for it is told at once.
    fn not_a_message(&mut self, line: &[u8]) {
        if let Some((id, why)) = wire::broken_answer(line) {
            self.peer.end(id, Err(ReplyError::Broken(why)));
        }
        self.garbage += 1;
        if self.garbage <= GARBAGE_LINES_MAX {
            let text = self.redactor.clean(std::str::from_utf8(line).unwrap_or("bytes that are no text"));
            self.log.line(&format!("[stdout, not a message] {text}"));
        }
    }

    fn too_long(&mut self, beginning: &[u8], end: &[u8], bytes: usize) {
        let id = wire::id_of_fragments(&String::from_utf8_lossy(beginning), &String::from_utf8_lossy(end));
        self.log.line(&format!("[skipped a message of {bytes} bytes: too long]"));
        let reply: Reply = Err(ReplyError::TooLarge);
        if let Some(id) = id {
            self.peer.end(id, reply);
        }
    }
}
