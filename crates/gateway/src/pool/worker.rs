//! One child, from the gateway's side: a socket to talk over, a handle to end it by.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::sync::Arc;
use std::time::Duration;

use gristmill_domain::LimitName;
use gristmill_protocol::{
    FRAME_HEADER_BYTES, FrameError, FromWorker, PROTOCOL_VERSION, decode_body, decode_frame_len,
    send_with_descriptors,
};
use rustix::net::{RecvFlags, recv};
use rustix::process::Signal;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::child_end::ChildEnd;
use super::cpu_shares::CpuGroup;
use super::zygote_link::ZygoteLink;
use crate::ports::{NotBroughtHome, RemoteControl, RemoteEnd, RemoteWorker};

/// How much is read from a child at once.
const READ_BYTES: usize = 64 * 1024;

/// How long the zygote may take to reap a child.
const END_TOLD_WITHIN: Duration = Duration::from_secs(1);

/// How a child ended, once the zygote has told.
pub type ExitWatch = watch::Receiver<Option<ChildEnd>>;

/// A child's line broke, or it said something that no child says.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The child is gone.
    #[error("the worker ended")]
    Gone,
    /// It is hostile or broken.
    #[error("the worker broke the protocol: {0}")]
    Frame(#[from] FrameError),
    /// The same, with a message out of place.
    #[error("the worker broke the protocol: {0}")]
    OutOfTurn(&'static str),
}

/// What to wait for.
#[derive(Clone, Copy)]
pub struct Attention {
    /// What the child says.
    pub to_messages: bool,
    pub to_room: bool,
}

pub enum LineEvent {
    /// The child said something.
    Message(FromWorker),
    /// There is room to write.
    Room,
}

/// Whether a child that has nothing to say says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    Kept,
    Broken,
    Gone,
}

/// A child's end of the conversation, as far as an onlooker sees it: nothing is read.
pub struct Line {
    socket: UnixStream,
}

impl Line {
    /// How it is now.
    fn silence(&self) -> Silence {
        silence_of(peek(self.socket.as_fd()))
    }

    /// Waits until the silence ends.
    pub async fn broken(&self) -> Silence {
        loop {
            if self.socket.readable().await.is_err() {
                return Silence::Gone;
            }
            let seen = self.socket.try_io(Interest::READABLE, || peek(self.socket.as_fd()));
            match silence_of(seen) {
                Silence::Kept => {}
                ended => return ended,
            }
        }
    }
}

/// A child's end of the conversation, as bytes. Cheap to clone.
#[derive(Clone)]
pub struct RawLine {
    line: Arc<Line>,
}

impl RawLine {
    /// Adds what there is to read, and waits if that is nothing; 0 when the child is gone.
    pub async fn read(&self, into: &mut Vec<u8>) -> io::Result<usize> {
        let socket = &self.line.socket;
        loop {
            socket.readable().await?;
            into.reserve(READ_BYTES);
            match socket.try_read_buf(into) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                outcome => return outcome,
            }
        }
    }

    /// Writes all of it, as the child reads it.
    pub async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        let socket = &self.line.socket;
        while !bytes.is_empty() {
            socket.writable().await?;
            match socket.try_write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn silence_of(seen: io::Result<usize>) -> Silence {
    match seen {
        Ok(0) => Silence::Gone,
        Ok(_) => Silence::Broken,
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
            Silence::Kept
        }
        Err(_) => Silence::Gone,
    }
}

/// How many bytes could be read, at most one; they stay where they are.
fn peek(socket: BorrowedFd<'_>) -> io::Result<usize> {
    let mut byte = [0; 1];
    Ok(recv(socket, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT)?.0)
}

/// A child. Ends with this value.
pub struct Worker {
    id: u64,
    line: Arc<Line>,
    control: Control,
    /// CPU time that it has told of: before its first program, and of each that has ended.
    cpu_us_told: u64,
    received: Vec<u8>,
    used: usize,
    /// Where it may have a part of a core. Let go after it was killed.
    pub(super) group: Option<CpuGroup>,
}

/// How a child is ended, and who tells how it ended.
enum Control {
    Forked(Forked),
    OnNode(Arc<dyn RemoteControl>),
}

/// A child of a zygote of ours.
struct Forked {
    pidfd: Option<OwnedFd>,
    exit: ExitWatch,
    link: Arc<ZygoteLink>,
}

/// How a child ended, as far as anybody tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    Told(ChildEnd),
    /// Its node ended it, since its files took too much room.
    Overfilled(LimitName, ChildEnd),
    /// So is the machine that it ran on.
    NodeLost,
    Unknown,
}

impl Worker {
    pub(crate) fn new(
        id: u64,
        socket: OwnedFd,
        pidfd: Option<OwnedFd>,
        exit: ExitWatch,
        link: Arc<ZygoteLink>,
    ) -> io::Result<Self> {
        Self::with(id, socket.into(), Control::Forked(Forked { pidfd, exit, link }))
    }

