//! Messages of a stream as they come, until one is missing or nothing is heard any more: then it's begun anew.

use std::time::Duration;

use async_nats::header::NATS_LAST_CONSUMER;
use async_nats::jetstream::consumer::push::Config as PushConfig;
use async_nats::jetstream::consumer::{AckPolicy, Config, DeliverPolicy, Info, IntoConsumerConfig};
use async_nats::jetstream::response::Response;
use async_nats::{HeaderMap, Message, StatusCode, Subject, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

use super::error::LogError;
use super::streams::{Streams, said};

/// How often the server says that it's there while there is nothing to send.
const HEARTBEAT: Duration = Duration::from_millis(250);

/// How long nothing may be heard.
const SILENCE_MAX: Duration = Duration::from_secs(1);

/// When the server forgets a delivery that nobody hears.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(5);

/// How many messages the server sends before it waits to hear that they were read, and how many are read before it is
/// told. What waits here is bounded in bytes by its flow control, and by this in number: a subscription holds 16,384.
const UNREAD_MAX: i64 = 4096;
const TOLD_EVERY: u64 = 1024;

/// What is read late isn't sent again for that.
const READ_WITHIN: Duration = Duration::from_secs(24 * 60 * 60);

/// A server that waits for our word before it sends more says so once more here.
const STALLED: &str = "Nats-Consumer-Stalled";

/// What is to be delivered.
pub(in crate::state) struct Wanted {
    pub stream: String,
    /// Subjects.
    pub filter: String,
    /// The first sequence.
    pub from: u64,
    pub content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::state) enum Content {
    Whole,
    HeadersOnly,
}

pub(in crate::state) struct Delivery {
    streams: Streams,
    messages: Subscriber,
    reconnects: watch::Receiver<u64>,
    /// How many messages have come.
    received: u64,
    /// Where the server hears that all up to the latest message was read.
    read_up_to: Option<Subject>,
    heard_at: Instant,
    /// What the server said when it began: how much there is, and what time it is there.
    pub begun: Info,
}

pub(in crate::state) enum Delivered {
    Message {
        sequence: u64,
        age_at_begin: Duration,
        pending: u64,
        headers: HeaderMap,
        payload: Bytes,
        subject: Subject,
    },
    /// There is nothing to send at the moment.
    Idle,
}

#[derive(Serialize)]
struct Creation<'a> {
    stream_name: &'a str,
    config: Config,
}

impl Delivery {
    pub async fn begin(streams: &Streams, wanted: &Wanted) -> Result<Self, LogError> {
        let Wanted { stream, filter, from, content } = wanted;
        let client = streams.bus.client();
        let reconnects = streams.bus.reconnects();
        let inbox = client.new_inbox();
        let messages = client.subscribe(inbox.clone()).await;
        let messages = messages.map_err(|error| LogError::Unavailable(error.to_string()))?;
        let name = inbox.rsplit('.').next().unwrap_or_default();
        let config = PushConfig {
            deliver_subject: inbox.clone(),
            name: Some(name.to_owned()),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: *from },
            ack_policy: AckPolicy::All,
            ack_wait: READ_WITHIN,
            max_ack_pending: UNREAD_MAX,
            max_deliver: 1,
            filter_subject: filter.clone(),
            headers_only: *content == Content::HeadersOnly,
            flow_control: true,
            idle_heartbeat: HEARTBEAT,
            inactive_threshold: FORGOTTEN_AFTER,
            num_replicas: 1,
            memory_storage: true,
            ..PushConfig::default()
        };
        let what = format!("CONSUMER.CREATE.{stream}.{name}.{filter}");
        let creation = Creation { stream_name: stream, config: config.into_consumer_config() };
        let begun = match streams.ask::<_, Info>(&what, &creation).await? {
            Response::Ok(info) => info,
            Response::Err { error } => return Err(said(stream, &error)),
        };
        let heard_at = Instant::now();
        let (streams, received, read_up_to) = (streams.clone(), 0, None);
        Ok(Self { streams, messages, reconnects, received, read_up_to, heard_at, begun })
    }

    /// None when it must be begun anew.
    pub async fn next(&mut self) -> Option<Delivered> {
        loop {
            let message = tokio::select! {
                biased;
                message = self.messages.next() => message?,
                // The server may have sent what nobody heard.
                _ = self.reconnects.changed() => return None,
                () = tokio::time::sleep_until(self.heard_at + SILENCE_MAX) => return None,
            };
            self.heard_at = Instant::now();
            match message.status {
                None => return self.take(message).await,
                Some(StatusCode::IDLE_HEARTBEAT) => match message.reply.clone() {
                    Some(reply) => self.go_on(reply).await,
                    None => return self.hear(&message).await,
                },
                Some(_) => return None,
            }
        }
    }

    async fn take(&mut self, message: Message) -> Option<Delivered> {
        let message = async_nats::jetstream::Message { message, context: self.streams.context.clone() };
        let info = message.info().ok()?;
        if info.consumer_sequence != self.received + 1 {
            return None;
        }
        self.received += 1;
        let (sequence, pending) = (info.stream_sequence, info.pending);
        // Both times are the server's. What came after the beginning has no age.
        let age_at_begin = Duration::try_from(self.begun.created - info.published).unwrap_or_default();
        let Message { subject, headers, payload, reply, .. } = message.message;
        self.read_up_to = reply;
        if self.received.is_multiple_of(TOLD_EVERY) {
            self.tell_read().await;
        }
        let headers = headers.unwrap_or_default();
        Some(Delivered::Message { sequence, age_at_begin, pending, headers, payload, subject })
    }

    async fn hear(&mut self, heartbeat: &Message) -> Option<Delivered> {
        let header = |name: &str| {
            heartbeat
                .headers
                .as_ref()
                .and_then(|headers| headers.get(name))
                .map(|value| value.as_str().to_owned())
        };
        let sent: Option<u64> = header(NATS_LAST_CONSUMER.as_ref()).and_then(|text| text.parse().ok());
        if sent.is_some_and(|sent| sent != self.received) {
            return None;
        }
        if let Some(stalled) = header(STALLED) {
            self.go_on(stalled.into()).await;
        }
        // Once more, in case that the server hasn't heard it and waits.
        self.tell_read().await;
        Some(Delivered::Idle)
    }

    async fn tell_read(&self) {
        if let Some(subject) = self.read_up_to.clone() {
            self.go_on(subject).await;
        }
    }

    /// An empty word, which says that whatever was sent before has been read.
    async fn go_on(&self, reply: Subject) {
        // If it's lost, the server asks again.
        let _ = self.streams.bus.client().publish(reply, Bytes::new()).await;
    }
}
