//! What is asked if nobody says what: addresses, models and versions, as of 2026-11-17. `[llm] model` and the
//! providers' variables say otherwise.

/// OpenAI's middle model: good at programs, and not the most expensive one.
pub(crate) const OPENAI_MODEL: &str = "gpt-6.1-sol";
/// Anthropic's, of the same kind.
pub(crate) const ANTHROPIC_MODEL: &str = "claude-sonnet-5-5";

pub(crate) const OPENAI_URL: &str = "https://api.openai.com/v1";
pub(crate) const OPENAI_HOST: &str = "api.openai.com";
pub(crate) const ANTHROPIC_URL: &str = "https://api.anthropic.com";
pub(crate) const ANTHROPIC_HOST: &str = "api.anthropic.com";
/// The last dated version that isn't a preview.
pub(crate) const AZURE_API_VERSION: &str = "2024-10-21";
pub(crate) const OLLAMA_PORT: u16 = 11434;
