//! Results that are too large for a report: they come in parts, are checked once they are whole, and are
//! stored for whoever ran the program.

use std::io::{self, Read, Seek, SeekFrom};
use std::sync::Arc;

use gristmill_domain::shape::{Shaped, Strategy};
use gristmill_domain::{LARGE_RESULT_BYTES_MAX, format_bytes};
use gristmill_protocol::{JSON_DEPTH_MAX, JsonCaps};
use serde::de::IgnoredAny;

use super::condensed::Condensed;
use super::{NewResult, Origin, ResultKind, Results, ResultsError, StoredResult, blocking};
use crate::ids::{Caller, Owner};
use crate::ports::{BoxFuture, GrowingResult, KeptResult, LargeResult, LargeResultFailure, LargeResults};
use crate::privacy::{Masks, Searching, Veil};
use crate::store::StoreError;

/// Large results that are held in memory at once, to be checked or condensed. Others wait.
pub(super) const HELD_AT_ONCE: usize = 2;

/// What a report shows: as much as an answer does by default.
const CONDENSED_TOKENS_MAX: usize = 1_000;

/// What the program of one execution may store.
pub(super) struct LargeResultsOf {
    pub results: Results,
    pub caller: Caller,
    pub origin: Origin,
    /// What hides in it what is personal, where it is shown.
    pub veil: Option<Arc<Veil>>,
}

struct Growing {
    results: Results,
    caller: Caller,
    origin: Origin,
    veil: Option<Arc<Veil>>,
    new: NewResult,
}

impl LargeResults for LargeResultsOf {
    fn bytes_max(&self) -> u64 {
        LARGE_RESULT_BYTES_MAX.min(self.results.settings().bytes_max)
    }

    fn begin(&self) -> BoxFuture<'static, Result<Box<dyn GrowingResult>, LargeResultFailure>> {
        let (results, caller, origin) = (self.results.clone(), self.caller.clone(), self.origin.clone());
        let veil = self.veil.clone();
        Box::pin(async move {
            let (made, owner) = (results.clone(), caller.owner.clone());
            let new = blocking(move || made.new_file(&owner)).await.map_err(not_stored)?;
            Ok(Box::new(Growing { results, caller, origin, veil, new }) as Box<dyn GrowingResult>)
        })
    }
}

impl GrowingResult for Growing {
    fn append(
        self: Box<Self>,
        part: String,
    ) -> BoxFuture<'static, Result<Box<dyn GrowingResult>, LargeResultFailure>> {
        Box::pin(async move {
            let written = blocking(move || {
                let filled = self.new.fill(part.as_bytes());
                filled.map_err(|error| self.results.inner.place.failed(&error))?;
                Ok(self)
            });
            Ok(written.await.map_err(not_stored)? as Box<dyn GrowingResult>)
        })
    }

    fn keep(self: Box<Self>) -> BoxFuture<'static, Result<KeptResult, LargeResultFailure>> {
        Box::pin(async move {
            let Self { results, caller, origin, veil, new } = *self;
            let origin = results.with_seen(&caller, origin).await;
            let _held = results.inner.held_whole.acquire().await;
            let (failed_in, masks) = (results.clone(), veil.as_ref().map(|veil| veil.masks()));
            let bytes = new.file().metadata().map_or(LARGE_RESULT_BYTES_MAX, |file| file.len());
            let searching = room_to_search(veil.as_deref(), bytes).await;
            let read = blocking(move || {
                let _searching = searching;
                let text = whole_text(new.file()).map_err(|error| failed_in.inner.place.failed(&error))?;
                Ok((new, Checked::of(text, masks)))
            });
            let (new, checked) = read.await.map_err(not_stored)?;
            let Checked { condensed, text } = checked?;
            let condensed = condensed.shown_through(veil.as_deref()).await;
            let stored = match text {
                None => results.keep(new, origin, ResultKind::Json, None).await,
                Some(text) => {
                    let owner = new.owner().clone();
                    drop(new);
                    results.put(&owner, origin, ResultKind::Text, None, text.into_bytes()).await
                }
            };
            let stored = stored.map_err(not_stored)?;
            let path = stored.path_in_program();
            let stored = LargeResult { handle: stored.handle, path, bytes: stored.bytes };
            Ok(KeptResult { stored, condensed: condensed.value })
        })
    }
}

