//! The table `alerts`: who is told of what the watch finds.

use gristmill_gateway::domain::SecretText;
use serde_json::json;

use super::approvals_table::address;
use super::env_file::Variables;
use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::references::{self, Folders};
use super::tree::{Node, join};
use super::written::{masked, masked_address};

pub const TABLE: &str = "alerts";
pub(super) const KEYS: [&str; 4] = ["log", "notices", "command", "webhook"];
pub(super) const WEBHOOK_KEYS: [&str; 2] = ["url", "secret"];

/// Where alerts are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertHook {
    /// `https`, or `http` on this machine.
    pub url: String,
    /// What the receiver knows, too.
    pub secret: SecretText,
}

/// What one file says, with its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlertsTable {
    log: Option<(bool, usize)>,
    notices: Option<(bool, usize)>,
    command: Option<(Vec<String>, usize)>,
    webhook: Option<(AlertHook, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug)]
pub struct AlertsConfig {
    /// Whether they go to standard error.
    pub log: bool,
    /// Whether notices are alerts, too.
    pub notices: bool,
    /// What is started for each: a program and its arguments, with no shell between.
    pub command: Vec<String>,
    pub webhook: Option<AlertHook>,
    pub log_origin: Origin,
    pub notices_origin: Origin,
    pub command_origin: Origin,
    pub webhook_origin: Origin,
    /// What references of the file may mean.
    pub variables: Variables,
}

impl Default for AlertsConfig {
    fn default() -> Self {
        Self {
            log: true,
            notices: false,
            command: Vec::new(),
            webhook: None,
            log_origin: Origin::Default,
            notices_origin: Origin::Default,
            command_origin: Origin::Default,
            webhook_origin: Origin::Default,
            variables: Variables::default(),
        }
    }
}

impl AlertsConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &AlertsTable, variables: &Variables, origin: impl Fn(usize) -> Origin) {
        if let Some((log, line)) = table.log {
            (self.log, self.log_origin) = (log, origin(line));
        }
        if let Some((notices, line)) = table.notices {
            (self.notices, self.notices_origin) = (notices, origin(line));
        }
        if let Some((command, line)) = &table.command {
            (self.command, self.command_origin) = (command.clone(), origin(*line));
        }
        if let Some((webhook, line)) = &table.webhook {
            (self.webhook, self.webhook_origin) = (Some(webhook.clone()), origin(*line));
            self.variables = variables.clone();
        }
    }

    /// Key, value and who said so, as a file would have them. Of a secret only its references are shown.
    pub fn shown(&self) -> Vec<(&'static str, String, &Origin)> {
        let mut shown = vec![
            ("log", self.log.to_string(), &self.log_origin),
            ("notices", self.notices.to_string(), &self.notices_origin),
        ];
        if !self.command.is_empty() {
            shown.push(("command", json!(self.command).to_string(), &self.command_origin));
        }
        if let Some(AlertHook { url, secret }) = &self.webhook {
            shown.push(("webhook.url", json!(masked_address(url)).to_string(), &self.webhook_origin));
            shown.push(("webhook.secret", json!(masked(secret)).to_string(), &self.webhook_origin));
        }
        shown
    }
}

pub fn read(node: &Node, folders: &Folders, problems: &mut Problems) -> AlertsTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return AlertsTable::default() };
    let mut table = AlertsTable {
        log: fields.flag("log", problems).map(|log| (log, fields.line("log"))),
        notices: fields.flag("notices", problems).map(|notices| (notices, fields.line("notices"))),
        command: None,
        webhook: None,
    };
    let line = fields.line("command");
    if line > 0 {
        let command: Vec<String> =
            fields.texts("command", problems).into_iter().map(|(text, _)| text).collect();
        if command.first().is_some_and(String::is_empty) {
            problems.error(&join(TABLE, "command"), line, ProblemKind::Empty);
        }
        table.command = Some((command, line));
    }
    let line = fields.line("webhook");
    let webhook = fields.take("webhook").and_then(|node| webhook(node, folders, problems));
    table.webhook = webhook.map(|webhook| (webhook, line));
    fields.finish(&KEYS, problems);
    table
}

fn webhook(node: &Node, folders: &Folders, problems: &mut Problems) -> Option<AlertHook> {
    let path = join(TABLE, "webhook");
    let mut fields = Fields::of(node, &path, problems)?;
    let url = address(&mut fields, "url", node.line, problems);
    let secret = match fields.text("secret", problems) {
        Some((text, line)) => references::secret_text(text, &join(&path, "secret"), line, folders, problems),
        None => {
            problems.error(&join(&path, "secret"), node.line, ProblemKind::Empty);
            None
        }
    };
    fields.finish(&WEBHOOK_KEYS, problems);
    Some(AlertHook { url: url?, secret: secret? })
}
