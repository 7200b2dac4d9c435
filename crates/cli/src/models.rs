//! Who writes programs for `ask`: the models that are set up, in the order in which they are tried, and the rules.

use std::sync::Arc;

use anyhow::anyhow;
use gristmill_config::env_file::Variables;
use gristmill_gateway::domain::ModelProvider;
use gristmill_gateway::ports::{Model, RuleOutcome, RuleTask, RuleWriter};
use gristmill_gateway::{EngineId, Folders};
use gristmill_mcp::CodeWriters;
use gristmill_models::{Choice, Environment, choose};
use gristmill_writer::{Candidate, Language, Outcome, Program, Refusal, Task};

use crate::failure::Failure;
use crate::terminal::one_line;
use crate::upstreams::{Configured, secret_context_of};

/// What is said where nothing was set up at all.
const NONE_IS_SET_UP: &str = "no model is set up, so rules write the program; see `gristmill help models`";

/// Which of the models is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelChoice {
    /// Such as `openai`.
    pub provider: Option<String>,
    /// Such as `gpt-5`.
    pub model: Option<String>,
    /// None of them.
    pub no_model: bool,
}

/// Those that are configured or found in the environment, as far as they are wanted, and why others aren't used.
///
/// # Errors
/// There is no provider of the name that is wanted, or none of the models that are can be asked.
pub fn writers(configured: Option<&Configured>, choice: &ModelChoice) -> Result<CodeWriters, Failure> {
    let (models, without) = match configured {
        _ if choice.no_model => (Vec::new(), Vec::new()),
        Some(configured) => models(configured, choice)?,
        None => (Vec::new(), vec!["no configuration is read".to_owned()]),
    };
    let wanted = choice.model.as_ref().or(choice.provider.as_ref());
    if let (Some(wanted), true) = (wanted, models.is_empty()) {
        // A provider that was named need not be named again.
        let named = format!("{wanted}: ");
        let reasons: Vec<&str> =
            without.iter().map(|reason| reason.strip_prefix(&named).unwrap_or(reason)).collect();
        let wanted = one_line(wanted);
        return Err(Failure::Usage(anyhow!("`{wanted}` can't be asked: {}", reasons.join("; "))));
    }
    Ok(CodeWriters { models, rules: Some(Arc::new(Rules)), without })
}

type Chosen = (Vec<Arc<dyn Model>>, Vec<String>);

fn models(configured: &Configured, choice: &ModelChoice) -> Result<Chosen, Failure> {
    let llm = &configured.config.llm;
    let mut settings = llm.settings.clone();
    if let Some(provider) = &choice.provider {
        let provider = provider.parse().map_err(|error| Failure::Usage(anyhow!("{error}")))?;
        // What is said about one provider's model, address and key is nothing to another.
        if provider != settings.provider {
            (settings.model, settings.url, settings.api_key) = (None, None, None);
        }
        settings.provider = provider;
    }
    if choice.model.is_some() {
        settings.model.clone_from(&choice.model);
    }
    let chosen = choose(
        &settings,
        &Environment {
            variable: &|name| llm.variable(&configured.surroundings, name),
            secrets: secret_context_of(llm.origin("api_key"), &llm.variables, &Variables::default()),
            cache: Folders::from_environment().ok().map(|folders| folders.cache),
        },
    );
    let models = chosen.models();
    let is_named = choice.provider.is_some()
        || choice.model.is_some()
        || settings.provider != ModelProvider::Auto
        || settings.url.is_some();
    let is_set = |name: &str| llm.variable(&configured.surroundings, name).is_some();
    let without = match models.is_empty() {
        true if is_named || is_set("LLM_PROVIDER") => chosen.reasons(),
        true => told_reasons(chosen, is_set),
        false => Vec::new(),
    };
    Ok((models, without))
}

/// Nobody named a provider, and none can be asked: why, as far as somebody meant one.
fn told_reasons(chosen: Choice, is_set: impl Fn(&str) -> bool) -> Vec<String> {
    let is_meant = |provider: &ModelProvider| {
        let variables: &[&str] = match provider {
            ModelProvider::Auto => return true,
            ModelProvider::Azure => {
                &["AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_DEPLOYMENT_NAME"]
            }
            // Behind another address it is a compatible one.
            ModelProvider::OpenAi | ModelProvider::OpenAiChat if is_set("OPENAI_BASE_URL") => &[],
            ModelProvider::OpenAi | ModelProvider::OpenAiChat => &["OPENAI_API_KEY", "OPENAI_MODEL"],
            ModelProvider::Anthropic => &["ANTHROPIC_API_KEY", "ANTHROPIC_MODEL"],
            ModelProvider::Compatible => &["OPENAI_BASE_URL", "OLLAMA_HOST", "LLM_MODEL"],
        };
        variables.iter().any(|name| is_set(name))
    };
    let is_told = |candidate: &gristmill_models::Candidate| matches!(candidate, gristmill_models::Candidate::Missing { provider, .. } if is_meant(provider));
    let told = Choice { candidates: chosen.candidates.into_iter().filter(is_told).collect() }.reasons();
    match told.is_empty() {
        true => vec![NONE_IS_SET_UP.to_owned()],
        false => told,
    }
}

/// The writer that needs no model.
struct Rules;

impl RuleWriter for Rules {
    fn write(&self, task: &RuleTask<'_>) -> RuleOutcome {
        let tools: Vec<Candidate<'_>> = task
            .tools
            .iter()
            .map(|tool| Candidate {
                server: tool.server,
                module: tool.module,
                tool: tool.tool,
                function: tool.function,
                description: tool.description,
                input_schema: tool.input_schema,
                output_schema: tool.output_schema,
                read_only: tool.read_only,
                nearness: tool.nearness,
            })
            .collect();
        let language = match task.engine {
            EngineId::Python | EngineId::Native => Language::Python,
            EngineId::TypeScript => Language::TypeScript,
        };
        match gristmill_writer::write(&Task { sentence: task.sentence, language, tools: &tools }) {
            Outcome::Written(Program { code, assumptions, tools }) => {
                RuleOutcome::Written { code, assumptions, tools }
            }
            Outcome::Refused(Refusal { reason, nearest }) => RuleOutcome::Refused { reason, nearest },
        }
    }
}
