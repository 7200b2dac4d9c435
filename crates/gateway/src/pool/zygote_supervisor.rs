//! The zygote, from the gateway's side: started, listened to, and started again when it is lost.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::Stdio;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gristmill_domain::one_line;
use gristmill_protocol::{
    ChildKind, FRAME_HEADER_BYTES, FromZygote, PROTOCOL_VERSION, ToZygote, Wall, WallState, WallStatus,
    decode_body, decode_frame_len, encode_frame, recv_some,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};

use super::child_end::ChildEnd;
use super::renewal::{RETIRED_MAX, is_suspicious};
use super::zygote_link::ZygoteLink;
use super::{LineError, Shared, Worker, ZygoteLife};

/// What is kept of a zygote's last words.
const STDERR_BYTES_MAX: usize = 8 * 1024;

/// What is kept of a zygote's messages for people.
const MESSAGE_CHARS_MAX: usize = 4 * 1024;

/// How long a supervisor may take to clean up.
const SUPERVISOR_TIMEOUT: Duration = Duration::from_secs(5);

/// Between two starts of a zygote that does not come up: doubles up to this.
const BACKOFF_MAX: Duration = Duration::from_secs(10);

/// How long a child may take to greet. It takes milliseconds; on a machine that swaps, seconds.
const GREETING_TIMEOUT: Duration = Duration::from_secs(30);

/// Keeps a zygote running for as long as the pool exists.
pub async fn keep_running(pool: Weak<Shared>) {
    let mut retired = JoinSet::new();
    loop {
        let Some(shared) = pool.upgrade().filter(|shared| !shared.lock().closed) else { break };
        let life = run_until_lost(&shared, &mut retired).await;
        if shared.lock().closed {
            break;
        }
        let failures = shared.zygote_lost(&life);
        if failures > 1 || life.ready_for.is_none() {
            let backoff = Duration::from_millis(100).saturating_mul(1 << failures.min(10));
            tokio::select! {
                () = tokio::time::sleep(jittered(backoff.min(BACKOFF_MAX))) => {}
                () = shared.closing.cancelled() => break,
            }
        }
    }
    // Whoever closes the pool waits for all of them.
    while retired.join_next().await.is_some() {}
}

/// One zygote after another, each brought up beside the one before it, until one is lost.
async fn run_until_lost(shared: &Arc<Shared>, retired: &mut JoinSet<()>) -> ZygoteLife {
    let mut current = start(shared).0;
    loop {
        tokio::select! {
            life = &mut current => return life_of(life),
            () = shared.renewal.notified() => {}
        }
        while retired.len() >= RETIRED_MAX {
            tokio::select! {
                life = &mut current => return life_of(life),
                _ = retired.join_next() => {}
            }
        }
        let (mut next, came_up) = start(shared);
        tokio::select! {
            biased;
            Ok(()) = came_up => {
                let old = std::mem::replace(&mut current, next);
                retired.spawn(async move { drop(old.await) });
            }
            // Programs go on with the one that there is, and the next reason to replace it tries again.
            _ = &mut next => shared.renewal_failed(),
            // The one that comes up is as good as any.
            life = &mut current => {
                shared.zygote_lost(&life_of(life));
                current = next;
            }
        }
        while retired.try_join_next().is_some() {}
    }
}

/// Starts a zygote. The second is told when it can be used.
fn start(shared: &Arc<Shared>) -> (JoinHandle<ZygoteLife>, oneshot::Receiver<()>) {
    let (up, came_up) = oneshot::channel();
    let shared = Arc::clone(shared);
    (tokio::spawn(async move { run_one(&shared, up).await }), came_up)
}

fn life_of(ended: Result<ZygoteLife, tokio::task::JoinError>) -> ZygoteLife {
    ended.unwrap_or_else(|error| ZygoteLife { reason: error.to_string(), ready_for: None })
}

/// Between three quarters and all of it, so that several gateways do not march in step.
fn jittered(time: Duration) -> Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    time * 3 / 4 + time * (now.subsec_nanos() % 256) / 1024
}

