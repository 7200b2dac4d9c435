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
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::super::asked::{AskedKind, Hints};
    use super::super::tests::asked;
    use super::super::{
        Arguments, Budgets, Condition, Decision, Policy, PolicySettings, Preset, Source, TokenLimits, Verdict,
    };
    use super::*;
    use crate::levels::Level;

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

    /// The same without a shortcut: every line is looked at for every request.
    fn by_every_line(policy: &Policy, asked: &Asked<'_>) -> (Decision, String, Vec<String>) {
        let refused = asked.token_limits.is_some_and(|limits| limits.refusal(asked).is_some());
        if refused {
            return (Decision::Deny, format!("token {}", asked.token.unwrap_or_default()), Vec::new());
        }
        let mut counted = Vec::new();
        let mut decides = |is_project: bool| {
            let of_table = |line: &&Line| (line.source == Source::Project) == is_project;
            for line in policy.lines().filter(of_table).filter(|line| line.rule.misfit(asked).is_none()) {
                counted.extend((!line.rule.budgets.is_empty()).then(|| line.id.to_string()));
                if let Some(decision) = line.rule.decision {
                    return Some((decision, line.id.to_string()));
                }
            }
            None
        };
        let (own, theirs) = (decides(false), decides(true));
        let (decision, rule) = match (own, theirs) {
            (Some(own), Some(theirs)) => {
                if theirs.0 > own.0 {
                    theirs
                } else {
                    own
                }
            }
            (own, theirs) => own.or(theirs).expect("the preset decides"),
        };
        (decision, rule, counted)
    }

    fn maybe<T: Clone + std::fmt::Debug + 'static>(values: &'static [T]) -> impl Strategy<Value = Option<T>> {
        prop_oneof![2 => Just(None), 1 => select(values).prop_map(Some)]
    }

    fn named(names: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
        maybe(names).prop_map(|name| name.map(str::to_owned))
    }

    fn rules(most: usize) -> impl Strategy<Value = Vec<(Rule, String)>> {
        use Decision::{Allow, Ask, Deny};
        let about = (
            named(&["crm", "c*", "mail", "*"]),
            named(&["update_record", "update-record", "up*", "send", "*"]),
            maybe(&[AskedKind::Tool, AskedKind::Resource, AskedKind::Prompt]),
            maybe(&[("amount", ">10"), ("amount", "<=10"), ("to", "a*"), ("to", "!a*")]),
            (maybe(&[true, false]), maybe(&[true, false]), maybe(&[true, false]), maybe(&[true, false])),
        );
        let by = (
            named(&["ci", "c*"]),
            named(&["cursor", "*"]),
            named(&["work", "w*"]),
            maybe(&[Level::Production, Level::Hardened]),
            maybe(&[Allow, Ask, Deny]),
            maybe(&[1, 2]),
        );
        let rule = (about, by).prop_map(|(about, by)| {
            let (server, tool, kind, condition, hints) = about;
            let (token, client, session, level, decision, calls_per_minute) = by;
            let conditions = condition.map(|(path, test)| Condition::read(path, test).unwrap());
            let (read_only_hint, destructive_hint, idempotent_hint, open_world_hint) = hints;
            Rule {
                server,
                tool,
                kind,
                conditions: conditions.into_iter().collect(),
                read_only_hint,
                destructive_hint,
                idempotent_hint,
                open_world_hint,
                token,
                client,
                session,
                level,
                decision,
                budgets: Budgets { calls_per_minute, ..Budgets::default() },
                ..Rule::default()
            }
        });
        vec(rule, 0..most).prop_map(|rules| {
            let named = |(place, rule): (usize, Rule)| {
                (Rule { name: Some(format!("{place}")), ..rule }, String::new())
            };
            rules.into_iter().enumerate().map(named).collect()
        })
    }

    proptest! {
        #[test]
        fn whoever_looks_at_every_line_comes_to_the_same(
            (user, project) in (rules(10), rules(4)),
            preset in select(&[Preset::Trusting, Preset::Careful, Preset::Strict]),
            (server, name, kind) in (
                select(&["crm", "mail"]),
                select(&["update_record", "update-record", "send"]),
                select(&[AskedKind::Tool, AskedKind::Resource, AskedKind::Prompt]),
            ),
            (read_only, destructive) in (maybe(&[true, false]), maybe(&[true, false])),
            (token, client, session) in (maybe(&["ci", "me"]), maybe(&["cursor"]), maybe(&["work", "play"])),
            (limits, level) in (named(&["crm", "m*"]), select(&[Level::Production, Level::Hardened])),
            (is_read_only, sessions) in (maybe(&["gristmill.toml"]), named(&["work"])),
        ) {
            let policy = Policy::new(PolicySettings {
                preset,
                user,
                project,
                read_only: is_read_only.map(str::to_owned),
                read_only_sessions: sessions.into_iter().map(|session| (session, String::new())).collect(),
                ..PolicySettings::default()
            });
            let limits = limits.map(|server| TokenLimits { servers: vec![server], ..TokenLimits::default() });
            let hints = Hints { read_only, destructive, ..Hints::default() };
            let token_limits = token.and(limits.as_ref());
            let asked = |arguments| Asked {
                kind, server, name, hints, arguments: Arguments::of(arguments), token, token_limits, client, session, level,
            };
            // Made for a request without arguments, and good for any.
            let shortlist = policy.shortlist(&asked("{}"));
            for arguments in ["{}", r#"{"amount": 5}"#, r#"{"amount": 50}"#, r#"{"amount": 50, "to": "b"}"#, r#"{"to": "ab"}"#] {
                let asked = asked(arguments);
                let Verdict { decided, counted } = policy.decide_among(&shortlist, &asked);
                let counted = counted.iter().map(|line| line.id.to_string()).collect();
                prop_assert_eq!(
                    (decided.decision, decided.rule.to_string(), counted),
                    by_every_line(&policy, &asked),
                    "{}", arguments
                );
            }
        }
    }
}
