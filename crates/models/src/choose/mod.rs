//! Which models can be asked, in which order, and why others can't.
//!
//! Walls: a key goes only to an address that its owner named. A project's `.env` names addresses for the keys in
//! it; a key of the user's goes to the provider, or where the user says. No key goes over plain `http`, except to
//! this machine. Nothing is asked here, and no reference is resolved.

mod addresses;
mod azure;
mod plan;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::{ModelProvider, ModelSettings, OwnedVariable};
use gristmill_gateway::ports::Model;
use gristmill_mcp::SecretContext;
use gristmill_mcp::http_client::{Client, HttpClientError, HttpClientSettings, Redirects, http_client};

use crate::http_model::HttpModel;
use crate::learned::Learned;
use crate::limits::Rules;
use crate::pace::{Pace, SystemPace};
use plan::{Plan, Planner};

/// What is looked at beside the settings.
pub struct Environment<'a> {
    /// The value of a variable and whose it is; `LlmConfig::variable` of the configuration has it.
    pub variable: &'a dyn Fn(&str) -> Option<OwnedVariable>,
    /// What references of `[llm] api_key` are resolved against.
    pub secrets: SecretContext,
    /// The folder of caches, for what errors teach; without it that is forgotten with the process.
    pub cache: Option<PathBuf>,
}

/// One that could be asked, or why it can't.
pub enum Candidate {
    Ready { model: Arc<dyn Model>, because: String },
    Missing { provider: ModelProvider, reason: String },
}

/// The candidates, best first.
pub struct Choice {
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// Those that can be asked, best first.
    pub fn models(&self) -> Vec<Arc<dyn Model>> {
        let model = |candidate: &Candidate| match candidate {
            Candidate::Ready { model, .. } => Some(Arc::clone(model)),
            Candidate::Missing { .. } => None,
        };
        self.candidates.iter().filter_map(model).collect()
    }

    /// Why others can't, for people: `openai: OPENAI_API_KEY isn't set`.
    pub fn reasons(&self) -> Vec<String> {
        let reason = |candidate: &Candidate| match candidate {
            Candidate::Missing { provider: ModelProvider::Auto, reason } => Some(reason.clone()),
            Candidate::Missing { provider, reason } => Some(format!("{provider}: {reason}")),
            Candidate::Ready { .. } => None,
        };
        self.candidates.iter().filter_map(reason).collect()
    }

    fn none(reason: String) -> Self {
        Self { candidates: vec![Candidate::Missing { provider: ModelProvider::Auto, reason }] }
    }
}

/// See the module.
pub fn choose(settings: &ModelSettings, environment: &Environment<'_>) -> Choice {
    let mut rules = Rules::default();
    if let Some(ms) = settings.timeout_ms {
        rules.total = Duration::from_millis(ms);
    }
    choose_with(settings, environment, rules, Arc::new(SystemPace))
}

/// The same with rules, time and chance of one's own.
pub fn choose_with(
    settings: &ModelSettings,
    environment: &Environment<'_>,
    rules: Rules,
    pace: Arc<dyn Pace>,
) -> Choice {
    if !settings.enabled {
        return Choice::none("`enabled` in [llm] is false".to_owned());
    }
    let providers = match wanted(settings, environment) {
        Ok(providers) => providers,
        Err(reason) => return Choice::none(reason),
    };
    let planner = Planner { settings, environment, is_open: providers.len() > 1 };
    let plans: Vec<_> = providers.into_iter().map(|provider| (provider, planner.plan(provider))).collect();
    let client = plans.iter().any(|(_, plan)| plan.is_ok()).then(|| client(&rules)).transpose();
    let client = match client {
        Ok(client) => client,
        Err(error) => return Choice::none(error.to_string()),
    };
    let learned = Arc::new(Learned::new(environment.cache.as_deref()));
    let candidate = |(provider, plan): (ModelProvider, Result<Plan, String>)| match (plan, &client) {
        (Ok(plan), Some(client)) => {
            let Plan { endpoint, key, usual, price, because } = plan;
            let model = HttpModel {
                client: client.clone(),
                endpoint,
                key,
                price,
                temperature: settings.temperature,
                output_tokens_max: settings.output_tokens_max,
                usual,
                learned: Arc::clone(&learned),
                rules,
                pace: Arc::clone(&pace),
            };
            Some(Candidate::Ready { model: Arc::new(model), because })
        }
        (Err(reason), _) => Some(Candidate::Missing { provider, reason }),
        // There is a client as soon as there is a plan.
        (Ok(_), None) => None,
    };
    Choice { candidates: plans.into_iter().filter_map(candidate).collect() }
}

/// One for all models. Redirects come back as the answers that they are.
fn client(rules: &Rules) -> Result<Client, HttpClientError> {
    http_client(&HttpClientSettings {
        connect_timeout: Some(rules.connect),
        redirects: Redirects::None,
        ..HttpClientSettings::default()
    })
}

/// The providers in question. Who names one gets no other: what is asked goes to nobody else.
fn wanted(settings: &ModelSettings, environment: &Environment<'_>) -> Result<Vec<ModelProvider>, String> {
    if settings.provider != ModelProvider::Auto {
        return Ok(vec![settings.provider]);
    }
    if let Some(url) = &settings.url {
        return Ok(vec![provider_at(url)]);
    }
    if settings.api_key.is_some() {
        return Err("`api_key` in [llm] needs `provider`, which says whose key it is".to_owned());
    }
    match (environment.variable)("LLM_PROVIDER") {
        Some(variable) => provider_called(&variable.value).map(|provider| vec![provider]),
        None => Ok(vec![
            ModelProvider::Azure,
            ModelProvider::OpenAi,
            ModelProvider::Anthropic,
            ModelProvider::Compatible,
        ]),
    }
}

/// Whose address it is.
fn provider_at(url: &str) -> ModelProvider {
    let host = addresses::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
    match host.as_deref().unwrap_or_default() {
        crate::defaults::OPENAI_HOST => ModelProvider::OpenAi,
        crate::defaults::ANTHROPIC_HOST => ModelProvider::Anthropic,
        host if azure::is_azure(host) => ModelProvider::Azure,
        _ => ModelProvider::Compatible,
    }
}

/// `LLM_PROVIDER`, which other tools read as well and call by other names.
fn provider_called(name: &str) -> Result<ModelProvider, String> {
    let name = name.trim().to_ascii_lowercase().replace('_', "-");
    let known = match name.as_str() {
        "azure-openai" => Some(ModelProvider::Azure),
        "claude" => Some(ModelProvider::Anthropic),
        "ollama" | "vllm" | "lmstudio" | "lm-studio" | "local" | "openai-compatible" => {
            Some(ModelProvider::Compatible)
        }
        name => name.parse().ok().filter(|provider| *provider != ModelProvider::Auto),
    };
    known.ok_or_else(|| {
        let shown = gristmill_gateway::domain::one_line(&name, 40);
        format!("LLM_PROVIDER is `{shown}`, which can't be asked; set `provider` in [llm]")
    })
}

#[cfg(test)]
mod tests;
