//! The detectors. Each is the past that it needs, and a function that takes an event and may find something.

mod answers;
mod call_failures;
mod denials;
mod failures;
mod first_use;
mod hours;
mod near_limits;
mod repeats;
mod savings;
mod volume;

pub(crate) use answers::Answers;
pub(crate) use call_failures::CallFailures;
pub(crate) use denials::Denials;
pub(crate) use failures::{CallerFailures, GatewayFailures, SessionFailures};
pub(crate) use first_use::FirstUse;
pub(crate) use hours::Hours;
pub(crate) use near_limits::NearLimits;
pub(crate) use repeats::{CallerRepeats, Repeats};
pub(crate) use savings::Savings;
pub(crate) use volume::{CallVolume, OutputVolume, Pools};

use crate::history::Now;
use crate::settings::Settings;

/// What every detector gets beside the event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look<'a> {
    pub now: Now,
    pub settings: &'a Settings,
}

/// A share for people.
fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.01 { "less than 1%".to_owned() } else { format!("{:.0}%", share * 100.0) }
}

/// A length of time for people.
fn time(ms: u64) -> String {
    match ms / 1000 {
        0..=90 => format!("{} s", (ms / 1000).max(1)),
        91..=5400 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}

/// A size for people.
fn bytes(size: u64) -> String {
    match size {
        0..1024 => format!("{size} bytes"),
        1024..1_048_576 => format!("{} KB", size / 1024),
        _ => format!("{:.1} MB", number(size) / 1_048_576.0),
    }
}

/// A count as evidence; exact up to 2^53.
fn number(count: u64) -> f64 {
    count as f64
}

fn count(items: usize) -> f64 {
    number(items as u64)
}
