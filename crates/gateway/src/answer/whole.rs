//! A result or an output as it is shown, and where the whole of it is if that is too large.

use std::sync::Arc;

use gristmill_domain::shape::{self, Shaped, Strategy};
use gristmill_domain::{format_bytes, one_line};
use serde_json::{Value, json};

use super::fit::BYTES_PER_TOKEN_MAX;
use super::{Keeping, binaries};
use crate::ports::LargeResult;
use crate::results::{ResultKind, ResultsError, StoredResult};
use crate::tokens;

/// Below this a text is shaped at once; above, on a thread where nobody waits behind it.
const AT_ONCE_BYTES_MAX: usize = 32 << 10;
/// What was left out is named in so many characters; all of it is marked in its place.
const LEFT_OUT_CHARS_MAX: usize = 80;
/// What naming it takes.
const LEFT_OUT_TOKENS: usize = 24;
/// What ends a line, and what the name of a member takes with its punctuation.
const LINE_TOKENS: usize = 1;
const MEMBER_TOKENS: usize = 6;

/// Something to be shown.
pub(super) struct Text {
    /// What is shown: one JSON text, or a text.
    pub shown: Arc<String>,
    /// What is kept, if that is not the same.
    pub stored: Option<String>,
    /// Which of both it is.
    pub kind: ResultKind,
}

impl Text {
    /// Of a result without its bytes; `original` is the one with those that no file could be made of.
    pub fn of_result(value: &Value, original: Option<&Value>) -> Self {
        let (shown, kind) = match value {
            Value::String(text) => (text.clone(), ResultKind::Text),
            value => (value.to_string(), ResultKind::Json),
        };
        Self { shown: Arc::new(shown), stored: original.map(Value::to_string), kind }
    }
}

/// What is shown of it, if there is room for anything, and where the rest is.
pub(super) struct Shown {
    pub shaped: Option<Shaped>,
    pub whole: Option<Whole>,
}

/// Shows a text within `room` tokens. What does not fit is kept whole.
pub(super) async fn shown(
    what: &'static str,
    text: Text,
    room: usize,
    strategy: Strategy,
    keep: Option<&Keeping>,
) -> Shown {
    let may_fit = text.stored.is_none() && text.shown.len() <= room.saturating_mul(BYTES_PER_TOKEN_MAX);
    if may_fit {
        let shaped = shaped(&text, room, strategy).await;
        if shaped.is_whole {
            return Shown { shaped: Some(shaped), whole: None };
        }
    }
    let mut whole = Whole::keep(what, &text, keep).await;
    let shaped = match whole.leave_room(room) {
        0 => None,
        room => Some(shaped(&text, room, strategy).await),
    };
    whole.beside(shaped)
}

/// The same for a result that was stored before, because it is too large for a report.
pub(super) async fn shown_large(
    large: &LargeResult,
    room: usize,
    strategy: Strategy,
    keep: &Keeping,
) -> Shown {
    let Keeping { results, owner, veil, .. } = keep;
    let place = match results.find(owner, &large.handle).await {
        Ok(Some(stored)) => Place::Kept(stored),
        Ok(None) => Place::Nowhere,
        Err(error) => Place::Refused(error),
    };
    let mut whole = Whole { what: "result", bytes: large.bytes, place, left_out: None, is_short: false };
    let condensed = match whole.leave_room(room) {
        0 => None,
        room => {
            let budget = (strategy, room);
            results.condensed(owner, &large.handle, budget, veil.as_deref()).await.ok().flatten()
        }
    };
    whole.beside(condensed.map(|(_, shaped)| shaped))
}

async fn shaped(text: &Text, room: usize, strategy: Strategy) -> Shaped {
    let (shown, is_json) = (Arc::clone(&text.shown), matches!(text.kind, ResultKind::Json));
    let shape = move || match is_json {
        true => shape::shape_json(&shown, strategy, room, &tokens::count),
        false => shape::shape_text(&shown, strategy, room, &tokens::count),
    };
    if text.shown.len() <= AT_ONCE_BYTES_MAX {
        return shape();
    }
    // It can only fail with the runtime; then nobody reads the answer.
    tokio::task::spawn_blocking(shape).await.unwrap_or_else(|_| Shaped {
        value: Value::String("…".to_owned()),
        text: "…".to_owned(),
        tokens: 1,
        is_whole: false,
        left_out: Vec::new(),
    })
}

/// Where the whole of something is.
pub(super) struct Whole {
    what: &'static str,
    bytes: u64,
    place: Place,
    left_out: Option<String>,
    is_short: bool,
}

enum Place {
    Kept(StoredResult),
    /// Nothing is kept here at all.
    Nowhere,
    /// It could not be kept, and why.
    Refused(ResultsError),
}