/// One zygote's life, from its start until nothing of it is left.
async fn run_one(shared: &Arc<Shared>, up: oneshot::Sender<()>) -> ZygoteLife {
    let (mut zygote, mut supervisor, orders) = match Zygote::spawn(shared) {
        Ok(started) => started,
        Err(error) => {
            let program = shared.command.program.display();
            let reason = format!("can't start the worker program {program}: {error}");
            return ZygoteLife { reason, ready_for: None };
        }
    };
    zygote.up = Some(up);
    // It forks when it hears the first word, and not before it is where it belongs.
    if let Some(pid) = supervisor.id() {
        let shared = Arc::clone(shared);
        let _ = tokio::task::spawn_blocking(move || shared.confine(pid)).await;
    }
    let mut life = zygote.listen(shared, orders).await;
    let Zygote { mut control, stderr, .. } = zygote;
    // A closed line tells the supervisor that we are gone, and it removes the scratch folder. Where we are
    // not, others work in that: the zygote only hears that there is nothing more to do.
    let _open = match shared.closing.is_cancelled() {
        true => {
            drop(control);
            None
        }
        false => {
            let _ = control.shutdown().await;
            Some(control)
        }
    };
    let said = last_words(stderr).await;
    if !said.is_empty() {
        life.reason = format!("{} ({said})", life.reason);
    }
    if tokio::time::timeout(SUPERVISOR_TIMEOUT, supervisor.wait()).await.is_err() {
        let _ = supervisor.kill().await;
    }
    life
}

struct Zygote {
    control: UnixStream,
    link: Arc<ZygoteLink>,
    /// Told when it can be used.
    up: Option<oneshot::Sender<()>>,
    stderr: Option<tokio::process::ChildStderr>,
    received: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

impl Zygote {
    fn spawn(shared: &Shared) -> io::Result<(Self, Child, mpsc::UnboundedReceiver<ToZygote>)> {
        let (ours, theirs) = StdUnixStream::pair()?;
        let mut command = Command::new(&shared.command.program);
        command.arg("worker-zygote").arg(&shared.cache).arg(&shared.scratch);
        command.env_clear().current_dir("/");
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut supervisor = command.spawn()?;
        // The command holds the other end of the socket; a copy left here would keep it open.
        drop(command);
        let stderr = supervisor.stderr.take();
        ours.set_nonblocking(true)?;
        let (orders, ordered) = mpsc::unbounded_channel();
        let link = ZygoteLink::new(orders, supervisor.id());
        let zygote = Self {
            control: UnixStream::from_std(ours)?,
            link: Arc::new(link),
            up: None,
            stderr,
            received: Vec::new(),
            descriptors: Vec::new(),
        };
        Ok((zygote, supervisor, ordered))
    }

    async fn listen(
        &mut self,
        shared: &Arc<Shared>,
        mut orders: mpsc::UnboundedReceiver<ToZygote>,
    ) -> ZygoteLife {
        let mut ready = None::<Instant>;
        let hello = ToZygote::Hello {
            version: PROTOCOL_VERSION,
            engine: shared.engine,
            required: shared.required.to_vec(),
            native: shared.native.clone(),
        };
        let mut outcome = self.send(&hello).await.map_err(|error| format!("the zygote died: {error}"));
        while outcome.is_ok() {
            outcome = tokio::select! {
                () = shared.closing.cancelled() => Err("the gateway is closing".to_owned()),
                () = self.link.out_of_use() => Err("another has taken its place".to_owned()),
                Some(order) = orders.recv() => {
                    self.send(&order).await.map_err(|error| format!("the zygote died: {error}"))
                }
                message = receive(&self.control, &mut self.received, &mut self.descriptors) => match message {
                    Ok(message) => self.heard(message, shared, &mut ready),
                    Err(error) => Err(format!("the zygote died: {error}")),
                },
            };
        }
        ZygoteLife {
            reason: outcome.err().unwrap_or_default(),
            ready_for: ready.map(|since| since.elapsed()),
        }
    }

