//! The zygote, from the gateway's side: started, listened to, and started again when it is lost.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::process::Stdio;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use gristmill_protocol::{
    ChildExit, ChildKind, FRAME_HEADER_BYTES, FromZygote, PROTOCOL_VERSION, ToZygote, decode_body,
    decode_frame_len, encode_frame, recv_some,
};
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};

use super::{Shared, Worker, ZygoteLife, ZygoteStatus};

/// What is kept of a zygote's last words.
const STDERR_BYTES_MAX: usize = 8 * 1024;

/// How long a keeper may take to clean up.
const KEEPER_TIMEOUT: Duration = Duration::from_secs(5);

/// Between two starts of a zygote that does not come up: doubles up to this.
const BACKOFF_MAX: Duration = Duration::from_secs(10);

/// What the rest of the pool holds of a running zygote.
pub struct ZygoteLink {
    orders: mpsc::UnboundedSender<ToZygote>,
    exits: Mutex<HashMap<u64, watch::Sender<Option<ChildExit>>>>,
    keeper_pid: Option<u32>,
}

impl ZygoteLink {
    /// A link to nobody, and the orders that a zygote would get.
    #[cfg(test)]
    pub fn to_nobody() -> (Arc<Self>, mpsc::UnboundedReceiver<ToZygote>) {
        let (orders, ordered) = mpsc::unbounded_channel();
        (Arc::new(Self { orders, exits: Mutex::default(), keeper_pid: None }), ordered)
    }

    /// False when the zygote is gone.
    pub fn ask_for_fork(&self) -> bool {
        self.orders.send(ToZygote::Fork).is_ok()
    }

    /// The same for a child that analyzes.
    pub fn ask_for_analysis(&self) -> bool {
        self.orders.send(ToZygote::ForkAnalysis).is_ok()
    }

    pub fn ask_for_kill(&self, id: u64) {
        let _ = self.orders.send(ToZygote::Kill { id });
    }

    pub fn keeper_pid(&self) -> Option<u32> {
        self.keeper_pid
    }

    /// Nobody will tell any more how children ended.
    pub fn forget_exits(&self) {
        lock(&self.exits).clear();
    }

    fn expect_exit(&self, id: u64) -> watch::Receiver<Option<ChildExit>> {
        let (sender, receiver) = watch::channel(None);
        lock(&self.exits).insert(id, sender);
        receiver
    }

