//! The HTTP client of this crate: one place that says how we go out.
//!
//! - TLS by rustls with ring, and the system's certificates.
//! - A redirect is followed within the origin only, so that no header of ours (a token, an API key)
//!   reaches another one. Any other redirect comes back as the 3xx answer that it is.
//! - `HTTP_PROXY` and its like are not read: a proxy would see to which servers we speak, and would
//!   look names up where [`AddressPolicy`] cannot judge them. It is set here or not at all.
//! - No compression (a small answer cannot become a huge one), no cookies, no `Referer`, no retries.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Proxy;
use reqwest::redirect::{Attempt, Policy};

pub use reqwest::Client;
use url::Url;

use crate::addresses::AddressPolicy;
use crate::public_addresses::PublicAddresses;

/// Redirects that are followed, at most.
const REDIRECTS_MAX: usize = 5;

/// How a client goes out.
#[derive(Clone, Default)]
pub struct HttpClientSettings {
    /// To connect; 10 seconds if nothing is said.
    pub connect_timeout: Option<Duration>,
    /// For a whole exchange, with its body. None for streams that stay open.
    pub total_timeout: Option<Duration>,
    /// Whether redirects are followed at all.
    pub redirects: Redirects,
    /// Which addresses may be connected to; without it, all. Hosts that are written as addresses
    /// are not looked up: check those with [`AddressPolicy::check`].
    pub addresses: Option<AddressPolicy>,
    /// The same for requests that go to public addresses only. One of both.
    pub public_addresses: Option<PublicAddresses>,
    /// A proxy for everything. It looks up names by itself, so `addresses` judges its host only.
    pub proxy: Option<Url>,
}

/// What to do about redirects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redirects {
    /// Follow them within the origin.
    #[default]
    WithinOrigin,
    /// Hand them to the caller.
    None,
}

/// A client cannot be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum HttpClientError {
    /// The proxy's URL is of no use.
    #[error("can't use the proxy; write it as http://host:port")]
    Proxy,
    /// The system's certificates, as a rule.
    #[error("can't make secure connections: {0}; are the system's certificates installed?")]
    Tls(String),
}

/// A client. Making one reads the system's certificates: keep it, and clone it.
pub fn http_client(settings: &HttpClientSettings) -> Result<Client, HttpClientError> {
    install_crypto();
    let mut builder = Client::builder()
        .user_agent(concat!("gristmill/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(settings.connect_timeout.unwrap_or(Duration::from_secs(10)))
        .redirect(match settings.redirects {
            Redirects::WithinOrigin => Policy::custom(within_origin),
            Redirects::None => Policy::none(),
        })
        .retry(reqwest::retry::never())
        .referer(false)
        .no_proxy();
    if let Some(limit) = settings.total_timeout {
        builder = builder.timeout(limit);
    }
    if let Some(addresses) = &settings.addresses {
        builder = builder.dns_resolver(Arc::new(addresses.clone()));
    }
    if let Some(addresses) = &settings.public_addresses {
        builder = builder.dns_resolver(Arc::new(addresses.clone()));
    }
    if let Some(proxy) = &settings.proxy {
        builder = builder.proxy(Proxy::all(proxy.clone()).map_err(|_| HttpClientError::Proxy)?);
    }
    builder.build().map_err(|error| HttpClientError::Tls(innermost(&error)))
}

/// The text at the bottom of an error, which says what went wrong and carries no URL.
pub fn innermost(error: &dyn std::error::Error) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

fn within_origin(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let stays = attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if stays && attempt.previous().len() <= REDIRECTS_MAX { attempt.follow() } else { attempt.stop() }
}

/// reqwest takes the process's default. If the embedding program has chosen one, that one stays.
fn install_crypto() {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Someone else may have been faster; theirs is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
}
