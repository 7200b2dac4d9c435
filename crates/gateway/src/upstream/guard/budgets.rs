//! How often each caller has called, for rules with a budget. In memory: a gateway that starts again begins
//! at nothing, with the day, too.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use gristmill_domain::policy::{Decided, Decision, Line};
use parking_lot::Mutex;

use crate::ids::{Caller, ExecutionId, Owner};

/// Counters at once. Those that nobody used for longest go first.
const COUNTERS_MAX: usize = 20_000;

/// Whether a call is within its budgets.
pub(super) enum Taken {
    /// It was counted against all of them.
    Counted,
    /// It was counted against none: one is used up.
    UsedUp(Decided),
}

#[derive(Default)]
pub(super) struct Budgets {
    counters: Mutex<HashMap<Key, Counter>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    rule: Arc<str>,
    owner: Owner,
    span: Span,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Span {
    Minute,
    Execution(ExecutionId),
    Day,
}

struct Counter {
    used: Instant,
    calls: Calls,
}

enum Calls {
    /// By second; which one was the latest.
    Minute {
        began: Instant,
        latest: u64,
        by_second: Box<[u32; 60]>,
    },
    Execution(u32),
    Day {
        day: u64,
        calls: u32,
    },
}

/// One budget that a call counts against.
struct Budget {
    key: Key,
    max: u32,
    origin: Arc<str>,
}

impl Budgets {
    pub fn take(
        &self,
        caller: &Caller,
        lines: &[&Line],
        token_per_minute: Option<u32>,
        now: Instant,
        today: SystemTime,
    ) -> Taken {
        let budgets = budgets_of(caller, lines, token_per_minute);
        let day = today.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400;
        let mut counters = self.counters.lock();
        for budget in &budgets {
            let Some(counter) = counters.get_mut(&budget.key) else { continue };
            if counter.calls.made(now, day) >= budget.max {
                return Taken::UsedUp(budget.used_up());
            }
        }
        for budget in budgets {
            make_room(&mut counters, now);
            let span = budget.key.span.clone();
            let counter = counters
                .entry(budget.key)
                .or_insert_with(|| Counter { used: now, calls: Calls::of(&span, now, day) });
            counter.used = now;
            counter.calls.add(now, day);
        }
        Taken::Counted
    }
}

fn budgets_of(caller: &Caller, lines: &[&Line], token_per_minute: Option<u32>) -> Vec<Budget> {
    let budget = |rule: &Arc<str>, origin: &Arc<str>, span: Span, max: u32| Budget {
        key: Key { rule: Arc::clone(rule), owner: caller.owner.clone(), span },
        max,
        origin: Arc::clone(origin),
    };
    let mut budgets = Vec::new();
    if let (Some(max), Some(token)) = (token_per_minute, &caller.token) {
        let rule = Arc::from(format!("token {}", token.name));
        budgets.push(budget(&rule, &Arc::from("gristmill token list"), Span::Minute, max));
    }
    for line in lines {
        let limits = line.budgets();
        let mut put = |span: Option<Span>, max: Option<u32>| {
            if let (Some(span), Some(max)) = (span, max) {
                budgets.push(budget(&line.id, &line.origin, span, max));
            }
        };
        put(Some(Span::Minute), limits.calls_per_minute);
        put(caller.execution.clone().map(Span::Execution), limits.calls_per_execution);
        put(Some(Span::Day), limits.calls_per_day);
    }
    budgets
}

impl Budget {
    fn used_up(&self) -> Decided {
        let span = match self.key.span {
            Span::Minute => "per minute; wait before you call it again",
            Span::Execution(_) => "per program; call it less often, or in another program",
            Span::Day => "per day; try again tomorrow",
        };
        let plural = if self.max == 1 { "call" } else { "calls" };
        Decided {
            decision: Decision::Deny,
            rule: Arc::clone(&self.key.rule),
            origin: Arc::clone(&self.origin),
            why: Arc::from(format!("limited to {} {plural} {span}", self.max)),
            answer: None,
        }
    }
}

impl Calls {
    fn of(span: &Span, now: Instant, day: u64) -> Self {
        match span {
            Span::Minute => Calls::Minute { began: now, latest: 0, by_second: Box::new([0; 60]) },
            Span::Execution(_) => Calls::Execution(0),
            Span::Day => Calls::Day { day, calls: 0 },
        }
    }

    fn made(&mut self, now: Instant, today: u64) -> u32 {
        self.forget(now, today);
        match self {
            Calls::Minute { by_second, .. } => {
                by_second.iter().fold(0, |sum: u32, calls| sum.saturating_add(*calls))
            }
            Calls::Execution(calls) | Calls::Day { calls, .. } => *calls,
        }
    }

