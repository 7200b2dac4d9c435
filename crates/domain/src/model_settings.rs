//! Which language model to ask, as a configuration says it, and the variables that people set for one.

use std::fmt;
use std::str::FromStr;

use crate::secret_text::SecretText;

/// Who has the model, and in which dialect it is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ModelProvider {
    /// Whatever the environment has a key for.
    #[default]
    Auto,
    /// OpenAI, by its Responses API.
    OpenAi,
    /// OpenAI, by its Chat Completions API.
    OpenAiChat,
    /// Azure OpenAI.
    Azure,
    Anthropic,
    /// Whatever speaks Chat Completions: Ollama, vLLM, LM Studio.
    Compatible,
}

impl ModelProvider {
    pub const ALL: [Self; 6] =
        [Self::Auto, Self::OpenAi, Self::OpenAiChat, Self::Azure, Self::Anthropic, Self::Compatible];
    pub const NAMES: [&'static str; 6] =
        ["auto", "openai", "openai-chat", "azure", "anthropic", "compatible"];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::OpenAi => "openai",
            Self::OpenAiChat => "openai-chat",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Compatible => "compatible",
        }
    }
}

impl fmt::Display for ModelProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// No provider has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` isn't a provider; use auto, openai, openai-chat, azure, anthropic or compatible")]
pub struct UnknownModelProvider(pub String);

impl FromStr for ModelProvider {
    type Err = UnknownModelProvider;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|provider| provider.as_str() == name);
        found.ok_or_else(|| UnknownModelProvider(name.to_owned()))
    }
}

/// The table `llm`. What is `None` is taken from the environment, or is the provider's own default.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSettings {
    /// Whether a model is asked at all.
    pub enabled: bool,
    pub provider: ModelProvider,
    pub model: Option<String>,
    pub url: Option<String>,
    pub api_key: Option<SecretText>,
    /// Azure's name for a model.
    pub deployment: Option<String>,
    /// Azure's.
    pub api_version: Option<String>,
    pub temperature: Option<f64>,
    /// The longest answer, in tokens.
    pub output_tokens_max: Option<u32>,
    /// For one answer, with every try.
    pub timeout_ms: Option<u64>,
    /// US dollars for a million tokens.
    pub input_price: Option<f64>,
    pub output_price: Option<f64>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            provider: ModelProvider::Auto,
            model: None,
            url: None,
            api_key: None,
            deployment: None,
            api_version: None,
            temperature: None,
            output_tokens_max: None,
            timeout_ms: None,
            input_price: None,
            output_price: None,
        }
    }
}

/// The variables that say which model to ask: those of the providers' own tools, and two that tools share.
pub const MODEL_VARIABLES: [&str; 14] = [
    "LLM_PROVIDER",
    "LLM_MODEL",
    "AZURE_OPENAI_ENDPOINT",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_DEPLOYMENT_NAME",
    "AZURE_OPENAI_DEPLOYMENT",
    "AZURE_OPENAI_API_VERSION",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_MODEL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MODEL",
    "OLLAMA_HOST",
];

/// The value of a variable, and whose it is. The value may be a key and isn't shown.
#[derive(Clone, PartialEq, Eq)]
pub struct OwnedVariable {
    pub value: String,
    pub owner: VariableOwner,
}

/// Who set a variable. A user's key never goes to a project's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableOwner {
    /// In the environment, or in the `.env` beside the user's own file.
    User,
    /// In the `.env` of a project, which the user approved.
    Project,
}

impl fmt::Debug for OwnedVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnedVariable(…, {:?})", self.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_read_by_their_names() {
        for (provider, name) in ModelProvider::ALL.into_iter().zip(ModelProvider::NAMES) {
            assert_eq!((name.parse(), provider.to_string().as_str()), (Ok(provider), name));
        }
        let refused = "gpt".parse::<ModelProvider>().expect_err("no provider").to_string();
        assert!(
            refused.ends_with("use auto, openai, openai-chat, azure, anthropic or compatible"),
            "{refused}"
        );
    }

    #[test]
    fn the_value_of_a_variable_is_not_printed() {
        let variable = OwnedVariable { value: "sk-secret".to_owned(), owner: VariableOwner::Project };
        assert_eq!(format!("{variable:?}"), "OwnedVariable(…, Project)");
    }
}
