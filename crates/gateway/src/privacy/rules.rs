//! Whether a value may go to a tool, and by which rule.

use gristmill_domain::PrivacyMode;
use gristmill_domain::policy::wildcard_fits;
use gristmill_privacy::Kind;
use serde_json::Value;

use super::fitting::fits;
use super::settings::RestoreRule;
use super::vault::Kept;

/// A value on its way to an argument of a tool.
pub(super) struct Way<'a> {
    pub kept: &'a Kept,
    pub server: &'a str,
    pub tool: &'a str,
    /// As `message.to`.
    pub field: &'a str,
    pub schema: Option<&'a Value>,
    /// The strictest mode among the servers that it came from.
    pub mode: PrivacyMode,
}

/// What a rule makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ruled {
    pub allow: bool,
    /// `privacy.restore 2`, or one of those that always hold.
    pub rule: String,
}

/// The first rule that fits. Without one: back to where it came from; a secret nowhere else; what the program
/// has seen anyway, anywhere; and what it has not, into arguments that are made for it.
pub(super) fn decide(rules: &[RestoreRule], way: &Way<'_>) -> Ruled {
    for (at, rule) in rules.iter().enumerate() {
        if rule_fits(rule, way) {
            return Ruled { allow: rule.allow, rule: format!("privacy.restore {}", at + 1) };
        }
    }
    let (allow, rule) = match &way.kept.kind {
        _ if way.kept.servers.iter().any(|from| from == way.server) => (true, "same-server"),
        Kind::Secret | Kind::UrlCredentials => (false, "secrets-stay"),
        _ if way.mode < PrivacyMode::Boundary => (true, "seen-by-the-program"),
        kind if fits(kind, way.field, way.schema) => (true, "fitting-argument"),
        _ => (false, "other-argument"),
    };
    Ruled { allow, rule: rule.to_owned() }
}

fn rule_fits(rule: &RestoreRule, way: &Way<'_>) -> bool {
    let tool = format!("{}.{}", way.server, way.tool);
    let fits_any = |patterns: &[String], name: &str| patterns.iter().any(|one| wildcard_fits(one, name));
    (rule.kinds.is_empty() || rule.kinds.contains(&way.kept.kind))
        && wildcard_fits(&rule.to, &tool)
        && (rule.fields.is_empty() || fits_any(&rule.fields, way.field))
}
