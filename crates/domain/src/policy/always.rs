//! What no request gets past, whatever is in it: of such tools a caller needs to know nothing.

use super::asked::Asked;
use super::decision::Decision;
use super::rule::Misfit;
use super::table::{Line, Policy, Source, by_token};

impl Policy {
    /// Whether a request is denied with any arguments, and in any session if `asked` has none.
    pub fn denies_always(&self, asked: &Asked<'_>) -> bool {
        let of_project = |line: &&Line| line.source == Source::Project;
        by_token(asked).is_some()
            || denies_always(self.lines().filter(of_project), asked)
            || denies_always(self.lines().filter(|line| !of_project(line)), asked)
    }
}

/// Whether the first line that may decide about it certainly does, and denies.
fn denies_always<'a>(lines: impl Iterator<Item = &'a Line>, asked: &Asked<'_>) -> bool {
    for line in lines {
        let Some(decision) = line.rule.decision else { continue };
        let is_certain = match line.rule.misfit(asked) {
            Some(Misfit::Field("session")) if asked.session.is_none() => false,
            Some(Misfit::Field(_)) => continue,
            Some(Misfit::Argument(_)) => false,
            None => line.rule.conditions.is_empty(),
        };
        match (is_certain, decision) {
            (true, decision) => return decision == Decision::Deny,
            (false, Decision::Deny) => {}
            (false, Decision::Allow | Decision::Ask) => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::tests::asked;
    use super::super::{Condition, PolicySettings, Rule, TokenLimits};
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
    fn what_a_token_is_not_good_for_is_denied_always() {
        let limits = TokenLimits { servers: vec!["weather".to_owned()], ..TokenLimits::default() };
        let asked = Asked { token: Some("phone"), token_limits: Some(&limits), ..asked() };
        assert!(Policy::default().denies_always(&asked));
        assert!(!Policy::default().denies_always(&Asked { server: "weather", ..asked }));
    }
}
