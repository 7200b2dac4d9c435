//! The table `approvals`: how people are told, beside their client, that a call waits for them.

use gristmill_gateway::domain::SecretText;
use serde_json::json;

use super::env_file::Variables;
use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::references::{self, Folders};
use super::tree::{Node, join};
use super::written::{masked, masked_address};

pub const TABLE: &str = "approvals";
pub(super) const KEYS: [&str; 1] = ["webhook"];
pub(super) const WEBHOOK_KEYS: [&str; 3] = ["url", "secret", "public_url"];

/// Where it is said that a call waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// `https`, or `http` on this machine.
    pub url: String,
    /// What the receiver knows, too.
    pub secret: SecretText,
    /// Under which people reach this gateway's HTTP endpoint, without a slash at the end.
    pub public_url: String,
}

/// What one file says, with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalsTable {
    webhook: Option<(Webhook, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug)]
pub struct ApprovalsConfig {
    pub webhook: Option<Webhook>,
    pub origin: Origin,
    /// What references of the file may mean.
    pub variables: Variables,
}

impl Default for ApprovalsConfig {
    fn default() -> Self {
        Self { webhook: None, origin: Origin::Default, variables: Variables::default() }
    }
}

impl ApprovalsConfig {
    /// Lays what a file says over it.
    pub fn lay_over(
        &mut self,
        table: &ApprovalsTable,
        variables: &Variables,
        origin: impl Fn(usize) -> Origin,
    ) {
        if let Some((webhook, line)) = &table.webhook {
            self.webhook = Some(webhook.clone());
            self.origin = origin(*line);
            self.variables = variables.clone();
        }
    }

    /// Key, value and who said so, as a file would have them; nothing without a webhook. Of its secret only the
    /// references are shown.
    pub fn shown(&self) -> Vec<(&'static str, String, &Origin)> {
        let Some(Webhook { url, secret, public_url }) = &self.webhook else { return Vec::new() };
        let values = [
            ("webhook.url", json!(masked_address(url))),
            ("webhook.secret", json!(masked(secret))),
            ("webhook.public_url", json!(public_url)),
        ];
        values.into_iter().map(|(key, value)| (key, value.to_string(), &self.origin)).collect()
    }
}

pub fn read(node: &Node, folders: &Folders, problems: &mut Problems) -> ApprovalsTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return ApprovalsTable::default() };
    let line = fields.line("webhook");
    let webhook = fields.take("webhook").and_then(|node| webhook(node, folders, problems));
    fields.finish(&KEYS, problems);
    ApprovalsTable { webhook: webhook.map(|webhook| (webhook, line)) }
}

fn webhook(node: &Node, folders: &Folders, problems: &mut Problems) -> Option<Webhook> {
    let path = join(TABLE, "webhook");
    let mut fields = Fields::of(node, &path, problems)?;
    let url = address(&mut fields, "url", node.line, problems);
    let public_url = address(&mut fields, "public_url", node.line, problems);
    let secret = match fields.text("secret", problems) {
        Some((text, line)) => references::secret_text(text, &join(&path, "secret"), line, folders, problems),
        None => {
            problems.error(&join(&path, "secret"), node.line, ProblemKind::Empty);
            None
        }
    };
    fields.finish(&WEBHOOK_KEYS, problems);
    let public_url = public_url?.trim_end_matches('/').to_owned();
    Some(Webhook { url: url?, secret: secret?, public_url })
}

/// `https`, or `http` on this machine: what is sent lets people act.
pub(super) fn address(
    fields: &mut Fields<'_>,
    key: &str,
    line: usize,
    problems: &mut Problems,
) -> Option<String> {
    let path = fields.path(key);
    let Some((text, line)) = fields.text(key, problems) else {
        problems.error(&path, line, ProblemKind::Empty);
        return None;
    };
    let here = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
    let rest = text.strip_prefix("https://").filter(|rest| !rest.is_empty());
    let is_here = here.iter().any(|here| {
        text.strip_prefix(here).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    if rest.is_none() && !is_here {
        problems.error(&path, line, ProblemKind::NotEncrypted);
        return None;
    }
    Some(text.to_owned())
}
