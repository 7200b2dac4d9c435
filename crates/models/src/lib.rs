//! Language models behind the gateway's port `Model`: dialects, retries, which one is configured.
//!
//! Two calls are all that a command needs:
//!
//! ```ignore
//! // gristmill_config, `[llm]` and the variables of the environment and of approved `.env` files:
//! //   Config::llm: LlmConfig { pub settings: ModelSettings, pub variables: Variables, .. }
//! //   LlmConfig::variable(&self, &Surroundings, name: &str) -> Option<OwnedVariable>
//! //   LlmConfig::origin(&self, key: &str) -> &Origin
//! // gristmill_models:
//! //   choose(&ModelSettings, &Environment<'_>) -> Choice
//! //   Choice::models(&self) -> Vec<Arc<dyn Model>>, best first; Choice::reasons(&self) -> Vec<String>
//! let llm = &config.llm;
//! let choice = gristmill_models::choose(&llm.settings, &Environment {
//!     variable: &|name| llm.variable(&surroundings, name),
//!     secrets: secret_context_of(llm.origin("api_key"), &llm.variables, &Variables::default()),
//!     cache: Some(Folders::from_environment()?.cache),
//! });
//! let (models, reasons) = (choice.models(), choice.reasons());
//! ```
//!
//! A flag that names a provider or a model changes `ModelSettings` before the call.
//!
//! Walls: a provider is hostile, like everything from outside. What it sends is capped and timed, its redirects
//! aren't followed, and what it says is shown only after the key was taken out. Keys are types that show nothing
//! of themselves, and a user's key never goes to a project's address. Dropping a future ends the request.
#![forbid(unsafe_code)]

// What is said: requests, events, complaints.
mod complaint;
mod dialect;
mod parameters;
mod redact;

// How it is said: addresses, keys, tries.
mod attempt;
mod endpoint;
mod http_model;
mod key;
mod learned;
mod limits;
mod pace;
mod retry_after;
mod trouble;

// To whom.
mod choose;
mod defaults;
mod prices;

pub use choose::{Candidate, Choice, Environment, choose, choose_with};
pub use limits::Rules;
pub use pace::{Pace, SystemPace};
