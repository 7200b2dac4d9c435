//! The two streams of a cluster, made when they aren't there, and what is asked about them.

use std::time::Duration;

use async_nats::jetstream::context::{Context, ContextBuilder, RequestError, RequestErrorKind};
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::response::Response;
use async_nats::jetstream::stream::{
    Config, DiscardPolicy, Info, PurgeResponse, RawMessage, RetentionPolicy, StorageType,
};
use async_nats::jetstream::{Error as Refusal, ErrorCode};
use gristmill_gateway::domain::one_line;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::LogError;
use super::permissions::Permissions;
use crate::bus::{Bus, LOG_AREA};

/// How long an answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// How long it may take to make a stream or to change it: its servers choose one that leads.
const MADE_WITHIN: Duration = Duration::from_secs(10);

/// How long the server knows the ids of messages.
const DUPLICATES_KNOWN: Duration = Duration::from_secs(120);

/// Cheap to clone.
#[derive(Clone)]
pub(in crate::state) struct Streams {
    pub bus: Bus,
    pub context: Context,
    /// Names.
    pub state: String,
    pub blobs: String,
}

/// Which message of a stream.
#[derive(Serialize)]
pub(in crate::state) struct Which<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_by_subj: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_by_subj: Option<&'a str>,
}

impl<'a> Which<'a> {
    pub fn last_of(subject: &'a str) -> Self {
        Self { seq: None, last_by_subj: Some(subject), next_by_subj: None }
    }

    /// The first one with that sequence or a higher one.
    pub fn from(sequence: u64, subject: &'a str) -> Self {
        Self { seq: Some(sequence), last_by_subj: None, next_by_subj: Some(subject) }
    }
}

#[derive(Deserialize)]
struct Got {
    message: RawMessage,
}

#[derive(Serialize)]
struct PurgeWhat<'a> {
    filter: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
}

impl Streams {
    /// Makes what isn't there.
    pub async fn open(bus: &Bus, replicas: usize) -> Result<Self, LogError> {
        let context = ContextBuilder::new().timeout(ANSWER_WITHIN).build(bus.client().clone());
        let subjects = bus.subjects();
        let streams = Self {
            bus: bus.clone(),
            context,
            state: subjects.state_stream(),
            blobs: subjects.blobs_stream(),
        };
        let kept = |name: &str| Config {
            name: name.to_owned(),
            retention: RetentionPolicy::Limits,
            discard: DiscardPolicy::Old,
            storage: StorageType::File,
            num_replicas: replicas.max(1),
            duplicate_window: DUPLICATES_KNOWN,
            ..Config::default()
        };
        // A new snapshot takes the place of the one before.
        let state = Config {
            subjects: vec![subjects.state_log(), subjects.state_snapshot()],
            allow_rollup: true,
            ..kept(&streams.state)
        };
        let blobs = Config {
            subjects: vec![subjects.all_blob_parts()],
            max_messages_per_subject: 1,
            allow_direct: true,
            ..kept(&streams.blobs)
        };
        streams.make(&state).await?;
        streams.make(&blobs).await?;
        Ok(streams)
    }

    async fn make(&self, wanted: &Config) -> Result<(), LogError> {
        let stream = &wanted.name;
        let there = match self.info(stream).await? {
            Some(info) => info,
            None => match self.create(wanted).await? {
                Some(info) => info,
                None => self.info(stream).await?.ok_or_else(|| LogError::NoStream(stream.clone()))?,
            },
        };
        if let Some(what) = unfit(wanted, &there.config) {
            return Err(LogError::OtherSettings { stream: stream.clone(), what });
        }
        // Never fewer: others may know more servers.
        if there.config.num_replicas < wanted.num_replicas {
            self.copy_more(&there.config, wanted.num_replicas).await;
        }
        Ok(())
    }

    async fn info(&self, stream: &str) -> Result<Option<Info>, LogError> {
        match self.ask(&format!("STREAM.INFO.{stream}"), &()).await? {
            Response::Ok(info) => Ok(Some(info)),
            Response::Err { error } if error.error_code() == ErrorCode::STREAM_NOT_FOUND => Ok(None),
            Response::Err { error } => Err(said(stream, &error)),
        }
    }

    /// None if somebody else has made it at the same time.
    async fn create(&self, wanted: &Config) -> Result<Option<Info>, LogError> {
        let patient = self.patient();
        match patient.ask(&format!("STREAM.CREATE.{}", wanted.name), wanted).await? {
            Response::Ok(info) => Ok(Some(info)),
            Response::Err { error } => match error.error_code() {
                ErrorCode::STREAM_NAME_EXIST => Ok(None),
                ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED | ErrorCode::CLUSTER_NO_PEERS => {
                    let replicas = wanted.num_replicas;
                    Err(LogError::TooFewServers { replicas, said: one_line(&error.to_string(), 200) })
                }
                _ => Err(said(&wanted.name, &error)),
            },
        }
    }

