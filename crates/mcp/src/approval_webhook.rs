//! Tells people by a webhook that a call waits for them, with a link for each answer.
//!
//! Walls: only what people are shown anyway is sent, signed, to one address that is `https` or on this
//! machine; redirects are not followed. Bounded in time and number of attempts: nobody waits for it.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_gateway::access::{ApprovalLinks, webhook_signature};
use gristmill_gateway::domain::{SecretText, utc_text};
use gristmill_gateway::ports::{ApprovalNotice, BoxFuture, NotifyApproval};
use reqwest::Client;
use serde_json::{Map, Value, json};
use url::{Host, Url};

use crate::http_client::{HttpClientError, HttpClientSettings, Redirects, http_client, innermost};
use crate::secrets::{SecretContext, SecretError};

/// For one attempt.
const ATTEMPT_MAX: Duration = Duration::from_secs(5);

/// Before the second attempt, and before the third.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// Shorter ones can be guessed.
const SECRET_CHARS_MIN: usize = 16;

/// The webhook is not used. Everything else works.
#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    #[error("`url` of [approvals.webhook] must begin with https://, or with http:// on this machine")]
    Url,
    #[error("`secret` of [approvals.webhook] must have at least {SECRET_CHARS_MIN} characters")]
    ShortSecret,
    #[error("`secret` of [approvals.webhook]: {0}")]
    Secret(#[from] SecretError),
    #[error(transparent)]
    Client(#[from] HttpClientError),
}

/// What a webhook is made of.
pub struct WebhookSettings {
    pub url: String,
    /// What the receiver knows, too.
    pub secret: SecretText,
    pub links: Arc<ApprovalLinks>,
    /// Where failures are told.
    pub told: Arc<dyn Fn(String) + Send + Sync>,
}

/// See the module.
pub struct ApprovalWebhook {
    delivery: Arc<Delivery>,
}

struct Delivery {
    client: Client,
    url: Url,
    secret: String,
    links: Arc<ApprovalLinks>,
    told: Arc<dyn Fn(String) + Send + Sync>,
}

impl ApprovalWebhook {
    pub async fn new(settings: WebhookSettings, context: &SecretContext) -> Result<Self, WebhookError> {
        let WebhookSettings { url, secret, links, told } = settings;
        let url = Url::parse(&url).ok().filter(is_safe).ok_or(WebhookError::Url)?;
        let secret = context.resolve("secret", &secret).await?.text;
        if secret.chars().count() < SECRET_CHARS_MIN {
            return Err(WebhookError::ShortSecret);
        }
        let client = http_client(&HttpClientSettings {
            connect_timeout: Some(ATTEMPT_MAX),
            total_timeout: Some(ATTEMPT_MAX),
            redirects: Redirects::None,
            ..HttpClientSettings::default()
        })?;
        Ok(Self { delivery: Arc::new(Delivery { client, url, secret, links, told }) })
    }
}

impl NotifyApproval for ApprovalWebhook {
    fn notify(&self, notice: ApprovalNotice) -> BoxFuture<'static, bool> {
        let delivery = Arc::clone(&self.delivery);
        Box::pin(async move { delivery.deliver(&notice).await })
    }
}

impl Delivery {
    async fn deliver(&self, notice: &ApprovalNotice) -> bool {
        let body = self.body(notice);
        let mut pauses = PAUSES.into_iter();
        loop {
            let Err(why) = self.attempt(&body).await else { return true };
            let Some(pause) = pauses.next() else {
                (self.told)(format!(
                    "warning: couldn't tell the webhook about {}: {why}\nhint: check `url` of [approvals.webhook]; `gristmill approvals` answers the call",
                    notice.what
                ));
                return false;
            };
            tokio::time::sleep(pause).await;
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

    fn body(&self, notice: &ApprovalNotice) -> String {
        let ApprovalNotice { id, what, why, arguments, caller, expires } = notice;
        let links = self.links.links(id, *expires).into_iter();
        let links: Map<String, Value> = links.map(|(name, link)| (name.to_owned(), json!(link))).collect();
        json!({
            "id": id,
            "what": what,
            "why": why,
            "arguments": arguments,
            "caller": caller,
            "links": links,
            "expires": utc_text(*expires),
        })
        .to_string()
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
            ("https://user:secret@hooks.example.com/x", false),
            ("file:///etc/passwd", false),
        ] {
            assert_eq!(is_safe(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
