//! The webhook of `[approvals.webhook]`, and the links that the pages of `serve --http` take.

use std::sync::Arc;

use gristmill_config::env_file::Variables;
use gristmill_gateway::access::ApprovalLinks;
use gristmill_gateway::ports::NotifyApproval;
use gristmill_gateway::store::Store;
use gristmill_http::{HttpSettings, Mount, approval_pages};
use gristmill_mcp::{ApprovalWebhook, Url, WebhookSettings};

use super::Failure;
use crate::terminal::eprint_lines;
use crate::upstreams::{Configured, secret_context_of};

/// Tells people, and takes their answers.
pub struct Webhook {
    pub notify: Arc<dyn NotifyApproval>,
    links: Arc<ApprovalLinks>,
    store: Store,
    public_url: String,
}

/// What is configured, if anything is; its answers go through the database.
pub async fn webhook(configured: &Configured, store: Option<Store>) -> Result<Option<Webhook>, Failure> {
    let approvals = &configured.config.approvals;
    let (Some(webhook), Some(store)) = (&approvals.webhook, store) else { return Ok(None) };
    let links = ApprovalLinks::open(&configured.data_folder()?, &webhook.public_url);
    let links = Arc::new(links.map_err(|error| Failure::Usage(error.into()))?);
    let settings = WebhookSettings {
        url: webhook.url.clone(),
        secret: webhook.secret.clone(),
        links: Arc::clone(&links),
        told: Arc::new(|said| eprint_lines(&said)),
    };
    let context = secret_context_of(&approvals.origin, &approvals.variables, &Variables::default());
    let made = ApprovalWebhook::new(settings, &context).await;
    let notify = Arc::new(made.map_err(|error| Failure::Configuration(error.into()))?);
    Ok(Some(Webhook { notify, links, store, public_url: webhook.public_url.clone() }))
}

impl Webhook {
    /// The pages, and under which name people reach them.
    pub fn mount(&self, settings: &mut HttpSettings) -> Mount {
        if let Ok(url) = Url::parse(&self.public_url) {
            settings.hosts_allowed.extend(url.host_str().map(str::to_owned));
            settings.origins_allowed.push(url.origin().ascii_serialization());
        }
        approval_pages(self.store.clone(), Arc::clone(&self.links))
    }
}
