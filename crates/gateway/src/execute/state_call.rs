//! A program's `state`: its requests understood and carried out one after the other.
//!
//! They are no tool calls and stand in no report, but they are bounded like them.

use std::collections::VecDeque;
use std::sync::Arc;

use gristmill_domain::Code;
use gristmill_protocol::{Completion, JSON_DEPTH_MAX, JsonCaps};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_failure::failure;
use crate::ports::{BoxFuture, StateFailure, StateValues};
use crate::report::cut;
use crate::state_values::{KEY_BYTES_MAX, VALUE_BYTES_MAX};

/// What a refusal calls them.
const NAME: &str = "state";

/// Requests of one program; each may be a write to the disk.
const CALLS_MAX: u64 = 10_000;

/// A program that asks on and on after it was refused as often floods us.
const REFUSED_MAX: u64 = 10_000;

/// A key, escaped at its worst, a value, and the words around them. A value above its bound must
/// come in to be refused with its name.
const PAYLOAD_BYTES_MAX: usize = 2 * VALUE_BYTES_MAX + 6 * KEY_BYTES_MAX;

const MESSAGE_CHARS_MAX: usize = 500;

/// What the guest writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatePayload {
    #[serde(rename = "do")]
    act: Act,
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    value: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Act {
    Get,
    Set,
    Delete,
    Keys,
    Clear,
}

impl Act {
    fn changes(self) -> bool {
        match self {
            Self::Get | Self::Keys => false,
            Self::Set | Self::Delete | Self::Clear => true,
        }
    }
}

struct StateCall {
    id: u64,
    written: StatePayload,
    bytes: usize,
}

/// A worker that asks for far more than any program does.
#[derive(Debug)]
pub(super) struct Flood;

/// The requests of one execution.
pub(super) struct StateCalls {
    values: Arc<dyn StateValues>,
    waiting: VecDeque<StateCall>,
    waiting_bytes: usize,
    running: Option<BoxFuture<'static, Completion>>,
    asked: u64,
    has_changed: bool,
}

impl StateCalls {
    pub fn new(values: Arc<dyn StateValues>) -> Self {
        Self {
            values,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            running: None,
            asked: 0,
            has_changed: false,
        }
    }

    /// Takes a request; gives the answer where that is no.
    pub fn ask(&mut self, id: u64, payload: &str) -> Result<Option<Completion>, Flood> {
        self.asked += 1;
        if self.asked > CALLS_MAX + REFUSED_MAX {
            return Err(Flood);
        }
        if self.asked > CALLS_MAX {
            return Ok(Some(refusal(id, &format!("a program can use `state` at most {CALLS_MAX} times"))));
        }
        Ok(match read(payload) {
            Ok(written) => {
                self.waiting_bytes += payload.len();
                self.waiting.push_back(StateCall { id, written, bytes: payload.len() });
                None
            }
            Err(message) => Some(refusal(id, &message)),
        })
    }

    /// Whether anything may have been changed.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// What waits for its turn.
    pub fn waiting_bytes(&self) -> usize {
        self.waiting_bytes
    }

    /// The next answer; waits for ever where there is nothing to answer. Safe to drop and call again.
    pub async fn next(&mut self) -> Completion {
        if self.running.is_none()
            && let Some(next) = self.waiting.pop_front()
        {
            self.waiting_bytes -= next.bytes;
            self.has_changed |= next.written.act.changes();
            self.running = Some(Box::pin(carry_out(Arc::clone(&self.values), next)));
        }
        match &mut self.running {
            None => std::future::pending().await,
            Some(running) => {
                let completion = running.await;
                self.running = None;
                completion
            }
        }
    }
}

fn read(payload: &str) -> Result<StatePayload, String> {
    let caps = JsonCaps { bytes_max: PAYLOAD_BYTES_MAX, depth_max: JSON_DEPTH_MAX, values_max: usize::MAX };
    caps.check(payload.as_bytes()).map_err(|error| format!("the value of state: {error}"))?;
    let written: StatePayload =
        serde_json::from_str(payload).map_err(|error| format!("can't read the request: {error}"))?;
    match (written.act, &written.key) {
        (Act::Get | Act::Set | Act::Delete, None) => Err("the key of `state` is missing".to_owned()),
        (Act::Get | Act::Set | Act::Delete, Some(_)) | (Act::Keys | Act::Clear, _) => Ok(written),
    }
}

