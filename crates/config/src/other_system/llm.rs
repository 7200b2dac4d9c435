//! The table `llm` of another system.

use super::refusal::refusal;
use super::{Becomes, Translating, setting};
use crate::problem::shown;
use crate::tree::{Entry, Node, Value};

impl Translating {
    pub(super) fn llm(&mut self, entry: &Entry, path: &str) {
        let key = match entry.key.as_str() {
            _ if matches!(entry.node.value, Value::Null) => return self.unset(entry, path),
            "enabled" => "enabled",
            "provider" => return self.provider(entry, path),
            "model" | "model_name" => "model",
            "url" | "base_url" | "endpoint" | "azure_endpoint" | "api_base" => "url",
            "deployment" | "deployment_name" | "azure_deployment" => "deployment",
            "api_version" | "azure_api_version" => "api_version",
            "temperature" => "temperature",
            "max_tokens" => "max_tokens",
            "timeout" | "timeout_seconds" => "timeout",
            "api_key" | "azure_api_key" => return self.api_key(entry, path),
            _ => return self.nothing(entry, path, "there is no such setting here"),
        };
        self.set(entry, path, setting("llm", key, entry.node.clone()));
    }

    fn provider(&mut self, entry: &Entry, path: &str) {
        let Value::Text(text) = &entry.node.value else {
            return self.not_taken(entry, path, "it isn't text");
        };
        let word = text.trim().to_ascii_lowercase().replace(['_', ' '], "-");
        let provider = match word.as_str() {
            "azure-openai" | "azureopenai" => "azure",
            "claude" => "anthropic",
            "ollama" | "vllm" | "lmstudio" | "lm-studio" | "openai-compatible" => "compatible",
            word => word,
        };
        let setting = setting("llm", "provider", Node::text(provider));
        match refusal(&setting) {
            Some(why) => {
                let why = format!("`{}` isn't a provider here: it {why}", shown(text));
                self.not_taken(entry, path, &why);
            }
            None => self.set(entry, path, setting),
        }
    }

    /// A key is a secret: it goes into `.env`, unless the file only refers to one.
    fn api_key(&mut self, entry: &Entry, path: &str) {
        let Value::Text(text) = &entry.node.value else {
            return self.not_taken(entry, path, "it isn't text");
        };
        if text.is_empty() {
            return self.row(entry, path, Becomes::AlreadySo("no key is set"));
        }
        let reference = setting("llm", "api_key", entry.node.clone());
        let is_set = self.claims.iter().any(|claim| claim.is_about(std::slice::from_ref(&reference)));
        if is_set || self.made.api_key.is_some() {
            return self.not_taken(entry, path, "a key above it counts");
        }
        if text.starts_with("${") && text.ends_with('}') {
            return self.set(entry, path, reference);
        }
        self.made.api_key = Some(text.clone());
        let becomes = "llm.api_key, a reference to a variable in .env";
        self.row(entry, path, Becomes::Setting(becomes.to_owned()));
    }
}
