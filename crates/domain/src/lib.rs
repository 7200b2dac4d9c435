//! Gristmill's pure logic: what a limit is, what a level promises, what an execution is called.
//!
//! No file, no socket, no clock, no randomness, no async. Everything here can be tested by
//! calling it.

mod answer_shape;
pub mod catalogue;
mod codes;
mod glob;
mod hosts;
mod json_difference;
pub mod learned;
mod levels;
mod limits;
mod model_settings;
mod nearest;
pub mod policy;
mod privacy_mode;
mod quantity;
pub mod resource_uri;
pub mod result_path;
pub mod search;
mod secret_text;
mod server_sandbox;
mod server_settings;
pub mod shape;
mod short_text;
pub mod skills;
mod standing_tools;
pub mod stubs;
pub mod text_diff;
mod tool_answer;
mod tool_rules;
pub mod tree;
mod utc_text;
pub mod validate;
mod visible_text;

pub use answer_shape::answer_shape;
pub use codes::Code;
pub use glob::Glob;
pub use hosts::{AllowedHost, HTTP_SERVER, HostCredential, HostRefusal, HostsSettings, WebAddress};
pub use json_difference::{json_closeness, json_difference};
pub use levels::{Level, UnknownLevel};
pub use limits::{
    CpuShare, DOCUMENT_FINDINGS_MAX, DOCUMENT_VALUES_MAX, LARGE_RESULT_BYTES_MAX, LimitError, LimitName,
    Limits, PERCENT_OF_CORE, SEARCH_BYTES_MIN, SEARCHED_BYTES_MAX, TEXT_FINDINGS_MAX,
};
pub use model_settings::{
    MODEL_VARIABLES, ModelProvider, ModelSettings, OwnedVariable, UnknownModelProvider, VariableOwner,
};
pub use nearest::nearest;
pub use privacy_mode::{PrivacyMode, UnknownPrivacyMode};
pub use quantity::{
    QuantityError, counted, counted_grouped, exact_bytes, exact_ms, format_bytes, format_ms, grouped,
    parse_bytes, parse_ms,
};
pub use secret_text::{Part, Reference, SecretText, SecretTextError};
pub use server_sandbox::{SandboxHost, SandboxNetwork, SandboxPreset, SandboxSettings, Sandboxing};
pub use server_settings::{Accept, OAuthSettings, Protocol, ServerLimits, ServerSettings, Transport};
pub use short_text::{
    cut_bytes, cut_chars, cut_chars_with, cut_to_width, first_bytes, first_chars, last_bytes,
};
pub use standing_tools::{Standing, StandingServer};
pub use tool_answer::{AnswerError, AnswerFile, CallOutcome, ToolAnswer, read_answer};
pub use tool_rules::{ToolPattern, ToolRules};
pub use utc_text::{unix_of_date, utc_text, utc_text_ms};
pub use visible_text::{HiddenText, hides_text, one_line, visible, visible_json};
