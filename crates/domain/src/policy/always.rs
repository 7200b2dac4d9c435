//! What no request gets past, whatever is in it: of such tools a caller needs to know nothing.

use super::asked::{Asked, AskedKind};
use super::decision::Decision;
use super::rule::{Misfit, Rule};
use super::table::{Line, Policy, Source, by_token};
use super::wildcard::{wildcard_fits_all, wildcard_may_begin};

/// Whether a rule is about a request, whatever its arguments are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Never,
    Perhaps,
    Always,
}

impl Policy {
    /// Whether a request is denied with any arguments, and in any session if `asked` has none.
    pub fn denies_always(&self, asked: &Asked<'_>) -> bool {
        self.denies_all(asked, &|rule| fit(rule, asked))
    }

    /// The same for a template of resources, which `asked` names: whether each is denied that it could become.
    pub fn denies_template_always(&self, asked: &Asked<'_>) -> bool {
        let beginning = asked.name.split('{').next().unwrap_or_default();
        self.denies_all(asked, &|rule| fit_of_beginning(rule, asked, beginning))
    }

    fn denies_all(&self, asked: &Asked<'_>, fit: &dyn Fn(&Rule) -> Fit) -> bool {
        let of_project = |line: &&Line| line.source == Source::Project;
        by_token(asked).is_some()
            || denies_always(self.lines().filter(of_project), fit)
            || denies_always(self.lines().filter(|line| !of_project(line)), fit)
    }
}

/// Whether the first line that may decide certainly does, and denies.
fn denies_always<'a>(lines: impl Iterator<Item = &'a Line>, fit: &dyn Fn(&Rule) -> Fit) -> bool {
    for line in lines {
        let Some(decision) = line.rule.decision else { continue };
        match (fit(&line.rule), decision) {
            (Fit::Never, _) | (Fit::Perhaps, Decision::Deny) => {}
            (Fit::Always, decision) => return decision == Decision::Deny,
            (Fit::Perhaps, Decision::Allow | Decision::Ask) => return false,
        }
    }
    false
}

fn fit(rule: &Rule, asked: &Asked<'_>) -> Fit {
    match rule.misfit(asked) {
        Some(Misfit::Field("session")) if asked.session.is_none() => Fit::Perhaps,
        Some(Misfit::Field(_)) => Fit::Never,
        // A resource has no arguments.
        Some(Misfit::Argument(_)) if asked.kind == AskedKind::Resource => Fit::Never,
        Some(Misfit::Argument(_)) => Fit::Perhaps,
        None if rule.conditions.is_empty() => Fit::Always,
        None => Fit::Perhaps,
    }
}

/// The same for every request whose name begins like this, and that is like `asked` otherwise.
fn fit_of_beginning(rule: &Rule, asked: &Asked<'_>, beginning: &str) -> Fit {
    let by_name = match rule.tool.as_deref() {
        None => Fit::Always,
        Some(pattern) if wildcard_fits_all(pattern, beginning) => Fit::Always,
        Some(pattern) if wildcard_may_begin(pattern, beginning) => Fit::Perhaps,
        Some(_) => Fit::Never,
    };
    by_name.min(fit(&Rule { tool: None, ..rule.clone() }, asked))
}

#[cfg(test)]
mod tests {
    use super::super::tests::asked;
    use super::super::{Condition, PolicySettings, TokenLimits};
    use super::*;

    fn rule(decision: Decision) -> Rule {
        Rule { server: Some("crm".to_owned()), ..Rule::deciding(decision) }
    }

    fn on_large_amounts(decision: Decision) -> Rule {
        Rule { conditions: vec![Condition::read("amount", ">1000").unwrap()], ..rule(decision) }
    }

    fn in_a_session(decision: Decision) -> Rule {
        Rule { session: Some("trial*".to_owned()), ..rule(decision) }
    }