    fn heard(
        &mut self,
        message: FromZygote,
        shared: &Arc<Shared>,
        ready: &mut Option<Instant>,
    ) -> Result<(), String> {
        // Whatever came with this message belongs to it and to no other.
        let mut descriptors = std::mem::take(&mut self.descriptors).into_iter();
        match message {
            FromZygote::Ready { version: PROTOCOL_VERSION, engine, description, walls }
                if engine == shared.engine =>
            {
                if let Some(wall) = first_missing(&walls, shared.required) {
                    return Err(format!(
                        "the worker runs without the sandbox layer {wall:?}, which this level requires"
                    ));
                }
                *ready = Some(Instant::now());
                shared.zygote_ready(Arc::clone(&self.link), description, walls);
                if let Some(up) = self.up.take() {
                    let _ = up.send(());
                }
            }
            FromZygote::Ready { version: PROTOCOL_VERSION, engine, .. } => {
                return Err(format!("the zygote of {} runs {engine}", shared.engine));
            }
            FromZygote::Ready { version, .. } => {
                return Err(format!("the worker speaks protocol {version}, we speak {PROTOCOL_VERSION}"));
            }
            FromZygote::Failed { message } => return Err(one_line(&message, MESSAGE_CHARS_MAX)),
            FromZygote::Child { id, pid: _, kind } => {
                let socket = descriptors.next().ok_or("the zygote sent a child without its socket")?;
                let exit = self.link.expect_exit(id);
                if self.link.forked() >= shared.settings.forks_max {
                    shared.renew(&self.link);
                }
                let worker = Worker::new(id, socket, descriptors.next(), exit, Arc::clone(&self.link))
                    .map_err(|error| error.to_string())?;
                tokio::spawn(welcome(worker, kind, Arc::downgrade(shared)));
            }
            FromZygote::Exited { id, exit, used } => {
                self.link.tell_exit(id, ChildEnd { exit, used });
                shared.child_exited(id, &self.link);
                if is_suspicious(exit) {
                    shared.renew(&self.link);
                }
            }
            FromZygote::ForkFailed { kind: ChildKind::Programs, .. } => {
                self.link.fork_failed();
                let (shared, link) = (Arc::clone(shared), Arc::clone(&self.link));
                tokio::spawn(async move { shared.fork_failed(&link).await });
            }
            FromZygote::ForkFailed { kind: ChildKind::Analysis, message } => {
                self.link.fork_failed();
                shared.analysis_failed(&one_line(&message, MESSAGE_CHARS_MAX));
            }
        }
        Ok(())
    }

    async fn send(&self, message: &ToZygote) -> io::Result<()> {
        let frame = encode_frame(message).map_err(io::Error::other)?;
        let mut bytes = frame.as_slice();
        while !bytes.is_empty() {
            self.control.writable().await?;
            match self.control.try_write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// The zygote has looked already; this is its word held against what was asked of it.
pub(super) fn first_missing<'a>(walls: &[WallStatus], required: &'a [Wall]) -> Option<&'a Wall> {
    let stands = |wall| walls.iter().any(|found| found.wall == wall && found.state == WallState::Stands);
    required.iter().find(|wall| !stands(**wall))
}

/// Lets a child join those that wait, once it has warmed up; one that analyzes goes to whoever asked.
pub(super) async fn welcome(mut worker: Worker, kind: ChildKind, pool: Weak<Shared>) {
    // One that hangs would be counted as coming for ever, and nobody would ask for another.
    let greeted = tokio::time::timeout(GREETING_TIMEOUT, worker.greet())
        .await
        .unwrap_or(Err(LineError::OutOfTurn("no hello in time")));
    let Some(shared) = pool.upgrade() else { return };
    match (greeted, kind) {
        (Ok(()), ChildKind::Programs) => shared.child_arrived(worker),
        (Err(_), ChildKind::Programs) => {
            if let Some(zygote) = worker.zygote() {
                shared.fork_failed(&zygote).await;
            }
        }
        (Ok(()), ChildKind::Analysis) => shared.analysis_arrived(worker),
        (Err(error), ChildKind::Analysis) => shared.analysis_failed(&error.to_string()),
    }
}

/// What it printed before it ended: a panic, usually.
async fn last_words(stderr: Option<tokio::process::ChildStderr>) -> String {
    let Some(stderr) = stderr else { return String::new() };
    let mut said = Vec::new();
    let mut read = stderr.take(STDERR_BYTES_MAX as u64);
    let _ = tokio::time::timeout(Duration::from_millis(500), read.read_to_end(&mut said)).await;
    String::from_utf8_lossy(&said).trim().to_owned()
}

/// The next message; descriptors that come with it are collected. Safe to drop and call again.
async fn receive(
    control: &UnixStream,
    received: &mut Vec<u8>,
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<FromZygote> {
    loop {
        let missing = match received.split_first_chunk::<FRAME_HEADER_BYTES>() {
            None => FRAME_HEADER_BYTES - received.len(),
            Some((header, body)) => {
                let length = decode_frame_len(*header).map_err(io::Error::other)?;
                if body.len() == length {
                    let message = decode_body(body).map_err(io::Error::other)?;
                    received.clear();
                    return Ok(message);
                }
                length - body.len()
            }
        };
        // Never past the end of this message: the next one's descriptors must not come with it.
        let mut chunk = vec![0; missing.min(64 * 1024)];
        let count =
            control.async_io(Interest::READABLE, || recv_some(control, &mut chunk, descriptors)).await?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        received.extend_from_slice(&chunk[..count]);
    }
}
