//! The policy at work: the table of rules, what has been counted, and what people have answered.
//!
//! Walls: the table is pure and lies in `domain`; here are its clock, its memory and its questions. What is
//! counted is counted in memory, and calls of a day in the database, too, before they are sent.

mod always_file;
mod answer_event;
mod budgets;
mod day_counts;
mod flow;
mod notices;
mod question;
mod remembered;
mod shortlists;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use gristmill_domain::Level;
use gristmill_domain::policy::{Asked, Decided, Decision, Policy, Verdict};

use crate::ids::{Caller, unguessable};
use crate::marks::MarkLedger;
use crate::ports::NotifyApproval;
use crate::store::{Store, StoreError};
use crate::upstream::seen::Who;
use budgets::{Budgets, Counted, Taken, day_of};
use day_counts::DayCounts;
use notices::Notices;
use remembered::Remembered;
use shortlists::Shortlists;

pub use always_file::{ALWAYS_FILE, AlwaysApproval, AlwaysApprovals, AlwaysError};
pub use answer_event::note_answer;
pub(super) use question::{Approvable, Heard};

/// What a guard goes by.
pub struct GuardSettings {
    pub policy: Policy,
    /// That of the gateway's programs.
    pub level: Level,
    /// Where answers for good are kept; `None` if nothing is.
    pub data: Option<PathBuf>,
    /// Where other processes answer; `None` if they cannot.
    pub store: Option<Store>,
    /// Where what was read is remembered; `None` if no server has a mark.
    pub marks: Option<MarkLedger>,
    /// Who tells people elsewhere that a call waits; they answer there, too.
    pub notify: Option<Arc<dyn NotifyApproval>>,
}

/// See the module.
pub struct Guard {
    policy: Policy,
    shortlists: Shortlists,
    level: Level,
    budgets: Arc<Budgets>,
    /// `None` if no rule has a budget of a day, or nothing is kept.
    day_counts: Option<DayCounts>,
    remembered: Remembered,
    store: Option<Store>,
    marks: Option<MarkLedger>,
    notify: Option<Arc<dyn NotifyApproval>>,
    notices: Notices,
    /// What tells this gateway from others.
    mark: String,
}

/// What the table says about a request, before calls of a day are counted with those of other processes.
pub(super) struct Foreseen {
    decided: Decided,
    counted: Option<Counted>,
}

impl Guard {
    pub fn new(settings: GuardSettings) -> Self {
        let GuardSettings { policy, level, data, store, marks, notify } = settings;
        let always = data.map(|folder| AlwaysApprovals::open(&folder).telling(store.clone()));
        // Without randomness two gateways could share answers for a session that has no name.
        let mark = unguessable::new().unwrap_or_else(|_| std::process::id().to_string());
        let remembered = Remembered::new(always);
        let budgets: Arc<Budgets> = Arc::default();
        let has_days = policy.lines().any(|line| line.budgets().calls_per_day.is_some());
        let day_counts =
            store.clone().filter(|_| has_days).map(|store| DayCounts::new(Arc::clone(&budgets), store));
        Self {
            policy,
            shortlists: Shortlists::default(),
            level,
            budgets,
            day_counts,
            remembered,
            store,
            marks,
            notify,
            notices: Notices::default(),
            mark,
        }
    }

    /// Where other processes answer, if they can.
    pub(super) fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Waits until what led to a request is safe where the state is shared: that its program runs, that a yes was used. No
    /// other gateway leads then.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        match &self.store {
            Some(store) => store.settle_to_act().await,
            None => Ok(()),
        }
    }

    /// Writes down what was counted and isn't written. Nothing more is decided.
    pub(super) async fn close(&self) {
        if let Some(day_counts) = &self.day_counts {
            day_counts.save(day_of(SystemTime::now())).await;
        }
    }

    pub fn level(&self) -> Level {
        self.level
    }

    /// What the table says about a request that is not going to be sent. Nothing is counted.
    pub(super) fn foresee(&self, asked: &Asked<'_>) -> Decided {
        self.policy.decide(asked).decided
    }

    /// What tells callers apart, if anything is denied to this one whatever its arguments are; `None` if nothing is.
    pub(super) fn who_is_shown_less(&self, caller: &Caller) -> Option<Who> {
        let has_limits = caller.token.as_ref().is_some_and(|token| token.limits.is_some());
        let rules = || self.policy.lines().map(|line| &line.rule);
        if !has_limits && !rules().any(|rule| rule.decision == Some(Decision::Deny)) {
            return None;
        }
        let client = || caller.client.as_ref().map(|client| client.name.clone());
        let session = || {
            let handle = || caller.session.as_ref().map(|session| session.as_str().to_owned());
            caller.session_name.clone().or_else(handle)
        };
        Some(Who {
            token: caller.token.clone(),
            client: rules().any(|rule| rule.client.is_some()).then(client).flatten(),
            session: rules().any(|rule| rule.session.is_some()).then(session).flatten(),
            level: caller.level.map_or(self.level, |of_program| of_program.max(self.level)),
        })
    }

    /// Whether the table denies a request whatever its arguments are.
    pub(super) fn denies_always(&self, asked: &Asked<'_>) -> bool {
        self.policy.denies_always(asked)
    }

    /// The same for a template of resources.
    pub(super) fn denies_template_always(&self, asked: &Asked<'_>) -> bool {
        self.policy.denies_template_always(asked)
    }

    /// What the table says about a request, within what the caller has left. A request that is let through is counted.
    pub(super) fn decide(&self, caller: &Caller, asked: &Asked<'_>) -> Foreseen {
        let shortlist = self.shortlists.of(&self.policy, asked);
        let Verdict { decided, counted } = self.policy.decide_among(&shortlist, asked);
        let per_minute = asked.token_limits.and_then(|limits| limits.calls_per_minute);
        if decided.decision == Decision::Deny || (counted.is_empty() && per_minute.is_none()) {
            return Foreseen { decided, counted: None };
        }
        match self.budgets.take(caller, &counted, per_minute, Instant::now(), SystemTime::now()) {
            Taken::Counted(counted) => Foreseen { decided, counted: Some(counted) },
            Taken::UsedUp(over) => Foreseen { decided: over, counted: None },
        }
    }

    /// What is decided, once a call of a day is counted for every process.
    pub(super) async fn count_day(&self, foreseen: Foreseen) -> Decided {
        let Foreseen { decided, counted } = foreseen;
        match (counted, &self.day_counts) {
            (Some(counted), Some(day_counts)) => day_counts.count(&counted).await.unwrap_or(decided),
            (Some(_), None) | (None, _) => decided,
        }
    }
}
