//! What is the same for every call of a tool by one caller: the lines that its arguments could still meet. Worked out
//! once, so that a call only looks at conditions on arguments, and mostly at nothing.

use super::asked::Asked;
use super::decision::Decided;
use super::rule::Rule;
use super::table::Line;

/// Which lines may have something to say about a request, whatever its arguments are.
#[derive(Clone, Debug)]
pub struct Shortlist {
    /// What the caller's token is not good for: nothing else counts.
    pub(super) refused: Option<Decided>,
    pub(super) own: Vec<usize>,
    pub(super) project: Vec<usize>,
}

/// The places of lines that fit but for their conditions, up to the first that decides without any.
pub(super) fn may_fit(lines: &[Line], asked: &Asked<'_>) -> Vec<usize> {
    let mut places = Vec::new();
    for (place, line) in lines.iter().enumerate() {
        let Rule { conditions, decision, .. } = &line.rule;
        if line.rule.may_fit(asked) {
            places.push(place);
            if decision.is_some() && conditions.is_empty() {
                break;
            }
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::tests::asked;
    use super::super::{Arguments, Condition, Decision, Policy, PolicySettings};
    use super::*;

    fn rule(tool: &str, decision: Option<Decision>, where_: Option<(&str, &str)>) -> (Rule, String) {
        let conditions = where_.map(|(path, test)| Condition::read(path, test).unwrap());
        let tool = Some(tool.to_owned());
        let rule = Rule { tool, decision, conditions: conditions.into_iter().collect(), ..Rule::default() };
        (rule, String::new())
    }

    #[test]
    fn lines_of_other_tools_and_lines_that_nothing_reaches_are_left_out() {
        use Decision::{Allow, Ask, Deny};
        let rules = vec![
            rule("send", Some(Deny), None),
            rule("update_*", Some(Deny), Some(("amount", ">1000"))),
            rule("*", None, None),
            rule("update_record", Some(Ask), None),
            rule("*", Some(Allow), None),
        ];
        let project = vec![rule("update_*", Some(Deny), Some(("amount", ">500")))];
        let policy = Policy::new(PolicySettings { user: rules, project, ..PolicySettings::default() });
        let shortlist = policy.shortlist(&asked());
        assert_eq!((&*shortlist.own, &*shortlist.project), (&[1, 2, 3][..], &[0][..]));
        let decide = |arguments: &str| {
            let asked = Asked { arguments: Arguments::of(arguments), ..asked() };
            policy.decide_among(&shortlist, &asked).decided.decision
        };
        let arguments = [r#"{"amount": 2000}"#, r#"{"amount": 800}"#, r#"{"amount": 5}"#, "{}"];
        assert_eq!(arguments.map(decide), [Deny, Deny, Ask, Ask]);
    }
}