    fn tell_exit(&self, id: u64, exit: ChildExit) {
        if let Some(sender) = lock(&self.exits).remove(&id) {
            sender.send_replace(Some(exit));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Keeps a zygote running for as long as the pool exists.
pub async fn keep_running(pool: Weak<Shared>) {
    loop {
        let Some(shared) = pool.upgrade().filter(|shared| !shared.lock().closed) else { return };
        let life = run_one(&shared).await;
        if shared.lock().closed {
            return;
        }
        let failures = shared.zygote_lost(&life);
        if failures > 1 || life.ready_for.is_none() {
            let backoff = Duration::from_millis(100).saturating_mul(1 << failures.min(10));
            tokio::select! {
                () = tokio::time::sleep(jittered(backoff.min(BACKOFF_MAX))) => {}
                () = shared.closing.cancelled() => return,
            }
        }
    }
}

/// Between three quarters and all of it, so that several gateways do not march in step.
fn jittered(time: Duration) -> Duration {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    time * 3 / 4 + time * (now.subsec_nanos() % 256) / 1024
}

/// One zygote's life, from its start until nothing of it is left.
async fn run_one(shared: &Arc<Shared>) -> ZygoteLife {
    let (mut zygote, mut keeper, orders) = match Zygote::spawn(shared) {
        Ok(started) => started,
        Err(error) => {
            let program = shared.command.program.display();
            let reason = format!("the worker program {program} does not start: {error}");
            return ZygoteLife { reason, ready_for: None };
        }
    };
    let mut life = zygote.listen(shared, orders).await;
    let Zygote { control, stderr, .. } = zygote;
    // First of all: this is what tells the keeper that we are gone.
    drop(control);
    let said = last_words(stderr).await;
    if !said.is_empty() {
        life.reason = format!("{} ({said})", life.reason);
    }
    if tokio::time::timeout(KEEPER_TIMEOUT, keeper.wait()).await.is_err() {
        let _ = keeper.kill().await;
    }
    life
}

struct Zygote {
    control: UnixStream,
    link: Arc<ZygoteLink>,
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
        let mut keeper = command.spawn()?;
        // The command holds the other end of the socket; a copy left here would keep it open.
        drop(command);
        let stderr = keeper.stderr.take();
        ours.set_nonblocking(true)?;
        let (orders, ordered) = mpsc::unbounded_channel();
        let link = ZygoteLink { orders, exits: Mutex::default(), keeper_pid: keeper.id() };
        let zygote = Self {
            control: UnixStream::from_std(ours)?,
            link: Arc::new(link),
            stderr,
            received: Vec::new(),
            descriptors: Vec::new(),
        };
        Ok((zygote, keeper, ordered))
    }

    async fn listen(
        &mut self,
        shared: &Arc<Shared>,
        mut orders: mpsc::UnboundedReceiver<ToZygote>,
    ) -> ZygoteLife {
        let mut ready = None::<Instant>;
        let hello = ToZygote::Hello { version: PROTOCOL_VERSION, required: shared.required.to_vec() };
        let mut outcome = self.send(&hello).await.map_err(|error| format!("the zygote was lost: {error}"));
        while outcome.is_ok() {
            outcome = tokio::select! {
                () = shared.closing.cancelled() => Err("the gateway is closing".to_owned()),
                Some(order) = orders.recv() => {
                    self.send(&order).await.map_err(|error| format!("the zygote was lost: {error}"))
                }
                message = receive(&self.control, &mut self.received, &mut self.descriptors) => match message {
                    Ok(message) => self.heard(message, shared, &mut ready),
                    Err(error) => Err(format!("the zygote was lost: {error}")),
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
            FromZygote::Ready { version: PROTOCOL_VERSION, engine, walls } => {
                *ready = Some(Instant::now());
                shared.zygote_ready(Arc::clone(&self.link), engine, walls);
            }
            FromZygote::Ready { version, .. } => {
                return Err(format!("the worker speaks protocol {version}, we speak {PROTOCOL_VERSION}"));
            }
            FromZygote::Failed { message } => return Err(message),
            FromZygote::Preparing { step } => {
                shared.status.send_replace(ZygoteStatus::Preparing(step));
            }
            FromZygote::Child { id, pid: _, kind } => {
                let socket = descriptors.next().ok_or("the zygote sent a child without its socket")?;
                let exit = self.link.expect_exit(id);
                let worker = Worker::new(id, socket, descriptors.next(), exit, Arc::clone(&self.link))
                    .map_err(|error| error.to_string())?;
                tokio::spawn(welcome(worker, kind, Arc::downgrade(shared)));
            }
            FromZygote::Exited { id, exit } => {
                self.link.tell_exit(id, exit);
                shared.child_exited(id);
            }
            FromZygote::ForkFailed { kind: ChildKind::Programs, .. } => {
                let shared = Arc::clone(shared);
                tokio::spawn(async move { shared.fork_failed().await });
            }
            FromZygote::ForkFailed { kind: ChildKind::Analysis, message } => shared.analysis_failed(&message),
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

/// Lets a child join those that wait, once it has warmed up; one that analyzes goes to whoever asked.
async fn welcome(mut worker: Worker, kind: ChildKind, pool: Weak<Shared>) {
    let greeted = worker.greet().await;
    let Some(shared) = pool.upgrade() else { return };
    match (greeted, kind) {
        (Ok(()), ChildKind::Programs) => shared.child_arrived(worker),
        (Err(_), ChildKind::Programs) => shared.fork_failed().await,
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
