//! Shortlists of the table, kept by what they depend on: a program calls few tools many times, and between two calls
//! other processes have emptied the caches of a core, so that each line that is looked at is fetched again.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use gristmill_domain::policy::{Asked, AskedKind, Hints, Policy, Shortlist, TokenLimits};
use parking_lot::Mutex;

/// Shortlists at once. Two that want one place take turns.
const PLACES: usize = 512;

/// Longer names are worked out anew each time.
const KEY_BYTES_MAX: usize = 1_024;

pub(super) struct Shortlists {
    places: Box<[Mutex<Option<Kept>>]>,
    hasher: RandomState,
}

struct Kept {
    key: Vec<u8>,
    /// A token's limits may change while its name stays.
    limits: Option<TokenLimits>,
    shortlist: Arc<Shortlist>,
}

impl Default for Shortlists {
    fn default() -> Self {
        Self { places: (0..PLACES).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }
}

impl Shortlists {
    /// The shortlist of a request in this table, the only one that is ever asked.
    pub fn of(&self, policy: &Policy, asked: &Asked<'_>) -> Arc<Shortlist> {
        let key = key(asked);
        if key.len() > KEY_BYTES_MAX {
            return Arc::new(policy.shortlist(asked));
        }
        let place = usize::try_from(self.hasher.hash_one(&key) % PLACES as u64).unwrap_or_default();
        let mut kept = self.places[place].lock();
        match &*kept {
            Some(kept) if kept.key == key && kept.limits.as_ref() == asked.token_limits => {
                Arc::clone(&kept.shortlist)
            }
            Some(_) | None => {
                let (shortlist, limits) = (Arc::new(policy.shortlist(asked)), asked.token_limits.cloned());
                *kept = Some(Kept { key, limits, shortlist: Arc::clone(&shortlist) });
                shortlist
            }
        }
    }
}

/// Everything but arguments and limits, each part with its length: no two requests that differ have the same.
fn key(asked: &Asked<'_>) -> Vec<u8> {
    // A new field of a request has to be part of this.
    let Asked { kind, server, name, hints, arguments: _, token, token_limits: _, client, session, level } =
        asked;
    let Hints { read_only, destructive, idempotent, open_world } = hints;
    let mut key = Vec::with_capacity(192);
    key.push(match kind {
        AskedKind::Tool => 0,
        AskedKind::Resource => 1,
        AskedKind::Prompt => 2,
    });
    let hints = [read_only, destructive, idempotent, open_world];
    key.extend(hints.map(|hint| hint.map_or(2, u8::from)));
    for part in [Some(*server), Some(*name), *token, *client, *session, Some(level.as_str())] {
        key.push(u8::from(part.is_some()));
        let part = part.unwrap_or_default().as_bytes();
        key.extend(part.len().to_le_bytes());
        key.extend(part);
    }
    key
}

#[cfg(test)]
mod tests {
    use gristmill_domain::Level;
    use gristmill_domain::policy::{Arguments, Budgets, Decision, PolicySettings, Rule};

    use super::*;

    fn asked<'a>() -> Asked<'a> {
        Asked {
            kind: AskedKind::Tool,
            server: "crm",
            name: "update_record",
            hints: Hints::default(),
            arguments: Arguments::none(),
            token: None,
            token_limits: None,
            client: None,
            session: None,
            level: Level::Production,
        }
    }

    /// One rule for each thing that a rule may look at, each with a name and a budget.
    fn policy() -> Policy {
        let named = |name: &str, rule: Rule| {
            let budgets = Budgets { calls_per_minute: Some(1), ..Budgets::default() };
            (Rule { name: Some(name.to_owned()), budgets, ..rule }, String::new())
        };
        let is = |text: &str| Some(text.to_owned());
        let user = vec![
            named("server", Rule { server: is("mail"), ..Rule::default() }),
            named("tool", Rule { tool: is("send"), ..Rule::default() }),
            named("kind", Rule { kind: Some(AskedKind::Prompt), ..Rule::default() }),
            named("reads", Rule { read_only_hint: Some(true), ..Rule::default() }),
            named("destroys", Rule { destructive_hint: Some(true), ..Rule::default() }),
            named("repeats", Rule { idempotent_hint: Some(true), ..Rule::default() }),
            named("closed", Rule { open_world_hint: Some(false), ..Rule::default() }),
            named("token", Rule { token: is("ci"), ..Rule::default() }),
            named("client", Rule { client: is("cursor"), ..Rule::default() }),
            named("session", Rule { session: is("work"), ..Rule::default() }),
            named("level", Rule { level: Some(Level::Hardened), ..Rule::default() }),
        ];
        Policy::new(PolicySettings { user, ..PolicySettings::default() })
    }

