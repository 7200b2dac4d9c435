//! The table `llm`: which language model is asked to write programs, and what it costs.
//!
//! Only a user's own file has it. What a project says about models is in its approved `.env`, kept apart from
//! what the user says: a user's key never goes to a project's address.

use std::collections::BTreeMap;

use gristmill_files::Surroundings;
use gristmill_gateway::domain::{
    ModelProvider, ModelSettings, OwnedVariable, SecretText, VariableOwner, exact_ms,
};
use serde_json::json;

use super::env_file::Variables;
use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::quantities::{self, Quantity};
use super::references::{self, Folders};
use super::tree::{Node, Value, join};
use super::written::{masked, masked_address};

pub const TABLE: &str = "llm";
pub(super) const KEYS: [&str; 12] = [
    "enabled",
    "provider",
    "model",
    "url",
    "api_key",
    "deployment",
    "api_version",
    "temperature",
    "max_tokens",
    "timeout",
    "input_price",
    "output_price",
];

/// Of an answer.
pub(super) const TOKENS: (u64, u64) = (64, 1_000_000);
pub(super) const TEMPERATURE_MAX: f64 = 2.0;
/// Of a million tokens, in US dollars. More is a mistake.
pub(super) const PRICE_MAX: f64 = 100_000.0;
/// Names of models, deployments and versions are short; addresses aren't long either.
const TEXT_BYTES_MAX: usize = 2_000;
const TIMEOUT: Quantity = Quantity::time("a time, such as \"5m\"", "\"5m\"", (1_000, 3_600_000));

/// What one file says, each with its line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LlmTable {
    enabled: Option<(bool, usize)>,
    provider: Option<(ModelProvider, usize)>,
    model: Option<(String, usize)>,
    url: Option<(String, usize)>,
    api_key: Option<(SecretText, usize)>,
    deployment: Option<(String, usize)>,
    api_version: Option<(String, usize)>,
    temperature: Option<(f64, usize)>,
    max_tokens: Option<(u64, usize)>,
    timeout_ms: Option<(u64, usize)>,
    input_price: Option<(f64, usize)>,
    output_price: Option<(f64, usize)>,
}

/// What all of them come to, who said so, and what `.env` files say about models.
#[derive(Clone, Debug, Default)]
pub struct LlmConfig {
    pub settings: ModelSettings,
    origins: BTreeMap<&'static str, Origin>,
    /// What references of `api_key` may mean.
    pub variables: Variables,
    /// Of the `.env` beside the user's own file.
    user: Variables,
    /// Of a project's `.env`, which was approved.
    project: Variables,
}

impl LlmConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &LlmTable, variables: &Variables, origin: impl Fn(usize) -> Origin) {
        let settings = &mut self.settings;
        let mut said = |key: &'static str, line: usize| {
            self.origins.insert(key, origin(line));
        };
        if let Some((enabled, line)) = table.enabled {
            settings.enabled = enabled;
            said("enabled", line);
        }
        if let Some((provider, line)) = table.provider {
            settings.provider = provider;
            said("provider", line);
        }
        if let Some((key, line)) = &table.api_key {
            settings.api_key = Some(key.clone());
            self.variables = variables.clone();
            said("api_key", *line);
        }
        for (key, from, to) in [
            ("model", &table.model, &mut settings.model),
            ("url", &table.url, &mut settings.url),
            ("deployment", &table.deployment, &mut settings.deployment),
            ("api_version", &table.api_version, &mut settings.api_version),
        ] {
            if let Some((text, line)) = from {
                *to = Some(text.clone());
                said(key, *line);
            }
        }
        for (key, from, to) in [
            ("temperature", table.temperature, &mut settings.temperature),
            ("input_price", table.input_price, &mut settings.input_price),
            ("output_price", table.output_price, &mut settings.output_price),
        ] {
            if let Some((number, line)) = from {
                *to = Some(number);
                said(key, line);
            }
        }
        if let Some((tokens, line)) = table.max_tokens {
            settings.output_tokens_max = u32::try_from(tokens).ok();
            said("max_tokens", line);
        }
        if let Some((timeout_ms, line)) = table.timeout_ms {
            settings.timeout_ms = Some(timeout_ms);
            said("timeout", line);
        }
    }

    /// What the `.env` beside a file that may be used says about models.
    pub(super) fn take_variables(&mut self, variables: &Variables, owner: VariableOwner) {
        match owner {
            VariableOwner::User => self.user = variables.over(&self.user),
            VariableOwner::Project => self.project = variables.over(&self.project),
        }
    }

    /// A variable that says which model to ask, as for servers: the environment first, then the project's
    /// `.env`, then the user's own.
    pub fn variable(&self, surroundings: &Surroundings, name: &str) -> Option<OwnedVariable> {
        let own = |value: &str| OwnedVariable { value: value.to_owned(), owner: VariableOwner::User };
        if let Some(value) = surroundings.variable(name) {
            return value.to_str().map(own);
        }
        let set =
            |variables: &Variables| variables.get(name).filter(|value| !value.is_empty()).map(str::to_owned);
        match set(&self.project) {
            Some(value) => Some(OwnedVariable { value, owner: VariableOwner::Project }),
            None => set(&self.user).map(|value| own(&value)),
        }
    }

    /// Where something is said; that of `api_key` is what its files are relative to.
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }

    /// Key, value and who said so, as a file would have them; what nobody said is left out. Of a key only its
    /// references are shown.
    pub fn shown(&self) -> Vec<(&'static str, String, &Origin)> {
        let settings = &self.settings;
        let text = |text: &String| json!(text).to_string();
        let number = |number: &f64| format!("{number:?}");
        let values = [
            Some(settings.enabled.to_string()),
            Some(format!("\"{}\"", settings.provider)),
            settings.model.as_ref().map(text),
            settings.url.as_ref().map(|url| json!(masked_address(url)).to_string()),
            settings.api_key.as_ref().map(|key| json!(masked(key)).to_string()),
            settings.deployment.as_ref().map(text),
            settings.api_version.as_ref().map(text),
            settings.temperature.as_ref().map(number),
            settings.output_tokens_max.map(|tokens| tokens.to_string()),
            settings.timeout_ms.map(|ms| format!("\"{}\"", exact_ms(ms))),
            settings.input_price.as_ref().map(number),
            settings.output_price.as_ref().map(number),
        ];
        let shown = KEYS.into_iter().zip(values);
        shown.filter_map(|(key, value)| Some((key, value?, self.origin(key)))).collect()
    }
}

