//! The one place that writes: whole lines, one after the other, flushed. What waits to be written
//! is bounded in bytes; whoever has more to say waits.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// What may wait for a client that reads slowly: two lines of the largest size.
const WAITING_BYTES_MAX: u32 = 32 * 1024 * 1024;

enum Job {
    Line(Vec<u8>, OwnedSemaphorePermit),
    Drained(oneshot::Sender<()>),
    End,
}

pub(super) struct Writer {
    jobs: mpsc::UnboundedSender<Job>,
    room: Arc<Semaphore>,
    broken: CancellationToken,
}

impl Writer {
    /// The handle gives what went wrong, when all is written.
    pub(super) fn start(
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> (Self, JoinHandle<io::Result<()>>) {
        let (jobs, todo) = mpsc::unbounded_channel();
        let broken = CancellationToken::new();
        let writing = tokio::spawn(write_all(output, todo, broken.clone().drop_guard()));
        (Self { jobs, room: Arc::new(Semaphore::new(WAITING_BYTES_MAX as usize)), broken }, writing)
    }

    /// Takes a line when there is room for it. Given up before that, nothing of it is written.
    pub(super) async fn send(&self, line: Vec<u8>) -> io::Result<()> {
        let bytes = u32::try_from(line.len()).unwrap_or(u32::MAX).clamp(1, WAITING_BYTES_MAX);
        let room = tokio::select! {
            () = self.broken.cancelled() => return Err(io::ErrorKind::BrokenPipe.into()),
            room = Arc::clone(&self.room).acquire_many_owned(bytes) => room,
        };
        let room = room.map_err(|_| io::ErrorKind::BrokenPipe)?;
        self.jobs.send(Job::Line(line, room)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    /// When everything before this is written, or nothing can be.
    pub(super) async fn drained(&self) {
        let (done, is_done) = oneshot::channel();
        if self.jobs.send(Job::Drained(done)).is_ok() {
            let _ = is_done.await;
        }
    }

    /// When nothing can be written any more.
    pub(super) async fn broken(&self) {
        self.broken.cancelled().await;
    }

    /// Nothing comes after what was taken so far.
    pub(super) fn close(&self) {
        let _ = self.jobs.send(Job::End);
    }
}

async fn write_all(
    mut output: impl AsyncWrite + Unpin,
    mut todo: mpsc::UnboundedReceiver<Job>,
    _broken: tokio_util::sync::DropGuard,
) -> io::Result<()> {
    while let Some(job) = todo.recv().await {
        match job {
            Job::Line(mut line, _room) => {
                line.push(b'\n');
                output.write_all(&line).await?;
                output.flush().await?;
            }
            Job::Drained(done) => drop(done.send(())),
            Job::End => break,
        }
    }
    output.shutdown().await
}