    /// It goes on with fewer, if that can't be.
    async fn copy_more(&self, there: &Config, replicas: usize) {
        let stream = &there.name;
        let config = Config { num_replicas: replicas, ..there.clone() };
        let why = match self.patient().ask::<_, Info>(&format!("STREAM.UPDATE.{stream}"), &config).await {
            Ok(Response::Ok(_)) => return,
            Ok(Response::Err { error }) => error.to_string(),
            Err(error) => error.to_string(),
        };
        tracing::warn!(target: LOG_AREA, %stream, replicas, %why, "the bus keeps fewer copies than it could");
    }

    fn patient(&self) -> Self {
        let mut patient = self.clone();
        patient.context.set_timeout(MADE_WITHIN);
        patient
    }

    /// A message, as the server knows it that leads the stream.
    pub async fn message(&self, stream: &str, which: &Which<'_>) -> Result<Option<StreamMessage>, LogError> {
        match self.ask::<_, Got>(&format!("STREAM.MSG.GET.{stream}"), which).await? {
            Response::Ok(got) => match StreamMessage::try_from(got.message) {
                Ok(message) => Ok(Some(message)),
                Err(error) => Err(LogError::Unavailable(one_line(&error.to_string(), 200))),
            },
            Response::Err { error } if error.error_code() == ErrorCode::NO_MESSAGE_FOUND => Ok(None),
            Response::Err { error } => Err(said(stream, &error)),
        }
    }

    /// Removes what is on those subjects, below that sequence if there is one.
    pub async fn purge(&self, stream: &str, filter: &str, below: Option<u64>) -> Result<(), LogError> {
        let what = PurgeWhat { filter, seq: below };
        match self.patient().ask::<_, PurgeResponse>(&format!("STREAM.PURGE.{stream}"), &what).await? {
            Response::Ok(_) => Ok(()),
            Response::Err { error } => Err(said(stream, &error)),
        }
    }

    /// One question to JetStream, and what it answers.
    pub async fn ask<Q, A>(&self, what: &str, question: &Q) -> Result<Response<A>, LogError>
    where
        Q: Serialize + ?Sized,
        A: DeserializeOwned,
    {
        let answer = self.context.request(what.to_owned(), question).await;
        answer.map_err(|error| self.unanswered(&format!("$JS.API.{what}"), &error))
    }

    /// A server that refuses a subject says so elsewhere, and doesn't answer.
    pub fn unanswered(&self, subject: &str, error: &RequestError) -> LogError {
        match error.kind() {
            RequestErrorKind::NoResponders => LogError::NoJetStream,
            RequestErrorKind::TimedOut => {
                let quoted = format!("\"{subject}\"");
                let concerns = |said: &str| said.contains(&quoted) || said.contains("\"_INBOX.");
                match self.bus.refusal(concerns) {
                    None => LogError::Unavailable("no answer in time".to_owned()),
                    Some(said) => {
                        let Permissions { publish, subscribe } = Permissions::of(self.bus.subjects());
                        let listed = |subjects: Vec<String>| subjects.join(", ");
                        LogError::NotPermitted {
                            said,
                            publish: listed(publish),
                            subscribe: listed(subscribe),
                        }
                    }
                }
            }
            RequestErrorKind::InvalidSubject | RequestErrorKind::Other => {
                LogError::Unavailable(one_line(&error.to_string(), 200))
            }
        }
    }
}

/// What a server said about a stream in place of an answer.
pub(in crate::state) fn said(stream: &str, error: &Refusal) -> LogError {
    match error.error_code() {
        ErrorCode::JETSTREAM_NOT_ENABLED | ErrorCode::JETSTREAM_NOT_ENABLED_FOR_ACCOUNT => {
            LogError::NoJetStream
        }
        ErrorCode::STREAM_NOT_FOUND => LogError::NoStream(stream.to_owned()),
        _ => LogError::Unavailable(one_line(&error.to_string(), 200)),
    }
}

/// What of a stream's settings would lose or refuse what is written.
fn unfit(wanted: &Config, there: &Config) -> Option<&'static str> {
    let is_limited = |limit: i64| limit > 0;
    match there {
        _ if there.subjects != wanted.subjects => Some("subjects"),
        _ if there.retention != wanted.retention => Some("retention"),
        _ if there.storage != wanted.storage => Some("storage"),
        _ if !there.max_age.is_zero() => Some("max_age"),
        _ if is_limited(there.max_messages) => Some("max_msgs"),
        _ if is_limited(there.max_bytes) && there.discard == DiscardPolicy::Old => Some("max_bytes"),
        _ if there.max_messages_per_subject.max(0) != wanted.max_messages_per_subject => {
            Some("max_msgs_per_subject")
        }
        _ if there.allow_rollup != wanted.allow_rollup => Some("allow_rollup_hdrs"),
        _ if there.deny_purge => Some("deny_purge"),
        _ => None,
    }
}
