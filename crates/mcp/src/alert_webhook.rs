//! Tells people by a webhook what the watch has found.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::SecretText;
use gristmill_gateway::ports::{AlertNotice, AlertWay, BoxFuture};

use crate::secrets::SecretContext;
use crate::signed_post::{SignedPost, WebhookError};

/// Before each further attempt: a receiver that is restarted is back by then.
const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(25)];

/// Signed, one message for each alert.
pub struct AlertWebhook {
    post: Arc<SignedPost>,
    pauses: &'static [Duration],
}

impl AlertWebhook {
    pub async fn new(url: &str, secret: &SecretText, context: &SecretContext) -> Result<Self, WebhookError> {
        let post = SignedPost::new("alerts.webhook", url, secret, context).await?;
        Ok(Self { post: Arc::new(post), pauses: &PAUSES })
    }

    /// For somebody who waits for it.
    pub fn trying_once(self) -> Self {
        Self { pauses: &[], ..self }
    }
}

impl AlertWay for AlertWebhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn tell(&self, notice: Arc<AlertNotice>) -> BoxFuture<'static, Result<(), String>> {
        let (post, pauses) = (Arc::clone(&self.post), self.pauses);
        Box::pin(async move { post.send(&notice.json, pauses).await })
    }
}
