//! The child's line to the gateway: output, calls and their answers, in plain blocking reads and
//! writes.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use gristmill_protocol::{
    CALL_PAYLOAD_BYTES_MAX, CallKind, Completion, FromWorker, OUTPUT_CHUNK_BYTES_MAX, ReceiveError, Stream,
    ToWorker, encode_frame, recv_frame,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// Calls refused right here that the program has not asked about: they are our memory, not its own.
const REFUSALS_MAX: usize = 10_000;

/// What is repeated of a kind that there is not.
const KIND_CHARS_SHOWN: usize = 32;

/// What a call comes to where there is no gateway: a value as tools answer with.
const REHEARSED: &str =
    r#"{"records":[{"id":1,"name":"one","score":0.5,"tags":["a","b"]}],"total":1,"next_page":null}"#;

#[cfg(target_os = "linux")]
const NO_SIGNAL: SendFlags = SendFlags::NOSIGNAL;
/// Elsewhere std has SIGPIPE ignored.
#[cfg(not(target_os = "linux"))]
const NO_SIGNAL: SendFlags = SendFlags::empty();

/// The gateway is gone; there is nobody left to work for.
#[derive(Debug, thiserror::Error)]
#[error("the connection to the gateway is lost: {0}")]
pub struct ChannelClosed(String);

pub struct Channel {
    socket: Option<OwnedFd>,
    next_id: u64,
    /// Answers that came while we were sending, and calls that were refused right here.
    local: VecDeque<Completion>,
}

impl Channel {
    /// A line to nobody: what is written before there is a gateway is dropped, and calls are answered right here, so
    /// that a sample program can make them.
    pub fn unconnected() -> Self {
        Self { socket: None, next_id: 1, local: VecDeque::new() }
    }

    /// From here on the gateway hears.
    pub fn connect(&mut self, socket: OwnedFd) {
        self.socket = Some(socket);
    }

    /// The next message, and the descriptors that come with it: where to work, what to run.
    pub fn receive(&mut self, descriptors: &mut Vec<OwnedFd>) -> Result<ToWorker, ReceiveError> {
        match &self.socket {
            Some(socket) => recv_frame(socket, descriptors),
            None => Err(ReceiveError::Closed),
        }
    }

    /// Sleeps until the gateway lets go of the line. Whatever it may still say wakes nobody up.
    pub fn wait_for_hang_up(&self) {
        let Some(socket) = &self.socket else { return };
        // A line that broke or was closed is told without being asked for.
        while let Err(Errno::INTR) = poll(&mut [PollFd::new(socket, PollFlags::empty())], None) {}
    }

    /// Answers that the program before did not take are not for the next one.
    pub fn discard_answers(&mut self) {
        self.local.clear();
    }

    pub fn send(&mut self, message: &FromWorker) -> Result<(), ChannelClosed> {
        if self.socket.is_none() {
            return Ok(());
        }
        let frame = encode_frame(message).map_err(|error| ChannelClosed(error.to_string()))?;
        let mut bytes = frame.as_slice();
        while !bytes.is_empty() {
            bytes = &bytes[self.send_some(bytes)?..];
        }
        Ok(())
    }

