//! Who writes programs for `ask`: the models that are set up, in the order in which they are tried, and the rules.

use std::sync::Arc;

use anyhow::anyhow;
use gristmill_config::env_file::Variables;
use gristmill_gateway::ports::{Model, RuleOutcome, RuleTask, RuleWriter};
use gristmill_gateway::{EngineId, Folders};
use gristmill_mcp::CodeWriters;
use gristmill_models::{Environment, choose};
use gristmill_writer::{Candidate, Language, Outcome, Program, Refusal, Task};

use crate::failure::Failure;
use crate::upstreams::{Configured, secret_context_of};

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
/// There is no provider of the name that is wanted.
pub fn writers(configured: Option<&Configured>, choice: &ModelChoice) -> Result<CodeWriters, Failure> {
    let (models, without) = match configured {
        _ if choice.no_model => (Vec::new(), Vec::new()),
        Some(configured) => models(configured, choice)?,
        None => (Vec::new(), vec!["no configuration is read".to_owned()]),
    };
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
    Ok((chosen.models(), chosen.reasons()))
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
            EngineId::Python => Language::Python,
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
