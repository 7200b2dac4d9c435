//! Hosts that programs may send requests to, as a server with a tool for each method. So a request takes the way
//! of every other call: policy, approval, dry runs, marks, privacy, records.
//!
//! Walls: one request is one exchange. Redirects are not followed here, they are the answer: whoever follows one
//! makes another request, which is judged like the first. Names lead to public addresses only; an address is
//! reached if it is written in the configuration itself, and never if it is a reserved one (metadata of clouds is
//! there). No proxy, no cookies, no compression. A credential is added for its own host, looked for in the answer,
//! and in no message.

mod answer;
mod definitions;
mod request;

use std::future::pending;
use std::time::Duration;

use gristmill_gateway::domain::{HostCredential, HostsSettings, Part, ServerLimits, WebAddress};
use gristmill_gateway::ids::TraceContext;
use gristmill_gateway::ports::{Asker, BoxFuture};
use gristmill_gateway::upstream::{ServerFacts, Upstream, UpstreamCall, UpstreamFailure};
use reqwest::Client;
use reqwest::header::{HeaderName, HeaderValue};
use tokio::sync::OnceCell;

use super::redact::Redactor;
use crate::addresses::AddressKind;
use crate::http_client::{HttpClientError, HttpClientSettings, Redirects, http_client, innermost};
use crate::public_addresses::PublicAddresses;
use crate::secrets::{Resolved, SecretContext};
use definitions::definitions;
use request::WebRequest;

/// What the protocol is called that nobody speaks here.
const PROTOCOL: &str = "built-in";

/// JSON-RPC's code for arguments that are wrong: nothing was done with them.
const BAD_ARGUMENTS: i64 = -32602;

/// See the module.
pub(crate) struct HostsUpstream {
    settings: HostsSettings,
    limits: ServerLimits,
    client: Client,
    facts: ServerFacts,
    /// What references in credentials are resolved against.
    context: SecretContext,
    /// Each as it is sent, once it was needed.
    credentials: Vec<OnceCell<HeaderValue>>,
    redactor: Redactor,
}

impl HostsUpstream {
    pub fn new(
        settings: HostsSettings,
        limits: ServerLimits,
        context: SecretContext,
    ) -> Result<Self, HttpClientError> {
        let addresses = PublicAddresses::new(settings.allows_localhost());
        Self::with_addresses(settings, limits, context, addresses)
    }

    fn with_addresses(
        settings: HostsSettings,
        limits: ServerLimits,
        context: SecretContext,
        addresses: PublicAddresses,
    ) -> Result<Self, HttpClientError> {
        let client = http_client(&HttpClientSettings {
            redirects: Redirects::None,
            public_addresses: Some(addresses),
            ..HttpClientSettings::default()
        })?;
        let credentials = settings.credentials.iter().map(|_| OnceCell::new()).collect();
        let facts = ServerFacts { protocol: PROTOCOL.to_owned(), ..ServerFacts::default() };
        Ok(Self { settings, limits, client, facts, context, credentials, redactor: Redactor::default() })
    }

    async fn answer(&self, call: UpstreamCall) -> Result<String, UpstreamFailure> {
        let read = WebRequest::read(&call.tool, &call.arguments, &self.settings);
        let request = read.map_err(|error| refused(BAD_ARGUMENTS, error.to_string()))?;
        let limit_ms = request.timeout_ms.map_or(self.limits.call_ms, |asked| asked.min(self.limits.call_ms));
        let exchanged = tokio::time::timeout(Duration::from_millis(limit_ms), self.exchange(request)).await;
        let outcome = exchanged.unwrap_or(Err(UpstreamFailure::Timeout { limit_ms }));
        outcome.map_err(|failure| self.redactor.clean_failure(failure))
    }