    #[test]
    fn only_what_no_arguments_and_no_session_get_past_is_denied_always() {
        let written = |rules: Vec<Rule>| rules.into_iter().map(|rule| (rule, String::new())).collect();
        let check = |rules: Vec<Rule>, expected: bool| {
            let of_user = PolicySettings { user: written(rules.clone()), ..PolicySettings::default() };
            assert_eq!(Policy::new(of_user).denies_always(&asked()), expected, "{rules:?}");
            let of_project = PolicySettings { project: written(rules.clone()), ..PolicySettings::default() };
            assert_eq!(Policy::new(of_project).denies_always(&asked()), expected, "a project's {rules:?}");
        };
        use Decision::{Allow, Ask, Deny};
        check(vec![], false);
        check(vec![rule(Deny)], true);
        check(vec![rule(Ask)], false);
        check(vec![rule(Allow), rule(Deny)], false);
        check(vec![on_large_amounts(Deny)], false);
        check(vec![on_large_amounts(Allow), rule(Deny)], false);
        check(vec![on_large_amounts(Deny), rule(Deny)], true);
        check(vec![in_a_session(Deny)], false);
        check(vec![in_a_session(Allow), rule(Deny)], false);
        check(vec![Rule { server: Some("erp".to_owned()), ..rule(Allow) }, rule(Deny)], true);
    }

    #[test]
    fn a_session_that_is_known_decides() {
        let user = vec![(in_a_session(Decision::Deny), String::new())];
        let policy = Policy::new(PolicySettings { user, ..PolicySettings::default() });
        assert!(policy.denies_always(&Asked { session: Some("trial-1"), ..asked() }));
        assert!(!policy.denies_always(&Asked { session: Some("work"), ..asked() }));
    }

    #[test]
    fn a_template_is_denied_only_if_all_that_it_could_become_is() {
        let rule = |pattern: &str, decision| Rule { tool: Some(pattern.to_owned()), ..rule(decision) };
        let check = |rules: Vec<Rule>, expected: bool| {
            let user = rules.iter().map(|rule| (rule.clone(), String::new())).collect();
            let policy = Policy::new(PolicySettings { user, ..PolicySettings::default() });
            let asked = Asked { kind: AskedKind::Resource, name: "file:///public/{name}.txt", ..asked() };
            assert_eq!(policy.denies_template_always(&asked), expected, "{rules:?}");
        };
        use Decision::{Allow, Ask, Deny};
        check(vec![], false);
        check(vec![rule("*", Deny)], true);
        check(vec![rule("file:///*", Deny)], true);
        check(vec![rule("file:///public/*", Deny)], true);
        check(vec![rule("file:///public/*.txt", Deny)], false);
        check(vec![rule("file:///public/a*", Deny)], false);
        check(vec![rule("file:///public/a*", Allow), rule("*", Deny)], false);
        check(vec![rule("file:///private/*", Allow), rule("*", Deny)], true);
        check(vec![rule("file:///public/a*", Ask), rule("*", Deny)], false);
        check(vec![rule("file:///public/a*", Deny), rule("file:///*", Deny)], true);
        check(vec![Rule { session: Some("trial".to_owned()), ..rule("*", Deny) }], false);
        check(vec![Rule { kind: Some(AskedKind::Tool), ..rule("*", Deny) }], false);
    }

    #[test]
    fn a_resource_has_no_arguments_that_a_rule_could_be_about() {
        let user = [on_large_amounts(Decision::Allow), rule(Decision::Deny)];
        let user = user.into_iter().map(|rule| (rule, String::new())).collect();
        let policy = Policy::new(PolicySettings { user, ..PolicySettings::default() });
        assert!(policy.denies_always(&Asked { kind: AskedKind::Resource, name: "file:///a", ..asked() }));
        assert!(!policy.denies_always(&Asked { kind: AskedKind::Prompt, name: "greet", ..asked() }));
    }

    #[test]
    fn a_token_for_tools_is_denied_every_resource_and_prompt() {
        let limits = TokenLimits { tools: vec!["crm.get_*".to_owned()], ..TokenLimits::default() };
        let of = |kind, name| Asked { token: Some("ci"), token_limits: Some(&limits), kind, name, ..asked() };
        let policy = Policy::default();
        assert!(policy.denies_always(&of(AskedKind::Resource, "file:///a")));
        assert!(policy.denies_template_always(&of(AskedKind::Resource, "file:///{name}")));
        assert!(policy.denies_always(&of(AskedKind::Prompt, "greet")));
        assert!(!policy.denies_always(&of(AskedKind::Tool, "get_record")));
    }

    #[test]
    fn what_a_token_is_not_good_for_is_denied_always() {
        let limits = TokenLimits { servers: vec!["weather".to_owned()], ..TokenLimits::default() };
        let asked = Asked { token: Some("phone"), token_limits: Some(&limits), ..asked() };
        assert!(Policy::default().denies_always(&asked));
        assert!(!Policy::default().denies_always(&Asked { server: "weather", ..asked }));
    }
}
