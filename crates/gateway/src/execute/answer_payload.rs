//! The answer of a tool as the guest reads it.

use std::ops::Range;

use gristmill_domain::{AnswerFile, ToolAnswer};
use gristmill_protocol::{CALL_PAYLOAD_BYTES_MAX, JSON_DEPTH_MAX, JsonCapError, JsonCaps};
use serde::Serialize;
use serde_json::value::RawValue;

/// Stands before an answer with files: a letter, which no JSON begins with.
const WITH_FILES: char = 'F';

pub(super) struct AnswerPayload {
    pub text: String,
    /// Where in the text the value stands, without files.
    pub value: Range<usize>,
}

/// An answer that cannot be handed over. The call was made all the same.
#[derive(Debug, thiserror::Error)]
pub(super) enum AnswerPayloadError {
    #[error("is {bytes} bytes; the most is {CALL_PAYLOAD_BYTES_MAX}; ask the tool for less")]
    TooLarge { bytes: usize },
    #[error("is too large with its files; ask the tool for less")]
    TooLargeWithFiles,
    #[error(transparent)]
    Caps(#[from] JsonCapError),
    #[error("isn't JSON: {0}")]
    NotJson(#[from] serde_json::Error),
}

impl AnswerPayloadError {
    /// What the program of that tool is told.
    pub fn of_tool(&self, name: &str) -> String {
        match self {
            Self::Caps(error) => format!("the answer of `{name}`: {error}"),
            Self::TooLarge { .. } | Self::TooLargeWithFiles | Self::NotJson(_) => {
                format!("the answer of `{name}` {self}")
            }
        }
    }
}

#[derive(Serialize)]
struct WithFiles<'a> {
    value: &'a RawValue,
    files: &'a [AnswerFile],
}

impl AnswerPayload {
    pub fn new(answer: ToolAnswer) -> Result<Self, AnswerPayloadError> {
        if answer.bytes() > CALL_PAYLOAD_BYTES_MAX {
            return Err(AnswerPayloadError::TooLarge { bytes: answer.bytes() });
        }
        let caps =
            JsonCaps { bytes_max: CALL_PAYLOAD_BYTES_MAX, depth_max: JSON_DEPTH_MAX, values_max: usize::MAX };
        caps.check(answer.json.as_bytes())?;
        if answer.files.is_empty() {
            let value = 0..answer.json.len();
            return Ok(Self { text: answer.json, value });
        }
        let value: &RawValue = serde_json::from_str(&answer.json)?;
        let payload = serde_json::to_string(&WithFiles { value, files: &answer.files })?;
        if payload.len() >= CALL_PAYLOAD_BYTES_MAX {
            return Err(AnswerPayloadError::TooLargeWithFiles);
        }
        // The value is the first member.
        let begin = WITH_FILES.len_utf8() + r#"{"value":"#.len();
        Ok(Self { text: format!("{WITH_FILES}{payload}"), value: begin..begin + value.get().len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(json: &str, files: Vec<AnswerFile>) -> ToolAnswer {
        ToolAnswer { json: json.to_owned(), files }
    }

    #[test]
    fn the_value_is_found_with_files_and_without() {
        let file = AnswerFile { mime: "image/png".to_owned(), base64: "AAH/".to_owned(), name: None };
        for files in [Vec::new(), vec![file]] {
            let payload = AnswerPayload::new(answer(r#"{"$file":0}"#, files)).unwrap();
            assert_eq!(&payload.text[payload.value.clone()], r#"{"$file":0}"#, "{}", payload.text);
        }
    }

    #[test]
    fn what_cannot_be_handed_over_is_told_of_its_tool() {
        let told = |json: &str| match AnswerPayload::new(answer(json, Vec::new())) {
            Ok(payload) => panic!("taken: {} bytes", payload.text.len()),
            Err(error) => error.of_tool("a.b"),
        };
        assert_eq!(
            told(&"x".repeat(CALL_PAYLOAD_BYTES_MAX + 1)),
            format!(
                "the answer of `a.b` is {} bytes; the most is {CALL_PAYLOAD_BYTES_MAX}; ask the tool for less",
                CALL_PAYLOAD_BYTES_MAX + 1
            )
        );
        assert!(told(&"[".repeat(1000)).starts_with("the answer of `a.b`: "));
    }
}
