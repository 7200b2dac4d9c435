//! Where a model is, and how a request to it is addressed.

use gristmill_gateway::domain::ModelProvider;
use gristmill_mcp::secret::Secret;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use url::{Host, Url};

use crate::dialect::Dialect;

/// The version of Anthropic's protocol that we speak.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// How a key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `Authorization: Bearer`.
    Bearer,
    /// Azure's `api-key`.
    ApiKey,
    /// Anthropic's `x-api-key`.
    XApiKey,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub provider: ModelProvider,
    pub dialect: Dialect,
    /// Where requests are posted.
    pub url: Url,
    /// The variable or key that names the address; `None` for the provider's own.
    pub named_by: Option<&'static str>,
    pub key_header: KeyHeader,
    /// As the request names it; Azure's is the deployment.
    pub model: String,
}

impl Endpoint {
    /// Who it is, for people: OpenAI is one, in either dialect.
    pub fn provider_name(&self) -> String {
        let provider = match self.provider {
            ModelProvider::OpenAiChat => ModelProvider::OpenAi,
            provider => provider,
        };
        provider.as_str().to_owned()
    }

    /// Its address for people, and what to change if it's wrong: `http://127.0.0.1:1 (OLLAMA_HOST)`.
    pub fn place(&self) -> String {
        let address = self.url.origin().ascii_serialization();
        self.named_by.map_or(address.clone(), |named_by| format!("{address} ({named_by})"))
    }

    /// What is learned about this model goes by this name.
    pub fn id(&self) -> String {
        format!("{} {} {}", self.provider, self.url.origin().ascii_serialization(), self.model)
    }

    /// `None` if a key has characters that no header takes.
    pub fn headers(&self, key: Option<&Secret>) -> Option<HeaderMap> {
        let mut headers = HeaderMap::from_iter([
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (ACCEPT, HeaderValue::from_static("text/event-stream")),
        ]);
        if self.dialect == Dialect::Messages {
            let version = HeaderName::from_static("anthropic-version");
            headers.insert(version, HeaderValue::from_static(ANTHROPIC_VERSION));
        }
        if let Some(key) = key {
            let key = key.reveal().trim();
            let (name, value) = match self.key_header {
                KeyHeader::Bearer => ("authorization", HeaderValue::try_from(format!("Bearer {key}"))),
                KeyHeader::ApiKey => ("api-key", HeaderValue::try_from(key)),
                KeyHeader::XApiKey => ("x-api-key", HeaderValue::try_from(key)),
            };
            let mut value = value.ok()?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        Some(headers)
    }
}

/// Whether an address leads to this very machine.
pub(crate) fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
