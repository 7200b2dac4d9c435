//! Arguments of a call, read into the types that a tool works with. Their schema has been checked before.

use std::ops::RangeInclusive;

use gristmill_gateway::domain::{Code, one_line};
use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};

use super::answer::Answer;

pub(super) fn read_arguments<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Answer> {
    serde_json::from_value(Value::Object(arguments))
        .map_err(|error| Answer::refused(Code::BadRequest, &format!("the arguments: {error}"), None))
}

/// A whole number within a range. Anything else is refused in words that name the range.
pub(super) fn whole_number(
    name: &str,
    given: Option<&Number>,
    range: RangeInclusive<u64>,
) -> Result<Option<u64>, Answer> {
    let Some(given) = given else { return Ok(None) };
    given.as_u64().filter(|given| range.contains(given)).map(Some).ok_or_else(|| {
        let given = one_line(&given.to_string(), 24);
        let message = format!("{name} is {given}; it can be {} to {}", range.start(), range.end());
        Answer::refused(Code::BadRequest, &message, None)
    })
}
