//! The models that write programs for `ask`, in the order in which they are tried.

use std::sync::Arc;

use gristmill_gateway::ports::{Model, RuleWriter};
use gristmill_mcp::CodeWriters;

/// Which of the models is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// Such as `openai`.
    pub provider: Option<String>,
    /// Such as `gpt-5`.
    pub model: Option<String>,
}

/// Who writes, and why nobody else does.
pub struct Writers {
    pub models: Vec<Arc<dyn Model>>,
    /// Who writes without a model.
    pub rules: Option<Arc<dyn RuleWriter>>,
    /// Why there are no more models, for people.
    pub without: Vec<String>,
}

/// The models that are configured, or found in the environment.
pub fn models(choice: &ModelChoice) -> (Vec<Arc<dyn Model>>, Vec<String>) {
    let wanted = match (&choice.provider, &choice.model) {
        (Some(provider), Some(model)) => format!(" named {provider} {model}"),
        (Some(one), None) | (None, Some(one)) => format!(" named {one}"),
        (None, None) => String::new(),
    };
    (Vec::new(), vec![format!("no model{wanted} is set up")])
}

/// Everyone who may write, without models if none is wanted.
pub fn writers(choice: &ModelChoice, no_model: bool) -> Writers {
    let (models, without) = match no_model {
        true => (Vec::new(), Vec::new()),
        false => models(choice),
    };
    Writers { models, rules: rules(), without }
}

/// Those that clients and the dashboard may use; `None` if there is nobody.
pub fn code_writers() -> Option<CodeWriters> {
    let Writers { models, rules, without } = writers(&ModelChoice::default(), false);
    (!models.is_empty() || rules.is_some()).then_some(CodeWriters { models, rules, without })
}

/// The writer that needs no model.
fn rules() -> Option<Arc<dyn RuleWriter>> {
    None
}
