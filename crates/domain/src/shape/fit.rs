//! Looks for the most that a budget of tokens takes.
//!
//! Tokens of a text are not the sum of the tokens of its parts, so nothing is added up: a value is
//! made for some room in bytes, counted whole, and made again for more or less room in proportion.
//! The rounds are few and bounded; what fits best is kept, and if nothing fits there is a mark that
//! does, or nothing at all.

use serde_json::Value;

use super::parts::NotJson;
use super::words::Notes;
use super::{CountTokens, Shaped};

/// Values made before the best of them is taken.
const ROUNDS_MAX: usize = 9;

/// A budget that is used up to this share is used well.
const WELL_USED_PERCENT: usize = 92;

/// Where the search begins: JSON has about three bytes for each token.
const BYTES_PER_TOKEN_GUESS: usize = 3;

/// What is longer than this for each token of the budget is not counted to see whether it fits
/// whole. Long runs of one character might; they are shaped all the same.
const BYTES_PER_TOKEN_MAX: usize = 32;

/// What takes more is not shaped in one piece; so much text also costs a moment to count.
const ROOM_MAX: usize = 64 << 20;

/// A budget and who counts.
pub(super) struct Budget<'a> {
    pub tokens_max: usize,
    pub counter: &'a dyn CountTokens,
}

impl Budget<'_> {
    /// Whether a text of this length is worth counting whole.
    pub fn may_fit(&self, bytes: usize) -> bool {
        bytes <= self.tokens_max.saturating_mul(BYTES_PER_TOKEN_MAX)
    }

    /// A value as it is answered, if it fits.
    pub fn fitting(&self, value: Value, notes: Notes) -> Option<Shaped> {
        let shaped = self.counted(value, notes);
        (shaped.tokens <= self.tokens_max).then_some(shaped)
    }

    /// The best that `make` gives for any room; a mark if nothing of it fits.
    pub fn best(
        &self,
        mark: &str,
        make: &mut dyn FnMut(usize, &mut Notes) -> Result<Value, NotJson>,
    ) -> Result<Shaped, NotJson> {
        // With more room than this a value that uses little of its budget would come out whole.
        let room_max = self.tokens_max.saturating_mul(BYTES_PER_TOKEN_MAX).clamp(1, ROOM_MAX);
        let mut search = Search { room: self.first_room(), fitting: 0, too_large: room_max + 1, best: None };
        for _ in 0..ROUNDS_MAX {
            let mut notes = Notes::default();
            let value = make(search.room, &mut notes)?;
            let shaped = self.counted(value, notes);
            if !search.should_continue(shaped, self.tokens_max) {
                break;
            }
        }
        Ok(search.best.unwrap_or_else(|| self.mark(mark)))
    }

    fn first_room(&self) -> usize {
        self.tokens_max.saturating_mul(BYTES_PER_TOKEN_GUESS).clamp(1, ROOM_MAX)
    }

    /// That there is something, in ever fewer words.
    fn mark(&self, what: &str) -> Shaped {
        let whole = format!("{what} not shown");
        for words in [whole.as_str(), "… not shown …", "…"] {
            let mut notes = Notes::default();
            notes.add(&super::words::Path::Root, &whole);
            if let Some(shaped) = self.fitting(Value::String(words.to_owned()), notes) {
                return shaped;
            }
        }
        Shaped { value: Value::Null, text: String::new(), tokens: 0, is_whole: false, left_out: vec![whole] }
    }

    fn counted(&self, value: Value, notes: Notes) -> Shaped {
        let json = value.to_string();
        let in_json = self.counter.count(&json);
        let (text, tokens) = match &value {
            Value::String(text) => (text.clone(), in_json.max(self.counter.count(text))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                (json, in_json)
            }
        };
        let left_out = notes.into_lines();
        Shaped { value, text, tokens, is_whole: left_out.is_empty(), left_out }
    }
}

struct Search {
    room: usize,
    /// The most room that fitted so far.
    fitting: usize,
    /// The least that did not.
    too_large: usize,
    best: Option<Shaped>,
}

impl Search {
    /// Takes what was made and sets the room of the next round; `false`: it will not get better.
    fn should_continue(&mut self, shaped: Shaped, tokens_max: usize) -> bool {
        let tokens = shaped.tokens.max(1);
        let in_proportion = (self.room as u128 * tokens_max as u128 / tokens as u128) as usize;
        let next = if shaped.tokens > tokens_max {
            self.too_large = self.too_large.min(self.room);
            in_proportion.min(self.room / 20 * 19)
        } else {
            let is_well_used = shaped.tokens * 100 >= tokens_max * WELL_USED_PERCENT || shaped.is_whole;
            self.fitting = self.fitting.max(self.room);
            if self.best.as_ref().is_none_or(|best| best.tokens <= shaped.tokens) {
                self.best = Some(shaped);
            }
            if is_well_used {
                return false;
            }
            in_proportion.min(self.room.saturating_mul(8)).max(self.room + 1)
        };
        let is_between = next > self.fitting && next < self.too_large;
        self.room = if is_between { next } else { usize::midpoint(self.fitting, self.too_large) };
        self.room > self.fitting
    }
}

/// What a value takes as JSON without space.
pub(super) fn compact_bytes(value: &Value) -> usize {
    value.to_string().len()
}