    /// One on another machine, which has told what it had to tell before its first program.
    pub(crate) fn on_node(worker: RemoteWorker) -> io::Result<Self> {
        Self::with(0, worker.line, Control::OnNode(worker.control))
    }

    fn with(id: u64, socket: StdUnixStream, control: Control) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let socket = UnixStream::from_std(socket)?;
        let line = Arc::new(Line { socket });
        Ok(Self { id, line, control, cpu_us_told: 0, received: Vec::new(), used: 0, group: None })
    }

    /// Which forked it; `None` if none of ours did.
    pub(super) fn zygote(&self) -> Option<Arc<ZygoteLink>> {
        Some(Arc::clone(&self.forked()?.link))
    }

    /// Whether it was forked by this zygote.
    pub(super) fn is_of(&self, link: &Arc<ZygoteLink>) -> bool {
        self.forked().is_some_and(|forked| Arc::ptr_eq(&forked.link, link))
    }

    fn forked(&self) -> Option<&Forked> {
        match &self.control {
            Control::Forked(forked) => Some(forked),
            Control::OnNode(_) => None,
        }
    }

    /// The machine that it is on, if that is not this one.
    pub fn node(&self) -> Option<&str> {
        match &self.control {
            Control::Forked(_) => None,
            Control::OnNode(control) => Some(control.node()),
        }
    }

    /// Takes what its program has left in its workspace on a node into the folder here. Of a worker on this machine
    /// it is there already.
    pub async fn bring_home(&self) -> Result<(), NotBroughtHome> {
        match &self.control {
            Control::Forked(_) => Ok(()),
            Control::OnNode(control) => control.bring_home().await,
        }
    }

    /// Another way to ask for the same, for whoever doesn't hold the worker.
    pub fn remote(&self) -> Option<Arc<dyn RemoteControl>> {
        match &self.control {
            Control::Forked(_) => None,
            Control::OnNode(control) => Some(Arc::clone(control)),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Waits until the child has warmed up.
    pub(crate) async fn greet(&mut self) -> Result<(), LineError> {
        match self.receive().await? {
            FromWorker::Hello { version: PROTOCOL_VERSION, cpu_us } => {
                self.cpu_us_told = cpu_us;
                Ok(())
            }
            FromWorker::Hello { .. } => Err(LineError::OutOfTurn("another protocol version")),
            FromWorker::Output { .. }
            | FromWorker::Call { .. }
            | FromWorker::CancelCall { .. }
            | FromWorker::Done { .. } => Err(LineError::OutOfTurn("no hello")),
        }
    }

    async fn receive(&mut self) -> Result<FromWorker, LineError> {
        loop {
            if let LineEvent::Message(message) =
                self.next(Attention { to_messages: true, to_room: false }).await?
            {
                return Ok(message);
            }
        }
    }

    /// The next thing that happens on the line. Safe to drop in the middle and call again.
    pub async fn next(&mut self, attention: Attention) -> Result<LineEvent, LineError> {
        loop {
            if attention.to_messages
                && let Some(message) = self.next_buffered()?
            {
                return Ok(LineEvent::Message(message));
            }
            let interest = match (attention.to_messages, attention.to_room) {
                (true, true) => Interest::READABLE | Interest::WRITABLE,
                (true, false) => Interest::READABLE,
                (false, true) => Interest::WRITABLE,
                (false, false) => std::future::pending().await,
            };
            let ready = self.line.socket.ready(interest).await.map_err(|_| LineError::Gone)?;
            if attention.to_room && ready.is_writable() {
                return Ok(LineEvent::Room);
            }
            self.received.reserve(READ_BYTES);
            match self.line.socket.try_read_buf(&mut self.received) {
                Ok(0) => return Err(LineError::Gone),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return Err(LineError::Gone),
            }
        }
    }

    fn next_buffered(&mut self) -> Result<Option<FromWorker>, LineError> {
        let unread = &self.received[self.used..];
        let Some((header, rest)) = unread.split_first_chunk::<FRAME_HEADER_BYTES>() else {
            self.compact();
            return Ok(None);
        };
        let length = decode_frame_len(*header)?;
        let Some(body) = rest.get(..length) else {
            self.compact();
            return Ok(None);
        };
        let message = decode_body(body)?;
        self.used += FRAME_HEADER_BYTES + length;
        Ok(Some(message))
    }

    fn compact(&mut self) {
        self.received.drain(..self.used);
        self.used = 0;
    }

    /// Writes bytes and the descriptors that go with the first of them.
    pub async fn send(&self, mut bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), LineError> {
        let mut descriptors = descriptors;
        let socket = &self.line.socket;
        while !bytes.is_empty() {
            let sent = socket
                .async_io(Interest::WRITABLE, || send_with_descriptors(socket, bytes, descriptors))
                .await
                .map_err(|_| LineError::Gone)?;
            bytes = &bytes[sent..];
            descriptors = &[];
        }
        Ok(())
    }

    /// Writes as much as goes at once; 0 when the child does not read.
    pub fn try_send(&self, bytes: &[u8]) -> Result<usize, LineError> {
        match self.line.socket.try_write(bytes) {
            Ok(count) => Ok(count),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
            Err(_) => Err(LineError::Gone),
        }
    }

    /// Whether the child, which has nothing to say now, says nothing.
    pub fn silence(&self) -> Silence {
        match self.received.len() > self.used {
            true => Silence::Broken,
            false => self.line.silence(),
        }
    }

    /// Lets go of the memory in which its messages came.
    pub fn forget_buffer(&mut self) {
        self.compact();
        self.received.shrink_to_fit();
    }

    /// To pass on what is said on its line, unread. What has been read of it already is not there any more.
    pub fn raw_line(&self) -> RawLine {
        RawLine { line: Arc::clone(&self.line) }
    }

    /// To watch while it is idle.
    pub fn line(&self) -> Arc<Line> {
        Arc::clone(&self.line)
    }

    /// Its process number, where the system tells; -1 of one that is gone is none.
    pub(super) fn pid(&self) -> Option<u32> {
        let pidfd = self.forked()?.pidfd.as_ref()?;
        let about = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd())).ok()?;
        value_in(&about, "Pid:")?.parse().ok()
    }

    /// What it has in memory, shared pages included, where the system tells.
    pub fn resident_bytes(&self) -> Option<u64> {
        let pid = self.pid()?;
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        value_in(&status, "VmRSS:")?.parse::<u64>().ok().map(|kb| kb * 1024)
    }

    /// Ends the child, whatever it is doing.
    pub fn kill(&self) {
        match &self.control {
            Control::Forked(Forked { pidfd: Some(pidfd), .. }) => kill_by_descriptor(pidfd.as_fd()),
            Control::Forked(Forked { pidfd: None, link, .. }) => link.ask_for_kill(self.id),
            Control::OnNode(control) => control.kill(),
        }
    }

    /// Stops the child for good, whatever it is doing: it runs nothing more, and ends with this value. Costs next
    /// to nothing now, where an end costs the time to unmap all of its memory.
    pub fn hold(&self) {
        match &self.control {
            Control::Forked(Forked { pidfd: Some(pidfd), .. }) => stop_by_descriptor(pidfd.as_fd()),
            Control::Forked(Forked { pidfd: None, link, .. }) => link.ask_for_kill(self.id),
            Control::OnNode(control) => control.kill(),
        }
    }

    /// How the child ended, and what its last program used. Waits a moment, since the line breaks before
    /// the zygote can tell.
    pub async fn end(&mut self) -> WorkerEnd {
        let cpu_us_told = self.cpu_us_told;
        let exit = match &mut self.control {
            Control::Forked(forked) => &mut forked.exit,
            Control::OnNode(control) => return end_on_node(control.end().await, cpu_us_told),
        };
        let told = exit.wait_for(Option::is_some);
        match tokio::time::timeout(END_TOLD_WITHIN, told).await {
            Ok(Ok(end)) => end.map_or(WorkerEnd::Unknown, |end| WorkerEnd::Told(end.since(cpu_us_told))),
            Ok(Err(_)) | Err(_) => WorkerEnd::Unknown,
        }
    }

    /// One of its programs told what it used.
    pub fn program_used(&mut self, cpu_us: u64) {
        self.cpu_us_told = self.cpu_us_told.saturating_add(cpu_us);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.kill();
    }
}