    /// What is decided, and which rules count the request.
    fn verdict(policy: &Policy, shortlist: &Shortlist, asked: &Asked<'_>) -> (Decision, Vec<String>) {
        let verdict = policy.decide_among(shortlist, asked);
        (verdict.decided.decision, verdict.counted.iter().map(|line| line.id.to_string()).collect())
    }

    #[test]
    fn each_thing_that_a_rule_may_look_at_has_a_shortlist_of_its_own() {
        let (policy, shortlists) = (policy(), Shortlists::default());
        let hints = |hints: Hints| Asked { hints, ..asked() };
        let requests = || {
            [
                asked(),
                Asked { server: "mail", ..asked() },
                Asked { name: "send", ..asked() },
                Asked { kind: AskedKind::Prompt, ..asked() },
                hints(Hints { read_only: Some(true), ..Hints::default() }),
                hints(Hints { destructive: Some(true), ..Hints::default() }),
                hints(Hints { idempotent: Some(true), ..Hints::default() }),
                hints(Hints { open_world: Some(false), ..Hints::default() }),
                Asked { token: Some("ci"), ..asked() },
                Asked { client: Some("cursor"), ..asked() },
                Asked { session: Some("work"), ..asked() },
                Asked { level: Level::Hardened, ..asked() },
            ]
        };
        let mut seen = Vec::new();
        // The second time they come from memory, where they did not push each other out.
        for _ in 0..2 {
            for asked in requests() {
                let found = verdict(&policy, &shortlists.of(&policy, &asked), &asked);
                assert_eq!(found, verdict(&policy, &policy.shortlist(&asked), &asked));
                seen.push(found.1);
            }
        }
        let (first, second) = seen.split_at(12);
        assert_eq!(first, second);
        assert!(first[0].is_empty() && first[1..].iter().all(|rules| rules.len() == 1), "{first:?}");
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let one = key(&Asked { server: "a", name: "bc", ..asked() });
        assert_ne!(one, key(&Asked { server: "ab", name: "c", ..asked() }));
        let token = key(&Asked { token: Some("x"), ..asked() });
        assert_ne!(token, key(&Asked { client: Some("x"), ..asked() }));
        assert_ne!(key(&Asked { token: Some(""), ..asked() }), key(&asked()));
    }

    #[test]
    fn a_token_whose_limits_change_is_not_held_to_the_old_ones() {
        let (policy, shortlists) = (Policy::default(), Shortlists::default());
        let decide = |limits: &TokenLimits| {
            let asked = Asked { token: Some("ci"), token_limits: Some(limits), ..asked() };
            policy.decide_among(&shortlists.of(&policy, &asked), &asked).decided.decision
        };
        let mail = TokenLimits { servers: vec!["mail".to_owned()], ..TokenLimits::default() };
        assert_eq!(decide(&TokenLimits::default()), Decision::Allow);
        assert_eq!(decide(&mail), Decision::Deny);
        assert_eq!(decide(&TokenLimits::default()), Decision::Allow);
    }

    #[test]
    fn more_requests_than_places_and_long_names_are_decided_as_well() {
        let (policy, shortlists) = (policy(), Shortlists::default());
        for number in 0..PLACES * 3 {
            let name = format!("tool_{number}_{}", "x".repeat(number % 1_500));
            let asked = Asked { name: &name, session: Some("work"), ..asked() };
            let found = verdict(&policy, &shortlists.of(&policy, &asked), &asked);
            assert_eq!(found, (Decision::Allow, vec!["session".to_owned()]));
        }
    }
}