/// A large result that is JSON, which only the program had said so far.
struct Checked {
    condensed: Condensed,
    /// The text, if it is one and nothing else.
    text: Option<String>,
}

impl Checked {
    fn of(json: String, masks: Option<Masks>) -> Result<Self, LargeResultFailure> {
        let caps = JsonCaps { bytes_max: json.len(), depth_max: JSON_DEPTH_MAX, values_max: usize::MAX };
        let not_json =
            |error: &dyn std::fmt::Display| LargeResultFailure(format!("the result isn't JSON: {error}"));
        caps.check(json.as_bytes()).map_err(|error| not_json(&error))?;
        let budget = (Strategy::Auto, CONDENSED_TOKENS_MAX);
        if json.starts_with('"') {
            let text: String = serde_json::from_str(&json).map_err(|error| not_json(&error))?;
            drop(json);
            let condensed = Condensed::of(text.clone(), ResultKind::Text, budget, masks);
            return Ok(Self { condensed, text: Some(text) });
        }
        serde_json::from_str::<IgnoredAny>(&json).map_err(|error| not_json(&error))?;
        Ok(Self { condensed: Condensed::of(json, ResultKind::Json, budget, masks), text: None })
    }
}

impl Results {
    /// All of a stored value that is no larger than a large result, condensed to so many tokens; `None` if
    /// it isn't there, or is of another kind. With a veil, without what is personal in it.
    pub async fn condensed(
        &self,
        owner: &Owner,
        handle: &str,
        budget: (Strategy, usize),
        veil: Option<&Veil>,
    ) -> Result<Option<(StoredResult, Shaped)>, ResultsError> {
        let Some((stored, file)) = self.open_file(owner, handle).await? else { return Ok(None) };
        if stored.bytes > LARGE_RESULT_BYTES_MAX || stored.kind == ResultKind::Binary {
            return Ok(None);
        }
        let _held = self.inner.held_whole.acquire().await;
        let (results, kind, masks) = (self.clone(), stored.kind, veil.map(Veil::masks));
        let searching = room_to_search(veil, stored.bytes).await;
        let condensed = blocking(move || {
            let _searching = searching;
            let text = whole_text(&file).map_err(|error| results.inner.place.failed(&error))?;
            Ok(Condensed::of(text, kind, budget, masks))
        });
        Ok(Some((stored, condensed.await?.shown_through(veil).await)))
    }
}

/// Waits for its turn, if it is searched at all.
pub(super) async fn room_to_search(veil: Option<&Veil>, bytes: u64) -> Option<Searching> {
    match veil {
        Some(veil) => Some(veil.searching(usize::try_from(bytes).unwrap_or(usize::MAX)).await),
        None => None,
    }
}

/// A file from its beginning, within the bound of large results.
fn whole_text(mut file: &std::fs::File) -> io::Result<String> {
    file.seek(SeekFrom::Start(0))?;
    let mut text = String::new();
    file.take(LARGE_RESULT_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn not_stored(error: ResultsError) -> LargeResultFailure {
    let why = match &error {
        ResultsError::TooLarge { bytes, bytes_max } => {
            let (bytes, bytes_max) = (format_bytes(*bytes), format_bytes(*bytes_max));
            format!("it is {bytes}, and at most {bytes_max} can be stored")
        }
        ResultsError::Full { bytes_max } => {
            format!("stored results may take {} in all, and there's no room left", format_bytes(*bytes_max))
        }
        // Where the folder is concerns whoever runs the gateway.
        ResultsError::Folder { why, .. } => why.clone(),
        ResultsError::Damaged { .. } | ResultsError::Busy => error.to_string(),
        ResultsError::Store(StoreError::Other(why)) => why.clone(),
        ResultsError::Store(_) => "the gateway's database can't be written".to_owned(),
    };
    LargeResultFailure(format!("the result is too large for an answer and couldn't be stored: {why}"))
}
