//! How often each caller has called, for rules with a budget. In memory: a gateway that starts again begins
//! at nothing, but for the calls of a day, of which `day_counts` knows what every process has made.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use gristmill_domain::policy::{Decided, Decision, Line};
use parking_lot::Mutex;

use crate::ids::{Caller, ExecutionId, Owner};
use crate::store::{DayBudget, DayCount};

/// Counters at once. Those that nobody used for longest go first.
const COUNTERS_MAX: usize = 20_000;

/// Whether a call is within its budgets.
pub(super) enum Taken {
    /// It was counted against all of them.
    Counted(Counted),
    /// It was counted against none: one is used up.
    UsedUp(Decided),
}

/// What a call was counted against, and when.
pub(super) struct Counted {
    budgets: Vec<Budget>,
    at: Instant,
    /// In days since 1970, UTC.
    pub day: u64,
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
        /// As far as this process knows.
        calls: u32,
        /// Those of them that could not be written down.
        unsaved: u32,
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
        let day = day_of(today);
        let mut counters = self.counters.lock();
        for budget in &budgets {
            let Some(counter) = counters.get_mut(&budget.key) else { continue };
            if counter.calls.made(now, day) >= budget.max {
                return Taken::UsedUp(budget.used_up());
            }
        }
        for budget in &budgets {
            make_room(&mut counters, now);
            let span = &budget.key.span;
            let counter = counters
                .entry(budget.key.clone())
                .or_insert_with(|| Counter { used: now, calls: Calls::of(span, now, day) });
            counter.used = now;
            counter.calls.add(now, day);
        }
        Taken::Counted(Counted { budgets, at: now, day })
    }

    /// A call that was counted isn't made after all.
    pub fn take_back(&self, counted: &Counted) {
        let mut counters = self.counters.lock();
        for budget in &counted.budgets {
            if let Some(counter) = counters.get_mut(&budget.key) {
                counter.calls.take_back(counted.at, counted.day);
            }
        }
    }

    /// Whether calls of a day could not be written down.
    pub fn has_unsaved(&self) -> bool {
        self.counters.lock().values().any(|counter| matches!(counter.calls, Calls::Day { unsaved: 1.., .. }))
    }

    /// Calls of this day that are still to be written down. They count as written from here on.
    pub fn take_unsaved(&self, today: u64) -> Vec<DayCount> {
        let mut taken = Vec::new();
        for (key, counter) in self.counters.lock().iter_mut() {
            let Calls::Day { day, unsaved, .. } = &mut counter.calls else { continue };
            let calls = std::mem::take(unsaved);
            if *day == today && calls > 0 {
                taken.push(DayCount { rule: key.rule.to_string(), owner: key.owner.0.clone(), calls });
            }
        }
        taken
    }

    /// They were not written.
    pub fn put_back(&self, today: u64, taken: Vec<DayCount>) {
        self.change(today, taken, |_, unsaved, count| *unsaved = unsaved.saturating_add(count));
    }

    /// Goes on from what all processes have made, beside what is not written yet.
    pub fn take_over(&self, today: u64, all: Vec<DayCount>) {
        self.change(today, all, |calls, unsaved, count| {
            *calls = (*calls).max(count.saturating_add(*unsaved));
        });
    }

    fn change(&self, today: u64, counts: Vec<DayCount>, change: impl Fn(&mut u32, &mut u32, u32)) {
        let (now, mut counters) = (Instant::now(), self.counters.lock());
        for DayCount { rule, owner, calls: count } in counts {
            make_room(&mut counters, now);
            let key = Key { rule: Arc::from(rule), owner: Owner(owner), span: Span::Day };
            let counter = counters
                .entry(key)
                .or_insert_with(|| Counter { used: now, calls: Calls::of(&Span::Day, now, today) });
            counter.calls.forget(now, today);
            if let Calls::Day { calls, unsaved, .. } = &mut counter.calls {
                change(calls, unsaved, count);
            }
        }
    }
}

