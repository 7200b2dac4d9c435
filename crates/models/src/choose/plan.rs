//! What it takes to ask a provider: an address, a key, a model. Or what is missing.

use gristmill_gateway::domain::{ModelProvider, ModelSettings, OwnedVariable, VariableOwner};
use gristmill_gateway::ports::Price;
use gristmill_mcp::secret::Secret;
use url::Url;

use super::Environment;
use super::addresses::{below, ollama, parse};
use super::azure::azure;
use crate::defaults;
use crate::dialect::Dialect;
use crate::endpoint::{Endpoint, KeyHeader, is_here};
use crate::key::Key;
use crate::parameters::{OutputLimit, Parameters};
use crate::prices::price_of;

/// Everything that a model is made of.
pub(super) struct Plan {
    pub endpoint: Endpoint,
    pub key: Key,
    pub usual: Parameters,
    pub price: Option<Price>,
    /// Why it is among the candidates.
    pub because: String,
}

/// See the module.
pub(super) struct Planner<'a> {
    pub settings: &'a ModelSettings,
    pub environment: &'a Environment<'a>,
    /// Nobody named a provider: each has to fit the model that was named.
    pub is_open: bool,
}

/// Something that somebody set, and where.
struct Said {
    value: String,
    owner: VariableOwner,
    /// The variable or key.
    place: &'static str,
}

/// The place of an address of the settings.
const URL_SETTING: &str = "`url` in [llm]";

/// The place of an address that nobody set.
const OF_PROVIDER: &str = "the provider's address";

/// A key, and whose it is.
struct Owned {
    key: Key,
    owner: VariableOwner,
    place: &'static str,
}

