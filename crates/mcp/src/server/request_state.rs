//! The state that a client carries from one round of a request to the next, when a server has asked
//! something in between. It comes back from a party that is not trusted: it is signed, it expires,
//! and it names the execution, the round, and what was asked for.

use std::io::{self, BufWriter, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gristmill_gateway::ids::{ExecutionId, Owner};
use serde_json::{Map, Value};

/// A person needs minutes for a form, not hours.
const VALID_FOR: Duration = Duration::from_secs(15 * 60);

/// Signs and reads states. What one process signs, no other accepts: the executions are in its memory.
pub(super) struct StateSigner {
    key: [u8; 32],
}

/// Why a state is not accepted.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadState {
    #[error("requestState isn't from this gateway or this request; send the request again without it")]
    Foreign,
    #[error("requestState has expired; send the request again without it")]
    Expired,
}

impl StateSigner {
    /// With a key of its own.
    pub fn new() -> Result<Self, getrandom::Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)?;
        Ok(Self { key })
    }

    /// A state for one execution that goes on when `asked` is sent again.
    pub fn sign(&self, id: &ExecutionId, asked: &Asked<'_>, round: Round, now: SystemTime) -> String {
        let expires = seconds(now + VALID_FOR);
        let body = format!("{id}.{expires}.{}.{}", round.number, round.last_question);
        let mac = self.mac(&body, asked);
        format!("{body}.{}", URL_SAFE_NO_PAD.encode(mac.as_bytes()))
    }

    /// The execution that goes on, and from which round. Whether somebody has come back from that round before is
    /// for whoever keeps the execution to know.
    pub fn read(
        &self,
        state: &str,
        asked: &Asked<'_>,
        now: SystemTime,
    ) -> Result<(ExecutionId, Round), BadState> {
        let (body, mac) = state.rsplit_once('.').ok_or(BadState::Foreign)?;
        let mac: [u8; 32] = URL_SAFE_NO_PAD
            .decode(mac)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(BadState::Foreign)?;
        // Compared in constant time, which blake3's type does.
        if self.mac(body, asked) != blake3::Hash::from_bytes(mac) {
            return Err(BadState::Foreign);
        }
        let mut parts = body.split('.');
        let id = parts.next().and_then(ExecutionId::read).ok_or(BadState::Foreign)?;
        let mut number = || parts.next().and_then(|text| text.parse().ok()).ok_or(BadState::Foreign);
        let (expires, round): (u64, _) = (number()?, Round { number: number()?, last_question: number()? });
        if seconds(now) > expires {
            return Err(BadState::Expired);
        }
        Ok((id, round))
    }

    fn mac(&self, body: &str, asked: &Asked<'_>) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in
            [body.as_bytes(), asked.owner.0.as_bytes(), asked.tool.as_bytes(), asked.arguments.as_bytes()]
        {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    }
}

/// One time that questions were put to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Round {
    /// Makes each state unlike the one before.
    pub number: u64,
    /// Questions that came later were not in it, and are not answered by it.
    pub last_question: u64,
}

/// What a state belongs to: the same caller must send the same again.
pub(super) struct Asked<'a> {
    pub owner: &'a Owner,
    pub tool: &'a str,
    /// See [`digest_of`].
    pub arguments: blake3::Hash,
}

/// Stands for arguments that are not kept.
pub(super) fn digest_of(arguments: &Map<String, Value>) -> blake3::Hash {
    // Most parts are small, for which a hasher is slow. It takes whatever it is given.
    let mut writer = BufWriter::new(blake3::Hasher::new());
    let _ = digest_object(arguments, &mut writer);
    let _ = writer.flush();
    writer.get_ref().finalize()
}

