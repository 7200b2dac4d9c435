//! What is declined, and in which words.

/// The answer to a question for the user.
pub(crate) const ELICITATION: &str =
    r#"{"action":"decline","_meta":{"reason":"gristmill has no user to ask while a program runs"}}"#;

/// The answer to a request for a model.
pub(crate) const SAMPLING: &str = "sampling is declined: gristmill lends no model to servers";