fn end_on_node(end: RemoteEnd, cpu_us_told: u64) -> WorkerEnd {
    match end {
        RemoteEnd::Told { exit, used, limit } => {
            let end = ChildEnd { exit, used }.since(cpu_us_told);
            limit.map_or(WorkerEnd::Told(end), |limit| WorkerEnd::Overfilled(limit, end))
        }
        RemoteEnd::NodeLost => WorkerEnd::NodeLost,
        RemoteEnd::Unknown => WorkerEnd::Unknown,
    }
}

/// The word behind a name in a file of `/proc`.
fn value_in<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()
}

#[cfg(target_os = "linux")]
fn kill_by_descriptor(pidfd: BorrowedFd<'_>) {
    // An error means that it is gone already.
    let _ = rustix::process::pidfd_send_signal(pidfd, Signal::KILL);
}

#[cfg(target_os = "linux")]
fn stop_by_descriptor(pidfd: BorrowedFd<'_>) {
    // An error means that it is gone already. Nobody but us may let it go on.
    let _ = rustix::process::pidfd_send_signal(pidfd, Signal::STOP);
}

#[cfg(not(target_os = "linux"))]
fn stop_by_descriptor(pidfd: BorrowedFd<'_>) {
    kill_by_descriptor(pidfd);
}

#[cfg(not(target_os = "linux"))]
fn kill_by_descriptor(_pidfd: BorrowedFd<'_>) {
    let _ = Signal::KILL;
}
