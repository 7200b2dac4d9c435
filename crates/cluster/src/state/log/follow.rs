//! The log as it grows, entry after entry.
//!
//! Each entry says which one it follows, so that none can be missing or come twice, whatever servers do.

use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use bytes::Bytes;
use tokio::sync::mpsc;

use super::delivery::{Content, Delivered, Delivery, Wanted};
use super::error::LogError;
use super::publish::AFTER;
use super::streams::{Streams, Which};
use crate::bus::LOG_AREA;

/// Entries that wait for whoever follows. More wait on the server.
const WAITING_MAX: usize = 16;

/// Between tries.
const AGAIN_AFTER: Duration = Duration::from_millis(100);

/// How long servers that start may say that the log isn't there, or that it's shorter.
const STARTING_MAX: Duration = Duration::from_secs(15);

/// Entries of the log. Dropped, it's over.
pub struct Follow {
    entries: mpsc::Receiver<Result<(u64, Bytes), LogError>>,
}

impl Follow {
    /// The next entry and its sequence, once it's there. After an error there is no other one: follow anew. A call that
    /// is cancelled loses nothing.
    pub async fn next(&mut self) -> Result<(u64, Bytes), LogError> {
        self.entries.recv().await.unwrap_or(Err(LogError::Ended))
    }
}

pub(super) async fn follow(streams: Streams, after: u64) -> Result<Follow, LogError> {
    let subject = streams.bus.subjects().state_log();
    let follower = Follower { streams, subject, after };
    follower.look().await?;
    let (sender, entries) = mpsc::channel(WAITING_MAX);
    tokio::spawn(async move {
        let over = sender.clone();
        tokio::select! {
            () = over.closed() => {}
            () = follower.run(sender) => {}
        }
    });
    Ok(Follow { entries })
}

struct Follower {
    streams: Streams,
    subject: String,
    /// The last entry that was handed out, or where it began.
    after: u64,
}

/// How an entry stands to the one before.
enum Place {
    Next,
    /// It has been handed out.
    Known,
    /// Between them something is missing, here or in the log.
    Later,
    Foreign,
}

impl Follower {
    async fn run(mut self, entries: mpsc::Sender<Result<(u64, Bytes), LogError>>) {
        let mut wrong_since = None;
        loop {
            self.streams.bus.connected().await;
            let Err(error) = self.deliver(&entries, &mut wrong_since).await else { continue };
            match &error {
                LogError::Unavailable(_) | LogError::NoJetStream => wrong_since = None,
                LogError::NoStream(_) | LogError::Shorter { .. } => {
                    let since = *wrong_since.get_or_insert_with(Instant::now);
                    if since.elapsed() > STARTING_MAX {
                        let _ = entries.send(Err(error)).await;
                        return;
                    }
                }
                LogError::NotPermitted { .. }
                | LogError::TooFewServers { .. }
                | LogError::OtherSettings { .. }
                | LogError::Gap { .. }
                | LogError::Foreign { .. }
                | LogError::Ended => {
                    let _ = entries.send(Err(error)).await;
                    return;
                }
            }
            tracing::debug!(target: LOG_AREA, %error, "the log can't be followed at the moment");
            tokio::time::sleep(AGAIN_AFTER).await;
        }
    }

    /// Hands out entries until they must be delivered anew.
    async fn deliver(
        &mut self,
        entries: &mpsc::Sender<Result<(u64, Bytes), LogError>>,
        wrong_since: &mut Option<Instant>,
    ) -> Result<(), LogError> {
        let wanted = Wanted {
            stream: self.streams.state.clone(),
            filter: self.subject.clone(),
            from: self.after + 1,
            content: Content::Whole,
        };
        let mut delivery = Delivery::begin(&self.streams, &wanted).await?;
        self.look().await?;
        *wrong_since = None;
        while let Some(delivered) = delivery.next().await {
            let Delivered::Message { sequence, headers, payload, .. } = delivered else { continue };
            match self.place(sequence, &headers) {
                Place::Next => {
                    // Nobody follows any more, if it fails: then all of this is over.
                    let _ = entries.send(Ok((sequence, payload))).await;
                    self.after = sequence;
                }
                Place::Known => {}
                // Anew, which looks first at what the log itself says.
                Place::Later | Place::Foreign => break,
            }
        }
        tokio::time::sleep(AGAIN_AFTER).await;
        Ok(())
    }

    /// Whether the log goes on from here, as the server knows it that leads the stream.
    async fn look(&self) -> Result<(), LogError> {
        let (stream, after) = (&self.streams.state, self.after);
        match self.streams.message(stream, &Which::from(after + 1, &self.subject)).await? {
            Some(next) => match self.place(next.sequence, &next.headers) {
                Place::Next | Place::Known => Ok(()),
                Place::Later => Err(LogError::Gap { first: next.sequence }),
                Place::Foreign => Err(LogError::Foreign { sequence: next.sequence, after }),
            },
            None => {
                let last = self.streams.message(stream, &Which::last_of(&self.subject)).await?;
                let last = last.map_or(0, |last| last.sequence);
                if last < after { Err(LogError::Shorter { last, after }) } else { Ok(()) }
            }
        }
    }

    fn place(&self, sequence: u64, headers: &HeaderMap) -> Place {
        if sequence <= self.after {
            return Place::Known;
        }
        let follows = headers.get(AFTER).and_then(|after| after.as_str().parse::<u64>().ok());
        match follows {
            Some(follows) if follows == self.after => Place::Next,
            Some(follows) if follows > self.after => Place::Later,
            Some(_) | None => Place::Foreign,
        }
    }
}
