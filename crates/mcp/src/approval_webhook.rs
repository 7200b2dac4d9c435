//! Tells people by a webhook that a call waits for them, with a link for each answer.
//!
//! Walls: only what people are shown anyway is sent, signed, to one address that is `https` or on this
//! machine; redirects are not followed. Bounded in time and number of attempts: nobody waits for it.

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::access::ApprovalLinks;
use gristmill_gateway::domain::{SecretText, utc_text};
use gristmill_gateway::ports::{ApprovalNotice, BoxFuture, NotifyApproval};
use serde_json::{Map, Value, json};

use crate::secrets::SecretContext;
use crate::signed_post::{SignedPost, WebhookError};

/// Before the second attempt, and before the third.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

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
    post: SignedPost,
    links: Arc<ApprovalLinks>,
    told: Arc<dyn Fn(String) + Send + Sync>,
}

impl ApprovalWebhook {
    pub async fn new(settings: WebhookSettings, context: &SecretContext) -> Result<Self, WebhookError> {
        let WebhookSettings { url, secret, links, told } = settings;
        let post = SignedPost::new("approvals.webhook", &url, &secret, context).await?;
        Ok(Self { delivery: Arc::new(Delivery { post, links, told }) })
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
        let Err(why) = self.post.send(&self.body(notice), &PAUSES).await else { return true };
        (self.told)(format!(
            "warning: couldn't tell the webhook about {}: {why}\nhint: check `url` of [approvals.webhook]; `gristmill approvals` answers the call",
            notice.what
        ));
        false
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