    fn add(&mut self, now: Instant, today: u64) {
        self.forget(now, today);
        let calls = match self {
            Calls::Minute { latest, by_second, .. } => &mut by_second[second(*latest)],
            Calls::Execution(calls) | Calls::Day { calls, .. } => calls,
        };
        *calls = calls.saturating_add(1);
    }

    /// What was made too long ago counts no more.
    fn forget(&mut self, now: Instant, today: u64) {
        match self {
            Calls::Minute { began, latest, by_second } => {
                let current = now.saturating_duration_since(*began).as_secs();
                let passed = current.saturating_sub(*latest).min(60);
                (0..passed).for_each(|back| by_second[second(current - back)] = 0);
                *latest = current.max(*latest);
            }
            Calls::Execution(_) => {}
            Calls::Day { day, calls } if *day != today => (*day, *calls) = (today, 0),
            Calls::Day { .. } => {}
        }
    }
}

fn second(seconds: u64) -> usize {
    usize::try_from(seconds % 60).unwrap_or_default()
}

/// A tenth goes at once, so that this is seldom done.
fn make_room(counters: &mut HashMap<Key, Counter>, now: Instant) {
    if counters.len() < COUNTERS_MAX {
        return;
    }
    counters.retain(|key, counter| {
        let is_idle = now.saturating_duration_since(counter.used) > Duration::from_secs(60);
        !(is_idle && key.span == Span::Minute)
    });
    if counters.len() < COUNTERS_MAX {
        return;
    }
    let mut used: Vec<Instant> = counters.values().map(|counter| counter.used).collect();
    used.sort_unstable();
    if let Some(oldest) = used.get(COUNTERS_MAX / 10).copied() {
        counters.retain(|_, counter| counter.used > oldest);
    }
}

#[cfg(test)]
mod tests {
    use gristmill_domain::policy::{Policy, PolicySettings, Rule};

    use super::*;

    fn policy(per_minute: Option<u32>, per_execution: Option<u32>, per_day: Option<u32>) -> Policy {
        let budgets = gristmill_domain::policy::Budgets {
            calls_per_minute: per_minute,
            calls_per_execution: per_execution,
            calls_per_day: per_day,
        };
        let rule = Rule { budgets, ..Rule::default() };
        Policy::new(PolicySettings { user: vec![(rule, "here".to_owned())], ..PolicySettings::default() })
    }

    /// Whether calls at these seconds are within the budget.
    fn calls(policy: &Policy, calls: &[(u64, &Caller)]) -> Vec<bool> {
        let budgets = Budgets::default();
        let lines: Vec<&Line> = policy.lines().take(1).collect();
        let (began, day) = (Instant::now(), SystemTime::UNIX_EPOCH);
        let call = |(at, caller): &(u64, &Caller)| {
            let at = Duration::from_secs(*at);
            matches!(budgets.take(caller, &lines, None, began + at, day + at), Taken::Counted)
        };
        calls.iter().map(call).collect()
    }

    #[test]
    fn a_minute_slides_and_each_caller_has_its_own() {
        let (one, other) = (Caller::local(), Caller::of(Owner::of_token("t")));
        let at = |seconds| (seconds, &one);
        let made = calls(
            &policy(Some(2), None, None),
            &[at(0), at(30), at(59), (59, &other), at(60), at(61), at(90)],
        );
        assert_eq!(made, [true, true, false, true, true, false, true]);
    }

    #[test]
    fn a_program_has_its_own_and_a_day_is_a_date() {
        let in_execution = || Caller::local().in_execution(ExecutionId::new().unwrap(), None);
        let (one, other, person) = (in_execution(), in_execution(), Caller::local());
        let once = policy(None, Some(1), None);
        assert_eq!(
            calls(&once, &[(0, &one), (1, &one), (1, &other), (2, &person), (2, &person)]),
            [true, false, true, true, true]
        );
        let daily = policy(None, None, Some(1));
        assert_eq!(calls(&daily, &[(0, &one), (86_399, &other), (86_400, &other)]), [true, false, true]);
    }

    #[test]
    fn counters_are_bounded() {
        let (policy, budgets) = (policy(None, Some(1), None), Budgets::default());
        let lines: Vec<&Line> = policy.lines().take(1).collect();
        let began = Instant::now();
        for number in 0..COUNTERS_MAX as u64 + 10 {
            let caller = Caller::local().in_execution(ExecutionId::new().unwrap(), None);
            budgets.take(
                &caller,
                &lines,
                None,
                began + Duration::from_millis(number),
                SystemTime::UNIX_EPOCH,
            );
        }
        assert!(budgets.counters.lock().len() <= COUNTERS_MAX);
    }
}