/// Each value behind its kind and its length: no two of them are the same bytes. Programs are long texts, which as
/// JSON would have to be escaped.
fn digest_value(value: &Value, writer: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Null => writer.write_all(b"n"),
        Value::Bool(is_true) => writer.write_all(if *is_true { b"t" } else { b"f" }),
        Value::Number(number) => digest_text(b'#', number.as_str(), writer),
        Value::String(text) => digest_text(b'"', text, writer),
        Value::Array(values) => {
            digest_length(b'[', values.len(), writer)?;
            values.iter().try_for_each(|value| digest_value(value, writer))
        }
        Value::Object(members) => digest_object(members, writer),
    }
}

fn digest_object(members: &Map<String, Value>, writer: &mut impl Write) -> io::Result<()> {
    digest_length(b'{', members.len(), writer)?;
    members.iter().try_for_each(|(key, value)| {
        digest_text(b'"', key, writer)?;
        digest_value(value, writer)
    })
}

fn digest_text(kind: u8, text: &str, writer: &mut impl Write) -> io::Result<()> {
    digest_length(kind, text.len(), writer)?;
    writer.write_all(text.as_bytes())
}

fn digest_length(kind: u8, length: usize, writer: &mut impl Write) -> io::Result<()> {
    writer.write_all(&[kind])?;
    writer.write_all(&(length as u64).to_le_bytes())
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            other => unreachable!("{other}"),
        }
    }

    #[test]
    fn no_two_arguments_have_one_digest() {
        let texts = [
            r#"{"a":"b"}"#,
            r#"{"ab":""}"#,
            r#"{"a":"b","c":"d"}"#,
            r#"{"a":{"b":"c"}}"#,
            r#"{"a":["b","c"]}"#,
            r#"{"a":["bc"]}"#,
            r#"{"a":[["b"],"c"]}"#,
            r#"{"a":[["b","c"]]}"#,
            r#"{"a":null}"#,
            r#"{"a":true}"#,
            r#"{"a":false}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1}"#,
            r#"{"a":1.0}"#,
            r#"{"a":12345678901234567890123}"#,
            r#"{"a":12345678901234567890124}"#,
            r#"{"a":"n"}"#,
            r#"{"a":[]}"#,
            r#"{"a":{}}"#,
            "{}",
        ];
        let digests: std::collections::HashSet<blake3::Hash> =
            texts.iter().map(|text| digest_of(&object(serde_json::from_str(text).unwrap()))).collect();
        assert_eq!(digests.len(), texts.len());
    }

    #[test]
    fn a_state_is_good_for_its_caller_its_request_and_its_time_only() {
        let signer = StateSigner::new().unwrap();
        let (owner, other) = (Owner("a".to_owned()), Owner("b".to_owned()));
        let id = ExecutionId::read("abcdefghijkmnpqrstuv").unwrap();
        let arguments = object(json!({"code": "1"}));
        let asked = Asked { owner: &owner, tool: "execute_code", arguments: digest_of(&arguments) };
        let now = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let round = Round { number: 1, last_question: 5 };
        let state = signer.sign(&id, &asked, round, now);

        assert_eq!(signer.read(&state, &asked, now), Ok((id.clone(), round)));
        assert_eq!(
            signer.read(&state, &asked, now + VALID_FOR + Duration::from_secs(1)),
            Err(BadState::Expired)
        );
        let foreign = Err(BadState::Foreign);
        assert_eq!(signer.read(&state, &Asked { owner: &other, ..asked }, now), foreign);
        assert_eq!(signer.read(&state, &Asked { tool: "get_execution", ..asked }, now), foreign);
        let changed = object(json!({"code": "2"}));
        assert_eq!(signer.read(&state, &Asked { arguments: digest_of(&changed), ..asked }, now), foreign);
        assert_eq!(StateSigner::new().unwrap().read(&state, &asked, now), foreign);
        for broken in [
            "",
            ".",
            "....",
            &state[1..],
            &state[..state.len() - 1],
            &state.replace(".1.", ".2."),
            &state.replace(".5.", ".6."),
        ] {
            assert_eq!(signer.read(broken, &asked, now), foreign, "{broken}");
        }
        assert_ne!(signer.sign(&id, &asked, Round { number: 2, ..round }, now), state);
    }
}