/// In days since 1970, UTC.
pub(super) fn day_of(moment: SystemTime) -> u64 {
    moment.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400
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

impl Counted {
    /// The budgets of a day that it counts against.
    pub fn days(&self) -> Vec<DayBudget> {
        let budget = |budget: &Budget| DayBudget {
            rule: budget.key.rule.to_string(),
            owner: budget.key.owner.0.clone(),
            calls_max: budget.max,
        };
        self.of_day().map(budget).collect()
    }

    /// The decision if the budget at this place of `days` is used up.
    pub fn used_up(&self, place: usize) -> Option<Decided> {
        self.of_day().nth(place).map(Budget::used_up)
    }

    fn of_day(&self) -> impl Iterator<Item = &Budget> {
        self.budgets.iter().filter(|budget| budget.key.span == Span::Day)
    }
}

impl Calls {
    fn of(span: &Span, now: Instant, day: u64) -> Self {
        match span {
            Span::Minute => Calls::Minute { began: now, latest: 0, by_second: Box::new([0; 60]) },
            Span::Execution(_) => Calls::Execution(0),
            Span::Day => Calls::Day { day, calls: 0, unsaved: 0 },
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

    /// Of a call that was added then.
    fn take_back(&mut self, then: Instant, its_day: u64) {
        let calls = match self {
            Calls::Minute { began, latest, by_second } => {
                let at = then.saturating_duration_since(*began).as_secs();
                if latest.saturating_sub(at) >= 60 {
                    return;
                }
                &mut by_second[second(at)]
            }
            Calls::Day { day, .. } if *day != its_day => return,
            Calls::Execution(calls) | Calls::Day { calls, .. } => calls,
        };
        *calls = calls.saturating_sub(1);
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
            Calls::Day { day, calls, unsaved } if *day != today => (*day, *calls, *unsaved) = (today, 0, 0),
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
    // Many programs must not make a caller's day forgotten: those go last.
    for is_day in [false, true] {
        let of_kind = counters.iter().filter(|(key, _)| (key.span == Span::Day) == is_day);
        let mut used: Vec<Instant> = of_kind.map(|(_, counter)| counter.used).collect();
        used.sort_unstable();
        let Some(oldest) = used.get((COUNTERS_MAX / 10).min(used.len().saturating_sub(1))).copied() else {
            continue;
        };
        counters.retain(|key, counter| (key.span == Span::Day) != is_day || counter.used > oldest);
        if counters.len() < COUNTERS_MAX {
            return;
        }
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
            matches!(budgets.take(caller, &lines, None, began + at, day + at), Taken::Counted(_))
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
    fn what_could_not_be_written_is_written_later_and_what_others_made_counts() {
        let (policy, budgets) = (policy(None, None, Some(10)), Budgets::default());
        let lines: Vec<&Line> = policy.lines().take(1).collect();
        let (now, today) = (Instant::now(), SystemTime::UNIX_EPOCH);
        let take = |times: usize| {
            let taken = (0..times).map(|_| budgets.take(&Caller::local(), &lines, None, now, today));
            taken.filter(|taken| matches!(taken, Taken::Counted(_))).count()
        };
        let count = |calls: u32| {
            let (rule, owner) = (lines[0].id.to_string(), Caller::local().owner.0);
            vec![DayCount { rule, owner, calls }]
        };
        assert_eq!((take(4), budgets.has_unsaved()), (4, false), "whoever counts them writes them, too");
        budgets.put_back(0, count(4));
        assert!(budgets.has_unsaved());
        assert_eq!(budgets.take_unsaved(0), count(4));
        assert_eq!((budgets.take_unsaved(0), budgets.has_unsaved()), (Vec::new(), false));
        // Another process made three more, and one of here isn't written.
        assert_eq!(take(1), 1);
        budgets.put_back(0, count(1));
        budgets.take_over(0, count(7));
        assert_eq!(take(5), 2, "seven and one were made");
    }

    #[test]
    fn a_call_that_is_taken_back_leaves_room_for_another() {
        let policy = policy(Some(1), Some(1), Some(1));
        let (budgets, lines) = (Budgets::default(), policy.lines().take(1).collect::<Vec<&Line>>());
        let caller = Caller::local().in_execution(ExecutionId::new().unwrap(), None);
        let now = Instant::now();
        for _ in 0..3 {
            let taken = budgets.take(&caller, &lines, None, now, SystemTime::UNIX_EPOCH);
            let Taken::Counted(counted) = taken else { panic!("there is room") };
            assert_eq!(counted.days().iter().map(|budget| budget.calls_max).collect::<Vec<_>>(), [1]);
            let again = budgets.take(&caller, &lines, None, now, SystemTime::UNIX_EPOCH);
            assert!(matches!(again, Taken::UsedUp(_)));
            budgets.take_back(&counted);
        }
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
