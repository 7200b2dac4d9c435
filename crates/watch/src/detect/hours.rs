//! A caller that works at hours at which it never worked.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Look, number};
use crate::anomaly::{Anomaly, Kind, Severity, Subject, option, plain};
use crate::event::Executed;
use crate::history::{HOUR_MS, Now, Window};
use crate::limits::{EXECUTIONS_MAX, cut};

const HOURS_OF_WEEK: usize = 168;
/// How long an hour stays usual.
const USUAL_DAYS: u32 = 42;
/// Active days, and days since the first, that make habits.
const ACTIVE_DAYS_MIN: u32 = 8;
const DAYS_MIN: u32 = 14;
/// Hours between what is usual and what isn't: late evenings happen.
const DISTANCE_MIN: usize = 4;
/// Executions within an hour; one is nothing.
const EXECUTIONS_AN_HOUR: u64 = 4;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Hours {
    /// The last day on which each hour of the week was worked; 0: never.
    worked: Vec<u32>,
    first_day: u32,
    active_days: u32,
    today: (u32, u32, usize),
    odd: Window,
    executions: VecDeque<String>,
}

impl Hours {
    pub fn see(&mut self, look: Look<'_>, event: &Executed) -> Option<Anomaly> {
        let now = look.now;
        self.turn(now);
        let distance = self.distance(now);
        let is_new_weekend = now.weekday >= 5 && self.has_no_weekends(now);
        let is_overtime = self.is_overtime(now);
        // Today's hours become usual tomorrow.
        self.today.1 |= 1 << now.hour;
        let has_habits =
            self.active_days >= ACTIVE_DAYS_MIN && now.day.saturating_sub(self.first_day) >= DAYS_MIN;
        if !has_habits || (distance < DISTANCE_MIN && !is_new_weekend) {
            return None;
        }
        if self.executions.len() >= EXECUTIONS_MAX {
            self.executions.pop_front();
        }
        self.executions.push_back(cut(&event.id).to_owned());
        let odd = self.odd.add(now.ms, HOUR_MS, 1);
        if odd < EXECUTIONS_AN_HOUR {
            return None;
        }
        let is_far = distance >= DISTANCE_MIN && !is_overtime;
        let severity = if is_far { Severity::Warning } else { Severity::Notice };
        Some(self.finding(event, now, odd, severity))
    }

    /// Begins a new day.
    fn turn(&mut self, now: Now) {
        self.worked.resize(HOURS_OF_WEEK, 0);
        let (day, hours, weekday) = self.today;
        if day == now.day {
            return;
        }
        if hours != 0 {
            for hour in (0..24).filter(|hour| hours & (1 << hour) != 0) {
                self.worked[(weekday % 7) * 24 + hour] = day;
            }
            self.active_days = self.active_days.saturating_add(1);
        }
        if self.first_day == 0 {
            self.first_day = now.day;
        }
        self.today = (now.day, 0, now.weekday);
    }

    fn is_usual(&self, slot: usize, now: Now) -> bool {
        let day = self.worked[slot];
        day != 0 && now.day.saturating_sub(day) <= USUAL_DAYS
    }

    /// Hours to the nearest one that is usual on any day of the week.
    fn distance(&self, now: Now) -> usize {
        (0..HOURS_OF_WEEK)
            .filter(|slot| self.is_usual(*slot, now))
            .map(|slot| (slot % 24).abs_diff(now.hour))
            .map(|hours| hours.min(24 - hours))
            .min()
            .unwrap_or(0)
    }

    fn has_no_weekends(&self, now: Now) -> bool {
        !(5 * 24..HOURS_OF_WEEK).any(|slot| self.is_usual(slot, now))
    }

    /// Whether today's work has gone on without a pause since a usual hour.
    fn is_overtime(&self, now: Now) -> bool {
        let hours = self.today.1;
        for hour in (0..now.hour).rev() {
            if hours & (1 << hour) == 0 {
                return false;
            }
            if (0..7).any(|weekday| self.is_usual(weekday * 24 + hour, now)) {
                return true;
            }
        }
        false
    }

    fn finding(&self, event: &Executed, now: Now, odd: u64, severity: Severity) -> Anomaly {
        let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
        let words = format!(
            "Caller {} ran {odd} programs within an hour on {} around {:02}:00, when it never worked on {} active days.",
            plain(&event.caller),
            days[now.weekday % 7],
            now.hour,
            self.active_days,
        );
        Anomaly::new(Kind::UnusualHours, severity, Subject::Caller(event.caller.clone()), words)
            .fact("executions", number(odd))
            .fact("active_days", f64::from(self.active_days))
            .executions(self.executions.iter())
            .action(format!("gristmill audit query{} --since 2h", option("--caller", &event.caller)))
    }

    pub fn trim(&mut self) {
        self.worked.resize(HOURS_OF_WEEK, 0);
        self.executions.truncate(EXECUTIONS_MAX);
    }
}
