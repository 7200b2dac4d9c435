//! One message on its way into a stream: sent until it is known whether it's in.

use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::header::{NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, NATS_MESSAGE_ID, NATS_ROLLUP};
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::publish::PublishAck;
use async_nats::jetstream::{Error as Refusal, ErrorCode};
use bytes::Bytes;
use gristmill_gateway::domain::one_line;

use super::error::AppendError;
use super::streams::{Streams, Which};

/// How long a first try waits for its acknowledgement, and each one after it. A connection that is made anew ends the
/// wait at once.
const FIRST_ACK_WITHIN: Duration = Duration::from_millis(500);
const ACK_WITHIN: Duration = Duration::from_secs(1);

/// Between tries: a server refuses for a moment what it is still writing, and for seconds while none of them leads.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const PAUSE_MAX: Duration = Duration::from_millis(250);

/// How long servers that start may know less than they kept.
const SHORT_MAX: Duration = Duration::from_secs(15);

/// Says which entry of the log one follows. The server checks its own header and may take it off.
pub(super) const AFTER: &str = "Gm-After";

pub(in crate::state) struct Message {
    pub stream: String,
    pub subject: String,
    pub bytes: Bytes,
    pub order: Order,
}

/// What a message must follow.
pub(in crate::state) enum Order {
    /// Nothing: it takes the place of one that is there.
    Any,
    /// The message with this sequence on its subject; 0 for none. `link` is that message's hash, where it matters. `id`
    /// is its own, and the same in every try.
    After { sequence: u64, link: Option<[u8; 32]>, id: String, earlier: Earlier },
}

/// What happens to messages before it on its subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Earlier {
    Kept,
    Removed,
}

impl Order {
    pub fn after(sequence: u64, link: Option<[u8; 32]>, earlier: Earlier) -> Result<Self, AppendError> {
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| AppendError::Unavailable(error.to_string()))?;
        Ok(Self::After { sequence, link, id: format!("{:032x}", u128::from_be_bytes(id)), earlier })
    }
}

/// How one try ended.
enum Tried {
    Acknowledged(u64),
    /// It isn't what the message expects that comes before it.
    WrongLast,
    TooLarge,
    /// Anything may have happened.
    Unknown(String),
    /// The message that it expects isn't there, and nothing after it. It isn't written.
    Shorter {
        last: u64,
    },
}

impl Streams {
    /// Its sequence.
    pub async fn publish(&self, message: &Message, until: Instant) -> Result<u64, AppendError> {
        let deadline = tokio::time::Instant::from_std(until);
        let mut why = "the bus isn't connected".to_owned();
        let (mut ack_within, mut pause) = (FIRST_ACK_WITHIN, FIRST_PAUSE);
        // Since when the log has been shorter than it was.
        let mut short_since: Option<Instant> = None;
        loop {
            // What is sent without a connection waits in the client, once for each try.
            if tokio::time::timeout_at(deadline, self.bus.connected()).await.is_err() {
                return Err(AppendError::Unavailable(why));
            }
            let within = ack_within.min(deadline.saturating_duration_since(tokio::time::Instant::now()));
            let tried = match self.try_once(message, within).await {
                Tried::WrongLast => self.settle(message).await?,
                other => other,
            };
            if let Tried::Shorter { last } = tried {
                let since = *short_since.get_or_insert_with(Instant::now);
                if since.elapsed() > SHORT_MAX {
                    return Err(AppendError::Overtaken { last });
                }
            }
            match tried {
                Tried::Acknowledged(sequence) => return Ok(sequence),
                Tried::TooLarge => {
                    let max = self.bus.client().max_payload();
                    return Err(AppendError::TooLarge { bytes: message.bytes.len(), max });
                }
                Tried::WrongLast => why = "the server refuses what should follow".to_owned(),
                Tried::Unknown(said) => why = said,
                Tried::Shorter { last } => {
                    why = format!("the log ends with entry {last}, which it didn't before")
                }
            }
            if tokio::time::Instant::now() + pause >= deadline {
                return Err(AppendError::Unavailable(why));
            }
            tokio::time::sleep(pause).await;
            if short_since.is_some() {
                // Whoever wrote on from where it ended may have come as far as this message stands.
                self.still_follows(message).await?;
            }
            (ack_within, pause) = (ACK_WITHIN, (pause * 4).min(PAUSE_MAX));
        }
    }

