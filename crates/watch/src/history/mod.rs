//! How the past is kept: each in a fixed amount of memory.

mod bounded;
mod burst;
mod rate;
mod sizes;
mod time;
mod trail;

pub(crate) use bounded::Bounded;
pub(crate) use burst::{Burst, BurstRule, Crossed, Peaks, Window};
pub(crate) use rate::Rate;
pub(crate) use sizes::Sizes;
pub(crate) use time::{DAY_MS, HOUR_MS, MINUTE_MS, Now};
pub(crate) use trail::{Sample, Streak, Trail, TrailRule};

/// A short name for a name, to tell things apart (FNV-1a).
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
