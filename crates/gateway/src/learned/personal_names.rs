//! What is personal in the names of fields and in words that repeat.

use gristmill_domain::learned::Personal;
use gristmill_privacy::{Detector, Origin, find_tokens};
use serde_json::json;

/// As a detector has it.
pub(super) struct PersonalNames<'d>(pub &'d Detector);

impl Personal for PersonalNames<'_> {
    /// Also what stands for something personal.
    fn is_key(&self, key: &str) -> bool {
        !self.0.scan(key).is_empty() || !find_tokens(key).is_empty()
    }

    /// The name of its field says as much as the word.
    fn is_word(&self, field: &str, text: &str) -> bool {
        !self.0.scan_json(&json!({ field: text }), &Origin::default()).is_empty()
    }
}
