//! Messages to one address of the user's, signed so that the receiver knows who sent them.
//!
//! Walls: the address is `https` or on this machine; redirects are not followed, no proxy is used. Bounded in
//! time and number of attempts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_gateway::access::webhook_signature;
use gristmill_gateway::domain::SecretText;
use reqwest::Client;
use url::{Host, Url};

use crate::http_client::{HttpClientError, HttpClientSettings, Redirects, http_client, innermost};
use crate::secrets::{SecretContext, SecretError};

/// For one attempt.
const ATTEMPT_MAX: Duration = Duration::from_secs(5);

/// Shorter ones can be guessed.
const SECRET_CHARS_MIN: usize = 16;

/// The webhook is not used. Everything else works.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    #[error("`url` of [{table}] must begin with https://, or with http:// on this machine")]
    Url { table: &'static str },
    #[error("`secret` of [{table}] must have at least {SECRET_CHARS_MIN} characters")]
    ShortSecret { table: &'static str },
    #[error("`secret` of [{table}]: {source}")]
    Secret { table: &'static str, source: SecretError },
    #[error(transparent)]
    Client(#[from] HttpClientError),
}

/// See the module.
pub(crate) struct SignedPost {
    client: Client,
    url: Url,
    secret: String,
}

impl SignedPost {
    /// As `table` of the configuration says.
    pub async fn new(
        table: &'static str,
        url: &str,
        secret: &SecretText,
        context: &SecretContext,
    ) -> Result<Self, WebhookError> {
        let url = Url::parse(url).ok().filter(is_safe).ok_or(WebhookError::Url { table })?;
        let secret = context.resolve("secret", secret).await;
        let secret = secret.map_err(|source| WebhookError::Secret { table, source })?.text;
        if secret.chars().count() < SECRET_CHARS_MIN {
            return Err(WebhookError::ShortSecret { table });
        }
        let client = http_client(&HttpClientSettings {
            connect_timeout: Some(ATTEMPT_MAX),
            total_timeout: Some(ATTEMPT_MAX),
            redirects: Redirects::None,
            ..HttpClientSettings::default()
        })?;
        Ok(Self { client, url, secret })
    }

    /// Tries until it is taken, with these pauses between; why not, if it never is.
    pub async fn send(&self, body: &str, pauses: &[Duration]) -> Result<(), String> {
        let mut pauses = pauses.iter();
        loop {
            let Err(why) = self.attempt(body).await else { return Ok(()) };
            let Some(pause) = pauses.next() else { return Err(why) };
            tokio::time::sleep(*pause).await;
        }
    }

    async fn attempt(&self, body: &str) -> Result<(), String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let timestamp = now.as_secs().to_string();
        let request = self
            .client
            .post(self.url.clone())
            .header("Content-Type", "application/json")
            .header("X-Gristmill-Signature", webhook_signature(&self.secret, &timestamp, body))
            .header("X-Gristmill-Timestamp", timestamp)
            .body(body.to_owned());
        let answer = request.send().await.map_err(|error| innermost(&error))?;
        match answer.status().is_success() {
            true => Ok(()),
            false => Err(format!("it answered with {}", answer.status())),
        }
    }
}

/// Whether what is sent there is read by its host alone.
fn is_safe(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.username().is_empty()
        && url.password().is_none()
        && match url.scheme() {
            "https" => url.has_host(),
            "http" => is_here,
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_encrypted_or_on_this_machine() {
        for (url, expected) in [
            ("https://hooks.example.com/x", true),
            ("http://127.0.0.1:9000/x", true),
            ("http://localhost/x", true),
            ("http://[::1]/x", true),
            ("http://hooks.example.com/x", false),
            ("http://127.0.0.1.example.com/x", false),
            ("http://169.254.169.254/latest", false),
            ("https://user:secret@hooks.example.com/x", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(is_safe(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