    async fn try_once(&self, message: &Message, within: Duration) -> Tried {
        let mut reconnects = self.bus.reconnects();
        let mut publish = PublishMessage::build().payload(message.bytes.clone());
        if let Order::After { sequence, id, earlier, link: _ } = &message.order {
            publish = publish.headers(headers(*sequence, id, *earlier));
        }
        let acknowledged = async {
            let sent = self.context.send_publish(message.subject.clone(), publish).await?;
            sent.await
        };
        tokio::select! {
            biased;
            ended = tokio::time::timeout(within, acknowledged) => match ended {
                Ok(Ok(ack)) => judge_ack(&message.order, &ack),
                Ok(Err(error)) => judge_error(&error),
                Err(_) => Tried::Unknown("no acknowledgement in time".to_owned()),
            },
            // An acknowledgement that was on its way is lost.
            _ = reconnects.changed() => Tried::Unknown("the connection was lost".to_owned()),
        }
    }

    /// The server says that something else comes last: perhaps this very message, in an earlier try.
    async fn settle(&self, message: &Message) -> Result<Tried, AppendError> {
        let Message { stream, subject, order, .. } = message;
        let Order::After { sequence: after, id, .. } = order else { return Ok(Tried::WrongLast) };
        let unknown = |error: super::LogError| Tried::Unknown(error.to_string());
        let next = match self.message(stream, &Which::from(after + 1, subject)).await {
            Ok(next) => next,
            Err(error) => return Ok(unknown(error)),
        };
        let last = match self.message(stream, &Which::last_of(subject)).await {
            Ok(last) => last.map_or(0, |last| last.sequence),
            Err(error) => return Ok(unknown(error)),
        };
        match next {
            Some(next) if next.headers.get(NATS_MESSAGE_ID).is_some_and(|known| known.as_str() == id) => {
                Ok(Tried::Acknowledged(next.sequence))
            }
            Some(next) => Err(AppendError::Overtaken { last: last.max(next.sequence) }),
            None if last < *after => Ok(Tried::Shorter { last }),
            // Something is still being written there.
            None => Ok(Tried::Unknown(format!("the last entry is {last}, and it should follow {after}"))),
        }
    }
}

impl Streams {
    /// Whether the message that this one follows is the one that it knows. If it can't be had, it may be.
    async fn still_follows(&self, message: &Message) -> Result<(), AppendError> {
        let Order::After { sequence, link: Some(link), .. } = &message.order else { return Ok(()) };
        let there = self.message(&message.stream, &Which::from(*sequence, &message.subject)).await;
        match there {
            Ok(Some(there)) if there.sequence == *sequence && blake3::hash(&there.payload) != *link => {
                Err(AppendError::Overtaken { last: there.sequence })
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

fn headers(after: u64, id: &str, earlier: Earlier) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(NATS_MESSAGE_ID, id);
    headers.insert(NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, after.to_string());
    headers.insert(AFTER, after.to_string());
    match earlier {
        Earlier::Kept => {}
        Earlier::Removed => headers.insert(NATS_ROLLUP, "sub"),
    }
    headers
}

fn judge_ack(order: &Order, ack: &PublishAck) -> Tried {
    match order {
        // A server that knows the message, but not yet where it stands, may say 0.
        Order::After { sequence, .. } if ack.sequence <= *sequence => {
            Tried::Unknown("the server is still writing it".to_owned())
        }
        Order::After { .. } | Order::Any => Tried::Acknowledged(ack.sequence),
    }
}

fn judge_error(error: &PublishError) -> Tried {
    let unknown = || Tried::Unknown(one_line(&error.to_string(), 200));
    match error.kind() {
        PublishErrorKind::WrongLastSequence => Tried::WrongLast,
        PublishErrorKind::MaxPayloadExceeded => Tried::TooLarge,
        PublishErrorKind::StreamNotFound => Tried::Unknown("no server leads the stream".to_owned()),
        PublishErrorKind::Other => {
            let refusal = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<Refusal>());
            match refusal.map(Refusal::error_code) {
                Some(ErrorCode::STREAM_WRONG_LAST_SEQUENCE_CONSTANT) => Tried::WrongLast,
                Some(ErrorCode::STREAM_MESSAGE_EXCEEDS_MAXIMUM) => Tried::TooLarge,
                Some(_) | None => unknown(),
            }
        }
        PublishErrorKind::TimedOut
        | PublishErrorKind::BrokenPipe
        | PublishErrorKind::WrongLastMessageId
        | PublishErrorKind::MaxAckPending => unknown(),
    }
}
