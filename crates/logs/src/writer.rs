//! Writes lines on a thread of its own, so that a slow disk or a client that does not read our standard error
//! holds nobody up. What does not fit in the queue is lost, and counted.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::rotating_file::RotatingFile;

/// Lines that wait to be written: some 4 MB.
const QUEUE_LINES_MAX: usize = 16 * 1024;

/// What lines are written to.
pub(crate) enum Sink {
    Stderr,
    File(RotatingFile),
}

impl Sink {
    fn write(&mut self, line: &str) -> io::Result<()> {
        match self {
            Self::Stderr => io::stderr().lock().write_all(line.as_bytes()),
            Self::File(file) => file.write(line.as_bytes()),
        }
    }
}

enum Order {
    Line(String),
    /// The last one.
    End(SyncSender<()>),
}

/// Where lines are handed over. Cheap to clone.
#[derive(Clone)]
pub(crate) struct LineSender {
    orders: SyncSender<Order>,
    lost: Arc<AtomicU64>,
}

impl LineSender {
    /// Never waits.
    pub fn send(&self, line: String) {
        if self.orders.try_send(Order::Line(line)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

pub(crate) struct LogWriter {
    sender: LineSender,
    thread: Option<JoinHandle<()>>,
}

impl LogWriter {
    pub fn start(sink: Sink) -> io::Result<Self> {
        let (orders, taken) = sync_channel(QUEUE_LINES_MAX);
        let lost = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&lost);
        let thread = std::thread::Builder::new().name("log".to_owned());
        let thread = thread.spawn(move || write_all(sink, &taken, &counted))?;
        Ok(Self { sender: LineSender { orders, lost }, thread: Some(thread) })
    }

    pub fn sender(&self) -> &LineSender {
        &self.sender
    }

    /// Waits until what was sent before is written, but not for long.
    pub fn finish(&mut self, patience: Duration) {
        let (told, done) = sync_channel(1);
        let is_taken = self.sender.orders.try_send(Order::End(told)).is_ok();
        match is_taken.then(|| done.recv_timeout(patience)) {
            Some(Ok(()) | Err(RecvTimeoutError::Disconnected)) => {
                let _ = self.thread.take().map(JoinHandle::join);
            }
            // It hangs in a write: it goes with the process.
            Some(Err(RecvTimeoutError::Timeout)) | None => {}
        }
    }
}

fn write_all(mut sink: Sink, orders: &Receiver<Order>, lost: &AtomicU64) {
    while let Ok(order) = orders.recv() {
        let line = match order {
            Order::Line(line) => line,
            Order::End(told) => {
                let _ = told.send(());
                return;
            }
        };
        let gone = lost.swap(0, Ordering::Relaxed);
        let is_written = (gone == 0 || sink.write(&about_lost(gone)).is_ok()) && sink.write(&line).is_ok();
        if !is_written {
            lost.fetch_add(gone + 1, Ordering::Relaxed);
        }
    }
}

fn about_lost(lines: u64) -> String {
    format!("# {lines} lines of the log were lost here: it was written faster than it could be kept\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn lines_are_written_in_their_order_before_the_end_and_lost_ones_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.log");
        let file = RotatingFile::open(&path, 1 << 20, 2).expect("a file");
        let mut writer = LogWriter::start(Sink::File(file)).expect("a thread");
        writer.sender().send("one\n".to_owned());
        writer.finish(Duration::from_secs(5));
        assert_eq!(std::fs::read_to_string(&path).expect("a log"), "one\n");
        // Nobody takes it any more.
        writer.sender().send("two\n".to_owned());
        assert_eq!(writer.sender().lost.load(Ordering::Relaxed), 1);
        let file = RotatingFile::open(&path, 1 << 20, 2).expect("a file");
        let (sender, taken) = channel();
        sender.send(Order::Line("three\n".to_owned())).expect("a queue");
        drop(sender);
        write_all(Sink::File(file), &taken, &writer.sender().lost);
        let log = std::fs::read_to_string(&path).expect("a log");
        assert_eq!(log.lines().nth(1).map(|line| line.starts_with("# 1 lines")), Some(true));
        assert!(log.ends_with("three\n"));
    }
}
