//! Who may call what: rules in a table, read from top to bottom, and the first that fits decides.
//!
//! A [`Policy`] is made once, of rules as they are configured and of a preset behind them, and asked for
//! every request. It knows no clock and keeps no state: rules with budgets say which of them a request
//! counts against, and whoever asks does the counting.

mod always;
mod arguments;
mod asked;
mod condition;
mod decimal;
mod decision;
mod explain;
mod marks;
mod preset;
mod rule;
mod shortlist;
mod shown_arguments;
mod table;
mod token_limits;
mod wildcard;

pub use arguments::Arguments;
pub use asked::{Asked, AskedKind, Hints};
pub use condition::{Condition, ConditionError};
pub use decision::{Answered, Decided, Decision, UnknownDecision};
pub use explain::{Explained, Outcome};
pub use marks::{FLOW_RULE, Flow, Mark, Marks, Seen, UnknownMark};
pub use preset::{Preset, UnknownPreset};
pub use rule::{Budgets, Rule};
pub use shortlist::Shortlist;
pub use shown_arguments::shown_arguments;
pub use table::{Line, Policy, PolicySettings, Source, Verdict};
pub use token_limits::TokenLimits;
pub use wildcard::wildcard_fits;

#[cfg(test)]
mod tests;