impl Whole {
    async fn keep(what: &'static str, text: &Text, keep: Option<&Keeping>) -> Self {
        let stored = text.stored.as_deref().unwrap_or(text.shown.as_str());
        let bytes = stored.len() as u64;
        let kind = if text.stored.is_some() { ResultKind::Json } else { text.kind };
        let place = match keep {
            None => Place::Nowhere,
            Some(keep) => match binaries::put(keep, kind, None, stored.as_bytes().to_vec()).await {
                Ok(stored) => Place::Kept(stored),
                Err(error) => Place::Refused(error),
            },
        };
        Self { what, bytes, place, left_out: None, is_short: false }
    }

    /// What is left beside it of so many tokens; it is said shorter if it takes too much.
    fn leave_room(&mut self, room: usize) -> usize {
        // What is shown needs room, too.
        if self.tokens() > room / 2 {
            self.say_less();
        }
        room.saturating_sub(self.tokens())
    }

    fn beside(mut self, shaped: Option<Shaped>) -> Shown {
        // Nothing at all is better than an empty text that looks like the value.
        let shaped = shaped.filter(|shaped| !shaped.text.is_empty());
        let left_out = shaped.as_ref().and_then(|shaped| shaped.left_out.first());
        self.left_out = left_out.map(|left_out| one_line(left_out, LEFT_OUT_CHARS_MAX));
        Shown { shaped, whole: Some(self) }
    }

    pub fn handle(&self) -> Option<&str> {
        match &self.place {
            Place::Kept(stored) => Some(&stored.handle),
            Place::Nowhere | Place::Refused(_) => None,
        }
    }

    /// What it is, where it is, and how a program goes on from it.
    pub fn words(&self) -> String {
        let (what, size) = (self.what, format_bytes(self.bytes));
        match &self.place {
            Place::Kept(stored) if self.is_short => format!("Whole {what}: {}", stored.path_in_program()),
            Place::Kept(stored) => {
                let left_out = self.left_out.as_ref().map(|words| format!("; {words}")).unwrap_or_default();
                format!("Whole {what} ({size}{left_out}): {}", line_of_code(stored))
            }
            Place::Nowhere if self.is_short => {
                format!("The {what} ({size}) is cut and not stored: return less.")
            }
            Place::Refused(error) if self.is_short => {
                format!("The {what} ({size}) is cut and not stored: {}.", short_reason(error))
            }
            Place::Nowhere => format!(
                "The {what} ({size}) is condensed and not stored: return less, or write it to a file in /workspace."
            ),
            Place::Refused(error) => {
                format!("The {what} ({size}) is condensed and couldn't be stored: {}", reason(error))
            }
        }
    }

    /// The same for structured content, where a handle alone may say it.
    pub fn note(&self) -> Option<String> {
        (!self.is_short || self.handle().is_none()).then(|| self.words())
    }

    /// Says it shorter; `false` if it is short already.
    pub fn say_less(&mut self) -> bool {
        !std::mem::replace(&mut self.is_short, true)
    }

    /// What it takes as text or as structured content, whichever is more, before it is known what was
    /// left out.
    fn tokens(&self) -> usize {
        let text = tokens::count(&self.words()) + LINE_TOKENS;
        let member = self.handle().map_or(0, |handle| tokens::count(handle) + MEMBER_TOKENS);
        let note = self.note().map_or(0, |note| tokens::count(&json!(note).to_string()) + MEMBER_TOKENS);
        let left_out = if self.is_short { 0 } else { LEFT_OUT_TOKENS };
        text.max(member + note) + left_out
    }
}

/// Why something could not be kept, without a path of the machine.
fn reason(error: &ResultsError) -> String {
    match error {
        ResultsError::TooLarge { .. }
        | ResultsError::Full { .. }
        | ResultsError::Busy
        | ResultsError::Damaged { .. } => error.to_string(),
        ResultsError::Folder { .. } | ResultsError::Store(_) => {
            "the gateway can't write to its disk; return less".to_owned()
        }
    }
}

/// The same in as few words as say it.
fn short_reason(error: &ResultsError) -> String {
    match error {
        ResultsError::TooLarge { bytes_max, .. } | ResultsError::Full { bytes_max } => {
            format!("at most {} are", format_bytes(*bytes_max))
        }
        ResultsError::Busy => "the store is busy".to_owned(),
        ResultsError::Folder { .. } | ResultsError::Store(_) | ResultsError::Damaged { .. } => {
            "the disk can't be written".to_owned()
        }
    }
}

/// How a program goes on from it.
fn line_of_code(stored: &StoredResult) -> String {
    let path = stored.path_in_program();
    match stored.kind {
        ResultKind::Json => format!("r = json.load(open(\"{path}\"))"),
        ResultKind::Text => format!("t = open(\"{path}\").read()"),
        ResultKind::Binary => format!("b = open(\"{path}\", \"rb\").read()"),
    }
}