    /// Sends what goes. Where nothing does, the gateway may be waiting for us to take an answer, so
    /// answers are taken until there is room.
    fn send_some(&mut self, bytes: &[u8]) -> Result<usize, ChannelClosed> {
        let Some(socket) = &self.socket else { return Ok(bytes.len()) };
        match send(socket, bytes, SendFlags::DONTWAIT | NO_SIGNAL) {
            Ok(count) => return Ok(count),
            Err(Errno::AGAIN) => {}
            Err(Errno::INTR) => return Ok(0),
            Err(error) => return Err(ChannelClosed(error.to_string())),
        }
        let mut fds = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN | PollFlags::OUT)];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(ChannelClosed(error.to_string())),
        }
        if fds[0].revents().contains(PollFlags::IN) {
            let answer = self.take_answer()?;
            self.local.push_back(answer);
        }
        Ok(0)
    }

    fn take_answer(&mut self) -> Result<Completion, ChannelClosed> {
        let Some(socket) = &self.socket else { return Err(ChannelClosed("not connected".to_owned())) };
        match recv_frame(socket, &mut Vec::new()) {
            Ok(ToWorker::Completed(completion)) => Ok(completion),
            // Another program before this one is done: the gateway would never.
            Ok(ToWorker::Run(_)) => Err(ChannelClosed("a second program at once".to_owned())),
            Ok(ToWorker::Confine(_)) => Err(ChannelClosed("other folders for a program".to_owned())),
            Ok(ToWorker::Analyze(_)) => Err(ChannelClosed("an analysis for a program".to_owned())),
            Err(error) => Err(ChannelClosed(error.to_string())),
        }
    }

    /// Sends what the program wrote, at once: a program that is killed leaves all it printed.
    pub fn output(&mut self, stream: Stream, bytes: &[u8]) -> Result<(), ChannelClosed> {
        for chunk in bytes.chunks(OUTPUT_CHUNK_BYTES_MAX) {
            self.send(&FromWorker::Output { stream, bytes: chunk.to_vec() })?;
        }
        Ok(())
    }

    /// Starts a call; its answer comes out of [`Channel::wait_any`] under the number returned.
    pub fn start_call(&mut self, kind: CallKind, payload: String) -> Result<u64, ChannelClosed> {
        let id = self.next_id();
        if payload.len() > CALL_PAYLOAD_BYTES_MAX {
            let bytes = payload.len();
            let message = format!(
                "the call's arguments are {bytes} bytes of JSON; at most {CALL_PAYLOAD_BYTES_MAX} can be sent"
            );
            self.refuse(id, "limit", "GM-1208", &message)?;
            return Ok(id);
        }
        if self.socket.is_none() {
            self.local.push_back(Completion { id, ok: true, payload: REHEARSED.to_owned() });
            return Ok(id);
        }
        self.send(&FromWorker::Call { id, kind, payload })?;
        Ok(id)
    }

    /// A call of a kind that there is not: it fails, and the program goes on.
    pub fn refuse_kind(&mut self, kind: &str) -> Result<u64, ChannelClosed> {
        let id = self.next_id();
        let shown: String = kind.chars().take(KIND_CHARS_SHOWN).collect();
        let message = format!("there is no call of kind `{}`", shown.escape_debug());
        self.refuse(id, "bad_call", "GM-1402", &message)?;
        Ok(id)
    }

    fn next_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Tells the gateway that nobody waits for this call any more.
    pub fn cancel_call(&mut self, id: u64) -> Result<(), ChannelClosed> {
        self.send(&FromWorker::CancelCall { id })
    }

    /// Waits until at least one call has its answer, or the time is up; then takes all there are.
    pub fn wait_any(&mut self, timeout: Option<Duration>) -> Result<Vec<Completion>, ChannelClosed> {
        let mut done: Vec<Completion> = self.local.drain(..).collect();
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let wait = match (done.is_empty(), deadline) {
                (false, _) => Some(Duration::ZERO),
                (true, Some(deadline)) => Some(deadline.saturating_duration_since(Instant::now())),
                (true, None) => None,
            };
            if !self.readable(wait)? {
                return Ok(done);
            }
            done.push(self.take_answer()?);
        }
    }

    /// Waits for the connection to have something to read. Without a connection: just waits.
    fn readable(&self, wait: Option<Duration>) -> Result<bool, ChannelClosed> {
        let timeout = wait.map(|wait| Timespec {
            tv_sec: wait.as_secs().min(i32::MAX as u64) as _,
            tv_nsec: wait.subsec_nanos() as _,
        });
        let Some(socket) = &self.socket else { return Ok(false) };
        let mut fds = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(error) => Err(ChannelClosed(error.to_string())),
        }
    }

    /// Answers a call right here. The codes are the gateway's; see docs/errors.md.
    fn refuse(&mut self, id: u64, kind: &str, code: &str, message: &str) -> Result<(), ChannelClosed> {
        if self.local.len() >= REFUSALS_MAX {
            return Err(ChannelClosed("thousands of refused calls that nobody asks about".to_owned()));
        }
        let payload = serde_json::json!({ "kind": kind, "code": code, "message": message, "tool": "" });
        self.local.push_back(Completion { id, ok: false, payload: payload.to_string() });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_kind_that_there_is_not_fails_that_one_call() {
        let mut channel = Channel::unconnected();
        let id = channel.refuse_kind(&"admin\n".repeat(100_000)).unwrap();
        let next = channel.start_call(CallKind::Tool, "{}".to_owned()).unwrap();
        assert_ne!(id, next);
        let [refused, answered] = <[Completion; 2]>::try_from(channel.wait_any(None).unwrap()).unwrap();
        assert_eq!((answered.id, answered.ok), (next, true));
        assert_eq!((refused.id, refused.ok), (id, false));
        assert!(refused.payload.contains("there is no call of kind `admin\\\\nadmin"), "{}", refused.payload);
        assert!(refused.payload.contains("GM-1402") && refused.payload.len() < 300, "{}", refused.payload);
    }

    #[test]
    fn without_a_gateway_calls_are_answered_right_here_with_a_value() {
        let mut channel = Channel::unconnected();
        let ids = [(); 2].map(|()| channel.start_call(CallKind::Tool, "{}".to_owned()).unwrap());
        let answers = channel.wait_any(None).unwrap();
        assert_eq!(answers.iter().map(|answer| answer.id).collect::<Vec<_>>(), ids);
        for answer in answers {
            let value: serde_json::Value = serde_json::from_str(&answer.payload).unwrap();
            assert_eq!((answer.ok, &value["total"]), (true, &serde_json::json!(1)));
        }
    }

    #[test]
    fn who_has_said_all_sleeps_until_the_line_is_closed() {
        let (gateway, child) = UnixStream::pair().unwrap();
        let mut channel = Channel::unconnected();
        channel.connect(OwnedFd::from(child));
        let (woke, has_woken) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            channel.wait_for_hang_up();
            woke.send(()).unwrap();
        });
        (&gateway).write_all(b"an answer that nobody waits for").unwrap();
        assert!(has_woken.recv_timeout(Duration::from_millis(50)).is_err(), "words wake nobody up");
        drop(gateway);
        sleeper.join().unwrap();
    }
}
