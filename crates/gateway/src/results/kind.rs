//! What a result is: JSON, text or bytes, and what its file is called.

use gristmill_domain::policy::Seen;

use super::Origin;
use crate::ids::Owner;
use crate::store::ResultRecord;

/// Longer ones are no media types.
const MEDIA_TYPE_BYTES_MAX: usize = 127;

/// What a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// One JSON text.
    Json,
    /// Text that is no JSON.
    Text,
    /// Bytes, such as an image.
    Binary,
}

impl ResultKind {
    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            ResultKind::Json => "json",
            ResultKind::Text => "text",
            ResultKind::Binary => "binary",
        }
    }

    fn read(text: &str) -> Self {
        match text {
            "json" => ResultKind::Json,
            "text" => ResultKind::Text,
            // A kind of a later version is bytes to us.
            _ => ResultKind::Binary,
        }
    }

    /// How the name of its file ends. Of bytes by their media type, where it is a common one.
    pub(super) fn ending(self, media_type: Option<&str>) -> &'static str {
        match self {
            ResultKind::Json => "json",
            ResultKind::Text => "txt",
            ResultKind::Binary => match media_type.unwrap_or_default() {
                "image/png" => "png",
                "image/jpeg" => "jpg",
                "image/gif" => "gif",
                "image/webp" => "webp",
                "image/svg+xml" => "svg",
                "audio/mpeg" => "mp3",
                "audio/wav" | "audio/x-wav" => "wav",
                "audio/ogg" => "ogg",
                "video/mp4" => "mp4",
                "application/pdf" => "pdf",
                "application/zip" => "zip",
                "application/vnd.apache.parquet" => "parquet",
                _ => "bin",
            },
        }
    }
}

/// A media type that can be shown and kept; servers and programs name them.
pub(super) fn media_type(given: Option<String>) -> Option<String> {
    let fits = |text: &String| {
        !text.is_empty()
            && text.len() <= MEDIA_TYPE_BYTES_MAX
            && text.bytes().all(|byte| byte.is_ascii_graphic())
    };
    given.map(|text| text.to_ascii_lowercase()).filter(fits)
}

/// A result that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResult {
    pub handle: String,
    pub owner: Owner,
    pub kind: ResultKind,
    /// What its bytes are, if anybody said so.
    pub media_type: Option<String>,
    pub bytes: u64,
    /// When it came first, in milliseconds since 1970.
    pub created_ms: i64,
    /// The session that it came from last.
    pub session: Option<String>,
    /// The execution that it came from last.
    pub execution: Option<String>,
    /// The name of its file.
    pub file_name: String,
    /// Which marked data it was made from.
    pub seen: Seen,
}

impl StoredResult {
    /// Where a program of its owner finds it.
    pub fn path_in_program(&self) -> String {
        format!("/results/{}", self.file_name)
    }
}

impl From<ResultRecord> for StoredResult {
    fn from(record: ResultRecord) -> Self {
        Self {
            handle: record.handle,
            owner: Owner(record.owner),
            kind: ResultKind::read(&record.kind),
            media_type: record.media_type,
            bytes: u64::try_from(record.bytes).unwrap_or(0),
            created_ms: record.created_ms,
            session: record.session,
            execution: record.execution,
            file_name: record.file_name,
            seen: record.seen,
        }
    }
}

/// What is remembered of a new one.
pub(super) fn new_record(
    owner: &Owner,
    handle: &str,
    (kind, media_type): (ResultKind, Option<String>),
    origin: Origin,
    bytes: u64,
    now_ms: i64,
) -> ResultRecord {
    ResultRecord {
        owner: owner.0.clone(),
        handle: handle.to_owned(),
        file_name: format!("{handle}.{}", kind.ending(media_type.as_deref())),
        kind: kind.as_str().to_owned(),
        media_type,
        bytes: i64::try_from(bytes).unwrap_or(i64::MAX),
        created_ms: now_ms,
        used_ms: now_ms,
        session: origin.session,
        execution: origin.execution,
        seen: origin.seen,
    }
}
