//! Bytes in a result: taken out of it, kept as files of their own, and shown as what they are.
//!
//! The guest writes bytes that are no text as `{"$file": {"media_type", "bytes", "base64"}}`, alone or
//! as one more member of what stands for a tool's image: `{"type", "path", "mime", "bytes"}`. A program
//! can write the same by hand: what is not exactly of one of these forms is a value like any other, with
//! all its members, and what the bytes are is told by the bytes.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value, json};

use super::{AnswerPart, Keeping};
use crate::results::{ResultKind, ResultsError, StoredResult};

/// The member that stands for bytes.
const MARK: &str = "$file";
/// Files that are made of one result, and their bytes together. More is data, not something to see.
const FILES_MAX: usize = 8;
const FILES_BYTES_MAX: usize = 10 << 20;
/// Images that go along with one answer, and the most that clients take of one.
const IMAGES_MAX: usize = 4;
const IMAGE_BYTES_MAX: usize = 5 << 20;
/// What nobody knows better.
const OCTETS: &str = "application/octet-stream";

/// A result without its bytes.
pub(super) struct Binaries<'a> {
    pub value: Cow<'a, Value>,
    /// The result with all its bytes, if no file could be made of some of them.
    pub original: Option<&'a Value>,
    pub images: Vec<AnswerPart>,
}

impl<'a> Binaries<'a> {
    /// Takes the bytes out of a result, and keeps them.
    pub async fn of(result: &'a Value, keep: Option<&Keeping>) -> Self {
        let mut marks = Vec::new();
        find(result, &mut marks);
        if marks.is_empty() {
            return Self { value: Cow::Borrowed(result), original: None, images: Vec::new() };
        }
        let (mut stand_ins, mut images) = (Vec::with_capacity(marks.len()), Vec::new());
        let (mut files, mut bytes_left, mut is_missing) = (0, FILES_BYTES_MAX, false);
        for mark in marks {
            let decoded_max = mark.base64.len() / 4 * 3;
            if files >= FILES_MAX || decoded_max > bytes_left + 2 {
                is_missing = true;
                let bytes = mark.bytes.min(decoded_max as u64);
                stand_ins.push(Some(StandIn { file: None, media_type: OCTETS, bytes }));
                continue;
            }
            // What is not base64 was written by hand, and stays as it is.
            let Some(bytes) = mark.decoded() else {
                stand_ins.push(None);
                continue;
            };
            files += 1;
            bytes_left = bytes_left.saturating_sub(bytes.len());
            let (media_type, length) = (media_type_of(&bytes), bytes.len());
            let is_image = media_type.starts_with("image/");
            if is_image && images.len() < IMAGES_MAX && length <= IMAGE_BYTES_MAX {
                images.push(AnswerPart { media_type, base64: mark.base64.to_owned() });
            }
            let file = match keep {
                Some(keep) => put(keep, ResultKind::Binary, Some(media_type.to_owned()), bytes).await.ok(),
                None => None,
            };
            is_missing |= file.is_none();
            let file = file.map(|stored| stored.path_in_program());
            stand_ins.push(Some(StandIn { file, media_type, bytes: length as u64 }));
        }
        let mut value = result.clone();
        replace(&mut value, &mut stand_ins.into_iter());
        Self { value: Cow::Owned(value), original: is_missing.then_some(result), images }
    }
}

/// A result for a person: what bytes there are, without the bytes.
pub fn without_bytes(result: &Value) -> Cow<'_, Value> {
    let mut marks = Vec::new();
    find(result, &mut marks);
    if marks.is_empty() {
        return Cow::Borrowed(result);
    }
    let stand_in = |mark: Mark<'_>| {
        let bytes = mark.decoded()?;
        Some(StandIn { file: None, media_type: media_type_of(&bytes), bytes: bytes.len() as u64 })
    };
    let stand_ins: Vec<Option<StandIn>> = marks.into_iter().map(stand_in).collect();
    let mut value = result.clone();
    replace(&mut value, &mut stand_ins.into_iter());
    Cow::Owned(value)
}

/// Keeps something for the owner of an answer.
pub(super) async fn put(
    keep: &Keeping,
    kind: ResultKind,
    media_type: Option<String>,
    bytes: Vec<u8>,
) -> Result<StoredResult, ResultsError> {
    keep.results.put(&keep.owner, keep.origin.clone(), kind, media_type, bytes).await
}

/// What stands where bytes were.
struct StandIn {
    file: Option<String>,
    media_type: &'static str,
    bytes: u64,
}

/// Bytes in their place.
struct Mark<'a> {
    base64: &'a str,
    bytes: u64,
}

impl<'a> Mark<'a> {
    /// The mark in an object, if it is exactly one.
    fn of(object: &'a Map<String, Value>) -> Option<Self> {
        let Value::Object(mark) = object.get(MARK)? else { return None };
        if object.len() != 1 && !is_image_of_tool(object) {
            return None;
        }
        let (Some(Value::String(_)), Some(bytes), Some(Value::String(base64)), 3) =
            (mark.get("media_type"), mark.get("bytes"), mark.get("base64"), mark.len())
        else {
            return None;
        };
        Some(Self { base64, bytes: bytes.as_u64()? })
    }

    fn decoded(&self) -> Option<Vec<u8>> {
        let bytes = BASE64_STANDARD.decode(self.base64).ok()?;
        (bytes.len() as u64 == self.bytes).then_some(bytes)
    }
}

/// Whether an object is, beside its mark, what stands for an image of a tool and nothing else.
fn is_image_of_tool(object: &Map<String, Value>) -> bool {
    let is_text = |name: &str| object.get(name).is_some_and(Value::is_string);
    object.len() == 5
        && object.get("type").is_some_and(|kind| kind == "image")
        && is_text("path")
        && is_text("mime")
        && object.get("bytes").is_some_and(Value::is_u64)
}

/// All marks, in an order that [`replace`] keeps. The result's nesting is bounded by its limit.
fn find<'a>(value: &'a Value, marks: &mut Vec<Mark<'a>>) {
    match value {
        Value::Object(object) => match Mark::of(object) {
            Some(mark) => marks.push(mark),
            None => object.values().for_each(|member| find(member, marks)),
        },
        Value::Array(items) => items.iter().for_each(|item| find(item, marks)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn replace(value: &mut Value, stand_ins: &mut impl Iterator<Item = Option<StandIn>>) {
    match value {
        Value::Object(object) => match Mark::of(object).is_some() {
            true => {
                if let Some(stand_in) = stand_ins.next().flatten() {
                    stand_in.take_place(object);
                }
            }
            false => object.values_mut().for_each(|member| replace(member, stand_ins)),
        },
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, stand_ins)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl StandIn {
    fn take_place(self, object: &mut Map<String, Value>) {
        object.shift_remove(MARK);
        let is_described = !object.is_empty();
        if let Some(file) = self.file {
            object.insert("file".to_owned(), json!(file));
        }
        // What describes a file already says the rest in its own words.
        if !is_described {
            object.insert("media_type".to_owned(), json!(self.media_type));
            object.insert("bytes".to_owned(), json!(self.bytes));
        }
    }
}

/// What bytes are, by how they begin.
fn media_type_of(bytes: &[u8]) -> &'static str {
    const BEGINNINGS: [(&[u8], &str); 6] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"%PDF-", "application/pdf"),
        (b"PAR1", "application/vnd.apache.parquet"),
    ];
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    let known = BEGINNINGS.into_iter().find(|(beginning, _)| bytes.starts_with(beginning));
    known.map_or(OCTETS, |(_, media_type)| media_type)
}
