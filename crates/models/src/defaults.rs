//! What is asked if nobody says what: addresses, models and versions, models that have been
//! there for a while, so that an older account has them, too. `[llm] model` and the providers' variables say otherwise.

/// OpenAI's: good at programs, and not the most expensive one.
pub(crate) const OPENAI_MODEL: &str = "gpt-5";
/// Anthropic's, of the same kind.
pub(crate) const ANTHROPIC_MODEL: &str = "claude-sonnet-4-5";

pub(crate) const OPENAI_URL: &str = "https://api.openai.com/v1";
pub(crate) const OPENAI_HOST: &str = "api.openai.com";
pub(crate) const ANTHROPIC_URL: &str = "https://api.anthropic.com";
pub(crate) const ANTHROPIC_HOST: &str = "api.anthropic.com";
/// The last dated version that isn't a preview.
pub(crate) const AZURE_API_VERSION: &str = "2024-10-21";
pub(crate) const OLLAMA_PORT: u16 = 11434;
