//! Calls with all that is known of them: as they are told to others, the moment is left out.

use serde::{Deserialize, Deserializer, Serializer};

use super::RecordedCall;

pub(super) fn serialize<S: Serializer>(calls: &[RecordedCall], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(calls.iter().map(|call| (call, call.began_ms)))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RecordedCall>, D::Error> {
    let calls = Vec::<(RecordedCall, Option<f64>)>::deserialize(deserializer)?;
    Ok(calls.into_iter().map(|(call, began_ms)| RecordedCall { began_ms, ..call }).collect())
}
