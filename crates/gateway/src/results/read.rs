//! A part of a result, shaped for whoever reads it.

use std::fs::File;
use std::io::{Seek, SeekFrom};

use gristmill_domain::result_path::{PartKind, ResultPath, Slice, TakenPart, take_part, take_text};
use gristmill_domain::shape::{Shaped, Strategy};
use gristmill_domain::{grouped, one_line};
use serde_json::{Map, Value};

use super::condensed::Condensed;
use super::large_results::room_to_search;
use super::{ReadError, ResultKind, Results, ResultsError, StoredResult};
use crate::ids::Owner;
use crate::privacy::{Source, Veil};
use crate::store::StoreError;

/// What is looked at of a result at once: far more than any answer shows. The rest is counted.
const PART_BYTES_MAX: usize = 8 << 20;

/// What is looked at of the object that a value is in, to see what it is.
const BESIDE_BYTES_MAX: usize = 64 << 10;

#[derive(Clone, Debug)]
pub struct ReadPart {
    /// The result it is from.
    pub stored: StoredResult,
    /// The part, within its budget.
    pub shaped: Shaped,
    /// What is counted in it.
    pub kind: PartKind,
    /// How many items, members or characters there are under the path.
    pub total: u64,
    /// The first of them that was looked at.
    pub offset: u64,
    /// How many of them were looked at.
    pub taken: u64,
}

impl ReadPart {
    /// Where to go on, if there is more behind.
    pub fn next_offset(&self) -> Option<u64> {
        let next = self.offset.saturating_add(self.taken);
        (self.kind != PartKind::Scalar && next < self.total).then_some(next)
    }

    /// Which part it is, in words; nothing if it is everything under the path.
    pub fn range_text(&self) -> Option<String> {
        if self.kind == PartKind::Scalar || self.taken >= self.total {
            return None;
        }
        let (unit, total) = (self.kind.unit(), grouped(self.total));
        let last = self.offset.saturating_add(self.taken).saturating_sub(1);
        let range = format!("{unit}s {} to {} of {total}", grouped(self.offset), grouped(last));
        Some(match self.next_offset() {
            Some(next) => format!("{range}; continue with offset {next}"),
            None => range,
        })
    }
}

impl Results {
    /// Reads what is under a path of a result, or a slice of it, into at most so many tokens. That counts
    /// as a use. However large the result is, little of it is held. With a veil, without what is personal in it,
    /// which the names of fields above it may tell.
    pub async fn read(
        &self,
        owner: &Owner,
        handle: &str,
        path: &str,
        slice: Slice,
        budget: (Strategy, usize),
        veil: Option<&Veil>,
    ) -> Result<ReadPart, ReadError> {
        let Some((stored, file)) = self.open_file(owner, handle).await? else {
            return Err(ReadError::Missing { handle: one_line(handle, 64), keep: self.settings().keep });
        };
        let path = path.trim().to_owned();
        let kind = stored.kind;
        match kind {
            ResultKind::Json => {}
            ResultKind::Text if path.is_empty() => {}
            ResultKind::Text => return Err(ReadError::PathInText { path: one_line(&path, 80) }),
            ResultKind::Binary => {
                let path_in_program = stored.path_in_program();
                let (bytes, media_type) = (stored.bytes, stored.media_type);
                return Err(ReadError::Binary { bytes, media_type, path_in_program });
            }
        }
        let masks = veil.map(Veil::masks);
        let searching = room_to_search(veil, stored.bytes.min(PART_BYTES_MAX as u64)).await;
        let condensed = tokio::task::spawn_blocking(move || {
            let _searching = searching;
            let path = match kind {
                ResultKind::Json => ResultPath::read(&path)?,
                ResultKind::Text | ResultKind::Binary => ResultPath::default(),
            };
            let mut part = match kind {
                ResultKind::Json => take_part(&file, &path, slice, PART_BYTES_MAX)?,
                ResultKind::Text | ResultKind::Binary => take_text(&file, slice, PART_BYTES_MAX)?,
            };
            let above = path.keys();
            let beside = masks.as_ref().and_then(|_| beside(&file, &path, part.kind));
            let shape = match part.kind {
                PartKind::Text => ResultKind::Text,
                PartKind::Array | PartKind::Object | PartKind::Scalar => ResultKind::Json,
            };
            let source = Source { above: &above, beside: beside.as_ref(), ..Source::default() };
            let content = std::mem::take(&mut part.content);
            Ok::<_, ReadError>((part, Condensed::at(content, shape, budget, masks, source)))
        });
        let ended = |error: tokio::task::JoinError| ResultsError::from(StoreError::Other(error.to_string()));
        let (TakenPart { kind, total, offset, taken, .. }, condensed) = condensed.await.map_err(ended)??;
        let shaped = condensed.shown_through(veil).await;
        Ok(ReadPart { stored, shaped, kind, total, offset, taken })
    }
}

/// The object that a single value is a member of.
fn beside(mut file: &File, path: &ResultPath, kind: PartKind) -> Option<Map<String, Value>> {
    let path = path.parent().filter(|_| matches!(kind, PartKind::Scalar | PartKind::Text))?;
    file.seek(SeekFrom::Start(0)).ok()?;
    let object = take_part(file, &path, Slice::default(), BESIDE_BYTES_MAX).ok()?;
    serde_json::from_str(&object.content).ok()
}
