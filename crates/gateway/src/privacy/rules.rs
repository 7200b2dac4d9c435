//! Whether a value may go to a tool, and by which rule.

use gristmill_domain::PrivacyMode;
use gristmill_domain::policy::wildcard_fits;
use gristmill_privacy::Kind;

use super::fitting::fits;
use super::places::Place;
use super::settings::RestoreRule;
use super::vault::Kept;

/// A value on its way to an argument of a tool.
pub(super) struct Way<'a> {
    pub kept: &'a Kept,
    /// What it is besides: a pattern of the configuration may give another name to it.
    pub also: &'a [Kind],
    pub server: &'a str,
    pub tool: &'a str,
    /// As `message.to`.
    pub field: &'a str,
    /// The last of its names.
    pub name: &'a str,
    pub place: &'a Place<'a>,
    /// The strictest mode among the servers that it came from.
    pub mode: PrivacyMode,
    /// Whether nothing but a rule of the user's lets it go there.
    pub by_rule_only: bool,
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
        // What one host has told is none of another's business, and both are one server here.
        _ if way.by_rule_only => (false, "hosts"),
        _ if way.kept.servers.iter().any(|from| from == way.server) => (true, "same-server"),
        kind if is_secret(kind) || way.also.iter().any(is_secret) => (false, "secrets-stay"),
        _ if way.mode < PrivacyMode::Boundary => (true, "seen-by-the-program"),
        kind if fits(kind, way.name, way.place) => (true, "fitting-argument"),
        _ => (false, "other-argument"),
    };
    Ruled { allow, rule: rule.to_owned() }
}

fn is_secret(kind: &Kind) -> bool {
    matches!(kind, Kind::Secret | Kind::UrlCredentials)
}

fn rule_fits(rule: &RestoreRule, way: &Way<'_>) -> bool {
    let tool = format!("{}.{}", way.server, way.tool);
    let fits_any = |patterns: &[String], name: &str| patterns.iter().any(|one| wildcard_fits(one, name));
    // What is refused is refused under every name; what is allowed is allowed under its own.
    let is_also = !rule.allow && way.also.iter().any(|kind| rule.kinds.contains(kind));
    (rule.kinds.is_empty() || rule.kinds.contains(&way.kept.kind) || is_also)
        && wildcard_fits(&rule.to, &tool)
        && (rule.fields.is_empty() || fits_any(&rule.fields, way.field))
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeroize::Zeroizing;

    #[test]
    fn a_value_is_refused_under_every_name_and_allowed_under_its_own() {
        let rule = |allow| RestoreRule {
            kinds: vec![Kind::Email],
            to: "mail.*".to_owned(),
            fields: Vec::new(),
            allow,
        };
        let (kind, value) = (Kind::named("staff"), Zeroizing::new("x".to_owned()));
        let kept = Kept { kind, value, is_number: false, servers: Vec::new() };
        let place = Place::default();
        let ruled = |also: &[Kind], rules: &[RestoreRule]| {
            let (server, tool, field, name, mode) = ("mail", "send", "to", "to", PrivacyMode::Output);
            let by_rule_only = false;
            decide(
                rules,
                &Way { kept: &kept, also, server, tool, field, name, place: &place, mode, by_rule_only },
            )
            .rule
        };
        assert_eq!(ruled(&[], &[rule(false)]), "seen-by-the-program");
        assert_eq!(ruled(&[Kind::Email], &[rule(false)]), "privacy.restore 1");
        assert_eq!(ruled(&[Kind::Email], &[rule(true)]), "seen-by-the-program");
        assert_eq!(ruled(&[Kind::Secret], &[]), "secrets-stay");
    }
}