pub fn read(node: &Node, folders: &Folders, problems: &mut Problems) -> LlmTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return LlmTable::default() };
    let enabled = fields.flag("enabled", problems).map(|enabled| (enabled, fields.line("enabled")));
    let provider = fields.text("provider", problems).and_then(|(word, line)| {
        let known = word.parse().ok();
        if known.is_none() {
            let kind = ProblemKind::not_one_of(word, &ModelProvider::NAMES);
            problems.error(&join(TABLE, "provider"), line, kind);
        }
        Some((known?, line))
    });
    let api_key = fields.text("api_key", problems).and_then(|(text, line)| {
        let key = references::secret_text(text, &join(TABLE, "api_key"), line, folders, problems)?;
        Some((key, line))
    });
    let url = word(&mut fields, "url", problems).filter(|(url, line)| {
        let is_address = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        if !is_address {
            problems.error(&join(TABLE, "url"), *line, ProblemKind::BadUrl);
        }
        is_address
    });
    let tokens = fields.whole("max_tokens", TOKENS.0, TOKENS.1, problems);
    let table = LlmTable {
        enabled,
        provider,
        model: word(&mut fields, "model", problems),
        url,
        api_key,
        deployment: word(&mut fields, "deployment", problems),
        api_version: word(&mut fields, "api_version", problems),
        temperature: number(&mut fields, "temperature", TEMPERATURE_MAX, problems),
        max_tokens: tokens.map(|tokens| (tokens, fields.line("max_tokens"))),
        timeout_ms: quantities::read(&mut fields, "timeout", &TIMEOUT, problems),
        input_price: number(&mut fields, "input_price", PRICE_MAX, problems),
        output_price: number(&mut fields, "output_price", PRICE_MAX, problems),
    };
    fields.finish(&KEYS, problems);
    table
}

/// A text with something in it.
fn word(fields: &mut Fields<'_>, key: &str, problems: &mut Problems) -> Option<(String, usize)> {
    let (text, line) = fields.text(key, problems)?;
    let wrong = match text.trim() {
        "" => ProblemKind::Empty,
        _ if text.len() > TEXT_BYTES_MAX => ProblemKind::TooLong { max: TEXT_BYTES_MAX },
        text => return Some((text.to_owned(), line)),
    };
    problems.error(&fields.path(key), line, wrong);
    None
}

/// A number from 0 to `max`.
fn number(fields: &mut Fields<'_>, key: &str, max: f64, problems: &mut Problems) -> Option<(f64, usize)> {
    let node = fields.take(key)?;
    let number = match &node.value {
        Value::Number(text) => text.parse::<f64>().ok(),
        Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
    };
    let number = number.filter(|number| (0.0..=max).contains(number));
    if number.is_none() {
        problems.error(&fields.path(key), node.line, ProblemKind::NumberOutOfRange { max: max as u64 });
    }
    Some((number?, node.line))
}