async fn carry_out(values: Arc<dyn StateValues>, asked: StateCall) -> Completion {
    let StateCall { id, written, .. } = asked;
    match answer(&*values, written).await {
        Ok(payload) => Completion { id, ok: true, payload },
        Err(StateFailure(message)) => refusal(id, &message),
    }
}

async fn answer(values: &dyn StateValues, written: StatePayload) -> Result<String, StateFailure> {
    let key = written.key.unwrap_or_default();
    match written.act {
        // A list, because null is a value too.
        Act::Get => Ok(format!("[{}]", values.get(&key).await?.unwrap_or_default())),
        Act::Set => {
            // JSON's null arrives as no value at all.
            let value = written.value.map_or_else(|| "null".to_owned(), |value| value.get().to_owned());
            values.set(&key, value).await?;
            Ok("null".to_owned())
        }
        Act::Delete => Ok(values.remove(&key).await?.to_string()),
        Act::Keys => {
            let keys = values.keys().await?;
            serde_json::to_string(&keys).map_err(|error| StateFailure(error.to_string()))
        }
        Act::Clear => {
            values.clear().await?;
            Ok("null".to_owned())
        }
    }
}

fn refusal(id: u64, message: &str) -> Completion {
    failure(id, NAME, Code::BadCall, &cut(message, MESSAGE_CHARS_MAX), NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_values::StateInMemory;

    fn calls() -> StateCalls {
        StateCalls::new(Arc::new(StateInMemory::default()))
    }

    async fn asked(calls: &mut StateCalls, payload: &str) -> (bool, String) {
        let completion = match calls.ask(7, payload).expect("no flood") {
            Some(refused) => refused,
            None => calls.next().await,
        };
        assert_eq!(completion.id, 7);
        (completion.ok, completion.payload)
    }

    #[tokio::test]
    async fn values_are_kept_as_they_were_written() {
        let mut calls = calls();
        for (payload, answer) in [
            (r#"{"do":"get","key":"a"}"#, "[]"),
            (r#"{"do":"set","key":"a","value":{"n":123456789012345678901234567890}}"#, "null"),
            (r#"{"do":"set","key":"b","value":null}"#, "null"),
            (r#"{"do":"get","key":"a"}"#, r#"[{"n":123456789012345678901234567890}]"#),
            (r#"{"do":"get","key":"b"}"#, "[null]"),
            (r#"{"do":"keys"}"#, r#"["a","b"]"#),
            (r#"{"do":"delete","key":"a"}"#, "true"),
            (r#"{"do":"delete","key":"a"}"#, "false"),
            (r#"{"do":"clear"}"#, "null"),
            (r#"{"do":"keys"}"#, "[]"),
        ] {
            assert_eq!(asked(&mut calls, payload).await, (true, answer.to_owned()), "{payload}");
        }
        assert_eq!(calls.waiting_bytes(), 0);
    }

    #[tokio::test]
    async fn what_cannot_be_understood_is_answered_with_a_reason() {
        let mut calls = calls();
        let large = format!(r#"{{"do":"set","key":"a","value":"{}"}}"#, "x".repeat(3 * VALUE_BYTES_MAX));
        let deep = "[".repeat(1000);
        for (payload, reason) in [
            ("{}", "missing field `do`"),
            (r#"{"do":"drop"}"#, "unknown variant `drop`"),
            (r#"{"do":"get"}"#, "the key of `state` is missing"),
            (r#"{"do":"keys","as":"root"}"#, "unknown field `as`"),
            (large.as_str(), "the value of state"),
            (deep.as_str(), "the value of state"),
        ] {
            let (ok, answer) = asked(&mut calls, payload).await;
            assert!(!ok && answer.contains(reason) && answer.len() < 1000, "{answer}");
        }
    }

    #[tokio::test]
    async fn a_program_that_asks_on_and_on_is_refused_and_then_ended() {
        let mut calls = calls();
        let keys = r#"{"do":"keys"}"#;
        for _ in 0..CALLS_MAX {
            assert!(asked(&mut calls, keys).await.0);
        }
        assert!(asked(&mut calls, keys).await.1.contains("10000 times"));
        for _ in 1..REFUSED_MAX {
            assert!(!asked(&mut calls, keys).await.0);
        }
        assert!(calls.ask(1, keys).is_err());
    }
}