impl Planner<'_> {
    pub fn plan(&self, provider: ModelProvider) -> Result<Plan, String> {
        match provider {
            ModelProvider::Azure => self.azure(),
            ModelProvider::OpenAi => self.openai(),
            ModelProvider::OpenAiChat => self.openai_in(ModelProvider::OpenAiChat, Dialect::Chat),
            ModelProvider::Anthropic => self.anthropic(),
            ModelProvider::Compatible | ModelProvider::Auto => self.compatible(),
        }
    }

    fn azure(&self) -> Result<Plan, String> {
        let address = self.address("AZURE_OPENAI_ENDPOINT");
        let address = address.ok_or("AZURE_OPENAI_ENDPOINT isn't set")?;
        let key = self.key("AZURE_OPENAI_API_KEY").ok_or("AZURE_OPENAI_API_KEY isn't set")?;
        let model = self.named_model(&[]);
        let names = ["AZURE_OPENAI_DEPLOYMENT_NAME", "AZURE_OPENAI_DEPLOYMENT"];
        let deployment = self.first(&self.settings.deployment, &names).map(|said| said.value);
        let version = self.first(&self.settings.api_version, &["AZURE_OPENAI_API_VERSION"]);
        let version = version.map(|said| said.value);
        let found = azure(&address.value, deployment.as_deref(), version.as_deref());
        // Many call their deployments as the model is called.
        let found = match (found, &model) {
            (Err(_), Some(model)) => azure(&address.value, Some(model), version.as_deref()),
            (found, _) => found,
        }?;
        let price = self.price(model.as_deref().unwrap_or(&found.deployment));
        let endpoint = Endpoint {
            provider: ModelProvider::Azure,
            dialect: Dialect::Chat,
            url: found.url,
            named_by: address.named_by(),
            key_header: KeyHeader::ApiKey,
            model: found.deployment,
        };
        self.finished(endpoint, Some(key), &address, price)
    }

    fn openai(&self) -> Result<Plan, String> {
        let elsewhere = match &self.settings.url {
            None => self.variable("OPENAI_BASE_URL").filter(|said| !is_openai(&said.value)),
            Some(_) => None,
        };
        match elsewhere {
            Some(_) if self.is_open => {
                Err("OPENAI_BASE_URL leads to another server, which is asked as compatible".to_owned())
            }
            // Only OpenAI itself has Responses for certain.
            Some(_) if self.settings.provider == ModelProvider::Auto => {
                self.openai_in(ModelProvider::OpenAiChat, Dialect::Chat)
            }
            Some(_) | None => self.openai_in(ModelProvider::OpenAi, Dialect::Responses),
        }
    }

    fn openai_in(&self, provider: ModelProvider, dialect: Dialect) -> Result<Plan, String> {
        let address = self.address("OPENAI_BASE_URL");
        let address = address.unwrap_or_else(|| Said::by_us(defaults::OPENAI_URL));
        let key = self.key("OPENAI_API_KEY").ok_or("OPENAI_API_KEY isn't set")?;
        let model = self.fitting_model(&["OPENAI_MODEL"], is_openai_model)?;
        let model = model.unwrap_or_else(|| defaults::OPENAI_MODEL.to_owned());
        let (url, key_header) = (below(parse(&address.value)?, dialect), KeyHeader::Bearer);
        let price = self.price(&model);
        let named_by = address.named_by();
        let endpoint = Endpoint { provider, dialect, url, named_by, key_header, model };
        self.finished(endpoint, Some(key), &address, price)
    }

    fn anthropic(&self) -> Result<Plan, String> {
        let address = self.address("ANTHROPIC_BASE_URL");
        let address = address.unwrap_or_else(|| Said::by_us(defaults::ANTHROPIC_URL));
        let key = self.key("ANTHROPIC_API_KEY").ok_or("ANTHROPIC_API_KEY isn't set")?;
        let model = self.fitting_model(&["ANTHROPIC_MODEL"], |model| model.starts_with("claude"))?;
        let model = model.unwrap_or_else(|| defaults::ANTHROPIC_MODEL.to_owned());
        let (provider, dialect) = (ModelProvider::Anthropic, Dialect::Messages);
        let (url, key_header) = (below(parse(&address.value)?, dialect), KeyHeader::XApiKey);
        let price = self.price(&model);
        let named_by = address.named_by();
        let endpoint = Endpoint { provider, dialect, url, named_by, key_header, model };
        self.finished(endpoint, Some(key), &address, price)
    }

    fn compatible(&self) -> Result<Plan, String> {
        let base = self.variable("OPENAI_BASE_URL").filter(|said| !self.is_open || !is_openai(&said.value));
        let (address, base, key) = match (&self.settings.url, base, self.variable("OLLAMA_HOST")) {
            // OpenAI's own key is for OpenAI, not for a server that is named here.
            (Some(url), ..) => (Said::by_user(url, URL_SETTING), parse(url)?, self.own_key()),
            (None, Some(said), _) => {
                let url = parse(&said.value)?;
                (said, url, self.key("OPENAI_API_KEY"))
            }
            (None, None, Some(said)) => {
                let url = ollama(&said.value)?;
                (said, url, self.own_key())
            }
            (None, None, None) => return Err("neither OPENAI_BASE_URL nor OLLAMA_HOST is set".to_owned()),
        };
        let model = self.named_model(&["OPENAI_MODEL"]);
        let model = model.ok_or("no model is named; set LLM_MODEL, or `model` in [llm]")?;
        let endpoint = Endpoint {
            provider: ModelProvider::Compatible,
            dialect: Dialect::Chat,
            url: below(base, Dialect::Chat),
            named_by: address.named_by(),
            key_header: KeyHeader::Bearer,
            model,
        };
        // Its prices are nobody's list prices.
        self.finished(endpoint, key, &address, self.own_price(None))
    }

    /// Whether the key may go to the address.
    fn finished(
        &self,
        endpoint: Endpoint,
        key: Option<Owned>,
        address: &Said,
        price: Option<Price>,
    ) -> Result<Plan, String> {
        if let Some(Owned { owner: VariableOwner::User, place, .. }) = &key
            && address.owner == VariableOwner::Project
        {
            let of = address.place;
            return Err(format!(
                "{of} is the project's, and {place} is yours; an address of a project's .env gets only a key of that .env"
            ));
        }
        if key.is_some() && endpoint.url.scheme() == "http" && !is_here(&endpoint.url) {
            return Err("a key isn't sent over http, except to this machine; use https".to_owned());
        }
        let because = match &key {
            Some(owned) => format!("{} is set", owned.place),
            None => format!("{} is set", address.place),
        };
        let usual = Parameters::new(match endpoint.provider {
            ModelProvider::OpenAi | ModelProvider::OpenAiChat | ModelProvider::Azure => {
                OutputLimit::MaxCompletionTokens
            }
            ModelProvider::Anthropic | ModelProvider::Compatible | ModelProvider::Auto => {
                OutputLimit::MaxTokens
            }
        });
        Ok(Plan { endpoint, key: key.map_or(Key::None, |owned| owned.key), usual, price, because })
    }

    /// `api_key` of the settings, which only a user's own file has.
    fn own_key(&self) -> Option<Owned> {
        let text = self.settings.api_key.clone()?;
        let key = Key::Reference { text, context: self.environment.secrets.clone() };
        Some(Owned { key, owner: VariableOwner::User, place: "`api_key` in [llm]" })
    }

    fn key(&self, variable: &'static str) -> Option<Owned> {
        self.own_key().or_else(|| {
            let Said { value, owner, place } = self.variable(variable)?;
            Some(Owned { key: Key::Given { secret: Secret::new(value), variable }, owner, place })
        })
    }

    /// The model that somebody named.
    fn named_model(&self, variables: &[&'static str]) -> Option<String> {
        let names: Vec<&'static str> = ["LLM_MODEL"].into_iter().chain(variables.iter().copied()).collect();
        self.first(&self.settings.model, &names).map(|said| said.value)
    }

    /// The same, if it can be one of this provider's: with every provider in question, one model is named.
    fn fitting_model(
        &self,
        variables: &[&'static str],
        fits: fn(&str) -> bool,
    ) -> Result<Option<String>, String> {
        match self.named_model(variables) {
            Some(model) if self.is_open && !fits(&model) => {
                let shown = gristmill_gateway::domain::one_line(&model, 60);
                Err(format!("`{shown}` isn't one of its models"))
            }
            model => Ok(model),
        }
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.own_price(price_of(model))
    }

    fn own_price(&self, listed: Option<Price>) -> Option<Price> {
        let input = self.settings.input_price.or(listed.map(|price| price.input))?;
        let output = self.settings.output_price.or(listed.map(|price| price.output))?;
        Some(Price { input, output })
    }

    /// The address that somebody named.
    fn address(&self, variable: &'static str) -> Option<Said> {
        match &self.settings.url {
            Some(url) => Some(Said::by_user(url, URL_SETTING)),
            None => self.variable(variable),
        }
    }

    /// What the settings say, or the first of the variables that is set.
    fn first(&self, setting: &Option<String>, variables: &[&'static str]) -> Option<Said> {
        match setting {
            Some(value) => Some(Said::by_user(value, "[llm]")),
            None => variables.iter().find_map(|name| self.variable(name)),
        }
    }

    fn variable(&self, place: &'static str) -> Option<Said> {
        let OwnedVariable { value, owner } = (self.environment.variable)(place)?;
        let value = value.trim().to_owned();
        (!value.is_empty()).then_some(Said { value, owner, place })
    }
}

impl Said {
    fn by_user(value: &str, place: &'static str) -> Self {
        Self { value: value.to_owned(), owner: VariableOwner::User, place }
    }

    /// The provider's own address.
    fn by_us(value: &str) -> Self {
        Self::by_user(value, OF_PROVIDER)
    }

    /// What somebody set, if it was somebody.
    fn named_by(&self) -> Option<&'static str> {
        (self.place != OF_PROVIDER).then_some(self.place)
    }
}

/// By the names that OpenAI gives: `gpt-5`, `chatgpt-4o-latest`, `o3`, and tuned ones of these.
fn is_openai_model(model: &str) -> bool {
    let is_reasoning = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    ["gpt-", "chatgpt-", "codex-", "ft:"].iter().any(|start| model.starts_with(start))
        || model.strip_prefix('o').is_some_and(is_reasoning)
}

fn is_openai(url: &str) -> bool {
    let url: Option<Url> = parse(url).ok();
    url.is_some_and(|url| url.host_str() == Some(defaults::OPENAI_HOST) && url.scheme() == "https")
}
