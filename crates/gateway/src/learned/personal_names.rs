//! What is personal in the names of fields and in words that repeat.

use gristmill_domain::learned::Personal;
use gristmill_privacy::{Detector, Origin, find_tokens};
use serde_json::json;

pub(super) struct PersonalNames<'d> {
    pub detector: &'d Detector,
    /// Whether words may be shown at all.
    pub shows_words: bool,
}

impl Personal for PersonalNames<'_> {
    /// Also what stands for something personal.
    fn is_key(&self, key: &str) -> bool {
        !self.detector.scan(key).is_empty() || !find_tokens(key).is_empty()
    }

    /// The name of its field says as much as the word.
    fn is_word(&self, field: &str, text: &str) -> bool {
        !self.shows_words || !self.detector.scan_json(&json!({ field: text }), &Origin::default()).is_empty()
    }
}