    async fn exchange(&self, request: WebRequest) -> Result<String, UpstreamFailure> {
        let WebRequest { method, address, mut headers, body, timeout_ms: _ } = request;
        check_address(&address)?;
        if let Some((at, credential)) = self.settings.credential_for(&address) {
            let name = HeaderName::from_bytes(credential.header.as_bytes()).map_err(|_| {
                refused(0, format!("the credential of {} has no valid header", address.host()))
            })?;
            headers.insert(name, self.credential(at).await?);
        }
        self.redactor.check()?;
        let mut sent = self.client.request(method.method(), address.url().clone()).headers(headers);
        if let Some(body) = body {
            sent = sent.body(body);
        }
        let response = sent.send().await.map_err(|error| not_answered(&address, error))?;
        answer::read(&address, response, self.limits.result_bytes, &self.redactor).await
    }

    async fn credential(&self, at: usize) -> Result<HeaderValue, UpstreamFailure> {
        let credential = &self.settings.credentials[at];
        self.credentials[at].get_or_try_init(|| self.resolve(credential)).await.cloned()
    }

    /// The value of a credential. Every reference in it counts as a secret, whatever it is called.
    async fn resolve(&self, credential: &HostCredential) -> Result<HeaderValue, UpstreamFailure> {
        const KEY: &str = "secret";
        let host = credential.host.as_str();
        let failed = |why: String| refused(0, format!("the credential of {host} can't be used: {why}"));
        let resolved = self.context.resolve(KEY, &credential.value).await;
        let Resolved { text, secrets } = resolved.map_err(|error| failed(error.to_string()))?;
        // `Bearer` beside a reference is none.
        let has_references = credential.value.parts().iter().any(|part| matches!(part, Part::Reference(_)));
        for (name, value) in secrets.iter().filter(|(name, _)| !has_references || name != KEY) {
            self.redactor.add(name, value);
            // A host may repeat it without `Bearer`.
            if let Some((_, token)) = value.split_once(' ') {
                self.redactor.add(name, token);
            }
        }
        let value = HeaderValue::from_str(&text);
        let mut value = value.map_err(|_| failed("it isn't one line of text".to_owned()))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

fn refused(code: i64, message: String) -> UpstreamFailure {
    UpstreamFailure::Refused { code, message }
}

/// An address in the place of a name is in the configuration, or it would not be allowed.
fn check_address(address: &WebAddress) -> Result<(), UpstreamFailure> {
    match address.literal_address().map(AddressKind::of) {
        Some(kind @ AddressKind::Reserved) => {
            let (host, kind) = (address.host(), kind.words());
            Err(refused(0, format!("{host} is a {kind} address, and no request is ever sent there")))
        }
        Some(AddressKind::Public | AddressKind::Private | AddressKind::Loopback) | None => Ok(()),
    }
}

fn not_answered(address: &WebAddress, error: reqwest::Error) -> UpstreamFailure {
    let is_unsent = error.is_connect() || error.is_builder();
    let why = innermost(&error.without_url());
    // What rustls says of an answer in plain text.
    let hint = match why.contains("InvalidContentType") {
        true => "; it doesn't speak TLS: if it's plain http, the user lists it with http:// in front",
        false => "",
    };
    match is_unsent {
        true => refused(0, format!("can't connect to {}: {why}{hint}", address.origin())),
        false => UpstreamFailure::Lost(format!("{}: {why}", address.host())),
    }
}

impl Upstream for HostsUpstream {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(definitions()) })
    }

    fn call(&self, call: UpstreamCall) -> BoxFuture<'_, Result<String, UpstreamFailure>> {
        Box::pin(self.answer(call))
    }

    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn list_resource_templates(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn read_resource<'a>(
        &'a self,
        _uri: &'a str,
        _trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        Box::pin(async { Err(refused(0, "hosts have no resources".to_owned())) })
    }

    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<String>, UpstreamFailure>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn get_prompt<'a>(
        &'a self,
        _name: &'a str,
        _arguments: &'a str,
        _asker: Asker,
        _trace: Option<&'a TraceContext>,
    ) -> BoxFuture<'a, Result<String, UpstreamFailure>> {
        Box::pin(async { Err(refused(0, "hosts have no prompts".to_owned())) })
    }

    fn lost(&self) -> BoxFuture<'_, String> {
        Box::pin(pending())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

#[cfg(test)]
mod tests;
