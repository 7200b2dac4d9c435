//! What is declined, and in which words.

use serde_json::{Value, json};

/// The answer to a request for a model.
pub(crate) const SAMPLING: &str = "sampling declined: Gristmill doesn't lend a model to servers";

/// The answer to a question for the user, where there is none.
pub(crate) fn nobody_to_ask() -> Value {
    with_reason("Gristmill has no user to ask right now")
}

/// The answer to a question that is not asked.
pub(crate) fn with_reason(reason: &str) -> Value {
    json!({ "action": "decline", "_meta": { "reason": reason } })
}
