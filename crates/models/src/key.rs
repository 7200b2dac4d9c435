//! The key of a provider, and where it is from. It becomes text where a request is sent, and nowhere else.

use gristmill_gateway::domain::SecretText;
use gristmill_mcp::secret::Secret;
use gristmill_mcp::{SecretContext, SecretError};

/// See the module.
#[derive(Clone)]
pub(crate) enum Key {
    /// A server on this machine or network, as a rule.
    None,
    /// Of a variable, with the variable's name.
    Given { secret: Secret, variable: &'static str },
    /// Of `[llm] api_key`: its command or keyring isn't asked before the model is.
    Reference { text: SecretText, context: SecretContext },
}

impl Key {
    pub async fn resolve(&self) -> Result<Option<Secret>, SecretError> {
        match self {
            Self::None => Ok(None),
            Self::Given { secret, .. } => Ok(Some(secret.clone())),
            Self::Reference { text, context } => context.secret("api_key", text).await.map(Some),
        }
    }

    /// What to do if it is refused.
    pub fn remedy(&self) -> String {
        match self {
            Self::None => "set `api_key` in [llm]".to_owned(),
            Self::Given { variable, .. } => format!("check {variable}"),
            Self::Reference { .. } => "check `api_key` in [llm]".to_owned(),
        }
    }
}
